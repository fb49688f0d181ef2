"""Say why a measured step takes as long as it does: the whole of a diagnosis, as JSON and in sentences."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from backend.schedule.diagnosis.findings import Finding, findings, verdict
from backend.schedule.diagnosis.idle_causes import Idle, idle_causes
from backend.schedule.diagnosis.instances import Instances, Place, instances
from backend.schedule.diagnosis.layers import MovedLayers, layers_of, moved_layers
from backend.schedule.diagnosis.step_model import StepModel, step_model
from backend.schedule.diagnosis.what_if import Steps, by_step, costs, repairs, slowdowns
from backend.schedule.errors import Message, SpecError, message
from backend.schedule.families import imported
from backend.schedule.families.registry import FAMILIES, validate
from backend.schedule.interop.traces.recording import Recording
from backend.schedule.order.op_columns import op_columns
from backend.schedule.order.ops import KINDS, PAIR
from backend.schedule.partial_order.recognition import nearest, spec_like
from backend.schedule.simulation.costs import Costs
from backend.schedule.spec import Spec

Floats = npt.NDArray[np.float64]
DIGITS = 4  # of costs, to keep links short
MOST_INSTANCES = 4096
LEAST_DIFFER = 0.02  # of the mean micro-batch, between the largest and the smallest
MOST_BESIDE = 20  # names that are told


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """A recording, its order with all times, the model of its step, and what follows from them; ``places`` are those of
    all whole steps, also where one step or replica was chosen.
    """

    recording: Recording
    instances: Instances
    steps: Steps
    idle: Idle
    what_if: dict[str, float]
    slowdown: dict[str, Any]
    findings: tuple[Finding, ...]
    spec: Spec
    recognised: dict[str, Any]
    notes: tuple[str, ...]
    places: tuple[Place, ...]
    moved: MovedLayers | None = None

    @property
    def model(self) -> StepModel:
        """Return the model of the step."""
        return self.steps.model

    @property
    def verdict(self) -> list[Message]:
        """Return what costs most and what its repair saves, in a few sentences."""
        return verdict(self.findings, self.steps, self.idle)

    def as_dict(self) -> dict[str, Any]:
        """Return the diagnosis as JSON; times in ms, shares of the step."""
        measured, simulated = self.instances.span, self.model.makespan()
        ratio = simulated / measured
        return {
            "source": self.recording.source,
            "recognised": self.recognised,
            "measured": {
                "steps": len(set(self.instances.steps.tolist())),
                "replicas": len(set(self.instances.replicas.tolist())),
                "step": self.idle.step,
                "span": float(measured.mean()),
                "tail": self.steps.tail,
                "beside": _beside(self.recording, self.instances),
                "bubble": float(1.0 - self.idle.work.sum() / (self.idle.step * len(self.idle.work))),
                "by_step": _spread(by_step(self.model, measured)),
                "of": {
                    "steps": sorted({step for step, _ in self.places}),
                    "replicas": sorted({replica for _, replica in self.places}),
                },
            },
            "replay": {
                "makespan": float(simulated.mean()),
                "ratio": float(np.median(ratio)),
                "lowest": float(ratio.min()),
                "highest": float(ratio.max()),
            },
            "slowdown": {key: self.slowdown[key] for key in ("slowdown", "ideal", "M_S", "M_W")},
            "by_kind": self.slowdown["by_kind"],
            "by_stage": self.slowdown["by_stage"],
            "by_replica": self.slowdown["by_replica"],
            "by_worker": self.slowdown["by_worker"],
            "idle": self.idle.as_dict(),
            "timeline": self._timeline(),
            "what_if": self.what_if,
            "layers": None if self.moved is None else self.moved.as_dict() | {"spec": self._with_moved().to_json()},
            "findings": [each.as_dict() for each in self.findings],
            "verdict": self.verdict,
            "stages": _stages(self.instances, self.model),
            "spec": self.spec.to_json(),
            "notes": list(self.notes),
        }

    def _with_moved(self) -> Spec:
        """Return the spec with the costs of each stage after the layers have moved."""
        assert self.moved is not None
        costs, factor = self.spec.costs, self.moved.factor
        forward, gradient, weights = (
            tuple(float(f"{each:.{DIGITS}g}") for each in np.asarray(own) * factor)
            for own in (costs.F, costs.I, costs.W)
        )
        return self.spec.with_(costs=replace(costs, F=forward, I=gradient, W=weights))

    def _timeline(self) -> dict[str, Any]:
        """Return the waits of the step of median length by cause, as JSON."""
        step, replica = self.instances.places[self.idle.at]
        waits = [
            {"rank": each.rank, "op": each.op, "start": each.start, "end": each.end, "causes": each.causes}
            for each in self.idle.waits
        ]
        return {"step": step, "replica": replica, "end": float(self.instances.span[self.idle.at]), "waits": waits}


def diagnose(
    recording: Recording,
    step: int | None = None,
    replica: int | None = None,
    layers: str | int | Sequence[int] | None = None,
) -> Diagnosis:
    """Diagnose a recording, or one step or one replica of it; with its ``layers`` as ``layers_of`` takes them, also how
    to move them. Raises OrderError where there is no whole step, SpecError for a step, a replica or layers that are not
    there.
    """
    found, notes = instances(recording)
    places, found = found.places, _chosen(found, step, replica)
    if len(found.places) > MOST_INSTANCES:
        keep = np.zeros(len(found.places), bool)
        keep[:MOST_INSTANCES] = True
        notes += (message("schedule.recording_cut", "only the first {most} steps and replicas are read",
                          most=f"{MOST_INSTANCES:,}"),)  # fmt: skip
        found = found.only(keep)
    model = step_model(found, recording.waits_inside)
    tail = _tail(recording, found)
    steps = Steps(model, tail)
    now = steps.time()
    idle = idle_causes(model, tail)
    saved = repairs(steps, now)
    spec, recognised = _recognised(found, model)
    slow = slowdowns(steps, now)
    causes = findings(steps, saved, costs(steps), recording)
    said = recording.notes + notes
    moved = None if layers is None else moved_layers(steps, layers_of(layers, found.order.placement.stages), now)
    return Diagnosis(recording, found, steps, idle, saved, slow, causes, spec, recognised, said, places, moved)


def _chosen(found: Instances, step: int | None, replica: int | None) -> Instances:
    """Return the instances of a step, of a replica, or all."""
    keep = np.ones(len(found.places), bool)
    for name, value, has in (("step", step, found.steps), ("replica", replica, found.replicas)):
        if value is None:
            continue
        if value not in has:
            there = sorted(set(has.tolist()))
            text = message(
                "schedule.recording_has_no_such_place",
                "there is no whole {name} {value}; there are {there}",
                name=name,
                value=value,
                there=there[:20],
            )
            raise SpecError(name, value, text, nearest=min(there, key=lambda each: abs(each - value)))
        keep &= has == value
    return found.only(keep)


def _tail(recording: Recording, found: Instances) -> float:
    """Return the ms of a step before its first op and after its last one on any rank: what the files have beside ops,
    else the time until the next step.
    """
    steps = found.steps
    first = {step: float(found.start[steps == step].min()) for step in set(steps.tolist())}
    last = {step: float(found.end[steps == step].max()) for step in first}
    before, after = dict(first), dict(last)
    for each in recording.beside:
        if each.step in first:
            before[each.step] = min(before[each.step], each.start)
            after[each.step] = max(after[each.step], each.end)
    if any(after[step] > last[step] or before[step] < first[step] for step in first):
        return float(np.median([after[step] - last[step] + first[step] - before[step] for step in first]))
    following = [first[step + 1] - last[step] for step in first if step + 1 in first]
    return max(0.0, float(np.median(following))) if following else 0.0


def _spread(times: Floats) -> dict[str, float]:
    quantiles = np.quantile(times, [0.0, 0.05, 0.5, 0.95, 1.0])
    return dict(zip(("least", "p5", "median", "p95", "most"), quantiles.tolist(), strict=True))


def _stages(found: Instances, model: StepModel) -> list[dict[str, Any]]:
    """Return the mean time of each kind of op in each stage, in ms."""
    rank, _, kind, chunk, *_ = op_columns(found.order)
    stage = found.order.placement.stage_of[rank, chunk]
    rows: dict[int, dict[str, float]] = defaultdict(dict)
    for group in np.unique(found.group):
        at = int(np.flatnonzero(found.group == group)[0])
        name = KINDS[kind[at]] if kind[at] < len(KINDS) else "FB"
        rows[int(stage[at])][name] = float(model.stage[at] * model.worker[:, at].mean())
    return [{"stage": each, "rank": int(rank[stage == each][0])} | times for each, times in sorted(rows.items())]


def _recognised(found: Instances, model: StepModel) -> tuple[Spec, dict[str, Any]]:
    """Return the spec with the measured costs, in ms, and what the order is."""
    order = found.order
    v = order.placement.chunks // order.placement.streams
    costs = _costs(found, model)
    spec = spec_like(order, costs)
    shape: dict[str, Any] = {"p": order.p, "m": order.m, "v": v, "placement": order.placement.kind}
    shape |= {"replicas": len(set(found.replicas.tolist()))}
    if spec is not None:
        return _with_streams(_with_sizes(spec, found, model), model), {
            "family": spec.family,
            "title": FAMILIES[spec.family].title,
            "nearest": None,
        } | shape
    near = nearest(order, costs)
    if near is not None:
        shape["nearest"] = {
            "family": near.spec.family,
            "title": FAMILIES[near.spec.family].title,
            "share": near.share,
            "rank": near.rank,
            "index": near.index,
            "here": near.here,
            "there": near.there,
        }
    return imported.spec_of(order).with_(costs=costs), {"family": None, "title": None, "nearest": None} | shape


def _with_sizes(spec: Spec, found: Instances, model: StepModel) -> Spec:
    """Return the spec with the sizes of the micro-batches in the step of median length, where they differ."""
    _, _, kind, _, micro, *_ = op_columns(found.order)
    at = int(np.argsort(found.span)[len(found.span) // 2])
    if (kind == PAIR).any() or float(np.ptp(model.micro[at])) < LEAST_DIFFER:
        return spec
    sizes = np.bincount(micro, model.micro[at], spec.m) / np.bincount(micro, minlength=spec.m)
    try:
        return validate(spec.with_(sizes=tuple(round(each, 3) for each in (sizes / sizes.mean()).tolist())))
    except SpecError:  # of a family without sizes
        return spec


def _with_streams(spec: Spec, model: StepModel) -> Spec:
    """Return the spec with its messages on the streams on which they held up one another."""
    if model.blocking is None:
        return spec
    try:
        return validate(spec.with_(streams=model.blocking.messages.streams, receives=model.blocking.receives))
    except SpecError:  # of an option that leaves no place for streams
        return spec


def _beside(recording: Recording, found: Instances) -> list[dict[str, Any]]:
    """Return what ranks do beside their ops, the longest first: its name, and the median ms in a step of a rank."""
    steps = set(found.steps.tolist())
    times: dict[str, dict[tuple[int, int, int], float]] = {}
    for each in recording.beside:
        if each.step in steps:
            of_name = times.setdefault(each.name, {})
            place = (each.step, each.replica, each.rank)
            of_name[place] = of_name.get(place, 0.0) + each.end - each.start
    medians = {name: float(np.median(list(each.values()))) for name, each in times.items()}
    longest = sorted(medians, key=lambda name: -medians[name])[:MOST_BESIDE]
    return [{"name": name, "time": medians[name]} for name in longest]


def _costs(found: Instances, model: StepModel) -> Costs:
    """Return the mean times by stage as costs, in ms with few digits; ``comm`` the usual hop."""
    order = found.order
    rank, _, kind, chunk, *_ = op_columns(order)
    stage = order.placement.stage_of[rank, chunk]
    spent = model.stage * model.worker.mean(axis=0)

    def mean(letters: str, share: float = 1.0) -> tuple[float, ...] | None:
        mine = np.isin(kind, [KINDS.index(letter) for letter in letters])
        if not mine.any():
            return None
        sums = np.bincount(stage[mine], spent[mine], order.placement.stages)
        counts = np.bincount(stage[mine], minlength=order.placement.stages)
        return tuple(float(f"{each * share:.{DIGITS}g}") for each in sums / np.maximum(counts, 1))

    full = mean("B")
    forward = mean("F") or (0.0,) * order.placement.stages
    gradient, weights = mean("I"), mean("W")
    if full is not None and (gradient is None or weights is None):
        gradient = weights = tuple(each / 2 for each in full)
    nothing = (0.0,) * order.placement.stages
    return Costs(F=forward, I=gradient or nothing, W=weights or nothing, comm=float(f"{model.hop:.{DIGITS}g}"))
