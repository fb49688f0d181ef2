"""What a run measured, in the terms in which it was planned: the same figures of the same kind of timeline.

Knows Timelines and the metrics that read them, and what ranks report at their end. Does not know how anything was
measured.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from backend.schedule.analysis.calibrate import calibrate
from backend.schedule.simulation.metrics import busy_time, figures
from backend.schedule.simulation.simulate import Timeline
from runner.job.idle_time import END, START, awaited, idle, slowest
from runner.job.plan import Plan
from runner.messages import TOLERANCE, StepDone, Verdict
from runner.program.traffic import Traffic
from runner.telemetry.op_board import Board

CROWDED = 0.02  # the share of a run's time without a core that is worth a word


@dataclass(frozen=True, slots=True)
class Outcome:
    """Figures planned and measured, both in time units; `unit_ms` is how long a unit lasted, `timeline` what happened
    in these units."""

    timeline: Timeline
    predicted: Mapping[str, Any]
    measured: Mapping[str, Any]
    unit_ms: float
    largest_residual: Mapping[str, Any]


def outcome(plan: Timeline, times: npt.NDArray[np.int64], unit_ns: float | None) -> Outcome:
    """Compare a plan with the times of a run, one row an op.

    `unit_ns` None (free mode): the unit is fitted as total measured busy time over total planned busy time, so that
    the measured ops last on the whole as long as the planned ones and only their arrangement is compared. The largest
    residual is the op whose end lies farthest from its planned end, in ns (positive: late).
    """
    start, end = times[:, START].astype(np.float64), times[:, END].astype(np.float64)
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


def kept(plan: Plan, results: Sequence[StepDone], losses: Sequence[Sequence[float]]) -> dict[str, Any]:
    """What the ranks had to keep at once, and how the loss went from step to step."""
    activations = {"peak_bytes": [result.peak for result in results]}
    if any(program.copies for program in plan.program.ranks):
        activations["peak_bytes_without_offload"] = [result.whole for result in results]
    found: dict[str, Any] = {"activations": activations, "starved": [result.starved for result in results]}
    if plan.training.asynchronous:
        found["weight_versions"] = [result.versions for result in results]
    if plan.training.steps > 1:
        found["losses"] = [finite(sum(step) / len(step)) for step in losses]
    return found


def judged(plan: Plan, board: Board, traffic: Traffic, note_ns: float, found: Outcome) -> dict[str, Any]:
    """What the times say beyond their figures: what every rank waited for, which one was slowest, what noting all this
    cost, all in ns; and the costs that the ops had, with what the simulator makes of them, in time units."""
    offsets, times = board.offsets, board.times
    waits = awaited(plan.program, traffic, offsets, board.message_times)
    spread = idle(offsets, times, waits, plan.mode == "paced", note_ns)
    spent = np.add.reduceat(times[:, END] - times[:, START], offsets[:-1])
    planned = busy_time(plan.timeline)
    copies = board.copy_times[:, (START, END)].T / (found.unit_ms * 1e6)
    calibrated = calibrate(replace(found.timeline, copy_start=copies[0], copy_end=copies[1]), plan.v)
    rank, ops = slowest(spent.tolist(), planned.tolist()), int(np.diff(offsets).max())
    makespan = max(1, int(times[:, END].max() - times[:, START].min()))
    return {
        "idle": spread,
        "busy": spent.tolist(),
        "slowest": {"rank": rank, "busy": int(spent[rank]), "planned": float(planned[rank])},
        "instrumentation": {"op_ns": round(note_ns), "share": ops * note_ns / makespan},
        "calibrated": calibrated.as_dict(),
    }


def notes(
    plan: Plan, found: Outcome, verdict: Verdict, results: Sequence[StepDone], losses: Sequence[Sequence[float]]
) -> dict[str, Any]:
    """What there is to say under `notes`, a sentence each; nothing where there is nothing."""
    told = doubts(verdict, losses, plan.training.dtype) + crowding(plan.mode, found, results)
    return {"notes": told} if told else {}


def crowding(mode: str, found: Outcome, results: Sequence[StepDone]) -> list[str]:
    """That an unpaced run had not its cores for itself: its times are then not those of its ops alone."""
    starved = [result.starved for result in results]
    most, makespan = max(starved), float(found.measured["makespan"]) * found.unit_ms * 1e6
    if mode != "free" or most <= CROWDED * makespan:
        return []
    rank = starved.index(most)
    return [
        f"Rank {rank} was ready for {most / 1e6:.1f} ms without a core to run on, {most / makespan:.0%} of the run."
    ]


def doubts(verdict: Verdict, losses: Sequence[Sequence[float]], dtype: str) -> list[str]:
    """Why a run is not verified, in a sentence; none where it is."""
    if verdict.verified:
        return []
    for number, step in enumerate(losses, 1):
        for micro, loss in enumerate(step):
            if not math.isfinite(loss):
                of = f"/{len(losses)}" if len(losses) > 1 else ""
                return [f"Not verified: the loss of micro-batch {micro} in step {number}{of} is {loss}."]
    if verdict.max_grad_error is None:
        return [f"Not verified: {verdict.worst} is not there, or not all of it is a number."]
    error = f"{verdict.max_grad_error:.1e} of the gradient of {verdict.worst}"
    text = f"Not verified: the largest relative error, {error}, or that of the loss is above {TOLERANCE[dtype]:.1e}."
    return [text]


def finite(loss: float) -> float | None:
    """A loss as JSON has it, in which not every number is one."""
    return loss if math.isfinite(loss) else None
