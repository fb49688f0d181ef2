"""What a class behind one address needs of the limits: each setting, what it counts, and how much a student needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from backend.config import Config, variable
from backend.errors import Message, message

USUAL = 60  # students
MOST = 5000

PER_STUDENT: Mapping[str, tuple[int, Message]] = {
    "sockets": (2, message("class.sockets", "open windows")),
    "requests_per_minute": (120, message("class.requests_per_minute", "requests a minute")),
    "client_rate": (2, message("class.client_rate", "messages a second of open windows")),
    "computations_per_client": (1, message("class.computations_per_client", "computations that wait, of one address")),
    "computations": (1, message("class.computations", "computations that wait, in all")),
    "entries_per_hour": (20, message("class.entries_per_hour", "orders entered for tasks in an hour")),
    "class_members": (1, message("class.class_members", "students of one class")),
    "class_lookups_per_hour": (4, message("class.class_lookups_per_hour", "look-ups of classes by code in an hour")),
    "links_per_hour": (2, message("class.links_per_hour", "short links in an hour")),
    "connections": (8, message("class.connections", "open connections, in all")),
    "queue": (1, message("class.queue", "runs that wait, in all")),
}
"""How much of each limit a student needs: two windows open, answers at the same time, and a try every few minutes."""


@dataclass(frozen=True)
class Need:
    """A limit as it is set, and what a class needs. ``each``: of one student."""

    variable: str
    meaning: Message
    each: int
    now: int
    needed: int

    @property
    def enough(self) -> bool:
        """Return whether the limit allows the class."""
        return self.now >= self.needed


def needs(config: Config, students: int) -> list[Need]:
    """Return every limit that a class of so many students meets."""
    return [
        Need(variable(name), meaning, each, getattr(config, name), each * students)
        for name, (each, meaning) in PER_STUDENT.items()
    ]
