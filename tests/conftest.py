"""Fixtures for tests of the web side: an app in this process, and servers as real processes."""

from __future__ import annotations

import gc
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from hypothesis import settings

from backend.compute.pool import Limits, Pool
from backend.config import PROJECT, Config
from backend.database.address import Location, PostgresqlAddress
from backend.schedule import jit
from backend.web.http.computing import POOL
from tests.support import PATIENCE_S
from tests.support.servers.forked import ForkedServer, ServerForks
from tests.support.servers.postgresql import Cluster
from tests.support.strategies import NEW_EXAMPLES, few
from tests.support.whole_run.processor_time import ProcessorTime

if TYPE_CHECKING:
    from tests.support.whole_run.distribution import FolderScheduling

# In this order: what takes minutes comes first and files that take seconds last, so that all workers end together. The
# page's files are the last to end, whatever comes behind them here: one worker stays with them from the start.
FOLDERS = (
    "cluster", "page/workbench", "page/learn", "page/app", "page/runs", "page/panels", "page/timeline",
    "runner", "web", "runs", "cli", "lessons", "charts", "lint", "schedule",
)  # fmt: skip

# A few examples, the same each time, whatever the machine's speed; RANDOM_EXAMPLES=1000 looks for that many new ones.
settings.register_profile("bubbleline", few(20), deadline=None, derandomize=not NEW_EXAMPLES)
settings.load_profile("bubbleline")

FAKE_RUNNER = (sys.executable, str(Path(__file__).parent / "support" / "runner" / "fake_runner.py"))


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(ProcessorTime())


gc.disable()  # until the tests are collected: what they are made of stays to the end


def pytest_collection_finish() -> None:
    """Leave what was imported and collected out of every later collection of garbage."""
    gc.freeze()
    gc.enable()


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


@dataclass
class Server:
    """A process of `python app.py serve`; `url` is the address that it printed."""

    process: ForkedServer | subprocess.Popen[str]
    url: str

    def stop(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(timeout=PATIENCE_S)


@pytest.fixture(scope="session", autouse=True)
def compiled() -> None:
    """Compile the kernels: tests time thousands of orders, which would take minutes interpreted."""
    jit.compile_all()


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


@pytest.fixture
def app(config: Config, pool: Pool) -> Iterator[Flask]:
    from backend.web.factory import create_app

    application = create_app(config)
    application.extensions[POOL] = pool
    application.testing = False  # errors get the answer that readers get
    yield application
    application.extensions["bubbleline"].runs.stop()


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    return app.test_client()


FORKS = ServerForks()


@pytest.fixture(scope="session", autouse=True)
def forks() -> Iterator[None]:
    """End the process that forks servers after the last test."""
    yield
    FORKS.close()


def launch(folder: Path, *runner_options: str, port: int = 0, as_users_do: bool = False, **environ: str) -> Server:
    """Start a server on a free port or on a given one, and wait until it has printed its address.

    It is forked from a process that has imported what it needs, unless it is to be started as users do.
    """
    runner = " ".join([*FAKE_RUNNER, *runner_options])
    settings = {"RUNNER": runner, "DATABASE": str(folder / "runs.sqlite3"), "STOP_S": "0"}
    settings |= {"WORKERS_AFTER_S": "3600", "WORKER_SECONDS": "600"}  # none before they are needed, and time to end
    env = os.environ | {f"BUBBLELINE_{name}": value for name, value in settings.items()} | environ
    command = ["serve", "--port", str(port)]
    with (folder / "server.log").open("a") as log:
        process: ForkedServer | subprocess.Popen[str]
        if as_users_do:
            command = [sys.executable, "app.py", *command]
            process = subprocess.Popen(command, cwd=PROJECT, env=env, text=True, stdout=subprocess.PIPE, stderr=log)
        else:
            process = FORKS.start(command, env, log)
    assert process.stdout is not None
    line = process.stdout.readline()
    address = re.search(r"http://[0-9.:]+", line)
    assert address, f"the server printed {line!r}: {(folder / 'server.log').read_text()}"
    return Server(process, address[0])


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """Start servers that end with the test."""
    started: list[Server] = []

    def launch_here(*runner_options: str, **options: Any) -> Server:
        started.append(launch(tmp_path, *runner_options, **options))
        return started[-1]

    yield launch_here
    for server in started:
        if server.process.poll() is None:
            server.stop()
        server.process.stdout.close()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server with a fake runner, for all tests that do not change it."""
    shared = launch(tmp_path_factory.mktemp("server"))
    yield shared
    shared.stop()
    assert shared.process.stdout is not None
    shared.process.stdout.close()


def until(
    true: Callable[[], object], seconds: float = PATIENCE_S, sleep: Callable[[float], object] = time.sleep
) -> None:
    """Wait until something holds; the longer it takes, the less often it is asked."""
    begun = time.monotonic()
    while not true():
        waited = time.monotonic() - begun
        assert waited < seconds, f"not within {seconds} s"
        sleep(min(0.01 + waited / 10, 0.1))


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
