"""Spread the output layer over all ranks: S and T among a family's ops (Yeung et al. 2024, arXiv 2411.05288).

Each rank holds a shard of the vocabulary. C0 broadcasts the last stage's output; ``S`` computes a rank's logits with
their maximum and sum; C1 reduces these over all ranks; ``T`` computes the gradients of the shard.

parallel-1 (Algorithm 1, two barriers): T makes input and weight gradient, C2 reduces the input gradient, and the last
    stage's backward waits for it.
parallel-2 (Algorithm 2, one barrier): the products of the input gradient move into S; the backward waits for C1 only.
interlaced (nnScaler, Lin et al. 2024): all ranks do S and T of a micro-batch at the same time.

For each barrier the family's forwards run one micro-batch further ahead of its backwards, which costs one micro-batch
of memory and hides the barrier; S and T then run as early as possible. If the output layer stays whole (plain,
redistribute), effective_costs.py adds its time to the last stage.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from backend.schedule import jit
from backend.schedule.errors import message
from backend.schedule.order.dependencies import rules
from backend.schedule.order.ops import B, F, S, T
from backend.schedule.order.order import Order, code_table, encode, from_rows, micro_numbers
from backend.schedule.order.placement import place
from backend.schedule.simulation.costs import Costs, durations, lags

Codes = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Vocabulary:
    """``barriers`` per micro-batch: how often all ranks wait for each other between the last forward and its
    backward.
    """

    barriers: int
    summary: str


MODES = {
    "plain": Vocabulary(0, message("schedule.vocabulary_plain", "the last stage has the whole output layer")),
    "redistribute": Vocabulary(
        0,
        message(
            "schedule.vocabulary_redistribute", "the last stage has the whole output layer and fewer transformer layers"
        ),
    ),
    "parallel-1": Vocabulary(2, message("schedule.vocabulary_parallel_1", "a shard on every rank, two barriers")),
    "parallel-2": Vocabulary(1, message("schedule.vocabulary_parallel_2", "a shard on every rank, one barrier")),
    "interlaced": Vocabulary(
        2, message("schedule.vocabulary_interlaced", "a shard on every rank, all ranks at the same time")
    ),
}
SPREAD = ("parallel-1", "parallel-2")


def ahead(order: Order, m: int, by: int) -> Order:
    """Build the order for ``m`` micro-batches with forwards that run ``by`` further ahead, from an order for ``m + by``
    or more.

    Each backward takes the position of the one ``by`` micro-batches later.
    """
    kind = code_table(order.chunks)[order.codes][:, 0]
    micro = np.concatenate([micro_numbers(order, rank)[0] for rank in range(order.p)])
    micro = np.where(kind == F, micro, micro - by)
    stays = (micro >= 0) & (micro < m)
    rows = [order.codes[a:b][stays[a:b]] for a, b in zip(order.offsets[:-1], order.offsets[1:], strict=True)]
    return from_rows(order.placement, m, rows)


def insert(order: Order, costs: Costs, v: int, barriers: int) -> Order:
    """Return the order with S and T of every micro-batch.

    Each rank keeps its sequence and runs S, then T, before its next op whenever they can start as early. ``costs``
    are the effective costs of ops.
    """
    chunks, rule = order.chunks, rules(order.placement, barriers)
    extra = np.array([encode(S, 0, chunks), encode(T, 0, chunks)], np.int64)
    lag, cost = lags(rule, order.placement, costs, v), durations(order.placement, costs, v)
    out = np.zeros(len(order) + 2 * order.p * order.n, np.uint8)
    offsets = order.offsets + 2 * order.n * np.arange(order.p + 1)
    done = np.full((rule.rows, order.n), np.inf)
    reader = np.full(rule.rows, -1, np.int64)
    for rank in range(order.p):
        reader[rule.need[rank][rule.need[rank] >= 0]] = rank
    reader[rule.need[rule.give[:, extra[0], 0] >= 0, extra[0], 0]] = -1  # the last stage's output: all ranks' S
    jit.compile_for(4 * len(order))
    filled = _insert(order.codes, order.offsets, offsets, rule.need, rule.give, reader, lag, cost, rule.shards,
                     extra, done, out)  # fmt: skip
    assert filled == len(out), "every backward can run once its barrier is passed"
    return replace(order, codes=out, offsets=offsets, barriers=barriers)


@jit.kernel(
    "int64(uint8[::1], int64[::1], int64[::1], int32[:, :, ::1], int32[:, :, ::1], int64[::1], float64[:, :, ::1],"
    " float64[:, ::1], int64, int64[::1], float64[:, ::1], uint8[::1])"
)
def _insert(
    codes: Any, offsets: Any, to: Any, need: Any, give: Any, reader: Any, lag: Any, cost: Any, shards: int, extra: Any,
    done: Any, out: Any
) -> int:  # fmt: skip
    """Insert S and T into the ranks' sequences greedily; return how many ops ran.

    The rank whose next op can start first runs it: S, T or the next op of its own sequence, whichever can start first,
    in this order where equal. ``reader`` (rows,) is the one rank that waits for a result, -1 for all of them; ``done``
    (rows, n) starts as infinity; ``out`` is filled.
    """
    p, n, joins, ran = offsets.shape[0] - 1, done.shape[1], done.shape[0] - 2, 0
    count, passed, latest = np.zeros(done.shape[0], np.int64), np.zeros((2, n), np.int64), np.zeros((2, n))
    clock, wake, choice = np.zeros(p), np.zeros(p), np.zeros(p, np.int64)
    at, to_at, stale = offsets[:-1].copy(), to[:-1].copy(), np.ones(p, np.bool_)
    while True:
        for r in range(p):
            if stale[r]:
                stale[r], wake[r] = False, np.inf
                for turn in range(3):
                    if turn == 2 and at[r] == offsets[r + 1]:
                        continue
                    code = extra[turn] if turn < 2 else codes[at[r]]
                    row, awaits, begin = give[r, code, 0], need[r, code, 0], clock[r]
                    if turn < 2 and count[row] == n:
                        continue
                    if awaits >= 0:
                        begin = max(begin, done[awaits, count[row]] + lag[r, code, 0])
                    if begin < wake[r]:
                        wake[r], choice[r] = begin, code
        r = int(np.argmin(wake))
        code, row = choice[r], give[r, choice[r], 0]
        if wake[r] == np.inf:
            return ran
        if code != extra[0] and code != extra[1]:
            at[r] += 1
        clock[r] = wake[r] + cost[r, code]
        out[to_at[r]] = code
        to_at[r], ran, stale[r] = to_at[r] + 1, ran + 1, True
        if row < 0:
            continue
        k = count[row]
        done[row, k], count[row] = clock[r], k + 1
        if row < shards:
            if reader[row] < 0:
                stale[:] = True
            else:
                stale[reader[row]] = True
        else:
            join = (row - shards) % 2
            passed[join, k], latest[join, k] = passed[join, k] + 1, max(latest[join, k], clock[r])
            if passed[join, k] == p:
                done[joins + join, k] = latest[join, k]
                stale[:] = True


def interlaced(p: int, m: int) -> Order:
    """Build the interlaced order, 1F1B in lockstep, which the paper compares with its own.

    In every turn all ranks run S and T of one micro-batch together, then a forward and a backward, every other rank
    the backward first. A micro-batch therefore passes two ranks per turn forward and one per turn backward: half as
    much memory again.
    """
    turned = [(p - 1 - r) % 2 == 0 for r in range(p)]  # backward first
    down = [0] * p  # the turn of micro-batch 0's forward
    for r in range(1, p):
        down[r] = down[r - 1] + (0 if turned[r] else 1)
    rows = []
    for r in range(p):
        loss = down[-1] + 1
        up = loss + (p - 1 - r)
        row = []
        for turn in range(up + m):
            pair = [(F, turn - down[r]), (B, turn - up)]
            steps = [(S, turn - loss), (T, turn - loss), *(pair[::-1] if turned[r] else pair)]
            row += [encode(kind, 0, 1) for kind, micro in steps if 0 <= micro < m]
        rows.append(row)
    return from_rows(place("looped", p, 1), m, rows, barriers=MODES["interlaced"].barriers)
