"""Fixtures for tests of the web side: an app in this process, and servers as real processes."""

from __future__ import annotations

import gc
import logging
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from hypothesis import settings
from werkzeug.routing import Rule

from backend.compute.pool import Limits, Pool
from backend.config import Config
from backend.database.address import Location, PostgresqlAddress
from backend.schedule import jit
from backend.web.http.computing import POOL
from tests.support import NOT_LOADED
from tests.support import PATIENCE_S as PATIENCE_S  # the tests import these from here
from tests.support import until as until
from tests.support.servers.postgresql import Cluster
from tests.support.servers.routing import shared
from tests.support.servers.server import FAKE_RUNNER, FORKS, Start, launch
from tests.support.servers.server import Server as Server
from tests.support.strategies import NEW_EXAMPLES, few
from tests.support.whole_run.collection import CompiledOnce
from tests.support.whole_run.processor_time import ProcessorTime

if TYPE_CHECKING:
    from tests.support.whole_run.distribution import FolderScheduling

# In this order: what takes minutes comes first and files that take seconds last, so that all workers end together. The
# page's files are the last to end, whatever comes behind them here: one worker stays with them from the start.
FOLDERS = (
    "cluster", "page/workbench", "page/classroom", "page/learn", "page/app", "page/runs", "page/panels",
    "page/timeline", "runner", "web", "runs", "cli", "lessons", "charts", "lint", "schedule",
)  # fmt: skip

# A few examples, the same each time, whatever the machine's speed; RANDOM_EXAMPLES=1000 looks for that many new ones.
settings.register_profile("bubbleline", few(20), deadline=None, derandomize=not NEW_EXAMPLES)
settings.load_profile("bubbleline")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(ProcessorTime())
    config.pluginmanager.register(CompiledOnce())
    sys.path.insert(0, NOT_LOADED)
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (NOT_LOADED, os.environ.get("PYTHONPATH"))))


gc.disable()  # until the tests are collected: what they are made of stays to the end


def pytest_collection_finish() -> None:
    """Leave what was imported and collected out of every later collection of garbage.

    pytest adds its handlers to each logger that does not propagate, six times a test; torch has fifty of them.
    """
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)  # tests make little garbage
    gc.enable()
    for name, logger in logging.root.manager.loggerDict.items():
        if name.startswith("torch") and isinstance(logger, logging.Logger):
            logger.propagate = True


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sort the tests by their folder; within a folder the order stays."""
    here = Path(__file__).parent

    def rank(item: pytest.Item) -> int:
        path = item.path.relative_to(here).as_posix()
        return next((rank for rank, folder in enumerate(FOLDERS) if path.startswith(f"{folder}/")), len(FOLDERS))

    items.sort(key=rank)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> FolderScheduling | None:
    """Keep each worker in its folder, where whole files are distributed."""
    if config.getvalue("dist") != "loadfile":
        return None
    from tests.support.whole_run.distribution import FolderScheduling

    return FolderScheduling(config, log)


@pytest.fixture(scope="session", autouse=True)
def compiled() -> None:
    """Compile the kernels: tests time thousands of orders, which would take minutes interpreted."""
    jit.compile_all()


@pytest.fixture(scope="session", autouse=True)
def routes() -> Iterator[None]:
    """Have apps share what is compiled for their routes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Rule, "_compile_builder", shared(Rule._compile_builder))
        yield


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return Config(port=0, database=tmp_path / "runs.sqlite3", runner=FAKE_RUNNER, silence_s=60)


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Cluster]:
    """A server of PostgreSQL, for the tests that need one."""
    cluster = Cluster()
    yield cluster
    cluster.remove()


@pytest.fixture
def address(postgresql: Cluster) -> PostgresqlAddress:
    """An empty PostgreSQL database."""
    return postgresql.empty_database()


@pytest.fixture(params=["sqlite", "postgresql"])
def location(request: pytest.FixtureRequest, tmp_path: Path) -> Location:
    """A database that is not there yet: a path, and an address of PostgreSQL."""
    if request.param == "sqlite":
        return tmp_path / "deep" / "runs.sqlite3"
    found: PostgresqlAddress = request.getfixturevalue("address")
    return found


@pytest.fixture(scope="session")
def pool() -> Iterator[Pool]:
    """Worker processes for the apps of all tests, as the session of a test process needs them."""
    shared = Pool(Limits(seconds=600))
    yield shared
    shared.close()


MakeApp = Callable[..., Flask]


@pytest.fixture
def make_app(config: Config, pool: Pool) -> Iterator[MakeApp]:
    """Make apps with these settings, which end with the test; their runner is not started."""
    made: list[Flask] = []

    def make(**settings: Any) -> Flask:
        made.append(app_of(replace(config, **settings), pool))
        return made[-1]

    yield make
    for each in made:
        end_app(each)


def app_of(config: Config, pool: Pool) -> Flask:
    """Return an app that computes in a pool of the tests."""
    from backend.web.factory import create_app

    made = create_app(config)
    made.extensions[POOL] = pool
    made.testing = False  # errors get the answer that readers get
    return made


def end_app(app: Flask) -> None:
    """Close what an app has opened."""
    services = app.extensions["bubbleline"]
    services.runs.stop()
    services.links.store.close()
    services.classes.rooms.stop()


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return make_app()


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    return app.test_client()


@pytest.fixture(scope="session")
def reader(pool: Pool, tmp_path_factory: pytest.TempPathFactory) -> Iterator[FlaskClient]:
    """A client of one app for all tests that change nothing in it, and count nothing."""
    made = app_of(Config(port=0, database=tmp_path_factory.mktemp("reader") / "runs.sqlite3", runner=FAKE_RUNNER), pool)
    yield made.test_client(use_cookies=False)
    end_app(made)


@pytest.fixture(scope="session", autouse=True)
def forks() -> Iterator[None]:
    """End the process that forks servers after the last test."""
    yield
    FORKS.close()


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start servers that end with the test."""
    with ExitStack() as started:
        yield lambda *runner_options, **options: started.enter_context(launch(tmp_path, *runner_options, **options))


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server with a fake runner, for all tests that do not change it."""
    with launch(tmp_path_factory.mktemp("server")) as shared:
        yield shared


def error_of(response) -> dict:
    """Return the error of a response, after checking that it has the common shape."""
    assert response.mimetype == "application/json"
    body = response.get_json()
    assert set(body) == {"error"}
    always = {"code", "params", "field", "value", "message"}
    assert always <= set(body["error"]) <= always | {"limit", "nearest", "rank"}
    assert isinstance(body["error"]["message"], str)
    assert "Traceback" not in body["error"]["message"]
    return body["error"]
