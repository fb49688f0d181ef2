"""1F1B, PipeDream-flush: one forward, one backward, with a flush (Narayanan et al. 2021, arXiv 2006.09503)."""

from __future__ import annotations

from backend.schedule.errors import message
from backend.schedule.families.family import Family
from backend.schedule.families.table import BlockTable, Table
from backend.schedule.laws.law import AHEAD, IN_STEP, NO_HOPS, NO_SHARD_HOPS, UNIFORM, Law
from backend.schedule.options.vocabulary import SPREAD

ROWS = Table(
    let={"warmup": "min(m, p-1-r)"},  # one forward for each later rank
    rows=[
        ("warmup", "F"),
        ("m - warmup", "F B"),  # steady: one forward, one backward
        ("warmup", "B"),  # cool-down
    ],
)
# The forward takes one slot per device, the backward two, because I and W are one op.
BLOCK = BlockTable({"F0": "r", "I0": "3*p - 2 - 2*r"}, period=3)

VOCABULARY_LAWS = (
    Law(
        "makespan",
        "m*(f+b+s+t) + (p-1)*(f+b)",
        message(
            "schedule.law_spread_makespan",
            "arXiv 2411.05288: S and T are work that all ranks share, and the barriers hide behind the "
            "forwards run ahead",
        ),
        (UNIFORM, NO_HOPS, IN_STEP),
        when="barriers > 0",
    ),
    Law(
        "peak",
        "min(p + barriers, m)",
        message("schedule.law_spread_peak", "one more for each barrier"),
        when="barriers > 0 and interlaced == 0",
    ),
    Law(
        "peak",
        "min(p + floor(p/2), m)",
        message("schedule.law_interlaced_peak", "in step: half as many more"),
        when="interlaced == 1",
    ),
)
"""The laws of 1F1B with the output layer spread over the ranks."""

ONE_F_ONE_B = Family(
    name="1f1b",
    title="1F1B",
    year=2021,
    source=message(
        "schedule.one_f_one_b_source",
        "Narayanan et al., Memory-Efficient Pipeline-Parallel DNN Training (PipeDream-2BW), arXiv 2006.09503",
    ),
    used_by=message("schedule.one_f_one_b_used_by", "Megatron-LM, DeepSpeed; torch's Schedule1F1B"),
    group="classic",
    summary=message(
        "schedule.one_f_one_b_summary",
        "As soon as a micro-batch's backward can run, it does. The bubble is GPipe's; the memory is p, not m.",
    ),
    backward="full",
    complexity=message("schedule.complexity_three_phases", "three phases"),
    placement="looped",
    table=ROWS,
    block=BLOCK,
    fields=("offload",),
    vocabulary=(*SPREAD, "interlaced"),
    laws=(
        Law(
            "bubble",
            "(p-1)*(f+b-lead+2*c)",
            message(
                "schedule.law_1f1b_ahead",
                "recomputation hides in the waits for gradients, and so do the hops of the steady state",
            ),
            (
                UNIFORM,
                ("barriers == 0", message("schedule.unless_no_barriers", "S and T are among the ops")),
                (
                    "lead >= 2*c",
                    message("schedule.unless_lead_hides_hops", "the hops take longer than what hides them"),
                ),
            ),
            when=AHEAD,
        ),
        Law(
            "bubble",
            "(p-1)*(f+b+2*c) + 2*c*floor((m-1)*(p-1)/p)",
            message(
                "schedule.law_1f1b_bubble",
                "the second term is the hop that each steady F-B exchange waits for; textbooks leave it out",
            ),
            (UNIFORM, NO_SHARD_HOPS, IN_STEP),
            shards=True,
        ),
        Law(
            "share",
            "(p-1)/(m+p-1)",
            message(
                "schedule.law_1f1b_share",
                "GPipe's; arXiv 2104.04473 gives (p-1)/m, which is idle time over work, not over the whole step",
            ),
            (UNIFORM, NO_HOPS),
        ),
        Law(
            "peak",
            "min(p, m)",
            message("schedule.law_1f1b_peak", "rank 0 holds its warm-up and one more"),
            when="barriers == 0",
        ),
        *VOCABULARY_LAWS,
    ),
)
