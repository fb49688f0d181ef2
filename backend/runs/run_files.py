"""A run that is over for other programs: as a file, and as costs with which its schedule is planned again.

Knows what a run keeps; executes nothing and reaches no database. Orders come from outside, since seeking one again may
take long.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from backend.runs.errors import RunError
from backend.runs.run import Run
from backend.runs.run_details import told, trace
from backend.runs.run_log import KINDS, Row
from backend.schedule.analysis.calibrate import calibrate, neutral
from backend.schedule.errors import SpecError
from backend.schedule.families import imported, registry
from backend.schedule.interop import run_trace
from backend.schedule.order.order import Order
from backend.schedule.simulation.metrics import figures
from backend.schedule.simulation.simulate import Timeline, simulate
from backend.schedule.spec import Spec

FORMATS = {"chrome-trace": "trace.json", "json": "json"}  # format -> ending of the file's name
DIGITS = 4  # of a measured cost, which a link then holds


def render(run: Run, order: Order, form: str) -> str:
    """The file of a run in one of FORMATS. Raises RunError where the run has not all that the format needs."""
    if form == "json":
        return json.dumps(as_shape(run, order)) + "\n"
    _need_whole(run, order)
    title = run.name or file_name(run, form).removesuffix(f".{FORMATS[form]}")
    return json.dumps(trace(order, _rows(run), title, str(run.facts.get("device")))) + "\n"


def file_name(run: Run, form: str) -> str:
    """What the file is called: schedule, sizes and id."""
    spec = run.spec
    chunks = f"-v{spec['v']}" if spec["v"] > 1 else ""
    return f"{spec['family']}-p{spec['p']}-m{spec['m']}{chunks}-run-{run.id}.{FORMATS[form]}"


def as_shape(run: Run, order: Order) -> dict[str, Any]:
    """What `app.py run --json` prints: the verdict, the figures, every op with its text, times in ns."""
    passing = ("position", "seq", "op_count", "unkept", "waiting")
    facts = {key: value for key, value in run.summary().items() if key not in passing}
    return facts | told(order, _rows(run))


def calibrated(run: Run, order: Order) -> dict[str, Any]:
    """The schedule of a whole run with the costs that its ops had, in the run's own unit, and what they predict.

    Where other costs would give another order, as in families that costs shape, the spec holds the order as it was run.
    """
    _need_whole(run, order)
    spec, unit = registry.read(run.spec), 1e6 * float(run.facts.get("unit_ms") or 1.0)
    rows = _rows(run)
    found = run_trace.timeline_of(order, rows["ops"], rows["copies"])
    times = (found.start, found.end, found.copy_start, found.copy_end)
    measured = Timeline(order, *(part / unit for part in times))
    again = _same_order(_short(neutral(spec, calibrate(measured, spec.v))), order)
    predicted, real = figures(simulate(order, again.timing, again.v)), figures(measured)
    return {
        "spec": again.to_json(),
        "unit_ms": unit / 1e6,
        "predicted": predicted.as_dict(),
        "measured": real.as_dict(),
        "error": predicted.makespan / real.makespan - 1.0,
    }


def _same_order(spec: Spec, order: Order) -> Spec:
    """The spec, if it still gives this order; else one that holds it."""
    if spec.effort is None:
        try:
            if _alike(registry.order(spec), order):
                return spec
        except SpecError:  # the costs are beyond what the family can be built for
            pass
    held = imported.spec_of(order)
    return held.with_(costs=spec.costs, memory=spec.memory, w_share=spec.w_share)


def _alike(one: Order, other: Order) -> bool:
    """Whether two orders of the same sizes do the same; what is written otherwise may count as another."""
    copies = [(each.copies.codes, each.copies.offsets) if each.copies else () for each in (one, other)]
    micro = [() if each.micro is None else (each.micro,) for each in (one, other)]
    mine, theirs = ((each.codes, each.offsets, *micro[k], *copies[k]) for k, each in enumerate((one, other)))
    return len(mine) == len(theirs) and all(map(np.array_equal, mine, theirs))


def _short(spec: Spec) -> Spec:
    """Its costs with no more digits than are measured."""
    data = spec.to_json()
    data["costs"] = {key: _rounded(cost) for key, cost in data["costs"].items()}
    return Spec.from_json(data)


def _rounded(cost: Any) -> Any:
    if cost is None:
        return None
    return [_rounded(each) for each in cost] if isinstance(cost, list) else float(f"{cost:.{DIGITS}g}")


def _need_whole(run: Run, order: Order) -> None:
    ended = len(_rows(run)["ops"])
    if ended != len(order):
        message = f"{ended} of {len(order)} ops have ended, and this needs all of them."
        raise RunError("over", "id", run.id, message, len(order))


def _rows(run: Run) -> dict[str, list[Row]]:
    """What the run measured, its copies apart from its ops, among which they have the index -1 - k."""
    rows = {kind: run.log.rows(kind) for kind in KINDS}
    copies = [[rank, -1 - index, *rest] for rank, index, *rest in rows["ops"] if index < 0]
    return rows | {"ops": [row for row in rows["ops"] if row[1] >= 0], "copies": copies}
