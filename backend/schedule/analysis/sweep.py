"""Build one family at many sizes: bubble and messages of each (p, m) or v, and why some sizes cannot be built.

With a ``preset`` every size has the costs of its own stages; else costs listed by stage are spread over as many stages
as a size has. Schedules that would take too long are left out, with that as the reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from backend.schedule import jit
from backend.schedule.analysis.map_each import Map, one_by_one, time_in_ops
from backend.schedule.analysis.nearest_spec import fit, spread, spread_frozen
from backend.schedule.errors import SpecError, message
from backend.schedule.families.registry import FAMILIES, family_of, op_count, order, validate
from backend.schedule.hardware.preset_costs import Preset
from backend.schedule.options.effective_costs import spread_layers
from backend.schedule.options.sizes import repeated
from backend.schedule.simulation.message_flow import message_count
from backend.schedule.simulation.metrics import Figures, figures
from backend.schedule.simulation.simulate import simulate
from backend.schedule.spec import Spec

P_STOPS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
M_STOPS = (1, 2, 4, 6, 8, 12, 16, 24, 32, 64, 128, 256)
MOST_STOPS = 13  # most sizes on one axis
CELL_OPS = 60_000  # most ops of one schedule
MOST_V = 12


@dataclass(frozen=True)
class Cell:
    """A size with its figures, or with the reason why there are none; ``legal`` is true if it was only too large."""

    p: int
    m: int
    spec: Spec | None
    figures: Figures | None
    problem: str | None = None
    legal: bool = True


def resized(asked: Spec, p: int, m: int, preset: Preset | None = None) -> Spec:
    """Return the same family and costs at another size. Raises SpecError if the family cannot be built there."""
    stages = family_of(asked).stages(asked.with_(p=p))
    layers = None if asked.layers is None else spread_layers(asked.layers, stages)
    if (p, m) == (asked.p, asked.m):
        return asked
    if asked.frozen is not None and stages != family_of(asked).stages(asked):
        asked = asked.with_(frozen=spread_frozen(asked, stages))
    if asked.sizes is not None and m != asked.m:
        sizes, injection = repeated(asked.sizes, asked.injection, m * asked.replicas)
        asked = asked.with_(sizes=sizes, injection=injection)
    spec = asked.with_(p=p, m=m, effort=None, layers=layers, costs=spread(asked.costs, stages, asked.costs.FB))
    if preset is not None:
        return preset.priced(spec)
    return validate(spec)


def cell(asked: Spec, p: int, m: int, preset: Preset | None = None) -> Cell:
    """Compute the bubble of a family at one size; the asked size is computed however large it is."""
    size = time_in_ops(asked.with_(p=p, m=m))
    try:
        spec = resized(asked, p, m, preset)
    except SpecError as error:
        return Cell(p, m, None, None, error.message, legal=False)
    if (size > CELL_OPS and spec is not asked) or op_count(spec) > family_of(spec).most_ops(spec):
        text = message("analysis.size_left_out", "left out: {ops} ops take too long here", ops=f"{op_count(spec):,}")
        return Cell(p, m, spec, None, text)
    try:
        return Cell(p, m, spec, figures(simulate(order(spec), spec.timing, spec.v)))
    except SpecError as error:  # its receives deadlock, or a micro-batch is larger than the memory
        return Cell(p, m, None, None, error.message, legal=False)


def grid(
    asked: Spec, map_each: Map = one_by_one, preset: Preset | None = None
) -> tuple[list[int], list[int], list[list[Cell]]]:
    """Return the sizes p and m of the two axes, which include the asked size, and a row of cells for each p."""
    asked = asked.checked()
    ps, ms = stops(P_STOPS, asked.p), stops(M_STOPS, asked.m)
    jit.compile_for(sum(min(CELL_OPS, 3 * p * m * asked.v) for p in ps for m in ms))
    cells = _cells([(asked, p, m, preset) for p in ps for m in ms], map_each)
    return ps, ms, [cells[line * len(ms) : (line + 1) * len(ms)] for line in range(len(ps))]


def _cells(sizes: Sequence[tuple[Spec, int, int, Preset | None]], map_each: Map) -> list[Cell]:
    """Return the cell of each (family and costs, p, m, preset)."""

    def time_of(size: tuple[Spec, int, int, Preset | None]) -> int:
        asked, p, m, _ = size
        needed = time_in_ops(asked.with_(p=p, m=m))
        return needed if needed <= CELL_OPS or (p, m) == (asked.p, asked.m) else 0

    return map_each(lambda size: cell(*size), sizes, time_of)


def stops(known: Sequence[int], asked: int) -> list[int]:
    """Return the sizes of an axis, including the asked one; doubled further if that is larger than all known sizes."""
    sizes = [*known, asked]
    while max(known) < asked and 2 * sizes[-2] < asked:
        sizes.insert(-1, 2 * sizes[-2])
    return sorted(set(sizes))[-MOST_STOPS:]


def over_m(
    asked: Sequence[Spec],
    ms: Sequence[Sequence[int]],
    map_each: Map = one_by_one,
    presets: Sequence[Preset | None] | None = None,
) -> list[list[Cell]]:
    """Compute each family at its p over its own ``ms``; an m that is not legal or too large is left out."""
    presets = presets or [None] * len(asked)
    sizes = [(spec, spec.p, m, its) for spec, own, its in zip(asked, ms, presets, strict=True) for m in own]
    cells = iter(_cells(sizes, map_each))
    return [[built for built in islice(cells, len(own)) if built.figures is not None] for own in ms]


@dataclass(frozen=True)
class Load:
    """The messages and idle time of a family with ``v`` chunks per device."""

    spec: Spec
    messages: int
    figures: Figures


def over_v(
    asked: Spec,
    name: str,
    map_each: Map = one_by_one,
    preset: Preset | None = None,
    shown: Sequence[Spec] = (),
) -> list[Load]:
    """Compute a family over its numbers of chunks per device, at the asked p and m; sizes that cannot be built are
    left out. Specs that are ``shown`` already are taken as they are.
    """
    least, _, most = FAMILIES[name].v
    free = asked if "memory" in FAMILIES[name].fields else asked.with_(memory=None)
    known = {spec.v: spec for spec in reversed(shown) if spec.family == name}
    specs = []
    for v in range(least, min(most, MOST_V) + 1):
        try:
            spec = known.get(v) or fit(free.with_(family=name, group=None, effort=None), name, v)[0]
            if preset is not None and v not in known:
                spec = preset.priced(spec)
        except SpecError:
            continue
        if (spec.p, spec.m, spec.v) != (asked.p, asked.m, v) or op_count(spec) > 4 * CELL_OPS:
            continue
        specs.append(spec)
    return [load for load in map_each(_load, specs, time_in_ops) if load is not None]


def _load(spec: Spec) -> Load | None:
    """Return what a legal spec loads; None for one whose order cannot run."""
    try:
        built = order(spec)
    except SpecError:
        return None
    return Load(spec, message_count(built), figures(simulate(built, spec.timing, spec.v)))
