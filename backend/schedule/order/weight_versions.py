"""Weight versions of an asynchronous order: the weights that each op uses, and the number that a rank must keep.

A rank updates its weights after every full backward. A micro-batch's forward begins with the newest version and its
backward uses the same one, whatever updates came in between (PipeDream, section 3.3).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from backend.schedule.order.ops import Pair
from backend.schedule.order.order import Order

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Versions:
    """``used`` (N,) the version of each op, laid out as the order's codes; ``late`` (N,) for a backward the updates
    made since its forward, 0 for other ops; ``stashed`` (N,) the number of versions besides the newest in memory
    once the op has ended; ``held`` (p,) the most versions in a rank's memory at once, including the newest.
    """

    used: Ints
    late: Ints
    stashed: Ints
    held: Ints


def weight_versions(order: Order) -> Versions:
    """Compute the versions of an order with one chunk per rank and full backwards (1F1B without a flush)."""
    used, late, stashed = (np.zeros(len(order), np.int64) for _ in range(3))
    held = np.zeros(order.p, np.int64)
    for rank in range(order.p):
        begun: dict[int, int] = {}  # micro-batch in flight: its version
        newest = 0
        for at, op in enumerate(order.row(rank), int(order.offsets[rank])):
            assert not isinstance(op, Pair)
            if op.kind == "F":
                begun[op.micro] = newest
                used[at] = newest
            else:
                used[at] = begun.pop(op.micro)
                late[at] = newest - used[at]
                newest += 1
            stashed[at] = len({*begun.values(), newest}) - 1
            held[rank] = max(held[rank], stashed[at] + 1)
    return Versions(used, late, stashed, held)
