"""Memory shared by the main process and the workers of one job: where each rank is, and when each of its ops ran.

A rank writes only its own part and never waits: reporting an op is a few stores, so that streaming cannot disturb
what it reports. The main process reads whenever it likes. Layout, all int64: per rank PHASE, INDEX, TAG, DONE, COPIED,
then per op READY, START, END, RECV_WAIT, then per copy of activations READY, START, END, BYTES. A row counts only below
its rank's DONE or COPIED, which is stored last.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

IDLE, WAITING, WORKING, FINISHED = range(4)
_WORDS, _ROW, _BYTES = 5, 4, 8
_PHASE, _INDEX, _TAG, _DONE, _COPIED = range(_WORDS)


class Board:
    """The main process's end: made for one job, read at any time."""

    def __init__(self, path: str, counts: Sequence[int], copies: Sequence[int] = ()) -> None:
        self.path = path
        self.offsets = np.concatenate(([0], np.cumsum(counts)))
        self.copy_offsets = np.concatenate(([0], np.cumsum(copies or [0] * len(counts)))) + self.offsets[-1]
        self.ranks = len(counts)
        size = (_WORDS * self.ranks + _ROW * int(self.copy_offsets[-1])) * _BYTES
        with open(path, "wb") as file:
            file.truncate(size)
        self.words = np.memmap(path, np.int64, "r+")
        self.states = self.words[: _WORDS * self.ranks].reshape(self.ranks, _WORDS)
        self.table = self.words[_WORDS * self.ranks :].reshape(-1, _ROW)
        self.times = self.table[: int(self.offsets[-1])]

    def done(self) -> npt.NDArray[np.int64]:
        """(p,) how many ops each rank has finished."""
        return np.array(self.states[:, _DONE])

    def copied(self) -> npt.NDArray[np.int64]:
        """(p,) how many copies each rank has finished."""
        return np.array(self.states[:, _COPIED])

    def state(self, rank: int) -> tuple[int, int, int]:
        """(phase, op index, awaited tag or -1) of a rank."""
        phase, index, tag = self.states[rank, : _TAG + 1].tolist()
        return phase, index, tag

    def rows(self, rank: int, since: int, until: int) -> list[list[int]]:
        """[rank, index, ready, start, end, recv_wait] of the ops since <= index < until."""
        return self._rows(rank, int(self.offsets[rank]), since, until)

    def copy_rows(self, rank: int, since: int, until: int) -> list[list[int]]:
        """[rank, index, ready, start, end, bytes] of the copies since <= index < until."""
        return self._rows(rank, int(self.copy_offsets[rank]), since, until)

    def _rows(self, rank: int, first: int, since: int, until: int) -> list[list[int]]:
        times = self.table[first + since : first + until].tolist()
        return [[rank, since + k, *row] for k, row in enumerate(times)]


class Ledger:
    """One rank's end: writes where it is and when its ops and copies ran, relative to `zero`. Ops and copies may be
    reported from two threads: they share no word."""

    def __init__(self, path: str, rank: int, ranks: int, offset: int, copy_offset: int = 0) -> None:
        handle = os.open(path, os.O_RDWR)
        try:
            self.words = memoryview(mmap.mmap(handle, 0)).cast("q")
        finally:
            os.close(handle)
        self.base = rank * _WORDS
        self.rows = (_WORDS * ranks + _ROW * offset, _WORDS * ranks + _ROW * copy_offset)
        self.next, self.next_copy = self.rows
        self.zero = 0

    def reset(self) -> None:
        """Begin again with nothing done; for a step of which nobody wants the times."""
        self.next, self.next_copy = self.rows
        self.words[self.base + _DONE] = self.words[self.base + _COPIED] = 0

    def enter(self, phase: int, index: int, tag: int = -1) -> None:
        """Say what the rank does now: in which op, waiting for which message."""
        words, base = self.words, self.base
        words[base + _INDEX] = index
        words[base + _TAG] = tag
        words[base + _PHASE] = phase

    def record(self, ready: int, start: int, end: int, recv_wait: int) -> None:
        """Report the next op of this rank as done."""
        words, at, zero = self.words, self.next, self.zero
        words[at] = ready - zero
        words[at + 1] = start - zero
        words[at + 2] = end - zero
        words[at + 3] = recv_wait
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
