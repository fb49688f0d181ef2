"""What each page of a class is sent: the newest, never a queue, and nothing that only leaders may see."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from backend.classes.classroom import NEW, Classroom, Member
from backend.web.classes.feed import ROOM_S, ClassFeed

ASKED = {"number": 1, "round": 1, "right": "secret answer", "kind": "choose", "open": True, "revealed": None}


class Pages:
    """A transport that keeps what it sends; those in `busy` have not taken their last message."""

    def __init__(self) -> None:
        self.got: dict[str, list[tuple[str, dict[str, Any]]]] = {}
        self.busy: set[str] = set()
        self.encoded: Counter[str] = Counter()

    def idle(self, viewer: str) -> bool:
        return viewer not in self.busy

    def emit(self, viewers: list[str], event: str, text: str) -> None:
        self.encoded[event] += 1
        for viewer in viewers:
            assert viewer not in self.busy
            self.got.setdefault(viewer, []).append((event, json.loads(text)))

    def take(self, viewer: str) -> list[tuple[str, dict[str, Any]]]:
        return self.got.pop(viewer, [])


class Here:
    """Notes who is here, as the classes do."""

    def here(self, room: Classroom, numbers: frozenset[int]) -> None:
        room.hear("a", 0.0, numbers)


@pytest.fixture
def pages() -> Pages:
    return Pages()


@pytest.fixture
def feed(pages: Pages) -> ClassFeed:
    made = ClassFeed(pages)
    made._loop = "the tests pump by hand"
    made._count_soon = lambda audience: None  # type: ignore[method-assign]
    made.presence = Here()
    return made


@pytest.fixture
def room() -> Classroom:
    made = Classroom("BCDFGH", "key", 9e9, dict(NEW), None)
    for number in range(1, 301):
        made.add(Member(number, f"s{number}", "Ada" if number == 1 else None))
    return made


def change(room: Classroom, **settings: Any) -> None:
    room.take(room.settings | {"changes": room.settings["changes"] + 1} | settings)


def pump(feed: ClassFeed, room: Classroom, now: float) -> float | None:
    feed.notify(room.code)
    return feed.pump(now)


def test_a_whole_class_shares_one_message_and_a_slow_page_is_sent_only_the_newest(feed, pages, room):
    for number in range(1, 301):
        feed.enter(f"v{number}", room, number)
    assert pump(feed, room, 0.0) is None
    assert not pages.got, "what they were acknowledged with is not sent again"
    pages.busy = {"v7"}
    for seq in range(1, 101):
        room.show({"seq": seq, "page": "/"})
        pump(feed, room, 0.0)
    assert pages.encoded["class"] == 100
    assert [told["scene"]["seq"] for _, told in pages.take("v8")] == list(range(1, 101))
    assert "v7" not in pages.got
    change(room, paused=True)
    assert pump(feed, room, 0.0) is not None, "it is tried again"
    pages.busy = set()
    assert pump(feed, room, 0.0) is None
    ((event, told),) = pages.take("v7")
    assert (event, told["code"], told["scene"]["seq"], told["state"]["paused"]) == ("class", "BCDFGH", 100, True)


def test_leaders_are_told_what_has_changed_now_and_then_and_members_nothing_of_it(feed, pages, room):
    feed.enter("leader", room, None)
    feed.enter("student", room, 1)
    pump(feed, room, 10.0)
    ((event, told),) = pages.take("leader")
    assert (event, len(told["members"]), told["here"]) == ("class_room", 300, 0)
    room.members[5].items["build/x"] = "done"
    room.touch(room.members[5])
    wait = pump(feed, room, 10.0 + ROOM_S / 2)
    assert wait == pytest.approx(ROOM_S / 2)
    assert not pages.got
    room.remove(9)
    pump(feed, room, 10.0 + ROOM_S)
    ((_, told),) = pages.take("leader")
    assert [(row["number"], row.get("gone", False)) for row in told["members"]] == [(5, False), (9, True)]
    assert "student" not in pages.got


def test_only_leaders_are_sent_what_is_right_until_it_is_revealed(feed, pages, room):
    feed.enter("leader", room, None)
    feed.enter("student", room, 2)
    change(room, question=ASKED)
    while pump(feed, room, 99.0) is not None:
        pass
    assert pages.take("leader")[0][1]["state"]["question"]["right"] == "secret answer"
    sent = json.dumps(pages.take("student"))
    assert '"number": 1' in sent
    assert "secret answer" not in sent
    assert "Ada" not in sent
    assert room.key not in sent


def test_pages_of_a_removed_member_and_of_a_deleted_class_are_told_once_and_forgotten(feed, pages, room):
    feed.enter("one", room, 1)
    feed.enter("one again", room, 1)
    feed.enter("two", room, 2)
    feed.enter("leader", room, None)
    pump(feed, room, 0.0)
    pages.got.clear()
    room.remove(1)
    pages.busy = {"one again"}
    pump(feed, room, 0.0)
    assert pages.take("one") == [("class", {"code": "BCDFGH", "over": True})]
    assert feed.seat_of("one") is None
    pages.busy = set()
    pump(feed, room, 0.0)
    assert pages.take("one again") == [("class", {"code": "BCDFGH", "over": True})]
    assert feed.viewers() == 2
    room.over = True
    pump(feed, room, 0.0)
    assert [pages.take(each)[-1][1] for each in ("two", "leader")] == [{"code": "BCDFGH", "over": True}] * 2
    assert pump(feed, room, 0.0) is None
    assert (feed.viewers(), feed._audiences) == (0, {})


def test_a_class_that_nobody_views_is_forgotten_and_a_page_is_in_one_class(feed, room):
    other = Classroom("XXXXXX", "key", 9e9, dict(NEW), None)
    feed.enter("leader", room, None)
    feed.enter("leader", other, None)
    assert feed.seat_of("leader") == (other, None)
    assert list(feed._audiences) == ["XXXXXX"]
    feed.drop("leader")
    feed.drop("leader")
    assert (feed._audiences, feed.seat_of("leader")) == ({}, None)


def test_who_is_here_is_counted_from_open_pages(pages, room):
    feed = ClassFeed(pages)
    feed._loop = "the tests pump by hand"
    feed.presence = Here()
    feed.enter("a", room, 3)
    feed.enter("b", room, 3)
    feed.enter("leader", room, None)
    audience = feed._audiences[room.code]
    audience.due.kill()
    feed._count(audience)
    assert room.present() == {3}
    for viewer in ("a", "b"):
        feed.drop(viewer)
    audience.due.kill()
    feed._count(audience)
    assert room.present() == frozenset()
