"""Which families an order is: each rank's ops equal theirs at the same sizes and costs, or begin as theirs do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import zip_longest

from backend.schedule.errors import SpecError, message
from backend.schedule.families import registry
from backend.schedule.order.order import Order, same_order
from backend.schedule.partial_order.position import Position, Row
from backend.schedule.simulation.costs import Costs
from backend.schedule.spec import Spec

LIFO = "gpipe-lifo"  # GPipe with its backwards from the last micro-batch to the first


@dataclass(frozen=True)
class Recognised:
    """Names of families, in the order of the registry: those that the position is, and those that it begins as."""

    exact: tuple[str, ...]
    prefix: tuple[str, ...]


@dataclass(frozen=True)
class Named:
    """A family's order at the sizes and costs of a position."""

    name: str
    title: str
    spec: Spec
    rows: tuple[Row, ...]


def recognise(position: Position) -> Recognised:
    """Compare a position with every family whose order follows from its sizes and costs; none that is searched."""
    exact, prefix = [], []
    for named in named_orders(position):
        if position.placed and all(
            row == whole[: len(row)] for row, whole in zip(position.rows, named.rows, strict=True)
        ):
            prefix.append(named.name)
            if position.rows == named.rows:
                exact.append(named.name)
    return Recognised(tuple(exact), tuple(prefix))


def named_orders(position: Position) -> tuple[Named, ...]:
    """Return the order of every family that has the position's placement and chunks, and takes its sizes."""
    return _named(position.with_rows([()] * position.p))


@lru_cache(maxsize=64)
def _named(position: Position) -> tuple[Named, ...]:
    found = []
    for name, spec in _specs(position.spec):
        family = registry.family_of(spec)
        if family.placement != position.placement.kind or family.placement_of(spec).chunks != position.placement.chunks:
            continue
        try:
            order = registry.order(spec)
        except SpecError:
            continue  # the family does not take these sizes
        title = message("workbench.gpipe_last_first", "GPipe, last backward first") if spec.lifo else family.title
        found.append(Named(name, title, spec, tuple(tuple(order.row(rank)) for rank in range(order.p))))
    return tuple(found)


def spec_like(order: Order, costs: Costs) -> Spec | None:
    """Return the spec of the first family that has exactly this order at any costs, with the given ones; None if
    there is no such family.
    """
    place = order.placement
    for _, spec in _specs(Spec("1f1b", place.p, order.m, place.chunks // place.streams, costs=costs)):
        family = registry.family_of(spec)
        if family.placement != place.kind or family.shaped_by_costs or order.barriers or order.copies is not None:
            continue
        if order.forward_only:
            if "forward_only" not in family.fields:
                continue
            spec = spec.with_(forward_only=True)
        spec = spec.with_(frozen=tuple(sorted(order.untrained)) or None)
        try:
            if same_order(registry.order(spec), order):
                return spec
        except SpecError:
            continue  # the family does not take these sizes
    return None


@dataclass(frozen=True)
class Nearest:
    """The family whose order has most ops at the same place of their rank as an order of its own: ``share`` of them.
    ``rank`` and ``index`` are of the first difference, ``here`` and ``there`` the ops at it, "" where a row has ended.
    """

    spec: Spec
    share: float
    rank: int
    index: int
    here: str
    there: str


def nearest(order: Order, costs: Costs) -> Nearest | None:
    """Return the family that is nearest to an order; None where none has its placement and sizes."""
    place = order.placement
    found: Nearest | None = None
    rows = [row.split() for row in order.text()]
    for _, spec in _specs(Spec("1f1b", place.p, order.m, place.chunks // place.streams, costs=costs)):
        family = registry.family_of(spec)
        if family.placement != place.kind or order.barriers or order.copies is not None or order.forward_only:
            continue
        spec = spec.with_(frozen=tuple(sorted(order.untrained)) or None)
        try:
            other = [row.split() for row in registry.order(spec).text()]
        except SpecError:
            continue  # the family does not take these sizes
        same = sum(a == b for mine, its in zip(rows, other, strict=True) for a, b in zip(mine, its, strict=False))
        share = same / max(1, sum(map(len, rows)))
        if found is None or share > found.share:
            differing = [
                (index, rank, here or "", there or "")
                for rank, (mine, its) in enumerate(zip(rows, other, strict=True))
                for index, (here, there) in enumerate(zip_longest(mine, its))
                if here != there
            ]
            index, rank, here, there = min(differing, default=(0, 0, "", ""))
            found = Nearest(spec, share, rank, index, here, there)
    return found


def _specs(like: Spec) -> Iterator[tuple[str, Spec]]:
    for name, family in registry.FAMILIES.items():
        chunked = family.v[1] > 1  # with one chunk these are other families, under another name
        if family.problem is not None or (chunked and like.v == 1):
            continue
        costs = like.costs if "FB" in family.fields else replace(like.costs, FB=None)
        spec = like.with_(family=name, costs=costs)
        yield name, spec
        if "lifo" in family.fields:
            yield LIFO, spec.with_(lifo=True)
