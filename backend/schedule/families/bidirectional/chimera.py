"""Chimera: two pipelines in opposite directions, merged slot by slot (Li and Hoefler 2021, arXiv 2107.06925).

Stream 0 (the paper's down pipeline) passes rank d in stage d, stream 1 (the up pipeline) in stage p-1-d. A basic unit
is p micro-batches, half of them in each direction; where F and B take one slot each, the two directions never need a
rank in the same slot. More micro-batches are basic units one after the other (section 3.5, "direct concatenation"): the
next unit's forwards fill the idle slots at the end of the one before. Parameters are held twice; the two copies'
gradients are summed after the step.
"""

from __future__ import annotations

import numpy as np

from backend.schedule.errors import SpecError, message
from backend.schedule.families.family import Family, Row
from backend.schedule.laws.law import NO_HOPS, UNIFORM, Law
from backend.schedule.order import ops
from backend.schedule.order.order import encode
from backend.schedule.spec import Spec

CHUNKS = 2


def slots(p: int, n: int) -> list[tuple[Row, Row]]:
    """Return each rank's slots and their codes, ``n`` micro-batches of each direction, in the order of the slots.

    Micro-batch i of a unit enters two slots after the one before it, takes p slots down to the last stage and p back.
    """
    unit, i = np.divmod(np.arange(n), p // 2)
    enter = 2 * p * unit + 2 * i
    codes = np.repeat([encode(kind, chunk, CHUNKS) for kind in (ops.F, ops.B) for chunk in range(CHUNKS)], n)
    out = []
    for d in range(p):
        forward = enter + d, enter + p - 1 - d
        backward = enter + 2 * p - 1 - d, enter + p + d
        at = np.concatenate((*forward, *backward))
        order = np.argsort(at, kind="stable")
        out.append((at[order], codes[order].astype(np.uint8)))
    return out


def rows(spec: Spec) -> list[Row]:
    """Build each rank's row: its ops by their slots."""
    return [row for _, row in slots(spec.p, spec.m // 2)]


def legal(spec: Spec) -> None:
    """Raise SpecError unless p is even and m consists of whole basic units."""
    p, m = spec.p, spec.m
    if p % 2:
        text = message(
            "schedule.chimera_needs_even_p",
            "Chimera needs an even number of devices; p = {nearest} is the nearest",
            nearest=p + 1,
        )
        raise SpecError("p", p, text, nearest=p + 1)
    if m % p:
        nearest = max(p, round(m / p) * p)
        text = message(
            "schedule.chimera_needs_whole_units",
            "Chimera takes p micro-batches at a time, half of them in each direction; m = {nearest} is the nearest",
            nearest=nearest,
        )
        raise SpecError("m", m, text, nearest=nearest)


LAWS = (
    Law(
        "bubble",
        "global",
        "(p-2)*(b + (m/p-1)*(b-f))",
        (
            UNIFORM,
            NO_HOPS,
            ("b >= f", message("schedule.unless_b_not_shorter_than_f", "the backward is shorter than F")),
        ),
        message(
            "schedule.law_chimera_bubble",
            "a basic unit leaves p-2 slots of B idle; between two units a longer B leaves the difference to F",
        ),
    ),
    Law(
        "peak",
        "global",
        "p",
        (),
        message("schedule.law_chimera_peak", "the two ranks in the middle; p/2 + 1 at the ends"),
    ),
)

CHIMERA = Family(
    name="chimera",
    title="Chimera",
    year=2021,
    source=message(
        "schedule.chimera_source",
        "Li and Hoefler, Chimera: Efficiently Training Large-Scale Neural Networks with Bidirectional Pipelines, "
        "arXiv 2107.06925",
    ),
    used_by=message("schedule.chimera_used_by", "the paper's implementation"),
    group="bidirectional",
    summary=message(
        "schedule.chimera_summary",
        "Two replicas run in opposite directions; the slots that one leaves idle are the other's.",
    ),
    backward="full",
    complexity=message("schedule.complexity_slots", "a slot for every op"),
    placement="bidirectional",
    rows=rows,
    legal=legal,
    chunks=lambda spec: 2,
    laws=LAWS,
)
