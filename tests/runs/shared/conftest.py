"""Servers of several processes around one Redis."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import pytest

from backend.runs.run import OVER
from tests.conftest import Server, launch, until
from tests.support.servers.postgresql import OWNER, Cluster
from tests.support.servers.redis_server import RedisServer

PAUSED = ("--pause", "0.05")  # between two ops of the fake runner


@pytest.fixture(scope="package")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    started = RedisServer(tmp_path_factory.mktemp("redis"))
    yield started
    started.kill()


@pytest.fixture(scope="package")
def machines(
    redis_server: RedisServer, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Server, Server]]:
    """Two servers as on two machines: one of two processes that executes runs, and one that only serves the page.

    They share a PostgreSQL database, or an SQLite file where there is none.
    """
    folder = tmp_path_factory.mktemp("machines")
    shared = {"BUBBLELINE_REDIS": redis_server.url}
    with suppress(pytest.skip.Exception):
        postgresql: Cluster = request.getfixturevalue("postgresql")
        made = f"CREATE DATABASE machines OWNER {OWNER} TEMPLATE template0"
        postgresql.execute("DROP DATABASE IF EXISTS machines WITH (FORCE)", made)  # of the last time in this folder
        shared["BUBBLELINE_DATABASE"] = postgresql.uri("machines")
    with (
        launch(folder, *PAUSED, **shared, BUBBLELINE_PROCESSES="2", BUBBLELINE_LINKS_PER_HOUR="3") as first,
        launch(folder, *PAUSED, **shared, BUBBLELINE_RUN_MANAGER="0", BUBBLELINE_LINKS_PER_HOUR="3") as second,
    ):
        yield first, second


@pytest.fixture
def ready(machines: tuple[Server, Server]) -> tuple[Server, Server]:
    """Both servers, when each can start runs."""
    for server in machines:
        for run in server.get("/api/runs").json()["runs"]:  # of a test that failed
            if run["status"] not in OVER:
                server.post(f"/api/runs/{run['id']}/cancel")
        until(lambda server=server: server.get("/readyz").ok and server.ready())
    return machines
