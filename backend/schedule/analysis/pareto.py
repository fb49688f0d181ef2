"""Compare activation memory and throughput: every family at one setting, and the best order searched within each
limit.

nearest_spec.py finds the legal specs; the search function is an argument. Memory is the fullest device's, in units of
one micro-batch's activations on a device (1F1B holds p of them). Throughput is the work of a device over the span, so
that a pair which overlaps to less than F + I + W counts as speed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from backend.schedule.analysis.compare import parameters
from backend.schedule.analysis.nearest_spec import fit, judge_sizes
from backend.schedule.errors import Message, SpecError, message
from backend.schedule.families.registry import FAMILIES, family_of, order
from backend.schedule.order.order import Order
from backend.schedule.simulation.costs import durations
from backend.schedule.simulation.memory import peak_memory
from backend.schedule.simulation.metrics import Bubble, figures
from backend.schedule.simulation.simulate import Timeline, simulate
from backend.schedule.spec import Spec

Search = Callable[[Spec], tuple[Spec, Order]]
"""From the spec of a searched family to an order within its memory, and the spec that builds this order again."""

SEARCHED = ("zb-auto", "v-auto")  # one chunk per device, and the V
PARTS = (1 / 3, 1 / 2, 3 / 4, 1.0, 5 / 4, 3 / 2, 2.0)  # the default limits of the search, as parts of p
LEAST = 1.0  # micro-batch; no order exists within less
MOST_FRONTIER_OPS = 8192  # ops of a V; above it, seven limits take more than a few seconds
SAME = 1e-9


@dataclass(frozen=True)
class Figures:
    """Memory and throughput of a schedule: ``memory`` and ``throughput`` as defined in the module's docstring."""

    memory: float
    throughput: float
    span: Bubble
    whole: Bubble
    weights: int
    """Copies of its own weights that a device holds."""


@dataclass(frozen=True)
class Point:
    """A schedule with its figures; ``limit`` is the memory limit of its search, None for a family's own order."""

    spec: Spec
    adjusted: Message | None
    limit: float | None
    figures: Figures

    @property
    def title(self) -> str:
        """Return the title of the family."""
        return family_of(self.spec).title

    @property
    def label(self) -> str:
        """Return the title, with the memory limit if the order was searched."""
        if self.limit is None:
            return self.title
        return message("analysis.within_limit", "{family} within {limit}", family=self.title, limit=f"{self.limit:g}")


def points(asked: Spec, names: Sequence[str] | None = None) -> list[Point]:
    """Return a point for each named family; without names, for all that are not searched, and the asked spec as it
    is.

    The other families use their natural number of chunks. Families that cannot be built near the setting are left
    out. Raises SpecError for a forward-only setting, whose activations take no memory in any family.
    """
    if asked.forward_only:
        text = message(
            "analysis.forward_only_keeps_nothing",
            "a forward-only schedule keeps no activations, so there is no memory to compare; compare the bubbles",
        )
        raise SpecError("forward_only", True, text, nearest=False)
    own = [] if asked.family in FAMILIES else [asked.family]  # an imported order is a point too
    names = names or [*own, *(name for name in FAMILIES if name not in SEARCHED or name == asked.family)]
    free = _same_work(asked if "memory" not in family_of(asked).fields else asked.with_(memory=None))
    fitted: list[tuple[Spec, Message | None]] = []
    for name in names:
        try:
            fitted.append((asked, None) if name == asked.family else fit(free, name))
        except SpecError:
            continue
    judge_sizes(asked, [spec for spec, _ in fitted])
    return [Point(spec, adjusted, None, measured(spec)) for spec, adjusted in fitted]


def frontier(asked: Spec, limits: Sequence[float] | None, search: Search) -> list[Point]:
    """Return the best order that ``search`` finds within each limit, for one chunk per device and for the V.

    A limit that is too small for any step is left out, and so is one without a gain over the smaller ones: the points
    of each placement rise in memory and in throughput. ``limits`` None means ``default_limits``.
    """
    judge_frontier_size(asked)
    found: list[Point] = []
    for name in SEARCHED:
        try:
            setting, adjusted = fit(_same_work(asked), name)
        except SpecError:
            continue  # the placement does not support this setting's options
        best = 0.0
        for limit in sorted(set(default_limits(asked) if limits is None else limits)):
            try:
                spec, built = search(setting.with_(memory=limit, effort=None))
            except SpecError:
                continue  # no order exists within this limit
            point = Point(spec, adjusted, limit, _figures(spec, built))
            if point.figures.throughput > best + SAME:
                best = point.figures.throughput
                found.append(point)
    return found


def _same_work(asked: Spec) -> Spec:
    """Return the setting with its output layer as numbers, so that families which cannot spread it include it as
    well.
    """
    costs = asked.timing
    return asked.with_(costs=replace(asked.costs, S=costs.S, T=costs.T))


def default_limits(asked: Spec) -> list[float]:
    """Return multiples of p: whole chunks of the V if activations are freed as a whole, else rounded to two digits."""
    whole = asked.w_share == 1.0 and asked.kept == 1.0
    limits = (math.floor(2 * part * asked.p + SAME) / 2 if whole else round(part * asked.p, 2) for part in PARTS)
    return sorted({limit for limit in limits if limit >= LEAST})


def setting_of(asked: Spec) -> Spec:
    """Return the setting without the fields that only its family uses: specs with equal settings have the same
    frontier.
    """
    plain = asked.with_(family="zb-auto", v=1, group=None, memory=None, lifo=False, weights=None, effort=None, seed=1)
    return plain.with_(costs=replace(plain.costs, FB=None))


def judge_frontier_size(asked: Spec) -> None:
    """Raise SpecError for more ops than can be searched in a few seconds."""
    size = 6 * asked.p * asked.m  # F, I and W in both chunks of a V
    if size > MOST_FRONTIER_OPS:
        nearest = max(1, MOST_FRONTIER_OPS // (6 * asked.p))
        text = message(
            "analysis.too_many_ops_for_frontier",
            "the frontier is searched for schedules of up to {most} ops; here they would have {ops}",
            most=f"{MOST_FRONTIER_OPS:,}",
            ops=f"{size:,}",
        )
        raise SpecError("m", asked.m, text, limit=nearest, nearest=nearest)


def constructed(spec: Spec) -> tuple[Spec, Order]:
    """Return the family's own construction: the quickest search."""
    return spec, order(spec)


def dominated(points: Sequence[Point]) -> list[int | None]:
    """Return for each point the index of a better one, None for points on the frontier.

    Better is less memory and no less throughput, or more throughput and no more memory, at the same p and m. Of
    several better points the fastest is returned, and of these the one with the least memory.
    """
    return [_better(points, point) for point in points]


def _better(points: Sequence[Point], point: Point) -> int | None:
    others = [at for at, other in enumerate(points) if _beats(other, point)]
    figures_of = [points[at].figures for at in others]
    ranked = sorted(
        zip(others, figures_of, strict=True), key=lambda each: (-each[1].throughput, each[1].memory, each[0])
    )
    return ranked[0][0] if ranked else None


def _beats(one: Point, other: Point) -> bool:
    if (one.spec.p, one.spec.m) != (other.spec.p, other.spec.m):
        return False
    less = other.figures.memory - one.figures.memory
    more = one.figures.throughput - other.figures.throughput
    return less >= -SAME and more >= -SAME and (less > SAME or more > SAME)


@lru_cache(maxsize=1024)
def measured(spec: Spec) -> Figures:
    """Return the figures of a legal spec's own order."""
    return _figures(spec, order(spec))


def _figures(spec: Spec, built: Order) -> Figures:
    timeline = simulate(built, spec.timing, spec.v)
    memory = peak_memory(timeline, spec.w_share, spec.v, spec.kept, spec.weights or 0.0)
    shown = figures(timeline)
    work = _work(timeline, spec)
    throughput = work / shown.longest_stage if shown.longest_stage > 0.0 else 1.0
    copies = int(parameters(built, spec)["max"])
    return Figures(float(memory.max()), throughput, shown.span_bubble, shown.global_bubble, copies)


def _work(timeline: Timeline, spec: Spec) -> float:
    """Return the mean time of a device's ops, with nothing overlapped."""
    built = timeline.order
    table = durations(built.placement, replace(spec.timing, FB=None), spec.v)
    rank = np.repeat(np.arange(built.p), np.diff(built.offsets))
    return float(table[rank, built.codes].sum()) / built.p


def described(points: Sequence[Point], asked: Spec) -> list[dict[str, Any]]:
    """Return the points as JSON; ``dominated_by`` is the index of a better one, ``moved`` whether p or m had to
    change.
    """
    return [
        {
            "family": point.spec.family,
            "title": point.title,
            "label": point.label,
            "group": family_of(point.spec).group,
            "limit": point.limit,
            "memory": point.figures.memory,
            "of_p": point.figures.memory / asked.p,
            "throughput": point.figures.throughput,
            "bubble": {
                "span": {"of_total": point.figures.span.of_total, "of_ideal": point.figures.span.of_ideal},
                "global": {"of_total": point.figures.whole.of_total, "of_ideal": point.figures.whole.of_ideal},
            },
            "weights": point.figures.weights,
            "dominated_by": better,
            "adjusted": point.adjusted,
            "moved": (point.spec.p, point.spec.m) != (asked.p, asked.m),
            "spec": point.spec.to_json(),
        }
        for point, better in zip(points, dominated(points), strict=True)
    ]
