"""V-Half: the V placement at half of 1F1B's memory (Qi et al. 2024, arXiv 2405.15362, section 3.3).

As V-Min, but F of chunk 0 and I of chunk 1 wait one more slot on every device: the repeating bubble of V-Min at unequal
costs mostly goes. Where p is even the backward starts three slots later, because two ops would fall on one slot.
"""

from __future__ import annotations

from backend.schedule.errors import message
from backend.schedule.families.table import BlockTable
from backend.schedule.families.v_shape.repeated_block import repeated_block

# As in the paper's figure; two W fill the period of six slots.
BLOCK = BlockTable(
    {"F0": "2*r", "F1": "3*p - r - 2", "I1": "3*p + e + 2*r - 1", "I0": "6*p + e - r - 2"},
    let={"e": "0 if p % 2 == 1 else 3"},
)

V_HALF = repeated_block(
    "v-half",
    "V-Half",
    BLOCK,
    source=message(
        "schedule.v_half_source",
        "Qi et al., Pipeline Parallelism with Controllable Memory, arXiv 2405.15362, section 3.3",
    ),
    summary=message(
        "schedule.v_half_summary",
        "A V of two chunks per device at half of 1F1B's memory, with about half of its bubble.",
    ),
    idle="(3*p - 7 if p % 2 == 0 else 3*p - 4)*f/v",
    peak="min(p + 2 - p % 2, 2*m)",
)
