"""Initial orders of a search: handcrafted ones, orders laid from blocks, and better blocks bred from those.

An order is laid greedily from a block and a choice (building_block.py), which set what is due and what may wait.
Breeding changes them at random, lays again, and keeps the best few: it finds other sequences than a walk does, in few
orders, because one number moves the ops of all micro-batches at once. Which blocks to begin with comes in from outside.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from backend.schedule.errors import OrderError
from backend.schedule.order.order import Codes, from_rows
from backend.schedule.search import building_block
from backend.schedule.search.building_block import ENDLESS, Block, Choice, Task
from backend.schedule.simulation.memory import peaks
from backend.schedule.simulation.simulate import simulate

EFFORT = 1_500_000  # ops to lay in the first orders
BRED = 3_000_000  # and in the first time of breeding
MANY, MOST = 100, 3_000  # but orders at least, and at most
HERD = 12  # orders kept to breed from
LOWER = (0.75, 0.55)  # parts of the limit, to lay as though there were no more


class Laid(NamedTuple):
    """An order with what it was laid from; ``room`` and ``share`` as though the limit were lower, or an I freed less
    than it does: greed then leaves more for later."""

    span: float
    codes: Codes
    block: Block
    choice: Choice
    room: float
    share: float


def keeps(task: Task, codes: Codes) -> bool:
    """Whether an order keeps the memory limit."""
    _, memory = peaks(from_rows(task.placement, task.m, list(codes)), task.share)
    return bool(memory.max() <= task.room + 1e-9)


def span_of(task: Task, codes: Codes) -> float:
    """The longest window of an order; infinite if it comes to a stop."""
    try:
        timeline = simulate(from_rows(task.placement, task.m, list(codes)), task.costs, task.v)
    except OrderError:
        return float("inf")
    first, last = (each.reshape(codes.shape) for each in (timeline.start, timeline.end))
    return float((last[:, -1] - first[:, 0]).max())


def ops_of(task: Task) -> int:
    """How many ops an order has."""
    return 3 * task.placement.chunks * task.placement.p * task.m


def lay(task: Task, block: Block, choice: Choice, room: float, share: float) -> Laid | None:
    """An order from a block and a choice."""
    found = building_block.lay(replace(task, room=room, share=share), block, choice)
    return None if found is None else Laid(*found, block, choice, room, share)


def laid(task: Task, tries: Sequence[tuple[Block, Choice]]) -> Iterator[Laid]:
    """An order for each try, as many as the effort allows, at least one; where an I frees memory at once also as
    though it did not, because what it frees tempts to put off W; and some as though the limit were lower."""
    most = max(1, EFFORT // ops_of(task))
    lower = [room for room in (np.floor(part * task.room) for part in LOWER) if room >= task.placement.chunks]
    for room, share, few in (
        *((task.room, share, most) for share in sorted({task.share, 1.0})),
        *((float(room), 1.0, max(1, most // 8)) for room in lower),
    ):
        for block, choice in tries[:few]:
            due = block.due.reshape(-1, 2).copy()
            for k, slots in enumerate(choice.move):
                due.ravel()[k + 1 :: 2 * task.placement.chunks] += slots
            pulled = Block(due.reshape(block.due.shape), block.period)
            found = lay(task, pulled, choice._replace(move=()), room, share)
            if found is not None:
                yield found


def bred(task: Task, parents: Sequence[Laid], seed: Sequence[int], times: int) -> Iterator[Laid]:
    """Every order laid on the way. Its parent is one of the best so far, the better the more often."""
    rng = np.random.default_rng([abs(word) for word in seed])
    herd = sorted({each.span: each for each in reversed(parents)}.values(), key=lambda each: each.span)[:HERD]
    for _ in range(times * max(MANY, min(MOST, BRED // ops_of(task)))):
        parent = herd[int(rng.integers(len(herd), size=2).min())]
        child = lay(task, *changed(parent, rng), *limits(task, parent, rng))
        if child is not None:
            yield child
            if all(child.span != each.span for each in herd):
                herd = sorted((*herd, child), key=lambda each: each.span)[:HERD]


def changed(parent: Laid, rng: np.random.Generator) -> tuple[Block, Choice]:
    """One to three changes: a pass through the devices goes earlier or later, faster or slower, or one op of it does;
    the waits are others; at times the pace."""
    due, choice = parent.block.due.copy(), parent.choice
    p, chunks, _ = due.shape
    for _ in range(1 + int(rng.integers(3))):
        which, chunk, kind = int(rng.integers(5)), int(rng.integers(chunks)), int(rng.integers(2))
        if which == 0:
            due[:, chunk, kind] += rng.normal(0.0, 2.0)
        elif which == 1:
            due[:, chunk, kind] += rng.normal(0.0, 0.5) * np.arange(p)
        elif which == 2:
            due[int(rng.integers(p)), chunk, kind] += rng.normal(0.0, 3.0)
        elif which == 3:
            choice = choice._replace(hold_w=float(rng.uniform(0.0, 1.2)))
        else:
            hold = ENDLESS if rng.random() < 0.2 else float(rng.uniform(0.0, 1.5))
            end = (hold, ENDLESS, float(rng.uniform(0.0, 1.5)))[int(rng.integers(3))]
            choice = choice._replace(hold_op=hold, hold_end=end)
    pace = float(np.exp(rng.normal(0.0, 0.15))) if rng.random() < 0.2 else 1.0
    return Block(due, parent.block.period * pace), choice


def limits(task: Task, parent: Laid, rng: np.random.Generator) -> tuple[float, float]:
    """The parent's room and share, at times others within the task's."""
    room, share = parent.room, parent.share
    if rng.random() < 0.1:
        room = max(float(task.placement.chunks), np.floor(task.room * rng.uniform(0.6, 1.0)))
    elif rng.random() < 0.1:
        room = task.room
    if task.share < 1.0 and rng.random() < 0.1:
        share = task.share if share == 1.0 else 1.0
    return float(room), share
