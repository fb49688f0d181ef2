"""Searched orders: searched for a limited time, reproduced from the effort and seed of a spec, or brought by it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from backend.schedule.errors import SpecError, message
from backend.schedule.families.apply_options import completed
from backend.schedule.families.family import Family
from backend.schedule.order.order import Codes, Order
from backend.schedule.search import exact
from backend.schedule.search.bounds import lower_bound
from backend.schedule.search.certificate import Found, meets
from backend.schedule.search.improve import Budget, Progress
from backend.schedule.search.initial_orders import span_of
from backend.schedule.search.problem import Problem
from backend.schedule.spec import Spec


def rows(spec: Spec, problem: Problem) -> list[Codes]:
    """Return each rank's codes: constructed, those that the spec brings, or searched with its effort and seed."""
    if spec.effort is None:
        return problem.quick()
    return list(spec.found or _searched(_Search(spec, problem)))


@dataclass(frozen=True)
class _Search:
    """A search of a given effort; its problem follows from the spec."""

    spec: Spec
    problem: Problem = field(compare=False)


@lru_cache(maxsize=128)  # a search takes seconds, and its effort and seed give the same rows each time
def _searched(asked: _Search) -> tuple[Codes, ...]:
    return tuple(asked.problem.search(asked.spec.seed, Budget(None, asked.spec.effort)).codes)


def search_order(
    spec: Spec,
    family: Family,
    seconds: float | None,
    report: Callable[[Progress], None] = lambda progress: None,
    stop: Callable[[], bool] = lambda: False,
) -> tuple[Spec, Order, Found]:
    """Search for the order of a legal spec without effort of its own; the order has the copies of its offload.

    Also returns a spec that builds this order: with the effort that the search took, and the rows that it found.
    """
    assert family.problem is not None
    problem = family.problem(spec)
    found = problem.search(spec.seed, Budget(seconds), report, stop)
    searched = spec.with_(effort=found.evaluations, found=tuple(found.codes))
    return searched, completed(searched, found.order(problem.instance)), found


def proved(spec: Spec, family: Family, order: Order) -> tuple[Spec, Order, dict[str, Any]]:
    """Return the order, or a better one, with the certificate of an exhaustive search. Raises SpecError if there is
    no solver or the instance is too large for it.
    """
    if family.problem is None:
        text = message(
            "schedule.prove_of_one_order",
            "{family} has one order; only a searched order can be proved",
            family=family.title,
        )
        raise SpecError("prove", spec.family, text)
    if spec.frozen is not None:
        text = message("schedule.prove_of_trained", "prove is of orders that train every stage; leave it or frozen out")
        raise SpecError("prove", True, text, nearest=False)
    instance = family.problem(spec).instance
    if not instance.is_even:
        text = message(
            "schedule.prove_of_even",
            "prove is of micro-batches of one size whose backwards wait for their gradient; leave it out, or sizes and "
            "recompute_at",
        )
        raise SpecError("prove", True, text, nearest=False)
    if not exact.available():
        text = message(
            "schedule.prove_needs_ortools",
            "prove needs the solver of ortools; install it with pip install 'ortools>=9.11'",
        )
        raise SpecError("prove", True, text, nearest=False)
    if not exact.fits(instance):
        nearest = max(1, exact.MOST_OPS // (3 * spec.p * spec.v))
        text = message(
            "schedule.prove_of_too_many_ops",
            "prove goes through schedules of up to {MOST_OPS} ops; this one has {ops}",
            MOST_OPS=exact.MOST_OPS,
            ops=len(order),
        )
        raise SpecError("m", spec.m, text, limit=nearest, nearest=nearest)
    bound = lower_bound(instance)
    codes = np.stack([order.codes[a:b] for a, b in pairwise(order.offsets)])
    found = Found(codes, span_of(instance, codes), bound.value, bound.name, spec.effort or 0, spec.seed)
    best = exact.prove(instance, found)
    shape = {"lower_bound": float(best.lower_bound), "bound": best.bound_name, "gap": float(best.gap)}
    if best.span < found.span:  # no effort of our own search reproduces this order
        spec = spec.with_(effort=None)
        order = completed(spec, best.order(instance))
    return spec, order, shape | {"optimal": bool(best.optimal)}


def bound_of(spec: Spec, family: Family) -> dict[str, Any]:
    """Return the lower bound on the span of any order, and its argument, as JSON. Raises SpecError where none is
    known.
    """
    if family.problem is None:
        text = message(
            "schedule.no_bound",
            "{family} has one order; a bound is for zb-auto, v-auto and chimera-auto",
            family=family.title,
        )
        raise SpecError("family", spec.family, text)
    bound = lower_bound(family.problem(spec.with_(effort=None, seed=Spec.seed)).instance)
    return {"lower_bound": float(bound.value), "bound": bound.name}


def certificate(spec: Spec, family: Family, span: float) -> dict[str, Any]:
    """Return the lower bound of a searched family's order, and by how much its span exceeds it, as JSON."""
    shape = bound_of(spec, family)
    least = shape["lower_bound"]
    optimal = bool(meets(span, least))
    return shape | {"gap": 0.0 if optimal or least <= 0.0 else float(span / least - 1.0), "optimal": optimal}
