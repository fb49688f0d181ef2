"""A class as one process of the server sees it: what the leader shows and has set, the members, and what has changed.

Every change gets the next number of its kind, so that a viewer is sent what it has not seen.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from backend.classes.questions import Question, for_members, query_of, tally_of
from backend.classes.store import StoredClass, StoredMember
from backend.errors import RequestError, message
from backend.jobs.strict_json import only
from backend.schedule.spec import choice

PAGE = re.compile(r"/|/build|/learn/[a-z0-9]+(?:-[a-z0-9]+)*", re.ASCII)
PLACE = re.compile(r"[a-z0-9_-]{0,80}", re.ASCII)
LONGEST_PAGE = 100  # characters
ITEM = re.compile(r"(?:build|learn)/[a-z0-9-]{1,60}(?:/[0-9]{1,3})?", re.ASCII)
STATES = ("working", "stuck", "wrong", "done")
MOST_ITEMS = 64  # that the pages of a member report
MOST_GONE = 1000  # of whom leaders are told; they are behind by less
MOST_STEPS = 999
SWITCHES = ("follow", "paused", "locked")
NEW: dict[str, Any] = {
    "title": "", "follow": False, "paused": False, "locked": False, "pace": None, "question": None, "asked": 0,
    "changes": 0,
}  # fmt: skip
OWN = ("asked", "changes")  # of these, what is not shown to anybody


@dataclass
class Member:
    """A member; `changed` is the number of its last change."""

    number: int
    secret: str
    name: str | None
    view: dict[str, str] | None = None
    items: dict[str, str] = field(default_factory=dict)
    changed: int = 0

    def row(self) -> dict[str, Any]:
        """Return what leaders see."""
        return {"number": self.number, "name": self.name, "view": self.view, "items": self.items}

    def work(self) -> dict[str, Any]:
        """Return what processes tell each other of its work."""
        return {"number": self.number, "view": self.view, "items": self.items}

    def stored(self) -> StoredMember:
        """Return what is stored."""
        return StoredMember(self.number, self.secret, self.name, self.view, dict(self.items))


@dataclass
class Classroom:
    """One class. `settings` has the keys of NEW, its present question included; `here` has the members whose pages are
    open by the process that serves them, each with when that was heard, by time.monotonic.
    """

    code: str
    key: str
    expires: float
    settings: dict[str, Any]
    scene: dict[str, Any] | None
    members: dict[int, Member] = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)  # of members, by the digest of their secret
    here: dict[str, tuple[float, frozenset[int]]] = field(default_factory=dict)
    gone: dict[int, int] = field(default_factory=dict)  # members who have left: the number of that change
    tally: dict[str, Any] | None = None
    state_at: int = 1  # the number of the last change of the settings, or of how many are here
    room_at: int = 1  # of the last change of anything that leaders alone are sent
    lasting: int = 0  # how often the settings, and who is a member under what name, have changed here
    told_here: int = 0  # how many were here when everybody was last told
    over: bool = False

    @classmethod
    def of(cls, stored: StoredClass, members: list[StoredMember]) -> Classroom:
        """Make a class of what is stored."""
        room = cls(stored.code, stored.key, stored.expires, NEW | stored.settings, stored.scene)
        for each in members:
            room.add(Member(each.number, each.secret, each.name, each.view, dict(each.items)))
        return room

    @property
    def question(self) -> Question | None:
        """Return the present question."""
        found: Question | None = self.settings["question"]
        return found

    def add(self, member: Member) -> None:
        """Add a member; safe for one who is there, or is gone: no number is given twice."""
        if member.number not in self.members and member.number not in self.gone:
            self.members[member.number] = member
            self.numbers[member.secret] = member.number
            self.lasting += 1
            self.touch(member)

    def rename(self, number: int, name: str | None) -> None:
        """Give a member another name; safe for one who is gone."""
        member = self.members.get(number)
        if member is not None:
            member.name = name
            self.lasting += 1
            self.touch(member)

    def touch(self, member: Member) -> None:
        """Note that a member has changed."""
        self.room_at += 1
        member.changed = self.room_at

    def remove(self, number: int) -> None:
        """Remove a member; one who is not here yet can no longer be added."""
        member = self.members.pop(number, None)
        if member is not None:
            self.numbers.pop(member.secret, None)
        self.lasting += 1
        self.room_at += 1
        self.gone[number] = self.room_at
        if len(self.gone) > MOST_GONE:
            del self.gone[next(iter(self.gone))]

    def take(self, settings: dict[str, Any]) -> None:
        """Take settings unless those here are as new: what processes tell each other may come in any order."""
        if settings["changes"] <= self.settings["changes"]:
            return
        asked, before = settings["question"], self.question
        if asked is None or before is None or round_of(asked) != round_of(before):
            self.tally = None if asked is None else tally_of([], *round_of(asked))
        self.settings = settings
        self.state_at += 1
        self.room_at += 1
        self.lasting += 1

    def show(self, scene: dict[str, Any]) -> bool:
        """Take a scene unless a newer one is here; return whether it was taken."""
        if self.scene is not None and scene["seq"] <= self.scene["seq"]:
            return False
        self.scene = scene
        return True

    def refresh(self, stored: StoredClass, members: list[StoredMember], newer: set[int]) -> None:
        """Take what is stored; the work of the members in `newer` is not stored yet."""
        self.take(NEW | stored.settings)
        if stored.scene is not None:
            self.show(stored.scene)
        for number in self.members.keys() - {each.number for each in members}:
            self.remove(number)
        for each in members:
            known = self.members.get(each.number)
            if known is None:
                self.add(Member(each.number, each.secret, each.name, each.view, dict(each.items)))
                continue
            known.name = each.name
            if each.number not in newer:
                known.view, known.items = each.view, dict(each.items)
            self.touch(known)

    def present(self) -> frozenset[int]:
        """Return the members whose pages are open."""
        return frozenset().union(*(numbers for _, numbers in self.here.values())) & self.members.keys()

    def hear(self, process: str, now: float, numbers: frozenset[int]) -> None:
        """Note whose pages are open at a process of the server."""
        before = self.present()
        self.here[process] = (now, numbers)
        if not numbers:
            del self.here[process]
        self._mark(before)

    def forget(self, before: float) -> None:
        """Forget processes that have not been heard of since a moment: they have ended."""
        were = self.present()
        self.here = {name: heard for name, heard in self.here.items() if heard[0] >= before}
        self._mark(were)

    def tell_here(self) -> bool:
        """Have everybody be told how many are here; return whether that is news. While a class comes in the number
        changes with each: all members need it only now and then.
        """
        count = len(self.present())
        if count == self.told_here:
            return False
        self.told_here = count
        self.state_at += 1
        return True

    def _mark(self, before: frozenset[int]) -> None:
        for number in before ^ self.present():
            self.touch(self.members[number])

    def state(self, leads: bool) -> dict[str, Any]:
        """Return what pages are sent of the settings."""
        question = self.question if leads else for_members(self.question)
        shown = {key: value for key, value in self.settings.items() if key not in OWN}
        return shown | {"question": question, "expires": self.expires, "here": len(self.present())}

    def room(self, since: int) -> dict[str, Any]:
        """Return what leaders are sent of the members who have changed since a change, and how the class answers."""
        here = self.present()
        rows = [each.row() | {"here": each.number in here} for each in self.members.values() if each.changed > since]
        gone = [{"number": number, "gone": True} for number, at in self.gone.items() if at > since > 0]
        return {"members": rows + gone, "tally": self.tally, "here": len(here)}


def round_of(question: Question) -> tuple[int, int]:
    """Return the number and the round of a question."""
    return question["number"], question["round"]


def read_scene(given: Any) -> dict[str, Any]:
    """Return what a leader's page shows, without its number. Raises RequestError for anything but a page of this
    server: pages of members go there.
    """
    data = only(given, ("page", "query", "place"), "scene")
    page, query, place = (data.get(key, "") for key in ("page", "query", "place"))
    if not isinstance(page, str) or len(page) > LONGEST_PAGE or not PAGE.fullmatch(page):
        why = message("classes.no_such_page", "page is /, /build or a lesson such as /learn/bubble")
        raise RequestError("page", page[:80] if isinstance(page, str) else None, why)
    if not isinstance(place, str) or not PLACE.fullmatch(place):
        raise RequestError("place", None, message("classes.no_place", "place is the anchor of a lesson's step"))
    return {"page": page, "query": query_of(query), "place": place}


def read_changes(given: dict[str, Any]) -> dict[str, Any]:
    """Return the settings that a leader changes. Raises RequestError."""
    changes: dict[str, Any] = {}
    for name in SWITCHES:
        if name in given:
            if not isinstance(given[name], bool):
                raise RequestError(name, given[name], message("classes.a_switch", "{field} is true or false",
                                                              field=name))  # fmt: skip
            changes[name] = given[name]
    if "pace" in given:
        changes["pace"] = _pace(given["pace"])
    return changes


def read_work(given: dict[str, Any]) -> dict[str, Any]:
    """Return what a member's page reports of its work, with its scene under `view`. Raises RequestError."""
    work: dict[str, Any] = {}
    if "view" in given:
        view = read_scene(given["view"])
        work["view"] = {"page": view["page"], "query": view["query"]}
    if "item" in given:
        item = given["item"]
        if not isinstance(item, str) or not ITEM.fullmatch(item):
            raise RequestError("item", None, message("classes.no_item", "item is a task or a lesson's question"))
        work |= {"item": item, "state": choice("state", given.get("state"), STATES)}
    return work


def _pace(given: Any) -> list[int] | None:
    if given is None:
        return None
    whole = isinstance(given, list) and len(given) == 2 and all(type(each) is int for each in given)
    if not whole or not 1 <= given[0] <= given[1] <= MOST_STEPS:
        raise RequestError("pace", None, message("classes.no_pace", "pace is the first and the last step, or null"))
    return list(given)
