"""Estimate how long a run will take, before it is queued, and refuse one that would take too long.

A paced run takes the length of its plan. A free one takes its number of ops times the time per op of the free runs that
ended here last, verification included.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from backend.errors import RequestError, message
from backend.runs.options import UNIT_MS, Options
from backend.runs.run import Run
from backend.schedule.families import registry
from backend.schedule.options.blocks import most_blocks
from backend.schedule.order.order import Order
from backend.schedule.simulation.pace import LONGEST_S, default_unit_ms, mean_op
from backend.schedule.simulation.simulate import simulate
from backend.schedule.spec import Spec

FIRST_OP_S = 0.005  # until a free run has ended: as on a machine with two cores
NEW_SHARE = 0.3  # of the last run in the mean of the time per op
LEAST_OPS = 100  # of a run from which something is learnt
MOST_TRIES = 256  # values of m that are tried as the nearest legal one


@dataclass(frozen=True, slots=True)
class Work:
    """What there is to do in one step: `ops`, the `makespan` of the plan and the mean duration of an op that takes time
    (`mean_op`), both in time units, 0 where the pace is free; and the most `blocks` of a stage."""

    ops: int
    makespan: float = 0.0
    mean_op: float = 0.0
    blocks: int = 1

    @classmethod
    def of(cls, order: Order, spec: Spec, mode: str) -> Work:
        """Count the ops of an order and, for mode paced, simulate it: call this outside the event loop."""
        if mode != "paced":
            return cls(len(order))
        timeline = simulate(order, spec.timing, spec.v)
        return cls(len(order), float(timeline.end.max()), mean_op(timeline), most_blocks(spec.run_layers))


@dataclass(frozen=True, slots=True)
class Setting:
    """Where a run will execute: `mode` paced or free, `device` cpu or cuda, and the cores of the machine."""

    mode: str
    device: str
    cores: int


def setting_of(
    ranks: int, options: Options, choices: Sequence[Mapping[str, Any]], devices: Sequence[Mapping[str, Any]]
) -> Setting:
    """Predict what the runner chooses, from the `choices` and `devices` that it has reported (none yet: as it would on
    this host without a GPU)."""
    cores = sum(int(each.get("cores", 0)) for each in devices) or len(os.sched_getaffinity(0))
    row = next((row for row in choices if row["from"] <= ranks <= row["to"]), None)
    mode = str(row["mode"]) if row else "free" if ranks <= cores else "paced"
    device = str(row["device"]) if row else "cpu"
    if options.device != "auto":
        device = options.device
        mode = "free" if device == "cuda" or ranks <= cores else "paced"
    if options.mode != "auto":
        mode = options.mode
    elif options.unit_ms is not None:
        mode = "paced"
    return Setting(mode, device, cores)


class OpTimes:
    """The time per op of free runs, by device and type of numbers: a mean in which the latest runs count most."""

    def __init__(self) -> None:
        self._seconds: dict[tuple[str, str], float] = {}

    def learn(self, run: Run, seconds: float) -> None:
        """Take the time of a free run that has finished, from its first op to its verdict."""
        ops = run.log.ops * int(run.options.get("steps", 1))
        if run.status != "finished" or run.facts.get("mode") != "free" or ops < LEAST_OPS:
            return
        key = _key("cuda" if "cuda" in str(run.facts.get("device")) else "cpu", run.options.get("dtype"))
        each = seconds / ops
        self._seconds[key] = each + (1 - NEW_SHARE) * (self._seconds.get(key, each) - each)

    def rows(self) -> list[list[Any]]:
        """Return what was learnt as JSON: [device, type of numbers, seconds]."""
        return [[*key, seconds] for key, seconds in self._seconds.items()]

    @classmethod
    def of(cls, rows: Sequence[Sequence[Any]]) -> OpTimes:
        """Return what `rows` has encoded."""
        made = cls()
        made._seconds = {(str(device), str(dtype)): float(seconds) for device, dtype, seconds in rows}
        return made

    def per_op(self, setting: Setting, dtype: str) -> float:
        """Return the expected seconds per op of a free run."""
        return self._seconds.get(_key(setting.device, dtype), FIRST_OP_S)


def _key(device: str, dtype: Any) -> tuple[str, str]:
    return device, str(dtype or "float32")


@dataclass(frozen=True, slots=True)
class Estimate:
    """The expected length of a run: of one step, and the bound of all where the runner chooses the unit (else None)."""

    step_s: float
    steps: int
    most_s: float | None = None

    @property
    def seconds(self) -> float:
        """Return the seconds of the whole run."""
        total = self.step_s * self.steps
        return total if self.most_s is None else min(total, self.most_s)


def estimate(work: Work, ranks: int, options: Options, setting: Setting, times: OpTimes) -> Estimate:
    """Estimate a run: exactly its plan if it is paced with a given unit."""
    if setting.mode == "free":
        return Estimate(work.ops * times.per_op(setting, options.dtype), options.steps)
    if options.unit_ms is not None:
        return Estimate(work.makespan * options.unit_ms / 1000, options.steps)
    if not work.mean_op:
        return Estimate(0.0, options.steps, LONGEST_S)
    unit_ms = default_unit_ms(work.makespan, work.mean_op, ranks, setting.cores, work.blocks, options.steps)
    return Estimate(work.makespan * unit_ms / 1000, options.steps, LONGEST_S)


def refuse_long(found: Estimate, limit: float, spec: Spec, options: Options) -> None:
    """Raise RequestError, with the nearest legal value of what makes it long, for a run of over `limit` seconds."""
    if found.seconds <= limit:
        return
    share = limit / (found.step_s * found.steps)
    field, value, nearest = _shorter(share, found, spec, options)
    why = message(
        "runs.too_long",
        "This run would take about {seconds} s; this server takes runs of up to {limit} s.",
        seconds=f"{found.seconds:,.0f}",
        limit=f"{limit:,.0f}",
    )
    raise RequestError(field, value, why, limit=limit, nearest=nearest)


def _shorter(share: float, found: Estimate, spec: Spec, options: Options) -> tuple[str, float, float | None]:
    """Return the field to change for a run of this share of its length, its value, and the nearest legal one, if it is
    known."""
    if options.unit_ms is not None and options.unit_ms * share >= UNIT_MS[0]:
        return "unit_ms", options.unit_ms, _floor(options.unit_ms * share)
    if int(options.steps * share) >= 1:
        return "steps", options.steps, int(options.steps * share)
    in_proportion = found.most_s is None and options.unit_ms is None  # of a plan, only some part is
    return "m", spec.m, _fewer_micro_batches(spec, int(spec.m * share)) if in_proportion else None


def _fewer_micro_batches(spec: Spec, most: int) -> int | None:
    """Return the largest legal m up to `most` that is close to it; None if there is none, or the
    order is given."""
    if spec.order is not None:
        return None
    for m in range(most, max(0, most - MOST_TRIES), -1):
        try:
            registry.read(spec.to_json() | {"m": m})
        except RequestError:
            continue
        return m
    return None


def _floor(value: float) -> float:
    """Round down to three figures, so that the nearest legal value is legal."""
    text = f"{value:.3g}"
    return float(text) if float(text) <= value else float(f"{value * 0.995:.3g}")
