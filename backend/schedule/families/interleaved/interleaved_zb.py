"""Interleaved zero bubble: interleaved 1F1B with the backward split, W delayed by rank.

As torch's ScheduleInterleavedZeroBubble orders it (after Qi et al. 2023, arXiv 2401.10241, ZB-1p).
"""

from __future__ import annotations

from backend.schedule.errors import message
from backend.schedule.families.family import Family
from backend.schedule.families.interleaved.interleaved import WHOLE_GROUPS, groups_of_at_least
from backend.schedule.families.zero_bubble.handcrafted import with_lagging_weights
from backend.schedule.laws.law import NO_HOPS, UNIFORM, Law

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
    table=with_lagging_weights(
        group="g",
        all="m*v",
        warmup="min(all, (v-1)*g + p-1-r)",  # for its own chunks, and one forward for each later rank
        lag="min(all, r)",
    ),
    legal=groups_of_at_least("floor(p/2)"),  # half the warm-up of interleaved 1F1B
    fields=("group", "offload"),
    v=(1, 2, 64),
    laws=(
        Law(
            "bubble",
            "(p-1)*max(f, i, f+i-w)/v",
            message("schedule.law_interleaved_zb_bubble", "ZB-H1's, divided by v"),
            (UNIFORM, NO_HOPS, WHOLE_GROUPS),
        ),
        Law(
            "bubble",
            "(p-1)*max(i, f+i-w)/v",
            message("schedule.law_by_own_window", "by each device's own window"),
            (UNIFORM, NO_HOPS, WHOLE_GROUPS),
            window="span",
        ),
        Law(
            "peak",
            "min(m*v, p + (v-1)*g)",
            message("schedule.law_interleaved_zb_peak", "warm-up"),
            (("g >= p", message("schedule.unless_large_groups", "the group is smaller than p")),),
        ),
    ),
)
