"""What a run measured, for the terminal and for files: shared by the commands that execute schedules."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from backend.runs.run_details import told, trace
from backend.runs.run_series import Rows
from backend.schedule.analysis.calibrate import Calibration, calibrate
from backend.schedule.interop import run_trace
from backend.schedule.order.order import Order
from backend.schedule.simulation.simulate import Timeline

IDLE = {
    "message": "messages",
    "copy": "copies",
    "late_wake_up": "late wake-ups",
    "instrumentation": "instrumentation",
    "own": "the rank itself",
    "over": "nothing left to do",
}


def as_shape(last: Mapping[str, Any], order: Order, rows: Rows) -> dict[str, Any]:
    """A finished run as the last line of output: the verdict, both sets of figures, every op with its text."""
    return {key: value for key, value in last.items() if key not in ("event", "id")} | told(order, rows)


def write_trace(path: Path, shape: Mapping[str, Any], order: Order, rows: Rows, title: str) -> None:
    """The run as a Chrome trace."""
    path.write_text(json.dumps(trace(order, rows, title, shape["device"])) + "\n")


def calibration_of(order: Order, rows: Rows, v: int) -> Calibration:
    """The costs of a run, in ms."""
    measured = run_trace.timeline_of(order, rows["ops"], rows["copies"])
    times = (measured.start, measured.end, measured.copy_start, measured.copy_end)
    return calibrate(Timeline(order, *(part / 1e6 for part in times)), v)


def told_calibration(found: Calibration) -> list[str]:
    """Costs, what they predict, and the op farthest from it."""
    order, costs = found.measured.order, found.costs_json()
    lines = ["costs measured, in ms:"]
    for name, cost in costs.items():
        if cost is not None:
            shown = " ".join(f"{each:.3f}" for each in cost) if isinstance(cost, list) else f"{cost:.3f}"
            lines.append(f"  {name:<4} {shown}" + ("   by stage" if isinstance(cost, list) else ""))
    predicted, measured = (float(one.end.max() - one.start.min()) for one in (found.predicted, found.measured))
    lines.append(
        f"makespan at these costs {predicted:.2f} ms, measured {measured:.2f} ms: {found.error:+.2%}; "
        f"with each op's own time {found.replay_error:+.2%}"
    )
    late = found.residual
    worst = int(np.argmax(np.abs(late)))
    rank = int(np.searchsorted(order.offsets, worst, side="right") - 1)
    op = order.row(rank)[worst - int(order.offsets[rank])].text()
    lines.append(
        f"ops end {float(np.median(np.abs(late))):.2f} ms from their prediction in the median; "
        f"farthest {op} on rank {rank}, {late[worst]:+.2f} ms"
    )
    return lines


def told_idle(shape: Mapping[str, Any]) -> list[str]:
    """What the ranks' idle time went to, and who was slowest."""
    sums = {name: sum(shape["idle"][key]) for key, name in IDLE.items()}
    whole = sum(sums.values())
    parts = [f"{name} {amount / whole:.0%}" for name, amount in sums.items() if whole and amount / whole >= 0.005]
    slow, noting = shape["slowest"], shape["instrumentation"]
    return [
        f"idle time went to {', '.join(parts) or 'nothing'}",
        f"slowest beside its plan: rank {slow['rank']}; noting an op takes {noting['op_ns'] / 1000:.1f} us, "
        f"{noting['share']:.2%} of the step",
    ]
