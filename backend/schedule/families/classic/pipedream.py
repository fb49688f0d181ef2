"""PipeDream: 1F1B that never flushes (Narayanan et al. 2019, SOSP, arXiv 1806.03377).

Every micro-batch is a training step of its own: its backward is followed at once by an update of that stage's weights.
A micro-batch in flight keeps the weight version with which its forward began (weight stashing), so stage s holds p-s
versions, and its gradient is as many updates late as there were backwards in between.
"""

from __future__ import annotations

from backend.schedule.errors import message
from backend.schedule.families.classic.one_f_one_b import BLOCK, ROWS
from backend.schedule.families.family import Family
from backend.schedule.laws.law import UNIFORM, Law

PIPEDREAM = Family(
    name="pipedream",
    title="PipeDream",
    year=2019,
    source=message(
        "schedule.pipedream_source",
        "Narayanan et al., PipeDream: Generalized Pipeline Parallelism for DNN Training, SOSP 2019",
    ),
    used_by=message("schedule.pipedream_used_by", "the PipeDream system; its flushing heir 1F1B is what is used today"),
    group="classic",
    summary=message(
        "schedule.pipedream_summary",
        "1F1B without a flush: each backward updates the weights at once, so the pipeline never drains. "
        "Paid for in stashed weights (p - s versions on stage s) and gradients that are up to p - 1 "
        "updates late.",
    ),
    backward="full",
    complexity=message(
        "schedule.complexity_three_phases_once", "three phases, the last only at the very end of training"
    ),
    placement="looped",
    table=ROWS,
    block=BLOCK,
    asynchronous=True,
    laws=(
        Law(
            "bubble",
            "(p-1)*(f+b+2*c) + 2*c*floor((m-1)*(p-1)/p)",
            message(
                "schedule.law_pipedream_bubble",
                "the fill at the start and the drain at the end of all m steps drawn; none in between, where "
                "1F1B pays it once a step",
            ),
            (UNIFORM,),
        ),
        Law("peak", "min(p, m)", message("schedule.law_pipedream_peak", "also the weight versions that stage 0 holds")),
    ),
)
