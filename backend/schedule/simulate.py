"""When each op runs: the earliest start that its rank's order and its inputs allow.

Knows orders, the dependency rule and durations; knows no family and no law. Times are in the costs' unit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from . import jit
from .costs import Costs, durations
from .deps import rules
from .errors import OrderError
from .order import Order

Floats = npt.NDArray[np.float64]
_NO_MICRO = np.empty((0, 2), np.int32)


@dataclass(frozen=True, eq=False)
class Timeline:
    """When every op of an order ran, planned or measured: ``start``, ``end`` (N,), laid out as ``order.codes``."""

    order: Order
    start: Floats
    end: Floats

    def rank(self, rank: int) -> tuple[Floats, Floats]:
        """Start and end of one rank's ops."""
        span = slice(self.order.offsets[rank], self.order.offsets[rank + 1])
        return self.start[span], self.end[span]


@jit.kernel(
    "int64(uint8[::1], int64[::1], int32[:, ::1], int32[:, :, ::1], int32[:, :, ::1], float64[:, :, ::1],"
    " float64[:, ::1], float64[:, ::1], int64[::1], float64[::1], float64[::1])"
)
def _run(
    codes: Any,
    offsets: Any,
    micro: Any,
    need: Any,
    give: Any,
    lag: Any,
    cost: Any,
    done: Any,
    at: Any,
    start: Any,
    end: Any,
) -> int:
    """Advance every rank as far as its inputs allow, sweeping down and up the ranks until nothing moves.

    ``done`` (rows, n) holds when each result was made, -1 before; ``at`` (p,) how far each rank came; both are filled
    here. Returns how many ops ran: fewer than all means a deadlock.
    """
    p = offsets.shape[0] - 1
    stored = micro.shape[0] > 0
    count = np.zeros(done.shape[0], np.int64)  # results of each row made so far: the implied micro-batch
    clock = np.zeros(p)
    ran, moved, sweep = 0, True, 0
    while moved:
        moved = False
        for turn in range(p):
            r = turn if sweep == 0 else p - 1 - turn
            x, last, now = at[r], offsets[r + 1], clock[r]
            while x < last:
                code = codes[x]
                g0, g1 = give[r, code, 0], give[r, code, 1]
                begin, k0, k1 = now, 0, 0
                if g0 >= 0:
                    k0 = micro[x, 0] if stored else count[g0]
                    n0 = need[r, code, 0]
                    if n0 >= 0:
                        made = done[n0, k0]
                        if made < 0.0:
                            break
                        begin = max(begin, made + lag[r, code, 0])
                if g1 >= 0:
                    k1 = micro[x, 1] if stored else count[g1]
                    made = done[need[r, code, 1], k1]
                    if made < 0.0:
                        break
                    begin = max(begin, made + lag[r, code, 1])
                now = begin + cost[r, code]
                start[x] = begin
                end[x] = now
                if g0 >= 0:
                    done[g0, k0] = now
                    count[g0] += 1
                if g1 >= 0:
                    done[g1, k1] = now
                    count[g1] += 1
                x += 1
            if x > at[r]:
                moved = True
                ran += x - at[r]
                at[r] = x
                clock[r] = now
        sweep = 1 - sweep
    return ran


def advance(order: Order, costs: Costs, v: int) -> tuple[Timeline, npt.NDArray[np.int64], Floats]:
    """Run an order as far as it goes: its times, (p,) the flat index each rank reached, and (rows, n) when each
    result was made (-1: never). For the checker; everyone else wants ``simulate``."""
    rule = rules(order.placement)
    done = np.full((2 * order.p * order.chunks, order.n), -1.0)
    at = order.offsets[:-1].copy()
    start, end = np.empty(len(order)), np.empty(len(order))
    micro = _NO_MICRO if order.micro is None else order.micro
    lag = rule.hops * np.float64(costs.comm)
    cost = durations(order.placement, costs, v)
    jit.compile_for(len(order))
    _run(order.codes, order.offsets, micro, rule.need, rule.give, lag, cost, done, at, start, end)
    return Timeline(order, start, end), at, done


def simulate(order: Order, costs: Costs, v: int = 1) -> Timeline:
    """Time a legal order. ``v`` divides the costs given per device (the family's chunks per device).

    Raises OrderError for an order that deadlocks; ``check.check`` says why in words.
    """
    timeline, at, _ = advance(order, costs, v)
    stuck = np.flatnonzero(at < order.offsets[1:])
    if len(stuck):
        rank = int(stuck[0])
        op = order.row(rank)[int(at[rank] - order.offsets[rank])].text()
        raise OrderError(f"rank {rank} waits forever at {op}: the order deadlocks", rank=rank, op=op)
    return timeline
