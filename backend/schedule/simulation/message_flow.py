"""Find the producer of each op's input: the dependency rule resolved to the ops of one legal order.

Used to draw arrows between slices and to analyse measured times; the simulator does not need it, because it takes
results as they are made.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from backend.schedule.order.dependencies import rules_of
from backend.schedule.order.order import Order, micro_numbers
from backend.schedule.simulation.simulate import Timeline

Ints = npt.NDArray[np.int64]


def producers(order: Order) -> tuple[Ints, npt.NDArray[np.bool_]]:
    """Return (N, 2) the flat index of the op that makes the input of each half of an op, -1 for none; and (N, 2)
    whether that input comes from another rank.

    A barrier and a reload are made by no single op: -1. ``order`` must be legal.
    """
    rule = rules_of(order)
    rank = np.repeat(np.arange(order.p), np.diff(order.offsets))
    k = np.concatenate([np.stack(micro_numbers(order, r), 1) for r in range(order.p)]).astype(np.int64)
    need, give = rule.need[rank, order.codes], rule.give[rank, order.codes]
    maker = np.full((rule.rows, order.n), -1, np.int64)
    maker[give[give >= 0], k[give >= 0]] = np.nonzero(give >= 0)[0]
    out = np.full(need.shape, -1, np.int64)
    out[need >= 0] = maker[need[need >= 0], k[need >= 0]]
    return out, rule.hops[rank, order.codes] > 0


def message_count(order: Order) -> int:
    """Count the values sent between different ranks in a step: each boundary between ranks, forward and, unless the
    stage before it has no backward, backward."""
    place = order.placement
    slot = np.arange(place.p * place.chunks)
    crosses = (place.before >= 0) & (place.before // place.chunks != slot // place.chunks)
    back = crosses & ~order.forward_slots.reshape(-1)[place.before]
    return int(crosses.sum() + back.sum()) * order.n


def without_waits(timeline: Timeline) -> tuple[Timeline, float]:
    """Return measured times in which each op begins no earlier than its inputs were made, and the longest time by
    which an op ended before its input was made (0 if the ranks' clocks agree).

    Recorders that wait for a message inside the op (torch's ranges on gloo) show idle time as work; an op cannot have
    computed before its input existed.
    """
    made_by, _ = producers(timeline.order)
    made = np.where(made_by >= 0, timeline.end[made_by], -np.inf).max(axis=1)
    early = float(np.max(made - timeline.end, initial=0.0))
    start = np.minimum(np.maximum(timeline.start, made), timeline.end)
    return Timeline(timeline.order, start, timeline.end), early
