"""Check each rank's row for completeness and sequence over whole arrays.

The same rules as in check.py, a hundred times as fast; finds only the wrong rank, and check.py then finds the op.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from backend.schedule.order.ops import PAIR, B, F, I, S, T, W
from backend.schedule.order.order import Order, code_table, micro_numbers

Ints = npt.NDArray[np.int64]
NEVER = -1


def first_wrong(order: Order) -> int | None:
    """Return the first rank on which an op is missing, doubled, or before one that must precede it; None if there is
    none.
    """
    return next((rank for rank in range(order.p) if not _complete(order, rank)), None)


def _complete(order: Order, rank: int) -> bool:
    chunks, n, held = order.chunks, order.n, int(order.placement.held[rank])
    kind, chunk, micro = _halves(order, rank)
    # An order of few ops must not allocate large tables.
    alone = order.forward_slots[rank, :held]
    if len(kind) < (2 * held - alone.sum()) * n or (micro < 0).any() or (micro >= n).any():
        return False
    if not order.barriers and (kind >= S).any():
        return False
    key = (kind * chunks + chunk) * n + micro
    at = np.full((T + 1) * chunks * n, NEVER, np.int64)
    at[key] = np.arange(len(key))
    if np.count_nonzero(at != NEVER) != len(key):
        return False  # an op occurs twice
    when = at.reshape(T + 1, chunks, n)[:, :held]
    full, split = when[B] != NEVER, (when[I] != NEVER) & (when[W] != NEVER)
    neither = (when[I] == NEVER) & (when[W] == NEVER)
    backwards = (full & neither & (when[F] < when[B])) | (~full & split & (when[F] < when[I]) & (when[I] < when[W]))
    right = np.where(alone, (~full & neither).all(axis=1), backwards.all(axis=1))
    if not (when[F] != NEVER).all() or not right.all():
        return False
    return not order.barriers or bool(((when[S][0] != NEVER) & (when[S][0] < when[T][0])).all())


def _halves(order: Order, rank: int) -> tuple[Ints, Ints, Ints]:
    """Return kind, chunk and the slot's own micro-batch of each op of a rank, in order; of a pair its F, then its B."""
    codes = order.codes[order.offsets[rank] : order.offsets[rank + 1]]
    first, second = micro_numbers(order, rank)
    kind, chunk, b_chunk = code_table(order.chunks)[codes].T
    pair = kind == PAIR
    rows = np.stack((np.where(pair, F, kind), chunk, first)), np.stack((np.full_like(kind, B), b_chunk, second))
    both = np.stack(rows, 2).reshape(3, -1)  # the second column is used only for pairs
    kept = both[:, np.stack((np.ones_like(pair), pair), 1).ravel()]
    return kept[0], kept[1], kept[2]
