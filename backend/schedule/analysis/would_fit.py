"""What would make a training plan fit, where none does: other sizes with which the one of the least memory fits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from backend.schedule.analysis.layouts import Layout, layouts, promise
from backend.schedule.analysis.plans import Asked, TrainingSetup, measure
from backend.schedule.errors import SpecError
from backend.schedule.families.registry import order
from backend.schedule.hardware.preset_costs import Preset
from backend.schedule.simulation.costs import Costs
from backend.schedule.simulation.simulate import simulate

TIMES = (2, 4, 8)  # the sizes asked for
LAID_OUT = ("tp", "context", "expert", "data", "micro_batch", "zero")


@dataclass(frozen=True)
class Remedy:
    """A size with which a plan fits in ``memory`` bytes: tp, zero, context, p, or gpus."""

    field: str
    value: int
    memory: float

    def as_dict(self) -> dict[str, float | int | str]:
        """Return the remedy as JSON."""
        return {"field": self.field, "value": self.value, "memory": self.memory}


def remedies(plan: TrainingSetup, asked: Asked, devices: int | None = None, batch: int | None = None) -> list[Remedy]:
    """Return for each size the least value with which a plan that does not fit would, with all else as it is; where
    ``devices`` and a ``batch`` were laid out, how many devices promise to be enough.
    """
    if devices is not None and batch is not None:
        return _enough_devices(devices, batch, plan.layout.preset, asked.limit)
    found: dict[str, Remedy] = {}
    for field, value, layout in _others(plan.layout):
        if field in found:
            continue
        try:
            spec = layout.preset.priced(plan.spec.with_(p=layout.p, costs=Costs()))
        except SpecError:  # no such schedule, or sizes that do not go together
            continue
        made = measure(spec, simulate(order(spec), spec.timing, spec.v), layout, asked.limit)
        if made is not None and made.fits:
            found[field] = Remedy(field, value, made.units.memory.most)
    return list(found.values())


def _enough_devices(devices: int, batch: int, preset: Preset, limit: float | None) -> list[Remedy]:
    free = Preset.of({key: value for key, value in preset.fields if key not in LAID_OUT})
    for times in TIMES:
        try:
            made = promise(layouts(devices * times, batch, free, limit)[0], limit)
        except SpecError:  # more devices than sequences
            return []
        if made is not None and made.fits:
            return [Remedy("gpus", devices * times, made.memory)]
    return []


def _others(layout: Layout) -> Iterator[tuple[str, int, Layout]]:
    """Yield (field, value, layout) of other sizes, each field's from the least."""
    fields, setting = dict(layout.preset.fields), layout.preset.setting()
    tried: dict[str, Sequence[int]] = {
        "tp": [setting.tp * times for times in TIMES],
        "zero": range(setting.zero + 1, 4) if setting.data > 1 else [],
        "context": [setting.context * times for times in TIMES],
    }
    for field, values in tried.items():
        for value in values:
            yield field, value, replace(layout, preset=Preset.of(fields | {field: value}))
    for times in TIMES:
        yield "p", layout.p * times, replace(layout, p=layout.p * times)
