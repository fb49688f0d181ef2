"""Searched orders: legal, within the limit, no worse than their starts, reproducible, and never below a bound."""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.schedule import jit
from backend.schedule.errors import SpecError
from backend.schedule.families.v_shape.v_half import BLOCK as HALF_BLOCK
from backend.schedule.families.v_shape.v_min import BLOCK as MIN_BLOCK
from backend.schedule.jit import Inline, Inner
from backend.schedule.order.placement import place
from backend.schedule.search import extend, greedy
from backend.schedule.search.anneal import Heat, Walk
from backend.schedule.search.bounds import lower_bound
from backend.schedule.search.building_block import Instance, lay
from backend.schedule.search.improve import Budget, Tries, random_state, search
from backend.schedule.search.initial_orders import keeps, span_of
from backend.schedule.search.passes import one_by_one
from backend.schedule.simulation.check import check
from backend.schedule.simulation.costs import Costs
from backend.schedule.simulation.memory import peak_memory
from backend.schedule.simulation.metrics import figures
from backend.schedule.simulation.simulate import simulate
from tests.schedule.search.test_building_block import any_costs
from tests.support.strategies import few

PAPER_6B = Costs(29.718, 29.444, 19.927, 0.527)  # Zero Bubble (arXiv 2401.10241), table 9: p = 8, m = 24
PAPER_2B = Costs(18.522, 18.086, 9.337, 0.601)


def instance_of(kind: str, p: int, m: int, room: float, costs: Costs, share: float = 1.0) -> Instance:
    v = 2 if kind == "v" else 1
    return Instance(place("v" if kind == "v" else "looped", p, v), m, costs, v, room, share)


def tries_of(instance: Instance) -> Tries:
    p = instance.placement.p
    return greedy.looped(p) if instance.v == 1 else greedy.folded(p, (HALF_BLOCK.build(p), MIN_BLOCK.build(p)))


@st.composite
def instances(draw: st.DrawFn, max_p: int = 6, max_m: int = 12) -> Instance:
    kind, p, m = draw(st.sampled_from(["linear", "v"])), draw(st.integers(1, max_p)), draw(st.integers(1, max_m))
    v = 2 if kind == "v" else 1
    room = v * draw(st.sampled_from([1.0, 1.5, p / 2 + 1, float(p), 1.5 * p, 2.0 * p + 1]))
    share = draw(st.sampled_from([1.0, 1.0, 0.4324, 0.0]))
    return uneven(draw, instance_of(kind, p, m, room, draw(any_costs(v * p)), share))


def with_lead(costs: Costs, part: float) -> Costs:
    """The costs of backwards a part of which needs no gradient."""
    return replace(costs, lead=tuple(part * i for i in costs.I) if isinstance(costs.I, tuple) else part * costs.I)


def uneven(draw: st.DrawFn, instance: Instance) -> Instance:
    """The instance, or one whose backwards begin before their gradient, or one with as much room for micro-batches that
    differ as it has for equal ones.
    """
    instance = replace(instance, costs=with_lead(instance.costs, draw(st.sampled_from([0.0, 0.0, 0.5, 1.0]))))
    sizes = draw(st.none() | st.tuples(*[st.sampled_from([0.25, 0.8, 1.0, 1.7])] * instance.m))
    if sizes is None:
        return instance
    costs = instance.costs.sized(sizes, draw(st.sampled_from([0.0, 0.3])))
    return replace(instance, costs=costs, room=instance.room * max(sizes))


def checked_span(instance: Instance, codes: np.ndarray) -> float:
    """The span of an order that is legal and keeps the limit."""
    from backend.schedule.order.order import from_rows

    order = from_rows(instance.placement, instance.m, list(codes))
    check(order)
    timeline = simulate(order, instance.costs, instance.v)
    assert peak_memory(timeline, instance.share, 1, 1.0).max() <= instance.room + 1e-9
    return figures(timeline).longest_stage


@given(instance=instances(), seed=st.integers(0, 99))
@few(12)
def test_every_searched_order_is_legal_within_the_limit_and_never_below_the_bound(
    instance: Instance, seed: int
) -> None:
    found = search(instance, tries_of(instance), seed=seed, budget=Budget(None, 500))
    span = checked_span(instance, found.codes)
    assert found.span == pytest.approx(span, rel=1e-12)
    assert span >= found.lower_bound * (1 - 1e-9)
    assert found.lower_bound == lower_bound(instance).value


@pytest.mark.parametrize(("kind", "room"), [("linear", 6.0), ("v", 8.0)])
def test_the_same_seed_and_evaluations_give_the_same_order_and_more_only_improve(kind: str, room: float) -> None:
    instance = instance_of(kind, 8, 24, room, PAPER_6B)
    few, again, more = (search(instance, tries_of(instance), budget=Budget(None, n)) for n in (1_000, 1_000, 3_000))
    assert np.array_equal(few.codes, again.codes)
    assert few.evaluations == again.evaluations >= 1_000
    assert more.span <= few.span
    other = search(instance, tries_of(instance), seed=2, budget=Budget(None, 1_000))
    assert not np.array_equal(other.codes, few.codes)


def test_a_stopped_search_returns_the_best_so_far_and_its_evaluations_reproduce_it() -> None:
    instance, reports, asked = instance_of("v", 8, 24, 8.0, PAPER_2B), [], []

    def stop() -> bool:
        asked.append(1)
        return len(asked) >= 1500

    found = search(instance, tries_of(instance), budget=Budget(None), report=reports.append, stop=stop)
    assert len(asked) == 1500
    assert found.span == reports[-1].span
    better = [each for each in reports if each.codes is not None]
    assert [each.span for each in better] == sorted({each.span for each in reports}, reverse=True)
    assert all(checked_span(instance, each.codes) == pytest.approx(each.span) for each in better)
    assert [each.evaluations for each in reports] == sorted(each.evaluations for each in reports)
    assert {each.bound for each in reports} == {lower_bound(instance)}
    again = search(instance, tries_of(instance), budget=Budget(None, found.evaluations))
    assert np.array_equal(again.codes, found.codes)


@pytest.mark.parametrize("kind", ["linear", "v"])
def test_a_search_is_no_worse_than_any_of_its_starts(kind: str) -> None:
    instance = instance_of(kind, 6, 14, 7.0, Costs(10.0, 12.0, 8.0, 1.0))
    starts = [each for each in (lay(instance, *one) for one in tries_of(instance)) if each is not None]
    given_one = starts[len(starts) // 2][1]
    found = search(instance, tries_of(instance), [given_one], budget=Budget(None, 3000))
    assert found.span <= min(span for span, _ in starts)
    alone = search(instance, tries_of(instance)[:1], [given_one], budget=Budget(None, 1))
    assert alone.span == pytest.approx(checked_span(instance, given_one))


def test_a_handcrafted_order_over_the_limit_is_not_a_start() -> None:
    instance = instance_of("linear", 4, 8, 2.0, Costs())
    wide = lay(instance_of("linear", 4, 8, 8.0, Costs()), *tries_of(instance)[0])
    assert wide is not None
    found = search(instance, tries_of(instance), [wide[1]], budget=Budget(None, 1))
    assert not np.array_equal(found.codes, wide[1])


@pytest.mark.parametrize(("kind", "room", "least"), [("linear", 0.9, 1.0), ("v", 1.5, 1.0)])
def test_a_limit_that_no_order_keeps_is_refused_with_the_least_that_works(kind: str, room: float, least: float) -> None:
    instance = instance_of(kind, 4, 8, room, Costs())
    with pytest.raises(SpecError) as caught:
        search(instance, tries_of(instance))
    assert (caught.value.field, caught.value.nearest) == ("memory", least)
    instance = instance_of(kind, 4, 8, least * instance.v, Costs())
    checked_span(instance, search(instance, tries_of(instance), budget=Budget(None, 1)).codes)


@given(instance=instances(), seed=st.integers(0, 99))
def test_an_annealing_walk_computes_the_same_times_as_the_simulator(instance: Instance, seed: int) -> None:
    laid = (each[1] for each in (lay(instance, *one) for one in tries_of(instance)) if each is not None)
    begin = next((codes for codes in laid if keeps(instance, codes)), one_by_one(instance))
    walk = Walk.of(instance, begin, random_state(seed), Heat(0.5, 0.3, 300))
    for _ in range(3):
        walk.go(100)
        assert walk.span == pytest.approx(checked_span(instance, walk.codes), rel=1e-12)
        standing = walk.state[4][:, -1] - walk.game[4]
        assert standing.max() >= walk.span - 1e-9


def test_an_annealing_walk_is_the_same_interpreted_and_compiled() -> None:
    from backend.schedule.search import moves

    instance = instance_of("v", 3, 4, 4.0, Costs(10.0, 12.0, 8.0, 1.0))
    laid = next(filter(None, (lay(instance, *each) for each in tries_of(instance))))
    walks = [Walk.of(instance, laid[1], random_state(3), Heat(0.3, 0.1, 60)) for _ in range(2)]
    walks[0].go(60)
    kernels = [each for each in vars(moves).values() if isinstance(each, jit.Kernel)]
    kept: list[tuple[Any, Any]] = [(each, each.compiled) for each in kernels]
    try:
        for each in kernels:
            each.compiled = None
        walks[1].go(60)
    finally:
        for each, compiled in kept:
            each.compiled = compiled
    assert np.array_equal(walks[0].codes, walks[1].codes)
    assert walks[0].span == walks[1].span


@pytest.mark.parametrize(("kind", "p", "room"), [("linear", 4, 4.0), ("linear", 4, 3.0), ("v", 4, 6.0)])
def test_a_short_order_made_longer_keeps_its_memory_and_its_idle_time(kind: str, p: int, room: float) -> None:
    instance = instance_of(kind, p, 90, room, PAPER_6B)
    few = extend.short(instance)
    assert few is not None
    found = search(few, tries_of(few), budget=Budget(None, 4000))
    spans = [
        checked_span(instance, codes)
        for codes in extend.longer(instance, few, found.codes)
        if span_of(instance, codes) < 1e12
    ]
    pace = max(instance.cost.reshape(p, -1).sum(axis=1).max(), found.span / few.m)
    assert min(spans) <= found.span + pace * (instance.m - few.m) * 1.001


@pytest.mark.parametrize(("costs", "rate"), [(PAPER_6B, 0.1431), (PAPER_2B, 0.1671)])
def test_half_of_1f1bs_memory_on_a_v_is_searched_to_the_optimum(costs: Costs, rate: float) -> None:
    """The published V-Half has 0.1518 and 0.1729 here."""
    instance = instance_of("v", 8, 24, 10.0, costs)
    found = search(instance, tries_of(instance), budget=Budget(None, 150_000))
    assert found.optimal
    assert found.bound_name == "fill and drain"
    assert round(1 - instance.m * instance.cost[:2].sum() / found.span, 4) <= rate


def test_a_kernel_is_called_by_others_only_in_its_own_file() -> None:
    """numba's cache on disk would not see it change in another one."""
    from backend.schedule import search as package

    for found in pkgutil.iter_modules(package.__path__):
        module = importlib.import_module(f"{package.__name__}.{found.name}")
        inner = {name: each for name, each in vars(module).items() if isinstance(each, Inner)}
        inner |= {name: each for name, each in vars(module).items() if isinstance(each, Inline)}
        assert {name for name, each in inner.items() if each.interpreted.__module__ != module.__name__} == set()
