"""Interleaved zero bubble: interleaved 1F1B with the backward split, W delayed by rank.

As torch's ScheduleInterleavedZeroBubble orders it (after Qi et al. 2023, arXiv 2401.10241, ZB-1p).
"""

from __future__ import annotations

import numpy as np

from backend.schedule.errors import message
from backend.schedule.families.family import Family, Row, alternate
from backend.schedule.families.interleaved.interleaved import WHOLE_GROUPS, chunk_sequence, group_size, judge_groups
from backend.schedule.laws.law import NO_HOPS, UNIFORM, Law
from backend.schedule.order.ops import F, I, W
from backend.schedule.spec import Spec


def rows(spec: Spec) -> list[Row]:
    """Build each rank's row: rank r warms up with (v-1)g forwards and one for every rank after it; its W lags its I
    by r.
    """
    p, v, g = spec.p, spec.v, group_size(spec)
    sequence = chunk_sequence(spec)
    forward, inputs, weights = F * v + sequence, I * v + (v - 1 - sequence), W * v + (v - 1 - sequence)
    total = len(sequence)
    out = []
    for r in range(p):
        warmup = min(total, (v - 1) * g + p - 1 - r)
        steady, lag = total - warmup, min(r, total)
        early, both = min(lag, steady), max(lag, steady)
        out.append(
            np.concatenate(
                (
                    forward[:warmup],
                    alternate(forward[warmup : warmup + early], inputs[:early]),
                    alternate(forward[warmup + early :], inputs[early:steady], weights[: steady - early]),
                    inputs[steady:both],  # W still lags when the forwards are over
                    alternate(inputs[both:], weights[both - lag : total - lag]),
                    weights[total - lag :],
                )
            )
        )
    return out


INTERLEAVED_ZB = Family(
    name="interleaved-zb",
    title="Interleaved zero bubble",
    year=2024,
    source=message(
        "schedule.interleaved_zb_source",
        "torch.distributed.pipelining ScheduleInterleavedZeroBubble, after arXiv 2401.10241",
    ),
    used_by="torchtitan",
    group="interleaved",
    summary=message(
        "schedule.interleaved_zb_summary",
        "Interleaved 1F1B with the backward split in two: weight gradients wait and fill the bubble.",
    ),
    backward="split",
    complexity=message("schedule.complexity_five_phases_over_chunk_sequence", "five phases over a chunk sequence"),
    placement="looped",
    rows=rows,
    legal=lambda spec: judge_groups(spec, least=spec.p // 2),  # half the warm-up of interleaved 1F1B
    fields=("group", "offload"),
    v=(1, 2, 64),
    laws=(
        Law(
            "bubble",
            "global",
            "(p-1)*max(f, i, f+i-w)/v",
            (UNIFORM, NO_HOPS, WHOLE_GROUPS),
            message("schedule.law_interleaved_zb_bubble", "ZB-H1's, divided by v"),
        ),
        Law(
            "bubble",
            "span",
            "(p-1)*max(i, f+i-w)/v",
            (UNIFORM, NO_HOPS, WHOLE_GROUPS),
            message("schedule.law_by_own_window", "by each device's own window"),
        ),
        Law(
            "peak",
            "global",
            "min(m*v, p + (v-1)*g)",
            (("g >= p", message("schedule.unless_large_groups", "the group is smaller than p")),),
            message("schedule.law_interleaved_zb_peak", "warm-up"),
        ),
    ),
)
