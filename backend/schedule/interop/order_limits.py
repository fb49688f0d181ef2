"""Check a schedule against limits: its bubble, the memory of its devices, and whether its order is a family's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from backend.schedule.errors import SpecError, message
from backend.schedule.families import registry
from backend.schedule.hardware.preset_costs import Preset, asked_spec
from backend.schedule.hardware.step_units import GB
from backend.schedule.options.family_names import canonical
from backend.schedule.order.order import Order, same_order
from backend.schedule.simulation.metrics import figures
from backend.schedule.simulation.timeline import Timeline
from backend.schedule.spec import Spec, number

ROUNDING = 1e-9
SHAPING = ("group", "lifo", "effort", "seed")  # fields of a family that an order from a file has none of


@dataclass(frozen=True)
class Limits:
    """What is checked, None for what is not: ``bubble``, the largest idle share of the step (0 to 1), ``gb``, the most
    memory of a device in GB, and the ``family`` whose order it must be.
    """

    bubble: float | None = None
    gb: float | None = None
    family: str | None = None


@dataclass(frozen=True)
class Finding:
    """Something that is wrong with an order.

    Attributes:
        check: "order" (it cannot run), "bubble", "memory" or "family".
        message: What is wrong, in a sentence.
        rank: The rank whose ops are meant, None for all.
        op: The text of the op that is meant, if it is one.
    """

    check: Literal["order", "bubble", "memory", "family"]
    message: str
    rank: int | None = None
    op: str | None = None


def read_limits(bubble: float | str | None, gb: float | None, family: str | None, preset: Preset | None) -> Limits:
    """Read limits; a bubble is a share such as 0.12 or "12%". Raises SpecError."""
    if gb is not None and preset is None:
        text = message("schedule.gb_needs_model", "max_gb needs a model, from which bytes follow, such as llama3-70b")
        raise SpecError("max_gb", gb, text)
    if family is not None:
        family = registry.family_of(Spec(canonical(family))).name
    return Limits(
        None if bubble is None else _share(bubble), None if gb is None else number("max_gb", gb, 0, 1e6), family
    )


def _share(value: float | str) -> float:
    text = str(value).strip()
    try:
        share = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        wanted = message("schedule.share_or_percent", "max_bubble is a share from 0 to 1, or a percentage such as 12%")
        raise SpecError("max_bubble", value, wanted, nearest=f"{text}%" if 1 < share <= 100 else None)
    return share


def findings(
    limits: Limits, spec: Spec, timeline: Timeline, preset: Preset | None, given: Mapping[str, Any]
) -> list[Finding]:
    """Return what a legal order exceeds of the limits, at the times of its spec. ``given`` are the fields of the spec
    that a reader gave, with which the family's order is built. Raises SpecError where the model has no memory for it.
    """
    found = []
    bubble = figures(timeline).global_bubble.of_total
    if limits.bubble is not None and bubble > limits.bubble + ROUNDING:
        found.append(
            Finding("bubble", f"the bubble is {bubble:.2%} of the step, over the limit of {100 * limits.bubble:g}%")
        )
    if limits.gb is not None and preset is not None:
        units = preset.units(spec, timeline)
        if units is None:
            text = message(
                "schedule.no_bytes", "the model has fewer layers than this order has stages, or cannot be cut so"
            )
            raise SpecError("model", None, text)
        if units.memory.most > limits.gb * GB * (1 + ROUNDING):
            needs = f"rank {units.memory.rank} needs {units.memory.most / GB:.4g} GB"
            found.append(Finding("memory", f"{needs}, over the limit of {limits.gb:g} GB", units.memory.rank))
    if limits.family is not None:
        found += _other_order(timeline.order, limits.family, preset, given)
    return found


def _other_order(order: Order, name: str, preset: Preset | None, given: Mapping[str, Any]) -> list[Finding]:
    """Return where an order first differs from a family's order of the same size; nothing if it does not."""
    title = registry.FAMILIES[name].title
    v = order.chunks // order.placement.streams
    try:
        spec = asked_spec(
            {"forward_only": order.forward_only, **given, "family": name, "p": order.p, "m": order.m, "v": v}, preset
        )
    except SpecError as error:
        return [Finding("family", f"it is no order of {title}: {error.field}: {error.message}")]
    wanted = registry.order(spec)
    alike = order.placement.streams == wanted.placement.streams and np.array_equal(
        order.placement.stage_of, wanted.placement.stage_of
    )  # on one device a V is looped
    if alike and same_order(replace(order, placement=wanted.placement), wanted):
        return []
    if not alike:
        places = f"its stages are placed {order.placement.text()}, those of {title} {wanted.placement.text()}"
        return [Finding("family", places)]
    for rank in range(order.p):
        mine, theirs = ([op.text() for op in each.row(rank)] for each in (order, wanted))
        for at, (op, other) in enumerate(zip(mine, theirs, strict=False)):
            if op != other:
                where = f"rank {rank} does {op} as op {at + 1}, {title} does {other} there"
                return [Finding("family", where, rank, op)]
        if len(mine) != len(theirs):
            return [Finding("family", f"rank {rank} has {len(mine)} ops, {title} has {len(theirs)}", rank)]
    return [Finding("family", f"its copies or barriers are not those of {title}")]
