"""Move whole layers between the stages of a measured step until it is shortest.

A layer takes as long in every stage: the median over the stages of work per layer. What a stage takes beyond its layers
(the embedding, the output layer) stays where it is, so a heavier last stage gets fewer layers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from backend.schedule.diagnosis.step_model import StepModel, over_stages, stage_work
from backend.schedule.diagnosis.what_if import Steps
from backend.schedule.errors import SpecError, message
from backend.schedule.interop.megatron_layout import StageLayout, is_layout, read_layout, write_layout

Floats = npt.NDArray[np.float64]
MOST_LAYERS = 4096
MOST_TRIED = 400  # splits that are simulated


@dataclass(frozen=True, eq=False)
class MovedLayers:
    """The layers of each stage ``before`` and ``after``; ``factor`` (stages,) what a stage then takes of its time;
    ``saves`` the share of the step; ``layer`` the ms of a layer for a micro-batch, forward and backward; ``placement``
    the kind of the order's.
    """

    before: tuple[int, ...]
    after: tuple[int, ...]
    factor: Floats
    saves: float
    layer: float
    placement: str

    @property
    def layout(self) -> str | None:
        """Return the layers as Megatron's ``--pipeline-model-parallel-layout``; None where it has no such stages."""
        if self.placement != "looped":
            return None
        return write_layout(StageLayout(self.after, (0,) * len(self.after)))

    def as_dict(self) -> dict[str, Any]:
        """Return the move as JSON."""
        plain = {"before": list(self.before), "after": list(self.after), "saves": self.saves, "layer": self.layer}
        return plain | {"layout": self.layout}


def layers_of(given: str | int | Sequence[int], stages: int) -> tuple[int, ...]:
    """Return the layers of each stage: of a number, that in every stage; of a list, with commas as a text, one number a
    stage; of a Megatron layout, its layers. Raises SpecError where they are not those of ``stages``.
    """
    if isinstance(given, str) and is_layout(given):
        found: Sequence[Any] = read_layout(given).counts
    elif isinstance(given, str):
        found = [
            int(each) if each.isdecimal() and len(each) < 6 else None for each in given.replace(" ", "").split(",")
        ]
    else:
        found = [given] if isinstance(given, int) else given
    numbers = [each for each in found if isinstance(each, int) and not isinstance(each, bool) and each >= 0]
    numbers = numbers * stages if len(found) == 1 else numbers
    if len(numbers) == stages == len(found) * (stages if len(found) == 1 else 1) and 0 < sum(numbers) <= MOST_LAYERS:
        return tuple(numbers)
    text = message(
        "schedule.measured_layers",
        "layers must be the number of layers of a stage, or of each of the {stages} stages with commas, {most} at most",
        stages=stages,
        most=f"{MOST_LAYERS:,}",
    )
    raise SpecError("layers", given, text, nearest=",".join([str(max(1, sum(numbers) // stages))] * stages))


def moved_layers(steps: Steps, layers: tuple[int, ...], now: float) -> MovedLayers:
    """Return the best split of the layers that is found; ``now`` in ms is the step as it is.

    Begins with the given split and with the one whose heaviest rank is lightest, and moves single layers between stages
    as long as a step without jitter and pauses gets shorter.
    """
    model = steps.model
    work = stage_work(model.of, model.stage)
    count = np.array(layers)
    has = count > 0
    layer = float(np.median(work[has] / count[has]))
    extra = np.maximum(work - count * layer, -0.9 * work)
    search = _Search(_usual(model), work, extra, layer)
    best = min((search.climb(layers), search.climb(search.lightest(layers))), key=search.time)
    factor = search.factor(best)
    saves = steps.saved_by(_scaled(model, factor), now)
    if saves <= 0.0:
        best, factor, saves = layers, np.ones(len(layers)), 0.0
    return MovedLayers(layers, best, factor, saves, layer / model.of.order.m, model.of.order.placement.kind)


class _Search:
    """Times of splits on one measured step, each simulated once."""

    def __init__(self, model: StepModel, work: Floats, extra: Floats, layer: float) -> None:
        self.model, self.work, self.extra, self.layer = model, work, extra, layer
        self.times: dict[tuple[int, ...], float] = {}

    def factor(self, layers: tuple[int, ...]) -> Floats:
        """Return (stages,) what a stage with these layers takes of the time that it took."""
        there = np.maximum(self.extra + np.array(layers) * self.layer, 0.0)
        found: Floats = np.where(self.work > 0.0, there / np.where(self.work > 0.0, self.work, 1.0), 1.0)
        return found

    def time(self, layers: tuple[int, ...]) -> float:
        """Return the ms of the step with a split, infinite once enough have been tried."""
        if layers not in self.times:
            if len(self.times) >= MOST_TRIED:
                return np.inf
            self.times[layers] = float(_scaled(self.model, self.factor(layers)).makespan().max())
        return self.times[layers]

    def lightest(self, layers: tuple[int, ...]) -> tuple[int, ...]:
        """Return the split in which each layer went to the lightest rank, and there to the lightest stage."""
        order = self.model.of.order
        rank_of = np.zeros(len(layers), np.int64)
        rank_of[order.placement.stage_of] = np.arange(order.p)[:, None]
        least = np.minimum(np.array(layers), 1)  # a stage with layers keeps one
        count = least.copy()
        for _ in range(sum(layers) - int(least.sum())):
            stage = self.extra + count * self.layer
            rank = np.bincount(rank_of, stage, order.p)
            count[np.lexsort((stage, rank[rank_of]))[0]] += 1
        return tuple(count.tolist())

    def climb(self, layers: tuple[int, ...]) -> tuple[int, ...]:
        """Return the split after moving single layers from one stage to another as long as that helps."""
        best = layers
        while True:
            moved = min(self._neighbours(best), key=self.time, default=best)
            if self.time(moved) >= self.time(best) * (1.0 - 1e-9):
                return best
            best = moved

    def _neighbours(self, layers: tuple[int, ...]) -> list[tuple[int, ...]]:
        found = []
        heavy = np.argsort(-self.factor(layers) * self.work, kind="stable")[:3].tolist()  # only these can gain much
        for source in heavy:
            for target in range(len(layers)):
                if target != source and layers[source] > 1:
                    each = list(layers)
                    each[source] -= 1
                    each[target] += 1
                    found.append(tuple(each))
        return found


def _scaled(model: StepModel, factor: Floats) -> StepModel:
    return replace(model, stage=model.stage * over_stages(model.of, factor))


def _usual(model: StepModel) -> StepModel:
    """Return the model of one step without what happened in some steps alone: jitter and pauses."""
    keep = np.zeros(len(model.of.places), bool)
    keep[0] = True
    worker, micro = (each.mean(axis=0, keepdims=True) for each in (model.worker, model.micro))
    nothing = np.zeros_like(worker)
    return replace(model, of=model.of.only(keep), worker=worker, micro=micro, jitter=nothing, pause=nothing)
