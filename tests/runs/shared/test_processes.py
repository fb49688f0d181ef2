"""Several processes of one server: a run is started, watched and changed through each, whichever of them dies."""

from __future__ import annotations

import os
import re
import signal
import time
from pathlib import Path

import pytest
import requests
from click.testing import CliRunner

from app import cli
from backend.runs.run import OVER
from tests.conftest import PATIENCE_S, Server, until
from tests.support.processes import children_of, command_of
from tests.support.servers.redis_server import RedisServer
from tests.support.servers.server import GOES_ON
from tests.support.web_pages import Client, Page


def listed(server: Server) -> dict[str, dict]:
    runs = server.get("/api/runs").json()["runs"]
    return {run["id"]: run for run in runs}


def processes_of(server: Server, words: str) -> list[int]:
    """The processes of a server with these words in their command line."""
    return [each for each in children_of(server.process.pid) if words in command_of(each)]


def watched(server: Server, run_id: str) -> Page:
    page = Page(server, transports=["websocket"])
    assert page.watch(run_id)["ok"] is True
    return page


def finish(server: Server, page: Page, run_id: str) -> dict:
    """Wait for the end of a run and return it, after a check that the page has all of it."""
    until(lambda: page.over)

    def is_whole() -> bool:  # another process may be a moment behind, in the status or in the rows
        now = server.run(run_id)
        return now["status"] in OVER and len(now["ops"]) >= len(page.rows())

    until(is_whole)
    run = server.run(run_id)
    assert page.rows() == run["ops"]
    assert page.messages[0]["first"] == 1
    assert page.messages[-1]["seq"] == run["seq"]
    page.io.disconnect()
    return run


def test_a_run_started_on_one_machine_is_watched_listed_and_changed_through_another(ready):
    first, second = ready
    run_id = second.start_run(p=2)
    pages = [watched(server, run_id) for server in (first, second)]
    runs = [finish(server, page, run_id) for server, page in zip(ready, pages, strict=True)]
    assert runs[0] == runs[1]
    assert runs[0]["status"] == "finished"
    assert requests.patch(f"{first.url}/api/runs/{run_id}", json={"name": "shared"}, timeout=PATIENCE_S).ok
    assert second.run(run_id)["name"] == listed(second)[run_id]["name"] == "shared"
    assert requests.delete(f"{second.url}/api/runs/{run_id}", timeout=PATIENCE_S).status_code == 204
    for server in ready:
        assert server.get(f"/api/runs/{run_id}").status_code == 404
        assert run_id not in listed(server)


def test_a_run_is_cancelled_through_another_machine_and_an_error_of_the_manager_arrives_whole(ready):
    first, second = ready
    run_id = first.start_run(GOES_ON, p=2)
    page = watched(second, run_id)
    until(lambda: len(page.rows()) > 3)
    assert listed(second)[run_id]["status"] == "running"
    assert second.cancel(run_id).status_code == 202
    assert finish(first, page, run_id)["status"] == "cancelled"
    again = second.cancel(run_id)
    assert (again.status_code, again.json()["error"]["code"]) == (409, "runs.already_over")
    assert "cancelled" in again.json()["error"]["message"]


def test_a_run_goes_on_without_a_gap_while_redis_dies_and_comes_back_empty(ready, redis_server: RedisServer):
    first, second = ready
    run_id = first.start_run(p=2, m=60)
    pages = [watched(server, run_id) for server in ready]
    until(lambda: all(len(page.rows()) > 5 for page in pages))
    redis_server.kill()
    before = time.monotonic()
    assert second.get("/").ok  # pages are served all the same
    refused = second.post("/api/runs", {"spec": {"p": 2, "m": 3}})
    assert (refused.status_code, refused.headers["Retry-After"]) == (503, "5")
    assert second.get("/readyz").json()["redis"]["ok"] is False
    until(lambda: time.monotonic() > before + 1)
    redis_server.start()
    for server, page in zip(ready, pages, strict=True):
        assert finish(server, page, run_id)["status"] == "finished"
    assert finish(second, watched(second, run_id), run_id)["op_count"] == 180
    until(lambda: all(server.get("/readyz").ok for server in ready))
    next_run = second.start_run(p=2)
    assert finish(first, watched(first, next_run), next_run)["status"] == "finished"


def test_a_page_whose_process_is_killed_goes_on_with_another_and_the_run_with_it(ready):
    first, _ = ready
    run_id = first.start_run(GOES_ON, p=2)
    rows: list[list] = []
    seen = {"seq": 0, "connections": 0}
    io = Client(reconnection_delay=0.1, reconnection_delay_max=0.2)

    def take(message: dict) -> None:
        assert message["first"] <= seen["seq"] + 1, "a gap"
        if message["first"] == seen["seq"] + 1:
            rows.extend(message.get("ops", []))
            seen["seq"] = message["seq"]

    def watch() -> None:
        seen["connections"] += 1
        io.emit("watch", {"run": run_id, "since": seen["seq"]})

    io.on("run", take)
    io.on("connect", watch)
    io.connect(first.url, transports=["websocket"])
    until(lambda: len(rows) > 5)
    for number in (1, 2):  # the page is at one of them
        killed = processes_of(first, f"--number {number}")
        os.kill(killed[0], signal.SIGKILL)
        until(lambda number=number, killed=killed: processes_of(first, f"--number {number}") not in ([], killed))
        count = len(rows)
        until(lambda count=count: len(rows) > count)
    until(lambda: seen["connections"] > 1)
    assert first.cancel(run_id).status_code == 202
    until(lambda: first.run(run_id)["status"] == "cancelled")
    until(lambda: rows == first.run(run_id)["ops"])
    io.disconnect()


def test_a_run_whose_manager_is_killed_ends_with_its_rows_and_the_next_one_works(ready):
    first, second = ready
    run_id = second.start_run(GOES_ON, p=2)
    waiting = second.start_run(p=2, m=3)
    page = watched(second, run_id)
    until(lambda: len(page.rows()) > 5)
    os.kill(processes_of(first, "process runs")[0], signal.SIGKILL)
    run = finish(second, page, run_id)
    assert (run["status"], run["failure"]["code"]) == ("failed", "runs.server_stopped")
    assert run["op_count"] > 5
    until(lambda: first.run(waiting)["status"] == "failed")
    until(lambda: second.post("/api/runs", {"spec": {"p": 2, "m": 3}}).ok)
    next_run = second.start_run(p=2)
    assert finish(first, watched(first, next_run), next_run)["status"] == "finished"
    stored = {each["id"]: each["status"] for each in listed(first).values()}
    assert (stored[run_id], stored[waiting]) == ("failed", "failed")


def test_no_process_waits_for_a_connection_that_another_one_has_taken(ready):
    first, _ = ready
    found = processes_of(first, "process web")
    assert len(found) == 2
    for process in found:  # a call of accept that blocks would hold up the whole process
        listener = command_of(process).split("--listener ")[1].split()[0]
        flags = re.findall(r"flags:\s+(\d+)", Path(f"/proc/{process}/fdinfo/{listener}").read_text())
        assert int(flags[0], 8) & os.O_NONBLOCK


def test_limits_count_for_all_processes_together(ready):
    first, second = ready
    for number, server in enumerate((first, second, first)):
        assert server.post("/api/links", {"query": f"?m={4 + number}"}).ok
    refused = second.post("/api/links", {"query": "?m=12"})
    assert (refused.status_code, refused.json()["error"]["code"]) == (429, "links.too_many_an_hour")
    assert int(refused.headers["Retry-After"]) > 60


def test_all_processes_see_one_board(ready):
    first, second = ready
    rows = ["0F0 0F1 0F2 0B0 0B1 0B2", "1F0 1F1 1F2 1B0 1B1 1B2"]
    at = "api/tasks/gpipe-from-nothing"
    counts = [server.post(f"/{at}/entries", {"rows": rows}).json()["entry"]["count"] for server in (first, second)]
    assert counts == [1, 2]
    boards = [server.get(f"/{at}/board").json() for server in (first, second)]
    assert boards[0] == boards[1]
    assert boards[0]["submissions"] == 2


def test_no_process_outlives_a_server_that_is_killed(start, redis_server: RedisServer):
    server = start(BUBBLELINE_REDIS=redis_server.url, BUBBLELINE_PROCESSES="2")
    until(lambda: server.get("/healthz").ok)
    children = children_of(server.process.pid)
    assert len(children) == 3
    assert sum("process runs" in command_of(child) for child in children) == 1
    server.process.kill()
    until(lambda: not any(command_of(child) for child in children))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"BUBBLELINE_PROCESSES": "2"}, "needs BUBBLELINE_REDIS"),
        ({"BUBBLELINE_REDIS": "http://:secret@host"}, "must be redis://HOST:PORT/NUMBER"),
    ],
)
def test_settings_that_cannot_be_are_refused_without_showing_a_password(settings, words):
    done = CliRunner(env=settings).invoke(cli, ["serve"])
    assert done.exit_code == 1
    assert words in done.output
    assert "secret" not in done.output
