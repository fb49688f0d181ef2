"""ZB-V: zero bubble at 1F1B's memory, two chunks per device on a V (Qi et al. 2023, arXiv 2401.10241, section 6).

The handcrafted order for equal F, I and W, as torch's ScheduleZBVZeroBubble has it. Capital letters are chunk 0 (stage
r), small ones chunk 1 (stage 2p-1-r).
"""

from __future__ import annotations

import numpy as np

from backend.schedule.errors import SpecError, message
from backend.schedule.families.family import Family, Row, phases
from backend.schedule.laws.law import NO_HOPS, UNIFORM, Law
from backend.schedule.options.vocabulary import SPREAD
from backend.schedule.order import ops
from backend.schedule.order.order import encode, from_rows, micro_numbers
from backend.schedule.order.placement import place
from backend.schedule.search.building_block import Block
from backend.schedule.spec import Spec

F, f, I, i, W, w = (encode(kind, chunk, 2) for kind in (ops.F, ops.I, ops.W) for chunk in (0, 1))


def rows(spec: Spec) -> list[Row]:
    """Build each rank's row. The order needs at least 2p - 1 micro-batches; for fewer it is built for 2p - 1, and
    the surplus is left out.
    """
    p, m = spec.p, spec.m
    full = max(m, 2 * p - 1)
    out = []
    for r in range(p):
        steady = full - 2 * p + r + 1  # forwards of chunk 0 that are left after the warm-up
        row = phases(
            (2 * (p - r) - 1, [F]),
            (r, [f, F]),
            (p - r, [f, i, w]),
            (steady, [F, I, W, f, i, w]),
            (p - r - 1, [I, W, f, i, w]),  # chunk 0 has no forwards left
            (r, [I, i]),
            (p - r, [I, W]),
            (r, [w]),
            (r, [W]),
        )
        out.append(row)
    return out if full == m else _only_first(p, full, m, out)


def block(p: int) -> Block:
    """Build the block of the steady groups F, I, W, f, i, w: forward, four slots per device down the V and two up;
    backward, the same in the other direction.
    """
    r = np.arange(p, dtype=np.float64)
    return Block.v(4 * r, 6 * p - 3 - 2 * r, 6 * p - 2 + 4 * r, 12 * p - 5 - 2 * r)


def _only_first(p: int, full: int, m: int, rows_of_full: list[Row]) -> list[Row]:
    """Return the rows without micro-batches from m on; first in, first out still implies the numbers of the others."""
    whole = from_rows(place("v", p, 2), full, rows_of_full)
    return [row[micro_numbers(whole, rank)[0] < m] for rank, row in enumerate(rows_of_full)]


def legal(spec: Spec) -> None:
    """Raise SpecError unless each device holds exactly two chunks."""
    if spec.v != 2:
        raise SpecError(
            "v",
            spec.v,
            message("schedule.zb_v_has_two_chunks", "ZB-V has exactly two chunks per device"),
            limit=2,
            nearest=2,
        )


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
    rows=rows,
    block=lambda spec: block(spec.p),
    legal=legal,
    fields=("offload",),
    v=(2, 2, 2),
    vocabulary=SPREAD,
    laws=(
        Law(
            "bubble",
            "span",
            "0",
            (
                UNIFORM,
                NO_HOPS,
                ("f == i and i == w", message("schedule.unless_made_for_equal_ops", "the order is made for F = I = W")),
                ("m >= 2*p - 1", message("schedule.unless_enough_for_zb_v", "fewer than 2p - 1 micro-batches")),
            ),
            message("schedule.law_zb_v_span", "by each device's own window, as the paper counts"),
        ),
        Law("peak", "global", "min(2*p, 2*m)", (), message("schedule.law_zb_v_peak", "2p chunks, 1F1B's memory")),
    ),
)
