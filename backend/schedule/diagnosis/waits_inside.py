"""Take the waits for messages out of ops, where a recorder has them inside: torch's ranges on gloo.

An op cannot have computed before its input existed. How long the message travelled after that shows where other ops of
the same kind in the same stage did not wait: it is what the waiting ones took more, link by link.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from backend.schedule.order.op_columns import op_columns
from backend.schedule.order.ops import PAIR
from backend.schedule.order.order import Order
from backend.schedule.simulation.message_flow import producers

Floats = npt.NDArray[np.float64]
ROUNDS = 3


def without_waits(order: Order, start: Floats, end: Floats, group: npt.NDArray[np.int64]) -> Floats:
    """Return (I, N) when ops began to compute, from times with waits inside; ``group`` (N,) has ops that last alike."""
    rank = op_columns(order).rank
    made_by, crosses = producers(order)
    made = np.where(made_by >= 0, end[:, made_by], -np.inf)
    last = made.argmax(axis=2)  # the half whose input comes last, which is the one that is waited for
    input_at = np.take_along_axis(made, last[:, :, None], axis=2)[:, :, 0]
    maker = np.where(last == 1, made_by[:, 1], made_by[:, 0])
    travels = np.where(last == 1, crosses[:, 1], crosses[:, 0]) & (maker >= 0)
    link = np.where(travels, rank[maker] * order.p + rank, -1)
    waited = travels & (input_at > start)
    hop = np.zeros(order.p * order.p)
    for each in range(ROUNDS):
        there = ~waited & (input_at + np.where(travels, hop[link], 0.0) <= start)
        late = end - input_at - _usual(order, end - start, there, group, first=each == 0)
        known = waited & np.isfinite(late)
        if not known.any():
            break
        whole = _shortest(late[known])
        each_link = (late[known & (link == at)] for at in range(len(hop)))
        hop = np.array([_shortest(times) if times.size else whole for times in each_link])
    arrived = input_at + np.where(travels, hop[link], 0.0)
    begun: Floats = np.minimum(np.maximum(start, arrived), end)
    return begun


def _shortest(late: Floats) -> float:
    """Return the time of a message: the lower quartile, as what an op of a long micro-batch takes more is none."""
    return max(0.0, float(np.quantile(late, 0.25, method="lower")))


def _usual(
    order: Order, spent: Floats, there: npt.NDArray[np.bool_], group: npt.NDArray[np.int64], first: bool
) -> Floats:
    """Return (I, N) what ops take without a wait, NaN where that is not known: as ops of their group whose input was
    there, times how large their micro-batch is by the ops of it that did not wait; at first the shortest.
    """
    columns = op_columns(order)
    single = columns.kind != PAIR
    size = np.ones((len(spent), order.m))
    usual = np.full(int(group.max()) + 1, np.nan)
    for _ in range(1 if first else ROUNDS):
        scaled = spent / np.where(single, size[:, columns.micro], 1.0)
        for number in np.unique(group):
            mine = there & (group == number)
            if mine.any():
                usual[number] = float(scaled[mine].min() if first else np.median(scaled[mine]))
        ratio = spent / np.where(usual[group] > 0.0, usual[group], np.nan)
        for micro in range(order.m):
            mine = np.where(there & single & (columns.micro == micro), ratio, np.nan)
            has = np.isfinite(mine).any(axis=1)
            size[has, micro] = np.nanmedian(mine[has], axis=1)
    if first:
        size[:] = 1.0
    found: Floats = usual[group] * np.where(single, size[:, columns.micro], 1.0)
    return found
