"""Build a run from an imported trace: a run that is over, with the order of the trace."""

from __future__ import annotations

import numpy as np

from backend.errors import RequestError, message
from backend.runs.run import IMPORTED, Run
from backend.schedule.families import imported
from backend.schedule.interop.measured_rows import OpRow
from backend.schedule.interop.trace_import import Measured
from backend.schedule.order import wire
from backend.schedule.order.ops import PAIR, B, F, I, W
from backend.schedule.order.order import Order, code_table
from backend.schedule.simulation.costs import Costs
from backend.schedule.simulation.metrics import figures
from backend.schedule.simulation.simulate import Floats, simulate
from backend.schedule.spec import Spec

ELSEWHERE = "elsewhere"
MS = 1_000_000  # ns
MOST_MS = 1e9  # eleven days
DIGITS = 4  # of a mean, to keep links short


def spec_of(trace: Measured) -> Spec:
    """Return the spec of a whole trace: its order, with the mean time of each kind of op as costs, in ms. Raises
    RequestError for times that are too long, or an order that is too long for a link."""
    timeline = trace.computing or trace.timeline
    assert timeline is not None, "only a whole trace has an order"
    longest = float(timeline.end.max())
    if longest > MOST_MS:
        text = message(
            "runs.trace_too_long",
            "a step of {length} ms is longer than {most} ms: are its times in us?",
            length=f"{longest:g}",
            most=f"{MOST_MS:g}",
        )
        raise RequestError("trace", longest, text)
    spec = imported.spec_of(timeline.order)
    return spec.with_(costs=mean_costs(timeline.order, timeline.end - timeline.start, spec.v))


def mean_costs(order: Order, durations: Floats, v: int) -> Costs:
    """Return the costs of a device's whole share, from the ops' durations in ms.

    Half of a full backward counts as I, half as W. If forwards and backwards came in pairs only, F, I and W are a
    third of a pair each.
    """
    kind = code_table(order.chunks)[order.codes][:, 0]
    mean = {each: float(durations[kind == each].mean()) * v for each in (F, I, W, B, PAIR) if (kind == each).any()}
    both = mean.get(PAIR)
    third = (both or 0.0) / 3
    half = mean[B] / 2 if B in mean else third
    f, i, w = mean.get(F, third), mean.get(I, half), mean.get(W, half)
    return Costs(_short(f), _short(i), _short(w), FB=None if both is None else _short(both))


def run_of(run_id: str, created: float, owner: str, spec: Spec, trace: Measured) -> Run:
    """Return the run of a whole trace; its ops exclude the waits inside them, if the trace shows these."""
    assert trace.timeline is not None
    timeline = trace.computing or trace.timeline
    device = trace.device or ELSEWHERE
    run = Run(run_id, spec.to_json(), IMPORTED, 1.0, created, owner, wire.to_text(timeline.order))
    run.apply({"event": "running", "mode": IMPORTED, "device": device, "overlapped": None, "unit_ms": 1.0})
    rows = _rows(timeline.order, trace.timeline.start, timeline.start, timeline.end)
    run.apply({"event": "op_batch", "ops": rows, **trace.details})
    run.apply(
        {
            "event": "finished",
            "predicted": figures(simulate(timeline.order, spec.timing, spec.v)).as_dict(),
            "measured": figures(timeline).as_dict(),
            "notes": list(trace.notes),
        }
    )
    return run


def _rows(order: Order, begun: Floats, start: Floats, end: Floats) -> list[OpRow]:
    """Return the rows of a timeline's ops: `begun` in ms with the wait for messages, `start` without."""
    counts = np.diff(order.offsets)
    rank = np.repeat(np.arange(order.p), counts)
    index = np.arange(len(order)) - np.repeat(order.offsets[:-1], counts)
    ready, began, ended = (np.rint(times * MS).astype(np.int64) for times in (begun, start, end))
    return [OpRow._make(row) for row in np.stack((rank, index, ready, began, ended, began - ready), 1).tolist()]


def _short(time: float) -> float:
    return float(f"{time:.{DIGITS}g}")
