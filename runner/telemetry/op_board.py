"""Memory shared by the main process and the workers of one job: where each rank is, and when each of its ops ran.

A rank writes only its own part and never waits: reporting an op is a few stores, so that streaming cannot disturb
what it reports. The main process reads whenever it likes. Layout, all int64: per rank PHASE, INDEX, TAG, DONE, COPIED,
TAKEN, then rows of five: per op READY, START, END, RECV_WAIT, LIVE, then per copy of activations READY, START, END,
BYTES, 0, then per message that a rank receives POSTED, ASKED, TAKEN, 0, 0. A row counts only below its rank's DONE,
COPIED or TAKEN, which is stored last.
"""

from __future__ import annotations

import math
import mmap
import os
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from runner.telemetry.clock import now

ROUNDS, NOTES = 7, 200  # to measure what noting an op costs
IDLE, WAITING, WORKING, FINISHED = range(4)
_WORDS, _ROW, _BYTES = 6, 5, 8
_PHASE, _INDEX, _TAG, _DONE, _COPIED, _TAKEN = range(_WORDS)


@dataclass(frozen=True, slots=True)
class FirstRows:
    """The first rows of a rank: of its ops, its copies and the messages it receives."""

    ops: int
    copies: int = 0
    messages: int = 0


class Board:
    """The main process's end: made for one job, read at any time. How many ops, copies and messages each rank has."""

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
        self.times = self.table[: int(self.offsets[-1])]
        self.copy_times = self.table[int(self.offsets[-1]) : int(self.copy_offsets[-1])]
        self.message_times = self.table[int(self.copy_offsets[-1]) :]

    def places(self, rank: int) -> FirstRows:
        """Where a rank's rows begin."""
        return FirstRows(int(self.offsets[rank]), int(self.copy_offsets[rank]), int(self.message_offsets[rank]))

    def done(self) -> npt.NDArray[np.int64]:
        """(p,) how many ops each rank has finished."""
        return np.array(self.states[:, _DONE])

    def copied(self) -> npt.NDArray[np.int64]:
        """(p,) how many copies each rank has finished."""
        return np.array(self.states[:, _COPIED])

    def received(self) -> npt.NDArray[np.int64]:
        """(p,) how many messages each rank has received."""
        return np.array(self.states[:, _TAKEN])

    def state(self, rank: int) -> tuple[int, int, int]:
        """(phase, op index, awaited tag or -1) of a rank."""
        phase, index, tag = self.states[rank, : _TAG + 1].tolist()
        return phase, index, tag

    def enter(
        self, rank: int, state: Sequence[int], since: Sequence[int], rows: Sequence[npt.NDArray[np.int64]]
    ) -> None:
        """What a rank on another host noted, as its own board there has it: its (phase, index, tag), then ops, copies
        and messages from where each is new."""
        firsts = (self.offsets[rank], self.copy_offsets[rank], self.message_offsets[rank])
        for word, first, at, new in zip((_DONE, _COPIED, _TAKEN), firsts, since, rows, strict=True):
            self.table[first + at : first + at + len(new), : new.shape[1]] = new
            self.states[rank, word] = at + len(new)
        self.states[rank, : _TAG + 1] = state

    def rows(self, rank: int, since: int, until: int) -> npt.NDArray[np.int64]:
        """[ready, start, end, recv_wait, live] of a rank's ops since <= index < until."""
        return self._rows(self.offsets[rank], since, until)

    def copy_rows(self, rank: int, since: int, until: int) -> npt.NDArray[np.int64]:
        """[ready, start, end, bytes] of a rank's copies since <= index < until."""
        return self._rows(self.copy_offsets[rank], since, until)[:, :4]

    def message_rows(self, rank: int, since: int, until: int) -> npt.NDArray[np.int64]:
        """[posted, asked, taken] of the messages that a rank receives, in the order in which it needs them."""
        return self._rows(self.message_offsets[rank], since, until)[:, :3]

    def _rows(self, first: int, since: int, until: int) -> npt.NDArray[np.int64]:
        return self.table[first + since : first + until]


class Ledger:
    """One rank's end: writes where it is and when its ops, copies and messages ran, relative to `zero`. Ops and copies
    may be reported from two threads: they share no word."""

    def __init__(self, path: str, rank: int, ranks: int, places: FirstRows) -> None:
        handle = os.open(path, os.O_RDWR)
        try:
            self.words = memoryview(mmap.mmap(handle, 0)).cast("q")
        finally:
            os.close(handle)
        self.base = rank * _WORDS
        self.places = tuple(_WORDS * ranks + _ROW * first for first in (places.ops, places.copies, places.messages))
        self.next, self.next_copy, self.next_message = self.places
        self.zero = 0

    def reset(self) -> None:
        """Begin again with nothing done; for a step of which nobody wants the times."""
        self.next, self.next_copy, self.next_message = self.places
        for counter in (_DONE, _COPIED, _TAKEN):
            self.words[self.base + counter] = 0

    def enter(self, phase: int, index: int, tag: int = -1) -> None:
        """Say what the rank does now: in which op, waiting for which message."""
        words, base = self.words, self.base
        words[base + _INDEX] = index
        words[base + _TAG] = tag
        words[base + _PHASE] = phase

    def record(self, ready: int, start: int, end: int, recv_wait: int, live: int) -> None:
        """Report the next op of this rank as done, which leaves so many bytes of activations alive."""
        words, at, zero = self.words, self.next, self.zero
        words[at] = ready - zero
        words[at + 1] = start - zero
        words[at + 2] = end - zero
        words[at + 3] = recv_wait
        words[at + 4] = live
        self.next = at + _ROW
        words[self.base + _DONE] += 1

    def record_copy(self, ready: int, start: int, end: int, moved: int) -> None:
        """Report the next copy of this rank, of so many bytes, as done."""
        words, at, zero = self.words, self.next_copy, self.zero
        words[at] = ready - zero
        words[at + 1] = start - zero
        words[at + 2] = end - zero
        words[at + 3] = moved
        self.next_copy = at + _ROW
        words[self.base + _COPIED] += 1

    def record_message(self, posted: int, asked: int, taken: int) -> None:
        """Report the next message that this rank needs: when its sender started it, when this rank asked for it, and
        when it had it; where it had to wait, that is when the message came."""
        words, at, zero = self.words, self.next_message, self.zero
        words[at] = posted - zero
        words[at + 1] = asked - zero
        words[at + 2] = taken - zero
        self.next_message = at + _ROW
        words[self.base + _TAKEN] += 1

    def cost(self) -> float:
        """What noting one op costs, in ns: all that is written and read of the clock for an op that awaits a message,
        the fastest of several rounds. Needs one op's row, and leaves nothing noted."""
        best, row = math.inf, self.places[0]
        for _ in range(ROUNDS):
            begin = now()
            for _ in range(NOTES):
                self.next = self.next_message = row
                self.enter(WAITING, 0, 0)
                self.record_message(now(), now(), now())
                self.enter(WORKING, 0)
                self.record(now(), now(), begin, 0, 0)
            best = min(best, (now() - begin) / NOTES)
        self.reset()
        self.enter(IDLE, 0)
        return best
