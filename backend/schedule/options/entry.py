"""Search the order in which micro-batches that differ enter the pipeline.

The order of the ops stays; what changes is which micro-batch of the data is which of theirs. From the fastest of four
sorted orders, two places at a time exchange their micro-batches, or one moves to another place; what does not make the
step longer is kept. The number of tries follows from the number of ops alone, so that equal specs have equal answers.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace

from backend.schedule import jit
from backend.schedule.options.sizes import entry_order
from backend.schedule.order.order import Order
from backend.schedule.simulation.costs import SizedCosts
from backend.schedule.simulation.simulate import simulate

MOST_TRIES, MOST_TIMED = 1000, 10**6  # orders, and ops of all of them: half a second


def searched_entry(order: Order, costs: SizedCosts, v: int) -> tuple[int, ...]:
    """Return the best entry that is found for costs whose sizes are in the order of the data; at least as fast as given
    or as a mountain.
    """
    sizes = costs.sizes

    def step(entry: Sequence[int]) -> float:
        sized = replace(costs, sizes=tuple(sizes[micro] for micro in entry))
        return float(simulate(order, sized, v).end.max())

    rising = sorted(range(len(sizes)), key=lambda micro: sizes[micro])
    starts = (*(entry_order(sizes, word) for word in ("mountain", "given")), tuple(rising), tuple(reversed(rising)))
    best = min(starts, key=step)
    tries = min(MOST_TRIES, MOST_TIMED // len(order)) if len(set(sizes)) > 1 else 0
    jit.compile_for(tries * len(order))
    return _improved(best, step, tries)


def _improved(entry: Sequence[int], step: Callable[[Sequence[int]], float], tries: int) -> tuple[int, ...]:
    """Return an entry after ``tries`` random changes, of which those are kept that do not make the step longer."""
    draw, now = random.Random(1), step(entry)
    for _ in range(tries):
        changed = list(entry)
        one, other = draw.randrange(len(changed)), draw.randrange(len(changed))
        if draw.random() < 0.5:
            changed[one], changed[other] = changed[other], changed[one]
        else:
            changed.insert(other, changed.pop(one))
        time = step(changed)
        if time <= now:
            entry, now = changed, time
    return tuple(entry)
