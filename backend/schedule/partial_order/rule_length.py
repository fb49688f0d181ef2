"""The length of the shortest rule that writes a row of ops: the simplicity of an order.

A rule is a sequence of blocks. A block is a pattern of symbols and how often it is repeated; it costs one for each
symbol of its pattern, and one more if it is repeated. FFFF BF BF BF BBB is 4F 3(BF) 3B and costs 2 + 3 + 2 = 7. The
page computes the same (static/js/core/workbench).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
import numpy.typing as npt

from backend.schedule.order.ops import PAIR
from backend.schedule.order.order import Order, decode, micro_numbers


def shortest_rule(symbols: Sequence[Hashable]) -> int:
    """Return the least cost of blocks that write the symbols; 0 for none.

    Exact, in O(n^2) comparisons: no pattern is repeated inside another.
    """
    number: dict[Hashable, int] = {}
    row = np.array([number.setdefault(each, len(number)) for each in symbols], np.int64)
    size = len(row)
    best = list(range(size + 1))  # without a repetition, each symbol costs one
    again = [_matches(row, length) for length in range(size // 2 + 1)]
    for start in range(size):
        here = best[start]
        best[start + 1] = min(best[start + 1], here + 1)
        for length in range(1, (size - start) // 2 + 1):
            cost = here + length + 1
            for end in range(start + 2 * length, start + length + int(again[length][start]) + 1, length):
                if cost < best[end]:
                    best[end] = cost
    return best[size]


def _matches(row: npt.NDArray[np.int64], length: int) -> npt.NDArray[np.int64]:
    """Return (n,) how many symbols from each place on equal those `length` places later, up to the first that does
    not.
    """
    size = len(row)
    if length == 0:
        return np.zeros(size, np.int64)
    differs = np.flatnonzero(row[:-length] != row[length:])
    ends = np.append(differs, size - length)
    places = np.arange(size)
    return np.maximum(ends[np.minimum(np.searchsorted(ends, places), len(ends) - 1)] - places, 0)


def symbols_of(order: Order, rank: int) -> list[tuple[int, ...]]:
    """Return a rank's row as symbols: the op codes if the micro-batches are the implied ones, else each code with the
    step from the micro-batch of the previous op of that code (from -1 for the first).
    """
    codes = order.codes[order.offsets[rank] : order.offsets[rank + 1]].tolist()
    numbers = np.stack(micro_numbers(order, rank), 1)
    implied = Order(order.placement, order.m, order.codes, order.offsets)
    if np.array_equal(numbers, np.stack(micro_numbers(implied, rank), 1)):
        return [(code,) for code in codes]
    last: dict[int, list[int]] = {}
    out = []
    for code, both in zip(codes, numbers.tolist(), strict=True):
        pair = decode(code, order.chunks)[0] == PAIR
        now = both if pair else both[:1]
        before = last.get(code, [-1] * len(now))
        out.append((code, *(a - b for a, b in zip(now, before, strict=True))))
        last[code] = now
    return out


def simplicity(order: Order) -> int:
    """Return the sum over the ranks of the length of the shortest rule of each."""
    return sum(shortest_rule(symbols_of(order, rank)) for rank in range(order.p))
