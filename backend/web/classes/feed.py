"""The viewers of classes, and what each is sent next: what is newest, never a queue.

A viewer has the numbers of what it has seen of its class. While its last message is on the way it is sent nothing; then
it gets the scene and the settings of that moment. So a slow network loses scenes in between, never the last one,
and a viewer that stops reading costs one message of memory.
"""

from __future__ import annotations

import json
import logging
import time
from dataclasses import dataclass, field
from typing import Any, Protocol

import gevent
from gevent.event import Event

from backend.classes.classroom import Classroom

logger = logging.getLogger(__name__)
RETRY_S = 0.02  # until viewers who were not free are tried again
ROUND_S = 0.005  # between two rounds: changes of that time are sent as one message
ROOM_S = 0.25  # between two messages to a leader about members and answers
HERE_S = 0.5  # until it is counted whose pages are open: those of a whole class come and go together


class Transport(Protocol):
    """The interface of the sockets that the feed uses."""

    def idle(self, viewer: str) -> bool:
        """Return whether the network has taken all messages to the viewer."""

    def emit(self, viewers: list[str], event: str, text: str) -> None:
        """Send one event with this JSON to these viewers, without waiting."""


class Presence(Protocol):
    """The interface of the classes that the feed uses."""

    def here(self, room: Classroom, numbers: frozenset[int]) -> None:
        """Note whose pages are open at this process."""


@dataclass
class Viewer:
    """One page in a class: of a leader, or of a member. `scene`, `state` and `room` are the numbers it has seen."""

    number: int | None  # None: it leads
    scene: int
    state: int
    room: int = 0
    room_due: float = 0.0  # when the next message about members may be sent


@dataclass
class Audience:
    """The viewers of one class; `due` is set while its members are to be counted."""

    room: Classroom
    viewers: dict[str, Viewer] = field(default_factory=dict)
    due: Any = None


class ClassFeed:
    """The viewers of all classes at one process."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self.presence: Presence | None = None
        self._audiences: dict[str, Audience] = {}
        self._of: dict[str, str] = {}  # the class of each viewer
        self._changed: set[str] = set()
        self._wake = Event()
        self._loop: Any = None

    def enter(self, viewer: str, room: Classroom, number: int | None) -> None:
        """Send the viewer every change from now on; `number` is that of a member, None for a leader."""
        self.drop(viewer)
        audience = self._audiences.setdefault(room.code, Audience(room))
        audience.room = room
        audience.viewers[viewer] = Viewer(number, _seq(room), room.state_at)
        self._of[viewer] = room.code
        if number is not None:
            self._count_soon(audience)
        self.notify(room.code)

    def drop(self, viewer: str) -> None:
        """Stop sending to a viewer; safe for one in no class."""
        audience = self._audiences.get(self._of.pop(viewer, ""))
        if audience is None:
            return
        gone = audience.viewers.pop(viewer, None)
        if gone is not None and gone.number is not None:
            self._count_soon(audience)
        elif not audience.viewers and audience.due is None:
            del self._audiences[audience.room.code]

    def seat_of(self, viewer: str) -> tuple[Classroom, int | None] | None:
        """Return the class of a viewer and the number that it has there, None for a leader's; None in no class."""
        audience = self._audiences.get(self._of.get(viewer, ""))
        found = audience.viewers.get(viewer) if audience is not None else None
        return None if audience is None or found is None else (audience.room, found.number)

    def has_scene(self, viewer: str, seq: int) -> None:
        """Note that a viewer shows a scene: it has sent it."""
        audience = self._audiences.get(self._of.get(viewer, ""))
        if audience is not None and viewer in audience.viewers:
            audience.viewers[viewer].scene = seq

    def viewers(self) -> int:
        """Count the viewers of all classes."""
        return len(self._of)

    def notify(self, code: str) -> None:
        """Send what has changed in a class soon."""
        if code in self._audiences:
            self._changed.add(code)
            if self._loop is None:
                self._loop = gevent.spawn(self._pump_loop)
            self._wake.set()

    def pump(self, now: float) -> float | None:
        """Send what can be sent now. Returns the seconds until the next try, None when no viewer is behind."""
        again: list[float] = []
        for code in list(self._changed):
            audience = self._audiences.get(code)
            waits = [] if audience is None else self._send(audience, now)
            if not waits:
                self._changed.discard(code)
            again += waits
            if audience is not None and not audience.viewers and audience.due is None:
                self._audiences.pop(code, None)
        return min(again, default=None)

    def _send(self, audience: Audience, now: float) -> list[float]:
        """Send one class's viewers what they have not seen; returns the waits of those who are not free."""
        room, waits = audience.room, []
        behind: dict[tuple[bool, bool, bool], list[str]] = {}
        rooms: dict[int, list[str]] = {}
        for name, viewer in audience.viewers.items():
            scene, state = viewer.scene < _seq(room), viewer.state < room.state_at
            leads = viewer.number is None
            removed = not leads and viewer.number not in room.members
            wants_room = leads and viewer.room < room.room_at
            if not (scene or state or wants_room or removed or room.over):
                continue
            if not self._transport.idle(name):
                waits.append(RETRY_S)
                continue
            if room.over or removed:
                rooms.setdefault(-1, []).append(name)
            elif scene or state:
                behind.setdefault((scene, state, leads), []).append(name)
                viewer.scene, viewer.state = _seq(room), room.state_at
                if wants_room:
                    waits.append(RETRY_S)
            elif viewer.room_due > now:
                waits.append(viewer.room_due - now)
            else:
                rooms.setdefault(viewer.room, []).append(name)
                viewer.room, viewer.room_due = room.room_at, now + ROOM_S
        # Nearly all viewers of a class are behind by the same and share one message.
        for (scene, state, leads), names in behind.items():
            told: dict[str, Any] = {"code": room.code}
            if state:
                told["state"] = room.state(leads)
            if scene:
                told["scene"] = room.scene
            self._transport.emit(names, "class", _json(told))
        for name in rooms.pop(-1, ()):
            self._transport.emit([name], "class", _json({"code": room.code, "over": True}))
            self.drop(name)
        for since, names in rooms.items():
            self._transport.emit(names, "class_room", _json({"code": room.code} | room.room(since)))
        return waits

    def _count_soon(self, audience: Audience) -> None:
        if audience.due is None:
            audience.due = gevent.spawn_later(HERE_S, self._count, audience)

    def _count(self, audience: Audience) -> None:
        audience.due = None
        numbers = frozenset(each.number for each in audience.viewers.values() if each.number is not None)
        if self.presence is not None:
            self.presence.here(audience.room, numbers)
        self.notify(audience.room.code)

    def _pump_loop(self) -> None:
        again: float | None = None
        while True:
            self._wake.wait(again)
            self._wake.clear()
            try:
                again = self.pump(time.monotonic())
            except Exception:
                logger.exception("the feed of classes")
                again = RETRY_S
            gevent.sleep(ROUND_S)


def _seq(room: Classroom) -> int:
    return 0 if room.scene is None else int(room.scene["seq"])


def _json(told: dict[str, Any]) -> str:
    return json.dumps(told, separators=(",", ":"), ensure_ascii=False)
