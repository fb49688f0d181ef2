"""Memory shared by the main process and the workers of one job: the state of each rank, and the times of its ops.

A rank writes only its own part and never waits: reporting an op is a few stores, so that streaming cannot disturb
what it reports. The main process reads at any time. Layout, all int64: per rank the words of `_State`, then rows of
five words: one `OpTimes` per op, one `CopyTimes` per copy, one `MessageTimes` per message that a rank receives. A row
is valid only below its rank's count of that kind, which is stored last.
"""

from __future__ import annotations

import math
import mmap
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from runner.telemetry.clock import now
from runner.telemetry.rows import COPY, MESSAGE, OP

Ints = npt.NDArray[np.int64]
ROUNDS, RECORDS = 7, 200  # to measure what recording an op costs
IDLE, WAITING, WORKING, FINISHED = range(4)
_ROW, _BYTES = 5, 8


class RankState(NamedTuple):
    """The current state of a rank: its phase, the op it is in, the tag of the message it waits for, or -1, and the
    pieces of work it has done outside its program: ops of the warm-up, micro-batches of the reference."""

    phase: int
    op: int
    tag: int
    beats: int = 0


class _State(NamedTuple):
    """The words of one rank, as offsets: the fields of `RankState`, then the number of valid rows of each kind."""

    phase: int
    op: int
    tag: int
    beats: int
    ops: int
    copies: int
    messages: int


_WORDS = len(_State._fields)
_AT = _State(*range(_WORDS))
# The same numbers as module constants: looking up an attribute of a tuple costs as much as a store.
_READY, _START, _END, _WAIT, _LIVE = OP
_POSTED, _ASKED, _TAKEN = MESSAGE
_PHASE, _INDEX, _TAG, _BEATS, _OPS, _, _MESSAGES = _AT
_STATE = slice(len(RankState._fields))


class Counts(NamedTuple):
    """Numbers of rows of each kind."""

    ops: int
    copies: int
    messages: int


class Rows(NamedTuple):
    """Board rows of one rank: ops (n, 5), copies (n, 4), messages (n, 3), columns as in rows.py."""

    ops: Ints
    copies: Ints
    messages: Ints


@dataclass(frozen=True, slots=True)
class FirstRows:
    """The first rows of a rank: of its ops, its copies and the messages it receives."""

    ops: int
    copies: int = 0
    messages: int = 0


class Board:
    """The main process's end: created for one job, read at any time. `counts`, `copies` and `messages` are the numbers
    of ops, copies and received messages of each rank."""

    def __init__(
        self, path: str, counts: Sequence[int], copies: Sequence[int] = (), messages: Sequence[int] = ()
    ) -> None:
        self.path, self.ranks = path, len(counts)
        none = [0] * self.ranks
        every = np.cumsum([0, *counts, *(copies or none), *(messages or none)])
        self.offsets, self.copy_offsets, self.message_offsets = (
            every[part * self.ranks : (part + 1) * self.ranks + 1] for part in range(3)
        )
        size = (_WORDS * self.ranks + _ROW * int(every[-1])) * _BYTES
        with open(path, "wb") as file:
            file.truncate(size)
        self.words = np.memmap(path, np.int64, "r+")
        self.states = self.words[: _WORDS * self.ranks].reshape(self.ranks, _WORDS)
        self.table = self.words[_WORDS * self.ranks :].reshape(-1, _ROW)
        self.times = self.table[: int(self.offsets[-1])]  # (ops, 5)
        self.copy_times = self.table[int(self.offsets[-1]) : int(self.copy_offsets[-1])]
        self.message_times = self.table[int(self.copy_offsets[-1]) :]

    def first_rows(self, rank: int) -> FirstRows:
        """Return where the rows of a rank begin."""
        return FirstRows(int(self.offsets[rank]), int(self.copy_offsets[rank]), int(self.message_offsets[rank]))

    def done(self) -> Ints:
        """Return (p,) the number of ops that each rank has finished."""
        return np.array(self.states[:, _AT.ops])

    def copied(self) -> Ints:
        """Return (p,) the number of copies that each rank has finished."""
        return np.array(self.states[:, _AT.copies])

    def received(self) -> Ints:
        """Return (p,) the number of messages that each rank has received."""
        return np.array(self.states[:, _AT.messages])

    def beats(self) -> Ints:
        """Return (p,) the pieces of work that each rank has done outside its program."""
        return np.array(self.states[:, _AT.beats])

    def counts(self, rank: int) -> Counts:
        """Return the number of valid rows of a rank."""
        return Counts(*(int(self.states[rank, word]) for word in (_AT.ops, _AT.copies, _AT.messages)))

    def state(self, rank: int) -> RankState:
        """Return the current state of a rank."""
        return RankState(*self.states[rank, _STATE].tolist())

    def write_rank(self, rank: int, state: RankState, since: Counts, rows: Rows) -> None:
        """Write what a rank on another host recorded: its state, and its new rows, which begin at `since`."""
        firsts = (self.offsets[rank], self.copy_offsets[rank], self.message_offsets[rank])
        words = (_AT.ops, _AT.copies, _AT.messages)
        for word, first, at, new in zip(words, firsts, since, rows, strict=True):
            self.table[first + at : first + at + len(new), : new.shape[1]] = new
            self.states[rank, word] = at + len(new)
        self.states[rank, _STATE] = tuple(state)

    def rows(self, rank: int, since: int, until: int) -> Ints:
        """Return (n, 5) the `OpTimes` of a rank's ops since <= index < until."""
        return self._rows(self.offsets[rank], since, until)

    def copy_rows(self, rank: int, since: int, until: int) -> Ints:
        """Return (n, 4) the `CopyTimes` of a rank's copies since <= index < until."""
        return self._rows(self.copy_offsets[rank], since, until)[:, : len(COPY)]

    def message_rows(self, rank: int, since: int, until: int) -> Ints:
        """Return (n, 3) the `MessageTimes` of a rank's received messages, in the order in which it needs them."""
        return self._rows(self.message_offsets[rank], since, until)[:, : len(MESSAGE)]

    def _rows(self, first: int, since: int, until: int) -> Ints:
        return self.table[first + since : first + until]


class Ledger:
    """One rank's end: writes what the rank does and when its ops, copies and messages ran, relative to `zero`. Ops and
    copies may be recorded from two threads: they share no word."""

    def __init__(self, path: str, rank: int, ranks: int, first: FirstRows) -> None:
        handle = os.open(path, os.O_RDWR)
        try:
            self.words = memoryview(mmap.mmap(handle, 0)).cast("q")
        finally:
            os.close(handle)
        self.base = rank * _WORDS
        self.first = tuple(_WORDS * ranks + _ROW * row for row in (first.ops, first.copies, first.messages))
        self.next, self.next_copy, self.next_message = self.first
        self.zero = 0

    def reset(self) -> None:
        """Begin again with nothing recorded, after a step that is not reported."""
        self.next, self.next_copy, self.next_message = self.first
        for counter in (_AT.ops, _AT.copies, _AT.messages):
            self.words[self.base + counter] = 0

    def set_state(self, phase: int, index: int, tag: int = -1) -> None:
        """Record the current state of the rank: its op, and the message it waits for."""
        words, base = self.words, self.base
        words[base + _INDEX] = index
        words[base + _TAG] = tag
        words[base + _PHASE] = phase

    def beat(self) -> None:
        """Count a piece of work outside the program as done."""
        self.words[self.base + _BEATS] += 1

    def record(self, ready: int, start: int, end: int, recv_wait: int, live: int) -> None:
        """Record the next op of this rank as done, after which `live` bytes of activations are alive."""
        words, at, zero = self.words, self.next, self.zero
        words[at + _READY] = ready - zero
        words[at + _START] = start - zero
        words[at + _END] = end - zero
        words[at + _WAIT] = recv_wait
        words[at + _LIVE] = live
        self.next = at + _ROW
        words[self.base + _OPS] += 1

    def record_copy(self, ready: int, start: int, end: int, moved: int) -> None:
        """Record the next copy of this rank, of `moved` bytes, as done."""
        words, at, zero = self.words, self.next_copy, self.zero
        words[at + COPY.ready] = ready - zero
        words[at + COPY.start] = start - zero
        words[at + COPY.end] = end - zero
        words[at + COPY.bytes] = moved
        self.next_copy = at + _ROW
        words[self.base + _AT.copies] += 1

    def record_message(self, posted: int, asked: int, taken: int) -> None:
        """Record the next message that this rank needs; times as in `MessageTimes`."""
        words, at, zero = self.words, self.next_message, self.zero
        words[at + _POSTED] = posted - zero
        words[at + _ASKED] = asked - zero
        words[at + _TAKEN] = taken - zero
        self.next_message = at + _ROW
        words[self.base + _MESSAGES] += 1

    def cost(self) -> float:
        """Measure the cost of recording one op, in ns: all stores and clock readings of an op that awaits a message,
        the fastest of several rounds.

        Needs one op's row, and leaves no record.
        """
        best, row = math.inf, self.first[0]
        for _ in range(ROUNDS):
            begin = now()
            for _ in range(RECORDS):
                self.next = self.next_message = row
                self.set_state(WAITING, 0, 0)
                self.record_message(now(), now(), now())
                self.set_state(WORKING, 0)
                self.record(now(), now(), begin, 0, 0)
            best = min(best, (now() - begin) / RECORDS)
        self.reset()
        self.set_state(IDLE, 0)
        return best
