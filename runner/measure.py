"""What a run measured, in the terms in which it was planned: the same figures of the same kind of timeline.

Knows Timelines and the metrics that read them, and what ranks report at their end. Does not know how anything was
measured.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from backend.schedule.metrics import figures
from backend.schedule.simulate import Timeline
from runner.control import Done
from runner.plan import Plan

_START, _END = 1, 2  # columns of a board's times, after ready


@dataclass(frozen=True, slots=True)
class Outcome:
    """Figures planned and measured, both in time units; `unit_ms` is how long a unit lasted."""

    predicted: Mapping[str, Any]
    measured: Mapping[str, Any]
    unit_ms: float
    largest_residual: Mapping[str, Any]


def outcome(plan: Timeline, times: npt.NDArray[np.int64], unit_ns: float | None) -> Outcome:
    """Compare a plan with the (N, 4) times of a run.

    `unit_ns` None (free mode): the unit is fitted as total measured busy time over total planned busy time, so that
    the measured ops last on the whole as long as the planned ones and only their arrangement is compared. The largest
    residual is the op whose end lies farthest from its planned end, in ns (positive: late).
    """
    start, end = times[:, _START].astype(np.float64), times[:, _END].astype(np.float64)
    planned = float((plan.end - plan.start).sum())
    unit = unit_ns or (float((end - start).sum()) / planned if planned > 0 else 1e6)
    measured = Timeline(plan.order, start / unit, end / unit)
    late = end - plan.end * unit
    worst = int(np.argmax(np.abs(late)))
    offsets = plan.order.offsets
    rank = int(np.searchsorted(offsets, worst, side="right") - 1)
    index = worst - int(offsets[rank])
    residual = {"rank": rank, "index": index, "op": plan.order.row(rank)[index].text(), "ns": int(late[worst])}
    return Outcome(figures(plan).as_dict(), figures(measured).as_dict(), unit / 1e6, residual)


def kept(plan: Plan, results: Sequence[Done], losses: Sequence[Sequence[float]]) -> dict[str, Any]:
    """What the ranks had to keep at once, and how the loss went from step to step."""
    activations = {"peak_bytes": [result.peak for result in results]}
    if any(program.copies for program in plan.program.ranks):
        activations["peak_bytes_without_offload"] = [result.whole for result in results]
    found: dict[str, Any] = {"activations": activations}
    if plan.training.asynchronous:
        found["weight_versions"] = [result.versions for result in results]
    if plan.training.steps > 1:
        found["losses"] = [finite(sum(step) / len(step)) for step in losses]
    return found


def finite(loss: float) -> float | None:
    """A loss as JSON has it, in which not every number is one."""
    return loss if math.isfinite(loss) else None
