"""A constructed order is never longer than that of a fixed family which keeps the same memory limit."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from functools import lru_cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.schedule.errors import SpecError
from backend.schedule.families import registry
from backend.schedule.families.family import Family
from backend.schedule.families.fixed_orders import fixed_orders as split_orders
from backend.schedule.order.order import Order, from_rows
from backend.schedule.search import greedy
from backend.schedule.search.bounds import arrival_and_work, lower_bound
from backend.schedule.simulation.check import check
from backend.schedule.simulation.costs import Costs
from backend.schedule.simulation.memory import peaks
from backend.schedule.simulation.metrics import figures
from backend.schedule.simulation.simulate import simulate
from backend.schedule.spec import Spec
from tests.schedule.search.test_building_block import any_costs

SEARCHED = {1: "zb-auto", 2: "v-auto"}  # by the number of chunks per device; test_two_streams.py has chimera-auto


def span(order: Order, spec: Spec) -> float:
    return figures(simulate(order, spec.costs, spec.v)).longest_stage


def peak(order: Order, spec: Spec) -> float:
    return float(peaks(order, spec.w_share, spec.v)[1].max())


def fixed_families(v: int) -> list[Family]:
    """The families on the placement of the searched one with v chunks whose order is not searched."""
    kind = registry.FAMILIES[SEARCHED[v]].placement
    fixed = [each for each in registry.FAMILIES.values() if each.problem is None and each.placement == kind]
    return [each for each in fixed if each.v[0] <= v <= each.v[2]]


@lru_cache(maxsize=1)  # an example takes its limit from them, and is then compared with them
def fixed_orders(spec: Spec) -> list[tuple[Order, float]]:
    """Every order of these families at the spec's sizes and costs, whatever its memory limit, with its peak."""
    return [(order, peak(order, spec)) for order in built(spec)]


def built(spec: Spec) -> Iterator[Order]:
    for family in fixed_families(spec.v):
        own = [{}, *({name: value} for name, value in (("group", spec.m), ("lifo", True)) if name in family.fields)]
        for fields in own:
            fixed = spec.with_(family=family.name, memory=None, **fields)
            with contextlib.suppress(SpecError):
                family.validate(fixed)
                yield family.order(fixed)


@st.composite
def specs(draw: st.DrawFn, max_p: int = 12, max_m: int = 24) -> Spec:
    """A spec of a searched family; most of the time its limit is just the memory of some fixed order."""
    v, p, m = draw(st.sampled_from([1, 2])), draw(st.integers(1, max_p)), draw(st.integers(1, max_m))
    share = draw(st.sampled_from([1.0, 1.0, 0.4324, 0.0]))
    spec = Spec(SEARCHED[v], p, m, v, w_share=share, costs=draw(any_costs(v * p)))
    needed = sorted({needs for _, needs in fixed_orders(spec)})
    return spec.with_(memory=max(1.0, draw(st.sampled_from(needed) | st.floats(1.0, 2.0 * p + 1))))


def assert_no_fixed_order_is_shorter(spec: Spec) -> int:
    """Compare the constructed order, and the first one of a search, with the fixed ones; return how many there are."""
    assert spec.memory is not None
    every = fixed_orders(spec.with_(memory=None))
    within = [order for order, needs in every if needs <= spec.memory + 1e-9]
    for searched in (spec, spec.with_(effort=1)):
        found = registry.order(searched)
        assert peak(found, spec) <= spec.memory + 1e-9
        for order in within:
            assert span(found, spec) <= span(order, spec) * (1 + 1e-9), order.text()
    return len(within)


@pytest.mark.parametrize("v", SEARCHED)
def test_there_are_fixed_families_to_compare_with(v: int) -> None:
    names = {family.name for family in fixed_families(v)}
    assert names >= ({"gpipe", "1f1b", "zb-h1", "zb-h2"} if v == 1 else {"v-min", "v-half", "v-zb", "dualpipev"})


@given(spec=specs())
def test_no_constructed_order_is_longer_than_a_fixed_one_within_its_memory(spec: Spec) -> None:
    assert_no_fixed_order_is_shorter(spec)


def test_v_auto_with_the_memory_of_v_half_is_no_longer_than_v_half() -> None:
    spec = Spec("v-auto", 9, 13, 2, memory=5.0, costs=Costs(0.85, 6.6, 6.02, 1.0))
    assert assert_no_fixed_order_is_shorter(spec) == 2  # V-Half and V-Min


@given(v=st.sampled_from([1, 2]), p=st.integers(1, 6), m=st.integers(1, 12), data=st.data())
def test_a_split_backward_is_never_longer_and_needs_no_more_memory(v: int, p: int, m: int, data: st.DataObject) -> None:
    spec = Spec("any", p, m, v, w_share=0.4324, group=m, costs=data.draw(any_costs(v * p)))
    for family in fixed_families(v):
        for codes in split_orders(spec, [family]):
            whole = family.order(spec)
            split = from_rows(whole.placement, m, list(codes))
            check(split)
            assert peak(split, spec) <= peak(whole, spec) + 1e-9
            assert span(split, spec) <= span(whole, spec) * (1 + 1e-9)


@pytest.mark.parametrize(
    ("family", "costs"), [("v-auto", Costs()), ("v-auto", Costs(1.1, 0.9, 0.7, 0.13)), ("zb-auto", Costs())]
)
def test_where_a_fixed_order_is_optimal_no_other_is_constructed(
    family: str, costs: Costs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("backend.schedule.search.problem.greedy.rows", None)
    spec = Spec(family, 8, 32, 2 if family == "v-auto" else 1, costs=costs)
    problem = registry.FAMILIES[family].problem
    assert problem is not None
    found = registry.order(spec)
    assert span(found, spec) == pytest.approx(lower_bound(problem(spec).instance).value)


@given(spec=specs(8, 12))
def test_an_order_taken_as_optimal_is_no_longer_than_the_constructed_ones(spec: Spec) -> None:
    problem = registry.FAMILIES[spec.family].problem
    assert problem is not None
    instance, tries, fixed = (problem(spec).instance, problem(spec).tries, list(problem(spec).fixed()))
    constructed = simulate(
        from_rows(instance.placement, spec.m, greedy.rows(instance, tries, fixed)), spec.costs, spec.v
    )
    quick = simulate(registry.order(spec), spec.costs, spec.v)
    assert figures(quick).longest_stage <= figures(constructed).longest_stage * (1 + 1e-9)
    if len(problem(spec)._begin()) == 1 and fixed:
        assert quick.end.max() <= constructed.end.max() * (1 + 1e-9)
    assert quick.end.max() >= arrival_and_work(instance) * (1 - 1e-9)
