"""A run that happened elsewhere: a measured timeline as a run that is over, with the order that its trace shows.

Knows what a run's events look like; reads no trace and keeps nothing.
"""

from __future__ import annotations

import numpy as np

from backend.runs.run import IMPORTED, Run
from backend.schedule.errors import SpecError
from backend.schedule.families import imported
from backend.schedule.interop.trace_import import Measured
from backend.schedule.order.ops import PAIR, B, F, I, W
from backend.schedule.order.order import Order, code_table
from backend.schedule.simulation.costs import Costs
from backend.schedule.simulation.metrics import figures
from backend.schedule.simulation.simulate import Floats, simulate
from backend.schedule.spec import Spec

ELSEWHERE = "elsewhere"
MS = 1_000_000  # ns
MOST_MS = 1e9  # eleven days
DIGITS = 4  # of a mean, which a link then holds


def spec_of(found: Measured) -> Spec:
    """The order of a whole trace, with the mean time of each kind of op as costs, in ms. Raises SpecError for an order
    that no link could hold."""
    timeline = found.computing or found.timeline
    assert timeline is not None, "only a whole trace has an order"
    longest = float(timeline.end.max())
    if longest > MOST_MS:
        raise SpecError("trace", longest, f"a step of {longest:g} ms is over {MOST_MS:g} ms: are its times in us?")
    spec = imported.spec_of(timeline.order)
    return spec.with_(costs=mean_costs(timeline.order, timeline.end - timeline.start, spec.v))


def mean_costs(order: Order, took: Floats, v: int) -> Costs:
    """A device's whole share of each kind, from what its ops took: a full backward counts half as I, half as W. Where
    forwards and backwards came in pairs only, a third of a pair each."""
    kind = code_table(order.chunks)[order.codes][:, 0]
    mean = {each: float(took[kind == each].mean()) * v for each in (F, I, W, B, PAIR) if (kind == each).any()}
    both = mean.get(PAIR)
    third = (both or 0.0) / 3
    half = mean[B] / 2 if B in mean else third
    f, i, w = mean.get(F, third), mean.get(I, half), mean.get(W, half)
    return Costs(_short(f), _short(i), _short(w), FB=None if both is None else _short(both))


def run_of(run_id: str, created: float, owner: str, spec: Spec, found: Measured) -> Run:
    """The run of a whole trace; times are drawn without waits inside ops, where the trace shows them."""
    assert found.timeline is not None
    timeline = found.computing or found.timeline
    device = found.device or ELSEWHERE
    run = Run(run_id, spec.to_json(), IMPORTED, 1.0, created, owner)
    run.apply({"event": "running", "mode": IMPORTED, "device": device, "overlapped": None, "unit_ms": 1.0})
    rows = _rows(timeline.order, found.timeline.start, timeline.start, timeline.end)
    run.apply({"event": "op_batch", "ops": rows, **found.details})
    run.apply(
        {
            "event": "finished",
            "predicted": figures(simulate(timeline.order, spec.timing, spec.v)).as_dict(),
            "measured": figures(timeline).as_dict(),
            "notes": list(found.notes),
        }
    )
    return run


def _rows(order: Order, begun: Floats, start: Floats, end: Floats) -> list[list[int]]:
    """As the runner reports ops: rank, index, ready, start, end and the wait for messages, in ns."""
    counts = np.diff(order.offsets)
    rank = np.repeat(np.arange(order.p), counts)
    index = np.arange(len(order)) - np.repeat(order.offsets[:-1], counts)
    ready, began, ended = (np.rint(times * MS).astype(np.int64) for times in (begun, start, end))
    rows: list[list[int]] = np.stack((rank, index, ready, began, ended, began - ready), 1).tolist()
    return rows


def _short(time: float) -> float:
    return float(f"{time:.{DIGITS}g}")
