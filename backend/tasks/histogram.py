"""The bins in which a task's board counts its entries: the same for every entry, known before the first."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from backend.schedule.partial_order.position import Position
from backend.schedule.partial_order.score import METRICS, Score
from backend.schedule.simulation.costs import per_stage

MOST_BINS = 64  # the last one has everything above it, too
NICE = (1.0, 2.0, 2.5, 5.0)
ROUND = 1e-9


def widths(position: Position) -> dict[str, float]:
    """Return the width of a bin of each metric. All bins begin at 0."""
    place, m, v, costs = position.placement, position.m, position.v, position.costs
    work = sum(float(per_stage(cost, place.stages, v).sum()) for cost in (costs.F, costs.I, costs.W))
    longest = m * (work + 2 * place.stages * costs.comm)  # one micro-batch after the other
    part = v * (2 if 0.0 < position.w_share < 1.0 else 1)
    return {
        "makespan": _nice(longest / MOST_BINS),
        "bubble": 1 / 50,
        "peak": max(1 / part, _nice(m * place.chunks / v / MOST_BINS)),
        "messages": max(1.0, _nice(2 * m * place.chunks * place.p / MOST_BINS)),
        "simplicity": max(1.0, _nice(3 * m * place.chunks * place.p / MOST_BINS)),
    }


def bins_of(position: Position, score: Score) -> dict[str, int]:
    """Return the bin of each metric of a score."""
    width = widths(position)
    return {
        metric: max(0, min(MOST_BINS - 1, math.floor(getattr(score, metric) / width[metric] + ROUND)))
        for metric in METRICS
    }


def as_dict(position: Position, counts: Mapping[str, Mapping[int, int]]) -> dict[str, Any]:
    """Return the histogram of each metric as JSON, up to its last bin that has an entry."""
    out = {}
    for metric, width in widths(position).items():
        found = counts.get(metric, {})
        last = max((number for number, entries in found.items() if entries > 0), default=-1)
        out[metric] = {"from": 0, "width": width, "counts": [found.get(number, 0) for number in range(last + 1)]}
    return out


def _nice(least: float) -> float:
    """Return the least of 1, 2, 2.5 and 5 times a power of ten that is not below; 1 for 0."""
    if least <= 0.0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(least))
    return next((each * power for each in NICE if each * power >= least * (1 - ROUND)), 10 * power)
