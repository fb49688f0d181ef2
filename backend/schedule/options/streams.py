"""Place the sends and receives of an order on streams of messages (order/messages.py): as torch does, or without
head-of-line blocking.

*placed* takes messages in the order in which they become ready in the schedule without streams, on every rank alike: a
send follows its op, a receive is posted with what stands before it on its stream. So no message stands behind one that
is ready later, and no two ranks wait for each other, on any number of streams. The construction is ours.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from backend.schedule.order.dependencies import rules
from backend.schedule.order.lowering import deferred, lowered
from backend.schedule.order.messages import Messages, of_jobs
from backend.schedule.order.ops import S
from backend.schedule.order.order import Order, code_table, micro_numbers
from backend.schedule.simulation.costs import Costs, SizedCosts, durations, own_times
from backend.schedule.simulation.message_flow import producers
from backend.schedule.simulation.simulate import replay

Ints = npt.NDArray[np.int64]

LEAST = 1e-3  # of the longest op, for which an op without a time counts: what follows it must be later


def with_messages(order: Order, costs: Costs, v: int, streams: str, receives: str) -> Order:
    """Return a legal order with its messages on ``streams``, posted as ``receives`` says."""
    if receives == "placed":
        return replace(order, messages=placed(order, costs, v, streams))
    found = lowered(order, streams)
    return replace(order, messages=deferred(order, found) if receives == "deferred" else found)


def placed(order: Order, costs: Costs, v: int, streams: str) -> Messages:
    """Return the messages in the order in which they become ready without streams."""
    ended = replay(replace(order, copies=None), _spent(order, costs, v), costs, v=v).end
    rank = np.repeat(np.arange(order.p), np.diff(order.offsets))
    rule = rules(order.placement)
    number = np.concatenate([np.stack(micro_numbers(order, each), 1) for each in range(order.p)]).astype(np.int64)
    made, crosses = producers(order)
    broadcast = code_table(order.chunks)[order.codes, 0] == S  # of the last stage's output
    taker, half = np.nonzero(crosses & (made >= 0) & ~broadcast[:, None])
    maker, row = made[taker, half], rule.need[rank[taker], order.codes[taker], half]
    micro = np.where(rule.give[rank[taker], order.codes[taker], half] < 0, number[taker, 0], number[taker, half])
    sequence = np.lexsort((micro, row, ended[maker]))
    ends = []
    for each in range(order.p):
        mine = sequence[(rank[maker[sequence]] == each) | (rank[taker[sequence]] == each)]
        receive = rank[taker[mine]] == each
        peer = np.where(receive, rank[maker[mine]], rank[taker[mine]])
        issued = np.where(receive, 0, maker[mine] - order.offsets[each] + 1)
        ends.append(_posted(np.stack((row[mine], micro[mine], receive, peer, issued)), streams))
    return of_jobs(ends, streams)


def _posted(ends: Ints, streams: str) -> Ints:
    """Return (5, J) the ends of messages on a rank, each receive posted with what stands before it on its stream."""
    stream = of_jobs([ends], streams).stream
    for each in np.unique(stream):
        ends[4, stream == each] = np.maximum.accumulate(ends[4, stream == each])
    return ends[:, np.argsort(ends[4], kind="stable")]


def _spent(order: Order, costs: Costs, v: int) -> npt.NDArray[np.float64]:
    """Return (N,) the time of each op, at least ``LEAST`` of the longest."""
    if isinstance(costs, SizedCosts):
        spent = own_times(order, costs, v)
    else:
        rank = np.repeat(np.arange(order.p), np.diff(order.offsets))
        spent = durations(order.placement, costs, v)[rank, order.codes]
    longest = float(spent.max(initial=0.0))
    least: npt.NDArray[np.float64] = np.maximum(spent, LEAST * longest if longest > 0.0 else 1.0)
    return least
