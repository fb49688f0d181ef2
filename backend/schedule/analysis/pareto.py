"""Compare activation memory and throughput: every family at one setting, and the best order searched within each
limit.

nearest_spec.py finds the legal specs; the search function is an argument. Memory is the fullest device's, in units of
one micro-batch's activations on a device (1F1B holds p of them). Throughput is the work of a device over the span, so
that a pair which overlaps to less than F + I + W counts as speed. With a model and a machine a point also has its
step in seconds, tokens, FLOP utilisation and bytes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from backend.schedule.analysis.compare import parameters, priced
from backend.schedule.analysis.map_each import Map, Search, one_by_one, time_in_ops
from backend.schedule.analysis.nearest_spec import fit, validate_sizes
from backend.schedule.errors import Message, SpecError, message
from backend.schedule.families.registry import FAMILIES, family_of, order
from backend.schedule.families.zero_bubble.zb_auto import LEAST_MEMORY
from backend.schedule.hardware.preset_costs import Preset
from backend.schedule.hardware.step_units import StepUnits
from backend.schedule.order.order import Order
from backend.schedule.simulation.costs import SizedCosts, durations, own_times
from backend.schedule.simulation.memory import peak_memory
from backend.schedule.simulation.metrics import Bubble, figures
from backend.schedule.simulation.simulate import Timeline, simulate
from backend.schedule.spec import Spec

SEARCHED = ("zb-auto", "v-auto", "chimera-auto")  # one chunk per device, the V, and two directions
PARTS = (1 / 3, 1 / 2, 3 / 4, 1.0, 5 / 4, 3 / 2, 2.0)  # the default limits of the search, as parts of p
FEW_PARTS = (1 / 2, 1.0, 2.0)  # of large settings
MANY_OPS = 8192  # ops of a V; above it, seven limits take more than a few seconds
MOST_FRONTIER_OPS = 12288  # and above this three of them
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
    units: StepUnits | None = None


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


Axes = Callable[[Point], tuple[float, float]]


def points(
    asked: Spec, names: Sequence[str] | None = None, preset: Preset | None = None, map_each: Map = one_by_one
) -> list[Point]:
    """Return a point for each named family; without names, for all that are not searched, and the asked spec as it
    is.

    The other families use their natural number of chunks. Families that cannot be built near the setting are left
    out. With a ``preset`` each has the costs of its own stages, unless ``asked`` gives costs. Raises SpecError for a
    forward-only setting, whose activations take no memory in any family.
    """
    asked = asked.checked()
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
            spec, adjusted = (asked, None) if name == asked.family else fit(free, name)
            fitted.append((priced(spec, asked, preset), adjusted))
        except SpecError:
            continue
    specs = [spec for spec, _ in fitted]
    validate_sizes(asked, specs)

    def figures_of(spec: Spec) -> Figures | None:
        try:
            return measured(spec) if preset is None else _figures(spec, order(spec), preset)
        except SpecError:  # an order that cannot run
            if spec.family == asked.family:
                raise
            return None

    found = map_each(figures_of, specs, time_in_ops)
    made = zip(fitted, found, strict=True)
    return [Point(spec, adjusted, None, its) for (spec, adjusted), its in made if its is not None]


def frontier(
    asked: Spec,
    limits: Sequence[float] | None,
    search: Search,
    preset: Preset | None = None,
    map_each: Map = one_by_one,
) -> list[Point]:
    """Return the best order that ``search`` finds within each limit, for each placement that is searched.

    A limit that is too small for any step is left out, and so is one without a gain over the smaller ones: the points
    of each placement rise in memory and in throughput. ``limits`` None means ``default_limits``. Searches that are
    given a time run one by one: each should have the machine to itself.
    """
    asked = asked.checked()
    validate_frontier_size(asked)
    limits = sorted(set(default_limits(asked) if limits is None else limits))
    settings: list[tuple[Spec, Message | None]] = []
    for name in SEARCHED:
        try:
            setting, adjusted = fit(_same_work(asked), name)
            settings.append((priced(setting, asked, preset), adjusted))
        except SpecError:
            continue  # the placement does not support this setting's options
    asks = [(setting, adjusted, limit) for setting, adjusted in settings for limit in limits]

    def point(ask: tuple[Spec, Message | None, float]) -> Point | None:
        setting, adjusted, limit = ask
        try:
            spec, built = search(setting.with_(memory=limit, effort=None))
        except SpecError:
            return None  # no order exists within this limit
        return Point(spec, adjusted, limit, _figures(spec, built, preset))

    points = map_each(point, asks, lambda ask: time_in_ops(ask[0]))
    return _rising([found for found in points if found is not None])


def _rising(points: Sequence[Point]) -> list[Point]:
    """Return the points of each family that are faster than all before them."""
    best: dict[str, float] = {}
    found = []
    for point in points:
        if point.figures.throughput > best.get(point.spec.family, 0.0) + SAME:
            best[point.spec.family] = point.figures.throughput
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
    parts = PARTS if _frontier_ops(asked) <= MANY_OPS else FEW_PARTS
    limits = (math.floor(2 * part * asked.p + SAME) / 2 if whole else round(part * asked.p, 2) for part in parts)
    return sorted({limit for limit in limits if limit >= LEAST_MEMORY})


def setting_of(asked: Spec) -> Spec:
    """Return the setting without the fields that only its family uses: specs with equal settings have the same
    frontier.
    """
    plain = asked.with_(family="zb-auto", v=1, group=None, memory=None, lifo=False, weights=None, effort=None, seed=1)
    return plain.with_(costs=replace(plain.costs, FB=None))


def validate_frontier_size(asked: Spec) -> None:
    """Raise SpecError for more ops than can be searched in a few seconds."""
    size = _frontier_ops(asked)
    if size > MOST_FRONTIER_OPS:
        nearest = max(1, MOST_FRONTIER_OPS // (6 * asked.p))
        text = message(
            "analysis.too_many_ops_for_frontier",
            "the frontier is searched for schedules of up to {most} ops; here they would have {ops}",
            most=f"{MOST_FRONTIER_OPS:,}",
            ops=f"{size:,}",
        )
        raise SpecError("m", asked.m, text, limit=nearest, nearest=nearest)


def _frontier_ops(asked: Spec) -> int:
    return 6 * asked.p * asked.m  # F, I and W in both chunks of a V


def constructed(spec: Spec) -> tuple[Spec, Order]:
    """Return the family's own construction: the quickest search."""
    return spec, order(spec)


def plain_axes(point: Point) -> tuple[float, float]:
    """Return (activation memory, throughput)."""
    return point.figures.memory, point.figures.throughput


def dominated(points: Sequence[Point], axes: Axes = plain_axes) -> list[int | None]:
    """Return for each point the index of a better one, None for points on the frontier.

    Better is less memory and no less throughput, or more throughput and no more memory, at the same p and m. Of
    several better points the fastest is returned, and of these the one with the least memory. ``axes`` returns (memory,
    speed) of a point.
    """
    values = [axes(point) for point in points]
    sizes = [(point.spec.p, point.spec.m) for point in points]
    better: list[int | None] = []
    for at, value in enumerate(values):
        others = [o for o, other in enumerate(values) if sizes[o] == sizes[at] and _beats(other, value)]
        better.append(min(others, key=lambda o: (-values[o][1], values[o][0], o), default=None))
    return better


def _beats(one: tuple[float, float], other: tuple[float, float]) -> bool:
    less, more = other[0] - one[0], one[1] - other[1]
    return less >= -SAME and more >= -SAME and (less > SAME or more > SAME)


@lru_cache(maxsize=1024)
def measured(spec: Spec) -> Figures:
    """Return the figures of a legal spec's own order."""
    return _figures(spec, order(spec))


def _figures(spec: Spec, built: Order, preset: Preset | None = None) -> Figures:
    timeline = simulate(built, spec.timing, spec.v)
    memory = peak_memory(timeline, spec.w_share, spec.v, spec.kept, spec.weights or 0.0)
    shown = figures(timeline)
    work = _work(timeline, spec)
    throughput = work / shown.longest_stage if shown.longest_stage > 0.0 else 1.0
    copies = int(parameters(built, spec)["max"])
    units = None if preset is None else preset.units(spec, timeline)
    return Figures(float(memory.max()), throughput, shown.span_bubble, shown.global_bubble, copies, units)


def _work(timeline: Timeline, spec: Spec) -> float:
    """Return the mean time of a device's ops, with nothing overlapped."""
    built = timeline.order
    alone = replace(spec.timing, FB=None)
    if isinstance(alone, SizedCosts):
        return float(own_times(built, alone, spec.v).sum()) / built.p
    table = durations(built.placement, alone, spec.v)
    rank = np.repeat(np.arange(built.p), np.diff(built.offsets))
    return float(table[rank, built.codes].sum()) / built.p


def described(points: Sequence[Point], asked: Spec, axes: Axes = plain_axes) -> list[dict[str, Any]]:
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
            "bubble": {"span": point.figures.span._asdict(), "global": point.figures.whole._asdict()},
            "weights": point.figures.weights,
            "dominated_by": better,
            "adjusted": point.adjusted,
            "units": None if point.figures.units is None else point.figures.units.as_dict(),
            "moved": (point.spec.p, point.spec.m) != (asked.p, asked.m),
            "spec": point.spec.to_json(),
        }
        for point, better in zip(points, dominated(points, axes), strict=True)
    ]
