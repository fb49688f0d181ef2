"""Recordings of simulated steps with planted faults, as a tool would have written them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from backend.schedule.errors import message
from backend.schedule.families import registry
from backend.schedule.interop.traces.recording import Recording, Row
from backend.schedule.order.lowering import lowered
from backend.schedule.order.op_columns import op_columns
from backend.schedule.order.ops import PAIR, B, F, I, W
from backend.schedule.simulation.costs import Costs
from backend.schedule.simulation.message_flow import producers
from backend.schedule.simulation.simulate import NOTHING, replay
from backend.schedule.spec import Spec

HOP, FORWARD, GRADIENT, WEIGHT = 0.2, 10.0, 10.0, 10.0  # ms


@dataclass(frozen=True)
class Fault:
    """One of the faults that are planted: ``cause`` as a finding names it, ``place`` what a finding says of it."""

    cause: str
    place: dict[str, Any] = field(default_factory=dict)


UNEVEN = Fault("imbalance", {"stage": 1})
WORKER = Fault("worker", {"rank": 1, "replica": 1})
LINK = Fault("link", {"source": 0, "target": 1})
LONG = Fault("micro_batches", {"micro": 2})
OVERHEAD = Fault("overhead")
PAUSE = Fault("pause", {"rank": 0})
HEAD_OF_LINE = Fault("head_of_line", {"streams": "rank", "receives": "torch"})  # of schedules with several chunks
FAULTS = (UNEVEN, WORKER, LINK, LONG, OVERHEAD, PAUSE)


def recording(
    spec: Spec, faults: Iterable[Fault] = (), steps: int = 3, replicas: int = 2, noise: float = 0.01, seed: int = 1
) -> Recording:
    """Return the recording of a schedule's steps. ``noise`` is the deviation of an op's time from its usual one."""
    order = registry.order(registry.validate(spec))
    rank, _, kind, chunk, micro, _, second = op_columns(order)
    stage = order.placement.stage_of[rank, chunk]
    source = np.random.default_rng(seed)
    made_by, crosses = producers(order)
    planted = {fault.cause for fault in faults}
    posted = replace(order, messages=lowered(order, "rank")) if "head_of_line" in planted else order
    usual = np.select(
        [kind == F, kind == I, kind == W, kind == B, kind == PAIR],
        [FORWARD, GRADIENT, WEIGHT, GRADIENT + WEIGHT, FORWARD + GRADIENT + WEIGHT],
    )
    lags = np.where(crosses, HOP, 0.0)
    if "link" in planted:
        slow = crosses & (rank[made_by] == 0) & (rank == 1)[:, None]
        lags[slow] = 9.0
    ops = [op for each in range(order.p) for op in order.row(each)]
    rows = []
    zero = 0.0
    for step in range(steps):
        longest = 0.0
        for replica in range(replicas):
            spent = usual * (1.0 + noise * source.standard_normal(len(usual)))
            if "imbalance" in planted:
                spent = spent * np.where(stage == 1, 1.5, 1.0)
            if "worker" in planted and replica == 1:
                spent = spent * np.where(rank == 1, 1.4, 1.0)
            if "micro_batches" in planted:
                own, other = (np.where(each == 2, 3.0, 1.0) for each in (micro, second))
                spent = spent * np.where(kind == PAIR, own / 3 + other * 2 / 3, own)
            before = np.full(len(spent), 1.5 if "overhead" in planted else 0.0)
            if "pause" in planted and (step, replica) == (1, 0):
                before[1] += 90.0  # before the second forward of rank 0
            timeline = replay(posted, spent + before, Costs(), NOTHING, 1, lags - before[:, None])
            begin = timeline.start + before + zero
            rows += [
                Row(step, replica, int(r), op, float(s), float(e))
                for r, op, s, e in zip(rank, ops, begin, timeline.end + zero, strict=True)
            ]
            longest = max(longest, float(timeline.end.max()))
        zero += longest
    return Recording(message("schedule.trace_of_table", "a table of ops"), rows)
