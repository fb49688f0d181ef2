"""Orders with a steady state are timed on shorter ones: the same times bit by bit as the full loop's, for all families,
uneven costs, hops and orders from anywhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from backend.schedule.families import registry
from backend.schedule.families.registry import FAMILIES
from backend.schedule.order import repeats
from backend.schedule.order.order import Order, from_ops
from backend.schedule.simulation.costs import Costs
from backend.schedule.simulation.memory import peaks
from backend.schedule.simulation.metrics import figures
from backend.schedule.simulation.periodic import sums_are_exact
from backend.schedule.simulation.simulate import Timeline, advance, simulate
from backend.schedule.simulation.timeline import PeriodicTimeline
from backend.schedule.spec import Spec
from tests.support.strategies import nearest_legal


@pytest.fixture(autouse=True, scope="module")
def small_orders_too() -> Iterator[None]:
    """Look for steady states in orders that are otherwise too small for it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(repeats, "LEAST_OPS", 64)
        yield


@st.composite
def quarters(draw: st.DrawFn, stages: int) -> Costs:
    """Costs in quarters, so that sums are exact; often another for each stage, and hops."""
    each = st.integers(0, 12).map(lambda x: x / 4)
    listed = draw(st.booleans())
    f, i, w = (
        tuple(draw(st.lists(each, min_size=stages, max_size=stages))) if listed else 4.0 * draw(each) for _ in range(3)
    )
    return Costs(f, i, w, draw(st.sampled_from([0.0, 0.0, 0.25, 1.5, 40.0])))


@st.composite
def long_specs(draw: st.DrawFn) -> Spec:
    """A legal spec of any family with many micro-batches."""
    name = draw(st.sampled_from(sorted(FAMILIES)))
    family = FAMILIES[name]
    least, _, most = family.v
    slow = family.shaped_by_costs
    v = draw(st.sampled_from([each for each in (1, 2, 4) if least <= each <= most]))
    spec = nearest_legal(
        Spec(name, draw(st.integers(1, 5)), draw(st.integers(60, 90 if slow else 260)), v,
             group=draw(st.none() | st.integers(1, 9)) if "group" in family.fields else None)
    )  # fmt: skip
    stages = spec.p if family.placement == "bidirectional" else spec.p * spec.v
    return nearest_legal(spec.with_(costs=draw(quarters(stages))))


def assert_equal(order: Order, costs: Costs, v: int) -> Timeline:
    """Check the times and the figures of an order against the full loop's, and return the timeline."""
    timeline, (full, _, _) = simulate(order, costs, v), advance(order, costs, v)
    assert figures(timeline) == figures(full)  # before the times are needed
    assert timeline.busy().tobytes() == full.busy().tobytes()
    assert timeline.start.tobytes() == full.start.tobytes()
    assert timeline.end.tobytes() == full.end.tobytes()
    return timeline


@given(spec=long_specs())
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_a_steady_state_is_extended_to_the_times_of_the_full_loop_bit_by_bit(spec: Spec) -> None:
    event(type(assert_equal(registry.order(spec), spec.timing, spec.v)).__name__)


@pytest.mark.parametrize("name", [name for name in FAMILIES if name not in ("interleaved-bfs", "zb-auto", "v-auto")])
def test_long_orders_of_every_family_have_a_steady_state(name: str) -> None:
    costs = Costs() if FAMILIES[name].shaped_by_costs else Costs(2.0, 3.0, 1.0, 0.5)
    spec = nearest_legal(Spec(name, 4, 240, FAMILIES[name].v[1], costs=costs))
    timeline = assert_equal(registry.order(spec), spec.timing, spec.v)
    assert isinstance(timeline, PeriodicTimeline)
    assert 2 * len(timeline.short.order) < len(timeline.order)


@given(spec=long_specs(), share=st.sampled_from([0.0, 0.25, 0.4324, 1.0]), kept=st.sampled_from([1.0, 0.3]))
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_peaks_are_the_same_where_repetitions_are_skipped(spec: Spec, share: float, kept: float) -> None:
    order = registry.order(spec)
    skipping = peaks(order, share, spec.v, kept)
    order.__dict__["repeats"] = None
    for one, other in zip(skipping, peaks(order, share, spec.v, kept), strict=True):
        assert one.tobytes() == other.tobytes()


def test_a_state_that_repeats_only_after_several_blocks_is_found() -> None:
    spec = Spec("1f1b", 4, 400, costs=Costs(1.0, 1.0, 1.0, 0.25))  # a round trip of hops takes p micro-batches
    timeline = assert_equal(registry.order(spec), spec.timing, 1)
    assert isinstance(timeline, PeriodicTimeline)
    assert (timeline.steady[0].end - timeline.steady[0].begin).tolist() == [8] * 4


def test_an_order_from_elsewhere_is_treated_alike() -> None:
    built = registry.order(Spec("zb-h1", 3, 200))
    again = from_ops(built.placement, built.m, [built.row(rank) for rank in range(3)])
    assert isinstance(assert_equal(again, Costs(), 1), PeriodicTimeline)


def test_costs_whose_sums_are_rounded_take_the_full_loop() -> None:
    order = registry.order(Spec("zb-h1", 3, 200))
    for costs in (Costs(0.1, 0.2, 0.3), Costs(18.522, 18.086, 9.337, 0.601), Costs(2.0**40, 2.0**-20, 1.0)):
        assert not isinstance(assert_equal(order, costs, 1), PeriodicTimeline)


def test_one_irregular_op_ends_the_phase() -> None:
    order = registry.order(Spec("zb-h1", 3, 200))
    codes = order.codes.copy()
    middle = order.offsets[1] + 300
    codes[middle : middle + 2] = codes[middle : middle + 2][::-1]
    assert_equal(replace(order, codes=codes), Costs(), 1)


def test_exact_sums() -> None:
    assert sums_are_exact(np.array([0.25, 3.0, 7.5]), 10**7)
    assert sums_are_exact(np.zeros(3), 10)
    assert sums_are_exact(np.array([0.1, 0.2]), 2) is False
    assert sums_are_exact(np.array([2.0**30, 2.0**-20]), 1)
    assert sums_are_exact(np.array([1e9, 5e-324]), 1) is False
    assert sums_are_exact(np.array([2.0**30, 2.0**-20]), 2**10) is False
