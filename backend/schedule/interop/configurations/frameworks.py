"""What training frameworks execute: which schedules, and what of recomputation and offload.

torch is ``torch.distributed.pipelining`` with its own schedule classes (``get_schedule_class``), which torchtitan takes
by name; with ``torch-csv`` its runtime gets the order from a file, in which a stage has one rank and there is no op for
a copy (docs/interop.md). Stages are modules there, so each can recompute or not.

Megatron Bridge, by which NeMo trains, is Megatron-LM's core. Megatron-LM recomputes all layers, or parts of each; its
offload of single modules is not that of whole chunks. Its interleaved schedule takes groups of at least p micro-batches
(megatron/core/pipeline_parallel/schedules.py). The engine of DeepSpeed is 1F1B (issue 1110 of deepspeedai/DeepSpeed),
ZB-H1 is Megatron-DeepSpeed's (its pull request 396); both recompute whole layers. Sea AI Lab's fork of Megatron-LM has
the zero-bubble schedules, which it searches with one chunk a device (arXiv 2401.10241) or two in a V (arXiv
2405.15362), and an interleaved one of whole groups of p; PipeOffload those with copies of activations (arXiv
2503.01328).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from backend.schedule.errors import SpecError, message
from backend.schedule.families.family import Family
from backend.schedule.families.registry import FAMILIES, family_of, order, validate
from backend.schedule.hardware.preset_costs import Preset
from backend.schedule.options.offload import MODES as OFFLOAD
from backend.schedule.options.per_chunk import Modes
from backend.schedule.options.recompute import MODES as RECOMPUTE
from backend.schedule.simulation.simulate import simulate
from backend.schedule.spec import Spec

PLAIN = {"vocabulary": "plain", "recompute_at": "backward", "forward_only": False}
"""What no framework here does otherwise."""
WITHOUT: dict[str, Modes] = {"recompute": "none", "offload": "none"}


@dataclass(frozen=True)
class Framework:
    """A framework: whether it runs a family, and that at the sizes of a spec, which recomputation and offload, whether
    chunk by chunk, whether some micro-batches are spared the recomputation, whether groups of micro-batches have any
    size, whether any order is run, and the highest stage of ZeRO.
    """

    name: str
    title: str
    runs: Callable[[Family], bool]
    recompute: tuple[str, ...] = tuple(RECOMPUTE)
    offload: tuple[str, ...] = ("none",)
    by_chunk: bool = False
    spares: bool = False
    groups: bool = False
    any_order: bool = False
    most_zero: int = 1
    sizes: Mapping[str, Callable[[Spec], bool]] = field(default_factory=dict)
    """Of a family by its name: whether the framework takes the sizes of a spec, where it does not take all."""

    def fits(self, spec: Spec) -> bool:
        """Return whether the framework runs a family at the sizes of a spec."""
        return spec.family not in self.sizes or self.sizes[spec.family](spec)

    def takes(self, recompute: Modes, offload: Modes) -> bool:
        """Return whether the framework executes these kinds of recomputation and offload."""
        for modes, words in ((recompute, self.recompute), (offload, self.offload)):
            kinds = {modes} if isinstance(modes, str) else set(modes)
            if not kinds <= set(words) or not (isinstance(modes, str) or self.by_chunk):
                return False
        return True

    def refused(self, spec: Spec, preset: Preset | None = None) -> str | None:
        """Return the field of a spec or its model that the framework does not run so; None if it runs all."""
        if not self.runs(family_of(spec)):
            return "family"
        if not self.fits(spec):
            return "m"
        if not self.takes(spec.recompute, "none"):
            return "recompute"
        if not self.takes("none", spec.offload):
            return "offload"
        usual = spec.with_(group=None).group_size
        if not (self.any_order or self.groups) and spec.group not in (None, usual):
            return "group"
        plain = PLAIN | ({} if self.spares else {"spared": 0}) | ({} if self.any_order else {"lifo": False})
        zero = 0 if preset is None else dict(preset.fields).get("zero") or 0
        others = (key for key, value in plain.items() if getattr(spec, key) != value)
        return next(others, "zero" if zero > self.most_zero else None)

    def refusal(self, spec: Spec, preset: Preset | None = None) -> SpecError | None:
        """Return why the framework does not run a spec, with the nearest value that it does; None if it does."""
        key = self.refused(spec, preset)
        if key is None:
            return None
        if key == "zero":
            text = message("framework.zero", "{framework} shards optimizer states alone beside a pipeline: ZeRO {most}",
                           framework=self.title, most=self.most_zero)  # fmt: skip
            return SpecError(key, dict((preset or Preset(())).fields)[key], text, nearest=self.most_zero)
        family = family_of(spec)
        if key == "family":
            near = self._nearest(spec)
            text = message(
                "framework.no_family",
                "{framework} does not run {family}; the fastest that it runs at these sizes is {nearest}",
                framework=self.title,
                family=family.title,
                nearest=FAMILIES[near].title,
            )
            return SpecError(key, spec.family, text, nearest=near)
        key, nearest = self._nearest_size(spec) if key == "m" else (key, self._nearest_option(key))
        text = message(
            "framework.not_so",
            "{framework} does not run {family} with this {key}; the nearest is {nearest}",
            framework=self.title,
            family=family.title,
            key=key,
            nearest=nearest,
        )
        return SpecError(key, spec.to_json()[key], text, nearest=nearest)

    def _nearest_option(self, key: str) -> Any:
        """Return the option that it takes in place of one that it does not."""
        if key not in ("recompute", "offload"):
            return {**PLAIN, "lifo": False, "group": None, "spared": 0}[key]
        taken = (word for word in ("full", "selective", "none") if self.takes(**WITHOUT | {key: word}))
        return next(taken)

    def _nearest(self, spec: Spec) -> str:
        """Return the family with the shortest step of those that it runs at these sizes, of fixed order."""
        found: dict[str, float] = {}
        for family in filter(self.runs, FAMILIES.values()):
            least, natural, most = family.v
            v = spec.v if least <= spec.v <= most else natural
            plain = Spec(family.name, spec.p, spec.m, v, costs=spec.costs)
            try:
                if family.problem is None and self.fits(plain):
                    made = validate(plain)
                    found[family.name] = float(simulate(order(made), made.timing, made.v).end.max())
            except SpecError:  # at other sizes only
                continue
        return min(found, key=lambda name: found[name], default="1f1b")

    def _nearest_size(self, spec: Spec) -> tuple[str, int]:
        """Return the size to change, m or v, and to what, so that the framework takes it."""
        for key in ("m", "v"):
            now = getattr(spec, key)
            for value in sorted(range(1, now + spec.p + 1), key=lambda each: abs(each - now)):
                if self.fits(spec.with_(**{key: value})):
                    return key, value
        return "family", 0


def _these(*names: str) -> Callable[[Family], bool]:
    return lambda family: family.name in names


FRAMEWORKS = {
    each.name: each
    for each in (
        Framework(
            "torch",
            "torch, torchtitan",
            _these("gpipe", "1f1b", "interleaved", "interleaved-bfs", "interleaved-zb", "v-zb", "dualpipev"),
            by_chunk=True,
            most_zero=3,
        ),
        Framework("torch-csv", "torch, order from a file", lambda family: family.placement != "bidirectional",
                  by_chunk=True, most_zero=3, any_order=True),
        *(Framework(name, title, _these("1f1b", "interleaved"), spares=True, groups=True,
                    sizes={"interleaved": lambda spec: spec.m >= spec.p})
          for name, title in (("megatron", "Megatron-LM"), ("nemo", "NeMo, Megatron Bridge"))),
        Framework("deepspeed", "DeepSpeed, Megatron-DeepSpeed", _these("1f1b", "zb-h1"), recompute=("none", "full")),
        Framework("zero-bubble", "Sea AI Lab's zero bubble",
                  _these("1f1b", "interleaved", "zb-h1", "zb-h2", "zb-auto", "v-min", "v-half", "v-zb", "v-auto"),
                  sizes={"interleaved": lambda spec: spec.m % spec.p == 0, "zb-auto": lambda spec: spec.v == 1,
                         "v-auto": lambda spec: spec.v == 2}),
        Framework("pipeoffload", "Sea AI Lab's PipeOffload", _these("1f1b", "interleaved", "gis", "gis-h"),
                  offload=tuple(OFFLOAD), by_chunk=True, groups=True),
        Framework("dualpipe", "deepseek-ai/DualPipe", _these("dualpipe", "dualpipev")),
    )
}  # fmt: skip


def frameworks_of(spec: Spec, preset: Preset | None) -> list[str]:
    """Return the names of the frameworks that run a schedule."""
    return [name for name, framework in FRAMEWORKS.items() if framework.refused(spec, preset) is None]
