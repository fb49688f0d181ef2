"""Lay out a number of devices and a global batch: pipeline, tensor, context, expert and data parallel sizes.

Tried are tensor parallelism within a node that divides the heads, context parallelism down to 8,192 tokens a device,
expert parallelism that divides the experts, every pipeline that divides the other devices, and micro-batches of one,
two and four sequences; replicas take the rest, with their optimizer sharded. What the preset gives is kept. Of these
the layouts that promise most are returned: by the time of a pipeline whose bubble interleaving divides, at the memory
of 1F1B with the recomputation that it needs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from backend.schedule.errors import SpecError, message
from backend.schedule.hardware.footprint import STATES
from backend.schedule.hardware.preset_costs import Preset
from backend.schedule.options.recompute import MODES as RECOMPUTE
from backend.schedule.spec import LIMITS, Spec, integer

TENSOR = (1, 2, 4, 8)
MICRO_BATCH = (1, 2, 4)
EXPERT = (1, 8, 16, 32, 64)
LEAST_TOKENS = 8192  # of a sequence on a device, to which context parallelism divides
LONGEST = 64  # ranks of a pipeline
CHUNKS = 4  # by which interleaving may divide a bubble
MOST = 8  # layouts that are returned
MOST_DEVICES = 2**20
MOST_BATCH = 2**20


@dataclass(frozen=True)
class Layout:
    """``m`` micro-batches a step through a pipeline of ``p`` ranks; the preset has all other sizes."""

    p: int
    m: int
    preset: Preset

    def __post_init__(self) -> None:
        """Raise SpecError for a size of a wrong type or out of range."""
        for name in ("p", "m"):
            integer(name, getattr(self, name), 1, LIMITS[name])

    def sizes(self, v: int) -> dict[str, int]:
        """Return the sizes of the parallelism and of a micro-batch, with ``v`` chunks per device."""
        made = self.preset.setting()
        return {"p": self.p, "v": v, "tp": made.tp, "context": made.context, "expert": made.expert, "data": made.data,
                "micro_batch": made.model.micro_batch, "m": self.m}  # fmt: skip


@dataclass(frozen=True)
class Promise:
    """What a layout may reach: ``seconds`` of a step, ``memory`` in bytes of the fullest device, whether it fits."""

    seconds: float
    memory: float
    fits: bool

    @property
    def rank(self) -> tuple[bool, float]:
        return (not self.fits, self.seconds if self.fits else self.memory)


def layouts(devices: int, batch: int, preset: Preset, limit: float | None = None, p: int | None = None) -> list[Layout]:
    """Return the layouts of ``batch`` sequences a step on ``devices`` that promise most, best first; ``p`` fixes the
    pipeline. Raises SpecError where there is none.
    """
    promised = []
    for layout in _all(devices, batch, preset, p):
        made = promise(layout, limit)
        if made is not None:
            promised.append((made.rank, layout))
    if not promised:
        text = message(
            "analysis.no_layout",
            "no layout of {devices} devices takes a batch of {batch}",
            devices=devices,
            batch=batch,
        )
        raise SpecError("gpus", devices, text)
    return [layout for _, layout in sorted(promised, key=lambda each: each[0])[:MOST]]


def _all(devices: int, batch: int, preset: Preset, p: int | None) -> Iterator[Layout]:
    given, setting = dict(preset.fields), preset.setting()
    model, machine = setting.model, setting.machine
    wide = [2**k for k in range(5) if model.sequence >= LEAST_TOKENS * 2**k] or [1]
    for tensor, context, micro in product(
        _sizes(given, "tp", [each for each in TENSOR if each <= machine.per_node and not model.attention_heads % each]),
        _sizes(given, "context", wide),
        _sizes(given, "micro_batch", MICRO_BATCH),
    ):
        stages, over = divmod(devices, tensor * context)
        for ranks in [] if over else [p] if p else range(1, min(stages, LONGEST, LIMITS["p"]) + 1):
            data, rest = divmod(stages, ranks)
            m, left = divmod(batch, data * micro) if data else (0, 1)
            if rest or left or not 1 <= m <= LIMITS["m"] or given.get("data", data) != data:
                continue
            for expert in _sizes(given, "expert", EXPERT if model.experts else (1,)):
                sizes = {"tp": tensor, "context": context, "micro_batch": micro, "data": data, "expert": expert}
                sharded = {} if data == 1 or "zero" in given else {"zero": 1}
                plain = {key: value for key, value in sizes.items() if key in given or value > 1}
                yield Layout(ranks, m, Preset.of(given | plain | sharded))


def _sizes(given: Mapping[str, Any], field: str, tried: Sequence[int]) -> Sequence[int]:
    return [given[field]] if given.get(field) is not None else tried


def promise(layout: Layout, limit: float | None = None) -> Promise | None:
    """Estimate a layout in closed form; None if the model cannot be laid out so. ``limit`` is a device's memory in
    bytes, the machine's by default.
    """
    p, m = layout.p, layout.m
    try:
        found = layout.preset.estimate(Spec(p=p, m=m))
    except SpecError:
        return None
    kept, options = found.footprint, found.options.as_dict()
    costs = (found.costs.F, found.costs.I, found.costs.W)
    stages = np.array([np.broadcast_to(np.array(cost, float), p) for cost in costs]).sum(0)
    chunks = max(1, min(CHUNKS, found.setting.model.layers // p))
    states = sum(np.array(kept.stages[state]) for state in STATES) + kept.reserve
    held = np.minimum(np.arange(p, 0, -1), m) * np.array(kept.stages["activations"])
    promises = []
    for mode in RECOMPUTE:
        times = stages + (0.0 if mode == "none" else options["R"][mode])
        seconds = (
            m * times.max() + (times.sum() - times.max()) / chunks + 2 * (p - 1) * found.costs.comm + found.tail
        ) / 1000
        memory = float((states + held * kept.kept_by_recompute[mode]).max())
        promises.append(Promise(float(seconds), memory, memory <= (kept.limit if limit is None else limit)))
    return min(promises, key=lambda each: each.rank)
