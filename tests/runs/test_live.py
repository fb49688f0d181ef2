"""From the page's request to verified gradients: the server with the real runner behind it."""

from __future__ import annotations

from backend.schedule.families.registry import order, read
from tests.conftest import until
from tests.support.processes import group_of
from tests.support.web_pages import Page

SPEC = {"family": "1f1b", "p": 2, "m": 2}


def test_a_run_requested_over_http_is_watched_live_ends_verified_and_leaves_no_process(start):
    server = start(BUBBLELINE_RUNNER="")  # which is the runner that users have
    answer = server.post("/api/runs", {"spec": SPEC, "mode": "free"}).json()
    page = Page(server, transports=["websocket"])
    assert page.watch(answer["id"])["ok"] is True
    until(lambda: page.over)
    page.io.disconnect()
    run = server.get(f"/api/runs/{answer['id']}").json()
    assert (run["status"], run["verified"], run["failure"]) == ("finished", True, None), run["failure"]
    assert run["max_grad_error"] < 1e-6
    assert page.rows() == run["ops"]
    built = order(read(SPEC))
    expected = {(rank, index) for rank in range(2) for index in range(len(built.row(rank)))}
    assert {(row[0], row[1]) for row in run["ops"]} == expected
    assert all(ready >= 0 and start_ < end for _, _, ready, start_, end, _ in run["ops"])
    assert run["predicted"].keys() == run["measured"].keys()
    runner = server.runner()
    assert len(group_of(runner)) > 1  # its workers stay warm for the next run
    assert server.stop() == 0
    until(lambda: group_of(runner) == [])
