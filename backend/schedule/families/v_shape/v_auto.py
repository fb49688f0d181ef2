"""V-auto: the V placement within any memory limit (Qi et al. 2024, arXiv 2405.15362), from V-Min's to ZB-V's and
above.

Two chunks per device, stages r and 2p-1-r, or more, in a zigzag. The order is searched for the given costs; with two
chunks V-Min, V-Half, ZB-V, DualPipeV and the greedy ZB-V for these costs take part if they keep the limit.
"""

from __future__ import annotations

from itertools import chain

from backend.schedule.errors import message
from backend.schedule.families import searched
from backend.schedule.families.bidirectional.dualpipev import DUALPIPEV
from backend.schedule.families.family import Family
from backend.schedule.families.fixed_orders import fixed_orders
from backend.schedule.families.v_shape.v_half import BLOCK as HALF_BLOCK
from backend.schedule.families.v_shape.v_half import V_HALF
from backend.schedule.families.v_shape.v_min import BLOCK as MIN_BLOCK
from backend.schedule.families.v_shape.v_min import V_MIN
from backend.schedule.families.v_shape.v_zb import V_ZB
from backend.schedule.families.v_shape.zb_v_greedy import fitted
from backend.schedule.families.zero_bubble.zb_auto import FEASIBLE, MOST_CHUNKS, instance_of
from backend.schedule.search import greedy, passes
from backend.schedule.search.problem import Problem
from backend.schedule.spec import Spec

QUICK = (V_ZB, DUALPIPEV)
CONSTRUCTED = (V_MIN, V_HALF)
OTHERS = (*QUICK, *CONSTRUCTED)
"""The families that place stages alike: those with one order for all costs, and those that construct one for them."""


def problem(spec: Spec) -> Problem:
    """Describe the search: tries from the papers' blocks too; other families on the V take part if they fit."""
    instance = instance_of(spec, "v")
    if spec.v > 2:
        return Problem(instance, passes.tries(instance), lambda: [passes.one_by_one(instance)])
    paper = (HALF_BLOCK.build(spec.p), MIN_BLOCK.build(spec.p))
    return Problem(
        instance,
        greedy.folded(spec.p, paper),
        lambda: chain(fixed_orders(spec, QUICK), fitted(instance), fixed_orders(spec, CONSTRUCTED)),
    )


V_AUTO = Family(
    name="v-auto",
    title="V-auto",
    year=2024,
    source=message(
        "schedule.v_auto_source", "Qi et al., Pipeline Parallelism with Controllable Memory, arXiv 2405.15362"
    ),
    used_by=message("schedule.v_block_used_by", "Sea AI Lab's zero-bubble Megatron-LM"),
    group="V",
    summary=message(
        "schedule.v_auto_summary",
        "A V of two chunks per device, or a zigzag of more; searches the best order for these costs within a "
        "memory limit.",
    ),
    backward="split",
    complexity=message("schedule.complexity_greedy_construction_then_search", "greedy construction, then a search"),
    placement="v",
    construct=lambda spec: searched.rows(spec, problem(spec)),
    problem=problem,
    legal=(FEASIBLE,),
    fields=("memory", "offload", "effort", "seed"),
    v=(2, 2, MOST_CHUNKS),
    laws=(),  # the order is searched for these costs and this memory: no closed form
)
