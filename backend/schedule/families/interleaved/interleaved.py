"""Interleaved 1F1B: v model chunks per device, micro-batches in groups of g (Narayanan et al. 2021, arXiv
2104.04473).

g = p is depth-first (Megatron-LM), g = m breadth-first (Lamy-Poirier 2023, arXiv 2211.05953); Llama 3 chooses values
between them (arXiv 2407.21783, section 3.3.2).
"""

from __future__ import annotations

import numpy as np

from backend.schedule.errors import SpecError, message
from backend.schedule.families.family import Family, Row, alternate
from backend.schedule.laws.law import NO_HOPS, UNIFORM, Law
from backend.schedule.order.ops import B, F
from backend.schedule.spec import Spec


def group_size(spec: Spec) -> int:
    """Return the given g, else torch's rule: m spread over as many rounds as there are whole groups of p."""
    return spec.group or spec.m // max(1, spec.m // spec.p)


def chunk_sequence(spec: Spec) -> Row:
    """Return (m*v,) the chunk of each forward: chunk 0 for the g micro-batches of a group, then chunk 1 for the same
    g, ... The backwards use the chunks in reverse.
    """
    m, v, g = spec.m, spec.v, group_size(spec)
    chunks = np.arange(v, dtype=np.uint8)
    return np.concatenate((np.tile(np.repeat(chunks, g), m // g), np.repeat(chunks, m % g)))


def rows(spec: Spec) -> list[Row]:
    """Build each rank's row: rank r warms up with (v-1)g forwards for its own chunks and two for every rank after
    it.
    """
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
    """Raise SpecError for groups much smaller than p, which deadlock: a rank would wait for a forward that is queued
    behind the backward it enables.
    """
    judge_groups(spec, least=spec.p - 1)


def judge_groups(spec: Spec, least: int) -> None:
    """Raise SpecError unless every group has ``least`` micro-batches (found with the checker over p <= 9, m <= 25),
    or there is one chunk or one group. With torch's own group size, m must be whole groups, as torch demands."""
    m, v, g = spec.m, spec.v, group_size(spec)
    if g > m:
        raise SpecError(
            "group",
            g,
            message("schedule.group_larger_than_m", "group must be at most m = {m}", m=m),
            limit=m,
            nearest=m,
        )
    if _runs(spec, m, least):
        return
    if g < least and spec.group is not None:
        nearest = min(least, m)
        text = message(
            "schedule.groups_deadlock",
            "groups of {group} deadlock on {p} devices with v = {v}; {nearest} is the least that works",
            group=g,
            p=spec.p,
            v=v,
            nearest=nearest,
        )
        raise SpecError("group", g, text, limit=least, nearest=nearest)
    nearest = next(each for d in range(1, m + 1) for each in (m - d, m + d) if each > 0 and _runs(spec, each, least))
    text = message(
        "schedule.groups_leave_a_rest",
        "groups of {group} leave {rest} of m = {m} micro-batches over; m = {nearest} is the nearest that works",
        group=g,
        rest=m % g,
        m=m,
        nearest=nearest,
    )
    raise SpecError("m", m, text, nearest=nearest)


def _runs(spec: Spec, m: int, least: int) -> bool:
    g = group_size(spec.with_(m=m))
    if spec.group is None:
        return m % g == 0
    rest = m % g
    return spec.v == 1 or g == m or (least <= g < m and (rest == 0 or rest >= least))


WHOLE_GROUPS = (
    "g >= p and (m % g == 0 or m % g >= p)",
    message("schedule.unless_whole_groups", "some group has fewer than p micro-batches"),
)

SHORT_HOPS = (
    "c == 0 or (p > 1 and m % g == 0 and c*v <= f and c*v <= b)",
    message(
        "schedule.unless_short_hops",
        "a hop longer than a chunk's op, or a ragged last group, costs more than the formula counts",
    ),
)

INTERLEAVED = Family(
    name="interleaved",
    title="Interleaved 1F1B",
    year=2021,
    source=message(
        "schedule.interleaved_source",
        "Narayanan et al., Efficient Large-Scale Language Model Training on GPU Clusters, arXiv 2104.04473",
    ),
    used_by=message("schedule.interleaved_used_by", "Megatron-LM, Llama 3; torch's ScheduleInterleaved1F1B"),
    group="interleaved",
    summary=message(
        "schedule.interleaved_summary",
        "Each device holds v chunks of the model: the bubble is divided by v, messages are multiplied by v.",
    ),
    backward="full",
    complexity=message("schedule.complexity_three_phases_over_chunk_sequence", "three phases over a chunk sequence"),
    placement="looped",
    rows=rows,
    legal=legal,
    fields=("group", "offload"),
    v=(1, 2, 64),
    laws=(
        Law(
            "bubble",
            "global",
            "(p-1)*(f+b)/v",
            (UNIFORM, NO_HOPS, WHOLE_GROUPS),
            message("schedule.law_interleaved_bubble", "arXiv 2104.04473, section 2.2"),
        ),
        Law(
            "bubble",
            "global",
            "(p-1)*(f+b)/v + 2*(p-1)*c + (v-1)*(max(0, p*c-(g-p)*f/v) + max(0, p*c-(g-p)*b/v))",
            (UNIFORM, WHOLE_GROUPS, SHORT_HOPS),
            message(
                "schedule.law_interleaved_bubble_with_hops",
                "with g = p each change of chunk waits for p hops; every micro-batch more in the group hides f/v of it",
            ),
        ),
        Law(
            "share",
            "global",
            "(p-1)/(v*m+p-1)",
            (UNIFORM, NO_HOPS, WHOLE_GROUPS),
            message(
                "schedule.law_interleaved_share",
                "arXiv 2104.04473, section 2.2, gives (p-1)/(v*m), which is idle time over work",
            ),
        ),
        Law(
            "peak",
            "global",
            "min(m*v, 2*(p-1) + (v-1)*g + 1)",
            (("g >= p", message("schedule.unless_large_groups", "the group is smaller than p")),),
            message("schedule.law_interleaved_peak", "warm-up of rank 0 and one more"),
        ),
    ),
)
