"""Apply a model and a machine to specs: the costs that a page or a command derives from one preset.

The costs are those of the page's derive.ts: six digits of each. Layers that were balanced belong to one number of
stages, and an output layer that is spread over the devices, or for which layers move, is not the last stage's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from backend.schedule.errors import SpecError, message
from backend.schedule.families.registry import family_of, read, validate, validate_of_file
from backend.schedule.hardware.cost_model import KEYS, Setting
from backend.schedule.hardware.estimate import Estimate, estimate
from backend.schedule.hardware.step_units import StepUnits, step_units
from backend.schedule.options.per_chunk import of_stages
from backend.schedule.order.order import Order
from backend.schedule.simulation.costs import Cost, Costs
from backend.schedule.simulation.simulate import Timeline
from backend.schedule.spec import Spec, reject_unknown

PRESET_KEYS = tuple(key for key in KEYS if key not in ("p", "v", "in_flight", "placement", "frozen"))


@dataclass(frozen=True)
class Preset:
    """A model on a machine: the fields of a setting but p and v, which are those of the spec that it is applied to."""

    fields: tuple[tuple[str, Any], ...]

    @staticmethod
    def of(fields: Mapping[str, Any]) -> Preset:
        """Return the preset of some fields, by which answers can be kept. Raises SpecError for one that is unknown."""
        reject_unknown(fields, PRESET_KEYS, message("hardware.the_cost_model", "the cost model"))
        return Preset(tuple((key, tuple(value) if isinstance(value, list) else value) for key, value in fields.items()))

    def setting(self) -> Setting:
        """Return the whole model as one stage. Raises SpecError where a field is wrong whatever the schedule is."""
        layers = dict(self.fields).get("layers")
        data = dict(self.fields) | ({"layers": sum(layers)} if isinstance(layers, tuple) else {})
        return Setting.read(data | {"p": 1, "v": 1})

    def estimate(self, spec: Spec) -> Estimate:
        """Estimate the costs of a spec's stages. Raises SpecError, as for more stages than layers."""
        if spec.stages != spec.p * spec.v:
            text = message(
                "hardware.stages_not_even",
                "the cost model gives every rank as many stages; this order has {stages} on {p} ranks",
                stages=spec.stages,
                p=spec.p,
            )
            raise SpecError("order", spec.order, text)
        return estimate(self._cut(spec.p, spec.v, spec.layers, spec.vocabulary, spec.frozen))

    @lru_cache(maxsize=64)  # noqa: B019  # a preset is as small as the key, and plans of one search have few cuts
    def _cut(
        self, p: int, v: int, own: tuple[int, ...] | None, vocabulary: str, frozen: tuple[int, ...] | None
    ) -> Setting:
        """Return the setting of a spec's sizes, its own layers, the place of its output layer and its frozen stages."""
        data = dict(self.fields) | {"p": p, "v": v, "frozen": frozen}
        layers = data.get("layers")
        if isinstance(layers, tuple) and (len(layers) != p * v or own or vocabulary == "redistribute"):
            data["layers"] = sum(layers)
        if own is not None and self._lists(vocabulary):
            data["layers"] = list(own)
        if vocabulary != "plain":
            data["heads"] = False
        return Setting.read(data)

    def asked(self, spec: Spec) -> Spec:
        """Return the spec on the screen: with its own costs where it gives some, else with those of this preset."""
        return spec if spec.costs != Spec().costs else self.priced(spec)

    def priced(self, spec: Spec) -> Spec:
        """Return a spec with the costs of this preset, and with its ``w_share``. Raises SpecError where they do not go
        with the spec.
        """
        costs, w_share = self.costs(spec)
        return validate(self.applied(spec, costs, w_share))

    def applied(self, spec: Spec, costs: Costs, w_share: float) -> Spec:
        """Return the spec with costs that follow from this preset; its layers are then in costs listed by stage."""
        layers = None if spec.layers is None or self._lists(spec.vocabulary) else spec.layers
        return spec.with_(costs=costs, w_share=w_share, layers=layers)

    def _lists(self, vocabulary: str) -> bool:
        """Return whether costs are listed by stage: embedding and output layer are at the ends, or layers differ."""
        setting = self.setting()
        return (setting.heads and vocabulary == "plain") or len(setting.model.kinds) > 1

    def costs(self, spec: Spec) -> tuple[Costs, float]:
        """Return (costs of a spec's devices in ms, w_share)."""
        found = self.estimate(spec)
        given, options = found.costs, found.options.as_dict()
        shards = options["shards"].get(spec.vocabulary, {})
        again = {mode for mode in of_stages(spec.recompute, spec.v) if mode != "none"}
        wire = 0.0 if spec.streams == "none" else options["wire"]  # else a part of the hop, which is a delay
        return Costs(
            F=_tidy(given.F),
            I=_tidy(given.I),
            W=_tidy(given.W),
            comm=_digits(given.comm - wire, 6),
            S=_digits(shards["S"], 6) if shards else None,
            T=_digits(shards["T"], 6) if shards else None,
            O=None if spec.offload == "none" else _digits(options["O"], 6),
            R=_digits(options["R"][again.pop()], 6) if len(again) == 1 else None,
            wire=_digits(wire, 6),
        ), _digits(found.footprint.w_share, 4)

    def units(self, spec: Spec, timeline: Timeline) -> StepUnits | None:
        """Return the figures of a simulated step in seconds, tokens and bytes; None where the model does not have as
        many layers as the spec has stages.
        """
        try:
            return step_units(self.estimate(spec), spec, timeline)
        except SpecError:
            return None


def asked_spec(data: Mapping[str, Any], preset: Preset | None) -> Spec:
    """Return the legal spec of what a reader gives, with the costs of a model and a machine. Raises SpecError, also for
    a share of W where there is no W: a link keeps it for the families that have one.
    """
    spec = read(data)
    family = family_of(spec)
    if "w_share" in data and family.backward == "full":
        text = message(
            "schedule.family_has_no_w",
            "{family} does not split the backward, so W needs nothing; leave w_share out",
            family=family.title,
        )
        raise SpecError("w_share", spec.w_share, text, nearest=Spec.w_share)
    return priced(spec, preset, data)


def priced(spec: Spec, preset: Preset | None, data: Mapping[str, Any], read_order: Order | None = None) -> Spec:
    """Return a spec with the costs of a model and a machine, but for those in ``data``; of the order of a file, with
    that order. Raises SpecError.
    """
    if preset is None:
        return spec
    made = preset.applied(spec, *preset.costs(spec))
    own = {name: getattr(spec.costs, name) for name in data.get("costs", {})}
    share = spec.w_share if "w_share" in data else made.w_share
    made = made.with_(costs=replace(made.costs, **own), w_share=share)
    return validate(made) if read_order is None else validate_of_file(made, read_order)


@lru_cache(maxsize=64)  # those of one estimate, for each choice of options
def _tidy(cost: Cost) -> Cost:
    return tuple(_digits(each, 6) for each in cost) if isinstance(cost, tuple) else _digits(cost, 6)


def _digits(x: float, digits: int) -> float:
    return float(f"{x:.{digits}g}")
