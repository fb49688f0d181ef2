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
from backend.schedule.order.dependencies import rules_of
from backend.schedule.order.order import Order
from backend.schedule.simulation import periodic
from backend.schedule.simulation.costs import (
    Costs,
    SizedCosts,
    copy_times,
    durations,
    lags,
    own_lags,
    own_times,
    wire_times,
)
from backend.schedule.simulation.lanes import jobs_of, through_messages
from backend.schedule.simulation.recomputation import recomputation
from backend.schedule.simulation.timeline import NOTHING, Floats, Timeline

__all__ = ["NOTHING", "Floats", "Timeline", "advance", "raise_deadlock", "replay", "simulate"]

_NO_MICRO = np.empty((0, 2), np.int32)
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
    late: Annotated[Any, "float64[:, ::1]"]  # (N, 2) each op's own lag; (0, 2): the same
    jobs: Annotated[Any, "int64[:, ::1]"]  # as in Jobs (lanes.py), as those below
    job_cost: Annotated[Any, "float64[::1]"]
    size: Annotated[Any, "int64[::1]"]
    first_job: Annotated[Any, "int64[::1]"]
    first_lane: Annotated[Any, "int64[::1]"]


class LoopState(NamedTuple):
    """How far each rank came and when each op ran; the loop fills it."""

    done: Annotated[Any, "float64[:, ::1]"]  # (rows, n), when each result was made, -1 before
    count: Annotated[Any, "int64[::1]"]  # (rows,), results made so far: the next micro-batch
    at: Annotated[Any, "int64[::1]"]  # (p,), the next op
    clock: Annotated[Any, "float64[::1]"]  # (p,), the end of the last op
    start: Annotated[Any, "float64[::1]"]  # (N,)
    end: Annotated[Any, "float64[::1]"]
    next_job: Annotated[Any, "int64[::1]"]  # (L,) of each lane,
    come: Annotated[Any, "int64[::1]"]  # (L,) the jobs of it that have come to their meeting,
    free: Annotated[Any, "float64[::1]"]  # (L,) and the end of the last that ran
    missing: Annotated[Any, "int64[::1]"]  # (M,) jobs that have not come to the meeting,
    latest: Annotated[Any, "float64[::1]"]  # (M,) and when the last one came
    ran: Annotated[Any, "float64[:, ::1]"]  # (J, 2), start and end of each job, -1 before


@jit.inner(LoopInput, LoopState, "int64", "int64")
def _run_jobs(given: Any, state: Any, r: int, x: int) -> bool:
    """Bring the jobs of a rank that are issued before op x to their meetings, and run those that all have come to;
    return whether there were any.
    """
    _, offsets, _, _, _, _, _, _, _, jobs, job_cost, _, first_job, first_lane = given
    done, _, _, _, _, end, next_job, come, free, missing, latest, ran = state
    found = False
    for lane in range(first_lane[r], first_lane[r + 1]):
        y = next_job[lane]
        while y < first_job[lane + 1] and jobs[y, 0] <= x - offsets[r]:
            issued, row, meeting = jobs[y, 0], jobs[y, 1], jobs[y, 3]
            if come[lane] <= y:
                come[lane], found = y + 1, True
                ready = max(free[lane], end[offsets[r] + issued - 1] if issued > 0 else 0.0)
                latest[meeting], missing[meeting] = max(latest[meeting], ready), missing[meeting] - 1
            if missing[meeting] > 0:
                break
            ran[y, 0] = latest[meeting]
            free[lane] = latest[meeting] + job_cost[y]
            ran[y, 1] = free[lane]
            if row >= 0:
                done[row, jobs[y, 2]] = free[lane]
            y, found = y + 1, True
        next_job[lane] = y
    return found


@jit.kernel(LoopInput, LoopState)
def _run(given: Any, state: Any) -> None:
    """Advance every rank as far as its inputs allow, sweeping down and up the ranks until nothing moves.

    Ranks that do not reach their end deadlock. ``other`` is the second half of a pair, or the reload that a backward
    needs.
    """
    codes, offsets, micro, need, give, lag, cost, own, late, jobs, _, _, _, _ = given
    done, count, at, clock, start, end, _, _, _, _, _, _ = state
    stored, priced, lanes, delayed = micro.shape[0] > 0, own.shape[0] > 0, jobs.shape[0] > 0, late.shape[0] > 0
    p, moved, sweep = at.shape[0], True, 0
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
                            begin = max(begin, made + (late[x, 0] if delayed else lag[r, code, 0]))
                    if other_source >= 0:
                        other_k = k if other_row < 0 else micro[x, 1] if stored else count[other_row]
                        made = done[other_source, other_k]
                        if made < 0.0:
                            break
                        begin = max(begin, made + (late[x, 1] if delayed else lag[r, code, 1]))
                    now = begin + (own[x] if priced else cost[r, code])
                    start[x], end[x] = begin, now
                    if row >= 0:
                        done[row, k] = now
                        count[row] += 1
                    if other_row >= 0:
                        done[other_row, other_k] = now
                        count[other_row] += 1
                    x += 1
                again = lanes and _run_jobs(given, state, r, x)
                moved = moved or again
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
    """Run as ``_run`` an order of ops with one input and one result each: without pairs, other lanes and stored
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
    beside = NOTHING if order.copies is None else copy_times(order, costs, v), wire_times(order, costs)
    if isinstance(costs, SizedCosts):
        timeline, at, done = _advance(order, _NO_COSTS, own_times(order, costs, v), costs, v, *beside)
        again = recomputation(order, costs.spared, costs.within) if costs.recomputes_some else None
        return replace(timeline, sizes=costs.sizes, recomputation=again), at, done
    return _advance(order, durations(order.placement, costs, v), NOTHING, costs, v, *beside)


def _advance(
    order: Order,
    cost: Floats,
    own: Floats,
    costs: Costs,
    v: int,
    copying: Floats,
    wire: Floats,
    late: Floats | None = None,
) -> tuple[Timeline, npt.NDArray[np.int64], Floats]:
    """Run an order as ``advance``, with the times of ops, as in ``_run``, of copies and messages; the lags are
    ``late``, or those of the costs.
    """
    rule, p, n = rules_of(order), order.p, order.n
    lag = lags(rule, order.placement, costs, v)
    if late is None:
        sized = isinstance(costs, SizedCosts) and costs.lead != 0.0
        late = own_lags(order, rule, costs, v) if sized else np.empty((0, 2))
    needed, rows = through_messages(order, rule)
    done, at = np.full((rows, n), -1.0), order.offsets[:-1].copy()
    start, end = np.empty(len(order)), np.empty(len(order))
    jit.compile_for(len(order))
    lanes = order.copies is not None or order.messages is not None
    if order.micro is None and not lanes and not own.size and order.codes.max(initial=0) < 4 * order.chunks:
        need, give = (np.ascontiguousarray(each[:, :, 0]) for each in (rule.need, rule.give))
        _run_single(order.codes, order.offsets, need, give, lag[:, :, 0].copy(), cost, done, at, start, end)
        return Timeline(order, start, end), at, done
    micro = _NO_MICRO if order.micro is None else order.micro
    beside = jobs_of(order, rule, copying, wire)
    given = LoopInput(order.codes, order.offsets, micro, needed, rule.give, lag, cost, own, late, beside.jobs,
                      beside.cost, beside.size, beside.first, beside.lanes)  # fmt: skip
    first, ran = beside.first[:-1], np.full((len(beside.jobs), 2), -1.0)
    state = LoopState(done, np.zeros(rows, np.int64), at, np.zeros(p), start, end, first.copy(), np.zeros_like(first),
                      np.zeros(len(first)), beside.size.copy(), np.zeros(len(beside.size)), ran)  # fmt: skip
    _run(tuple(given), tuple(state))
    timeline = Timeline(order, start, end)
    if lanes:
        from_copies, from_messages = 0 if order.copies is None else len(order.copies), len(ran) - len(wire)
        begun, ended = ran[beside.place].T
        timeline = Timeline(order, start, end, begun[:from_copies], ended[:from_copies], begun[from_messages:],
                            ended[from_messages:])  # fmt: skip
    return timeline, at, done


def simulate(order: Order, costs: Costs, v: int = 1) -> Timeline:
    """Time a legal order. ``v``, the family's chunks per device, divides the costs given per device.

    A large order is timed on a shorter one where its state repeats (periodic.py), with the same times bit by bit.
    Raises OrderError for an order that deadlocks; ``check.check`` explains the deadlock.
    """
    if order.repeats is not None and not isinstance(costs, SizedCosts):
        times = np.append(
            durations(order.placement, costs, v), np.abs(lags(rules_of(order), order.placement, costs, v))
        )
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


def replay(
    order: Order, spent: Floats, costs: Costs, copying: Floats = NOTHING, v: int = 1, lags: Floats | None = None
) -> Timeline:
    """Time a legal order with each op's own time, ``spent`` (N,), and each copy's, ``copying`` (C,); ``lags`` (N, 2)
    until each half's input arrives, instead of those of the costs.
    """
    own, copied = (np.ascontiguousarray(each, np.float64) for each in (spent, copying))
    wire = np.zeros(0 if order.messages is None else len(order.messages))
    return _advance(order, _NO_COSTS, own, costs, v, copied, wire, lags)[0]
