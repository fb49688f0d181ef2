"""V-Min: the V placement at the least memory, a third of 1F1B's (Qi et al. 2024, arXiv 2405.15362, section 3.3).

Forward and backward pass the devices without a slot of delay; where p is a multiple of 3 the backward starts two slots
later, because two ops would fall on one slot.
"""

from __future__ import annotations

import numpy as np

from backend.schedule.errors import message
from backend.schedule.families.v_shape.repeated_block import repeated_block
from backend.schedule.search.building_block import Block


def block(p: int) -> Block:
    """Build the block of the paper's figure: F0 at r, F1 at 2p-r-1, I1 at 2p+e+r, I0 at 4p+e-r-1, every 6 slots."""
    r, e = np.arange(p, dtype=np.float64), 2.0 if p % 3 == 0 else 0.0
    return Block.v(r, 2 * p - r - 1, 2 * p + e + r, 4 * p + e - r - 1)


V_MIN = repeated_block(
    "v-min",
    "V-Min",
    block,
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
