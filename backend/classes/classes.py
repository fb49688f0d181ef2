"""The classes of a server: open, join, lead, ask, answer, delete. Every change is in the database before it is told."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from gevent.lock import BoundedSemaphore

from backend.access.limits.rate_limit import HourlyRate, Pace
from backend.classes import store
from backend.classes.classroom import MOST_ITEMS, NEW, Classroom, Member, read_changes, read_scene, read_work, round_of
from backend.classes.codes import as_code, code_of, digest, new_code, new_secret
from backend.classes.questions import Question, is_right, plain_text, read_question, read_right, tally_of
from backend.classes.rooms import OnDisk, Rooms
from backend.classes.store import StoredAnswer, StoredClass, StoredMember
from backend.database.address import Location
from backend.database.database import Transaction
from backend.errors import RequestError, message
from backend.tasks.names import name_of

T = TypeVar("T")
Settings = dict[str, Any]
HOURS = (1, 24)  # for which a class is kept; a day unless its leader says less
HOUR_S = 3600.0
LONGEST_TITLE, LONGEST_NOTE = 80, 400  # characters
MOST_QUESTIONS, MOST_ROUNDS = 200, 50
AT_ONCE = 8  # computations for answers; others wait, as their pages do
SOURCES = ("leader", "simulation", "run")


@dataclass(frozen=True)
class Limits:
    """How many classes a server has, how many members each, and how often a client opens one or looks one up."""

    most: int
    members: int
    opened: HourlyRate
    looked_up: Pace


class Classes:
    """The classes of one server, as one of its processes sees them."""

    def __init__(self, location: Location, limits: Limits, on_disk: OnDisk, on_change: Callable[[str], None]) -> None:
        self.limits = limits
        self.rooms = Rooms(location, on_disk, on_change)
        self._computing = BoundedSemaphore(AT_ONCE)
        self._computed: set[tuple[str, int]] = set()  # members for whom something is computed

    # Open, find, join

    def open(self, client: str, title: object = "", hours: object = HOURS[1]) -> tuple[Classroom, str]:
        """Open a class; return it with the key of its leader. Raises RequestError."""
        name = _short("title", title, LONGEST_TITLE)
        if type(hours) is not int or not HOURS[0] <= hours <= HOURS[1]:
            why = message("classes.hours", "a class is kept for {least} to {most} hours", least=HOURS[0], most=HOURS[1])
            raise RequestError("hours", hours, why, limit=HOURS[1])
        minutes = self.limits.opened.take(client)
        if minutes is not None:
            raise _too_often(self.limits.opened.most, minutes)
        key, now = new_secret(), time.time()
        settings = NEW | {"title": name}

        def make(writing: Transaction) -> StoredClass:
            if store.count_classes(writing, now) >= self.limits.most:
                text = message("classes.full", "this server has {most} classes and takes no more; end one that is over",
                               most=self.limits.most)  # fmt: skip
                raise RequestError("classes", self.limits.most, text, limit=self.limits.most, kind="full")
            while True:
                made = StoredClass(new_code(), digest(key), now, now + hours * HOUR_S, settings, None)
                if store.insert_class(writing, made):
                    return made

        self.rooms.start()
        return self.rooms.add(self.rooms.write(make)), key

    def find(self, text: object) -> Classroom:
        """Return a class by its code. Raises RequestError where there is none."""
        code = code_of(text)
        room = self.rooms.find(code)
        if room is None:
            raise unknown_class(code)
        return room

    def look_up(self, client: str, text: object) -> Classroom:
        """Return a class for a client that has only its code: codes must not be found by trying them all."""
        code_of(text)
        seconds = self.limits.looked_up.take(client)
        if seconds is not None:
            raise _too_often(self.limits.looked_up.most, math.ceil(seconds / 60))
        return self.find(text)

    def of_browser(self, client: str, text: object, key: str, secret: str) -> Classroom:
        """Return a class by its code. That it was looked up counts unless the browser has shown that it leads it or
        has joined it: with any other key or secret codes could be tried as well as with none.
        """
        code = as_code(text)
        room = self.rooms.find(code) if code and (key or secret) else None
        if room is not None and (self.leads(room, key) or self._recognises(room, secret)):
            return room
        return self.look_up(client, text)

    def leads(self, room: Classroom, key: str) -> bool:
        """Return whether this is the key of the leader."""
        return bool(key) and digest(key) == room.key

    def member(self, room: Classroom, secret: str) -> Member | None:
        """Return the member that has this secret."""
        number = room.numbers.get(digest(secret)) if secret else None
        return None if number is None else room.members.get(number)

    def join(self, room: Classroom, name: object) -> tuple[Member, str]:
        """Add a member; return it with its secret. Raises RequestError where the class is locked or full."""
        given, secret, most = name_of(name), new_secret(), self.limits.members
        hashed = digest(secret)

        def insert(writing: Transaction) -> int:
            if _settings(writing, room)["locked"]:
                raise RequestError("code", room.code, message("classes.locked", "Nobody can join this class any more."),
                                   kind="denied")  # fmt: skip
            if store.count_members(writing, room.code) >= most:
                why = message("classes.full_class", "this class has {most} students, as many as it can have", most=most)
                raise RequestError("members", most, why, limit=most, kind="full")
            return store.insert_member(writing, room.code, hashed, given, time.time())

        member = Member(self.rooms.write(insert), hashed, given)
        room.add(member)
        self.rooms.tell(room, {"joined": {"number": member.number, "secret": hashed, "name": given}})
        return member, secret

    def rename(self, room: Classroom, member: Member, name: object) -> None:
        """Give a member another name, or none. Raises RequestError."""
        given, number = name_of(name), member.number
        self.rooms.write(lambda writing: store.save_name(writing, room.code, number, given))
        room.rename(number, given)
        self.rooms.tell(room, {"renamed": [number, given]})

    def remove(self, room: Classroom, number: int) -> None:
        """Delete a member with its name and answers. Raises RequestError where there is none."""
        if number not in room.members:
            raise no_member(number)
        self.rooms.write(lambda writing: store.delete_member(writing, room.code, number))
        room.remove(number)
        self.rooms.count_soon(room)
        self.rooms.tell(room, {"left": number})

    def delete(self, room: Classroom) -> None:
        """Delete a class with all that belongs to it."""
        self.rooms.write(partial(store.delete_class, code=room.code))
        self.rooms.end(room)
        self.rooms.tell(room, {"over": True})

    # What the leader does

    def show(self, room: Classroom, given: Any, shown: Callable[[int], None] = lambda _: None) -> None:
        """Have the pages that follow show what the leader's page shows; `shown` is called with the number of the scene
        before others are told. Raises RequestError.
        """
        scene = read_scene(given)
        last = room.scene["seq"] if room.scene else 0
        # By the clock, so that a scene is newer than one that was shown by another process, or not written before a
        # server was killed.
        seq = max(last + 1, time.time_ns() // 1000)
        shown(seq)
        self.rooms.show(room, {"seq": seq} | scene)

    def change(self, room: Classroom, given: dict[str, Any]) -> None:
        """Change whether students may roam, whether all is paused, who may join, and the pace. Raises RequestError."""
        changes = read_changes(given)
        self._change(room, lambda settings, _: changes)

    def ask(self, room: Classroom, given: Any) -> int:
        """Ask a question in place of the present one; return its number. Raises RequestError."""
        asked = read_question(given)

        def change(settings: Settings, _: Transaction) -> Settings:
            number = _next(settings["asked"], MOST_QUESTIONS)
            question = {"number": number, "round": 1, "open": True, "revealed": None} | asked
            return {"question": question, "asked": number}

        return int(self._change(room, change)["asked"])

    def ask_again(self, room: Classroom) -> int:
        """Begin another round of the present question. Raises RequestError."""

        def change(settings: Settings, _: Transaction) -> Settings:
            question = _present(settings)
            again = {"round": _next(question["round"], MOST_ROUNDS), "open": True, "revealed": None}
            return {"question": question | again}

        return int(self._change(room, change)["question"]["round"])

    def close(self, room: Classroom) -> None:
        """Take no more answers to the present question. Raises RequestError."""
        self._change(room, lambda settings, _: {"question": _present(settings) | {"open": False}})

    def reveal(self, room: Classroom, given: dict[str, Any]) -> None:
        """Show all what is right and how the class has answered. Raises RequestError."""
        source, note = given.get("source", SOURCES[0]), _short("note", given.get("note", ""), LONGEST_NOTE)
        if source not in SOURCES:
            why = message("classes.source", "source is {choices}", choices=list(SOURCES))
            raise RequestError("source", source, why)
        marked: list[StoredAnswer] = []

        def change(settings: Settings, writing: Transaction) -> Settings:
            question = _present(settings) | {"open": False}
            if given.get("right") not in (None, ""):
                question["right"] = read_right(question, given["right"])
            number, round_ = round_of(question)
            tally = tally_of(store.count_answers(writing, room.code, number, round_), number, round_)
            verdicts = store.mark_answers(writing, room.code, number, partial(is_right, question))
            marked.extend(each for each in verdicts if each.round == round_)
            question["revealed"] = {
                "right": question["right"], "source": source, "note": note, "tally": tally["counts"],
                "answered": tally["answered"],
            }  # fmt: skip
            return {"question": question}

        self._change(room, change)
        self.rooms.count_soon(room)
        for each in marked:
            self._note(room, each)

    def end_question(self, room: Classroom) -> None:
        """Take the present question off the screens."""
        self._change(room, lambda settings, _: {"question": None})

    def _change(self, room: Classroom, change: Callable[[Settings, Transaction], Settings]) -> Settings:
        """Write changed settings of a class, then tell everybody; return them. `change` gets the settings as they are
        stored, which another page of the leader may have changed, and returns what differs.
        """

        def write(writing: Transaction) -> Settings:
            settings = _settings(writing, room)
            settings |= change(settings, writing) | {"changes": settings["changes"] + 1}
            store.save_settings(writing, room.code, settings)
            if settings["question"] is not None:
                store.save_question(writing, room.code, settings["question"], time.time())
            return settings

        settings: Settings = self.rooms.write(write)
        room.take(settings)
        self.rooms.tell(room, {"settings": settings})
        return settings

    # What members do

    def asked(self, room: Classroom, number: object, round_: object) -> Question:
        """Return the question to which an answer is given. Raises RequestError where that takes no more answers."""
        question = room.question
        if question is None or not question["open"] or (number, round_) != round_of(question):
            raise _too_late()
        return question

    def answer(self, room: Classroom, number: int, question: Question, value: str) -> None:
        """Keep a member's answer to a question that `asked` returned; returns when it is written. `value` is one that
        read_answer returned. Raises RequestError where the question is over, or the member has left.
        """
        verdict = is_right(question, value)
        answer = StoredAnswer(*round_of(question), number, value, verdict, time.time())

        def write(writing: Transaction) -> None:
            now = _settings(writing, room)["question"]
            if now is None or not now["open"] or round_of(now) != round_of(question):
                raise _too_late()
            if not store.has_member(writing, room.code, number):
                raise no_member(number)
            store.save_answer(writing, room.code, answer)

        self.rooms.write(write)
        self._note(room, answer)
        self.rooms.answered(room)

    def computed(self, room: Classroom, number: int, work: Callable[[], T]) -> T:
        """Return what a computation for a member's answer returns. A whole class answers at once: few computations are
        in the queue of the server at a time, and one for each member. Raises what `work` raises, and RequestError.
        """
        who = (room.code, number)
        if who in self._computed:
            why = message("classes.one_at_a_time", "Your answer before this one is still being checked.")
            raise RequestError("answer", None, why, kind="share", retry_after=1)
        self._computed.add(who)
        try:
            with self._computing:
                return work()
        finally:
            self._computed.discard(who)

    def work(self, room: Classroom, member: Member, given: dict[str, Any]) -> None:
        """Take what a member's page reports: what it shows, and the state of an item. Raises RequestError."""
        work = read_work(given)
        if "view" in work:
            member.view = work["view"]
        if "item" in work and (work["item"] in member.items or sum("/" in each for each in member.items) < MOST_ITEMS):
            member.items[work["item"]] = work["state"]
        self.rooms.worked(room, member)

    def answers_of(self, room: Classroom, member: Member) -> list[StoredAnswer]:
        """Return the answers of a member."""
        found: list[StoredAnswer] = self.rooms.read(
            lambda reading: store.answers_of(reading, room.code, member=member.number)
        )
        return found

    def export(self, room: Classroom) -> tuple[dict[int, Question], list[StoredAnswer]]:
        """Return all questions and all answers of a class."""
        found: tuple[dict[int, Question], list[StoredAnswer]] = self.rooms.read(
            lambda reading: (store.questions_of(reading, room.code), store.answers_of(reading, room.code))
        )
        return found

    def _note(self, room: Classroom, answer: StoredAnswer) -> None:
        """Note how a member has answered among what it has done."""
        member = room.members.get(answer.member)
        if member is not None:
            member.items[f"q{answer.question}"] = "wrong" if answer.verdict is False else "done"
            self.rooms.worked(room, member)

    def _recognises(self, room: Classroom, secret: str) -> bool:
        """Return whether a secret is a member's; one that another process has just given is in the database."""
        if not secret or self.member(room, secret) is not None:
            return bool(secret)
        hashed = digest(secret)
        found: list[StoredMember] = self.rooms.read(lambda reading: store.members_of(reading, room.code, hashed))
        for each in found:
            room.add(Member(each.number, each.secret, each.name, each.view, dict(each.items)))
        return bool(found)


def unknown_class(code: str) -> RequestError:
    """Return the error of a code that no class has."""
    return RequestError("code", code, message("classes.unknown", "There is no class with this code."), kind="unknown")


def no_member(number: int) -> RequestError:
    """Return the error of a number that no member has, or no longer."""
    return RequestError("member", number, message("classes.no_member", "The class has no such student."),
                        kind="unknown")  # fmt: skip


def _settings(writing: Transaction, room: Classroom) -> Settings:
    """Return the settings of a class as they are stored. Raises RequestError where it has been deleted."""
    settings = store.settings_of(writing, room.code)
    if settings is None:
        raise unknown_class(room.code)
    return NEW | settings


def _present(settings: Settings) -> Question:
    question: Question | None = settings["question"]
    if question is None:
        raise RequestError("question", None, message("classes.no_question", "No question is asked at present."),
                           kind="over")  # fmt: skip
    return question


def _next(last: int, most: int) -> int:
    if last >= most:
        why = message("classes.asked_enough", "{most} are as many as a class can have", most=most)
        raise RequestError("question", last, why, limit=most, kind="full")
    return last + 1


def _too_late() -> RequestError:
    return RequestError("question", None, message("classes.too_late", "This question takes no more answers."),
                        kind="over")  # fmt: skip


def _too_often(most: int, minutes: int) -> RequestError:
    why = message("classes.too_often", "that is enough for an hour; try again in {minutes} min", minutes=minutes)
    return RequestError("code", None, why, limit=most, kind="share", retry_after=60 * minutes)


def _short(field: str, given: object, most: int) -> str:
    return " ".join(plain_text(field, given, most).split())
