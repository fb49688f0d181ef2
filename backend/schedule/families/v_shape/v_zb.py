"""ZB-V: zero bubble at 1F1B's memory, two chunks per device on a V (Qi et al. 2023, arXiv 2401.10241, section 6).

The handcrafted order for equal F, I and W, as torch's ScheduleZBVZeroBubble has it: chunk 0 is stage r, chunk 1 stage
2p-1-r. It needs at least 2p - 1 micro-batches; for fewer it is built for 2p - 1, and the surplus is left out.
"""

from __future__ import annotations

from backend.schedule.errors import message
from backend.schedule.families.family import Family
from backend.schedule.families.table import BlockTable, Table
from backend.schedule.laws.law import NO_HOPS, UNIFORM, Law
from backend.schedule.options.vocabulary import SPREAD

V_ZB = Family(
    name="v-zb",
    title="ZB-V",
    year=2023,
    source=message("schedule.v_zb_source", "Qi et al., Zero Bubble Pipeline Parallelism, arXiv 2401.10241, section 6"),
    used_by=message("schedule.v_zb_used_by", "torch's ScheduleZBVZeroBubble; Sea AI Lab's Megatron-LM fork"),
    group="V",
    summary=message(
        "schedule.v_zb_summary",
        "Two chunks per device on a V: no bubble in each device's own window, at 1F1B's memory, if F = I = W.",
    ),
    backward="split",
    complexity=message("schedule.complexity_nine_phases", "nine phases"),
    placement="v",
    table=Table(
        let={"full": "max(m, 2*p - 1)", "steady": "full - 2*p + r + 1"},  # steady: forwards of chunk 0 still to come
        rows=[
            ("2*(p-r) - 1", "F0"),
            ("r", "F1 F0"),
            ("p - r", "F1 I1 W1"),
            ("steady", "F0 I0 W0 F1 I1 W1"),
            ("p - r - 1", "I0 W0 F1 I1 W1"),  # chunk 0 has no forwards left
            ("r", "I0 I1"),
            ("p - r", "I0 W0"),
            ("r", "W1"),
            ("r", "W0"),
        ],
    ),
    # The steady groups: four slots per device down the V and two up, first forward, then backward.
    block=BlockTable({"F0": "4*r", "F1": "6*p - 3 - 2*r", "I1": "6*p - 2 + 4*r", "I0": "12*p - 5 - 2*r"}),
    fields=("offload",),
    v=(2, 2, 2),
    vocabulary=SPREAD,
    laws=(
        Law(
            "bubble",
            "0",
            message("schedule.law_zb_v_span", "by each device's own window, as the paper counts"),
            (
                UNIFORM,
                NO_HOPS,
                ("f == i and i == w", message("schedule.unless_made_for_equal_ops", "the order is made for F = I = W")),
                ("m >= 2*p - 1", message("schedule.unless_enough_for_zb_v", "fewer than 2p - 1 micro-batches")),
            ),
            window="span",
        ),
        Law("peak", "min(2*p, 2*m)", message("schedule.law_zb_v_peak", "2p chunks, 1F1B's memory")),
    ),
)
