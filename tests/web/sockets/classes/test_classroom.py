"""A class in memory: what leaders are told of its members, who is here, and messages that come in any order."""

from __future__ import annotations

import pytest

from backend.classes.classroom import MOST_GONE, NEW, Classroom, Member
from backend.classes.store import StoredClass, StoredMember


@pytest.fixture
def room() -> Classroom:
    made = Classroom("BCDFGH", "key", 9e9, dict(NEW), None)
    for number, name in enumerate(("Ada", None, "Zoë"), 1):
        made.add(Member(number, f"secret {number}", name))
    return made


def numbers(room: Classroom, since: int) -> list[int]:
    return [row["number"] for row in room.room(since)["members"]]


def test_leaders_are_told_of_the_members_that_have_changed_and_of_each_that_has_left_once(room: Classroom):
    assert numbers(room, 0) == [1, 2, 3]
    seen = room.room_at
    assert numbers(room, seen) == []
    room.rename(2, "Eve")
    assert [row["name"] for row in room.room(seen)["members"]] == ["Eve"]
    seen = room.room_at
    room.remove(3)
    assert room.room(seen)["members"] == [{"number": 3, "gone": True}]
    assert numbers(room, 0) == [1, 2], "who comes later hears nothing of those who have left"
    room.add(Member(3, "secret 3", "Zoë"))  # told by a process that is behind
    assert 3 not in room.members
    room.rename(3, "X")
    for number in range(10, 10 + MOST_GONE):
        room.remove(number)
    assert len(room.gone) == MOST_GONE


def test_who_is_here_is_heard_from_every_process_and_forgotten_with_one_that_ends(room: Classroom):
    room.hear("a", 10.0, frozenset({1, 2}))
    room.hear("b", 11.0, frozenset({2, 9}))
    assert room.present() == {1, 2}
    seen = room.room_at
    room.hear("a", 12.0, frozenset({1, 2}))
    assert room.room_at == seen, "nothing is new"
    room.hear("b", 12.0, frozenset({3}))
    assert {row["number"]: row["here"] for row in room.room(seen)["members"]} == {3: True}
    seen = room.room_at
    room.hear("b", 13.0, frozenset())
    assert list(room.here) == ["a"]
    room.forget(12.5)
    assert room.present() == frozenset()
    assert numbers(room, seen) == [1, 2, 3]


def test_how_many_are_here_is_news_for_all_only_now_and_then(room: Classroom):
    seen = room.state_at
    for count in range(1, 4):
        room.hear("a", 1.0, frozenset(range(1, count + 1)))
    assert room.state_at == seen
    assert room.tell_here()
    assert room.state(leads=False)["here"] == 3
    assert room.state_at == seen + 1
    assert not room.tell_here()


def test_settings_and_scenes_that_come_late_do_not_replace_newer_ones(room: Classroom):
    asked = {"number": 1, "round": 1, "right": "2"}
    room.take(NEW | {"changes": 2, "question": asked})
    assert room.tally == {"question": 1, "round": 1, "answered": 0, "counts": []}
    room.take(NEW | {"changes": 1, "paused": True})
    assert (room.question, room.settings["paused"]) == (asked, False)
    room.tally = {"answered": 4}
    room.take(room.settings | {"changes": 3, "paused": True})
    assert room.tally == {"answered": 4}
    room.take(room.settings | {"changes": 4, "question": asked | {"round": 2}})
    assert room.tally["answered"] == 0
    assert "right" not in room.state(leads=False)["question"]
    assert room.state(leads=True)["question"]["right"] == "2"
    assert not {"asked", "changes"} & room.state(leads=True).keys()
    assert room.show({"seq": 5})
    assert not room.show({"seq": 4})
    assert room.scene == {"seq": 5}


def test_what_is_read_again_replaces_all_but_work_that_is_not_written_yet(room: Classroom):
    room.members[1].items["build/x"] = "done"
    room.members[2].items["build/x"] = "done"
    stored = StoredClass("BCDFGH", "key", 0.0, 9e9, NEW | {"changes": 7, "title": "T"}, {"seq": 3})
    members = [StoredMember(number, f"secret {number}", "New", None, {}) for number in (1, 2, 4)]
    room.refresh(stored, members, {1})
    assert room.settings["title"] == "T"
    assert room.scene == {"seq": 3}
    assert sorted(room.members) == [1, 2, 4]
    assert [(each.name, each.items) for each in room.members.values()] == [
        ("New", {"build/x": "done"}), ("New", {}), ("New", {}),
    ]  # fmt: skip
    assert sorted(room.numbers.values()) == [1, 2, 4]
