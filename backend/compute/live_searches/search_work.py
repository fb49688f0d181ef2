"""A search as a worker process does it: better orders are reported as they are found."""

from __future__ import annotations

from dataclasses import dataclass

from backend.compute import worker
from backend.schedule.families import registry
from backend.schedule.families.apply_options import completed
from backend.schedule.families.searched import search_order
from backend.schedule.order import wire
from backend.schedule.order.order import from_rows
from backend.schedule.search.improve import Progress
from backend.schedule.spec import Spec


@dataclass(frozen=True)
class Better:
    """The progress of a search; ``spec`` builds the order in ``body``, encoded, if there is a better one."""

    span: float
    lower_bound: float
    bound: str
    evaluations: int
    seconds: float
    spec: Spec | None
    body: bytes


@dataclass(frozen=True)
class Best:
    """The end of a search: its best order as a spec with its rows, and encoded."""

    spec: Spec
    body: bytes
    evaluations: int


def search(spec: Spec, seconds: float) -> Best:
    """Search for the order of a legal spec of a searched family, until the server says to stop. Raises SpecError."""
    family = registry.family_of(spec)
    found_spec, order, found = search_order(
        spec, family, seconds, lambda progress: worker.report(_better(spec, progress)), worker.told_to_stop
    )
    body = wire.encode(order, found_spec.to_json())
    return Best(found_spec, body, found.evaluations)


def _better(asked: Spec, progress: Progress) -> Better:
    spec, body = None, b""
    if progress.codes is not None:
        problem = registry.family_of(asked).problem
        assert problem is not None
        instance = problem(asked).instance
        spec = asked.with_(effort=int(progress.evaluations))
        order = completed(spec, from_rows(instance.placement, instance.m, list(progress.codes)))
        body = wire.encode(order, spec.to_json())
    return Better(
        float(progress.span), float(progress.bound.value), progress.bound.name, int(progress.evaluations),
        float(progress.seconds), spec, body,
    )  # fmt: skip
