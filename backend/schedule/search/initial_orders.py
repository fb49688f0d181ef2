"""Initial orders of a search: handcrafted orders, orders constructed from blocks, and mutations of the best blocks.

An order is constructed greedily from a block and a choice (building_block.py), which define what is due and what may
wait. The mutations change both at random, construct the order again, and keep the best few. They find other sequences
than a walk does, in few orders, because one number moves the ops of all micro-batches at once. The caller provides
the first blocks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from backend.schedule.errors import OrderError
from backend.schedule.order.order import Codes, from_rows
from backend.schedule.search import building_block
from backend.schedule.search.anneal import judged
from backend.schedule.search.building_block import ENDLESS, Block, Choice, Instance
from backend.schedule.simulation.memory import peak_memory, peaks
from backend.schedule.simulation.simulate import advance

EFFORT = 2_100_000  # ops to construct in the first orders
BRED = 3_000_000  # and in the first round of mutations
MANY, MOST = 100, 3_000  # least and most orders per round
HERD = 12  # orders kept as parents
LOWER = (0.75, 0.55)  # parts of the limit, used as lower limits


class Laid(NamedTuple):
    """An order with what it was constructed from.

    ``room`` and ``share`` are those of the construction, which may assume a lower limit, or that an I frees less than
    it does: the greedy rule then leaves more for later.
    """

    span: float
    codes: Codes
    block: Block
    choice: Choice
    room: float
    share: float


def keeps(instance: Instance, codes: Codes) -> bool:
    """Return whether an order keeps the memory limit."""
    order = from_rows(instance.placement, instance.m, list(codes))
    if instance.is_even:
        memory = peaks(order, instance.share)[1]
    else:
        memory = peak_memory(advance(order, instance.costs, instance.v)[0], instance.share, 1, 1.0)
    return bool(memory.max() <= instance.room + 1e-9)


def span_of(instance: Instance, codes: Codes) -> float:
    """Return the longest window of an order; infinite if it deadlocks."""
    try:
        return building_block.timed(instance, codes)[0]
    except OrderError:
        return float("inf")


def ops_of(instance: Instance) -> int:
    """Return the number of ops in an order."""
    return 3 * instance.placement.chunks * instance.placement.p * instance.n


def lay(instance: Instance, block: Block, choice: Choice, room: float, share: float) -> Laid | None:
    """Construct an order from a block and a choice; None for a deadlock."""
    found = building_block.lay(instance.even, block, choice, room, share)
    return None if found is None else Laid(judged(instance, *found), found[1], block, choice, room, share)


def laid(instance: Instance, tries: Sequence[tuple[Block, Choice]]) -> Iterator[Laid]:
    """Yield an order for each try, as many as the effort allows, at least one.

    Where an I frees memory at once, each try is also made as if it did not, because the freed memory leads the greedy
    rule to delay W. Some tries are also made with a lower limit.
    """
    most = max(1, EFFORT // ops_of(instance))
    even = instance.even
    lower = [room for room in (np.floor(part * even.room) for part in LOWER) if room >= even.least_room]
    for room, share, few in (
        *((even.room, share, most) for share in sorted({instance.share, 1.0})),
        *((float(room), 1.0, max(1, most // 8)) for room in lower),
    ):
        for block, choice in tries[:few]:
            due = block.due.reshape(-1, 2).copy()
            for k, slots in enumerate(choice.move):
                due.ravel()[k + 1 :: 2 * instance.placement.chunks] += slots
            pulled = Block(due.reshape(block.due.shape), block.period)
            found = lay(instance, pulled, choice._replace(move=()), room, share)
            if found is not None:
                yield found


def bred(instance: Instance, parents: Sequence[Laid], seed: Sequence[int], times: int) -> Iterator[Laid]:
    """Yield every order constructed from random mutations. Each parent is one of the best orders so far, better ones
    more often. None without parents: in room for less than one micro-batch of each stream every construction deadlocks.
    """
    rng = np.random.default_rng([abs(word) for word in seed])
    herd = sorted({each.span: each for each in reversed(parents)}.values(), key=lambda each: each.span)[:HERD]
    for _ in range(0 if not herd else times * max(MANY, min(MOST, BRED // ops_of(instance)))):
        parent = herd[int(rng.integers(len(herd), size=2).min())]
        child = lay(instance, *changed(parent, rng), *limits(instance, parent, rng))
        if child is not None:
            yield child
            if all(child.span != each.span for each in herd):
                herd = sorted((*herd, child), key=lambda each: each.span)[:HERD]


def changed(parent: Laid, rng: np.random.Generator) -> tuple[Block, Choice]:
    """Make one to three changes: move a pass through the devices earlier or later, make it faster or slower, or move
    one op of it; change the waits; sometimes change the pace.
    """
    due, choice = parent.block.due.copy(), parent.choice
    p, chunks, _ = due.shape
    for _ in range(1 + int(rng.integers(3))):
        which, chunk, kind = int(rng.integers(6)), int(rng.integers(chunks)), int(rng.integers(2))
        if which == 0:
            due[:, chunk, kind] += rng.normal(0.0, 2.0)
        elif which == 1:
            due[:, chunk, kind] += rng.normal(0.0, 0.5) * np.arange(p)
        elif which == 2:
            due[int(rng.integers(p)), chunk, kind] += rng.normal(0.0, 3.0)
        elif which == 3:
            choice = choice._replace(hold_w=float(rng.uniform(0.0, 1.2)))
        elif which == 4:
            choice = choice._replace(pace=paced(choice.pace, rng))
        else:
            hold = ENDLESS if rng.random() < 0.2 else float(rng.uniform(0.0, 1.5))
            end = (hold, ENDLESS, float(rng.uniform(0.0, 1.5)))[int(rng.integers(3))]
            choice = choice._replace(hold_op=hold, hold_end=end)
    pace = float(np.exp(rng.normal(0.0, 0.15))) if rng.random() < 0.2 else 1.0
    return Block(due, parent.block.period * pace), choice


def paced(pace: float, rng: np.random.Generator) -> float:
    """Return another pace of the micro-batches: none, any, or one near the given pace."""
    way = rng.random()
    if way < 0.1:
        return 0.0
    return float(rng.uniform(0.4, 1.4)) if pace == 0.0 or way < 0.4 else pace * float(np.exp(rng.normal(0.0, 0.05)))


def limits(instance: Instance, parent: Laid, rng: np.random.Generator) -> tuple[float, float]:
    """Return the parent's room and share, sometimes other values within the instance's."""
    room, share, even = parent.room, parent.share, instance.even
    if rng.random() < 0.1:
        room = max(even.least_room, np.floor(even.room * rng.uniform(0.6, 1.0)))
    elif rng.random() < 0.1:
        room = even.room
    if instance.share < 1.0 and rng.random() < 0.1:
        share = instance.share if share == 1.0 else 1.0
    return float(room), share
