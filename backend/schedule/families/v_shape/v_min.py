"""V-Min: the V placement at the least memory, a third of 1F1B's (Qi et al. 2024, arXiv 2405.15362, section 3.3).

Rank r holds stages r and 2p-1-r, so that the devices' lifespans balance: the long one of stage r beside the short one
of stage 2p-1-r. Forward and backward pass the devices without a slot of delay; where p is a multiple of 3 the backward
starts two slots later, because two ops would fall on one slot.
"""

from __future__ import annotations

import numpy as np

from backend.schedule.errors import SpecError, message
from backend.schedule.families.family import Family, Row
from backend.schedule.laws.law import NO_HOPS, UNIFORM, Law
from backend.schedule.options.vocabulary import SPREAD
from backend.schedule.order.placement import place
from backend.schedule.search import building_block
from backend.schedule.search.building_block import ENDLESS, Block, Choice, Task
from backend.schedule.spec import Spec

EQUAL = (
    "f == i and i == w",
    message("schedule.unless_equal_slots", "the closed form counts slots; here F, I and W take different times"),
)
ENOUGH = (
    "m >= 3*p",
    message("schedule.unless_filled_pipeline", "fewer than 3p micro-batches do not fill the pipeline"),
)
MORE = (
    "p > 2",
    message("schedule.unless_three_devices", "the form was counted for at least three devices"),
)

# In the block's own order, squeezed at the end, and with ops out of turn where the costs are unlike the slots. One of
# each comes first: very large orders get only a few tries.
_KEPT = [Choice(hold_w, ENDLESS, hold_end) for hold_w in (0.3, 0.6, 0.9, 0.0) for hold_end in (0.6, 0.0)]
_FREE = [
    Choice(hold_w, hold, hold, move)
    for move in ((3.0, 2.0, 1.0), (0.0, 0.0, 0.0), (2.0, 0.0, 0.0))
    for hold_w in (0.6, 0.3, 0.9)
    for hold in (0.9, 0.6)
]
CHOICES = (_KEPT[0], _FREE[0], *_KEPT[1:], *_FREE[1:])


def block(p: int) -> Block:
    """Offsets of the paper's figure: F0 at r, F1 at 2p-r-1, I1 at 2p+e+r, I0 at 4p+e-r-1, every 6 slots."""
    r, e = np.arange(p, dtype=np.float64), 2.0 if p % 3 == 0 else 0.0
    return Block.v(r, 2 * p - r - 1, 2 * p + e + r, 4 * p + e - r - 1)


def repeated(spec: Spec, one: Block) -> list[Row]:
    """The block repeated for all micro-batches at the spec's costs, within the block's own peak."""
    task = Task(place("v", spec.p, 2), spec.m, spec.timing, 2, one.peak())
    return building_block.rows(task, [(one, choice) for choice in CHOICES])


def two_chunks(spec: Spec) -> None:
    """Raise SpecError unless each device holds two chunks."""
    if spec.v != 2:
        raise SpecError(
            "v",
            spec.v,
            message("schedule.v_has_two_chunks", "a V has exactly two chunks per device"),
            limit=2,
            nearest=2,
        )


V_MIN = Family(
    name="v-min",
    title="V-Min",
    year=2024,
    source=message(
        "schedule.v_min_source",
        "Qi et al., Pipeline Parallelism with Controllable Memory, arXiv 2405.15362, section 3.3",
    ),
    used_by=message("schedule.v_min_used_by", "Sea AI Lab's zero-bubble Megatron-LM"),
    group="V",
    summary=message(
        "schedule.v_min_summary",
        "A V of two chunks per device at a third of 1F1B's memory; unequal costs repeat a bubble every period.",
    ),
    backward="split",
    complexity=message("schedule.complexity_block_six_ops_repeated", "a block of six ops, repeated"),
    placement="v",
    shaped_by_costs=True,
    block=lambda spec: block(spec.p),
    rows=lambda spec: repeated(spec, block(spec.p)),
    legal=two_chunks,
    vocabulary=SPREAD,
    laws=(
        Law(
            "bubble",
            "span",
            "(4*p - 7 if p % 3 == 0 else 4*p - 5)*f/v",
            (UNIFORM, NO_HOPS, EQUAL, ENOUGH, MORE),
            message("schedule.law_counted_on_orders", "counted on orders for p = 3 to 32 and m = 3p to 10p"),
        ),
        Law(
            "peak",
            "global",
            "min(2*floor((p + 4)/3), 2*m)",
            (),
            message("schedule.law_counted_in_block", "counted in the block, slot by slot"),
        ),
    ),
    v=(2, 2, 2),
)
