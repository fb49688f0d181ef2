"""ZB-H2: twice the warm-up, no bubble in each device's own window (Qi et al. 2023, arXiv 2401.10241, section 2.2)."""

from __future__ import annotations

from backend.schedule.errors import message
from backend.schedule.families.family import Family
from backend.schedule.families.table import BlockTable
from backend.schedule.families.zero_bubble.handcrafted import with_lagging_weights
from backend.schedule.laws.law import NO_HOPS, UNIFORM, Law
from backend.schedule.options.vocabulary import SPREAD

ENOUGH = (
    "m >= 2*p - 1",
    message("schedule.unless_longer_warm_up_filled", "fewer than 2p - 1 micro-batches do not fill the longer warm-up"),
)

ZB_H2 = Family(
    name="zb-h2",
    title="ZB-H2",
    year=2023,
    source=message(
        "schedule.zb_h2_source", "Qi et al., Zero Bubble Pipeline Parallelism, arXiv 2401.10241, section 2.2"
    ),
    used_by=message("schedule.zb_h2_used_by", "Sea AI Lab's Megatron-LM fork"),
    group="zero bubble",
    summary=message(
        "schedule.zb_h2_summary",
        "Twice the warm-up: no bubble between a device's first and last op, for twice 1F1B's memory.",
    ),
    backward="split",
    complexity=message("schedule.complexity_five_phases", "five phases"),
    placement="looped",
    table=with_lagging_weights(
        all="m",
        warmup="min(all, 2*(p-1-r))",  # two forwards for each later rank
        lag="min(all, 2*r)",
    ),
    block=BlockTable({"F0": "3*r", "I0": "3*(p-1) + 1 + 3*(p-1-r)"}, period=3, lag="2*r"),
    fields=("offload",),
    vocabulary=SPREAD,
    laws=(
        Law(
            "bubble",
            "(p-1)*max(0, i-f, f+i-2*w)",
            message(
                "schedule.law_zb_h2_span",
                "by each device's own window, as the paper counts: the optimizer step must need no global "
                "synchronisation",
            ),
            (UNIFORM, NO_HOPS, ENOUGH),
            window="span",
        ),
        Law(
            "bubble",
            "(p-1)*max(f, i-f, f+i-2*w)",
            message("schedule.law_zb_h2_bubble", "first start to last end"),
            (UNIFORM, NO_HOPS, ENOUGH),
        ),
        Law("peak", "min(2*p-1, m)", message("schedule.law_zb_h2_peak", "twice the warm-up and one more")),
    ),
)
