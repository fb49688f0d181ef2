"""Make a good order for few micro-batches longer: repeat a segment of its steady state, at the same memory.

The ramps at both ends cost the same for any number of micro-batches, so they are searched in a short step, where a
search is quick. The caller times the orders to select the good ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from backend.schedule.order.order import Codes, from_rows, micro_numbers
from backend.schedule.search.building_block import Instance
from backend.schedule.simulation.simulate import simulate

PERIODS = (1, 2, 3, 4, 6, 8)  # micro-batches of a stream that a segment may hold
CUTS = 30  # moments tried for each of them
WORTH = 1.5  # how many times as many there must be in the long step


def short(instance: Instance) -> Instance | None:
    """Return the same instance with fewer micro-batches: enough to reach the limit and then a steady state. Return
    None if that saves too little.
    """
    held = int(np.ceil(instance.room / instance.placement.chunks))
    n = max(5 * instance.placement.p, 2 * held + 3 * instance.placement.p)
    return replace(instance, m=n * instance.placement.streams) if instance.n > WORTH * n else None


def longer(instance: Instance, few: Instance, codes: Codes) -> Iterator[Codes]:
    """Yield orders of ``instance`` made from one of ``few``, cut at several moments.

    On each rank the segment contains each op once per micro-batch, so that memory is the same before and after it; it
    begins as near to the moment as that allows.
    """
    timeline = simulate(from_rows(few.placement, few.m, list(codes)), few.costs, few.v)
    start, total = timeline.start.reshape(codes.shape), float(timeline.end.max())
    for period in PERIODS:
        if period >= few.n:
            return
        places = [_segments(row, period * codes.shape[1] // few.n, period) for row in codes]
        if not all(len(each) for each in places):
            continue
        times = -(-(instance.n - few.n) // period)
        for moment in np.linspace(0.3, 0.6, CUTS) * total:
            cut = [int(each[np.abs(row[each] - moment).argmin()]) for each, row in zip(places, start, strict=True)]
            yield _repeated(instance, few, codes, cut, period, times)


def _segments(row: Codes, length: int, period: int) -> npt.NDArray[np.int64]:
    """Return the positions in a rank's row from which the next ``length`` ops contain ``period`` of each kind."""
    kinds = np.unique(row)
    before = np.concatenate((np.zeros((1, len(kinds)), np.int64), np.cumsum(row[:, None] == kinds, axis=0)))
    return np.flatnonzero((before[length:] - before[:-length] == period).all(axis=1))


def _repeated(instance: Instance, few: Instance, codes: Codes, cut: list[int], period: int, times: int) -> Codes:
    """Repeat each rank's segment ``times`` more times, and drop the surplus micro-batches."""
    length = period * codes.shape[1] // few.n
    rows = [
        np.concatenate((row[: at + length], np.tile(row[at : at + length], times), row[at + length :]))
        for row, at in zip(codes, cut, strict=True)
    ]
    whole = from_rows(instance.placement, few.m + instance.placement.streams * times * period, rows)
    return np.stack([row[micro_numbers(whole, rank)[0] < instance.n] for rank, row in enumerate(rows)])
