"""The order of a run: packed once when the run is requested, and read back by every view and export of it."""

from __future__ import annotations

from dataclasses import replace

from backend.runs.run import Run
from backend.schedule.families import registry
from backend.schedule.options.frozen import untrained
from backend.schedule.order import wire
from backend.schedule.order.order import Order
from backend.schedule.spec import Spec


def order_of(run: Run) -> Order:
    """Return the order of a run, (p, ops) as `Order` has it.

    Runs that were stored before orders were (schema 3) have none: theirs is built from the spec, once while the run
    is in memory. Raises SpecError if such a spec no longer builds an order. Takes as long as building the order in
    that case: call it outside the event loop.
    """
    if not run.order:
        run.order = wire.to_text(registry.order(registry.read(run.spec)))
    frozen = Spec.from_json({"frozen": run.spec.get("frozen")}).frozen
    return replace(wire.from_text(run.order), untrained=untrained(frozen))
