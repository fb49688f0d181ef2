"""A server that stops: the present run may end, its viewers get notice, queued ones fail, no process remains."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import requests

from backend.runs.store import Store
from tests.conftest import Server, until
from tests.runs.test_manager import group_of
from tests.support import PATIENCE_S, within
from tests.support.web_pages import Page
from tests.web.operation.test_serve import ready, runner_of, start_run


def run_of(server: Server, run_id: str) -> dict:
    return requests.get(f"{server.url}/api/runs/{run_id}", timeout=PATIENCE_S).json()


@contextmanager
def stored(folder: Path) -> Iterator[Store]:
    """The database that a server in this folder has left."""
    store = Store(folder / "runs.sqlite3")
    store.open()
    assert store.close_left_over() == 0, "every run is over"
    yield store
    store.close()


def test_the_present_run_ends_and_is_kept_while_the_server_takes_no_more(start, tmp_path: Path):
    server = start("--pause", "0.04", BUBBLELINE_STOP_S="30")
    until(lambda: ready(server))
    present, waiting = start_run(server, 100), start_run(server, 2)
    runner = runner_of(server)
    page = Page(server, transports=["websocket"])
    page.watch(present)
    until(lambda: page.rows())
    server.process.send_signal(signal.SIGTERM)
    until(lambda: requests.get(server.url + "/readyz", timeout=PATIENCE_S).status_code == 503)
    why = requests.get(server.url + "/readyz", timeout=PATIENCE_S).json()["server"]
    assert why == {"ok": False, "why": "the server is stopping"}
    assert run_of(server, present)["notice"]["code"] == "runs.server_stops_soon"
    refused = requests.post(server.url + "/api/runs", json={"spec": {"m": 2}}, timeout=PATIENCE_S)
    assert (refused.status_code, refused.json()["error"]["code"]) == (503, "runs.server_restarting")
    failed = run_of(server, waiting)
    assert (failed["status"], failed["failure"]["code"]) == ("failed", "runs.not_begun")
    assert server.process.wait(timeout=PATIENCE_S) == 0
    told = [message["event"] for message in page.messages]
    assert "notice" in told
    assert told[-1] == "finished"
    assert group_of(runner) == []
    with suppress(Exception):
        page.io.disconnect()
    with stored(tmp_path) as store:
        assert store.load(present).summary()["status"] == "finished"
        assert "notice" not in store.load(present).summary()
        assert store.load(waiting).summary()["failure"]["code"] == "runs.not_begun"


def test_a_run_that_goes_on_for_too_long_is_failed_and_a_second_signal_ends_at_once(start, tmp_path: Path):
    for seconds, signals in (("1", 1), ("60", 2)):
        server = start("--worker", BUBBLELINE_STOP_S=seconds)
        until(lambda at=server: ready(at))
        run_id, runner = start_run(server, 106), runner_of(server)
        until(lambda at=server, run=run_id: run_of(at, run)["ops"])
        with within(8):
            server.process.send_signal(signal.SIGTERM)
            until(lambda at=server: requests.get(at.url + "/readyz", timeout=PATIENCE_S).status_code == 503)
            if signals == 2:
                server.process.send_signal(signal.SIGTERM)
            assert server.process.wait(timeout=PATIENCE_S) == 0
        until(lambda at=runner: group_of(at) == [])
        with stored(tmp_path) as store:
            assert store.load(run_id).summary()["failure"]["code"] == "runs.server_stopped"


def test_a_server_without_a_run_stops_at_once_however_long_runs_may_take(start):
    server = start(BUBBLELINE_STOP_S="60")
    until(lambda: ready(server))
    with within(5):
        assert server.stop() == 0
