"""Which forwards run again where only some do, and in front of which op of their rank each of them runs again."""

from __future__ import annotations

from functools import lru_cache
from heapq import heappop, heappush
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from backend.schedule.order.op_columns import op_columns
from backend.schedule.order.ops import PAIR, B, F, I, W
from backend.schedule.order.order import Order

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


class Recomputation(NamedTuple):
    """Of each op of an order, (N,): whether it, and of a pair its backward half, is of a forward that keeps all; and
    where its backward half needs a forward that runs again, the op in front of which it does, else -1.
    """

    keeps: Bools
    backward_keeps: Bools
    before: Ints


@lru_cache(maxsize=4)
def recomputation(order: Order, spared: int, within: int) -> Recomputation:
    """Return what runs again: all but what is ``spared``, with its backward, or, with ``within``, what a rank cannot
    keep ``within`` that many chunks, also in front of other backwards (options/recompute.py).
    """
    rank, _, kind, chunk, micro, back, second = op_columns(order)
    pair, backward = kind == PAIR, np.isin(kind, (I, B, PAIR))
    shape = order.p, order.chunks, order.m
    cell, need = (
        np.ravel_multi_index((rank, of, np.clip(number, 0, order.m - 1)), shape)
        for of, number in ((chunk, micro), (np.where(pair, back, chunk), np.where(pair, second, micro)))
    )
    makes, frees = np.isin(kind, (F, PAIR)), np.isin(kind, (B, W, PAIR))
    keeps, before = np.zeros(order.p * order.chunks * order.m, bool), np.where(backward, np.arange(len(order)), -1)
    due = np.full(len(keeps), -1)
    due[need[backward]] = np.flatnonzero(backward)
    for low, high in pairwise(order.offsets.tolist()):
        columns = (each[low:high].tolist() for each in (makes, frees, backward, cell, need))
        row = _Row(low, due, list(zip(*columns, strict=True)))
        if within == 0:
            keeps[row.spared(spared)] = True
            continue
        again = row.beyond(within)
        keeps[cell[low:high]] = True
        keeps[again] = False
        for each, at in row.in_the_drain(again, within):
            before[due[each]] = at
    first = keeps[cell]
    held = np.where(pair, keeps[need], first)
    return Recomputation(first, held, np.where(held, -1, before))


class _Row(NamedTuple):
    """The ops of a rank, whose first is op ``low`` of the order: whether each makes activations, frees some and is a
    backward, the activations that it makes and those that it needs; ``due`` is the backward of each.
    """

    low: int
    due: Ints
    ops: list[tuple[bool, bool, bool, int, int]]

    def spared(self, count: int) -> list[int]:
        """Return which activations are kept: of as many forwards in a row as the rank holds at most, the first."""
        held, most, made = 0, 1, list[int]()
        for makes, frees, _, cell, _ in self.ops:
            if makes and self.due[cell] >= 0:
                made.append(cell)
                held += 1
            most = max(most, held)
            held -= frees
        return [cell for at, cell in enumerate(made) if at % most < count]

    def beyond(self, limit: int) -> list[int]:
        """Return as few activations as let the rank keep the others within a limit, by their backwards: where an op
        would exceed it, those go whose backward is furthest.
        """
        kept: list[tuple[int, int]] = []
        again: set[int] = set()
        level = 0
        for x, (makes, frees, backward, cell, need) in enumerate(self.ops, self.low):
            if makes and self.due[cell] >= 0:
                heappush(kept, (-int(self.due[cell]), cell))
                level += 1
            level += backward and need in again
            while level > limit and kept and -kept[0][0] > x:
                again.add(heappop(kept)[1])
                level -= 1
            level -= frees
        return sorted(again, key=self.due.__getitem__)

    def in_the_drain(self, again: list[int], limit: int) -> list[tuple[int, int]]:
        """Return which forwards run again before it is their backward's turn, and in front of which op: once the rank
        has run its last forward it waits for gradients, and runs one forward again before each for which there is room.
        """
        left: dict[int, None] = dict.fromkeys(again)
        moved: list[tuple[int, int]] = []
        last = max((x for x, (makes, *_) in enumerate(self.ops, self.low) if makes), default=self.low)
        level = 0
        for x, (makes, frees, backward, cell, need) in enumerate(self.ops, self.low):
            level += makes and self.due[cell] >= 0 and cell not in left
            if backward and need in left:
                del left[need]
                level += 1
            elif backward and x > last and left and level < limit:
                each = next(iter(left))
                del left[each]
                moved.append((each, x))
                level += 1
            level -= frees
        return moved
