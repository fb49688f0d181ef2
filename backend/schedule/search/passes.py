"""Blocks for any placement: F passes through all stages, then I comes back; of two streams both do.

A block is one micro-batch on its own at the real costs, both passes also at a slower pace: F that waits in every stage
leaves time for those of other micro-batches, and an I that waits lets more F in before it. The next micro-batch
follows after a device's work for one, or later, such that the activations of all that are under way fit into the
limit (the law of memory of Controllable Memory, arXiv 2405.15362, section 3.1: the mean number of chunks in memory is
a micro-batch's lifespan over the period).
"""

from __future__ import annotations

from itertools import product

import numpy as np

from backend.schedule.order.ops import F, I, W
from backend.schedule.order.order import Codes
from backend.schedule.search.building_block import ENDLESS, PACES, Block, Choice, Instance, Try, mixed

TURN = np.inf
OFFSETS = (0.0, 0.5, TURN)  # periods between the two streams; TURN: the second F follows the first I up the ranks
SPEEDS = ((1.0, 1.0), (1.0, 2.0), (2.0, 1.0), (2.0, 2.0), (1.0, 3.0), (3.0, 3.0))  # of F and of I, in ops a stage
STRETCHES = (0.0, 1.0, 1.2, 1.5)  # least periods, in periods in which activations fill the limit
HOLDS = ((0.3, 0.9), (0.3, 0.0, 0.9, ENDLESS))  # before a W, before an op that is less due


def tries(instance: Instance) -> list[Try]:
    """List the tries: all blocks with the first holds, then with the next; large orders get fewer of them."""
    offsets = OFFSETS if instance.placement.streams == 2 else OFFSETS[:1]
    shapes = product(STRETCHES, SPEEDS, offsets)
    blocks = [block(instance, f, i, stretch, offset) for stretch, (f, i), offset in shapes]
    eager = [(each, Choice(hold_w, hold, hold)) for hold_w, hold in product(*HOLDS) for each in blocks]
    return mixed(eager, [(each, Choice(0.9, 0.3, 0.3, pace=pace)) for pace in PACES for each in blocks])


def one_by_one(instance: Instance) -> Codes:
    """Return the codes (p, steps) of the order that fits into every legal limit: a micro-batch starts when the one
    before it has left. Those of two streams take turns, one going down the ranks where the other one came up.
    """
    chunks = instance.placement.chunks
    if instance.placement.streams == 2:
        ops = [(kind, chunk) for chunk in range(chunks) for kind in (F, I, W)]
    else:
        ops = [(F, chunk) for chunk in range(chunks)]
        ops += [(kind, chunk) for chunk in reversed(range(chunks)) for kind in (I, W)]
    row = np.tile(np.array([kind * chunks + chunk for kind, chunk in ops], np.uint8), instance.n)
    return np.tile(row, (instance.placement.p, 1))


def block(instance: Instance, f: float, i: float, stretch: float, offset: float = 0.0) -> Block:
    """Build the block whose F and I take ``f`` and ``i`` times their time from one stage to the next.

    The period is at least ``stretch`` times the lifespan over the limit, the period at which the activations under way
    fill the limit on average. A second stream follows ``offset`` periods later. Slots are the mean time of F and I.
    """
    place = instance.placement
    cost = instance.cost[place.slot_at[0]]
    stage, slot = place.stage_of, float(cost[:, :2].mean()) or 1.0
    hop = np.where(np.diff(place.slot_at[0] // place.chunks) != 0, instance.costs.comm, 0.0)
    down = np.concatenate(([0.0], np.cumsum(f * (cost[:-1, 0] + hop))))
    turn = down[-1] + cost[-1, 0]
    up = turn + np.concatenate(([0.0], np.cumsum(i * (cost[:0:-1, 1] + hop[::-1]))))[::-1]
    lifespan = (up + cost[:, 1] + instance.share * cost[:, 2] - down)[stage].sum(axis=1)
    work = cost.sum(axis=1)[stage].sum(axis=1)
    period = max(float(work.max()), stretch * float(lifespan.max()) / instance.room)
    after = turn if offset == TURN else offset * period
    due = np.stack((down[stage], up[stage]), axis=2) + after * place.stream_of[:, :, None]
    return Block(due / slot, period / slot)
