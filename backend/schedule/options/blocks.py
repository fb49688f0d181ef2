"""The blocks of a run's model by the layers of its stages: the ratios of real layers, not their number.

The page has the same rule (static/js/core/measured/pace.ts).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

MOST_BLOCKS = 8  # of one stage, times model.layers


def most_blocks(layers: Sequence[int] | None) -> int:
    """Return the most blocks of a stage; None: every stage has as many layers."""
    return 1 if layers is None else min(MOST_BLOCKS, max(layers) // math.gcd(*layers))
