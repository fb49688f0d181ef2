"""V-Min: the V placement at the least memory, a third of 1F1B's (Qi et al. 2024, arXiv 2405.15362, section 3.3).

Forward and backward pass the devices without a slot of delay; where p is a multiple of 3 the backward starts two slots
later, because two ops would fall on one slot.
"""

from __future__ import annotations

from backend.schedule.errors import message
from backend.schedule.families.table import BlockTable
from backend.schedule.families.v_shape.repeated_block import repeated_block

# As in the paper's figure; two W fill the period of six slots.
BLOCK = BlockTable(
    {"F0": "r", "F1": "2*p - r - 1", "I1": "2*p + e + r", "I0": "4*p + e - r - 1"},
    let={"e": "2 if p % 3 == 0 else 0"},
)

V_MIN = repeated_block(
    "v-min",
    "V-Min",
    BLOCK,
    source=message(
        "schedule.v_min_source",
        "Qi et al., Pipeline Parallelism with Controllable Memory, arXiv 2405.15362, section 3.3",
    ),
    summary=message(
        "schedule.v_min_summary",
        "A V of two chunks per device at a third of 1F1B's memory; unequal costs repeat a bubble every period.",
    ),
    idle="(4*p - 7 if p % 3 == 0 else 4*p - 5)*f/v",
    peak="min(2*floor((p + 4)/3), 2*m)",
)
