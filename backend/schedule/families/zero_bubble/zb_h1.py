"""ZB-H1: 1F1B with the backward split, at 1F1B's memory (Qi et al. 2023, arXiv 2401.10241, section 2.1)."""

from __future__ import annotations

from backend.schedule.errors import message
from backend.schedule.families.family import Family
from backend.schedule.families.table import BlockTable
from backend.schedule.families.zero_bubble.handcrafted import with_lagging_weights
from backend.schedule.laws.law import NO_HOPS, UNIFORM, Law
from backend.schedule.options.vocabulary import SPREAD

ENOUGH = (
    "m >= p",
    message("schedule.unless_as_many_micro_batches_as_devices", "fewer micro-batches than devices"),
)

ZB_H1 = Family(
    name="zb-h1",
    title="ZB-H1",
    year=2023,
    source=message(
        "schedule.zb_h1_source", "Qi et al., Zero Bubble Pipeline Parallelism, arXiv 2401.10241, section 2.1"
    ),
    used_by=message("schedule.zb_h1_used_by", "Sea AI Lab's Megatron-LM fork; the order behind DeepSeek's ZB1P"),
    group="zero bubble",
    summary=message(
        "schedule.zb_h1_summary",
        "1F1B with the backward split: weight gradients fill the cool-down. A third of the bubble, same memory.",
    ),
    backward="split",
    complexity=message("schedule.complexity_five_phases", "five phases"),
    placement="looped",
    table=with_lagging_weights(
        all="m",
        warmup="min(all, p-1-r)",  # one forward for each later rank
        lag="min(all, r)",
    ),
    block=BlockTable({"F0": "r", "I0": "p + 2*(p-1-r)"}, period=3, lag="r"),
    fields=("offload",),
    vocabulary=SPREAD,
    laws=(
        Law(
            "bubble",
            "(p-1)*max(f, i, f+i-w)",
            message(
                "schedule.law_zb_h1_bubble",
                "arXiv 2401.10241 table 1 gives (p-1)(f+i-w), which needs w <= f and w <= i",
            ),
            (UNIFORM, NO_HOPS, ENOUGH),
        ),
        Law(
            "bubble",
            "(p-1)*max(i, f+i-w)",
            message("schedule.law_zb_h1_span", "the same, by each device's own window"),
            (UNIFORM, NO_HOPS, ENOUGH),
            window="span",
        ),
        Law("peak", "min(p, m)", message("schedule.law_zb_h1_peak", "W lags by r what the warm-up is shorter by")),
    ),
)
