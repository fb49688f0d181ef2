"""What a run measured, for the terminal and for files: shared by the commands that execute schedules."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from backend.runs.series import Rows
from backend.schedule.calibrate import Calibration, calibrate
from backend.schedule.copies import merged
from backend.schedule.interop import run_trace
from backend.schedule.order import Order
from backend.schedule.simulate import Timeline

EVENT_KEYS = ("ready", "start", "end", "recv_wait")
BYTE_KEYS = ("received", "sent", "live")
MESSAGE_KEYS = ("source", "target", "what", "stage", "micro", "posted", "asked", "taken", "bytes")
WHAT = ("activation", "gradient")
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
    texts = [[op.text() for op in order.row(rank)] for rank in range(order.p)]
    sizes = {(rank, index): dict(zip(BYTE_KEYS, row, strict=True)) for rank, index, *row in rows["bytes"]}
    ops = [
        {"rank": rank, "op": texts[rank][index]}
        | dict(zip(EVENT_KEYS, times, strict=True))
        | sizes.get((rank, index), {})
        for rank, index, *times in sorted(rows["ops"])
    ]
    shape = {key: value for key, value in last.items() if key not in ("event", "id")} | {"ops": ops}
    if rows["messages"]:
        shape["messages"] = [_message(row) for row in sorted(rows["messages"], key=lambda row: row[5])]
    if order.copies is not None:
        shape["copies"] = _copies(order, rows["copies"])
    return shape


def _message(row: list[int]) -> dict[str, Any]:
    found: dict[str, Any] = dict(zip(MESSAGE_KEYS, row, strict=True))
    return found | {"what": WHAT[row[2]]}


def _copies(order: Order, rows: list[list[int]]) -> list[dict[str, Any]]:
    assert order.copies is not None
    texts = [merged([], order.copies, order.placement, rank) for rank in range(order.p)]
    return [
        {"rank": rank, "op": texts[rank][k], "ready": ready, "start": start, "end": end, "bytes": moved}
        for rank, k, ready, start, end, moved in sorted(rows)
    ]


def write_trace(path: Path, shape: Mapping[str, Any], order: Order, rows: Rows, title: str) -> None:
    """The run as a Chrome trace."""
    timeline = run_trace.timeline_of(order, rows["ops"], rows["copies"])
    keys = ("recv_wait", *BYTE_KEYS)
    facts = [{key: op[key] for key in keys if key in op} for op in shape["ops"]]
    path.write_text(json.dumps(run_trace.trace(timeline, title, shape["device"], facts, rows["messages"])) + "\n")


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
    lines.append(f"makespan at these costs {predicted:.2f} ms, measured {measured:.2f} ms: {found.error:+.2%}")
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
