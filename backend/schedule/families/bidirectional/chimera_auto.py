"""Chimera-auto: two replicas in opposite directions within any memory limit, as Chimera (Li and Hoefler 2021, arXiv
2107.06925) and DualPipe (arXiv 2412.19437) place them.

Each device holds stage r for the micro-batches of stream 0 and stage p-1-r for those of stream 1, and so all
parameters twice. The order is searched for the given costs, with the backward split; Chimera's and DualPipe's own
orders take part if they keep the limit.
"""

from __future__ import annotations

from backend.schedule.errors import message
from backend.schedule.families import searched
from backend.schedule.families.bidirectional.chimera import CHIMERA
from backend.schedule.families.bidirectional.dualpipe import DUALPIPE
from backend.schedule.families.family import Family
from backend.schedule.families.fixed_orders import fixed_orders, split
from backend.schedule.families.rules import even
from backend.schedule.families.zero_bubble.zb_auto import FEASIBLE, instance_of
from backend.schedule.order.order import Codes
from backend.schedule.search import passes
from backend.schedule.search.problem import Problem
from backend.schedule.spec import Spec


def problem(spec: Spec) -> Problem:
    """Describe the search; Chimera's and DualPipe's orders take part if they fit."""
    instance = instance_of(spec, "bidirectional")
    return Problem(
        instance,
        passes.tries(instance),
        lambda: [*fixed_orders(spec, (DUALPIPE,)), _chimera(spec), passes.one_by_one(instance)],
    )


def _chimera(spec: Spec) -> Codes:
    """Return the codes (p, steps) of Chimera with the backward split; the last basic unit may be incomplete."""
    return split(CHIMERA.order(spec).codes, 2).reshape(spec.p, -1)


CHIMERA_AUTO = Family(
    name="chimera-auto",
    title="Chimera-auto",
    year=2021,
    source=message(
        "schedule.chimera_auto_source", "the placement of Li and Hoefler, Chimera, arXiv 2107.06925; searched here"
    ),
    used_by=message("schedule.chimera_auto_used_by", "this project's search; no framework is known"),
    group="bidirectional",
    summary=message(
        "schedule.chimera_auto_summary",
        "Two replicas run in opposite directions; searches the best order for these costs within a memory limit.",
    ),
    backward="split",
    complexity=message("schedule.complexity_greedy_construction_then_search", "greedy construction, then a search"),
    placement="bidirectional",
    construct=lambda spec: searched.rows(spec, problem(spec)),
    problem=problem,
    legal=(even("p"), even("m"), FEASIBLE),
    fields=("memory", "effort", "seed"),
    laws=(),  # the order is searched for these costs and this memory: no closed form
)
