"""Searches over a socket, between real clients and a real server: live, one at a time, stopped, dropped, and stored."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import gevent
import pytest

from backend.compute import frames
from backend.compute.live_searches import search_job
from backend.compute.live_searches.search_job import OVER, SearchJob
from backend.compute.live_searches.search_queue import MOST_PER_CLIENT, MOST_WAITING, RETRY_S, SearchQueue
from backend.compute.live_searches.search_work import Better
from backend.compute.worker import Reply
from backend.errors import RequestError
from backend.schedule.families import registry
from backend.schedule.order import wire
from backend.schedule.spec import Spec
from tests.conftest import Server, until
from tests.support.web_pages import Page

HARD = {"family": "zb-auto", "p": 6, "m": 18, "memory": 4, "costs": {"F": 18.5, "I": 18.1, "W": 9.3, "comm": 0.6}}
PROVED = HARD | {"m": 6}  # ends early, once an order is as short as the bound


class Seeker(Page):
    """A page that searches and keeps the events it receives."""

    def __init__(self, server: Server) -> None:
        super().__init__(server)
        self.events: list[dict[str, Any]] = []
        self.io.on("search", self.events.append)

    def search(self, spec: dict[str, Any] = HARD, seconds: float = 60) -> dict[str, Any]:
        return self.ask("search", {"spec": spec, "seconds": seconds})

    def find(self, spec: dict[str, Any] = HARD) -> dict[str, Any]:
        """Search until there is an order, and stop; returns the last event."""
        self.search(spec)
        until(lambda: any(each.get("order") for each in list(self.events)))
        self.ask("search_stop")
        return self.last()

    def last(self) -> dict[str, Any]:
        until(lambda: any(each["status"] in ("finished", "stopped", "failed") for each in list(self.events)))
        return next(each for each in self.events if each["status"] in ("finished", "stopped", "failed"))


@pytest.fixture
def seeker(server: Server) -> Iterator[Callable[[], Seeker]]:
    with ExitStack() as opened:
        yield lambda: opened.enter_context(Seeker(server))


def test_a_search_reports_every_better_order_and_its_gap_to_the_bound_until_it_is_stopped(
    seeker: Callable[[], Seeker],
) -> None:
    page = seeker()
    assert page.search(seconds=60)["ok"] is True
    until(lambda: len({each["span"] for each in list(page.events) if each.get("order")}) > 1)  # it gets better
    assert page.ask("search_stop") == {"ok": True, "stopped": True}
    last = page.last()
    assert last["status"] == "stopped"
    assert last["order"], "its best so far"
    assert page.ask("search_stop") == {"ok": True, "stopped": False}
    spans = [each["span"] for each in page.events if each.get("order")]
    assert spans == sorted(spans, reverse=True)
    assert last["span"] >= last["lower_bound"] > 0
    assert last["gap"] == pytest.approx(last["span"] / last["lower_bound"] - 1)
    assert last["spec"]["effort"] == last["evaluations"] > 0


def test_the_searched_order_is_the_schedule_of_its_spec_at_once(server: Server, seeker: Callable[[], Seeker]) -> None:
    page = seeker()
    last = page.find()
    costs = last["spec"]["costs"]
    query = {"family": "zb-auto", "p": 6, "m": 18, "memory": 4, "effort": last["spec"]["effort"], "seed": 1}
    query |= {key: costs[key] for key in ("F", "I", "W", "comm")}
    answer = server.get("/api/schedule", params=query)
    assert answer.content == last["order"]
    length = struct.unpack("<I", answer.content[:4])[0]
    assert len(answer.content) == 4 + length + 3 * 6 * 18


def test_every_order_of_a_search_has_the_copies_of_its_offload(seeker: Callable[[], Seeker]) -> None:
    page = seeker()
    last = page.find(HARD | {"offload": "full"})
    orders = [wire.decode(each["order"]) for each in page.events if each.get("order")]
    assert orders
    assert all(order.copies is not None for order in orders)
    found = registry.order(registry.read(last["spec"]))
    assert wire.encode(orders[-1]) == wire.encode(found)


def test_a_new_search_replaces_the_old_one(seeker: Callable[[], Seeker]) -> None:
    page = seeker()
    first = page.search(seconds=60)["id"]
    until(lambda: any(each["better"] for each in list(page.events)))
    second = page.search(PROVED)["id"]
    until(lambda: any(each["id"] == second and each["status"] == "finished" for each in list(page.events)))
    later = page.events[next(k for k, each in enumerate(page.events) if each["id"] == second) :]
    assert {each["id"] for each in later} == {second}
    assert first != second


def test_three_searches_at_once_are_acknowledged_at_once_with_their_positions(seeker: Callable[[], Seeker]) -> None:
    pages = [seeker() for _ in range(4)]
    answers = [page.search(HARD | {"m": 12 + number}) for number, page in enumerate(pages)]
    assert [answer["position"] for answer in answers] == [0, 1, 2, 3]
    assert pages[3].ask("unwatch", {"run": "a"}) == {"ok": True}  # its socket is served while it waits
    until(lambda: any(each["position"] == 3 for each in list(pages[3].events)))
    pages[1].io.disconnect()  # one that leaves while it waits frees its place
    until(lambda: pages[3].events[-1]["position"] == 2)
    pages[0].io.disconnect()  # one that leaves while it runs frees the core
    for page, answer in zip(pages[2:], answers[2:], strict=True):
        until(lambda page=page: any(each.get("order") for each in list(page.events)))
        page.ask("search_stop")
        assert (page.last()["status"], page.last()["id"]) == ("stopped", answer["id"])
    assert not any(each["status"] in OVER for page in pages[:2] for each in page.events)


class Searches:
    """A queue whose searches last until they are let go, and the order in which they begin."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, at_once: int = 1) -> None:
        self.begun: list[float] = []
        self.sent: list[tuple[str, dict[str, Any]]] = []
        self.end = threading.Semaphore(0)
        monkeypatch.setattr(SearchJob, "run", lambda job: self._run(job))
        self.queue = SearchQueue(lambda *each: self.sent.append(each), lambda spec, body: None, at_once)

    def _run(self, job: SearchJob) -> None:
        """Run in the thread of the pool, in place of a search."""
        self.begun.append(job.seconds)
        while not self.end.acquire(timeout=0.01):
            if job.stopping:
                job.state = replace(job.state, status="stopped")
                return
        job.state = replace(job.state, status="finished", seconds=job.seconds)

    def start(self, viewer: str, seconds: float, client: str) -> int:
        spec = registry.read(HARD)
        return self.queue.position(self.queue.start(viewer, spec, seconds, client))

    def finish(self) -> None:
        """Let all end."""
        for _ in range(100):
            self.end.release()
        until(lambda: len(self.queue._queue) == self.queue._queue.serving == 0, sleep=gevent.sleep)

    def begun_after(self, number: int) -> list[float]:
        """Wait until `number` have begun; returns their seconds, by which they are known."""
        until(lambda: len(self.begun) >= number, sleep=gevent.sleep)
        return self.begun


@pytest.fixture
def searches(monkeypatch: pytest.MonkeyPatch) -> Iterator[Searches]:
    made = Searches(monkeypatch)
    yield made
    made.finish()


def test_clients_take_turns_however_many_searches_each_has(searches: Searches) -> None:
    assert [searches.start(f"a{k}", 10.0 + k, "a") for k in range(3)] == [0, 1, 2]
    searches.begun_after(1)
    assert searches.start("b", 20.0, "b") == 1  # before the second of the other client
    for number in range(2, 5):
        searches.end.release()
        searches.begun_after(number)
    assert searches.begun == [10, 20, 11, 12]


def test_as_many_searches_run_at_once_as_the_setting_says(monkeypatch: pytest.MonkeyPatch) -> None:
    searches = Searches(monkeypatch, at_once=2)
    assert [searches.start(client, 10.0 + k, client) for k, client in enumerate("abc")] == [0, 0, 1]
    assert sorted(searches.begun_after(2)) == [10, 11]
    searches.finish()
    assert searches.begun[2:] == [12]


def test_a_search_is_queued_without_waiting_and_too_many_are_refused(searches: Searches) -> None:
    for k in range(MOST_PER_CLIENT + 1):
        searches.start(f"a{k}", 10.0, "a")
        searches.begun_after(1)
    with pytest.raises(RequestError) as mine:
        searches.start("more", 10.0, "a")
    assert (mine.value.kind, mine.value.retry_after) == ("share", RETRY_S)
    assert searches.start("b", 10.0, "b") == 1
    for k in range(MOST_WAITING):
        with suppress(RequestError):
            searches.start(f"c{k}", 10.0, f"c{k}")
    with pytest.raises(RequestError) as full:
        searches.start("late", 10.0, "late")
    assert (full.value.kind, full.value.limit) == ("full", MOST_WAITING)


def test_a_viewer_that_leaves_takes_its_search_along(searches: Searches) -> None:
    for k in range(3):
        searches.start(f"v{k}", 10.0 + k, f"client {k}")
    searches.begun_after(1)
    searches.queue.drop("v1")  # queued
    searches.queue.drop("v0")  # running
    assert searches.begun_after(2) == [10, 12]
    until(
        lambda: any(viewer == "v2" and update["position"] == 0 for viewer, update in searches.sent), sleep=gevent.sleep
    )
    assert not any(update["status"] == "finished" for _, update in searches.sent)


def test_the_server_responds_to_other_requests_during_a_search(server: Server, seeker: Callable[[], Seeker]) -> None:
    page = seeker()
    page.search(HARD | {"m": 19}, seconds=60)  # an earlier test may have searched the other
    until(lambda: any(each["status"] == "running" for each in list(page.events)))
    for _ in range(20):
        assert server.get("/healthz").status_code == 200
    page.ask("search_stop")
    assert page.last()["status"] == "stopped", "it was still under way"


@pytest.mark.parametrize("orders", [0, 2])
def test_a_search_that_does_not_end_in_time_ends_with_the_best_order_that_it_has_reported(
    monkeypatch: pytest.MonkeyPatch, orders: int
) -> None:
    server, worker = socket.socketpair()
    now = [0.0]
    kept: list[Spec] = []
    job = SearchJob(registry.read(HARD), 60.0, lambda: now.__setitem__(0, 1000.0), kept.append)
    monkeypatch.setattr(search_job, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(job, "_start", lambda: (server, 0))
    found = job.spec.with_(effort=orders) if orders else None
    better = Better(9.0, 8.0, "bound", orders, 0.1, found, b"order")
    with worker:
        frames.send(worker, frames.pack(Reply("progress", better, False)))
        job.run()
    assert (job.state.status, job.state.body) == (("finished", b"order") if orders else ("failed", b""))
    assert not orders or (job.state.spec, job.state.span) == (found, 9.0)
    assert kept == []


@pytest.mark.parametrize(
    ("data", "field"),
    [
        ({"spec": {"family": "zb-h1"}}, "family"),
        ({"spec": {"family": "zb-auto", "memory": 0.5}}, "memory"),
        ({"spec": HARD, "seconds": 0}, "seconds"),
        ({"spec": HARD, "seconds": "long"}, "seconds"),
        ({"spec": HARD, "second": 5}, "second"),
        ({"spec": 7}, "spec"),
    ],
)
def test_a_bad_search_is_refused_with_its_field(seeker: Callable[[], Seeker], data: dict[str, Any], field: str) -> None:
    answer = seeker().ask("search", data)
    assert answer["error"]["field"] == field


def test_an_order_found_before_is_returned_without_a_search(seeker: Callable[[], Seeker]) -> None:
    first, second = seeker(), seeker()
    first.search(PROVED)
    found = first.last()
    second.search(PROVED)
    events = second.last()
    assert len(second.events) == 1
    assert (events["order"], events["spec"], events["status"]) == (found["order"], found["spec"], "finished")


def test_a_searched_order_is_run_without_another_search(server: Server, seeker: Callable[[], Seeker]) -> None:
    page = seeker()
    found = page.find(HARD | {"p": 2, "m": 5, "memory": 1.5})["spec"]
    run_id = server.post("/api/runs", {"spec": found}).json()["id"]
    until(lambda: server.run(run_id)["status"] == "finished")
