"""Random legal orders, made by letting random ranks do random ops that are ready."""

from __future__ import annotations

import random

from backend.schedule.order.ops import Op
from backend.schedule.order.order import Order, from_ops
from backend.schedule.order.placement import Placement


def random_order(placement: Placement, m: int, seed: int) -> Order:
    """An order in which every rank repeatedly does any op whose inputs exist; half of them split B."""
    choose = random.Random(seed)
    waiting: list[tuple[int, Op]] = []
    for rank in range(placement.p):
        for chunk, stage in enumerate(placement.stages_of(rank)):
            stream = placement.stream(rank, chunk)
            n = m // placement.streams
            for micro in range(stream * n, (stream + 1) * n):
                kinds = "FIW" if choose.random() < 0.5 else "FB"
                waiting += [(rank, Op(kind, stage, micro, chunk)) for kind in kinds]
    made: set[tuple[str, int, int]] = set()
    rows: list[list[Op]] = [[] for _ in range(placement.p)]
    while waiting:
        ready = [(rank, op) for rank, op in waiting if _inputs(op, placement.stages) <= made]
        rank, op = choose.choice(ready)
        waiting.remove((rank, op))
        rows[rank].append(op)
        made.add(("G" if op.kind in "IB" else op.kind, op.stage, op.micro))
    return from_ops(placement, m, rows)


def _inputs(op: Op, stages: int) -> set[tuple[str, int, int]]:
    if op.kind == "W":
        return {("G", op.stage, op.micro)}
    if op.kind == "F":
        return {("F", op.stage - 1, op.micro)} if op.stage else set()
    return {("F", op.stage, op.micro)} | ({("G", op.stage + 1, op.micro)} if op.stage + 1 < stages else set())
