"""Searched orders with more chunks per device than the papers' one and two, looped and zigzag."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from backend.schedule.errors import SpecError
from backend.schedule.families import registry
from backend.schedule.search import passes
from backend.schedule.search.bounds import lower_bound
from backend.schedule.search.improve import Budget
from backend.schedule.search.initial_orders import keeps, span_of
from backend.schedule.simulation.check import check
from backend.schedule.simulation.costs import Costs
from backend.schedule.simulation.memory import peaks
from backend.schedule.simulation.metrics import figures
from backend.schedule.simulation.simulate import simulate
from backend.schedule.spec import Spec
from tests.schedule.search.test_building_block import any_costs


@st.composite
def specs(draw: st.DrawFn) -> Spec:
    """A spec of a searched family with more chunks than its papers have, within any limit that admits one
    micro-batch."""
    name = draw(st.sampled_from(["zb-auto", "v-auto"]))
    p, m = draw(st.integers(1, 6)), draw(st.integers(1, 12))
    v = draw(st.integers(2 if name == "zb-auto" else 3, 5))
    memory = draw(st.integers(v, 2 * p * v)) / v
    costs = draw(any_costs(p * v))
    return Spec(name, p, m, v, memory=memory, w_share=draw(st.sampled_from([1.0, 0.5])), costs=costs)


def span(spec: Spec) -> float:
    return figures(simulate(registry.order(spec), spec.costs, spec.v)).longest_stage


@given(specs())
def test_any_limit_from_one_micro_batch_up_has_a_legal_order_that_is_not_below_its_bound(spec: Spec) -> None:
    order = registry.order(spec)
    check(order)
    assert spec.memory is not None
    assert peaks(order, spec.w_share, spec.v)[1].max() <= spec.memory + 1e-9
    problem = registry.family_of(spec).problem
    assert problem is not None
    assert span(spec) >= lower_bound(problem(spec).instance).value * (1.0 - 1e-9)
    assert np.array_equal(registry.order(spec).codes, order.codes)


@given(st.data(), st.sampled_from(["interleaved", "interleaved-zb", "gis", "gis-h"]), st.integers(2, 5))
def test_no_constructed_order_is_longer_than_a_fixed_family_with_as_many_chunks_and_as_much_memory(
    data: st.DataObject, name: str, v: int
) -> None:
    p, m = data.draw(st.integers(2, 6)), data.draw(st.integers(1, 16))
    fixed = Spec(name, p, m, v, costs=data.draw(any_costs(p * v)))
    try:
        order = registry.order(fixed)
    except SpecError:
        assume(False)
    memory = float(peaks(order, 1.0, v)[1].max())
    searched = fixed.with_(family="zb-auto", memory=memory)
    assert span(searched) <= figures(simulate(order, fixed.costs, v)).longest_stage * (1.0 + 1e-9)


@pytest.mark.parametrize("v", [2, 3, 4])
@pytest.mark.parametrize("p", [4, 8])
def test_at_unit_costs_and_1f1bs_memory_the_constructed_order_is_optimal(p: int, v: int) -> None:
    spec = Spec("zb-auto", p, 4 * p, v)
    problem = registry.family_of(spec).problem
    assert problem is not None
    assert span(spec) == pytest.approx(lower_bound(problem(spec).instance).value)
    assert span(spec) == pytest.approx(12 * p + (p - 1) / v)  # interleaved zero bubble's idle time, at its memory


def test_at_unit_costs_a_zigzag_of_four_chunks_has_no_bubble_at_1f1bs_memory() -> None:
    assert span(Spec("v-auto", 8, 32, 4)) == pytest.approx(96.0)


@pytest.mark.parametrize(("name", "v"), [("zb-auto", 3), ("v-auto", 4)])
def test_a_search_is_reproduced_by_its_effort_and_no_worse_than_the_construction(name: str, v: int) -> None:
    spec = Spec(name, 4, 12, v, costs=Costs(1.0, 1.2, 0.7, 0.05))
    longer = spec.with_(effort=2000)
    assert span(longer) < span(spec)
    problem = registry.family_of(spec).problem
    assert problem is not None
    again = problem(spec).search(1, Budget(None, 2000))
    assert np.array_equal(again.codes.ravel(), registry.order(longer).codes)


@given(specs())
def test_one_micro_batch_after_the_other_fits_into_every_limit(spec: Spec) -> None:
    problem = registry.family_of(spec).problem
    assert problem is not None
    instance = problem(spec).instance
    codes = passes.one_by_one(instance)
    assert keeps(instance, codes)
    assert span_of(instance, codes) < float("inf")
