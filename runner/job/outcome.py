"""Compare a run with its plan: the same figures, from the same kind of timeline.

Does not depend on how the times were measured.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from backend.schedule.diagnosis.calibrate import calibrate
from backend.schedule.simulation.metrics import figures
from backend.schedule.simulation.simulate import Timeline
from runner.job.busy_machine import lack_of_cores, over_plan, too_busy
from runner.job.busy_machine import note as busy_note
from runner.job.idle_time import awaits_reload, idle, made, slowest
from runner.job.plan import JobPlan
from runner.messages import StepDone
from runner.model.verdict import Verdict, reasons
from runner.telemetry.op_board import Board
from runner.telemetry.rows import COPY, OP


@dataclass(frozen=True, slots=True)
class Outcome:
    """The planned and the measured figures, both in time units; `unit_ms` is the length of a unit, `timeline` the
    measured ops in these units.
    """

    timeline: Timeline
    predicted: Mapping[str, Any]
    measured: Mapping[str, Any]
    unit_ms: float
    largest_residual: Mapping[str, Any]


def outcome(plan: Timeline, times: npt.NDArray[np.int64], unit_ns: float | None) -> Outcome:
    """Compare a plan with the times of a run, `times` (ops, 5) as `OpTimes`.

    `unit_ns` None (free mode): the unit is fitted as total measured busy time over total planned busy time, so that
    the measured ops take as long in total as the planned ones and only their arrangement is compared. The largest
    residual is that of the op whose end differs most from its planned end, in ns (positive: late).
    """
    start, end = times[:, OP.start].astype(np.float64), times[:, OP.end].astype(np.float64)
    planned = float((plan.end - plan.start).sum())
    unit = unit_ns or (float((end - start).sum()) / planned if planned > 0 else 1e6)
    measured = Timeline(plan.order, start / unit, end / unit)
    late = end - plan.end * unit
    worst = int(np.argmax(np.abs(late)))
    offsets = plan.order.offsets
    rank = int(np.searchsorted(offsets, worst, side="right") - 1)
    index = worst - int(offsets[rank])
    residual = {"rank": rank, "index": index, "op": plan.order.row(rank)[index].text(), "ns": int(late[worst])}
    return Outcome(measured, figures(plan).as_dict(), figures(measured).as_dict(), unit / 1e6, residual)


def resource_use(plan: JobPlan, results: Sequence[StepDone], losses: Sequence[Sequence[float]]) -> dict[str, Any]:
    """Return the most activations and weight versions that each rank held, and the mean loss of each of several
    steps."""
    activations = {"peak_bytes": [result.peak for result in results]}
    if any(program.copies for program in plan.program.ranks):
        activations["peak_bytes_without_offload"] = [result.whole for result in results]
    found: dict[str, Any] = {"activations": activations, "starved": [result.starved for result in results]}
    if plan.training.asynchronous:
        found["weight_versions"] = [result.versions for result in results]
    if plan.training.steps > 1:
        found["losses"] = [finite(sum(step) / len(step)) for step in losses]
    return found


def timing_details(plan: JobPlan, board: Board, record_ns: float, found: Outcome) -> dict[str, Any]:
    """Return the busy and idle time of each rank, the slowest rank and the cost of recording, all in ns; and the
    measured costs of ops, with the figures that the simulator gives for them, in time units."""
    offsets, times = board.offsets, board.times
    reload = awaits_reload(plan.program, offsets)
    needed = made(plan.timeline.order, times[:, OP.end])
    idle_ns = idle(offsets, times, needed, reload, plan.mode == "paced", record_ns)
    busy_ns = np.add.reduceat(times[:, OP.end] - times[:, OP.start], offsets[:-1])
    planned = plan.timeline.busy()
    copies = board.copy_times[:, (COPY.start, COPY.end)].T / (found.unit_ms * 1e6)
    calibrated = calibrate(replace(found.timeline, copy_start=copies[0], copy_end=copies[1]), plan.v, plan.costs)
    rank, ops = slowest(busy_ns.tolist(), planned.tolist()), int(np.diff(offsets).max())
    makespan = max(1, int(times[:, OP.end].max() - times[:, OP.start].min()))
    return {
        "idle": idle_ns,
        "busy": busy_ns.tolist(),
        "slowest": {"rank": rank, "busy": int(busy_ns[rank]), "planned": float(planned[rank])},
        "instrumentation": {"op_ns": round(record_ns), "share": ops * record_ns / makespan},
        "calibrated": calibrated.as_dict(),
    }


def busy_machine(plan: JobPlan, found: Outcome, details: Mapping[str, Any]) -> dict[str, Any]:
    """Return, of a paced run, by which share it took longer than planned (`over_plan`), and `too_busy` where that is
    too much; nothing of a free one. `details` are those of `timing_details`."""
    if plan.unit_ms is None:
        return {}
    over = over_plan(found.predicted, found.measured)
    planned = plan.timeline.busy().tolist()
    busy = too_busy(over, details["idle"], details["busy"], planned, plan.unit_ms * 1e6)
    return {"over_plan": over} | ({} if busy is None else {"too_busy": busy})


def notes(
    plan: JobPlan,
    found: Outcome,
    verdict: Verdict,
    results: Sequence[StepDone],
    losses: Sequence[Sequence[float]],
    late: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the sentences about a run under `notes`, if there are any; `late` is what `busy_machine` found."""
    makespan_ns = float(found.measured["makespan"]) * found.unit_ms * 1e6
    sentences = reasons(verdict, losses, plan.training.dtype)
    sentences += [busy_note(late["too_busy"])] if "too_busy" in late else []
    sentences += lack_of_cores(plan.mode, makespan_ns, [result.starved for result in results])
    return {"notes": sentences} if sentences else {}


def finite(loss: float) -> float | None:
    """Return a loss as JSON has it: None where it is not finite."""
    return loss if math.isfinite(loss) else None
