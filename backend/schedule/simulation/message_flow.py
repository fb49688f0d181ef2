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


def without_waits(timeline: Timeline) -> tuple[Timeline, float, float, bool]:
    """Return measured times in which each op begins no earlier than its inputs arrived; the longest time by which an
    op ended before its input was made (0 if the ranks' clocks agree); the time of a message; and whether that is
    unknown for some ops that waited, which then begin when their inputs were made.

    Recorders that wait for a message inside the op (torch's ranges on gloo) show idle time as work; an op cannot have
    computed before its input existed. How long the message travelled after that shows where other ops of the same
    kind in the same stage did not wait: it is what the waiting ones took more.
    """
    order = timeline.order
    made_by, crosses = producers(order)
    each = np.where(made_by >= 0, timeline.end[made_by], -np.inf)
    made, sent = each.max(axis=1), (each == each.max(axis=1, keepdims=True)) & crosses & (made_by >= 0)
    waited = made > timeline.start
    early = float(np.max(made - timeline.end, initial=0.0))
    hop, unsure = _hop(timeline, made, waited & sent.any(axis=1))
    arrived = (each + hop * crosses).max(axis=1) if hop else made
    # A message that was made before the op began may still have been on its way; only one that was waited for shows.
    start = np.minimum(np.maximum(timeline.start, arrived), timeline.end)
    return Timeline(order, start, timeline.end), early, hop, unsure


def _hop(timeline: Timeline, made: npt.NDArray[np.float64], waited: npt.NDArray[np.bool_]) -> tuple[float, bool]:
    """Return the median time of the messages that ops waited for, and whether some of these ops have no op of their
    kind and stage beside them that did not wait.
    """
    order = timeline.order
    group = np.repeat(np.arange(order.p), np.diff(order.offsets)) * 256 + order.codes.astype(np.int64)
    slack = timeline.start - made
    spent, late = timeline.end - timeline.start, timeline.end - made
    hop, unsure = 0.0, False
    for _ in range(2):  # first with every op whose input was made before it began, then with those it had reached
        found, unsure = [np.empty(0)], False
        for number in np.unique(group[waited]).tolist():
            mine = group == number
            free = mine & ~waited & (slack >= hop)
            if free.any():
                usual = float(np.median(spent[free]) if hop else spent[free].min())
                found.append(late[mine & waited] - usual)
            else:
                unsure = True
        times = np.concatenate(found)
        if not times.size:
            return 0.0, unsure
        hop = max(0.0, float(np.median(times)))
    return hop, unsure
