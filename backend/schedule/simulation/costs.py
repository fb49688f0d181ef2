"""Costs of ops: durations by rank and op code, from costs per device or per stage."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from backend.schedule.order.dependencies import Rules
from backend.schedule.order.op_columns import op_columns
from backend.schedule.order.ops import KINDS, PAIR, B, F, I
from backend.schedule.order.order import Order, code_count, decode
from backend.schedule.order.placement import Placement
from backend.schedule.simulation.recomputation import recomputation

Cost = float | tuple[float, ...]
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


EFFECTIVE = ("again", "lead", "spared", "within")


@dataclass(frozen=True)
class Costs:
    """Times of ops, in any unit of time.

    Forward, input gradient and weight gradient of one micro-batch: a number for a device's whole share of layers (an
    op of a family with v chunks takes 1/v of it), or a tuple with one entry per stage (used unchanged). ``comm`` is
    the latency of one hop between ranks; ``FB`` the time of an overlapped pair, default F + I + W.

    ``R`` is the time that recomputation adds to I where a device's whole share runs again, by default a part of F
    (options/recompute.py). ``S`` and ``T`` are a rank's times for its shard of the output layer and for its gradients
    (vocabulary.py), ``O`` the time of one copy, out or back, of a device's whole share of a micro-batch's activations
    (offload.py). ``wire`` is the time for which a message occupies its streams (order/messages.py), before its hop.
    """

    F: Cost = 1.0
    I: Cost = 1.0
    W: Cost = 1.0
    comm: float = 0.0
    FB: float | None = None
    S: float | None = None
    T: float | None = None
    O: Cost | None = None
    R: Cost | None = None
    wire: float = 0.0
    again: Cost = 0.0
    """Of effective costs: the part of I that runs the forward again."""
    lead: Cost = 0.0
    """Of effective costs: the part of I for which an op needs no gradient, the recomputation that runs ahead of it."""
    spared: int = 0
    """Of effective costs: how many of the chunks that a rank holds at once keep all (options/recompute.py)."""
    within: int = 0
    """Of effective costs: of how many chunks a rank keeps all at most, and recomputes the others; 0: of any number."""

    @property
    def recomputes_some(self) -> bool:
        """Return whether only some micro-batches recompute."""
        return self.spared > 0 or self.within > 0

    @property
    def uniform(self) -> bool:
        """Return whether all stages cost the same."""
        return not any(isinstance(cost, tuple) and len(set(cost)) > 1 for cost in (self.F, self.I, self.W))

    def sized(self, sizes: tuple[float, ...], fixed: float) -> SizedCosts:
        """Return the costs of a step whose micro-batches have these sizes, in the order in which they enter."""
        return SizedCosts(**{each.name: getattr(self, each.name) for each in fields(Costs)}, sizes=sizes, fixed=fixed)

    def to_json(self) -> dict[str, Any]:
        """Return every cost by its name, a list for a tuple."""
        costs = ((each.name, getattr(self, each.name)) for each in fields(Costs) if each.name not in EFFECTIVE)
        return {name: list(cost) if isinstance(cost, tuple) else cost for name, cost in costs}


@dataclass(frozen=True)
class SizedCosts(Costs):
    """Costs of a step whose micro-batches differ: those of Costs are of one of size 1, ``sizes`` has each one's in the
    order in which they enter, and ``fixed`` is the share of an op that does not depend on it (options/sizes.py).
    """

    sizes: tuple[float, ...] = ()
    fixed: float = 0.0

    @property
    def of_size_one(self) -> Costs:
        """Return the costs of a micro-batch of size 1."""
        return Costs(**{each.name: getattr(self, each.name) for each in fields(Costs)})

    @property
    def scale(self) -> list[float]:
        """Return how many times its cost an op of each micro-batch takes."""
        return [self.fixed + (1.0 - self.fixed) * size for size in self.sizes]


def per_stage(cost: Cost, stages: int, v: int) -> Floats:
    """Return (stages,): time of one op in each stage."""
    if isinstance(cost, tuple):
        return np.array(cost, np.float64)
    return np.full(stages, cost / v, np.float64)


def durations(placement: Placement, costs: Costs, v: int) -> Floats:
    """Return (p, codes): time of each op code on each rank; B = I + W, a pair FB or F + B.

    The page computes the same sums in the same order (static/js/core/schedule/simulate.ts), so that times are equal
    bit by bit.
    """
    return _durations(placement, costs, v).copy()


@lru_cache(maxsize=64)  # a search times thousands of orders at the same costs
def _durations(placement: Placement, costs: Costs, v: int) -> Floats:
    chunks, stage = placement.chunks, placement.stage_of
    table = np.empty((placement.p, code_count(chunks)), np.float64)
    f, i, w = (per_stage(cost, placement.stages, v)[stage] for cost in (costs.F, costs.I, costs.W))
    single = {"F": f, "I": i, "W": w, "B": i + w}
    for k, letter in enumerate(KINDS):
        table[:, k * chunks : (k + 1) * chunks] = single[letter]
    pair = single["F"][:, :, None] + single["B"][:, None, :] if costs.FB is None else np.float64(costs.FB / v)
    if table.shape[1] > 4 * chunks:
        table[:, 4 * chunks : -2] = np.broadcast_to(pair, (placement.p, chunks, chunks)).reshape(placement.p, -1)
        table[:, -2:] = costs.S or 0.0, costs.T or 0.0
    return table


def _leads(placement: Placement, costs: Costs, v: int) -> Floats:
    """Return (p, codes, 2): how long before each half's input arrives an op of size 1 may begin."""
    chunks = placement.chunks
    table = np.zeros((placement.p, code_count(chunks), 2))
    lead = per_stage(costs.lead, placement.stages, v)[placement.stage_of]
    for code in range(table.shape[1]):
        kind, chunk, back = decode(code, chunks)
        if kind in (I, B):
            table[:, code, 0] = lead[:, chunk]
        elif kind == PAIR:
            table[:, code, 1] = lead[:, back]
    return table


def lags(rule: Rules, placement: Placement, costs: Costs, v: int) -> Floats:
    """Return (p, codes, 2): how long after each half's input is made an op may begin; below 0 where it needs no
    gradient at first.
    """
    hops: Floats = rule.hops * np.float64(costs.comm)
    return hops if costs.lead == 0.0 else hops - _leads(placement, costs, v)


def leads(order: Order, costs: Costs, v: int) -> Floats:
    """Return (N, 2): how long before each half's input arrives each op may begin."""
    rank, code, kind, _, micro, _, second = op_columns(order)
    found: Floats = _leads(order.placement, costs, v)[rank, code]
    if not isinstance(costs, SizedCosts):
        return found
    found = found * np.array(costs.scale)[np.stack((micro, second), 1)]
    if not costs.recomputes_some:
        return found
    before = recomputation(order, costs.spared, costs.within).before
    again = np.flatnonzero(before >= 0)
    moved = np.zeros_like(found)
    moved[before[again], (kind[before[again]] == PAIR).astype(int)] = found[again].max(axis=1)
    return moved


def own_lags(order: Order, rule: Rules, costs: Costs, v: int) -> Floats:
    """Return (N, 2): what ``lags`` are for each op of an order."""
    rank, code, *_ = op_columns(order)
    hops: Floats = (rule.hops * np.float64(costs.comm))[rank, code]
    return hops if costs.lead == 0.0 else hops - leads(order, costs, v)


def own_times(order: Order, costs: SizedCosts, v: int) -> Floats:
    """Return (N,): time of each op where micro-batches differ. A pair takes what its halves take together, each with
    the size of its own micro-batch, in the proportion of its own time to theirs.
    """
    table, chunks = durations(order.placement, costs.of_size_one, v), order.chunks
    rank, code, kind, chunk, micro, back, second = op_columns(order)
    scale = np.array(costs.scale)
    out: Floats = table[rank, code] * scale[micro]
    paired = np.flatnonzero(kind == PAIR)
    if paired.size:
        at = rank[paired]
        forward, backward = table[at, F * chunks + chunk[paired]], table[at, B * chunks + back[paired]]
        both = forward * scale[micro[paired]] + backward * scale[second[paired]]
        with np.errstate(invalid="ignore", divide="ignore"):
            share = np.where(forward + backward > 0.0, both / (forward + backward), 1.0)
        out[paired] = table[at, code[paired]] * share
    return _moved(order, costs, v, out) if costs.recomputes_some else out


def _moved(order: Order, costs: SizedCosts, v: int, times: Floats) -> Floats:
    """Return (N,) the times of ops, each of a backward with its recomputation, where only some recompute, and some in
    front of another op.
    """
    rank, _, kind, chunk, micro, back, second = op_columns(order)
    backward, pair, here = np.isin(kind, (I, B, PAIR)), kind == PAIR, np.arange(len(order))
    per_chunk = per_stage(costs.again, order.placement.stages, v)[order.placement.stage_of]
    again = per_chunk[rank, np.where(pair, back, chunk)] * np.array(costs.scale)[np.where(pair, second, micro)]
    before = recomputation(order, costs.spared, costs.within).before
    out = times - np.where(backward & (before != here), again, 0.0)
    away = np.flatnonzero((before >= 0) & (before != here))
    out[before[away]] += again[away]
    return out


def copy_times(order: Order, costs: Costs, v: int) -> Floats:
    """Return (C,): time of each copy of an order that has copies."""
    assert order.copies is not None
    chunks = order.chunks
    rank = np.repeat(np.arange(order.p), np.diff(order.copies.offsets))
    stage = order.placement.stage_of[rank, order.copies.codes % chunks]
    times = per_stage(0.0 if costs.O is None else costs.O, order.placement.stages, v)[stage]
    if not isinstance(costs, SizedCosts):
        return times
    micro = [copy[2] for each in range(order.p) for copy in order.copies.row(each, chunks)]
    sized: Floats = times * np.array(costs.sizes)[np.array(micro, np.int64)]
    return sized


def wire_times(order: Order, costs: Costs) -> Floats:
    """Return (J,): for how long each end of a message occupies its stream."""
    if order.messages is None:
        return np.empty(0)
    if not isinstance(costs, SizedCosts):
        return np.full(len(order.messages), costs.wire)
    stream = np.array([order.placement.stream(*divmod(slot, order.chunks)) for slot in range(order.p * order.chunks)])
    number = order.messages.micro + order.n * stream[order.messages.row // 2]
    sized: Floats = costs.wire * np.array(costs.sizes)[number]
    return sized
