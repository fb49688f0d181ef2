"""Classes as the processes of one server see them, without Redis and without waiting."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gevent

from backend.access.limits.rate_limit import HourlyRate, Pace
from backend.classes.classes import Classes, Limits
from backend.classes.classroom import Classroom
from backend.database.address import Location

CHOICE = {"kind": "choose", "text": "Which idles?", "options": ["rank 0", "rank 1"], "right": "1"}


class Line:
    """Between processes: what one posts is taken by the others at once, but while it is `cut`."""

    def __init__(self) -> None:
        self.takers: list[Callable[[str, dict[str, Any]], None]] = []
        self.cut = False
        self.posts: list[dict[str, Any]] = []

    def of(self, taker: Callable[[str, dict[str, Any]], None]) -> End:
        self.takers.append(taker)
        return End(self, taker)


class End:
    """One process' end of the line."""

    def __init__(self, line: Line, own: Callable[[str, dict[str, Any]], None]) -> None:
        self._line, self._own = line, own

    def listen(self) -> None:
        pass

    def post(self, code: str, told: dict[str, Any]) -> bool:
        if self._line.cut:
            return False
        self._line.posts.append(told)
        for take in self._line.takers:
            if take != self._own:
                take(code, told)
        return True

    def stop(self) -> None:
        pass


class Process:
    """The classes of one process. Nothing is done now and then: the tests call what would be."""

    def __init__(
        self,
        location: Location,
        line: Line | None = None,
        most: int = 5,
        members: int = 50,
        opened: int = 20,
        looked_up: int = 100,
    ) -> None:
        self.changed: list[str] = []
        self.on_disk: Callable[[Callable[[], Any]], Any] = lambda work: work()
        limits = Limits(most, members, HourlyRate(opened), Pace(looked_up, 3600.0))
        self.classes = Classes(location, limits, lambda work: self.on_disk(work), self.changed.append)
        self.rooms = self.classes.rooms
        self.rooms._loops = [gevent.spawn(lambda: None)]
        if line is not None:
            self.rooms.channel = line.of(self.rooms.take)

    def answer(self, room: Classroom, number: int, value: str, asked: int = 1, round_: int = 1) -> None:
        """Answer as a page of a member does."""
        self.classes.answer(room, number, self.classes.asked(room, asked, round_), value)

    def kill(self) -> None:
        """End it without writing anything more."""
        self.rooms._unsaved.clear()
        self.rooms.stop()


def rows_of(process: Process) -> dict[str, int]:
    """Count the rows of each table of classes."""
    tables = ("classes", "class_members", "class_questions", "class_answers")
    return {each: process.rooms.database.execute(f"SELECT COUNT(*) FROM {each}")[0][0] for each in tables}
