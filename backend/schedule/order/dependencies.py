"""The one dependency rule, and the tables that the simulator and the checker read.

    F  of a stage needs the F of the stage before it (the first stage's needs nothing);
    I and B (the gradients) need the gradient of the stage after it and their own F (the last stage's: its own F only);
    W  needs its own I.

A value made on another rank arrives one hop later. A pair needs what its halves need, and gives what they give.

Where the vocabulary is sharded over the ranks (Yeung et al. 2024, arXiv 2411.05288):

    S  needs the F of the last stage, which C0 broadcasts;
    T  needs C1, the barrier that all ranks' S have passed;
    I and B of the last stage need the last barrier: C2, passed by all T (two barriers), or C1 (one barrier).

A barrier takes one hop. Where a slot's activations are offloaded, its I or B also needs their reload (copy_lanes.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from backend.schedule.order.copy_lanes import R
from backend.schedule.order.ops import PAIR, B, F, I, S, T, W
from backend.schedule.order.order import Order, code_count, decode
from backend.schedule.order.placement import Placement

Ints = npt.NDArray[np.int64]
Table = npt.NDArray[np.int32]

FORWARD, GRADIENT = 0, 1  # the two results of a slot that anything waits for


def result_row(slot: Ints, result: int) -> Ints:
    """Return the row numbers of the slots' results, FORWARD or GRADIENT, among all results."""
    return 2 * slot + result


def awaited(placement: Placement, kind: int) -> Ints:
    """Return (slots,) the row of the result that an op of each slot waits for beyond its own slot, -1 for none.

    That an I or B comes after its own F, and a W after its own I, is the order on one rank (check.py); only the last
    stage's gradient refers to its own F here, because nothing else starts it.
    """
    slot, before, after = np.arange(placement.p * placement.chunks), placement.before, placement.after
    if kind == W:
        return np.full_like(slot, -1)
    if kind == F:
        return np.where(before < 0, -1, result_row(before, FORWARD))
    return np.where(after < 0, result_row(slot, FORWARD), result_row(after, GRADIENT))


def given(placement: Placement, kind: int) -> Ints:
    """Return (slots,) the row of the result that an op of each slot makes; -1 for W, which nothing waits for."""
    slot = np.arange(placement.p * placement.chunks)
    if kind == W:
        return np.full_like(slot, -1)
    return result_row(slot, FORWARD if kind == F else GRADIENT)


@dataclass(frozen=True, eq=False)
class Rules:
    """The dependency rule as tables.

    ``need``, ``give`` (p, codes, 2): the rows that each half of an op awaits and makes, -1 for none; ``hops`` (p,
    codes, 2): 1 if the awaited value comes from another rank, else 0.

    An order with barriers or copies has more rows: a slot's reload in ``reloads + slot``, rank r's S and T in
    ``shards + 2r`` and the next one, the barriers C1 and C2 in ``joins`` and the next one; ``rows`` is their total
    number.
    """

    need: Table
    give: Table
    hops: Table
    reloads: int
    shards: int
    joins: int
    rows: int


def rules_of(order: Order) -> Rules:
    """Return the tables of the rule for an order's placement, barriers and copies."""
    if order.copies is None:
        return rules(order.placement, order.barriers)
    chunks = order.chunks
    owner = np.repeat(np.arange(order.p), np.diff(order.copies.offsets))
    back = order.copies.codes // chunks == R
    slots = owner[back] * chunks + order.copies.codes[back] % chunks
    return rules(order.placement, order.barriers, tuple(np.unique(slots).tolist()))


@lru_cache(maxsize=64)
def rules(placement: Placement, barriers: int = 0, reloaded: tuple[int, ...] = ()) -> Rules:
    """Return the tables of the rule for every rank and op code of a placement; ``reloaded`` are the slots whose
    activations are reloaded from host memory.
    """
    p, chunks = placement.p, placement.chunks
    codes, slots = code_count(chunks), p * chunks
    need, give = np.full((p, codes, 2), -1, np.int32), np.full((p, codes, 2), -1, np.int32)
    needs = {kind: awaited(placement, kind).reshape(p, chunks) for kind in (F, I, W, B)}
    gives = {kind: given(placement, kind).reshape(p, chunks) for kind in (F, I, W, B)}
    for code in range(codes):
        kind, a, b = decode(code, chunks)
        halves = ((F, a), (B, b)) if kind == PAIR else ((kind, a),) if kind < PAIR else ()
        for half, (half_kind, chunk) in enumerate(halves):
            need[:, code, half] = needs[half_kind][:, chunk]
            give[:, code, half] = gives[half_kind][:, chunk]
    hops = ((need >= 0) & (need // 2 // chunks != np.arange(p)[:, None, None])).astype(np.int32)
    reloads, shards, joins = 2 * slots, 3 * slots, 3 * slots + 2 * p
    rows = joins + 2 if barriers or reloaded else 2 * slots
    if barriers:
        _add_barriers(placement, barriers, need, give, hops, shards, joins)
    for slot in reloaded:
        rank, chunk = divmod(slot, chunks)
        for kind in (I, B):
            need[rank, kind * chunks + chunk, 1] = reloads + slot
    return Rules(need, give, hops, reloads, shards, joins, rows)


def _add_barriers(
    placement: Placement, barriers: int, need: Table, give: Table, hops: Table, shards: int, joins: int
) -> None:
    """Add S, T and the last stage's gradients to the tables, in place."""
    p, chunks = placement.p, placement.chunks
    last_rank, last_chunk = divmod(int(placement.slot_at[0, -1]), chunks)
    s, t = (next(code for code in range(need.shape[1]) if decode(code, chunks)[0] == kind) for kind in (S, T))
    ranks, far = np.arange(p), int(p > 1)
    need[:, s, 0], give[:, s, 0], hops[:, s, 0] = 2 * (last_rank * chunks + last_chunk), shards + 2 * ranks, 1
    hops[last_rank, s, 0] = 0
    need[:, t, 0], give[:, t, 0], hops[:, t, 0] = joins, shards + 2 * ranks + 1, far
    for kind in (I, B):
        code = kind * chunks + last_chunk
        need[last_rank, code, 0], hops[last_rank, code, 0] = joins + barriers - 1, far


def arrivals(rule: Rules) -> int:
    """Return the row behind all others, where the arrivals of messages begin: that of result r is in this plus r."""
    return rule.rows + rule.rows % 2
