"""GIS: grouped interleaved 1F1B with a short warm-up, 1F1B's memory with less bubble (Wan et al. 2025, PipeOffload).

Micro-batches in groups of g = p; each I is followed by its W. GIS-H halves the group and, nearly, the memory.
"""

from __future__ import annotations

import numpy as np

from backend.schedule.errors import SpecError, message
from backend.schedule.families.family import Family, Row, alternate
from backend.schedule.families.interleaved.interleaved import chunk_sequence
from backend.schedule.laws.law import NO_HOPS, UNIFORM, Law
from backend.schedule.order.ops import F, I, W
from backend.schedule.spec import Spec


def grouped(spec: Spec, g: int) -> list[Row]:
    """Build each rank's row: rank r warms up with (v-1)g forwards and one for every rank after it, then F, I, W in
    turn.
    """
    p, v = spec.p, spec.v
    sequence = chunk_sequence(spec.with_(group=g))
    forward, inputs, weights = F * v + sequence, I * v + (v - 1 - sequence), W * v + (v - 1 - sequence)
    total = len(sequence)
    out = []
    for r in range(p):
        warmup = min(total, (v - 1) * g + p - 1 - r)
        steady = total - warmup
        out.append(
            np.concatenate(
                (
                    forward[:warmup],
                    alternate(forward[warmup:], inputs[:steady], weights[:steady]),
                    alternate(inputs[steady:], weights[steady:]),
                )
            )
        )
    return out


def whole_groups(spec: Spec, g: int) -> None:
    """Raise SpecError unless m is a multiple of g."""
    if spec.m % g:
        nearest = max(g, round(spec.m / g) * g)
        text = message(
            "schedule.whole_groups_needed",
            "micro-batches go in groups of {group}; m = {nearest} is the nearest that is whole groups",
            group=g,
            nearest=nearest,
        )
        raise SpecError("m", spec.m, text, nearest=nearest)


def half_group(p: int) -> int:
    """Return the group size of GIS-H, half the devices."""
    return (p + 1) // 2


SOURCE = message(
    "schedule.gis_source", "Wan et al., PipeOffload: Improving Scalability of Pipeline Parallelism, arXiv 2503.01328"
)
USED_BY = message("schedule.gis_used_by", "Sea AI Lab's PipeOffload")

GIS = Family(
    name="gis",
    title="GIS",
    year=2025,
    source=SOURCE,
    used_by=USED_BY,
    group="memory",
    summary=message(
        "schedule.gis_summary",
        "Interleaved 1F1B with W right after I and the shortest warm-up: 1F1B's memory, less bubble.",
    ),
    backward="split",
    complexity=message("schedule.complexity_three_phases_over_chunk_sequence", "three phases over a chunk sequence"),
    placement="looped",
    rows=lambda spec: grouped(spec, spec.p),
    legal=lambda spec: whole_groups(spec, spec.p),
    v=(1, 2, 64),
    fields=("offload",),
    laws=(
        Law(
            "bubble",
            "global",
            "(p-1)*(f+i)/v",
            (UNIFORM, NO_HOPS),
            message("schedule.law_gis_bubble", "one F down and one I up the ranks of one chunk"),
        ),
        Law("peak", "global", "p*v", (), message("schedule.law_gis_peak", "warm-up and one more")),
    ),
)

GIS_H = Family(
    name="gis-h",
    title="GIS-H",
    year=2025,
    source=SOURCE,
    used_by=USED_BY,
    group="memory",
    summary=message(
        "schedule.gis_h_summary", "GIS in half groups: toward half of 1F1B's memory as v grows, for a longer bubble."
    ),
    backward="split",
    complexity=message("schedule.complexity_three_phases_over_chunk_sequence", "three phases over a chunk sequence"),
    placement="looped",
    rows=lambda spec: grouped(spec, half_group(spec.p)),
    legal=lambda spec: whole_groups(spec, half_group(spec.p)),
    v=(1, 2, 64),
    fields=("offload",),
    laws=(
        Law(
            "bubble",
            "global",
            "(2*(p-1) + floor(p/2)*(v-1))*f/v",
            (
                UNIFORM,
                NO_HOPS,
                ("f == i and i == w", message("schedule.unless_equal_ops", "F, I and W take different times")),
            ),
            message("schedule.law_gis_h_bubble", "2(p-1) + (p-g)(v-1) chunk times with g = ceil(p/2)"),
        ),
        Law(
            "peak",
            "global",
            "min(m*v, floor((p+1)/2)*(v-1) + p)",
            (),
            message("schedule.law_gis_peak", "warm-up and one more"),
        ),
    ),
)
