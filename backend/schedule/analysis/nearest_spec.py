"""Apply one setting to many families: find each family's legal spec nearest to the one asked for.

Fields that a family does not take are left out; an illegal value is replaced by the nearest value of its error. Costs
listed by stage are spread over as many stages as the family has, so that the model as a whole costs the same. What the
first and the last stage cost above the others, the embedding and the output layer, stays on the first and the last.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np

from backend.schedule import jit
from backend.schedule.errors import Message, SpecError, message
from backend.schedule.families.apply_options import FAMILYS_OWN
from backend.schedule.families.registry import family_of, op_count, validate
from backend.schedule.options.effective_costs import spread_layers
from backend.schedule.simulation.costs import Cost, Costs
from backend.schedule.spec import LIMITS, Spec

MOST_STEPS = 8  # most nearest values applied; families need at most three


def fit(asked: Spec, name: str, v: int | None = None) -> tuple[Spec, Message | None]:
    """Find the legal spec of a family nearest to ``asked``, and a sentence on the changes (None: nothing changed).

    ``v`` is the number of chunks per device for families with a choice; None uses each family's natural number.
    Raises SpecError if no legal value is near, and for an unknown family.
    """
    family = family_of(asked.with_(family=name))
    least, natural, most = family.v
    chunks = natural if v is None else min(max(v, least), most)
    plain = {key: value for key, value in FAMILYS_OWN.items() if key not in family.fields}
    spec = asked.with_(family=name, v=chunks, **plain)
    if "FB" not in family.fields:
        spec = spec.with_(costs=replace(spec.costs, FB=None))
    reasons: dict[str, str] = {}
    if not family.asynchronous:
        spec = spec.with_(weights=None)
    for _ in range(MOST_STEPS):
        stages = family.stages(spec)
        spec = spec.with_(costs=spread(asked.costs, stages, spec.costs.FB), layers=_spread_layers(asked, stages))
        spec = spec.with_(frozen=spread_frozen(asked, stages) if "frozen" in family.fields else asked.frozen)
        try:
            _validate_size(spec)
            spec = validate(spec)
        except SpecError as error:
            if error.nearest is None or error.field is None:
                raise
            if error.field == "forward_only":  # a step with backwards is not comparable
                raise
            reasons[error.field] = error.message
            spec = spec.with_(**{error.field: error.nearest})
        else:
            return spec, _adjustments(asked, spec, reasons)
    text = message(
        "analysis.no_legal_schedule_near", "{family} has no legal schedule near this setting", family=family.title
    )
    raise SpecError("family", name, text)


def spread(costs: Costs, stages: int, pair: float | None) -> Costs:
    """Spread the same costs over a model cut into ``stages`` stages."""
    return replace(costs, F=_spread(costs.F, stages), I=_spread(costs.I, stages), W=_spread(costs.W, stages), FB=pair)


def _spread_layers(spec: Spec, stages: int) -> tuple[int, ...] | None:
    return None if spec.layers is None else spread_layers(spec.layers, stages)


def spread_frozen(spec: Spec, stages: int) -> tuple[int, ...] | None:
    """Return the stages of another cut of the model that consist of frozen ones; all others are trained."""
    if spec.frozen is None:
        return None
    own, fixed = family_of(spec).stages(spec), set(spec.frozen)
    return (
        tuple(
            stage
            for stage in range(stages)
            if all(old in fixed for old in range(stage * own // stages, -(-(stage + 1) * own // stages)))
        )
        or None
    )


def _spread(cost: Cost, stages: int) -> Cost:
    """Spread a list of stage costs; each stage is assumed to cost the same throughout its layers."""
    if not isinstance(cost, tuple) or len(cost) == stages:
        return cost
    layers = np.array(cost, np.float64)
    usual = float(np.median(layers[1:-1])) if len(cost) > 2 else float(layers.min())
    first, last = max(0.0, cost[0] - usual), max(0.0, cost[-1] - usual)
    layers[0] -= first
    layers[-1] -= last if len(cost) > 1 else 0.0
    below = np.concatenate(([0.0], np.cumsum(layers)))
    cuts = np.linspace(0.0, len(cost), stages + 1)
    spread = np.diff(np.interp(cuts, np.arange(len(cost) + 1), below))
    spread[0] += first
    spread[-1] += last if len(cost) > 1 else 0.0
    return tuple(spread.tolist())


def _validate_size(spec: Spec) -> None:
    """Raise SpecError, without a nearest value, if a family's own v makes too many ops: a smaller m would not be
    comparable.
    """
    most = family_of(spec).most_ops(spec)
    if op_count(spec) > most:
        text = message(
            "analysis.too_many_ops",
            "{ops} ops are over the limit of {most}",
            ops=f"{op_count(spec):,}",
            most=f"{most:,}",
        )
        raise SpecError("m", spec.m, text)


def validate_sizes(asked: Spec, specs: Sequence[Spec]) -> None:
    """Raise SpecError for more ops in total than one answer may have; compile the kernels if the size justifies it."""
    whole = sum(op_count(spec) for spec in specs)
    if whole > LIMITS["placed_ops"]:
        nearest = max(1, asked.m * LIMITS["placed_ops"] // (2 * whole))
        text = message(
            "analysis.too_many_ops_to_compare",
            "{ops} ops in all, over the limit of {most}; compare fewer families or micro-batches",
            ops=f"{whole:,}",
            most=f"{LIMITS['placed_ops']:,}",
        )
        raise SpecError("m", asked.m, text, limit=nearest, nearest=nearest)
    jit.compile_for(whole)


def _adjustments(asked: Spec, spec: Spec, reasons: dict[str, str]) -> Message | None:
    """Describe the changed fields with their reasons; None if nothing changed."""
    parts = [
        message(
            "analysis.value_instead",
            "{name} = {value} instead of {asked}: {reason}",
            name=key,
            value=_shown(spec, key),
            asked=_shown(asked, key),
            reason=reason,
        )
        for key, reason in reasons.items()
    ]
    stages = family_of(spec).stages(spec)
    lists = [cost for cost in (asked.costs.F, asked.costs.I, asked.costs.W) if isinstance(cost, tuple)]
    if lists and any(len(cost) != stages for cost in lists):
        parts.append(
            message(
                "analysis.costs_spread",
                "costs listed for {listed} stages are spread over {stages}",
                listed=len(lists[0]),
                stages=stages,
            )
        )
    if asked.layers is not None and len(asked.layers) != stages:
        parts.append(
            message(
                "analysis.layers_spread",
                "layers listed for {listed} stages are spread over {stages}",
                listed=len(asked.layers),
                stages=stages,
            )
        )
    if not parts:
        return None
    return reduce(lambda one, other: message("analysis.both", "{one}; {other}", one=one, other=other), parts)


def _shown(spec: Spec, key: str) -> Any:
    value = getattr(spec, key)
    if value is None:
        return message("analysis.none", "none")
    if isinstance(value, tuple):
        return ",".join(map(str, value))
    return f"{value:g}" if isinstance(value, float) else value
