"""A server that stops: the present run may end, its viewers get notice, queued ones fail, no process remains."""

from __future__ import annotations

import signal
from contextlib import suppress
from pathlib import Path

from tests.runs.stored import opened
from tests.support import PATIENCE_S, until, within
from tests.support.processes import group_of
from tests.support.web_pages import Page


def test_the_present_run_ends_and_is_kept_while_the_server_takes_no_more(start, tmp_path: Path):
    asked = tmp_path / "asked"
    server = start("--until", str(asked), BUBBLELINE_STOP_S="300")
    until(server.ready)
    present, waiting = server.start_run(3), server.start_run(2)
    runner = server.runner()
    page = Page(server, transports=["websocket"])
    page.watch(present)
    until(lambda: page.rows())
    server.process.send_signal(signal.SIGTERM)
    until(lambda: server.get("/readyz").status_code == 503)
    why = server.get("/readyz").json()["server"]
    assert why == {"ok": False, "why": "the server is stopping"}
    assert server.run(present)["notice"]["code"] == "runs.server_stops_soon"
    refused = server.post("/api/runs", {"spec": {"m": 2}})
    assert (refused.status_code, refused.json()["error"]["code"]) == (503, "runs.server_restarting")
    failed = server.run(waiting)
    assert (failed["status"], failed["failure"]["code"]) == ("failed", "runs.not_begun")
    asked.touch()
    assert server.process.wait(timeout=PATIENCE_S) == 0
    until(lambda: page.over)
    told = [message["event"] for message in page.messages]
    assert "notice" in told
    assert told[-1] == "finished"
    assert group_of(runner) == []
    with suppress(Exception):
        page.io.disconnect()
    with opened(tmp_path / "runs.sqlite3") as store:
        assert store.close_left_over() == 0, "every run is over"
        assert store.load(present).summary()["status"] == "finished"
        assert "notice" not in store.load(present).summary()
        assert store.load(waiting).summary()["failure"]["code"] == "runs.not_begun"


def test_a_run_that_goes_on_for_too_long_is_failed_and_a_second_signal_ends_at_once(start, tmp_path: Path):
    for seconds, signals in (("1", 1), ("60", 2)):
        server = start("--worker", BUBBLELINE_STOP_S=seconds)
        until(server.ready)
        run_id, runner = server.start_run(106), server.runner()
        until(lambda at=server, run=run_id: at.run(run)["ops"])
        with within(8):
            server.process.send_signal(signal.SIGTERM)
            if signals == 2:
                until(lambda at=server: at.get("/readyz").status_code == 503)
                server.process.send_signal(signal.SIGTERM)
            assert server.process.wait(timeout=PATIENCE_S) == 0
        until(lambda at=runner: group_of(at) == [])
        with opened(tmp_path / "runs.sqlite3") as store:
            assert store.close_left_over() == 0, "every run is over"
            assert store.load(run_id).summary()["failure"]["code"] == "runs.server_stopped"


def test_a_server_without_a_run_stops_at_once_however_long_runs_may_take(start):
    server = start(BUBBLELINE_STOP_S="60")
    until(server.ready)
    with within(5):
        assert server.stop() == 0
