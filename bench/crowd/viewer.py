"""A cheap watcher of a run: the log entries that a message covers are in its first characters, and are noted with the
time of its last byte; the rest is dropped, or kept to be decoded when the run is over.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Iterator
from typing import Any

from backend.cli.crowd.line import Line
from backend.schedule.interop.measured_rows import OpRow, named

HEAD = 200  # characters of a message that hold its numbers
NUMBERS = re.compile(rb'"first":(\d+),"seq":(\d+),"event":"(\w+)"')
OVER = (b"finished", b"failed", b"cancelled")


class Viewer(Line):
    """One watcher of one run. `arrivals` are (ns, first entry, last entry) of each message with ops, in order."""

    def __init__(self, url: str, whole: bool = False, receive_buffer: int | None = None) -> None:
        self.whole = whole  # keeps its messages
        self.began = time.monotonic_ns()
        self.joined = 0  # ns when everything was here that the log held when the server took the watch
        self.since = self.seq = 0
        self.present = -1  # the log's length at the watch, once the server has sent it
        self.arrivals: list[tuple[int, int, int]] = []
        self.messages: list[bytes] = []
        self.over = False
        super().__init__(url, keep=sys.maxsize if whole else HEAD, receive_buffer=receive_buffer)

    def watch(self, run: str, since: int = 0, rows: str = "ops") -> None:
        """Request all entries after `since`, with rows of these kinds."""
        self.since = self.seq = since
        self.emit("watch", {"run": run, "since": since, "rows": rows}, self._watched)

    def heard(self, now: int, packet: bytes) -> None:
        """Process a message: nearly always an op batch."""
        if packet.startswith(b'42["run"'):
            self._run_message(now, packet)
            if self.whole:
                self.messages.append(packet)
        self._look(now)

    def _watched(self, answer: dict[str, Any]) -> None:
        self.present = answer.get("seq", -1)
        if "error" in answer:
            self.faults.append(f"the server refused the watch: {answer}")
        self._look(time.monotonic_ns())

    def _run_message(self, now: int, packet: bytes) -> None:
        found = NUMBERS.search(packet, 0, HEAD)
        if found is None:
            self.faults.append(f"a message without numbers: {packet[:80]!r}")
            return
        first, last = int(found[1]), int(found[2])
        if first != self.seq + 1 or last < first:
            self.faults.append(f"entries {first} to {last} came after entry {self.seq}")
        self.seq = last
        if found[3] == b"op_batch":
            self.arrivals.append((now, first, last))
        self.over = found[3] in OVER

    def _look(self, now: int) -> None:
        if not self.joined and self.present >= 0 and self.seq >= self.present:
            self.joined = now

    def begin(self) -> int:
        """The run's first moment (t0_unix_ns), from the message that contains it."""
        payloads = (json.loads(message[2:])[1] for message in self.messages)
        return next(int(message["t0_unix_ns"]) for message in payloads if "t0_unix_ns" in message)

    def rows(self) -> Iterator[OpRow]:
        """The ops of the messages that were kept."""
        for message in self.messages:
            yield from named("ops", json.loads(message[2:])[1].get("ops", []))
