"""The handcrafted zero-bubble schedules: 1F1B with the backward split, and W some micro-batches behind I.

Qi et al. 2023, Zero Bubble Pipeline Parallelism, arXiv 2401.10241, section 2. A rank with ``all`` forwards warms up
with ``warmup`` of them, and its W lags its I by ``lag`` micro-batches.
"""

from __future__ import annotations

from backend.schedule.families.table import Table


def with_lagging_weights(group: str = "m", **let: str) -> Table:
    """Build the table of a schedule from the formulas of ``all``, ``warmup`` and ``lag``."""
    return Table(
        group=group,
        let=let | {"left": "all - warmup", "early": "min(left, lag)"},  # left: forwards after the warm-up
        rows=[
            ("warmup", "F"),  # 1: warm-up
            ("early", "F I"),  # 2: no W yet: the next rank waits for I, not for W
            ("left - early", "F I W"),  # 3: steady
            ("lag - early", "I"),  # 4: W still lags when the forwards are over
            ("all - max(left, lag)", "I W"),  # 5: cool-down
            ("lag", "W"),  # 6: W fills what 1F1B leaves idle
        ],
    )
