"""Time an order that has a steady state on a shorter one, with most repetitions of its blocks left out.

Every op starts as early as its rank and its inputs allow. What follows a moment therefore depends only on the ops
still to run and on the state: where each rank is, when it is free, and which results wait for another rank since
when. If the state at the end of a block is that at its begin, T later, and the same block comes next, then that runs
as the one before, T later. One repetition of the state is enough for all the blocks that follow.

They get their times by one sum with a multiple of T where the full loop adds op by op. Both are equal bit by bit only
where no sum is rounded, so this is used for such costs alone: see ``sums_are_exact``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from backend.schedule import jit
from backend.schedule.order.dependencies import Rules, rules_of
from backend.schedule.order.order import Order, offsets_of
from backend.schedule.order.repeats import Repeats, without_blocks
from backend.schedule.simulation.timeline import Floats, Ints, PeriodicTimeline, SteadyState, Timeline

KEPT = 3  # times the ranks, micro-batches that are kept at first: the pipeline fills, and a block repeats
MORE = 8  # times what is kept, micro-batches of an order that is tried again with more: a failure costs an eighth

Advance = Callable[[Order], tuple[Timeline, Ints, Floats]]


def sums_are_exact(times: Floats, ops: int) -> bool:
    """Return whether float64 adds the times of up to ``ops`` ops and as many hops without rounding: all are multiples
    of one power of two, of which the sum has fewer than 2^53. So are whole numbers, halves and quarters; 0.1 is not.
    """
    most = 2.0 * float(times.max(initial=0.0)) * ops  # a hop before every op
    exponent = 52 - math.frexp(most)[1]  # most is less than 2^52 units of 2^-exponent
    units = np.rint(np.ldexp(times, exponent))
    return bool(np.array_equal(np.ldexp(units, -exponent), times))


@dataclass(frozen=True, eq=False)
class Phases:
    """The phases of an order that can be shortened together.

    ``micros`` (phases,): the micro-batches in one block, the same of every slot with ops in it; ``taker`` (rows,): the
    row that another rank makes from each row (-1: no other rank awaits it), rows as in dependencies.py.
    """

    order: Order
    repeats: Repeats
    micros: Ints
    taker: Ints
    rules: Rules

    def ops(self, micros: int) -> Ints:
        """Return (phases,) how many ops of a rank make up that many micro-batches."""
        count: Ints = micros // self.micros * self.repeats.period
        return count


def timed(order: Order, times: Floats, advance: Advance) -> Timeline | None:
    """Return the timeline of an order from that of a shorter one, which keeps four times as much until a state repeats.
    ``times`` are those of all ops and of a hop, ``advance`` is the full loop (simulate.py).

    Returns None where sums are rounded or no state repeats early enough: the order must then be timed in full.
    """
    if order.repeats is None or not sums_are_exact(times, len(order)):
        return None
    phases = phases_of(order)
    if phases is None:
        return None
    multiple = math.lcm(*phases.micros.tolist())
    most = int((phases.repeats.blocks * phases.micros).min())
    kept = KEPT * max(order.p, multiple)
    while 2 * (fewer := (most - kept) // multiple * multiple) >= order.n:
        short, at, done = advance(shortened(phases, fewer))
        if (at < short.order.offsets[1:]).any():
            return None  # a deadlock
        found = [_cycle(short, done, phases, phase, fewer) for phase in range(len(phases.micros))]
        cycles = [each for each in found if each is not None]
        if len(cycles) < len(found):
            kept *= 4
            if MORE * kept > order.n:
                return None
            continue
        whole = math.lcm(*(each.blocks * micros for each, micros in zip(cycles, phases.micros.tolist(), strict=True)))
        if fewer % whole:
            multiple = math.lcm(multiple, whole)
            continue
        left_out = (fewer // phases.micros).tolist()
        steady = [each.repeated(blocks) for each, blocks in zip(cycles, left_out, strict=True)]
        return PeriodicTimeline(order, short, tuple(steady))
    return None


def phases_of(order: Order) -> Phases | None:
    """Return the phases of an order in which every slot does its forwards in one phase, and its gradients in one;
    None for any other order, and for one with lanes beside compute or stored micro-batches.
    """
    found = order.repeats
    lanes = order.copies is not None or order.messages is not None or order.barriers
    if found is None or order.micro is not None or lanes:
        return None
    rules = rules_of(order)
    made, taken = np.zeros((2, rules.rows, len(found.period)), np.int64)
    taker = np.full(rules.rows, -1)
    _count(order.codes, order.offsets, found.begin, found.period, rules.give, rules.need, made, taken, taker)
    micros = made.max(axis=0)
    whole = (made == 0) | (made == micros)
    awaited = (taker < 0)[:, None] | (made == taken)
    phases_of_row = (made > 0).sum(axis=1)
    once = phases_of_row[::2] == 1 if order.forward_only else phases_of_row == 1  # even rows: forwards
    if not (micros.all() and whole.all() and awaited.all() and once.all()):
        return None
    return Phases(order, found, micros, taker, rules)


@jit.kernel(
    "void(uint8[::1], int64[::1], int64[:, ::1], int64[::1], int32[:, :, ::1], int32[:, :, ::1], int64[:, ::1],"
    " int64[:, ::1], int64[::1])"
)
def _count(
    codes: Any, offsets: Any, begin: Any, period: Any, give: Any, need: Any, made: Any, taken: Any, taker: Any
) -> None:
    """Count in one block of every phase how often each row is made and, by another rank, taken: (rows, phases). Write
    ``taker`` as in ``Phases``.
    """
    p = offsets.shape[0] - 1
    owned = made.shape[0] // p
    for r in range(p):
        for phase in range(period.shape[0]):
            first = offsets[r] + begin[r, phase]
            for x in range(first, first + period[phase]):
                for half in range(2):
                    row, source = give[r, codes[x], half], need[r, codes[x], half]
                    if row >= 0:
                        made[row, phase] += 1
                    if source >= 0 and source // owned != r:
                        taken[source, phase] += 1
                        taker[source] = row


def shortened(phases: Phases, fewer: int) -> Order:
    """Return the order with ``fewer`` micro-batches less in every phase; ``fewer`` is a multiple of all ``micros``."""
    order, blocks = phases.order, fewer // phases.micros
    codes = without_blocks(order.codes, order.offsets, phases.repeats, blocks)
    lengths = np.diff(order.offsets) - phases.ops(fewer).sum()
    return Order(order.placement, order.m - order.placement.streams * fewer, codes, offsets_of(lengths.tolist()))


@dataclass(frozen=True, eq=False)
class _Cycle:
    """A state that repeats in a shorter order: after each rank's ops ``[begin[r]:end[r]]``, which are ``blocks`` blocks
    of a phase, it is the state before them, ``period`` later.
    """

    begin: Ints
    end: Ints
    blocks: int
    period: float

    def repeated(self, blocks: int) -> SteadyState:
        """Return the steady state with that many blocks left out."""
        return SteadyState(self.begin, self.end, blocks // self.blocks, self.period)


def _cycle(timeline: Timeline, done: Floats, phases: Phases, phase: int, fewer: int) -> _Cycle | None:
    """Find a state that repeats in one phase of a shorter order: the last one in which every rank is in the phase, and
    the nearest before that equals it.
    """
    order, rules, found = timeline.order, phases.rules, phases.repeats
    left_out, period = np.cumsum(phases.ops(fewer)), int(found.period[phase])
    begin = found.begin[:, phase] - (left_out[phase - 1] if phase else 0)
    end = found.end[:, phase] - left_out[phase]
    first, last = order.offsets[:-1], order.offsets[1:] - 1
    leaves = np.where(first + end <= last, timeline.start[np.minimum(first + end, last)], timeline.end[last])
    at = np.empty(order.p, np.int64)
    _positions(timeline.start, order.offsets, float(leaves.min()), at)
    blocks = int(((at - begin) // period).min())
    if blocks < 2:
        return None
    free = timeline.end[(first + at - 1)[:, None] - period * np.arange(blocks)]  # (p, blocks), the last one first
    later = free[:, :1] - free[:, 1:]
    for back in (np.flatnonzero((later == later[0]).all(axis=0)) + 1).tolist():
        before, shift = at - back * period, float(later[0, back - 1])
        made, more = np.zeros((2, rules.rows), np.int64)
        if _same_state(order.codes, order.offsets, done, rules.give, phases.taker, before, at, shift, made, more):
            return _Cycle(before, at, back, shift)
    return None


@jit.kernel("void(float64[::1], int64[::1], float64, int64[::1])")
def _positions(start: Any, offsets: Any, moment: Any, at: Any) -> None:
    """Write to ``at`` (p,) the position of each rank's first op that starts at a moment or later, the length of its row
    if none does.
    """
    for r in range(offsets.shape[0] - 1):
        low, high = offsets[r], offsets[r + 1]
        while low < high:
            middle = (low + high) // 2
            if start[middle] < moment:
                low = middle + 1
            else:
                high = middle
        at[r] = low - offsets[r]


@jit.kernel(
    "boolean(uint8[::1], int64[::1], float64[:, ::1], int32[:, :, ::1], int64[::1], int64[::1], int64[::1], float64,"
    " int64[::1], int64[::1])"
)
def _same_state(
    codes: Any,
    offsets: Any,
    done: Any,
    give: Any,
    taker: Any,
    before: Any,
    at: Any,
    shift: Any,
    made: Any,
    more: Any,
) -> bool:
    """Return whether the state when the ranks are ``at`` (p,) is that when they were at ``before``, ``shift`` later,
    and no op before either needs a result from after it.

    That is: of each row, results that another rank has not taken yet are as many and ``shift`` later. When the ranks
    are free is compared by the caller. ``made``, ``more`` (rows,) are zeros, filled here: how often each row is made
    until ``before``, and from then on until ``at``.
    """
    for r in range(offsets.shape[0] - 1):
        first, last = offsets[r], offsets[r] + at[r]
        middle = first + before[r]
        for x in range(first, last):
            for half in range(2):
                row = give[r, codes[x], half]
                if row >= 0:
                    if x < middle:
                        made[row] += 1
                    else:
                        more[row] += 1
    for row in range(made.shape[0]):
        if taker[row] >= 0:
            taken = made[taker[row]]
            if taken > made[row] or more[taker[row]] != more[row]:
                return False
            for k in range(taken, made[row]):
                if done[row, k] + shift != done[row, k + more[row]]:
                    return False
    return True
