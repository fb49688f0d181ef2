"""Interleaved 1F1B: v model chunks per device, micro-batches in groups of g (Narayanan et al. 2021, arXiv
2104.04473).

g = p is depth-first (Megatron-LM), g = m breadth-first (Lamy-Poirier 2023, arXiv 2211.05953); Llama 3 chooses values
between them (arXiv 2407.21783, section 3.3.2).
"""

from __future__ import annotations

from backend.schedule.errors import message
from backend.schedule.families.family import Family
from backend.schedule.families.rules import Rule, Sentence
from backend.schedule.families.table import Table
from backend.schedule.laws.law import NO_HOPS, UNIFORM, Law


def groups_of_at_least(least: str) -> tuple[Rule, ...]:
    """Build the rules for groups: each has ``least`` micro-batches, a formula, or there is one chunk or one group.

    Much smaller groups than p deadlock: a rank would wait for a forward that is queued behind the backward it enables.
    The rules were found with the checker over p <= 9, m <= 25. With torch's own group size, m must be whole groups, as
    torch demands.
    """
    return (
        Rule("group", "g <= m", Sentence("schedule.group_larger_than_m", "group must be at most m = {m}"), {"m": "m"}),
        Rule(
            "group",
            f"group == 0 or v == 1 or g >= min({least}, m)",
            Sentence(
                "schedule.groups_deadlock",
                "groups of {group} deadlock on {p} devices with v = {v}; {nearest} is the least that works",
            ),
            {"group": "g", "p": "p", "v": "v"},
        ),
        Rule(
            "m",
            f"m % g == 0 or (group > 0 and g <= m and (v == 1 or m % g >= {least}))",
            Sentence(
                "schedule.groups_leave_a_rest",
                "groups of {group} leave {rest} of m = {m} micro-batches over; m = {nearest} is the nearest that works",
            ),
            {"group": "g", "rest": "m % g", "m": "m"},
        ),
    )


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
    table=Table(
        group="g",
        let={"warmup": "min(m*v, (v-1)*g + 2*(p-1-r))"},  # for its own chunks, and two forwards for each later rank
        rows=[
            ("warmup", "F"),
            ("m*v - warmup", "F B"),  # steady: one forward, one backward
            ("warmup", "B"),  # cool-down
        ],
    ),
    legal=groups_of_at_least("p - 1"),
    fields=("group", "offload"),
    v=(1, 2, 64),
    laws=(
        Law(
            "bubble",
            "(p-1)*(f+b)/v",
            message("schedule.law_interleaved_bubble", "arXiv 2104.04473, section 2.2"),
            (UNIFORM, NO_HOPS, WHOLE_GROUPS),
        ),
        Law(
            "bubble",
            "(p-1)*(f+b)/v + 2*(p-1)*c + (v-1)*(max(0, p*c-(g-p)*f/v) + max(0, p*c-(g-p)*b/v))",
            message(
                "schedule.law_interleaved_bubble_with_hops",
                "with g = p each change of chunk waits for p hops; every micro-batch more in the group hides f/v of it",
            ),
            (UNIFORM, WHOLE_GROUPS, SHORT_HOPS),
        ),
        Law(
            "share",
            "(p-1)/(v*m+p-1)",
            message(
                "schedule.law_interleaved_share",
                "arXiv 2104.04473, section 2.2, gives (p-1)/(v*m), which is idle time over work",
            ),
            (UNIFORM, NO_HOPS, WHOLE_GROUPS),
        ),
        Law(
            "peak",
            "min(m*v, 2*(p-1) + (v-1)*g + 1)",
            message("schedule.law_interleaved_peak", "warm-up of rank 0 and one more"),
            (("g >= p", message("schedule.unless_large_groups", "the group is smaller than p")),),
        ),
    ),
)
