"""ZB-H1: 1F1B with the backward split, at 1F1B's memory (Qi et al. 2023, arXiv 2401.10241, section 2.1)."""

from __future__ import annotations

import numpy as np

from backend.schedule.errors import message
from backend.schedule.families.family import Family, Row, phases
from backend.schedule.laws.law import NO_HOPS, UNIFORM, Law
from backend.schedule.options.vocabulary import SPREAD
from backend.schedule.search.building_block import Block
from backend.schedule.spec import Spec

F, I, W = range(3)


def handcrafted(spec: Spec, c: int) -> list[Row]:
    """The handcrafted schedules: rank r warms up with c(p-1-r) forwards and its W lags its I by c*r micro-batches.

    ``c`` is 1 for ZB-H1, 2 for ZB-H2.
    """
    p, m = spec.p, spec.m
    out = []
    for r in range(p):
        warmup = min(m, c * (p - 1 - r))
        left, lag = m - warmup, min(m, c * r)  # forwards left after the warm-up; how far W is behind I
        early = min(left, lag)
        out.append(
            phases(
                (warmup, [F]),
                (early, [F, I]),  # no W yet: the next rank waits for I, not for W
                (left - early, [F, I, W]),
                (lag - early, [I]),
                (m - max(left, lag), [I, W]),
                (lag, [W]),  # W fills what 1F1B leaves idle in the cool-down
            )
        )
    return out


def steady(spec: Spec, c: int) -> Block:
    """The block of the handcrafted schedules: ``c`` micro-batches of warm-up a device leave a hop there and back
    ``c`` periods, and W as many later on each."""
    p, r = spec.p, np.arange(spec.p, dtype=np.float64)
    down, up = (1, 2) if c == 1 else (3, 3)  # slots from F to the next device's F, and from I to the one before's
    due = np.stack((down * r, down * (p - 1) + 1 + up * (p - 1 - r)), axis=1)[:, None, :]
    return Block(due, 3.0, lag=c * r[:, None])


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
    rows=lambda spec: handcrafted(spec, 1),
    block=lambda spec: steady(spec, 1),
    legal=lambda spec: None,
    vocabulary=SPREAD,
    laws=(
        Law(
            "bubble",
            "global",
            "(p-1)*max(f, i, f+i-w)",
            (
                UNIFORM,
                NO_HOPS,
                (
                    "m >= p",
                    message("schedule.unless_as_many_micro_batches_as_devices", "fewer micro-batches than devices"),
                ),
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
                (
                    "m >= p",
                    message("schedule.unless_as_many_micro_batches_as_devices", "fewer micro-batches than devices"),
                ),
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
