"""Where a search begins: many different orders within the limit, laid greedily, at random, or handed in.

Knows blocks and how an order is laid from one (blocks.py); which blocks to try comes in from outside. Costs no more
than some hundred orders laid, each about as long as one that a walk times from its start.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from .. import blocks
from ..blocks import ENDLESS, Block, Choice, Task
from ..memory import peaks
from ..order import Codes, from_rows

SQUEEZED = 12  # of the laid orders, how many are also squeezed
EFFORT = 1_500_000  # ops to lay in all
AT_RANDOM = 24  # orders laid at random for each of the blocks' own


def keeps(task: Task, codes: Codes) -> bool:
    """Whether an order at hand is within the limit."""
    _, memory = peaks(from_rows(task.placement, task.m, list(codes)), task.share)
    return bool(memory.max() <= task.room + 1e-9)


def tries_within(task: Task, tries: Sequence[tuple[Block, Choice]]) -> Sequence[tuple[Block, Choice]]:
    """As many of the tries as the effort allows, at least one."""
    ops = 3 * task.placement.chunks * task.placement.p * task.m
    return tries[: max(1, EFFORT // ops)]


def laid(task: Task, tries: Sequence[tuple[Block, Choice]], seed: int) -> Iterator[tuple[float, Codes]]:
    """Spans and orders, one for each that was laid: by every try, also as if I freed nothing, and then by some with
    random choices, their blocks pulled about."""
    few = tries_within(task, tries)
    for each in (task, replace(task, share=1.0)) if task.share < 1.0 else (task,):
        for block, choice in few:
            found = blocks.lay(each, block, choice)
            if found is not None:
                yield found
    for block, choice in at_random(few, seed):
        found = blocks.lay(task, block, choice)
        if found is not None:
            yield found


def at_random(tries: Sequence[tuple[Block, Choice]], seed: int) -> Iterator[tuple[Block, Choice]]:
    """Some of the tries, each pass through the devices moved by some slots, with waits of any length."""
    rng = np.random.default_rng(seed)
    for _ in range(min(AT_RANDOM, len(tries))):
        block, _ = tries[int(rng.integers(len(tries)))]
        pulled = block.due + rng.normal(0.0, 2.0, block.due.shape[1:])
        hold_w, hold, end = rng.uniform(0.0, 1.2, 3).tolist()
        yield Block(pulled, block.period), Choice(hold_w, hold, end if rng.random() < 0.5 else ENDLESS)


def squeezed(task: Task, found: Iterable[tuple[float, Codes]]) -> Iterator[tuple[float, Codes]]:
    """The best of the orders, squeezed."""
    for _, codes in sorted(found, key=lambda each: each[0])[:SQUEEZED]:
        yield blocks.squeeze(task, codes)
