"""Plan a training run: the fastest step of a model on a machine within a device's memory, in one search over the
schedule, the chunks per device, recomputation and offload, in one layout of the devices or several.

Every family is built with several numbers of chunks and each option. A searched family gets, for each kind of
recomputation, several limits up to the highest with which its activations fit beside the parameters: recomputation
makes the backward longer, but the memory that it saves can make the bubble shorter, so neither can be chosen before the
other.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import product
from typing import Any

import numpy as np

from backend.schedule import jit
from backend.schedule.analysis.layouts import Layout
from backend.schedule.analysis.map_each import Map, Search, one_by_one, time_in_ops
from backend.schedule.errors import SpecError, message
from backend.schedule.families.family import Family
from backend.schedule.families.registry import FAMILIES, family_of, op_count, order
from backend.schedule.families.zero_bubble.zb_auto import LEAST_MEMORY
from backend.schedule.hardware.preset_costs import Preset
from backend.schedule.hardware.step_units import StepUnits, device_memory
from backend.schedule.interop.configurations.frameworks import Framework, frameworks_of
from backend.schedule.options.offload import MODES as OFFLOAD
from backend.schedule.options.offload import Lifetimes
from backend.schedule.options.per_chunk import Modes
from backend.schedule.options.recompute import MODES as RECOMPUTE
from backend.schedule.search.bounds import lower_bound
from backend.schedule.simulation.simulate import simulate
from backend.schedule.simulation.timeline import Timeline
from backend.schedule.spec import Spec

CHUNKS = (1, 2, 3, 4, 6, 8)  # per device, where a family has a choice
CHUNKS_SEARCHED = (1, 2, 4)  # and of searched families, which take longer to construct
MOST_OPS = 200_000  # of one order
BEST = 2  # layouts for which searched families are built too, where there are several
TIE = 0.01  # of a step: what differs less is a tie
FINALISTS = 4  # searched families' settings that are searched on after the construction
PARTS = (1 / 2, 3 / 4, 1.0, 3 / 2, 2.0)  # of p, limits on the activations of a searched family
ENOUGH = 2.0  # times p: more activations than that hardly shorten a step (ZB-2p)
DIGITS = 100  # limits in hundredths of a micro-batch, rounded down


@dataclass(frozen=True)
class Allowed:
    """What plans may have: schedules (None: all), those of a framework, recomputation, offload."""

    families: tuple[str, ...] | None = None
    framework: Framework | None = None
    recompute: bool = True
    offload: bool = True

    def runs(self, family: Family) -> bool:
        """Return whether a family may be chosen. Steps of asynchronous ones are others: weights change after every
        backward.
        """
        named = self.families is None or family.name in self.families
        return named and not family.asynchronous and (self.framework is None or self.framework.runs(family))

    def fits(self, spec: Spec) -> bool:
        """Return whether the framework runs a family at the sizes of a spec."""
        return self.framework is None or self.framework.fits(spec)

    def takes(self, recompute: Modes, offload: Modes) -> bool:
        """Return whether a choice of recomputation and offload may be taken."""
        for modes, allowed in ((recompute, self.recompute), (offload, self.offload)):
            if modes != "none" and not allowed:
                return False
        return self.framework is None or self.framework.takes(recompute, offload)


@dataclass(frozen=True)
class Asked:
    """What plans are for: the layouts of the devices, the memory of a device in bytes (None: the machine's), and what
    plans may have.
    """

    layouts: tuple[Layout, ...]
    limit: float | None = None
    allowed: Allowed = Allowed()


@dataclass(frozen=True)
class TrainingSetup:
    """A way to train the model: a legal spec with the layout's costs, and the figures of its step. Equal ``digest``:
    the same order.
    """

    spec: Spec
    units: StepUnits
    layout: Layout
    digest: bytes

    @property
    def fits(self) -> bool:
        return self.units.memory.fits

    @property
    def seconds(self) -> float:
        """Return the seconds of a step with what follows its last backward."""
        return self.units.whole

    def as_dict(self) -> dict[str, Any]:
        """Return the plan as JSON, with the sizes of its layout and the fields of its preset."""
        return {
            "spec": self.spec.to_json(),
            "units": self.units.as_dict(),
            "sizes": self.layout.sizes(self.spec.v),
            "preset": dict(self.layout.preset.fields),
            "frameworks": self.frameworks,
        }

    @property
    def frameworks(self) -> list[str]:
        """Return the names of the frameworks that run the plan."""
        return frameworks_of(self.spec, self.layout.preset)


Group = tuple[Layout, Spec]
"""A layout, and the spec of an order that is the same with every offload."""


def plans(asked: Asked, search: Search | None = None, map_each: Map = one_by_one) -> list[TrainingSetup]:
    """Return every plan: those that fit from the fastest, then the others from the least memory. Of plans with the same
    order and options only one is there.

    ``search`` goes on from the best searched orders; without it they are only constructed. Of several layouts, searched
    families are built for those ``BEST`` with families of a fixed order. Raises SpecError where nothing can be built.
    """
    jit.compile_all()
    if len(asked.layouts) == 1:
        found = _built(_measured_each(_groups(asked), asked, map_each))
    else:
        fixed, shaped = _groups(asked, shaped=False), _groups(asked, shaped=True)
        found = _built(_measured_each(fixed, asked, map_each))
        best = list(dict.fromkeys(plan.layout for plan in sorted(found, key=_rank))) or list(asked.layouts)
        more = {group: specs for group, specs in shaped.items() if group[0] in best[:BEST]}
        found += _built(_measured_each(more, asked, map_each))
    found = _sorted(found, asked)
    if search is not None:
        found = sorted([*found, *_searched_on(found, asked.limit, search)], key=_rank)
    return _one_of_each(found)


def plans_within(seconds: float, asked: Asked, map_each: Map = one_by_one) -> tuple[list[TrainingSetup], int, int]:
    """Return (the plans that can be constructed within ``seconds``, how many settings were built, how many more would
    have been), sorted as those of ``plans``. Raises SpecError as it does.

    Families of a fixed order come first, which take least; then orders constructed for the costs without
    recomputation, then with it, each from the fewest ops: every family has its plans early. The first order is built
    however late it is.
    """
    jit.compile_all()
    end = time.monotonic() + seconds
    in_order = dict(sorted(_groups(asked).items(), key=lambda group: _turn(group[0][1])))
    measured = _measured_each(in_order, asked, map_each, end)
    left_out = sum(len(specs) for specs, found in zip(in_order.values(), measured, strict=True) if found is None)
    built = _built(measured)
    return _one_of_each(_sorted(built, asked)), len(built), left_out


def _turn(plain: Spec) -> tuple[bool, int]:
    shaped = family_of(plain).shaped_by_costs
    return shaped and plain.recompute != "none", op_count(plain) if shaped else 0


def frontier(plans: Sequence[TrainingSetup]) -> list[TrainingSetup]:
    """Return the plans that are faster than every plan with less memory, from the least memory."""
    best: list[TrainingSetup] = []
    for plan in sorted(plans, key=lambda plan: (plan.units.memory.most, plan.seconds)):
        if not best or plan.seconds < best[-1].seconds:
            best.append(plan)
    return best


def best_of_each(plans: Sequence[TrainingSetup]) -> list[TrainingSetup]:
    """Return the first plan of each family and number of chunks; of several layouts, of each layout."""
    several = len({plan.layout for plan in plans}) > 1
    first: dict[Any, TrainingSetup] = {}
    for plan in plans:
        first.setdefault(plan.layout if several else (plan.spec.family, plan.spec.v), plan)
    return list(first.values())


def standings(plans: Sequence[TrainingSetup]) -> list[tuple[int, bool] | None]:
    """Return (place, whether others share it) of each of some sorted plans, None of those that do not fit. Plans share
    a place that are no more than ``TIE`` slower than the first of them: estimates are no more exact.
    """
    places: list[int | None] = []
    best = 0.0
    for at, plan in enumerate(plans):
        if plan.fits and (at == 0 or plan.seconds > (1 + TIE) * best):
            best, place = plan.seconds, at + 1
        places.append(place if plan.fits else None)
    return [None if place is None else (place, places.count(place) > 1) for place in places]


def specs(layout: Layout, limit: float | None = None, allowed: Allowed = Allowed()) -> Iterator[Spec]:
    """Yield the legal specs of all families that are allowed, with the layout's costs."""
    preset = layout.preset
    for family in filter(allowed.runs, FAMILIES.values()):
        for v, recompute, offload in _choices(family):
            if not allowed.takes(recompute, offload):
                continue
            spec = _priced(Spec(family.name, layout.p, layout.m, v, recompute=recompute, offload=offload), preset)
            if spec is None or family.op_count(spec) > MOST_OPS or not allowed.fits(spec):
                continue
            if family.problem is None:
                yield spec
                continue
            for memory in _limits(spec, within(spec, family, preset, limit)):
                if memory >= LEAST_MEMORY:
                    yield spec.with_(memory=memory)


def _choices(family: Family) -> Iterator[tuple[int, Modes, Modes]]:
    """Yield chunks per device, recomputation and offload: of all chunks, or recomputation of the first ones, whose
    activations live longest, and offload of the others.
    """
    for v in _chunks(family):
        first = sorted({1, v // 2} - {0, v}) if family.problem is None else []
        again: list[Modes] = [*RECOMPUTE, *(("full",) * k + ("none",) * (v - k) for k in first)]
        copied: list[Modes] = [*OFFLOAD, *(("none",) * k + ("full",) * (v - k) for k in first)]
        for recompute, offload in product(again, copied if "offload" in family.fields else copied[:1]):
            yield v, recompute, offload


def _chunks(family: Family) -> Sequence[int]:
    least, natural, most = family.v
    if natural > 1:  # with one chunk its order is another family's, or one that takes more memory and no less time
        least = max(2, least)
    choice = CHUNKS if family.problem is None else CHUNKS_SEARCHED
    return sorted({natural, *(v for v in choice if least <= v <= most)})


def _limits(spec: Spec, most: float) -> Sequence[float]:
    """Return the limits to search within. ``most`` is the highest that fits; where offload or recomputation take
    something away from what the limit counts, higher ones may fit as well.
    """
    less = spec.offload != "none" or spec.recompute != "none"
    parts = (round(part * spec.p, 2) for part in PARTS)
    return sorted({min(most, ENOUGH * spec.p), *(each for each in parts if each < most or less)})


def _priced(plain: Spec, preset: Preset) -> Spec | None:
    """Return the spec with the preset's costs; None if there is no such schedule of this model."""
    try:
        return preset.priced(plain)
    except SpecError:
        return None


def within(spec: Spec, family: Family, preset: Preset, limit: float | None = None) -> float:
    """Return the highest limit on a searched family's activations, as in its spec, with which every device's memory
    stays within ``limit`` bytes (None: the machine's) without offload and recomputation.
    """
    found = preset.estimate(spec)
    placement = family.placement_of(spec)
    none, one = (
        device_memory(found.footprint, spec, placement, np.full(spec.p, held), found.setting.heads)
        for held in (0.0, 1.0)
    )
    free = (none.limit if limit is None else limit) - np.array(none.ranks)
    each = np.array(one.activations)  # 0 on a device that has the embedding only
    return math.floor(DIGITS * float((free[each > 0.0] / each[each > 0.0]).min())) / DIGITS


def _groups(asked: Asked, shaped: bool | None = None) -> dict[Group, list[Spec]]:
    """Group the specs that differ in offload only; ``shaped``: of families whose order the costs shape, or not."""
    groups: dict[Group, list[Spec]] = {}
    for layout in asked.layouts:
        for spec in specs(layout, asked.limit, asked.allowed):
            if shaped is None or family_of(spec).shaped_by_costs is shaped:
                plain = spec.with_(offload="none", costs=replace(spec.costs, O=None))
                groups.setdefault((layout, plain), []).append(spec)
    return groups


def _measured_each(
    groups: dict[Group, list[Spec]], asked: Asked, map_each: Map, end: float | None = None
) -> list[list[TrainingSetup] | None]:
    """Return the plans of each group of specs; with ``end``, a time of ``time.monotonic``, None for those that would be
    begun after it, though not for the first group.
    """
    first = next(iter(groups), None)

    def measured(group: Group) -> list[TrainingSetup] | None:
        if end is not None and group is not first and time.monotonic() >= end:
            return None
        layout, plain = group
        without = simulate(order(plain), plain.timing, plain.v)
        copied = [spec for spec in groups[group] if spec.offload != "none"]
        lives = Lifetimes.of(without) if copied else None
        found = []
        for spec in groups[group]:
            timeline = without
            if lives is not None and spec.offload != "none":
                timeline = lives.timed(spec.timing, spec.v, spec.offload)
            found.append(measure(spec, timeline, layout, asked.limit))
        return [plan for plan in found if plan is not None]

    return map_each(measured, list(groups), lambda group: time_in_ops(group[1]), longest_first=end is None)


def _built(measured: Sequence[list[TrainingSetup] | None]) -> list[TrainingSetup]:
    return [plan for group in measured if group is not None for plan in group]


def _sorted(found: Sequence[TrainingSetup], asked: Asked) -> list[TrainingSetup]:
    """Return plans by their rank. Raises SpecError if there are none: why the first schedule that is allowed cannot be
    built, where its sizes are the reason.
    """
    if not found:
        p, m, preset = asked.layouts[0].p, asked.layouts[0].m, asked.layouts[0].preset
        for family in filter(asked.allowed.runs, FAMILIES.values() if len(asked.layouts) == 1 else ()):
            preset.priced(Spec(family.name, p, m, _chunks(family)[0]))
        text = message("analysis.no_plan", "no schedule can be built for this model on {p} devices", p=p)
        if asked.allowed != Allowed():
            text = message(
                "analysis.no_plan_allowed",
                "none of the schedules that are allowed can be built for this model on {p} devices",
                p=p,
            )
        raise SpecError("p", p, text)
    return sorted(found, key=_rank)


def measure(spec: Spec, timeline: Timeline, layout: Layout, limit: float | None) -> TrainingSetup | None:
    """Return the plan of a spec and its timeline; None where the model does not have as many layers as stages."""
    built, units = timeline.order, layout.preset.units(spec, timeline)
    if units is None:
        return None
    if limit is not None:
        units = replace(units, memory=replace(units.memory, limit=limit))
    parts = (built.placement.stage_of, built.codes, built.offsets, *(() if built.micro is None else (built.micro,)))
    return TrainingSetup(spec, units, layout, blake2b(b"".join(part.tobytes() for part in parts)).digest())


def _rank(plan: TrainingSetup) -> tuple[Any, ...]:
    """Return what plans are sorted by; of equal ones, families of a fixed order and the lowest limit come first."""
    memory, spec, family = plan.units.memory.most, plan.spec, family_of(plan.spec)
    equal = (family.shaped_by_costs, list(FAMILIES).index(spec.family), spec.v, spec.memory or 0.0)
    return (not plan.fits, *((plan.seconds, memory) if plan.fits else (memory, plan.seconds)), *equal)


def _searched_on(found: Sequence[TrainingSetup], limit: float | None, search: Search) -> Iterator[TrainingSetup]:
    """Yield the plans found by searching on from the best constructed ones whose bound is below the fastest."""
    best, left = found[0].seconds, FINALISTS
    for plan in found:
        problem = family_of(plan.spec).problem
        if problem is None or not plan.fits or left == 0:
            continue
        if lower_bound(problem(plan.spec).instance).value / 1000 + plan.units.tail >= best:
            continue
        left -= 1
        spec, built = search(plan.spec)
        better = measure(spec, simulate(built, spec.timing, spec.v), plan.layout, limit)
        if better is not None:
            best = min(best, better.seconds)
            yield better


def _one_of_each(found: Sequence[TrainingSetup]) -> list[TrainingSetup]:
    """Leave out the shorter searches for the same setting, and equal orders with the same options."""
    first: dict[Any, TrainingSetup] = {}
    for plan in found:
        first.setdefault((plan.layout, plan.spec.with_(effort=None)), plan)
    orders: dict[Any, TrainingSetup] = {}
    for plan in first.values():
        orders.setdefault((plan.layout, plan.digest, plan.spec.recompute, plan.spec.offload), plan)
    return list(orders.values())
