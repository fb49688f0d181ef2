"""Greedy construction under a memory limit: construct all combinations of a few choices, and squeeze the best.

On each device the op that is most due runs as soon as its inputs and the memory allow; W fills the gaps. The choices:
how long to wait for the next op rather than run a W, or an op that is less due; which block defines what is due; and
on the V whether one of its four passes goes before or after all others. The result is deterministic. The orders of
other families compete with the constructed ones.

After Zero Bubble (arXiv 2401.10241, section 3) and Controllable Memory (arXiv 2405.15362, appendix).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product

import numpy as np

from backend.schedule.order.order import Codes
from backend.schedule.search import building_block
from backend.schedule.search.building_block import ENDLESS, PACES, Block, Choice, Instance, Try, mixed
from backend.schedule.search.initial_orders import keeps

FIRST, LAST = -1e7, 1e7  # slots that move an op before, or after, everything else
MOVES_OF_V = (
    (0.0, 0.0, 0.0),
    (LAST, 0.0, 0.0),  # I of chunk 0 last
    (0.0, FIRST, FIRST),  # chunk 1 first
    (FIRST, 0.0, FIRST),  # backward first
)


def looped(p: int) -> list[Try]:
    """List the tries for one chunk per device: the block of 1F1B, and one whose I passes up the ranks at half the
    pace.
    """
    r = np.arange(p, dtype=np.float64)
    pair = [
        Block(np.stack((r, i), axis=1).reshape(p, 1, 2), period)
        for i, period in ((2 * p - 1 - r, 3.0), (p + 2 * (p - 1 - r), 2.0))
    ]
    holds = product((0.3, 0.9, 0.0, 0.6, 1.2), (0.3, 0.0, 0.6, 0.9, 1.2), pair)
    return [(block, Choice(hold_w, hold, end)) for hold_w, hold, block in holds for end in (hold, 0.0)]


def folded(p: int, paper: Sequence[Block]) -> list[Try]:
    """List the tries for the V: the given blocks (the paper's), and some at the pace of ZB-V, whose passes take 6
    slots for each pair of hops.
    """
    full = [
        hops(p, *shape) for shape in (((1, 1, 5, 3), (1, 2, 4)), ((1, 4, 2, 3), (3, 2, 4)), ((0, 2, 4, 2), (4, 3, 1)))
    ]
    free = product(MOVES_OF_V, (0.3, 0.6, 0.0), (0.6, 0.3, 0.9, 1.1), (*full, *paper))
    kept = product((0.3, 0.6, 0.0), (0.6, ENDLESS), (*full, *paper))
    paced = product((0.3, 0.9, 0.6), (MOVES_OF_V[0], MOVES_OF_V[2]), paper, PACES)
    eager = [(block, Choice(hold_w, hold, hold, move)) for move, hold_w, hold, block in free]
    eager += [(block, Choice(hold_w, ENDLESS, end)) for hold_w, end, block in kept]
    return mixed(eager, [(block, Choice(0.6, hold, hold, move, pace)) for hold, move, block, pace in paced])


def hops(p: int, slots: tuple[int, int, int, int], turns: tuple[int, int, int]) -> Block:
    """Build a block of four passes (F0 down the ranks, F1 up, I1 down, I0 up).

    Each pass has its own number of ``slots`` from one device to the next; ``turns`` are the slots between the passes.
    """
    r = np.arange(p, dtype=np.float64)
    f0 = slots[0] * r
    f1 = f0[-1] + turns[0] + slots[1] * (p - 1 - r)
    i1 = f1[0] + turns[1] + slots[2] * r
    i0 = i1[-1] + turns[2] + slots[3] * (p - 1 - r)
    return Block.v(f0, f1, i1, i0)


def rows(instance: Instance, tries: Sequence[Try], fixed: Iterable[Codes] = ()) -> list[Codes]:
    """Return each device's codes in the best order found; ``fixed`` orders (p, steps) take part if they keep the
    limit.
    """
    return building_block.rows(instance, tries, [codes for codes in fixed if keeps(instance, codes)])
