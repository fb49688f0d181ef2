"""The classes of a server: open, join, lead, ask, answer, delete; kept in the database, and known to every process.

The database holds what lasts, and is written before anybody is told. What pages show at a moment, and who is there,
goes from process to process as a message; a process that was away reads the database again.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import gevent

from backend.classes import store
from backend.classes.classroom import MOST_ITEMS, NEW, Classroom, Member, read_changes, read_scene, read_work
from backend.classes.codes import code_of, digest, new_code, new_secret
from backend.classes.group_commit import GroupCommit
from backend.classes.questions import Question, is_right, read_question, read_right, tally_of
from backend.classes.store import StoredAnswer, StoredClass
from backend.database.address import Location
from backend.database.connect import database_at
from backend.database.database import DatabaseError, Transaction
from backend.errors import RequestError, message
from backend.limits.rate_limit import HourlyRate
from backend.tasks.names import name_of

logger = logging.getLogger(__name__)
HOURS = (1, 24)  # for which a class is kept; a day unless its leader says less
HOUR_S = 3600.0
LONGEST_TITLE, LONGEST_NOTE = 80, 400  # characters
SAVE_S = 1.0  # until work and scenes are written; they change many times a second
COUNT_S = 0.25  # between two counts of answers, and two messages to other processes
HEARD_S = 15.0  # after which a process that says nothing has ended
BEAT_S = 5.0  # between two messages of who is here, and two looks for classes whose time is over
SOURCES = ("leader", "simulation", "run")


class Channel(Protocol):
    """What carries messages of a class to the other processes of a server."""

    def listen(self) -> None:
        """Begin to hear what others tell."""

    def post(self, code: str, told: dict[str, Any]) -> None:
        """Tell the other processes; where they cannot be reached, drop it."""

    def stop(self) -> None:
        """Hear nothing more."""


class Alone:
    """The channel of a server of one process."""

    def listen(self) -> None:
        """Do nothing."""

    def post(self, code: str, told: dict[str, Any]) -> None:
        """Do nothing: there is nobody to tell."""

    def stop(self) -> None:
        """Do nothing."""


@dataclass(frozen=True)
class Limits:
    """How many classes a server has, how many members each, and how often a client opens one or looks one up."""

    most: int
    members: int
    opened: HourlyRate
    looked_up: HourlyRate


class Classes:
    """The classes of one server, as one of its processes sees them. `on_change` is called with the code of a class
    of which viewers have not seen everything. `on_disk` does work that waits for the disk.
    """

    def __init__(
        self,
        location: Location,
        limits: Limits,
        on_disk: Callable[[Callable[[], Any]], Any],
        on_change: Callable[[str], None],
    ) -> None:
        self.limits = limits
        self.database = database_at(location)
        self.channel: Channel = Alone()
        self._on_disk, self._on_change = on_disk, on_change
        self._disk = GroupCommit(self.database, on_disk)
        self._rooms: dict[str, Classroom] = {}
        self._process = new_secret()
        self._unsaved: dict[str, set[int]] = {}  # members whose work is to be written, 0 for the scene
        self._untold: dict[str, set[int]] = {}  # members of whom the other processes are to be told
        self._uncounted: set[str] = set()
        self._loops: list[Any] = []

    # Open, find, join

    def open(self, client: str, title: object = "", hours: object = HOURS[1]) -> tuple[Classroom, str]:
        """Open a class; return it with the key of its leader. Raises RequestError."""
        name = _short("title", title, LONGEST_TITLE)
        if type(hours) is not int or not HOURS[0] <= hours <= HOURS[1]:
            why = message("classes.hours", "a class is kept for {least} to {most} hours", least=HOURS[0], most=HOURS[1])
            raise RequestError("hours", hours, why, limit=HOURS[1])
        self._take(self.limits.opened, client)
        key, now = new_secret(), time.time()

        def make(transaction: Transaction) -> StoredClass:
            if store.count_classes(transaction) >= self.limits.most:
                text = message("classes.full", "this server has {most} classes and takes no more; end one that is over",
                               most=self.limits.most)  # fmt: skip
                raise RequestError("classes", self.limits.most, text, limit=self.limits.most, kind="full")
            while True:
                made = StoredClass(
                    new_code(), digest(key), now, now + hours * HOUR_S, NEW | {"title": name}, None
                )  # fmt: skip
                if store.insert_class(transaction, made):
                    return made

        self._start()
        room = Classroom.of(self._write(make), [])
        self._rooms[room.code] = room
        return room, key

    def find(self, text: object) -> Classroom:
        """Return a class by its code. Raises RequestError where there is none."""
        code = code_of(text)
        self._start()
        room = self._rooms.get(code)
        if room is None:
            stored, members = self._read(partial(_load, code=code))
            if stored is None or stored.expires < time.time():
                raise unknown_class(code)
            room = self._rooms.setdefault(code, Classroom.of(stored, members))  # another request may have loaded it
        if room.over or room.expires < time.time():
            raise unknown_class(code)
        return room

    def look_up(self, client: str, text: object) -> Classroom:
        """Return a class for a client that has only its code: codes must not be found by trying them all."""
        self._take(self.limits.looked_up, client)
        return self.find(text)

    def leads(self, room: Classroom, key: str) -> bool:
        """Return whether this is the key of the leader."""
        return bool(key) and digest(key) == room.key

    def member(self, room: Classroom, secret: str) -> Member | None:
        """Return the member that has this secret."""
        number = room.numbers.get(digest(secret)) if secret else None
        return None if number is None else room.members.get(number)

    def join(self, room: Classroom, name: object) -> tuple[Member, str]:
        """Add a member; return it with its secret. Raises RequestError where the class is locked or full."""
        given = name_of(name)
        if room.settings["locked"]:
            raise RequestError("code", room.code, message("classes.locked", "Nobody can join this class any more."),
                               kind="denied")  # fmt: skip
        most = self.limits.members
        if len(room.members) >= most:
            why = message("classes.full_class", "this class has {most} students, as many as it can have", most=most)
            raise RequestError("members", most, why, limit=most, kind="full")
        secret = new_secret()
        hashed = digest(secret)
        number: int = self._write(lambda writing: store.insert_member(writing, room.code, hashed, given, time.time()))
        member = Member(number, hashed, given)
        room.put(member)
        self._post(room, {"joined": member.row() | {"secret": hashed}})
        return member, secret

    def rename(self, room: Classroom, member: Member, name: object) -> None:
        """Give a member another name, or none. Raises RequestError."""
        member.name = name_of(name)
        self._write(lambda writing: store.save_member(writing, room.code, member.stored()))
        room.put(member)
        self._post(room, {"members": [member.row()]})

    def remove(self, room: Classroom, number: int) -> None:
        """Delete a member with its name and answers. Raises RequestError where there is none."""
        if number not in room.members:
            raise RequestError("member", number, message("classes.no_member", "The class has no such student."),
                               kind="unknown")  # fmt: skip
        self._write(lambda writing: store.delete_member(writing, room.code, number))
        room.remove(number)
        self._post(room, {"left": number})
        self._count_soon(room)

    def delete(self, room: Classroom) -> None:
        """Delete a class with all that belongs to it."""
        self._write(lambda writing: store.delete_class(writing, room.code))
        self._end(room)
        self._post(room, {"over": True})

    # What the leader does

    def show(self, room: Classroom, given: Any) -> None:
        """Have the pages that follow show what the leader's page shows. Raises RequestError."""
        last = room.scene["seq"] if room.scene else 0
        scene = {"seq": max(last + 1, time.time_ns() // 1000)} | read_scene(given)
        room.show(scene)
        self._unsaved.setdefault(room.code, set()).add(0)
        self._post(room, {"scene": scene})

    def change(self, room: Classroom, given: dict[str, Any]) -> None:
        """Change whether students may roam, whether all is paused, who may join, and the pace. Raises RequestError."""
        self._set(room, room.settings | read_changes(given))

    def ask(self, room: Classroom, given: Any) -> int:
        """Ask a question in place of the present one; return its number. Raises RequestError."""
        number = room.settings["asked"] + 1
        question = {"number": number, "round": 1, "open": True, "revealed": None} | read_question(given)
        self._set(room, room.settings | {"question": question, "asked": number})
        return number

    def ask_again(self, room: Classroom) -> int:
        """Begin another round of the present question. Raises RequestError."""
        question = _present(room)
        again = question | {"round": question["round"] + 1, "open": True, "revealed": None}
        self._set(room, room.settings | {"question": again})
        return int(again["round"])

    def close(self, room: Classroom) -> None:
        """Take no more answers to the present question. Raises RequestError."""
        self._set(room, room.settings | {"question": _present(room) | {"open": False}})

    def reveal(self, room: Classroom, given: dict[str, Any]) -> None:
        """Show all what is right and how the class has answered. Raises RequestError."""
        question = _present(room) | {"open": False}
        if given.get("right") not in (None, ""):
            question["right"] = read_right(question, given["right"])
        source = given.get("source", SOURCES[0])
        if source not in SOURCES:
            why = message("classes.source", "source is {choices}", choices=list(SOURCES))
            raise RequestError("source", source, why)
        tally = self._tally(room.code, question)
        question["revealed"] = {
            "right": question["right"], "source": source, "note": _short("note", given.get("note", ""), LONGEST_NOTE),
            "tally": tally["counts"], "answered": tally["answered"],
        }  # fmt: skip
        room.tally = tally
        self._set(room, room.settings | {"question": question}, mark=True)

    def end_question(self, room: Classroom) -> None:
        """Take the present question off the screens."""
        self._set(room, room.settings | {"question": None})

    # What members do

    def answer(self, room: Classroom, member: Member, number: object, round_: object, value: str) -> None:
        """Keep a member's answer to the present round; returns when it is written. `value` is one that read_answer
        returned. Raises RequestError where the question is over.
        """
        question = room.question
        if question is None or not question["open"] or (number, round_) != (question["number"], question["round"]):
            why = message("classes.too_late", "This question takes no more answers.")
            raise RequestError("question", None, why, kind="over")
        verdict = is_right(question, value)
        answer = StoredAnswer(question["number"], question["round"], member.number, value, verdict, time.time())
        self._write(lambda writing: store.save_answer(writing, room.code, answer))
        state = "done" if verdict is not False else "wrong"
        self._note(room, member, {f"q{answer.question}": state})
        self._count_soon(room)
        self.channel.post(room.code, {"answered": True})

    def work(self, room: Classroom, member: Member, given: dict[str, Any]) -> None:
        """Take what a member's page reports: what it shows, and the state of an item. Raises RequestError."""
        work = read_work(given)
        if "view" in work:
            member.view = work["view"]
        self._note(room, member, {work["item"]: work["state"]} if "item" in work else {})

    def answers_of(self, room: Classroom, member: Member) -> list[StoredAnswer]:
        """Return the answers of a member."""
        found: list[StoredAnswer] = self._read(lambda reading: store.answers_of(reading, room.code, member.number))
        return found

    def export(self, room: Classroom) -> tuple[dict[int, Question], list[StoredAnswer]]:
        """Return all questions and all answers of a class."""
        found: tuple[dict[int, Question], list[StoredAnswer]] = self._read(
            lambda reading: (store.questions_of(reading, room.code), store.answers_of(reading, room.code))
        )
        return found

    def here(self, room: Classroom, numbers: frozenset[int]) -> None:
        """Note whose pages are open at this process."""
        room.hear(self._process, time.monotonic(), numbers)
        self._post(room, {"here": sorted(numbers), "process": self._process})

    # Between processes

    def take(self, code: str, told: dict[str, Any]) -> None:
        """Take what another process tells of a class."""
        room = self._rooms.get(code)
        if room is None:
            return  # it is read from the database when somebody enters it here
        if "scene" in told:
            room.show(told["scene"])
        if "settings" in told:
            room.set(told["settings"])
        if "joined" in told:
            row = told["joined"]
            if row["number"] not in room.members:
                room.put(Member(row["number"], row["secret"], row["name"]))
        for row in told.get("members", ()):
            member = room.members.get(row["number"])
            if member is not None:
                member.name, member.view, member.items = row["name"], row["view"], row["items"]
                room.put(member)
        if "left" in told:
            room.remove(told["left"])
            self._count_soon(room)
        if "here" in told:
            room.hear(told["process"], time.monotonic(), frozenset(told["here"]))
        if "answered" in told:
            self._count_soon(room)
        if "over" in told:
            self._end(room)
        self._on_change(code)

    def read_again(self) -> None:
        """Read all classes of this process again: it may have missed what others told."""
        for code, room in list(self._rooms.items()):
            stored, members = self._read(partial(_load, code=code))
            if stored is None:
                self._end(room)
            else:
                room.set(NEW | stored.settings)
                known = {each.number for each in members}
                for number in set(room.members) - known:
                    room.remove(number)
                for each in members:
                    room.put(Member(each.number, each.secret, each.name, each.view, dict(each.items)))
            self._on_change(code)

    def stop(self) -> None:
        """Write what is not written yet, and close the database."""
        self.channel.stop()
        gevent.killall(self._loops)
        with suppress(RequestError):
            self._save()
        self._on_disk(self.database.close)

    def _start(self) -> None:
        if not self._loops:
            self.channel.listen()
            turns = ((SAVE_S, self._save), (COUNT_S, self._catch_up), (BEAT_S, self._beat))
            self._loops = [gevent.spawn(_forever, seconds, task) for seconds, task in turns]

    def _set(self, room: Classroom, settings: dict[str, Any], mark: bool = False) -> None:
        """Write the settings of a class, then tell everybody. mark: say of every answer whether it is right."""
        question = settings["question"]
        now = time.time()

        def write(writing: Transaction) -> None:
            store.save_settings(writing, room.code, settings)
            if question is not None:
                store.save_question(writing, room.code, question, now)
            if mark and question is not None:
                for each in store.answers_of(writing, room.code):
                    if each.question == question["number"]:
                        verdict = is_right(question, each.value)
                        marked = StoredAnswer(
                            each.question, each.round, each.member, each.value, verdict, each.created
                        )  # fmt: skip
                        store.save_answer(writing, room.code, marked)

        self._write(write)
        if room.question is None or question is None or _round(room.question) != _round(question):
            room.tally = None if question is None else tally_of([], *_round(question))
        room.set(settings)
        self._post(room, {"settings": settings})

    def _note(self, room: Classroom, member: Member, items: dict[str, str]) -> None:
        """Note a member's work, to be written and told soon."""
        for item, state in items.items():
            if item in member.items or len(member.items) < MOST_ITEMS:
                member.items[item] = state
        room.put(member)
        self._unsaved.setdefault(room.code, set()).add(member.number)
        self._untold.setdefault(room.code, set()).add(member.number)
        self._on_change(room.code)

    def _save(self) -> None:
        """Write work and scenes that have changed."""
        unsaved, self._unsaved = self._unsaved, {}
        rooms = [(self._rooms[code], numbers) for code, numbers in unsaved.items() if code in self._rooms]
        if not rooms:
            return

        def write(writing: Transaction) -> None:
            for room, numbers in rooms:
                if 0 in numbers and room.scene is not None:
                    store.save_scene(writing, room.code, room.scene)
                for number in numbers & room.members.keys():
                    store.save_member(writing, room.code, room.members[number].stored())

        self._write(write)

    def _catch_up(self) -> None:
        """Tell the other processes of work, and count answers."""
        untold, self._untold = self._untold, {}
        for code, numbers in untold.items():
            room = self._rooms.get(code)
            if room is not None:
                rows = [room.members[number].row() for number in sorted(numbers & room.members.keys())]
                self.channel.post(code, {"members": rows})
        uncounted, self._uncounted = self._uncounted, set()
        for code in uncounted:
            room = self._rooms.get(code)
            if room is not None and room.question is not None:
                room.tally = self._tally(code, room.question)
                room.room_at += 1
                self._on_change(code)

    def _beat(self) -> None:
        """Say who is here, forget processes that have ended, and delete the classes whose time is over."""
        now = time.monotonic()
        for code, room in list(self._rooms.items()):
            own = room.here.get(self._process)
            if own is not None:
                room.here[self._process] = (now, own[1])
                self.channel.post(code, {"here": sorted(own[1]), "process": self._process})
            seen = room.state_at
            room.forget(now - HEARD_S)
            if room.state_at != seen:
                self._on_change(code)
        for code in self._read(lambda reading: store.expired(reading, time.time())):
            self._write(partial(store.delete_class, code=code))
            ended = self._rooms.get(code)
            if ended is not None:
                self._end(ended)
                self._on_change(code)

    def _count_soon(self, room: Classroom) -> None:
        self._uncounted.add(room.code)

    def _tally(self, code: str, question: Question) -> dict[str, Any]:
        number, round_ = _round(question)
        counts = self._read(lambda reading: store.count_answers(reading, code, number, round_))
        return tally_of(counts, number, round_)

    def _end(self, room: Classroom) -> None:
        room.over = True
        self._rooms.pop(room.code, None)
        self._unsaved.pop(room.code, None)

    def _post(self, room: Classroom, told: dict[str, Any]) -> None:
        self.channel.post(room.code, told)
        self._on_change(room.code)

    def _take(self, rate: HourlyRate, client: str) -> None:
        minutes = rate.take(client)
        if minutes is not None:
            why = message(
                "classes.too_often", "that is enough for an hour; try again in {minutes} min", minutes=minutes
            )
            raise RequestError("code", None, why, limit=rate.most, kind="share", retry_after=60 * minutes)

    def _write(self, work: Callable[[Transaction], Any]) -> Any:
        try:
            return self._disk.write(work)
        except DatabaseError as error:
            raise _not_kept(error) from error

    def _read(self, work: Callable[[Transaction], Any]) -> Any:
        def read() -> Any:
            with self.database.snapshot() as reading:
                return work(reading)

        try:
            return self._on_disk(read)
        except DatabaseError as error:
            raise _not_kept(error) from error


def unknown_class(code: str) -> RequestError:
    """Return the error of a code that no class has."""
    return RequestError("code", code, message("classes.unknown", "There is no class with this code."), kind="unknown")


def _load(reading: Transaction, code: str) -> tuple[StoredClass | None, list[store.StoredMember]]:
    stored = store.find_class(reading, code)
    return stored, [] if stored is None else store.members_of(reading, code)


def _present(room: Classroom) -> Question:
    question = room.question
    if question is None:
        raise RequestError("question", None, message("classes.no_question", "No question is asked at present."),
                           kind="over")  # fmt: skip
    return question


def _round(question: Question) -> tuple[int, int]:
    return question["number"], question["round"]


def _short(field: str, given: object, most: int) -> str:
    if not isinstance(given, str) or len(given) > most:
        why = message("classes.text_too_long", "{field} is a text of at most {most} characters", field=field, most=most)
        raise RequestError(field, given[:80] if isinstance(given, str) else None, why, limit=most)
    return " ".join(given.split())


def _not_kept(error: DatabaseError) -> RequestError:
    text = message("classes.disk", "Classes cannot be kept at present: {why}.", why=error.why)
    return RequestError("store", None, text, kind="disk")


def _forever(seconds: float, task: Callable[[], None]) -> None:
    while True:
        gevent.sleep(seconds)
        try:
            task()
        except Exception:
            logger.exception("the classes")
