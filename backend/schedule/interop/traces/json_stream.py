"""Read the events of a large JSON trace one by one, so that memory does not grow with the file.

Of torch's profiler most events are kernels, memory and calls of Python: those that no import reads are left out as they
are read, by the rules of static/js/core/measured/trace_events.ts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, TextIO

from backend.errors import json_reason
from backend.schedule.errors import OrderError, message
from backend.schedule.interop.traces.events import COLLECTIVES, FSDP, ends_early

CHUNK = 1 << 20  # characters read at once
MOST_VALUE = 1 << 28  # characters of one value
KEPT = ("deviceProperties", "otherData", "distributedInfo", "baseTimeNanoseconds")
SPANS = ("M", "B", "E", "b", "e")
_OP = re.compile(r"(PP:)?[\d(]|(Forward|Backward) \d")
_NOT_RANGES = re.compile(r"cpu_op|python_function|cuda_|gpu_mem|overhead|ac2g|fwdbwd|Trace$")
_DECODER = json.JSONDecoder()
_SPACE = re.compile(r"[ \t\r\n\ufeff]*")


def trace_document(number: int, file: TextIO, own: bool = False) -> dict[str, Any]:
    """Return a trace with the events that an import reads, and how many it had; ``own``: ops have names of one's own,
    so that every range is kept. Raises OrderError for what is no JSON, or no trace.
    """
    text = _Text(number, file)
    about: dict[str, Any] = {}
    wanted: list[Any] = []
    streams: dict[str, dict[str, Any]] = {}
    count = 0
    for key, value in text.members():
        if key is not None:
            about[key] = value
            continue
        count += 1
        if not isinstance(value, dict) or value.get("ph") in SPANS:
            wanted.append(value)
        elif value.get("cat") == "kernel":
            _add_kernel(streams, value)
        elif _is_wanted(value, own):
            wanted.append(value)
    about = {key: about[key] for key in KEPT if key in about} if count else about
    return about | {"traceEvents": [*wanted, *streams.values()], "eventCount": count}


def _is_wanted(event: dict[str, Any], own: bool) -> bool:
    """Return whether an event of one's own, of torch's or of a production timeline may be an op, or tells of one."""
    name, args = event.get("name"), event.get("args")
    if event.get("ph") != "X" or not isinstance(name, str):
        return False
    if own:
        return not _NOT_RANGES.match(str(event.get("cat", "")))
    return bool(_OP.match(name)) or name.startswith(FSDP) or (isinstance(args, dict) and "mb_id" in args)


def _add_kernel(streams: dict[str, dict[str, Any]], event: dict[str, Any]) -> None:
    """Add a kernel to the one that stands for all those of its stream, of which only the time that is not communication
    counts: it tells which stream computes.
    """
    place = {"pid": event.get("pid"), "tid": event.get("tid")}
    whole = streams.setdefault(str(place), {"ph": "X", "cat": "kernel", "name": "all", **place, "dur": 0.0})
    length = event.get("dur")
    if isinstance(length, int | float) and length > 0 and not COLLECTIVES.search(str(event.get("name"))):
        whole["dur"] += length


class _Text:
    """The text of a file, of which only a part is in memory."""

    def __init__(self, number: int, file: TextIO) -> None:
        self.number, self.file = number, file
        self.text, self.at, self.size, self.done = "", 0, 0, False

    def members(self) -> Iterator[tuple[str | None, Any]]:
        """Yield the entries of the list of events, each with None, and the other members of the object."""
        begins = self._peek()
        if begins == "[":
            yield from ((None, value) for value in self._entries())
        elif begins == "{":
            self.at += 1
            while self._next_of("}"):
                key = self._value()
                if self._peek() != ":":
                    self._fail("a name is not followed by a colon")
                self.at += 1
                if key == "traceEvents" and self._peek() == "[":
                    yield from ((None, value) for value in self._entries())
                else:
                    yield str(key), self._value()
        else:
            self._fail("it begins with neither { nor [")
        if self._peek():
            self._fail("more follows after its end")

    def _entries(self) -> Iterator[Any]:
        self.at += 1
        while self._next_of("]"):
            yield self._value()

    def _next_of(self, end: str) -> bool:
        """Pass a comma, if there is one; return whether there is another entry before ``end``, which is passed too."""
        found = self._peek()
        if found == ",":
            self.at += 1
            found = self._peek()
        if found == end:
            self.at += 1
            return False
        return True

    def _value(self) -> Any:
        self._peek()
        while True:
            try:
                value, self.at = _DECODER.raw_decode(self.text, self.at)
                return value
            except (ValueError, RecursionError) as error:
                if self.done or len(self.text) - self.at > MOST_VALUE:
                    self._fail(json_reason(error), cut=self.done and ends_early(self.text[self.at :], error))
                self._read()

    def _peek(self) -> str:
        """Return the next character that is no space, "" at the end."""
        while True:
            found = _SPACE.match(self.text, self.at)
            self.at = found.end() if found else self.at
            if self.at < len(self.text) or self.done:
                return self.text[self.at : self.at + 1]
            self._read()

    def _read(self) -> None:
        """Read on: as much as is there already, so that a long value is not tried too often."""
        rest = self.text[self.at :]
        more = self.file.read(max(CHUNK, len(rest)))
        self.text, self.at, self.done = rest + more, 0, not more
        self.size += len(more)

    def _fail(self, problem: str, cut: bool = False) -> None:
        if cut and self.size:
            text = message(
                "schedule.trace_cut_off",
                "file {number} is cut off: its JSON ends after {size} characters before it is complete",
                number=self.number,
                size=f"{self.size:,}",
            )
            raise OrderError(text)
        raise OrderError(
            message(
                "schedule.trace_not_json", "file {number} is not JSON: {problem}", number=self.number, problem=problem
            )
        )
