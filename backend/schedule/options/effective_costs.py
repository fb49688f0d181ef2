"""Compute effective costs: the given costs with every option of a spec applied.

In this order: layers spread over the stages, the forward that recomputation runs again, the output layer on the last
stage, and the natural times of S, T and O if none were given. The page computes the same sums in the same order
(static/js/core/schedule/effective_costs.ts), so that times are equal bit by bit. Knows no order.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from backend.schedule.options.frozen import untrained
from backend.schedule.options.per_chunk import Modes, of_stages
from backend.schedule.options.recompute import MODES as RECOMPUTE
from backend.schedule.options.vocabulary import MODES as VOCABULARY
from backend.schedule.simulation.costs import Cost, Costs

LAYERS_A_STAGE = 4  # default layers per stage when layers are redistributed


@dataclass(frozen=True)
class Options:
    """The fields of a spec that affect costs besides the costs themselves."""

    p: int
    v: int
    stages: int
    layers: tuple[int, ...] | None
    recompute: Modes
    vocabulary: str
    offload: Modes
    shared_link: bool
    frozen: tuple[int, ...] | None
    recompute_at: str
    spared: int


def timing(costs: Costs, options: Options) -> Costs:
    """Return ``costs`` with every option applied; S, T and O are numbers if ops of that kind exist."""
    f, i, w = (_device(cost, options) for cost in (costs.F, costs.I, costs.W))
    spread = VOCABULARY[options.vocabulary].barriers > 0
    s, t = costs.S, costs.T
    if options.vocabulary != "plain":
        s, t = f / 4 if s is None else s, f / 2 if t is None else t
    copy = costs.O
    if options.offload != "none":
        copy = (f + i + w) / 2 if copy is None else copy
        copy = _times(copy, 2.0) if options.shared_link else copy
    layers = options.layers
    if options.vocabulary == "redistribute":
        layers = fewer_on_the_last(options, (f + i + w) / options.v, options.p * ((s or 0.0) + (t or 0.0)))
    out = replace(costs, S=s, T=t, O=copy)
    if layers is not None:
        F, I, W = (_over(cost, options.v, layers) for cost in (out.F, out.I, out.W))
        O, R = (None if cost is None else _over(cost, options.v, layers) for cost in (out.O, out.R))
        out = replace(out, F=F, I=I, W=W, O=O, R=R)
    out = _with_recomputation(out, options)
    return _without_frozen(out if spread else _with_head(out, options, s or 0.0, t or 0.0), options)


def fewer_on_the_last(options: Options, stage: float, head: float) -> tuple[int, ...]:
    """Return the layers of each stage that make the slowest stage as fast as possible.

    ``stage`` is the time of a stage with its even share of the layers, ``head`` the last stage's output layer. The
    other stages share the layers that the last one gives up.
    """
    stages = options.stages
    total = sum(options.layers) if options.layers is not None else LAYERS_A_STAGE * stages
    if stages == 1:
        return (total,)
    layer = stage * stages / total
    best, least = 0, float("inf")
    for last in range(total // stages + 1):
        slowest = max(layer * -((last - total) // (stages - 1)), layer * last + head)
        if slowest <= least:
            best, least = last, slowest
    each, more = divmod(total - best, stages - 1)
    return (*(each + 1 for _ in range(more)), *(each for _ in range(stages - 1 - more)), best)


def spread_layers(layers: tuple[int, ...], stages: int) -> tuple[int, ...]:
    """Spread the same layers over ``stages`` stages, cutting at the whole layers nearest to even cuts."""
    if len(layers) == stages:
        return layers
    above = np.cumsum([0.0, *layers])
    cuts = np.interp(np.linspace(0.0, len(layers), stages + 1), np.arange(len(layers) + 1), above)
    return tuple(int(each) for each in np.diff(np.rint(cuts)))


def _device(cost: Cost, options: Options) -> float:
    """Return the cost of a device's whole share."""
    if not isinstance(cost, tuple):
        return cost
    total = 0.0
    for each in cost:  # not sum(), which rounds differently from Python 3.12 on; the page adds in this order
        total += each
    return total / options.p


def _over(cost: Cost, v: int, layers: tuple[int, ...]) -> Cost:
    """Return one entry per stage, in proportion to its layers."""
    if isinstance(cost, tuple):
        return cost
    total = sum(layers)
    return tuple(cost / v * (n * len(layers) / total) for n in layers)


def _times(cost: Cost, factor: float) -> Cost:
    return tuple(each * factor for each in cost) if isinstance(cost, tuple) else cost * factor


def _with_recomputation(costs: Costs, options: Options) -> Costs:
    """Add to I what runs again with it, R or a part of F: a number if all chunks recompute the same part of numbers,
    else a list. F and I are both lists or both numbers (checked by families.validate).
    """
    if options.recompute == "none":
        return costs
    F, I, R = costs.F, costs.I, costs.R
    early = options.recompute_at != "backward"
    some = {"spared": options.spared, "within": options.p * options.v if options.recompute_at == "bubble" else 0}
    if isinstance(options.recompute, str) and not isinstance(F, tuple) and not isinstance(R, tuple):
        assert not isinstance(I, tuple)
        more = RECOMPUTE[options.recompute].extra * F if R is None else R
        return replace(costs, I=I + more, again=more, lead=more if early else 0.0, **some)
    forward, gradient = (_each(cost, options) for cost in (F, I))
    modes = of_stages(options.recompute, len(forward))
    if R is None:
        again = tuple(RECOMPUTE[mode].extra * f for mode, f in zip(modes, forward, strict=True))
    else:
        given = _each(R, options)
        again = tuple(0.0 if mode == "none" else r for mode, r in zip(modes, given, strict=True))
    lead = again if early else 0.0
    whole = tuple(i + r for i, r in zip(gradient, again, strict=True))
    return replace(costs, I=whole, again=again, lead=lead, **some)


def _with_head(costs: Costs, options: Options, s: float, t: float) -> Costs:
    """Add the whole output layer to the last stage: p shards' S to its F, half of their T to its I, half to its W."""
    if s == 0.0 and t == 0.0:
        return costs
    F = _last(costs.F, options, options.p * s)
    half = options.p * t / 2
    return replace(costs, F=F, I=_last(costs.I, options, half), W=_last(costs.W, options, half))


def _without_frozen(costs: Costs, options: Options) -> Costs:
    """Leave out the weight gradients of stages that are not trained: their B is the input gradient alone, and before
    the first trained stage there is none. The spread output layer of a frozen last stage has no weight gradient either:
    half of T, or all of it where S has the products of the input gradient.
    """
    if options.frozen is None:
        return costs
    alone, T = untrained(options.frozen), costs.T
    if T is not None and VOCABULARY[options.vocabulary].barriers and options.stages - 1 in options.frozen:
        T = T / 2 if VOCABULARY[options.vocabulary].barriers > 1 else 0.0
    I, W = (
        tuple(0.0 if stage in left_out else cost for stage, cost in enumerate(_each(given, options)))
        for given, left_out in ((costs.I, alone), (costs.W, options.frozen))
    )
    return replace(costs, I=I if alone else costs.I, W=W, T=T)


def _last(cost: Cost, options: Options, more: float) -> Cost:
    """Return one entry per stage, with ``more`` added to the last."""
    each = _each(cost, options)
    return (*each[:-1], each[-1] + more)


def _each(cost: Cost, options: Options) -> tuple[float, ...]:
    """Return one entry per stage."""
    return cost if isinstance(cost, tuple) else (cost / options.v,) * options.stages
