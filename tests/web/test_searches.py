"""Searches over a socket, between real clients and a real server: live, one at a time, stopped, dropped, and stored."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import requests

from tests.conftest import Server, until
from tests.support.web_pages import Page

HARD = {"family": "zb-auto", "p": 6, "m": 18, "memory": 4, "costs": {"F": 18.5, "I": 18.1, "W": 9.3, "comm": 0.6}}


@pytest.fixture
def seeker(server: Server) -> Iterator[Callable[[], Seeker]]:
    opened: list[Seeker] = []

    def make() -> Seeker:
        opened.append(Seeker(server))
        return opened[-1]

    yield make
    for each in opened:
        each.page.io.disconnect()


class Seeker:
    """A page that searches and keeps the events it receives."""

    def __init__(self, server: Server) -> None:
        self.events: list[dict[str, Any]] = []
        self.page = Page(server)
        self.page.io.on("search", self.events.append)

    def search(self, spec: dict[str, Any] = HARD, seconds: float = 0.6) -> dict[str, Any]:
        return self.page.ask("search", {"spec": spec, "seconds": seconds})

    def last(self) -> dict[str, Any]:
        until(lambda: any(each["status"] in ("finished", "stopped", "failed") for each in list(self.events)))
        return next(each for each in self.events if each["status"] in ("finished", "stopped", "failed"))


def test_a_search_reports_every_better_order_and_its_gap_to_the_bound(seeker: Callable[[], Seeker]) -> None:
    page = seeker()
    assert page.search(seconds=2.5)["ok"] is True
    last = page.last()
    assert last["status"] == "finished"
    better = [each for each in page.events if each.get("order")]
    spans = [each["span"] for each in better]
    assert spans == sorted(spans, reverse=True)
    assert len(set(spans)) > 1  # it got better while it ran
    assert last["span"] >= last["lower_bound"] > 0
    assert last["gap"] == pytest.approx(last["span"] / last["lower_bound"] - 1)
    assert last["spec"]["effort"] == last["evaluations"] > 0


def test_the_searched_order_is_the_schedule_of_its_spec_at_once(server: Server, seeker: Callable[[], Seeker]) -> None:
    page = seeker()
    page.search()
    last = page.last()
    costs = last["spec"]["costs"]
    query = {"family": "zb-auto", "p": 6, "m": 18, "memory": 4, "effort": last["spec"]["effort"], "seed": 1}
    query |= {key: costs[key] for key in ("F", "I", "W", "comm")}
    answer = requests.get(f"{server.url}/api/schedule", params=query, timeout=5)
    assert answer.content == last["order"]
    length = struct.unpack("<I", answer.content[:4])[0]
    assert len(answer.content) == 4 + length + 3 * 6 * 18


def test_a_stopped_search_reports_its_best_order(seeker: Callable[[], Seeker]) -> None:
    page = seeker()
    page.search(seconds=60)
    until(lambda: any(each["better"] for each in list(page.events)))
    assert page.page.ask("search_stop") == {"ok": True, "stopped": True}
    last = page.last()
    assert last["status"] == "stopped"
    assert last["order"]
    assert page.page.ask("search_stop") == {"ok": True, "stopped": False}


def test_a_new_search_replaces_the_old_one(seeker: Callable[[], Seeker]) -> None:
    page = seeker()
    first = page.search(seconds=60)["id"]
    until(lambda: any(each["better"] for each in list(page.events)))
    second = page.search(HARD | {"m": 6}, seconds=0.3)["id"]
    until(lambda: any(each["id"] == second and each["status"] == "finished" for each in list(page.events)))
    later = page.events[next(k for k, each in enumerate(page.events) if each["id"] == second) :]
    assert {each["id"] for each in later} == {second}
    assert first != second


def test_two_pages_take_turns_and_the_second_receives_its_queue_position(seeker: Callable[[], Seeker]) -> None:
    one, two = seeker(), seeker()
    one.search(seconds=60)
    until(lambda: any(each["status"] == "running" for each in list(one.events)))
    two.search(HARD | {"m": 17}, seconds=0.3)
    until(lambda: any(each["status"] == "queued" for each in list(two.events)))
    one.page.io.disconnect()  # a page that leaves frees the core
    assert two.last()["status"] == "finished"


def test_the_server_responds_to_other_requests_during_a_search(server: Server, seeker: Callable[[], Seeker]) -> None:
    page = seeker()
    page.search(seconds=4.0)
    until(lambda: any(each["status"] == "running" for each in list(page.events)))
    for _ in range(20):
        assert requests.get(f"{server.url}/healthz", timeout=3).status_code == 200
    assert page.last()["status"] == "finished"


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
    answer = seeker().page.ask("search", data)
    assert answer["error"]["field"] == field


def test_an_order_found_before_is_returned_without_a_search(seeker: Callable[[], Seeker]) -> None:
    first, second = seeker(), seeker()
    first.search(HARD | {"m": 16}, seconds=0.6)
    found = first.last()
    second.search(HARD | {"m": 16}, seconds=0.5)
    events = second.last()
    assert len(second.events) == 1
    assert (events["order"], events["spec"], events["status"]) == (found["order"], found["spec"], "finished")


def test_a_searched_order_is_run_without_another_search(server: Server, seeker: Callable[[], Seeker]) -> None:
    page = seeker()
    page.search(HARD | {"p": 2, "m": 5, "memory": 1.5}, seconds=0.5)
    found = page.last()["spec"]
    answer = requests.post(f"{server.url}/api/runs", json={"spec": found}, timeout=5)
    assert answer.status_code == 202, answer.text
    until(
        lambda: requests.get(f"{server.url}/api/runs/{answer.json()['id']}", timeout=5).json()["status"] == "finished"
    )
