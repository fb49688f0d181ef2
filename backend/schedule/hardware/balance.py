"""Balance the layers over the stages when the embedding and the output layer add to the first and the last stage.

The search starts from the given split (even by default), the split with the smallest heaviest stage, and the split
with the smallest heaviest device. It takes the best by the family's simulated makespan, and moves single layers
between stages as long as that helps. It is deterministic. The number of simulated splits is bounded, so a large
schedule is searched less thoroughly.

Memory comes before time: a split that fits the device is better than any that does not. Where no split is found to
fit, one that needs no more memory than the given split is better than one that needs more, and of those the fastest
is taken: moving layers alone then cannot make the plan fit, and it must become neither slower nor larger. One start
therefore fills the device with the least memory first.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from backend.schedule import jit
from backend.schedule.families import registry
from backend.schedule.hardware.cost_model import Setting
from backend.schedule.hardware.estimate import Estimate, estimate
from backend.schedule.hardware.step_units import DeviceMemory, chunk_sizes, device_memory
from backend.schedule.order.order import Order
from backend.schedule.simulation.costs import Costs
from backend.schedule.simulation.memory import peaks
from backend.schedule.simulation.simulate import simulate
from backend.schedule.spec import Spec

Floats = npt.NDArray[np.float64]
Layers = tuple[int, ...]
Worth = tuple[int, float, float]
FITS, NO_LARGER, LARGER = range(3)  # classes of a split by its memory, the best first
BALANCE_KEYS = ("family", "m", "group")
MOST_SPLITS = 1500  # most splits simulated in one search
MOST_OPS = 3_000_000  # most ops in all of them


@dataclass(frozen=True)
class Split:
    """The layers of each stage, their costs, the family's makespan with them, and the memory of each rank."""

    layers: Layers
    costs: Costs
    makespan: float
    heaviest: float
    memory: DeviceMemory

    def as_dict(self) -> dict[str, Any]:
        """Return the split as JSON."""
        plain = {"layers": list(self.layers), "makespan": self.makespan, "heaviest_stage": self.heaviest}
        return plain | {"costs": self.costs.to_json(), "memory": self.memory.as_dict()}


@dataclass(frozen=True)
class Balance:
    """The setting's own split and the best one found; ``tried`` is the number of simulated splits."""

    spec: Spec
    setting: Setting
    before: Split
    after: Split
    tried: int

    def as_dict(self) -> dict[str, Any]:
        """Return the response of /api/balance and of the command line."""
        return {
            "model": self.setting.model.name,
            "machine": self.setting.machine.name,
            **{key: getattr(self.spec, key) for key in ("family", "p", "m", "v", "group")},
            "unit": "ms",
            "before": self.before.as_dict(),
            "after": self.after.as_dict(),
            "saved": 1 - self.after.makespan / self.before.makespan,
            "tried": self.tried,
        }


def balance_of(data: Mapping[str, Any]) -> Balance:
    """Balance the layers for one mapping of settings: those of the cost model, and the schedule's family, m and
    group.
    """
    mine = {key: data[key] for key in BALANCE_KEYS if key in data}
    setting = Setting.read({key: value for key, value in data.items() if key not in BALANCE_KEYS})
    return balance(registry.read({"m": 32, **mine, "p": setting.p, "v": setting.v}), setting)


def balance(spec: Spec, setting: Setting) -> Balance:
    """Find the best split for a family's schedule; it is never worse than the setting's own."""
    search = _Search(spec, setting, estimate(setting))
    best = min(dict.fromkeys(search.starts()), key=search.worth)
    found = search.descend(best)
    before = search.split(setting.layers)
    after = search.split(found)
    if search.rank(after) > search.rank(before):
        after = before  # the new split has an order of its own, with which it may be worse
    return Balance(spec, setting, before, after, search.tried)


class _Search:
    """Evaluates splits by their memory, their makespan and then by their heaviest stage; less is better."""

    def __init__(self, spec: Spec, setting: Setting, known: Estimate) -> None:
        self.spec = spec.with_(w_share=known.footprint.w_share)
        self.setting, self.known, self.pieces, self.comm = setting, known, known.pieces, known.costs.comm
        self.order: Order = registry.order(self.spec.with_(costs=self._costs(setting.layers)))
        self._given = self._memory(setting.layers, self.order).most
        self.tried = 0
        self._known: dict[Layers, Worth] = {}

    def worth(self, layers: Layers) -> Worth:
        """Evaluate a split, simulated once on the order of the first split."""
        if layers not in self._known:
            self.tried += 1
            jit.compile_for(self.tried * len(self.order))
            memory = self._memory(layers, self.order)
            self._known[layers] = (self._class(memory), *self._score(self.order, self._costs(layers)))
        return self._known[layers]

    def rank(self, split: Split) -> Worth:
        """Return a split's worth with its own order."""
        return self._class(split.memory), split.makespan, split.heaviest

    def split(self, layers: Layers) -> Split:
        """Return a split with the makespan of the order that the family builds for it."""
        costs = self._costs(layers)
        order = registry.order(self.spec.with_(costs=costs))
        return Split(layers, costs, *self._score(order, costs), self._memory(layers, order))

    def starts(self) -> list[Layers]:
        """Return the given split, the one with the smallest heaviest stage, the one with the smallest heaviest
        device, and the one with the smallest memory.
        """
        owner = np.zeros(self.setting.stages, np.int64)
        for rank, stages in enumerate(self.order.placement.stage_of):
            owner[stages] = rank
        return [
            self.setting.layers,
            self._fill(np.arange(self.setting.stages)),
            self._fill(owner),
            self._fill_memory(),
        ]

    def descend(self, layers: Layers) -> Layers:
        """Move one layer at a time, from the heaviest stages to the lightest first, until no move helps."""
        moved = True
        while moved:
            moved = False
            for other in self._moves(layers):
                if self._spent():
                    return layers
                if self.worth(other) < self.worth(layers):
                    layers, moved = other, True
                    break
        return layers

    def _spent(self) -> bool:
        return self.tried >= MOST_SPLITS or self.tried * len(self.order) >= MOST_OPS

    def _costs(self, layers: Layers) -> Costs:
        f, i, w = (tuple(row.tolist()) for row in self.pieces.stages(layers))
        return Costs(f, i, w, self.comm)

    def _class(self, memory: DeviceMemory) -> int:
        if memory.fits:
            return FITS
        return NO_LARGER if memory.most <= self._given else LARGER

    def _memory(self, layers: Layers, order: Order) -> DeviceMemory:
        sizes, v = self.known.with_layers(layers), self.spec.v
        held = peaks(order, self.spec.w_share, v, sizes=chunk_sizes(sizes, order.placement, v)[0])[1]
        return device_memory(sizes, self.spec, order.placement, held, self.setting.heads)

    def _score(self, order: Order, costs: Costs) -> tuple[float, float]:
        timeline = simulate(order, costs, self.spec.v)
        heaviest = max(map(sum, zip(costs.F, costs.I, costs.W, strict=True)))  # type: ignore[arg-type]  # lists here
        return float(timeline.end.max() - timeline.start.min()), heaviest

    def _least(self, stage: int) -> int:
        """Return the minimum number of layers of a stage: 0 only with an embedding or output layer, else 1."""
        return int(not (self.setting.heads and stage in (0, self.setting.stages - 1)))

    def _fill(self, owner: npt.NDArray[np.int64]) -> Layers:
        """Assign each layer to the owner with the least load, and there to the stage with the fewest layers."""
        count = self.setting.stages
        layers = [self._least(stage) for stage in range(count)]
        fixed = self.pieces.stages(layers).sum(0)
        groups: dict[int, list[int]] = {}
        for stage in range(count):
            groups.setdefault(int(owner[stage]), []).append(stage)
        heap = [(float(fixed[stages].sum()), owned) for owned, stages in groups.items()]
        heapq.heapify(heap)
        layer = self.pieces.layer
        for _ in range(sum(self.setting.layers) - sum(layers)):
            load, owned = heapq.heappop(heap)
            layers[min(groups[owned], key=lambda stage: (layers[stage], stage))] += 1
            heapq.heappush(heap, (load + layer, owned))
        return tuple(layers)

    def _fill_memory(self) -> Layers:
        """Assign each layer to the stage whose fullest device then needs the least memory."""
        placement, count = self.order.placement, self.setting.stages
        layers = [self._least(stage) for stage in range(count)]
        ranks = [np.flatnonzero((placement.stage_of == stage).any(1)) for stage in range(count)]
        none, one, memory = (
            np.array(self._memory(split, self.order).ranks) for split in ((0,) * count, (1,) * count, tuple(layers))
        )
        more = (one - none) / placement.chunks  # bytes of one more layer on each rank
        for _ in range(sum(self.setting.layers) - sum(layers)):
            best = min(
                range(count),
                key=lambda stage: (float((memory[ranks[stage]] + more[ranks[stage]]).max()), layers[stage], stage),
            )
            layers[best] += 1
            memory[ranks[best]] += more[ranks[best]]
        return tuple(layers)

    def _moves(self, layers: Layers) -> Iterator[Layers]:
        load = self.pieces.stages(layers).sum(0)
        heavy = sorted(range(len(layers)), key=lambda stage: (-load[stage], stage))
        light = sorted(range(len(layers)), key=lambda stage: (load[stage], stage))
        for giver in heavy:
            if layers[giver] > self._least(giver):
                for taker in light:
                    if taker != giver:
                        yield tuple(share - (at == giver) + (at == taker) for at, share in enumerate(layers))
