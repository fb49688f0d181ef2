"""Export a run that is over: as a file, and as costs with which its schedule is planned again.

The caller provides orders, since building the order of an old run may take long (run_order.py).
"""

from __future__ import annotations

import json
from typing import Any

from backend.errors import RequestError, message
from backend.runs.run import Run
from backend.runs.run_details import run_details, trace
from backend.schedule.diagnosis.calibrate import calibrate, neutral
from backend.schedule.errors import SpecError
from backend.schedule.families import imported, registry
from backend.schedule.families.apply_options import FAMILYS_OWN
from backend.schedule.interop.measured_rows import KINDS
from backend.schedule.interop.traces import run_trace
from backend.schedule.order.order import Order, same_order
from backend.schedule.simulation.metrics import figures
from backend.schedule.simulation.simulate import Timeline, simulate
from backend.schedule.spec import Spec

FORMATS = {"chrome-trace": "trace.json", "json": "json"}  # format -> ending of the file's name
DIGITS = 4  # of a measured cost, to keep links short


def render(run: Run, order: Order, form: str) -> str:
    """Return the text of a run's file in one of FORMATS. Raises RequestError for a trace of an incomplete run."""
    if form == "json":
        return json.dumps(as_shape(run, order)) + "\n"
    _need_whole(run, order)
    title = run.name or file_name(run, form).removesuffix(f".{FORMATS[form]}")
    return json.dumps(trace(order, _rows(run), title, str(run.facts.get("device")))) + "\n"


def file_name(run: Run, form: str) -> str:
    """Return the name of the file: schedule, sizes and id."""
    spec = run.spec
    chunks = f"-v{spec['v']}" if spec["v"] > 1 else ""
    return f"{spec['family']}-p{spec['p']}-m{spec['m']}{chunks}-run-{run.id}.{FORMATS[form]}"


def as_shape(run: Run, order: Order) -> dict[str, Any]:
    """Return the JSON that `app.py run --json` prints: verdict, figures, every op with its text, times in ns."""
    passing = ("position", "seq", "op_count", "unkept", "waiting", "notice")
    facts = {key: value for key, value in run.summary().items() if key not in passing}
    return facts | run_details(order, _rows(run))


def calibrated(run: Run, order: Order) -> dict[str, Any]:
    """Return the spec of a whole run with the costs of its ops, in the run's unit, and the figures that they
    predict.

    If other costs would give another order, as in families whose orders follow from costs, the spec contains the
    order that was run. Raises RequestError for an incomplete run.
    """
    _need_whole(run, order)
    spec, unit = registry.read(run.spec), 1e6 * float(run.facts.get("unit_ms") or 1.0)
    rows = _rows(run)
    timeline = run_trace.timeline_of(order, rows["ops"], rows["copies"])
    times = (timeline.start, timeline.end, timeline.copy_start, timeline.copy_end)
    measured = Timeline(order, *(part / unit for part in times))
    again = _same_order(_short(neutral(spec, calibrate(measured, spec.v, spec.timing))), order)
    predicted, real = figures(simulate(order, again.timing, again.v)), figures(measured)
    return {
        "spec": again.to_json(),
        "unit_ms": unit / 1e6,
        "predicted": predicted.as_dict(),
        "measured": real.as_dict(),
        "error": predicted.makespan / real.makespan - 1.0,
    }


def _same_order(spec: Spec, order: Order) -> Spec:
    """Return the spec if it still gives this order; else one that contains the order."""
    if spec.effort is None:
        try:
            if same_order(registry.order(spec), order):
                return spec
        except SpecError:  # the costs are beyond what the family can be built for
            pass
    held = imported.spec_of(order)
    own = {"family": held.family, "v": held.v, "order": held.order, "weights": None}
    return spec.with_(**(FAMILYS_OWN | own))


def _short(spec: Spec) -> Spec:
    """Return the spec with its costs rounded to DIGITS."""
    data = spec.to_json()
    data["costs"] = {key: _rounded(cost) for key, cost in data["costs"].items()}
    return Spec.from_json(data)


def _rounded(cost: Any) -> Any:
    if cost is None:
        return None
    return [_rounded(each) for each in cost] if isinstance(cost, list) else float(f"{cost:.{DIGITS}g}")


def _need_whole(run: Run, order: Order) -> None:
    ended = run.log.ops
    if ended != len(order):
        text = message(
            "runs.incomplete",
            "{ended} of {all} ops have ended, and this needs all of them.",
            ended=f"{ended:,}",
            all=f"{len(order):,}",
        )
        raise RequestError("id", run.id, text, limit=len(order), kind="over")


def _rows(run: Run) -> dict[str, list[Any]]:
    """Return the measured rows of a run by kind, as named tuples."""
    return {kind: run.log.rows(kind) for kind in KINDS}
