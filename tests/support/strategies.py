"""Hypothesis strategies: every legal spec of every family, and costs. The one place where tests make specs."""

from __future__ import annotations

import os
from dataclasses import replace

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from backend.schedule.errors import SpecError
from backend.schedule.families.registry import FAMILIES, validate
from backend.schedule.options.offload import modes_of_chunks
from backend.schedule.options.per_chunk import of_stages
from backend.schedule.order.order import Order
from backend.schedule.order.placement import place_on
from backend.schedule.simulation.costs import Costs
from backend.schedule.spec import Spec
from tests.support.runner.random_orders import random_order

# 12 divides by every v up to 4, so that durations per chunk are whole and sums in float64 exact.
UNIT = 12

# RANDOM_EXAMPLES=1000 looks for that many new examples in each test.
NEW_EXAMPLES = int(os.environ.get("RANDOM_EXAMPLES", "0"))


def few(examples: int) -> settings:
    """Return the settings of a test that is worth this many examples on every run."""
    return settings(max_examples=NEW_EXAMPLES or examples)


@st.composite
def whole_costs(draw: st.DrawFn, hops: bool = True) -> Costs:
    """Equal stages, integer durations for every chunk; half of the time F = I, where more laws are exact."""
    f, i, w = (UNIT * draw(st.integers(1, 9)) for _ in range(3))
    comm = draw(st.sampled_from([0, 0, 1, 5, 40])) if hops else 0
    return Costs(float(f), float(f if draw(st.booleans()) else i), float(w), float(comm))


@st.composite
def specs(draw: st.DrawFn, family: str | None = None, hops: bool = True, max_p: int = 8, max_m: int = 24) -> Spec:
    """A legal spec of one family or of any: sizes are drawn freely and illegal ones replaced by the nearest legal."""
    name = draw(st.sampled_from(sorted(FAMILIES))) if family is None else family
    chosen = FAMILIES[name]
    if chosen.problem is not None:  # a search takes long where there are many ops
        max_p, max_m = min(max_p, 5), min(max_m, 14)
    least, _, most = chosen.v
    spec = Spec(
        family=name,
        p=draw(st.integers(1, max_p)),
        m=draw(st.integers(1, max_m)),
        v=draw(st.integers(least, min(most, 4))),
        group=draw(st.none() | st.integers(1, max_m)) if "group" in chosen.fields else None,
        lifo=draw(st.booleans()) if "lifo" in chosen.fields else False,
        costs=draw(whole_costs(hops)),
    )
    return nearest_legal(spec)


@st.composite
def orders_on_any_ranks(draw: st.DrawFn) -> Order:
    """A legal order with any number of stages on each rank."""
    p = draw(st.integers(1, 4))
    ranks = draw(st.permutations([*range(p), *draw(st.lists(st.integers(0, p - 1), max_size=4))]))
    return random_order(place_on(tuple(ranks), p), draw(st.integers(1, 3)), draw(st.integers(0, 999)))


def modes(v: int, words: tuple[str, ...]) -> st.SearchStrategy[str | tuple[str, ...]]:
    """An option of all chunks, or one of each chunk of a device."""
    return st.sampled_from(words) | st.tuples(*[st.sampled_from(words)] * v)


@st.composite
def optioned(draw: st.DrawFn, family: str | None = None, max_p: int = 6, max_m: int = 14) -> Spec:
    """A legal spec with options on top: layers, recomputation, the output layer, offload, stashed weights."""
    spec = draw(specs(family, max_p=max_p, max_m=max_m))
    chosen = FAMILIES[spec.family]
    stages = spec.p if chosen.placement == "bidirectional" else spec.p * spec.v
    if draw(st.booleans()):
        layers = draw(st.lists(st.integers(0, 4), min_size=stages, max_size=stages))
        spec = spec.with_(layers=(*layers[:-1], layers[-1] + 1))
    vocabulary = draw(st.sampled_from(["plain", "redistribute", *chosen.vocabulary, *chosen.vocabulary]))
    heads = draw(st.tuples(st.integers(0, 20), st.integers(0, 20)) | st.none())
    if heads is not None:
        spec = spec.with_(costs=replace(spec.costs, S=float(heads[0]), T=float(heads[1])))
    spec = spec.with_(vocabulary=vocabulary, lifo=spec.lifo and vocabulary in ("plain", "redistribute"))
    spec = spec.with_(recompute=draw(modes(spec.v, ("none", "none", "selective", "full"))))
    if "offload" in chosen.fields and spec.recompute != "full" and not spec.barriers:
        offload = draw(st.just("selective") | modes(spec.v, ("none", "full")))
        again = of_stages(spec.recompute, spec.v)
        copied = modes_of_chunks(offload, spec.v)
        offload = tuple("none" if mode == "full" else copy for mode, copy in zip(again, copied, strict=True))
        spec = spec.with_(offload=offload)
        shared = spec.offload != "none" and spec.p % 2 == 0 and draw(st.booleans())
        copy = draw(st.none() | st.integers(0, 60).map(float))
        spec = spec.with_(shared_link=shared, costs=replace(spec.costs, O=copy))
    if chosen.asynchronous:
        spec = spec.with_(weights=draw(st.none() | st.floats(0, 4)))
    validate(spec)
    return spec


def nearest_legal(spec: Spec) -> Spec:
    """Follow the errors' own advice until the spec is legal; advice that does not end in a legal spec is a defect."""
    for _ in range(6):
        try:
            validate(spec)
        except SpecError as error:
            spec = spec.with_(**{error.field: error.nearest})
        else:
            return spec
    raise AssertionError(f"no legal spec near {spec}")


def equal_orders(one: Order, other: Order) -> bool:
    """Whether two orders are equal in every array and its type, not only in their meaning."""
    arrays = [(one.codes, other.codes), (one.offsets, other.offsets)]
    if one.micro is not None and other.micro is not None:
        arrays.append((one.micro, other.micro))
    if one.copies is not None and other.copies is not None:
        arrays += [(getattr(one.copies, key), getattr(other.copies, key)) for key in ("codes", "offsets", "issued")]
    kinds = [(each.placement, each.m, each.barriers, each.micro is None, each.copies is None) for each in (one, other)]
    return kinds[0] == kinds[1] and all(np.array_equal(a, b) and a.dtype == b.dtype for a, b in arrays)
