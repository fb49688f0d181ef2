"""ZB-V: zero bubble at 1F1B's memory, two chunks per device on a V (Qi et al. 2023, arXiv 2401.10241, section 6).

The handcrafted order for equal F, I and W, as torch's ScheduleZBVZeroBubble has it. Capital letters are chunk 0 (stage
r), small ones chunk 1 (stage 2p-1-r).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from backend.schedule.errors import SpecError, message
from backend.schedule.families.family import Family, Row, phases
from backend.schedule.laws.law import NO_HOPS, UNIFORM, Law
from backend.schedule.options.vocabulary import SPREAD
from backend.schedule.order import ops
from backend.schedule.order.order import encode
from backend.schedule.search.building_block import Block
from backend.schedule.spec import Spec

Step = tuple[int, list[int]]  # of a row: a count, and the codes that are repeated so often
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
        steps = (
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
        out.append(phases(*(steps if full == m else _only_first(m, steps))))
    return out


def block(p: int) -> Block:
    """Build the block of the steady groups F, I, W, f, i, w: forward, four slots per device down the V and two up;
    backward, the same in the other direction.
    """
    r = np.arange(p, dtype=np.float64)
    return Block.v(4 * r, 6 * p - 3 - 2 * r, 6 * p - 2 + 4 * r, 12 * p - 5 - 2 * r)


def _only_first(m: int, steps: Sequence[Step]) -> list[Step]:
    """Return a row's phases without micro-batches from m on. The k-th op of each code is that of micro-batch k, and
    each repetition of a phase has at most one op of a code, so a phase becomes a few with ever fewer codes.
    """
    out: list[Step] = []
    done: Counter[int] = Counter()
    for count, pattern in steps:
        kept = {code: min(count, max(0, m - done[code])) for code in pattern}  # repetitions that have the code
        before = 0
        for until in sorted(set(kept.values())):
            out.append((until - before, [code for code in pattern if kept[code] >= until]))
            before = until
        done.update(dict.fromkeys(pattern, count))
    return out


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
