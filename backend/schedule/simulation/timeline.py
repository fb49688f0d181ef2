"""A timeline: start and end of every op of an order, in full or with the repetitions of its steady state left out."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from backend.schedule import jit
from backend.schedule.order.order import Order
from backend.schedule.simulation.recomputation import Recomputation

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
NOTHING: Floats = np.empty(0)


@dataclass(frozen=True, eq=False)
class Timeline:
    """Start and end of every op of an order, planned or measured: ``start``, ``end`` (N,), laid out as
    ``order.codes``; ``copy_start``, ``copy_end`` (C,) as ``order.copies``, ``sent``, ``arrived`` (J,) as
    ``order.messages``: when each end of a message was on its stream; ``sizes`` of the micro-batches where they differ
    (options/sizes.py), and what runs again where only some micro-batches recompute.
    """

    order: Order
    start: Floats
    end: Floats
    copy_start: Floats = field(default_factory=lambda: NOTHING)
    copy_end: Floats = field(default_factory=lambda: NOTHING)
    sent: Floats = field(default_factory=lambda: NOTHING)
    arrived: Floats = field(default_factory=lambda: NOTHING)
    sizes: tuple[float, ...] | None = field(default=None, kw_only=True)
    recomputation: Recomputation | None = field(default=None, kw_only=True)

    def rank(self, rank: int) -> tuple[Floats, Floats]:
        """Return start and end of one rank's ops."""
        span = slice(self.order.offsets[rank], self.order.offsets[rank + 1])
        return self.start[span], self.end[span]

    def windows(self) -> tuple[Floats, Floats]:
        """Return (p,) the start of each rank's first op, and (p,) the end of its last. Every rank needs an op."""
        offsets = self.order.offsets
        return self.start[offsets[:-1]], self.end[offsets[1:] - 1]

    def busy(self) -> Floats:
        """Return (p,) the time each rank spends in ops."""
        spent: Floats = np.add.reduceat(self.end - self.start, self.order.offsets[:-1])
        return spent


@dataclass(frozen=True, eq=False)
class SteadyState:
    """Blocks that a shorter order leaves out: each rank's ops ``[begin[r]:end[r]]``, positions in its row, run
    ``more`` times again right after, each time ``period`` later than before.
    """

    begin: Ints
    end: Ints
    more: int
    period: float


class PeriodicTimeline(Timeline):
    """The timeline of an order with steady states, from the timeline ``short`` of the order without their
    repetitions. ``start`` and ``end`` are computed at their first use: of ten million ops they take 160 MB.
    """

    short: Timeline
    steady: tuple[SteadyState, ...]

    def __init__(self, order: Order, short: Timeline, steady: tuple[SteadyState, ...]) -> None:
        for name, value in (("order", order), ("short", short), ("steady", steady)):
            object.__setattr__(self, name, value)
        for name in ("copy_start", "copy_end", "sent", "arrived"):
            object.__setattr__(self, name, NOTHING)

    @cached_property
    def start(self) -> Floats:
        return self._whole(self.short.start)

    @cached_property
    def end(self) -> Floats:
        return self._whole(self.short.end)

    def _whole(self, times: Floats) -> Floats:
        """Return (N,) the times of all ops, from those of the shorter order."""
        out = np.empty(len(self.order))
        for rank, at in enumerate(self.order.offsets[:-1].tolist()):
            row, done, late = times[slice(*self.short.order.offsets[rank : rank + 2])], 0, 0.0
            for each in self.steady:
                begin, end = int(each.begin[rank]), int(each.end[rank])
                np.add(row[done:end], late, out=out[at : at + end - done])
                at, done = at + end - done, end
                later = late + each.period * np.arange(1, each.more + 1)
                blocks = out[at : at + each.more * (end - begin)].reshape(each.more, end - begin)
                np.add(row[begin:end], later[:, None], out=blocks)
                at, late = at + blocks.size, late + each.more * each.period
            np.add(row[done:], late, out=out[at : at + len(row) - done])
        return out

    def windows(self) -> tuple[Floats, Floats]:
        first, last = self.short.windows()
        return first, last + sum(each.more * each.period for each in self.steady)

    def busy(self) -> Floats:
        begin, end = (np.stack([getattr(each, name) for each in self.steady]) for name in ("begin", "end"))
        more = np.array([each.more for each in self.steady])
        spent = np.empty(self.order.p)
        jit.compile_for(len(self.short.order))
        _busy(self.short.start, self.short.end, self.short.order.offsets, begin, end, more, spent)
        return spent


@jit.kernel("void(float64[::1], float64[::1], int64[::1], int64[:, ::1], int64[:, ::1], int64[::1], float64[::1])")
def _busy(start: Any, end: Any, offsets: Any, first: Any, last: Any, more: Any, spent: Any) -> None:
    """Add up each rank's time in ops in ``spent`` (p,), those in a steady state ``more`` times again: ``first``,
    ``last`` (states, p) as in ``SteadyState``. No sum is rounded, so any sequence of additions gives the same.
    """
    for r in range(spent.shape[0]):
        total, x = 0.0, offsets[r]
        for state in range(more.shape[0]):
            while x < offsets[r] + first[state, r]:
                total += end[x] - start[x]
                x += 1
            block = 0.0
            while x < offsets[r] + last[state, r]:
                block += end[x] - start[x]
                x += 1
            total += (1 + more[state]) * block
        while x < offsets[r + 1]:
            total += end[x] - start[x]
            x += 1
        spent[r] = total
