"""Time an order: each op starts as early as its rank's order and its inputs allow.

Times are in the costs' unit.
"""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from backend.schedule import jit
from backend.schedule.errors import OrderError, message
from backend.schedule.order.copy_lanes import R
from backend.schedule.order.dependencies import Rules, rules_of
from backend.schedule.order.order import Order
from backend.schedule.simulation import periodic
from backend.schedule.simulation.costs import Costs, copy_times, durations
from backend.schedule.simulation.timeline import NOTHING, Floats, Timeline

__all__ = ["NOTHING", "Floats", "Timeline", "advance", "raise_deadlock", "replay", "simulate"]

_NO_MICRO = np.empty((0, 2), np.int32)
_NO_COPIES = np.empty((0, 2), np.int64)
_NO_COSTS = np.empty((0, 0))


@jit.kernel(
    "int64(uint8[::1], int64[::1], int32[:, ::1], int32[:, :, ::1], int32[:, :, ::1], float64[:, :, ::1],"
    " float64[:, ::1], float64[::1], int64, int64[:, ::1], int64[::1], float64[::1], float64[:, ::1], int64[::1],"
    " float64[::1], float64[::1], float64[:, ::1])"
)
def _run(
    codes: Any,
    offsets: Any,
    micro: Any,
    need: Any,
    give: Any,
    lag: Any,
    cost: Any,
    own: Any,
    shards: int,
    copies: Any,
    copy_offsets: Any,
    copy_cost: Any,
    done: Any,
    at: Any,
    start: Any,
    end: Any,
    copied: Any,
) -> int:
    """Advance every rank as far as its inputs allow, sweeping down and up the ranks until nothing moves.

    An op takes ``cost`` (p, codes), or ``own`` (N,) where that is not empty.
    ``done`` (rows, n) holds when each result was made, -1 before; ``at`` (p,) how far each rank came; both are filled
    here. ``copies`` (C, 2) when each copy is issued and the row of what it makes, ``copied`` (C, 2) its start and end.
    Returns how many ops ran: fewer than all means a deadlock.
    """
    p, joins = offsets.shape[0] - 1, done.shape[0] - 2
    stored = micro.shape[0] > 0
    count = np.zeros(done.shape[0], np.int64)  # results of each row made so far: the implied micro-batch
    passed, latest = np.zeros((2, done.shape[1]), np.int64), np.zeros((2, done.shape[1]))  # of each barrier
    clock, lane, next_copy = np.zeros(p), np.zeros(p), copy_offsets.copy()
    ran, moved, sweep = 0, True, 0
    while moved:
        moved = False
        for turn in range(p):
            r = turn if sweep == 0 else p - 1 - turn
            x, last, now, again = at[r], offsets[r + 1], clock[r], True
            while again:
                while x < last:
                    code = codes[x]
                    g0, g1, n0, n1 = give[r, code, 0], give[r, code, 1], need[r, code, 0], need[r, code, 1]
                    begin, k0, k1 = now, 0, 0
                    if g0 >= 0:
                        k0 = micro[x, 0] if stored else count[g0]
                        if n0 >= 0:
                            made = done[n0, k0]
                            if made < 0.0:
                                break
                            begin = max(begin, made + lag[r, code, 0])
                    if n1 >= 0:
                        k1 = k0 if g1 < 0 else micro[x, 1] if stored else count[g1]
                        made = done[n1, k1]
                        if made < 0.0:
                            break
                        begin = max(begin, made + lag[r, code, 1])
                    now = begin + (own[x] if own.shape[0] else cost[r, code])
                    start[x], end[x] = begin, now
                    if g0 >= 0:
                        done[g0, k0] = now
                        count[g0] += 1
                    if g1 >= 0:
                        done[g1, k1] = now
                        count[g1] += 1
                    if g0 >= shards:
                        join = (g0 - shards) % 2
                        passed[join, k0], latest[join, k0] = passed[join, k0] + 1, max(latest[join, k0], now)
                        if passed[join, k0] == p:
                            done[joins + join, k0] = latest[join, k0]
                    x += 1
                y, again = next_copy[r], False
                while y < copy_offsets[r + 1] and copies[y, 0] <= x - offsets[r]:
                    issued = end[offsets[r] + copies[y, 0] - 1] if copies[y, 0] > 0 else 0.0
                    copied[y, 0] = max(lane[r], issued)
                    lane[r] = copied[y, 0] + copy_cost[y]
                    copied[y, 1] = lane[r]
                    if copies[y, 1] >= 0:
                        done[copies[y, 1], count[copies[y, 1]]] = lane[r]
                        count[copies[y, 1]] += 1
                    y, again = y + 1, True
                next_copy[r] = y
            if x > at[r]:
                moved = True
                ran += x - at[r]
                at[r] = x
                clock[r] = now
        sweep = 1 - sweep
    return ran


@jit.kernel(
    "int64(uint8[::1], int64[::1], int32[:, ::1], int32[:, ::1], float64[:, ::1], float64[:, ::1], float64[:, ::1],"
    " int64[::1], float64[::1], float64[::1])"
)
def _run_single(
    codes: Any, offsets: Any, need: Any, give: Any, lag: Any, cost: Any, done: Any, at: Any, start: Any, end: Any
) -> int:
    """Run as ``_run`` an order of ops with one input and one result each: without pairs, barriers, copies and stored
    micro-batches. That is most orders, and takes two thirds of the time. ``need``, ``give``, ``lag`` are (p, codes).
    """
    p = offsets.shape[0] - 1
    count, clock = np.zeros(done.shape[0], np.int64), np.zeros(p)
    ran, moved, sweep = 0, True, 0
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
                ran += x - at[r]
                at[r] = x
                clock[r] = now
        sweep = 1 - sweep
    return ran


def advance(order: Order, costs: Costs, v: int) -> tuple[Timeline, npt.NDArray[np.int64], Floats]:
    """Run an order until it ends or deadlocks, and return its times, (p,) the flat index each rank reached, and
    (rows, n) when each result was made (-1: never). ``simulate`` is quicker for a long order that repeats.
    """
    copying = NOTHING if order.copies is None else copy_times(order, costs, v)
    return _advance(order, durations(order.placement, costs, v), NOTHING, costs.comm, copying)


def _advance(
    order: Order, cost: Floats, own: Floats, comm: float, copying: Floats
) -> tuple[Timeline, npt.NDArray[np.int64], Floats]:
    """Run an order as ``advance``, with the times of ops, a hop and the copies; ``cost`` and ``own`` as in ``_run``."""
    rule = rules_of(order)
    done = np.full((rule.rows, order.n), -1.0)
    at = order.offsets[:-1].copy()
    start, end = np.empty(len(order)), np.empty(len(order))
    micro = _NO_MICRO if order.micro is None else order.micro
    jobs, copy_offsets = _copy_jobs(order, rule)
    copied = np.empty((len(jobs), 2))
    jit.compile_for(len(order))
    lag = rule.hops * np.float64(comm)
    if order.micro is None and order.copies is None and not own.size and order.codes.max(initial=0) < 4 * order.chunks:
        need, give = (np.ascontiguousarray(each[:, :, 0]) for each in (rule.need, rule.give))
        _run_single(order.codes, order.offsets, need, give, lag[:, :, 0].copy(), cost, done, at, start, end)
        return Timeline(order, start, end), at, done
    _run(order.codes, order.offsets, micro, rule.need, rule.give, lag, cost, own,
         rule.shards, jobs, copy_offsets, copying, done, at, start, end, copied)  # fmt: skip
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
    if order.repeats is not None:
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
