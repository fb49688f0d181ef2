"""Build a run from an imported trace: a run that is over, with the order of the trace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from backend.errors import RequestError, message
from backend.runs.run import IMPORTED, Run
from backend.schedule.diagnosis.calibrate import mean_costs
from backend.schedule.families import imported
from backend.schedule.interop.measured_rows import OpRow
from backend.schedule.interop.traces.chrome import Measured
from backend.schedule.order import wire
from backend.schedule.partial_order.recognition import spec_like
from backend.schedule.simulation.costs import Costs
from backend.schedule.simulation.message_flow import producers
from backend.schedule.simulation.metrics import figures
from backend.schedule.simulation.simulate import Floats, Timeline, simulate
from backend.schedule.spec import Spec

ELSEWHERE = "elsewhere"
MS = 1_000_000  # ns
MOST_MS = 1e9  # eleven days
DIGITS = 4  # of a mean, to keep links short


def spec_of(trace: Measured) -> Spec:
    """Return the spec of a whole trace: the family with its order, if there is one, else the order itself; with the
    mean time of each kind of op in each stage as costs, in ms. Raises RequestError for times that are too long, or an
    order that is too long for a link.
    """
    timeline = trace.computing or trace.timeline
    assert timeline is not None, "only a whole trace has an order"
    longest = float(timeline.end.max())
    if longest > MOST_MS:
        text = message(
            "runs.trace_too_long",
            "a step of {length} ms is longer than {most} ms: are its times in another unit?",
            length=f"{longest:g}",
            most=f"{MOST_MS:g}",
        )
        raise RequestError("trace", longest, text)
    v = timeline.order.chunks // timeline.order.placement.streams
    costs = _short(mean_costs(timeline, trace.hop, v), v)
    return spec_like(timeline.order, costs) or imported.spec_of(timeline.order).with_(costs=costs)


def _short(costs: Costs, v: int) -> Costs:
    """Return costs by stage with few digits; those that are equal in all stages as the cost of a device's share."""

    def short(cost: Any, share: int = 1) -> Any:
        if cost is None or not isinstance(cost, tuple):
            return None if cost is None else float(f"{cost:.{DIGITS}g}")
        each = tuple(map(short, cost))
        return short(each[0] * share) if len(set(each)) == 1 else each

    data = costs.to_json()
    whole = {key: short(tuple(data[key]) if isinstance(data[key], list) else data[key], v) for key in data}
    return Costs(**whole)


def run_of(run_id: str, created: float, owner: str, spec: Spec, trace: Measured) -> Run:
    """Return the run of a whole trace; its ops exclude the waits inside them, if the trace shows these."""
    assert trace.timeline is not None
    timeline = trace.computing or trace.timeline
    device = trace.device or ELSEWHERE
    run = Run(run_id, spec.to_json(), IMPORTED, 1.0, created, owner, wire.to_text(timeline.order))
    run.apply({"event": "running", "mode": IMPORTED, "device": device, "overlapped": None, "unit_ms": 1.0})
    waits = _waits(timeline, trace.hop)
    rows = _rows(timeline, trace.timeline.start, waits)
    run.apply({"event": "op_batch", "ops": rows, **trace.details})
    run.apply(
        {
            "event": "finished",
            "predicted": figures(simulate(timeline.order, spec.timing, spec.v)).as_dict(),
            "measured": figures(timeline).as_dict(),
            "idle": _idle(timeline, waits),
            "notes": list(trace.notes),
        }
    )
    return run


@dataclass(frozen=True, eq=False)
class _Waits:
    """(N,) in ms how long each op's rank was free before the op, and for how much of that an op whose result it needs
    had not ended (`input`), or its message had not come (`message`).
    """

    gap: Floats
    input: Floats
    message: Floats


def _waits(timeline: Timeline, hop: float) -> _Waits:
    order = timeline.order
    free = np.concatenate(([0.0], timeline.end[:-1]))
    free[order.offsets[:-1]] = 0.0
    gap = np.maximum(timeline.start - free, 0.0)
    made_by, crosses = producers(order)
    made = np.where(made_by >= 0, timeline.end[made_by], -np.inf)
    needed = np.clip(made.max(axis=1) - free, 0.0, gap)
    return _Waits(gap, needed, np.clip((made + hop * crosses).max(axis=1) - free, 0.0, gap) - needed)


def _idle(timeline: Timeline, waits: _Waits) -> dict[str, list[int]]:
    """Return the idle time of each rank in ns by cause, as the runner reports it."""
    first, last = timeline.order.offsets[:-1], timeline.order.offsets[1:] - 1
    own = waits.gap - waits.input - waits.message
    parts = {"input": waits.input, "message": waits.message, "own": own}
    sums = {kind: np.add.reduceat(part, first) for kind, part in parts.items()}
    sums["over"] = timeline.end.max() - timeline.end[last]
    return {kind: np.rint(times * MS).astype(np.int64).tolist() for kind, times in sums.items()}


def _rows(timeline: Timeline, begun: Floats, waits: _Waits) -> list[OpRow]:
    """Return the rows of a timeline's ops: `begun` in ms with the wait for messages inside the ops."""
    order = timeline.order
    counts = np.diff(order.offsets)
    rank = np.repeat(np.arange(order.p), counts)
    index = np.arange(len(order)) - np.repeat(order.offsets[:-1], counts)
    times = (begun, timeline.start, timeline.end, waits.input + waits.message)
    ready, start, end, waited = (np.rint(each * MS).astype(np.int64) for each in times)
    return [OpRow._make(row) for row in np.stack((rank, index, ready, start, end, waited), 1).tolist()]
