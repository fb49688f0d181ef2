"""Plan a training run: the fastest step of a model on a machine within a device's memory, in one search over the
schedule, the chunks per device, recomputation and offload.

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
from itertools import product

import numpy as np

from backend.schedule import jit
from backend.schedule.analysis.map_each import Map, Search, one_by_one, time_in_ops
from backend.schedule.errors import SpecError, message
from backend.schedule.families.apply_options import with_copies
from backend.schedule.families.family import Family
from backend.schedule.families.registry import FAMILIES, family_of, op_count, order
from backend.schedule.families.zero_bubble.zb_auto import LEAST_MEMORY
from backend.schedule.hardware.preset_costs import Preset
from backend.schedule.hardware.step_units import StepUnits, device_memory
from backend.schedule.options.offload import MODES as OFFLOAD
from backend.schedule.options.per_chunk import Modes
from backend.schedule.options.recompute import MODES as RECOMPUTE
from backend.schedule.order.order import Order
from backend.schedule.search.bounds import lower_bound
from backend.schedule.simulation.simulate import simulate
from backend.schedule.spec import Spec

CHUNKS = (1, 2, 3, 4, 6, 8)  # per device, where a family has a choice
CHUNKS_SEARCHED = (1, 2, 4)  # and of searched families, which take longer to construct
MOST_OPS = 200_000  # of one order
FINALISTS = 4  # searched families' settings that are searched on after the construction
PARTS = (1 / 2, 3 / 4, 1.0, 3 / 2, 2.0)  # of p, limits on the activations of a searched family
ENOUGH = 2.0  # times p: more activations than that hardly shorten a step (ZB-2p)
DIGITS = 100  # limits in hundredths of a micro-batch, rounded down


@dataclass(frozen=True)
class TrainingSetup:
    """A way to train the model: a legal spec with the preset's costs, and the figures of its step."""

    spec: Spec
    units: StepUnits

    @property
    def fits(self) -> bool:
        return self.units.memory.fits


def plans(
    asked: Spec,
    preset: Preset,
    limit: float | None = None,
    search: Search | None = None,
    map_each: Map = one_by_one,
) -> list[TrainingSetup]:
    """Return every plan for ``asked.p`` devices and ``asked.m`` micro-batches: those that fit from the fastest, then
    the others from the least memory.

    ``limit`` is the memory of a device in bytes, the machine's by default. ``search`` goes on from the best searched
    orders; without it they are only constructed. Raises SpecError for a forward-only setting, and where nothing can be
    built.
    """
    _validate(asked)
    jit.compile_all()
    found = _sorted(_measured_each(_alike(specs(asked, preset, limit)), preset, limit, map_each), asked)
    if search is not None:
        found = sorted([*found, *_searched_on(found, preset, limit, search)], key=_rank)
    return _one_of_each(found)


def plans_within(
    seconds: float, asked: Spec, preset: Preset, limit: float | None = None, map_each: Map = one_by_one
) -> tuple[list[TrainingSetup], int]:
    """Return (the plans that can be constructed within ``seconds``, how many more would have been), sorted as those of
    ``plans``. Raises SpecError as it does.

    Families of a fixed order come first, which take least; then orders constructed for the costs without
    recomputation, then with it, each from the fewest ops: every family has its plans early. The first order is built
    however late it is.
    """
    _validate(asked)
    jit.compile_all()
    end = time.monotonic() + seconds
    alike = _alike(specs(asked, preset, limit))
    in_order = dict(sorted(alike.items(), key=lambda group: _turn(group[0])))
    measured = _measured_each(in_order, preset, limit, map_each, end)
    left_out = sum(len(specs) for specs, found in zip(in_order.values(), measured, strict=True) if found is None)
    return _one_of_each(_sorted(measured, asked)), left_out


def _turn(plain: Spec) -> tuple[bool, int]:
    shaped = family_of(plain).shaped_by_costs
    return shaped and plain.recompute != "none", op_count(plain) if shaped else 0


def frontier(plans: Sequence[TrainingSetup]) -> list[TrainingSetup]:
    """Return the plans that are faster than every plan with less memory, from the least memory."""
    best: list[TrainingSetup] = []
    for plan in sorted(plans, key=lambda plan: (plan.units.memory.most, plan.units.seconds)):
        if not best or plan.units.seconds < best[-1].units.seconds:
            best.append(plan)
    return best


def best_of_each(plans: Sequence[TrainingSetup]) -> list[TrainingSetup]:
    """Return the first plan of each family and number of chunks."""
    first: dict[tuple[str, int], TrainingSetup] = {}
    for plan in plans:
        first.setdefault((plan.spec.family, plan.spec.v), plan)
    return list(first.values())


def specs(asked: Spec, preset: Preset, limit: float | None = None) -> Iterator[Spec]:
    """Yield the legal specs of all synchronous families at p and m, with the preset's costs."""
    for family in FAMILIES.values():
        if family.asynchronous:  # its steps are others: weights change after every backward
            continue
        for v, recompute, offload in _choices(family):
            spec = _priced(Spec(family.name, asked.p, asked.m, v, recompute=recompute, offload=offload), preset)
            if spec is None or family.op_count(spec) > MOST_OPS:
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


def _alike(chosen: Iterator[Spec]) -> dict[Spec, list[Spec]]:
    """Group the specs that differ in offload only, by the spec of the order that they share."""
    alike: dict[Spec, list[Spec]] = {}
    for spec in chosen:
        alike.setdefault(spec.with_(offload="none", costs=replace(spec.costs, O=None)), []).append(spec)
    return alike


def _measured_each(
    alike: dict[Spec, list[Spec]], preset: Preset, limit: float | None, map_each: Map, end: float | None = None
) -> list[list[TrainingSetup] | None]:
    """Return the plans of each group of specs; with ``end``, a time of ``time.monotonic``, None for those that would be
    begun after it, though not for the first group.
    """
    first = next(iter(alike), None)

    def measured(plain: Spec) -> list[TrainingSetup] | None:
        if end is not None and plain is not first and time.monotonic() >= end:
            return None
        built = order(plain)
        found = (_measured(spec, with_copies(spec, built), preset, limit) for spec in alike[plain])
        return [plan for plan in found if plan is not None]

    return map_each(measured, list(alike), time_in_ops, longest_first=end is None)


def _sorted(groups: Sequence[list[TrainingSetup] | None], asked: Spec) -> list[TrainingSetup]:
    """Return the plans of all groups by their rank. Raises SpecError if there are none."""
    found = [plan for group in groups if group is not None for plan in group]
    if not found:
        text = message("analysis.no_plan", "no schedule can be built for this model on {p} devices", p=asked.p)
        raise SpecError("p", asked.p, text)
    return sorted(found, key=_rank)


def _measured(spec: Spec, built: Order, preset: Preset, limit: float | None) -> TrainingSetup | None:
    units = preset.units(spec, simulate(built, spec.timing, spec.v))
    if units is None:
        return None
    if limit is not None:
        units = replace(units, memory=replace(units.memory, limit=limit))
    return TrainingSetup(spec, units)


def _rank(plan: TrainingSetup) -> tuple[bool, float, float]:
    memory = plan.units.memory.most
    return (not plan.fits, *((plan.units.seconds, memory) if plan.fits else (memory, plan.units.seconds)))


def _searched_on(
    found: Sequence[TrainingSetup], preset: Preset, limit: float | None, search: Search
) -> Iterator[TrainingSetup]:
    """Yield the plans found by searching on from the best constructed ones whose bound is below the fastest."""
    best, left = found[0].units.seconds, FINALISTS
    for plan in found:
        problem = family_of(plan.spec).problem
        if problem is None or not plan.fits or left == 0:
            continue
        if lower_bound(problem(plan.spec).instance).value / 1000 >= best:
            continue
        left -= 1
        spec, built = search(plan.spec)
        better = _measured(spec, built, preset, limit)
        if better is not None:
            best = min(best, better.units.seconds)
            yield better


def _one_of_each(found: Sequence[TrainingSetup]) -> list[TrainingSetup]:
    """Leave out the shorter searches for the same setting."""
    first: dict[Spec, TrainingSetup] = {}
    for plan in found:
        first.setdefault(plan.spec.with_(effort=None), plan)
    return list(first.values())


def needs_a_model() -> SpecError:
    """Return the error of a plan without a model."""
    text = message("analysis.plan_needs_a_model", "a plan is for a model on a machine; name a model such as llama3-70b")
    return SpecError("model", None, text, nearest="llama3-70b")


def _validate(asked: Spec) -> None:
    asked.checked()
    if asked.forward_only:
        text = message("analysis.forward_only_is_not_trained", "a plan is for training, which has backwards")
        raise SpecError("forward_only", True, text, nearest=False)
