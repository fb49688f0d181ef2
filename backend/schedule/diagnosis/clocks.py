"""Bring the clocks of ranks together: no op can have computed before the rank that makes its input had made it.

Every message bounds how much later one rank's clock may be than another's, from one side; activations and gradients
together bound it from both. Where the clocks as recorded break a bound, each rank's is moved to the middle of what its
bounds leave, counted from rank 0.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from backend.schedule.errors import Message, message
from backend.schedule.order.op_columns import op_columns
from backend.schedule.order.order import Order
from backend.schedule.simulation.message_flow import producers

Floats = npt.NDArray[np.float64]
SLACK = 0.02  # of a usual op: recorders round, and an op may end a little before its result is used


def aligned(
    order: Order, start: Floats, end: Floats, group: npt.NDArray[np.int64] | None
) -> tuple[Floats, Message | None]:
    """Return (p,) how much is to be added to each rank's times (I, N), and a note if that is not 0; ``group`` (N,) has
    the ops that last alike, None where they may have waited inside.
    """
    offsets = np.zeros(order.p)
    rank = op_columns(order).rank
    made_by, crosses = producers(order)
    begun = end  # the latest moment at which an op can have begun to compute
    if group is not None:
        least = np.full(int(group.max()) + 1, np.inf)
        np.minimum.at(least, np.broadcast_to(group, end.shape), end - start)
        begun = end - least[group]
    behind = np.full((order.p, order.p), -np.inf)  # by how much the clock of the row is at least ahead of the column's
    for half in (0, 1):
        taker = np.flatnonzero(crosses[:, half] & (made_by[:, half] >= 0))
        maker = made_by[taker, half]
        np.maximum.at(
            behind, (rank[maker], rank[taker]), (end[:, maker] - begun[:, taker]).max(axis=0, initial=-np.inf)
        )
    slack = SLACK * float(np.median(end - start))
    if not (behind > slack).any():
        return offsets, None
    np.fill_diagonal(behind, 0.0)
    for via in range(order.p):  # longest paths: what bounds say together
        behind = np.maximum(behind, behind[:, [via]] + behind[[via], :])
    low, high = behind[0], -behind[:, 0]
    known = np.isfinite(low) & np.isfinite(high)
    offsets = np.where(known, (low + high) / 2, np.where(np.isfinite(low), np.maximum(low, 0.0), 0.0))
    unsure = float(np.max(np.abs(high - low)[known], initial=0.0)) / 2
    note = message(
        "schedule.clocks_aligned",
        "the clocks of ranks differ: they were moved by up to {most} ms, so that every message arrives after it was "
        "sent; that is certain to {unsure} ms",
        most=f"{np.abs(offsets).max():.3g}",
        unsure=f"{unsure:.2g}",
    )
    return offsets, note
