"""The classes that this process has in memory, kept the same as the database and the other processes.

The database holds what lasts, and is written before anybody is told. What pages show at a moment, and who is there,
goes from process to process as a message; a process that may have missed one reads the database again.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, Protocol

import gevent
from gevent.event import AsyncResult

from backend.classes import store
from backend.classes.classroom import Classroom, Member, round_of
from backend.classes.codes import new_secret
from backend.classes.group_commit import GroupCommit
from backend.classes.questions import tally_of
from backend.classes.store import StoredClass, StoredMember
from backend.database.address import Location
from backend.database.connect import database_at
from backend.database.database import DatabaseError, Transaction
from backend.errors import RequestError, message

logger = logging.getLogger(__name__)
SAVE_S = 1.0  # until work and scenes are written; they change many times a second
COUNT_S = 0.25  # between two counts of answers, and two messages to other processes
BEAT_S = 5.0  # between two messages of who is here
HEARD_S = 15.0  # after which a process that says nothing has ended
EXPIRE_S = 60.0  # between two looks for classes in the database whose time is over
OnDisk = Callable[[Callable[[], Any]], Any]


class Channel(Protocol):
    """The way to the other processes of a server."""

    def listen(self) -> None:
        """Begin to hear what others tell."""

    def post(self, code: str, told: dict[str, Any]) -> bool:
        """Tell the other processes; return whether they could be reached."""

    def stop(self) -> None:
        """Hear nothing more."""


class Alone:
    """The channel of a server of one process."""

    def listen(self) -> None:
        """Do nothing."""

    def post(self, code: str, told: dict[str, Any]) -> bool:
        """Return True: there is nobody to tell."""
        return True

    def stop(self) -> None:
        """Do nothing."""


class Rooms:
    """The classes of one process. `on_disk` does work that waits for the disk; `on_change` is called with the code of
    a class of which viewers have not seen everything.
    """

    def __init__(self, location: Location, on_disk: OnDisk, on_change: Callable[[str], None]) -> None:
        self.database = database_at(location)
        self.channel: Channel = Alone()
        self._on_disk, self._on_change = on_disk, on_change
        self._disk = GroupCommit(self.database, on_disk)
        self._rooms: dict[str, Classroom] = {}
        self._loading: dict[str, AsyncResult] = {}  # classes that are being read
        self._missed: set[str] = set()  # of these, those of which others told something meanwhile
        self._process = new_secret()
        self._unsaved: dict[str, set[int]] = {}  # members whose work is to be written, 0 for the scene
        self._saving: dict[str, set[int]] = {}  # of which the writing is in progress
        self._untold: dict[str, set[int]] = {}  # members of whose work the other processes are to be told
        self._written: dict[str, set[int]] = {}  # members whose work has been written since the last beat
        self._uncounted: set[str] = set()  # classes whose answers are to be counted
        self._answered: set[str] = set()  # of these, those with answers that this process has taken
        self._stale: set[str] = set()  # classes that are to be read again
        self._unreached: set[str] = set()  # classes of which the other processes have missed something
        self._shown: set[str] = set()  # classes with a scene since the last beat
        self._loops: list[Any] = []

    def __len__(self) -> int:
        return len(self._rooms)

    def start(self) -> None:
        """Begin to hear other processes, to write what changes, and to delete classes whose time is over."""
        if not self._loops:
            self.channel.listen()
            turns = ((SAVE_S, self._save), (COUNT_S, self._catch_up), (BEAT_S, self._beat), (EXPIRE_S, self._expire))
            self._loops = [gevent.spawn(_forever, seconds, task) for seconds, task in turns]

    def stop(self) -> None:
        """Write what is not written yet, and close the database."""
        self.channel.stop()
        gevent.killall(self._loops)
        with suppress(RequestError):
            self._save()
        self._on_disk(self.database.close)

    # In memory

    def find(self, code: str) -> Classroom | None:
        """Return a class, None where there is none or its time is over."""
        self.start()
        room = self._rooms.get(code) or self._load(code)
        return None if room is None or room.over or room.expires < time.time() else room

    def add(self, made: StoredClass) -> Classroom:
        """Take a class that was stored a moment ago."""
        room = self._rooms[made.code] = Classroom.of(made, [])
        return room

    def end(self, room: Classroom) -> None:
        """Forget a class that has been deleted."""
        room.over = True
        self._rooms.pop(room.code, None)
        for waiting in (self._unsaved, self._untold, self._written):
            waiting.pop(room.code, None)
        for codes in (self._uncounted, self._answered, self._stale, self._unreached, self._shown):
            codes.discard(room.code)
        self._on_change(room.code)

    def _load(self, code: str) -> Classroom | None:
        """Read a class from the database. Requests for the same share one reading: a whole class comes back at once."""
        loading = self._loading.get(code)
        if loading is not None:
            shared: Classroom | None = loading.get()
            return shared
        loading = self._loading[code] = AsyncResult()
        try:
            room = self._read_room(code)
            loading.set(room)
            return room
        except BaseException as error:
            loading.set_exception(error)
            raise
        finally:
            del self._loading[code]
            self._missed.discard(code)

    def _read_room(self, code: str) -> Classroom | None:
        while True:
            self._missed.discard(code)
            stored, members = self.read(partial(_stored, code=code))
            if code not in self._missed:
                break
        if stored is None:
            return None
        room = self._rooms[code] = Classroom.of(stored, members)
        if room.question is not None:
            self.count_soon(room)
        return room

    # Changes

    def tell(self, room: Classroom, told: dict[str, Any]) -> None:
        """Tell viewers and the other processes what has changed."""
        self._on_change(room.code)
        self._post(room.code, told)

    def _post(self, code: str, told: dict[str, Any]) -> None:
        """Tell the other processes, or have them read the class again once they can be reached."""
        if not self.channel.post(code, told):
            self._unreached.add(code)

    def show(self, room: Classroom, scene: dict[str, Any]) -> None:
        """Show a scene, to be written soon."""
        room.show(scene)
        self._unsaved.setdefault(room.code, set()).add(0)
        self._shown.add(room.code)
        self.tell(room, {"scene": scene})

    def worked(self, room: Classroom, member: Member) -> None:
        """Note that a member's work has changed, to be written and told soon."""
        room.touch(member)
        self._unsaved.setdefault(room.code, set()).add(member.number)
        self._untold.setdefault(room.code, set()).add(member.number)
        self._on_change(room.code)

    def answered(self, room: Classroom) -> None:
        """Have the answers of a class counted soon, here and at the other processes."""
        self._answered.add(room.code)
        self._uncounted.add(room.code)

    def count_soon(self, room: Classroom) -> None:
        """Have the answers of a class counted soon."""
        self._uncounted.add(room.code)

    def here(self, room: Classroom, numbers: frozenset[int]) -> None:
        """Note whose pages are open at this process."""
        if not room.over:
            room.hear(self._process, time.monotonic(), numbers)
            self.tell(room, {"here": sorted(numbers), "process": self._process})

    # Other processes

    def take(self, code: str, told: dict[str, Any]) -> None:
        """Take what another process tells of a class."""
        room = self._rooms.get(code)
        if room is None:  # read from the database when somebody enters it here
            if code in self._loading:
                self._missed.add(code)
            return
        if "scene" in told:
            room.show(told["scene"])
        if "settings" in told:
            room.take(told["settings"])
        if "joined" in told:
            room.add(Member(**told["joined"]))
        if "renamed" in told:
            room.rename(*told["renamed"])
        newer = self._newer(room)
        for row in (*told.get("work", ()), *(each for each in told.get("written", ()) if each["number"] not in newer)):
            member = room.members.get(row["number"])
            if member is not None:
                member.view, member.items = row["view"], row["items"]
                room.touch(member)
        if "left" in told:
            room.remove(told["left"])
        if "here" in told:
            room.hear(told["process"], time.monotonic(), frozenset(told["here"]))
        if "again" in told:
            self._stale.add(code)
        if told.keys() & {"answered", "settings", "left"}:
            self.count_soon(room)
        if "over" in told:
            self.end(room)
        self._on_change(code)

    def read_again(self) -> None:
        """Have all classes of this process read again: it may have missed what others told."""
        self._missed |= self._loading.keys()
        self._stale |= self._rooms.keys()

    def _refresh(self, room: Classroom) -> bool:
        """Read a class again; return False where it has changed meanwhile, so that what was read may be the older."""
        before, newer = room.lasting, self._newer(room)
        stored, members = self.read(partial(_stored, code=room.code))
        if stored is None:
            self.end(room)
            return True
        if room.lasting != before:
            return False
        room.refresh(stored, members, newer | self._newer(room))
        self.count_soon(room)
        self._on_change(room.code)
        return True

    def _newer(self, room: Classroom) -> set[int]:
        return self._unsaved.get(room.code, set()) | self._saving.get(room.code, set())

    # Now and then

    def _save(self) -> None:
        """Write work and scenes that have changed."""
        self._saving, self._unsaved = self._unsaved, {}
        scenes, works = {}, []
        for code, numbers in self._saving.items():
            room = self._rooms.get(code)
            if room is None:
                continue
            if 0 in numbers and room.scene is not None:
                scenes[code] = room.scene
            works += [(code, room.members[number].stored()) for number in numbers & room.members.keys()]
        try:
            if scenes or works:
                self.write(partial(_save_all, scenes=scenes, works=works))
            for code, member in works:
                if code in self._rooms:
                    self._written.setdefault(code, set()).add(member.number)
        except BaseException:  # also where the greenlet is ended
            for code in self._saving.keys() & self._rooms.keys():
                self._unsaved.setdefault(code, set()).update(self._saving[code])
            raise
        finally:
            self._saving = {}

    def _catch_up(self) -> None:
        """Tell the other processes of work and answers, read again what may be stale, and count answers."""
        untold, self._untold = self._untold, {}
        for code, numbers in untold.items():
            room = self._rooms.get(code)
            if room is not None:
                rows = [room.members[number].work() for number in sorted(numbers & room.members.keys())]
                self._post(code, {"work": rows})
        answered, self._answered = self._answered, set()
        for code in answered:
            self._post(code, {"answered": True})
        for codes, task in ((self._stale, self._refresh), (self._uncounted, self._count)):
            for room in [self._rooms[code] for code in codes & self._rooms.keys()]:
                codes.discard(room.code)
                try:
                    done = task(room)
                except RequestError:
                    codes.add(room.code)
                    raise
                if not done and not room.over:
                    codes.add(room.code)

    def _count(self, room: Classroom) -> bool:
        """Count the answers to the present round; return False where another round has begun meanwhile."""
        if room.question is None:
            return True
        number, round_ = round_of(room.question)
        counts = self.read(lambda reading: store.count_answers(reading, room.code, number, round_))
        if room.question is None or round_of(room.question) != (number, round_):
            return False
        room.tally = tally_of(counts, number, round_)
        room.room_at += 1
        self._on_change(room.code)
        return True

    def _beat(self) -> None:
        """Say who is here, forget processes that have ended, and end the classes whose time is over."""
        now = time.monotonic()
        for room in list(self._rooms.values()):
            if room.expires < time.time():
                self.end(room)
                continue
            told: dict[str, Any] = {}
            own = room.here.get(self._process)
            if own is not None:
                room.here[self._process] = (now, own[1])
                told |= {"here": sorted(own[1]), "process": self._process}
            if room.code in self._shown:  # once more: a process whose connection was lost has no other way to it
                self._shown.discard(room.code)
                told["scene"] = room.scene
            written = self._written.pop(room.code, set()) & room.members.keys()
            if written:  # once more: a process that has read the class before that has an older state
                told["written"] = [room.members[number].work() for number in sorted(written)]
            if room.code in self._unreached:
                told["again"] = True
            if told and self.channel.post(room.code, told):
                self._unreached.discard(room.code)
            room.forget(now - HEARD_S)
            if room.tell_here():
                self._on_change(room.code)
        for code in self._unreached - self._rooms.keys():  # deleted here
            if self.channel.post(code, {"over": True}):
                self._unreached.discard(code)

    def _expire(self) -> None:
        """Delete the classes whose time is over, also those that nobody has asked for since the server started."""
        for code in self.read(lambda reading: store.expired(reading, time.time())):
            self.write(partial(store.delete_class, code=code))
            room = self._rooms.get(code)
            if room is not None:
                self.end(room)

    # The database

    def write(self, work: Callable[[Transaction], Any]) -> Any:
        """Do work in a transaction, which has other writes of this moment too. Raises RequestError."""
        try:
            return self._disk.write(work)
        except DatabaseError as error:
            raise _not_kept(error) from error

    def read(self, work: Callable[[Transaction], Any]) -> Any:
        """Do work that only reads, all of it the same moment. Raises RequestError."""

        def read() -> Any:
            with self.database.snapshot() as reading:
                return work(reading)

        try:
            return self._on_disk(read)
        except DatabaseError as error:
            raise _not_kept(error) from error


def _stored(reading: Transaction, code: str) -> tuple[StoredClass | None, list[StoredMember]]:
    stored = store.find_class(reading, code)
    return stored, [] if stored is None else store.members_of(reading, code)


def _save_all(writing: Transaction, scenes: dict[str, dict[str, Any]], works: list[tuple[str, StoredMember]]) -> None:
    for code, scene in scenes.items():
        store.save_scene(writing, code, scene)
    for code, member in works:
        store.save_work(writing, code, member)


def _not_kept(error: DatabaseError) -> RequestError:
    text = message("classes.disk", "Classes cannot be kept at present: {why}.", why=error.why)
    return RequestError("store", None, text, kind="disk")


def _forever(seconds: float, task: Callable[[], None]) -> None:
    """Do a task at once and then again and again. A database that cannot be used is logged when that begins."""
    failing = False
    while True:
        try:
            task()
            failing = False
        except RequestError as error:
            if not failing:
                logger.warning("%s", error)
            failing = True
        except Exception:
            logger.exception("the classes")
        gevent.sleep(seconds)
