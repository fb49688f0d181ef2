"""Break the time of every rank down: ops by kind, waiting by cause, fill and drain.

The parts of a rank sum to the makespan. *hop*: the op's input is in transit; *line*: it is made, and its message stands
behind others on a stream; *copy*: its activations are being reloaded from host memory; *wait*: another rank has not
made the input yet; *fill*, *drain*: before a rank's first op and after its last one. Only for planned times: a
measured run does not record when an input was made.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from backend.schedule.order.dependencies import arrivals, rules_of
from backend.schedule.order.ops import PAIR, B, F, I, S, T, W
from backend.schedule.order.order import Order, code_table, micro_numbers
from backend.schedule.simulation.costs import Costs, own_lags
from backend.schedule.simulation.lanes import through_messages
from backend.schedule.simulation.simulate import Timeline, advance

Floats = npt.NDArray[np.float64]
USEFUL = {"F": F, "I": I, "B": B, "W": W, "F and B": PAIR, "S": S, "T": T}
WASTED = ("hop", "line", "copy", "wait", "fill", "drain")


@dataclass(frozen=True, eq=False)
class IdleBreakdown:
    """(p,) time of each rank by ``parts``; the keys are those of USEFUL and WASTED, in this order."""

    parts: dict[str, Floats]
    makespan: float


def idle_breakdown(order: Order, costs: Costs, v: int) -> IdleBreakdown:
    """Compute the parts of every rank of a legal order at these costs."""
    timeline, _, done = advance(order, costs, v)
    parts = {name: np.zeros(order.p) for name in (*USEFUL, *WASTED)}
    lag = own_lags(order, rules_of(order), costs, v)
    first, last = float(timeline.start.min()), float(timeline.end.max())
    for rank in range(order.p):
        start, end = timeline.rank(rank)
        kind = code_table(order.chunks)[order.codes[order.offsets[rank] : order.offsets[rank + 1]]][:, 0]
        for name, code in USEFUL.items():
            parts[name][rank] = (end - start)[kind == code].sum()
        parts["fill"][rank], parts["drain"][rank] = start[0] - first, last - end[-1]
        gap = start[1:] - end[:-1]
        flight, stood, copied = _awaited(timeline, rank, done, lag[order.offsets[rank] : order.offsets[rank + 1]])
        hop, copy = np.minimum(flight[1:], gap), np.where(copied[1:], gap, 0.0)
        line = np.minimum(stood[1:], gap - hop)
        parts["hop"][rank], parts["line"][rank], parts["copy"][rank] = hop.sum(), line.sum(), copy.sum()
        parts["wait"][rank] = max(0.0, float((gap - hop - line - copy).sum()))
    return IdleBreakdown(parts, last - first)


def _awaited(timeline: Timeline, rank: int, done: Floats, lag: Floats) -> tuple[Floats, Floats, npt.NDArray[np.bool_]]:
    """Return, for each op of a rank, how long the input that came last was in transit and stood in line before, and
    whether it was a reload.
    """
    order, rule = timeline.order, rules_of(timeline.order)
    codes = order.codes[order.offsets[rank] : order.offsets[rank + 1]]
    own, other = micro_numbers(order, rank)
    need, flight = through_messages(order, rule)[0][rank][codes], lag
    # As in the simulator: the second half has a micro-batch of its own only if it makes a result.
    micro = np.maximum(np.stack((own, np.where(rule.give[rank][codes][:, 1] < 0, own, other)), 1), 0)
    there = np.where(need >= 0, done[np.maximum(need, 0), micro] + flight, -np.inf)
    latest = there.argmax(axis=1)
    at = np.arange(len(codes))
    row, k = need[at, latest], micro[at, latest]
    copy = (row >= rule.reloads) & (row < rule.shards) & (order.copies is not None)
    transit, line = np.where(copy | (row < 0), 0.0, np.maximum(flight[at, latest], 0.0)), np.zeros(len(codes))
    sent = row >= arrivals(rule)
    if sent.any():
        begun = np.zeros_like(done)
        begun[arrivals(rule) + order.messages.row, order.messages.micro] = timeline.sent  # type: ignore[union-attr]
        passed, made = done[row[sent], k[sent]], done[row[sent] - arrivals(rule), k[sent]]
        transit[sent] += passed - begun[row[sent], k[sent]]
        line[sent] = begun[row[sent], k[sent]] - made
    return transit, line, copy
