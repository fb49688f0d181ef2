"""Search an order for a position's sizes, costs and memory limit: the reference of a task that no family solves."""

from __future__ import annotations

from dataclasses import replace

from backend.schedule.errors import OrderError
from backend.schedule.families.v_shape.v_half import BLOCK as HALF_BLOCK
from backend.schedule.families.v_shape.v_min import BLOCK as MIN_BLOCK
from backend.schedule.order.ops import Op
from backend.schedule.order.order import Codes, from_rows
from backend.schedule.partial_order.bound import instance_of, makespan_bound
from backend.schedule.partial_order.legality import first_illegal
from backend.schedule.partial_order.position import Position
from backend.schedule.partial_order.recognition import named_orders
from backend.schedule.partial_order.score import Score, score
from backend.schedule.search import greedy, passes
from backend.schedule.search.building_block import Block, Choice, Instance
from backend.schedule.search.improve import Budget
from backend.schedule.search.problem import Problem

SEEDS = (1, 2, 3)


def searched_order(position: Position, full: bool, effort: int) -> Position:
    """Return the best complete order found: of a search with each seed, and of the named families within the limit.

    ``full``: the backward is one op. ``effort`` is the number of orders that a search times; the result depends on
    nothing else. The search is for the shortest window of a rank (search/improve.py); the makespan then decides.
    Raises SpecError for a limit that no order keeps.
    """
    instance = instance_of(position, full)
    assert instance is not None, "an order of two directions is not searched"
    bound = makespan_bound(position, full)
    found: list[tuple[Score, Position]] = []
    for named in named_orders(position):
        each = position.with_rows(named.rows)
        kinds = {op.kind for row in named.rows for op in row if isinstance(op, Op)}
        if kinds <= set("FB" if full else "FIW") and first_illegal(each) is None:
            found.append((score(each), each))
    problem = Problem(instance, tries_of(instance))
    for seed in SEEDS:
        if found and bound is not None and min(s.makespan for s, _ in found) <= bound.value * (1.0 + 1e-9):
            break
        result = problem.search(seed, Budget(None, effort))
        made = _position(position, instance, list(result.codes), full)
        found.append((score(made), made))
    return min(found, key=lambda each: each[0].key())[1]


def tries_of(instance: Instance) -> list[tuple[Block, Choice]]:
    """Return the blocks that a search begins with: those of ZB-auto and V-auto."""
    place = instance.placement
    if place.chunks == 1:
        return greedy.looped(place.p)
    if place.kind == "v" and place.chunks == 2:
        return greedy.folded(place.p, (HALF_BLOCK.build(place.p), MIN_BLOCK.build(place.p)))
    return passes.tries(instance)


def _position(position: Position, instance: Instance, codes: list[Codes], full: bool) -> Position:
    order = from_rows(instance.placement, instance.m, codes)
    rows = [order.row(rank) for rank in range(order.p)]
    if full:
        rows = [
            [replace(op, kind="B" if op.kind == "I" else "F") for op in row if isinstance(op, Op) and op.kind != "W"]
            for row in rows
        ]
    made = position.with_rows(rows)
    wrong = first_illegal(made)
    if wrong is not None:
        raise OrderError(wrong.message, rank=wrong.rank, op=wrong.value)
    return made
