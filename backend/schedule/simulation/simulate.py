"""Time an order: each op starts as early as its rank's order and its inputs allow.

Times are in the costs' unit.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, NamedTuple, NoReturn

import numpy as np
import numpy.typing as npt

from backend.schedule import jit
from backend.schedule.errors import OrderError, message
from backend.schedule.order.copy_lanes import R
from backend.schedule.order.dependencies import Rules, rules_of
from backend.schedule.order.order import Order
from backend.schedule.simulation import periodic
from backend.schedule.simulation.costs import Costs, SizedCosts, copy_times, durations, own_times
from backend.schedule.simulation.timeline import NOTHING, Floats, Timeline

__all__ = ["NOTHING", "Floats", "Timeline", "advance", "raise_deadlock", "replay", "simulate"]

_NO_MICRO = np.empty((0, 2), np.int32)
_NO_COPIES = np.empty((0, 2), np.int64)
_NO_COSTS = np.empty((0, 0))


class LoopInput(NamedTuple):
    """What the loop reads: an order of p ranks, N ops and C copies, its rules and its costs."""

    codes: Annotated[Any, "uint8[::1]"]  # (N,)
    offsets: Annotated[Any, "int64[::1]"]  # (p + 1,)
    micro: Annotated[Any, "int32[:, ::1]"]  # (N, 2); (0, 2) where each result's micro-batches are in turn
    need: Annotated[Any, "int32[:, :, ::1]"]  # as in Rules
    give: Annotated[Any, "int32[:, :, ::1]"]
    lag: Annotated[Any, "float64[:, :, ::1]"]  # (p, codes, 2), until an awaited result arrives
    cost: Annotated[Any, "float64[:, ::1]"]  # (p, codes)
    own: Annotated[Any, "float64[::1]"]  # (N,) each op's own cost; (0,): that of its rank and code
    shards: Annotated[int, "int64"]  # as in Rules
    copies: Annotated[Any, "int64[:, ::1]"]  # (C, 2), when each is issued and the row of its result, -1 for none
    first_copy: Annotated[Any, "int64[::1]"]  # (p + 1,)
    copy_cost: Annotated[Any, "float64[::1]"]  # (C,)


class LoopState(NamedTuple):
    """How far each rank came and when each op ran; the loop fills it."""

    done: Annotated[Any, "float64[:, ::1]"]  # (rows, n), when each result was made, -1 before
    count: Annotated[Any, "int64[::1]"]  # (rows,), results made so far: the next micro-batch
    at: Annotated[Any, "int64[::1]"]  # (p,), the next op
    clock: Annotated[Any, "float64[::1]"]  # (p,), the end of the last op
    start: Annotated[Any, "float64[::1]"]  # (N,)
    end: Annotated[Any, "float64[::1]"]
    passed: Annotated[Any, "int64[:, ::1]"]  # (2, n), ranks that have come to each barrier
    latest: Annotated[Any, "float64[:, ::1]"]  # (2, n), and when the last of them came
    next_copy: Annotated[Any, "int64[::1]"]  # (p,)
    lane: Annotated[Any, "float64[::1]"]  # (p,), the end of the last copy
    copied: Annotated[Any, "float64[:, ::1]"]  # (C, 2), start and end of each copy


@jit.inner(LoopInput, LoopState, "int64", "int64")
def _run_copies(given: Any, state: Any, r: int, x: int) -> bool:
    """Run the copies of a rank that are issued before op x; return whether there were any."""
    _, offsets, _, _, _, _, _, _, _, copies, first_copy, copy_cost = given
    done, count, _, _, _, end, _, _, next_copy, lane, copied = state
    y = next_copy[r]
    while y < first_copy[r + 1] and copies[y, 0] <= x - offsets[r]:
        issued, row = copies[y, 0], copies[y, 1]
        copied[y, 0] = max(lane[r], end[offsets[r] + issued - 1] if issued > 0 else 0.0)
        lane[r] = copied[y, 0] + copy_cost[y]
        copied[y, 1] = lane[r]
        if row >= 0:
            done[row, count[row]] = lane[r]
            count[row] += 1
        y += 1
    found = y > next_copy[r]
    next_copy[r] = y
    return bool(found)


@jit.kernel(LoopInput, LoopState)
def _run(given: Any, state: Any) -> None:
    """Advance every rank as far as its inputs allow, sweeping down and up the ranks until nothing moves.

    Ranks that do not reach their end deadlock. ``other`` is the second half of a pair, or the reload that a backward
    needs.
    """
    codes, offsets, micro, need, give, lag, cost, own, shards, copies, _, _ = given
    done, count, at, clock, start, end, passed, latest, _, _, _ = state
    stored, priced, copying = micro.shape[0] > 0, own.shape[0] > 0, copies.shape[0] > 0
    p, barriers, moved, sweep = at.shape[0], done.shape[0] - 2, True, 0
    while moved:
        moved = False
        for turn in range(p):
            r = turn if sweep == 0 else p - 1 - turn
            x, last, now, again = at[r], offsets[r + 1], clock[r], True
            while again:
                while x < last:
                    code = codes[x]
                    row, other_row = give[r, code, 0], give[r, code, 1]
                    source, other_source = need[r, code, 0], need[r, code, 1]
                    begin, k, other_k = now, 0, 0
                    if row >= 0:
                        k = micro[x, 0] if stored else count[row]
                        if source >= 0:
                            made = done[source, k]
                            if made < 0.0:
                                break
                            begin = max(begin, made + lag[r, code, 0])
                    if other_source >= 0:
                        other_k = k if other_row < 0 else micro[x, 1] if stored else count[other_row]
                        made = done[other_source, other_k]
                        if made < 0.0:
                            break
                        begin = max(begin, made + lag[r, code, 1])
                    now = begin + (own[x] if priced else cost[r, code])
                    start[x], end[x] = begin, now
                    if row >= 0:
                        done[row, k] = now
                        count[row] += 1
                    if other_row >= 0:
                        done[other_row, other_k] = now
                        count[other_row] += 1
                    if row >= shards:
                        barrier = (row - shards) % 2  # the last rank to come opens it
                        passed[barrier, k], latest[barrier, k] = passed[barrier, k] + 1, max(latest[barrier, k], now)
                        if passed[barrier, k] == p:
                            done[barriers + barrier, k] = latest[barrier, k]
                    x += 1
                again = copying and _run_copies(given, state, r, x)
            if x > at[r]:
                moved = True
                at[r] = x
                clock[r] = now
        sweep = 1 - sweep


@jit.kernel(
    "void(uint8[::1], int64[::1], int32[:, ::1], int32[:, ::1], float64[:, ::1], float64[:, ::1], float64[:, ::1],"
    " int64[::1], float64[::1], float64[::1])"
)
def _run_single(
    codes: Any, offsets: Any, need: Any, give: Any, lag: Any, cost: Any, done: Any, at: Any, start: Any, end: Any
) -> None:
    """Run as ``_run`` an order of ops with one input and one result each: without pairs, barriers, copies and stored
    micro-batches. That is most orders, and takes two thirds of the time. ``need``, ``give``, ``lag`` are (p, codes).
    """
    p = offsets.shape[0] - 1
    count, clock = np.zeros(done.shape[0], np.int64), np.zeros(p)
    moved, sweep = True, 0
    while moved:
        moved = False
        for turn in range(p):
            r = turn if sweep == 0 else p - 1 - turn
            x, last, now = at[r], offsets[r + 1], clock[r]
            while x < last:
                code = codes[x]
                g, n, begin = give[r, code], need[r, code], now
                if g >= 0:
                    k = count[g]
                    if n >= 0:
                        made = done[n, k]
                        if made < 0.0:
                            break
                        begin = max(begin, made + lag[r, code])
                    now = begin + cost[r, code]
                    done[g, k], count[g] = now, k + 1
                else:
                    now = begin + cost[r, code]
                start[x], end[x] = begin, now
                x += 1
            if x > at[r]:
                moved = True
                at[r] = x
                clock[r] = now
        sweep = 1 - sweep


def advance(order: Order, costs: Costs, v: int) -> tuple[Timeline, npt.NDArray[np.int64], Floats]:
    """Run an order until it ends or deadlocks, and return its times, (p,) the flat index each rank reached, and
    (rows, n) when each result was made (-1: never). ``simulate`` is quicker for a long order that repeats.
    """
    copying = NOTHING if order.copies is None else copy_times(order, costs, v)
    if isinstance(costs, SizedCosts):
        timeline, at, done = _advance(order, _NO_COSTS, own_times(order, costs, v), costs.comm, copying)
        return replace(timeline, sizes=costs.sizes), at, done
    return _advance(order, durations(order.placement, costs, v), NOTHING, costs.comm, copying)


def _advance(
    order: Order, cost: Floats, own: Floats, comm: float, copying: Floats
) -> tuple[Timeline, npt.NDArray[np.int64], Floats]:
    """Run an order as ``advance``, with the times of ops, a hop and the copies; ``cost`` and ``own`` as in ``_run``."""
    rule, p, n = rules_of(order), order.p, order.n
    done, at = np.full((rule.rows, n), -1.0), order.offsets[:-1].copy()
    start, end = np.empty(len(order)), np.empty(len(order))
    lag = rule.hops * np.float64(comm)
    jit.compile_for(len(order))
    if order.micro is None and order.copies is None and not own.size and order.codes.max(initial=0) < 4 * order.chunks:
        need, give = (np.ascontiguousarray(each[:, :, 0]) for each in (rule.need, rule.give))
        _run_single(order.codes, order.offsets, need, give, lag[:, :, 0].copy(), cost, done, at, start, end)
        return Timeline(order, start, end), at, done
    micro = _NO_MICRO if order.micro is None else order.micro
    copies, first_copy = _copy_jobs(order, rule)
    given = LoopInput(order.codes, order.offsets, micro, rule.need, rule.give, lag, cost, own, rule.shards, copies,
                      first_copy, copying)  # fmt: skip
    copied, count, passed = np.empty((len(copies), 2)), np.zeros(rule.rows, np.int64), np.zeros((2, n), np.int64)
    state = LoopState(done, count, at, np.zeros(p), start, end, passed, np.zeros((2, n)), first_copy.copy(),
                      np.zeros(p), copied)  # fmt: skip
    _run(tuple(given), tuple(state))
    return Timeline(order, start, end, copied[:, 0], copied[:, 1]), at, done


def _copy_jobs(order: Order, rule: Rules) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return (C, 2) when each copy is issued and the row of its result (-1: an offload), and the ranks' offsets."""
    copies, chunks = order.copies, order.chunks
    if copies is None:
        return _NO_COPIES, np.zeros(order.p + 1, np.int64)
    slot = np.repeat(np.arange(order.p), np.diff(copies.offsets)) * chunks + copies.codes % chunks
    row = np.where(copies.codes // chunks == R, rule.reloads + slot, -1)
    return np.stack((copies.issued, row), 1).astype(np.int64), copies.offsets


def simulate(order: Order, costs: Costs, v: int = 1) -> Timeline:
    """Time a legal order. ``v``, the family's chunks per device, divides the costs given per device.

    A large order is timed on a shorter one where its state repeats (periodic.py), with the same times bit by bit.
    Raises OrderError for an order that deadlocks; ``check.check`` explains the deadlock.
    """
    if order.repeats is not None and not isinstance(costs, SizedCosts):
        times = np.append(durations(order.placement, costs, v), costs.comm)
        shorter = periodic.timed(order, times, lambda fewer: advance(fewer, costs, v))
        if shorter is not None:
            return shorter
    timeline, at, _ = advance(order, costs, v)
    if (at < order.offsets[1:]).any():
        raise_deadlock(order, at)
    return timeline


def raise_deadlock(order: Order, at: npt.NDArray[np.int64]) -> NoReturn:
    """Raise OrderError for an order whose ranks came no further than ``at`` (p,), flat indices."""
    rank = int(np.flatnonzero(at < order.offsets[1:])[0])
    op = order.row(rank)[int(at[rank] - order.offsets[rank])].text()
    text = message("schedule.rank_never_goes_on", "rank {rank} waits at {op}: the order deadlocks", rank=rank, op=op)
    raise OrderError(text, rank=rank, op=op)


def replay(order: Order, spent: Floats, comm: float, copying: Floats = NOTHING) -> Timeline:
    """Time a legal order with each op's own time, ``spent`` (N,), and each copy's, ``copying`` (C,)."""
    own, copied = (np.ascontiguousarray(each, np.float64) for each in (spent, copying))
    return _advance(order, _NO_COSTS, own, comm, copied)[0]
