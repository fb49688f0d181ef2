"""Interleaved 1F1B: v model chunks per device, micro-batches in groups of g (Narayanan et al. 2021, arXiv 2104.04473).

g = p is depth-first (Megatron-LM), g = m breadth-first (Lamy-Poirier 2023, arXiv 2211.05953); anything between is the
knob of Llama 3 (arXiv 2407.21783, section 3.3.2).
"""

from __future__ import annotations

import numpy as np

from ..errors import SpecError
from ..laws import NO_HOPS, UNIFORM, Law
from ..spec import Spec
from .family import Family, Row, alternate

F, I, W, B = range(4)  # noqa: E741


def group_size(spec: Spec) -> int:
    """g as given, else torch's rule: m spread over as many rounds as there are whole groups of p."""
    return spec.group or spec.m // max(1, spec.m // spec.p)


def chunk_sequence(spec: Spec) -> Row:
    """(m*v,) the chunk of each forward: chunk 0 for the g micro-batches of a group, then chunk 1 for the same g, ...
    The backwards run through the chunks in reverse."""
    m, v, g = spec.m, spec.v, group_size(spec)
    chunks = np.arange(v, dtype=np.uint8)
    return np.concatenate((np.tile(np.repeat(chunks, g), m // g), np.repeat(chunks, m % g)))


def rows(spec: Spec) -> list[Row]:
    """Rank r warms up with (v-1)g forwards for its own chunks and two for every rank after it."""
    p, v, g = spec.p, spec.v, group_size(spec)
    sequence = chunk_sequence(spec)
    forward, backward = F * v + sequence, B * v + (v - 1 - sequence)
    total = len(sequence)
    out = []
    for r in range(p):
        warmup = min(total, (v - 1) * g + 2 * (p - 1 - r))
        steady = total - warmup
        out.append(
            np.concatenate(
                (
                    forward[:warmup],
                    alternate(forward[warmup:], backward[:steady]),
                    backward[steady:],
                )
            )
        )
    return out


def legal(spec: Spec) -> None:
    """The last group may be smaller than g only if it still fills the pipeline; else a rank waits for a forward
    that stands behind the backward it would allow."""
    p, m, v, g = spec.p, spec.m, spec.v, group_size(spec)
    if g > m:
        raise SpecError("group", g, f"group must be at most m = {m}", limit=m, nearest=m)
    if v == 1 or m % g == 0 or (g >= p and m % g >= p):
        return
    nearest = _nearest_m(spec)
    if spec.group is None:
        message = f"m = {m} leaves a group of {m % g} of {g} micro-batches, too small for {p} devices"
    else:
        message = f"groups of {g} leave {m % g} of m = {m} micro-batches over, too few for {p} devices"
    raise SpecError("m", m, f"{message}; m = {nearest} is the nearest that works", nearest=nearest)


def _nearest_m(spec: Spec) -> int:
    """The m closest to the spec's, smaller first, whose groups are whole."""
    for distance in range(1, spec.m):
        for m in (spec.m - distance, spec.m + distance):
            g = group_size(spec.with_(m=m))
            if g <= m and m % g == 0:
                return m
    return 1


WHOLE_GROUPS = ("g >= p and (m % g == 0 or m % g >= p)", "some group has fewer than p micro-batches")

INTERLEAVED = Family(
    name="interleaved",
    title="Interleaved 1F1B",
    year=2021,
    source="Narayanan et al., Efficient Large-Scale Language Model Training on GPU Clusters, arXiv 2104.04473",
    used_by="Megatron-LM, Llama 3; torch's ScheduleInterleaved1F1B",
    group="interleaved",
    summary="Each device holds v chunks of the model: the bubble is divided by v, messages are multiplied by v.",
    backward="full",
    complexity="three phases over a chunk sequence",
    placement="looped",
    rows=rows,
    legal=legal,
    fields=("group",),
    v=(1, 2, 64),
    laws=(
        Law("bubble", "global", "(p-1)*(f+b)/v", (UNIFORM, NO_HOPS, WHOLE_GROUPS), "arXiv 2104.04473, section 2.2"),
        Law(
            "peak",
            "global",
            "min(m*v, 2*(p-1) + (v-1)*g + 1)",
            (("g >= p", "the group is smaller than p"),),
            "warm-up of rank 0 and one more",
        ),
    ),
)
