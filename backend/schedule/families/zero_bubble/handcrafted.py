"""The construction of ZB-H1 and ZB-H2: 1F1B with the backward split, ``c`` forwards of warm-up for each later rank.

Qi et al. 2023, Zero Bubble Pipeline Parallelism, arXiv 2401.10241, section 2: ``c`` is 1 for ZB-H1, 2 for ZB-H2.
"""

from __future__ import annotations

import numpy as np

from backend.schedule.errors import Message, message
from backend.schedule.families.family import Family, Row, phases
from backend.schedule.laws.law import Law
from backend.schedule.options.vocabulary import SPREAD
from backend.schedule.order.ops import F, I, W
from backend.schedule.search.building_block import Block
from backend.schedule.spec import Spec


def rows(spec: Spec, c: int) -> list[Row]:
    """Build each rank's row: rank r warms up with c(p-1-r) forwards, and its W lags its I by c*r micro-batches."""
    p, m = spec.p, spec.m
    out = []
    for r in range(p):
        warmup = min(m, c * (p - 1 - r))
        left, lag = m - warmup, min(m, c * r)  # forwards left after the warm-up; how far W is behind I
        early = min(left, lag)
        out.append(
            phases(
                (warmup, [F]),  # 1: warm-up
                (early, [F, I]),  # 2: no W yet: the next rank waits for I, not for W
                (left - early, [F, I, W]),  # 3: steady
                (lag - early, [I]),  # 4: W still lags when the forwards are over
                (m - max(left, lag), [I, W]),  # 5: cool-down
                (lag, [W]),  # 6: W fills what 1F1B leaves idle
            )
        )
    return out


def block(spec: Spec, c: int) -> Block:
    """Build the block of the steady state, in slots: c micro-batches of warm-up per device leave a hop there and back
    c periods, and W is c periods later on each device."""
    p, r = spec.p, np.arange(spec.p, dtype=np.float64)
    down, up = (1, 2) if c == 1 else (3, 3)  # slots from F to the next device's F, and from I to the one before's
    due = np.stack((down * r, down * (p - 1) + 1 + up * (p - 1 - r)), axis=1)[:, None, :]
    return Block(due, 3.0, lag=c * r[:, None])


def handcrafted(
    name: str, title: str, c: int, *, source: Message, used_by: Message, summary: Message, laws: tuple[Law, ...]
) -> Family:
    """Build the family of one ``c``."""
    return Family(
        name=name,
        title=title,
        year=2023,
        source=source,
        used_by=used_by,
        group="zero bubble",
        summary=summary,
        backward="split",
        complexity=message("schedule.complexity_five_phases", "five phases"),
        placement="looped",
        rows=lambda spec: rows(spec, c),
        block=lambda spec: block(spec, c),
        legal=lambda spec: None,
        fields=("offload",),
        vocabulary=SPREAD,
        laws=laws,
    )
