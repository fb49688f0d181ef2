"""What a step would take with one part repaired, or one part alone as it was measured (OSDI 2025, arXiv 2505.05713).

Times are of steps: the slowest replica of each, with the tail after the last op, and the mean of all steps.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from backend.schedule.diagnosis.step_model import REPAIRS, StepModel, ideal, repaired
from backend.schedule.order.op_columns import op_columns
from backend.schedule.order.ops import KINDS

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
WORST = 0.03  # of the workers
KIND_NAMES = (*KINDS, "FB")


@dataclass(frozen=True, eq=False)
class Steps:
    """A model of measured steps; ``tail`` in ms is the same for all."""

    model: StepModel
    tail: float = 0.0

    def time(self, model: StepModel | None = None) -> float:
        """Return the mean time of a step in ms, of which the slowest replica counts."""
        return float(by_step(self.model, (model or self.model).makespan()).mean()) + self.tail

    def saved_by(self, repaired: StepModel, now: float) -> float:
        """Return the share of a step that a repair saves."""
        return 1.0 - self.time(repaired) / now

    def with_ideal(self, keep: Bools) -> StepModel:
        """Return the ideal model with the ops ``keep`` (I, N), or one that broadcasts to it, as they were measured."""
        return replace(self.ideal, jitter=np.where(keep, self.model.busy - self.ideal.stage, 0.0))

    @cached_property
    def ideal(self) -> StepModel:
        """Return the ideal model."""
        return ideal(self.model)


def by_step(model: StepModel, times: Floats) -> Floats:
    """Return (steps,) the longest of the times (I,) of each step."""
    steps, at = np.unique(model.of.steps, return_inverse=True)
    out = np.zeros(len(steps))
    np.maximum.at(out, at, times)
    return out


def slowdowns(steps: Steps, now: float) -> dict[str, Any]:
    """Return the slowdown S, that of each kind of op, stage, replica and worker alone, and the shares of the loss that
    repairing the last stage, and the worst workers, would save (M_S, M_W).
    """
    model = steps.model
    rank, _, kind, chunk, *_ = op_columns(model.of.order)
    stage = model.of.order.placement.stage_of[rank, chunk]
    replicas = model.of.replicas[:, None]
    best = steps.time(steps.ideal)

    def alone(parts: Iterable[tuple[Any, Bools]]) -> dict[Any, float]:
        return {name: steps.time(steps.with_ideal(keep)) / best for name, keep in parts}

    def share(keep: Bools) -> float:
        return (now - steps.time(steps.with_ideal(~keep))) / (now - best) if now > best else 0.0

    names = np.unique(replicas).tolist()
    workers = {(name, each): (replicas == name) & (rank == each) for name in names for each in range(model.of.order.p)}
    by_worker = alone(workers.items()) if len(names) > 1 else {}
    worst = sorted(by_worker, key=lambda each: -by_worker[each])[: max(1, round(WORST * len(by_worker)))]
    return {
        "ideal": best,
        "slowdown": now / best,
        "by_kind": alone((KIND_NAMES[each], kind == each) for each in np.unique(kind).tolist()),
        "by_stage": alone((each, stage == each) for each in np.unique(stage).tolist()),
        "by_replica": alone((name, replicas == name) for name in names) if len(names) > 1 else {},
        "by_worker": [
            {"replica": replica, "rank": each, "slowdown": slow} for (replica, each), slow in by_worker.items()
        ],
        "M_S": share(stage == stage.max()),
        "M_W": share(np.logical_or.reduce([workers[each] for each in worst])) if worst else None,
    }


def costs(steps: Steps) -> dict[str, float]:
    """Return by which share each cause alone makes the repaired step longer: what others hide while they are there."""
    best = steps.time(repaired(steps.model))
    found = {}
    for name in REPAIRS:
        model = steps.model
        for other, repair in REPAIRS.items():
            model = repair(model) if other != name else model
        found[name] = steps.time(model) / best - 1.0
    return found


def repairs(steps: Steps, now: float) -> dict[str, float]:
    """Return the share of a step that each cause's repair saves alone, and that of all together."""
    found = {name: steps.saved_by(repair(steps.model), now) for name, repair in REPAIRS.items()}
    spans = steps.model.makespan()
    waiting = by_step(steps.model, spans).mean() - spans.mean()
    return found | {"replicas": float(waiting) / now, "tail": steps.tail / now,
                    "all": steps.saved_by(repaired(steps.model), now)}  # fmt: skip
