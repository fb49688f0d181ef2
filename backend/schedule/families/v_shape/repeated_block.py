"""The construction of V-Min and V-Half: a block of six ops on a V, repeated for all micro-batches.

Qi et al. 2024, Pipeline Parallelism with Controllable Memory, arXiv 2405.15362, section 3.3. Rank r holds stages r and
2p-1-r, so that the devices' lifespans balance: the long one of stage r beside the short one of stage 2p-1-r.
"""

from __future__ import annotations

from functools import lru_cache

from backend.schedule.errors import Message, message
from backend.schedule.families.family import Family
from backend.schedule.families.table import BlockTable
from backend.schedule.families.v_shape.unit_slots import unit_order
from backend.schedule.laws.law import NO_HOPS, UNIFORM, Law
from backend.schedule.options.vocabulary import SPREAD
from backend.schedule.order.order import Codes
from backend.schedule.order.placement import place
from backend.schedule.search import building_block
from backend.schedule.search.building_block import ENDLESS, Choice, Instance
from backend.schedule.simulation.costs import Costs
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

# In the block's own order, squeezed at the end, and with ops out of order, for costs that differ from the slots. One
# of each comes first: very large orders get only a few tries.
_KEPT = [Choice(hold_w, ENDLESS, hold_end) for hold_w in (0.3, 0.6, 0.9, 0.0) for hold_end in (0.6, 0.0)]
_FREE = [
    Choice(hold_w, hold, hold, move)
    for move in ((3.0, 2.0, 1.0), (0.0, 0.0, 0.0), (2.0, 0.0, 0.0))
    for hold_w in (0.6, 0.3, 0.9)
    for hold in (0.9, 0.6)
]
CHOICES = (_KEPT[0], _FREE[0], *_KEPT[1:], *_FREE[1:])

MOST_IN_UNIT_SLOTS = 200_000  # ops of an order that is also squeezed in unit slots, in a tenth of a second


def rows(spec: Spec, block: BlockTable) -> list[Codes]:
    """Build each rank's row: the block repeated for all micro-batches, within the block's peak.

    The best at the spec's costs of the orders that follow from the choices and of the one in unit slots.
    """
    return list(constructed(block, spec.p, spec.m, spec.mean_timing))


@lru_cache(maxsize=8)  # V-auto takes part in a chart with several limits, and begins with these orders at each
def constructed(block: BlockTable, p: int, m: int, costs: Costs) -> tuple[Codes, ...]:
    """Construct what ``rows`` returns."""
    own = block.build(p)
    instance = Instance(place("v", p, 2), m, costs, 2, own.peak()).even
    in_slots = [unit_order(own, m)] if 6 * p * m <= MOST_IN_UNIT_SLOTS else []
    found = building_block.rows(instance, [(own, choice) for choice in CHOICES], in_slots)
    for row in found:
        row.flags.writeable = False  # every caller gets the same
    return tuple(found)


def repeated_block(
    name: str, title: str, block: BlockTable, *, source: Message, summary: Message, idle: str, peak: str
) -> Family:
    """Build the family of one block; ``idle`` and ``peak`` are the formulas of its laws."""
    return Family(
        name=name,
        title=title,
        year=2024,
        source=source,
        used_by=message("schedule.v_block_used_by", "Sea AI Lab's zero-bubble Megatron-LM"),
        group="V",
        summary=summary,
        backward="split",
        complexity=message("schedule.complexity_block_of_six_ops", "a block of six ops, repeated"),
        placement="v",
        block=block,
        construct=lambda spec: rows(spec, block),
        fields=("offload",),
        vocabulary=SPREAD,
        laws=(
            Law(
                "bubble",
                idle,
                message("schedule.law_counted_on_orders", "counted on orders for p = 3 to 32 and m = 3p to 10p"),
                (UNIFORM, NO_HOPS, EQUAL, ENOUGH, MORE),
                window="span",
            ),
            Law("peak", peak, message("schedule.law_counted_in_block", "counted in the block, slot by slot")),
        ),
        v=(2, 2, 2),
    )
