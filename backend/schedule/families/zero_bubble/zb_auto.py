"""ZB-auto: zero bubble searched for given costs and memory (Qi et al. 2023, arXiv 2401.10241, section 3).

The papers' ZB-1p and ZB-2p are this with a limit of p and of 2p; any limit from one micro-batch up is possible, and
with several chunks per device, looped as in interleaved 1F1B.
"""

from __future__ import annotations

from itertools import chain

import numpy as np

from backend.schedule.errors import message
from backend.schedule.families import searched
from backend.schedule.families.classic.gpipe import GPIPE
from backend.schedule.families.classic.one_f_one_b import ONE_F_ONE_B
from backend.schedule.families.family import Family
from backend.schedule.families.fixed_orders import fixed_orders
from backend.schedule.families.grouped.gis import GIS, GIS_H
from backend.schedule.families.interleaved.interleaved import INTERLEAVED
from backend.schedule.families.interleaved.interleaved_zb import INTERLEAVED_ZB
from backend.schedule.families.rules import Rule, Sentence
from backend.schedule.families.zero_bubble.zb_h1 import ZB_H1
from backend.schedule.families.zero_bubble.zb_h2 import ZB_H2
from backend.schedule.options.frozen import untrained
from backend.schedule.order.placement import Kind, place
from backend.schedule.search import greedy, passes
from backend.schedule.search.building_block import Instance
from backend.schedule.search.problem import Problem
from backend.schedule.simulation.costs import SizedCosts
from backend.schedule.spec import Spec

OTHERS = (GPIPE, ONE_F_ONE_B, INTERLEAVED, ZB_H1, ZB_H2)
"""The families that place stages alike; with one chunk the remaining ones (GIS, for example) have one of these orders.
"""
OTHERS_OF_CHUNKS = (INTERLEAVED, INTERLEAVED_ZB, GIS, GIS_H)
"""Those with several chunks; the breadth-first one runs its backwards last in, first out."""
MOST_CHUNKS = 16  # per device
LEAST_MEMORY = 1  # one micro-batch at a time: every F leaves its memory before the next


def limit(spec: Spec) -> float:
    """Return the memory limit in micro-batches' activations on a device; by default 1F1B's: p of them, where they
    differ the largest p that follow each other.
    """
    if spec.memory is not None:
        return spec.memory
    costs = spec.timing
    if not isinstance(costs, SizedCosts) or spec.m <= spec.p:
        return float(sum(costs.sizes)) if isinstance(costs, SizedCosts) else float(spec.p)
    return float(np.convolve(costs.sizes, np.ones(spec.p), "valid").max())


FEASIBLE = Rule(
    "memory",
    f"memory == 0 or memory >= {LEAST_MEMORY:g}",
    Sentence(
        "schedule.memory_below_one_micro_batch",
        "one micro-batch's activations on a device ({least}) are the least memory that a step can run in",
    ),
    {"least": f"{LEAST_MEMORY}"},
)


def instance_of(spec: Spec, kind: Kind) -> Instance:
    """Return what a search solves for a spec whose stages are placed as ``kind`` says."""
    placement = place(kind, spec.p, 2 if kind == "bidirectional" else spec.v)
    alone = untrained(spec.frozen)
    return Instance(placement, spec.m, spec.timing, spec.v, spec.v * limit(spec), spec.w_share, alone)


def problem(spec: Spec) -> Problem:
    """Describe the search; other families with as many chunks per device take part if they fit."""
    instance = instance_of(spec, "looped")
    if spec.v > 1:
        return Problem(
            instance,
            passes.tries(instance),
            lambda: chain(fixed_orders(spec, OTHERS_OF_CHUNKS), (passes.one_by_one(instance),)),
        )
    return Problem(instance, greedy.looped(spec.p), lambda: fixed_orders(spec.with_(group=spec.m), OTHERS))


ZB_AUTO = Family(
    name="zb-auto",
    title="ZB-auto",
    year=2023,
    source=message(
        "schedule.zb_auto_source", "Qi et al., Zero Bubble Pipeline Parallelism, arXiv 2401.10241, section 3"
    ),
    used_by=message("schedule.zb_auto_used_by", "Sea AI Lab's Megatron-LM fork, as ZB-1p and ZB-2p"),
    group="zero bubble",
    summary=message(
        "schedule.zb_auto_summary",
        "Searches the best order for these costs within a memory limit: p is ZB-1p, 2p is ZB-2p, "
        "anything between works.",
    ),
    backward="split",
    complexity=message("schedule.complexity_greedy_construction_then_search", "greedy construction, then a search"),
    placement="looped",
    construct=lambda spec: searched.rows(spec, problem(spec)),
    problem=problem,
    legal=(FEASIBLE,),
    fields=("memory", "offload", "effort", "seed"),
    v=(1, 1, MOST_CHUNKS),
    laws=(),  # the order is searched for these costs and this memory: no closed form
)
