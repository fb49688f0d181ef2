"""Find whether messages waited behind others on the streams of ranks (order/messages.py): head-of-line blocking.

A recording does not say on which streams its messages passed. Each way to post them is tried on the measured ends of
ops: it gives the time at which each message could pass.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from backend.schedule.order.dependencies import rules_of
from backend.schedule.order.lowering import deferred, lowered
from backend.schedule.order.messages import STREAMS, Messages
from backend.schedule.order.order import Order, micro_numbers

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Blocking:
    """One way to post the messages of an order, by which they passed at given times: ``passed`` (rows, n, I) each one,
    ``front`` (J,) the end that its stream finished last before it, where it waited for that, else -1.
    """

    messages: Messages
    receives: str
    passed: Floats
    front: Ints

    def held(self, order: Order, made: Floats) -> Floats:
        """Return (I, N, 2) how long the input of each half waited on a stream after it was ``made`` (I, N, 2)."""
        need, micro = _needed(order)
        passed = np.where(need >= 0, np.moveaxis(self.passed[need, micro], -1, 0), -np.inf)
        late = passed > made
        return np.subtract(passed, made, where=late, out=np.zeros_like(made))

    def behind(self, order: Order) -> Ints:
        """Return (N, 2) the end of a message behind which the input of each half waited on a stream, else -1."""
        need, micro = _needed(order)
        found = np.full(self.passed.shape[:2], -1)
        found[self.messages.row, self.messages.micro] = self.front
        return np.where(need >= 0, found[need, micro], -1)


def _needed(order: Order) -> tuple[Ints, Ints]:
    """Return (N, 2) the row of the result that each half of an op needs, -1 for none, and its micro-batch."""
    rank = np.repeat(np.arange(order.p), np.diff(order.offsets))
    micro = np.concatenate([np.stack(micro_numbers(order, each), 1) for each in range(order.p)])
    return rules_of(order).need[rank, order.codes].astype(np.int64), micro.astype(np.int64)


def ways(order: Order, end: Floats) -> Iterator[Blocking]:
    """Yield the ways to post an order's messages that do not deadlock, with when each passed; ``end`` (I, N) of ops."""
    for streams in STREAMS:
        if streams == "none":
            continue
        posted = lowered(order, streams)
        for receives in ("torch", "deferred"):
            found = posted if receives == "torch" else deferred(order, posted)
            passed = _passed(replace(order, messages=found), found, end)
            if passed is not None:
                yield Blocking(found, receives, *passed)


def _passed(order: Order, messages: Messages, end: Floats) -> tuple[Floats, Ints] | None:
    """Return when each message passed, and what was in front of it; None where messages wait for one another."""
    rule, partner = rules_of(order), messages.partner
    issued = [
        end[:, order.offsets[rank] + after - 1] if after else np.full(len(end), -np.inf)
        for rank, after in zip(messages.rank.tolist(), messages.issued.tolist(), strict=True)
    ]
    lane_of = list(zip(messages.rank.tolist(), messages.stream.tolist(), strict=True))
    lanes: dict[tuple[int, int], list[int]] = defaultdict(list)
    for job in range(len(messages) - 1, -1, -1):
        lanes[lane_of[job]].append(job)  # the first of a lane at its end
    last: dict[tuple[int, int], tuple[Floats, int]] = {lane: (np.full(len(end), -np.inf), -1) for lane in lanes}
    passed, front = np.full((rule.rows, order.n, len(end)), -np.inf), np.full(len(messages), -1)
    ready = list(lanes)
    while ready:
        here = ready.pop()
        while lanes[here]:
            job = lanes[here][-1]
            other = int(partner[job])
            there = lane_of[other]
            if lanes[there][-1] != other:
                break
            late, before = max((last[here], last[there]), key=lambda each: float(each[0].sum()))
            time = np.maximum.reduce([issued[job], issued[other], last[here][0], last[there][0]])
            passed[messages.row[job], messages.micro[job]] = time
            if float(late.sum()) >= float(np.maximum(issued[job], issued[other]).sum()):
                front[[job, other]] = before
            for lane, end_of in ((here, job), (there, other)):
                lanes[lane].pop()
                last[lane] = time, end_of
            ready.append(there)
    return None if any(lanes.values()) else (passed, front)
