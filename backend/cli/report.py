"""The results of runs for the terminal and for files: shared by the commands that execute schedules."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from backend.runs.errors import RunFailure
from backend.runs.run_details import run_details, trace
from backend.runs.run_series import Rows
from backend.schedule.diagnosis.calibrate import Calibration, calibrate
from backend.schedule.interop.traces import run_trace
from backend.schedule.order.order import Order
from backend.schedule.simulation.costs import SizedCosts
from backend.schedule.simulation.simulate import Timeline
from backend.schedule.spec import Spec

NOTHING = 0.0005  # a share that is shown as 0.0 %
IDLE = {
    "input": "predecessors",
    "message": "messages",
    "copy": "copies",
    "late_start": "late starts",
    "instrumentation": "instrumentation",
    "own": "the rank itself",
    "over": "nothing left to do",
}


def as_shape(last: Mapping[str, Any], order: Order, rows: Rows) -> dict[str, Any]:
    """Return a finished run as the last line of output: verdict, both sets of figures, every op with its text."""
    facts = {key: value for key, value in last.items() if key not in ("event", "id")}
    return facts | run_details(order, rows)


def result_line(shape: Mapping[str, Any]) -> str:
    """Return the result of a finished run in one sentence: verdict, step time against the plan, bubble against the
    prediction."""
    predicted, measured = shape["predicted"], shape["measured"]
    real, plan = (figures["bubble"]["global"]["of_total"] for figures in (measured, predicted))
    verdict = "Verified." if shape["verified"] else "NOT verified."
    length = _duration(measured["makespan"] * shape["unit_ms"])
    if "over_plan" in shape:
        over = shape["over_plan"]
        near = abs(over) < NOTHING
        length += ", as planned" if near else f", {abs(over) * 100:.1f} % {'over' if over > 0 else 'under'} plan"
    return f"{verdict} {length}; bubble {real * 100:.1f} %, predicted {plan * 100:.1f} %."


def _duration(ms: float) -> str:
    """Return a time in s, or in ms where it is short."""
    return f"{ms / 1000:.2f} s" if ms >= 1000 else f"{ms:.3g} ms"


def unfinished(last: Mapping[str, Any]) -> dict[str, Any]:
    """Return why a run has not finished: {"error"} of a refused job, {"failure"} of a failed or cancelled run."""
    if last["event"] == "error":
        return {"error": last["error"]}
    if last["event"] == "failed":
        return {"failure": RunFailure.read(last.get("failure")).as_dict()}
    return {"failure": RunFailure(last["event"], f"the run was {last['event']}").as_dict()}


def failure_text(failure: Mapping[str, Any]) -> str:
    """Return a failure in a line."""
    place = [f"rank {failure['rank']}"] if failure["rank"] is not None else []
    place += [f"op {failure['op']}"] if failure["op"] is not None else []
    return f"{', '.join(place)}: {failure['message']}" if place else str(failure["message"])


def write_trace(path: Path, shape: Mapping[str, Any], order: Order, rows: Rows, title: str) -> None:
    """Write the run as a Chrome trace."""
    path.write_text(json.dumps(trace(order, rows, title, shape["device"])) + "\n")


def calibration_of(order: Order, rows: Rows, spec: Spec) -> Calibration:
    """Return the costs of a run, in ms."""
    measured = run_trace.timeline_of(order, rows["ops"], rows["copies"])
    times = (measured.start, measured.end, measured.copy_start, measured.copy_end)
    return calibrate(Timeline(order, *(part / 1e6 for part in times)), spec.v, spec.timing)


def calibration_lines(calibration: Calibration) -> list[str]:
    """Return lines with the costs, the makespan that they predict, and the op that is farthest from it."""
    order, costs = calibration.measured.order, calibration.measured_costs()
    lines = ["costs measured, in ms:"]
    for name, cost in costs.items():
        shown = " ".join(f"{each:.3f}" for each in cost) if isinstance(cost, list) else f"{cost:.3f}"
        lines.append(f"  {name:<4} {shown}" + ("   by stage" if isinstance(cost, list) else ""))
    if isinstance(calibration.costs, SizedCosts):
        lines[0] = "costs measured of a micro-batch of size 1, in ms:"
        lines.append(f"  {calibration.costs.fixed:.0%} of an op does not depend on the size of its micro-batch")
    predicted, measured = (
        float(one.end.max() - one.start.min()) for one in (calibration.predicted, calibration.measured)
    )
    lines.append(
        f"makespan at these costs {predicted:.2f} ms, measured {measured:.2f} ms: {calibration.error:+.2%}; "
        f"with each op at its measured time {calibration.replay_error:+.2%}"
    )
    late = calibration.residual
    worst = int(np.argmax(np.abs(late)))
    rank = int(np.searchsorted(order.offsets, worst, side="right") - 1)
    op = order.row(rank)[worst - int(order.offsets[rank])].text()
    lines.append(
        f"ops end {float(np.median(np.abs(late))):.2f} ms from their prediction in the median; "
        f"farthest {op} on rank {rank}, {late[worst]:+.2f} ms"
    )
    return lines


def idle_lines(shape: Mapping[str, Any]) -> list[str]:
    """Return lines with the shares of the ranks' idle time, the slowest rank and the tracing overhead."""
    sums = {name: sum(shape["idle"][key]) for key, name in IDLE.items()}
    whole = sum(sums.values())
    parts = [f"{name} {amount / whole:.0%}" for name, amount in sums.items() if whole and amount / whole >= 0.005]
    slow, tracing = shape["slowest"], shape["instrumentation"]
    return [
        f"idle time: {', '.join(parts) or 'none'}",
        f"slowest rank compared with its plan: {slow['rank']}; "
        f"tracing overhead {tracing['op_ns'] / 1000:.1f} us per op, {tracing['share']:.2%} of the step",
    ]
