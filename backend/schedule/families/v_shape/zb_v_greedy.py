"""ZB-V constructed for given costs and a memory limit: the greedy schedule of its authors, from 1F1B's memory up.

All ranks advance in rounds of one I and one F each. A W runs where a rank would otherwise wait for at least as long as
the W takes, where the wait would make the rank the one with the most idle time, or where an F needs the memory.

Qi et al. 2023, Zero Bubble Pipeline Parallelism, arXiv 2401.10241, section 6. The choices are those of the authors'
published generator, zbv.py of sail-sg/zero-bubble-pipeline-parallelism.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from backend.schedule import jit
from backend.schedule.order.order import Codes
from backend.schedule.search.building_block import Instance

MOST_OPS = 200_000  # about eight orders in half a second

# The passes of a micro-batch, one after the other, are 0 to 3: F0 down the ranks, F1 up, I1 down, I0 up. In place of an
# object, which compiled code does not support, a tuple of arrays has the state of the construction:
#
#     costs   cost (p, 2, 3) of F, I, W in each chunk; limits (4,): the memory in chunks, W's share of a chunk, the hop,
#             and the most idle time of a rank so far
#     times   end (p, 4, m) of each pass, -1 before it ran
#     ranks   (3, p): when each rank is free, its idle time since its first op, its chunks in memory
#     count   (p, 6) how many ran: of F0, F1, I1, I0, of W, of all
#     due     (p, 2 * m) the chunk of each W, first in, first out
#     codes   (p, 6 * m)
STATE = (
    "Tuple((float64[:, :, ::1], float64[::1], float64[:, :, ::1], float64[:, ::1], int64[:, ::1], int64[:, ::1],"
    " uint8[:, ::1]))"
)


def fitted(instance: Instance) -> Iterator[Codes]:
    """Yield the codes (p, steps) of each greedy order on the V; none if the warm-up exceeds the limit, or for more than
    MOST_OPS.

    Two choices: whether before an F, and before an I1, a rank runs a W so as not to have the most idle time. Each order
    is constructed again with the idle times that it came to as allowed ones, as long as that helps.
    """
    instance, p, m = instance.even, instance.placement.p, instance.m
    if 6 * p * m > MOST_OPS:
        return
    for before_f, before_i1 in product((True, False), repeat=2):
        best, allowed = np.inf, np.full(p + 1, -1.0)  # of each rank, and the most
        while True:
            limits = np.array([instance.room + 1e-9, instance.share, instance.costs.comm, 0.0], np.float64)
            ranks, codes = np.zeros((3, p)), np.zeros((p, 6 * m), np.uint8)
            state = (
                instance.cost.reshape(p, 2, 3), limits, np.full((p, 4, m), -1.0), ranks,
                np.zeros((p, 6), np.int64), np.zeros((p, 2 * m), np.int64), codes,
            )  # fmt: skip
            if not _construct(state, allowed, before_f, before_i1) or limits[3] >= best:
                break
            best, allowed = float(limits[3]), np.append(ranks[1], limits[3])
            yield codes


@jit.inner(f"float64({STATE}, int64, int64)")
def arrival(state: Any, r: int, op: int) -> float:
    """Return when the input of a rank's next op of a pass arrives: infinite if it has not been made."""
    _, limits, end, _, count, _, _ = state
    k = count[r, op]
    if k >= end.shape[2] or (op > 0 and count[r, op - 1] <= k):
        return np.inf
    before = r - 1 if op % 2 == 0 else r + 1
    if before < 0 or before >= end.shape[0]:
        return 0.0  # made on the rank itself
    made = end[before, op, k]
    return float(np.inf if made < 0.0 else made + limits[2])


@jit.inner(f"boolean({STATE}, int64, int64)")
def put(state: Any, r: int, op: int) -> bool:
    """Run a rank's next op of a pass as early as possible; return False if it cannot run within the limit."""
    cost, limits, end, ranks, count, due, codes = state
    begin, kind, chunk = max(ranks[0, r], arrival(state, r, op)), op // 2, (0, 1, 1, 0)[op]
    ranks[2, r] += 1.0 if kind == 0 else limits[1] - 1.0
    if begin == np.inf or ranks[2, r] > limits[0]:
        return False
    if count[r, 0] > 0:
        ranks[1, r] += begin - ranks[0, r]
        limits[3] = max(limits[3], ranks[1, r])
    if kind == 1:
        due[r, count[r, 2] + count[r, 3]] = chunk
    ranks[0, r] = begin + cost[r, chunk, kind]
    end[r, op, count[r, op]] = ranks[0, r]
    codes[r, count[r, 5]] = 2 * kind + chunk
    count[r, op] += 1
    count[r, 5] += 1
    return True


@jit.inner(f"boolean({STATE}, int64)")
def put_weight(state: Any, r: int) -> bool:
    """Run the first W that is due on a rank; return False if none is."""
    cost, limits, _, ranks, count, due, codes = state
    if count[r, 4] == count[r, 2] + count[r, 3]:
        return False
    chunk = due[r, count[r, 4]]
    ranks[0, r] += cost[r, chunk, 2]
    ranks[2, r] -= limits[1]
    codes[r, count[r, 5]] = 4 + chunk
    count[r, 4] += 1
    count[r, 5] += 1
    return True


@jit.inner(f"void({STATE}, float64[::1], int64, int64, boolean)")
def fill(state: Any, allowed: Any, r: int, op: int, beyond: bool) -> None:
    """Run W before a rank's next op of a pass: those that end before it can begin, and, if ``beyond``, one more if the
    rank would otherwise have the most idle time."""
    cost, limits, _, ranks, count, due, _ = state
    p = ranks.shape[1]
    begin, left = arrival(state, r, op), count[r, 2] + count[r, 3] - count[r, 4]
    while left > 0 and begin >= ranks[0, r] + cost[r, due[r, count[r, 4]], 2]:
        put_weight(state, r)
        left -= 1
    wait = begin - ranks[0, r]
    if beyond and left > 0 and wait > 0.0 and wait > max(limits[3], allowed[p] - allowed[r]) - ranks[1, r]:
        put_weight(state, r)


@jit.inner(f"boolean({STATE})")
def warm_up(state: Any) -> bool:
    """Run forwards on all ranks until each may run its first I; return False if they exceed the limit."""
    cost, limits, end, ranks, count, _, _ = state
    p, m, ran = end.shape[0], end.shape[2], True
    for r in range(p):
        ran = ran and put(state, r, 0)
    for r in range(p - 1, -1, -1):
        # as many F0 as fit before the first F1 arrives, where 2 (r + 1) chunks are left for what follows
        while r < p - 1 and ran and count[r, 0] < m and ranks[2, r] + 2.0 * (r + 1) <= limits[0]:
            if ranks[0, r] + cost[r, 0, 0] > arrival(state, r, 1):
                break
            for each in range(r + 1):
                ran = ran and put(state, each, 0)
        ran = ran and put(state, r, 1)
    op = 0
    for r in range(1, p):
        while ran and (
            count[r, 0] + count[r, 1] < count[r - 1, 0] + count[r - 1, 1] or count[r, 1] <= count[r - 1, 1] < m
        ):
            for each in range(p - 1, r - 1, -1):
                if count[each, op] < m:
                    ran = ran and put(state, each, op)
            op = 1 - op
    return ran


@jit.inner(f"int64({STATE}, int64)")
def next_forward(state: Any, r: int) -> int:
    """Return the pass of a rank's next F: F1 if its input has been made; -1 if there is none."""
    count, m = state[4], state[2].shape[2]
    if count[r, 1] == m:
        return -1
    if count[r, 1] < count[r, 0] and arrival(state, r, 1) < np.inf:
        return 1
    return 0 if count[r, 0] < m and arrival(state, r, 0) < np.inf else -1


@jit.kernel(f"boolean({STATE}, float64[::1], boolean, boolean)")
def _construct(state: Any, allowed: Any, before_f: bool, before_i1: bool) -> bool:
    """Construct an order in place; return False if it does not keep the limit."""
    _, limits, end, ranks, count, _, _ = state
    p, m = end.shape[0], end.shape[2]
    ran = warm_up(state)
    backward = np.zeros(p, np.int64)
    for _ in range(2 * m):
        for r in range(p):
            up = count[r, 3] < count[r, 2] and (count[r, 2] == m or arrival(state, r, 3) < np.inf)
            backward[r] = 3 if up else 2
        for turn in range(2 * p):  # I0 from the last rank to the first, then I1 from the first to the last
            r = p - 1 - turn if turn < p else turn - p
            if ran and backward[r] == (3 if turn < p else 2):
                fill(state, allowed, r, backward[r], before_i1 or backward[r] == 3)
                ran = put(state, r, backward[r])
        for r in range(p):
            op = next_forward(state, r)
            if not ran or op < 0:
                continue
            while ran and ranks[2, r] + 1.0 > limits[0]:
                ran = put_weight(state, r)
            fill(state, allowed, r, op, before_f)
            ran = ran and put(state, r, op)
    for r in range(p):
        while put_weight(state, r):
            pass
    return ran
