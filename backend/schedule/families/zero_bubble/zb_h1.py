"""ZB-H1: 1F1B with the backward split, at 1F1B's memory (Qi et al. 2023, arXiv 2401.10241, section 2.1)."""

from __future__ import annotations

from backend.schedule.errors import message
from backend.schedule.families.zero_bubble.handcrafted import handcrafted
from backend.schedule.laws.law import NO_HOPS, UNIFORM, Law

ENOUGH = (
    "m >= p",
    message("schedule.unless_as_many_micro_batches_as_devices", "fewer micro-batches than devices"),
)

ZB_H1 = handcrafted(
    "zb-h1",
    "ZB-H1",
    1,  # one forward of warm-up for each later rank
    source=message(
        "schedule.zb_h1_source", "Qi et al., Zero Bubble Pipeline Parallelism, arXiv 2401.10241, section 2.1"
    ),
    used_by=message("schedule.zb_h1_used_by", "Sea AI Lab's Megatron-LM fork; the order behind DeepSeek's ZB1P"),
    summary=message(
        "schedule.zb_h1_summary",
        "1F1B with the backward split: weight gradients fill the cool-down. A third of the bubble, same memory.",
    ),
    laws=(
        Law(
            "bubble",
            "global",
            "(p-1)*max(f, i, f+i-w)",
            (
                UNIFORM,
                NO_HOPS,
                ENOUGH,
            ),
            message(
                "schedule.law_zb_h1_bubble",
                "arXiv 2401.10241 table 1 gives (p-1)(f+i-w), which needs w <= f and w <= i",
            ),
        ),
        Law(
            "bubble",
            "span",
            "(p-1)*max(i, f+i-w)",
            (
                UNIFORM,
                NO_HOPS,
                ENOUGH,
            ),
            message("schedule.law_zb_h1_span", "the same, by each device's own window"),
        ),
        Law(
            "peak",
            "global",
            "min(p, m)",
            (),
            message("schedule.law_zb_h1_peak", "W lags by r what the warm-up is shorter by"),
        ),
    ),
)
