"""Find where the rows of an order repeat a block of ops: the steady phases of a schedule.

Read from the codes alone, so that imported and searched orders are treated like those of a family. Only long phases
are found, those of at least an eighth of a row: shorter ones are not worth being skipped.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from backend.schedule import jit

Codes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]

LEAST_OPS = 2**15  # of an order: fewer are read in full in less than a millisecond
MOST_PHASES = 8  # of a row
LEAST_WINDOW = 8  # ops: a row of fewer than eight times as many is not searched
STRIDE = 256  # ops compared at a time


@dataclass(frozen=True, eq=False)
class Repeats:
    """The phases of all ranks: ``begin``, ``end`` (p, phases), positions in each rank's row, and ``period`` (phases,),
    the ops of one block. A phase may end within a block.
    """

    begin: Ints
    end: Ints
    period: Ints

    @property
    def blocks(self) -> Ints:
        """Return (phases,) the whole blocks that every rank has in a phase."""
        fewest: Ints = ((self.end - self.begin) // self.period).min(axis=0)
        return fewest


def repeats(codes: Codes, offsets: Ints) -> Repeats | None:
    """Find the phases of an order's rows, laid out as in ``Order``; None unless all ranks have as many, at least one,
    with the same periods, or if the order is small.
    """
    if len(codes) < LEAST_OPS:
        return None
    jit.compile_for(len(codes))
    found, period = np.empty((len(offsets) - 1, MOST_PHASES, 2), np.int64), np.zeros(MOST_PHASES, np.int64)
    count = _phases(codes, offsets, found, period)
    if count == 0:
        return None
    begin, end = np.ascontiguousarray(np.moveaxis(found[:, :count], 2, 0))
    return Repeats(begin, end, period[:count])


def without_blocks(codes: Codes, offsets: Ints, phases: Repeats, blocks: Ints) -> Codes:
    """Return the rows' codes with (phases,) that many blocks of each phase left out."""
    left_out, parts = (blocks * phases.period).tolist(), []
    for begin, stop, ends in zip(offsets[:-1].tolist(), offsets[1:].tolist(), phases.end.tolist(), strict=True):
        at = begin
        for end, ops in zip(ends, left_out, strict=True):
            parts.append(codes[at : begin + end - ops])
            at = begin + end
        parts.append(codes[at:stop])
    return np.concatenate(parts)


def no_phases(p: int) -> Repeats:
    """Return that no row repeats anything, for readers that need no other case then."""
    return Repeats(np.zeros((p, 0), np.int64), np.zeros((p, 0), np.int64), np.zeros(0, np.int64))


@jit.inner("int64(uint8[::1], int64, int64, int32[::1])")
def _period(codes: Any, begin: Any, end: Any, border: Any) -> int:
    """Return the least period of ``codes[begin:end]``, by the prefix function (Knuth, Morris, Pratt); ``border`` is
    scratch memory of at least that length.
    """
    border[0], k = 0, 0
    for x in range(begin + 1, end):
        while k > 0 and codes[x] != codes[begin + k]:
            k = border[k - 1]
        if codes[x] == codes[begin + k]:
            k += 1
        border[x - begin] = k
    return int(end - begin - k)


@jit.inner("int64(uint8[::1], int64, int64, int64)")
def _end_of_period(codes: Any, begin: Any, stop: Any, period: Any) -> int:
    """Return the end of the longest stretch from ``begin`` to at most ``stop`` that has the period."""
    x = begin
    while x + STRIDE + period <= stop:  # the inner loop has no way out, so that it is compiled to vector instructions
        here, there = codes[x : x + STRIDE], codes[x + period : x + period + STRIDE]
        differs = False
        for y in range(STRIDE):
            differs |= here[y] != there[y]
        if differs:
            break
        x += STRIDE
    while x + period < stop and codes[x] == codes[x + period]:
        x += 1
    return int(min(x + period, stop))


@jit.kernel("int64(uint8[::1], int64[::1], int64[:, :, ::1], int64[::1])")
def _phases(codes: Any, offsets: Any, found: Any, period: Any) -> int:
    """Write each rank's begins and ends to ``found`` (p, MOST_PHASES, 2), and to ``period`` (MOST_PHASES,) the periods
    of the first rank, which all others must have. Returns the number of phases, 0 if the ranks differ.
    """
    border = np.empty((offsets[1] - offsets[0]) // MOST_PHASES + 1, np.int32)
    common = 0
    for r in range(offsets.shape[0] - 1):
        low, stop = offsets[r], offsets[r + 1]
        window = (stop - low) // MOST_PHASES
        if window < LEAST_WINDOW:
            return 0
        x, last, count = low, low, 0
        while x + window <= stop and count < MOST_PHASES:
            if r == 0:
                period[count] = _period(codes, x, x + window, border)
            each = period[count]
            if each == 0 or 2 * each > window or _end_of_period(codes, x, x + window, each) < x + window:
                x += window // 2
                continue
            begin, end = x, _end_of_period(codes, x, stop, each)
            while begin > last and codes[begin - 1] == codes[begin - 1 + each]:
                begin -= 1
            found[r, count, 0], found[r, count, 1] = begin - low, end - low
            x, last, count = end, end, count + 1
        if count == 0 or (r > 0 and count != common):
            return 0
        common = count
    return common
