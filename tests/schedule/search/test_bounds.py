"""Lower bounds: never above an order of a family or of an exhaustive search, and tight in known cases."""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.schedule.families import registry
from backend.schedule.families.registry import FAMILIES
from backend.schedule.search import device_relaxation, exact
from backend.schedule.search.alone import Alone
from backend.schedule.search.bounds import BOUNDS, EPSILON, drains, fullest, lower_bound
from backend.schedule.search.building_block import Instance
from backend.schedule.search.device_relaxation import shortest
from backend.schedule.search.improve import Budget, search
from backend.schedule.search.initial_orders import keeps, span_of
from backend.schedule.simulation.costs import Costs
from backend.schedule.simulation.memory import peaks
from backend.schedule.simulation.metrics import figures
from backend.schedule.simulation.simulate import simulate
from backend.schedule.spec import Spec
from tests.schedule.search.test_building_block import any_costs
from tests.schedule.search.test_search import PAPER_6B, instance_of, tries_of, with_lead
from tests.support.strategies import few, specs

WITHOUT_PAIRS = [name for name in FAMILIES if name not in ("dualpipe", "dualpipev")]
solver = pytest.mark.skipif(not exact.available(), reason="OR-tools is not installed: pip install ortools")


@pytest.mark.parametrize("name", WITHOUT_PAIRS)
@given(data=st.data(), share=st.sampled_from([1.0, 0.4324, 0.1, 0.0]), uneven=st.booleans())
@few(8)
def test_no_family_is_below_any_bound_at_its_own_memory(
    name: str, data: st.DataObject, share: float, uneven: bool
) -> None:
    spec: Spec = data.draw(specs(name, max_m=16))
    if uneven and not FAMILIES[name].shaped_by_costs:
        spec = spec.with_(costs=data.draw(any_costs(FAMILIES[name].order(spec).placement.stages)))
    order = registry.order(spec)
    room = float(peaks(order, share)[1].max())
    instance = Instance(order.placement, spec.m, spec.costs, spec.v, room, share)
    span = figures(simulate(order, spec.costs, spec.v)).longest_stage
    for which, bound in BOUNDS:
        assert bound(instance) <= span * (1.0 + 1e-9) + 1e-9, which


@cache
def all_strings(m: int) -> tuple[tuple[int, ...], ...]:
    """Every order of m micro-batches of one chunk on one device: each I after its F, each W after its I."""
    found = []

    def go(done: tuple[int, ...], f: int, i: int, w: int) -> None:
        if w == m:
            found.append(done)
        for kind, may in ((0, f < m), (1, i < f), (2, w < i)):
            if may:
                go((*done, kind), f + (kind == 0), i + (kind == 1), w + (kind == 2))

    go((), 0, 0, 0)
    return tuple(found)


def all_orders(instance: Instance) -> list[npt.NDArray[np.uint8]]:
    rows = [np.array(row, np.uint8) for row in all_strings(instance.m)]
    sizes = np.broadcast_to(instance.sizes[0], instance.n)
    fitting = [row for row in rows if _peak(row, instance.share, sizes) <= instance.room + EPSILON]
    return [np.stack(each) for each in product(fitting, repeat=instance.placement.p)]


def _peak(row: npt.NDArray[np.uint8], share: float, sizes: npt.NDArray[np.float64]) -> float:
    taken = np.empty(len(row))
    for kind, part in enumerate((1.0, share - 1.0, -share)):
        taken[row == kind] = part * sizes
    return float(np.cumsum(taken).max())


@given(
    costs=any_costs(2), m=st.integers(1, 3), room=st.sampled_from([1.0, 1.5, 2.0, 2.6, 3.0]),
    share=st.sampled_from([1.0, 0.4324, 0.0]), sizes=st.none() | st.tuples(*[st.sampled_from([0.25, 0.8, 1.0])] * 3),
    part=st.sampled_from([0.0, 0.0, 0.5, 1.0]),
)  # fmt: skip
@few(12)
def test_in_an_exhaustive_search_no_order_is_below_the_bounds_or_better_than_the_searched_one(
    costs: Costs, m: int, room: float, share: float, sizes: tuple[float, ...] | None, part: float
) -> None:
    costs = with_lead(costs, part)
    instance = instance_of("linear", 2, m, room, costs if sizes is None else costs.sized(sizes[:m], 0.2), share)
    least = min(span_of(instance, codes) for codes in all_orders(instance))
    assert lower_bound(instance).value <= least * (1.0 + 1e-9)
    found = search(instance, tries_of(instance), budget=Budget(None, 1000))
    assert found.span >= least * (1.0 - 1e-9)
    if instance.is_even or instance.cost.min() > 0.0:  # ops of no time leave a walk no slope
        assert found.span == pytest.approx(least, rel=1e-9, abs=1e-9)
    if share > 0.0 and instance.is_even:  # the group of all devices leaves nothing out
        assert shortest(instance, Alone.of(instance), [0, 1]) == pytest.approx(least, rel=1e-9, abs=1e-9)


@solver
@pytest.mark.parametrize(
    ("kind", "p", "m", "room", "share"),
    [
        ("linear", 3, 5, 2.0, 1.0), ("linear", 4, 6, 3.0, 1.0), ("linear", 4, 6, 3.0, 0.4), ("linear", 4, 8, 3.0, 1.0),
        ("linear", 5, 5, 2.0, 1.0), ("v", 2, 5, 3.0, 1.0), ("v", 3, 4, 4.0, 1.0), ("v", 2, 4, 3.0, 0.4),
    ],
)  # fmt: skip
def test_bounds_are_not_above_the_proven_optimum_and_the_search_reaches_it_where_w_keeps_all(
    kind: str, p: int, m: int, room: float, share: float
) -> None:
    instance = instance_of(kind, p, m, room, Costs(10.0, 12.0, 8.0, 1.0), share)
    found = search(instance, tries_of(instance), budget=Budget(None, 20_000))
    proven = exact.prove(instance, found)
    assert proven.optimal
    assert keeps(instance, proven.codes)
    assert found.lower_bound <= proven.span * (1.0 + 1e-9)
    assert found.span >= proven.span - 1e-9
    if share == 1.0:
        assert found.span == pytest.approx(proven.span)


@solver
def test_bounds_hold_for_costs_that_are_not_whole_numbers() -> None:
    instance = instance_of("linear", 3, 4, 2.0, Costs(1.0 / 3.0, 2.0**0.5 / 4.0, 0.2000001, 0.0300007))
    found = search(instance, tries_of(instance), budget=Budget(None, 20_000))
    proven = exact.prove(instance, found)
    assert proven.bound_name in (found.bound_name, exact.NAME)
    assert found.lower_bound <= proven.lower_bound <= proven.span <= found.span
    assert proven.gap < 1e-2


def test_a_task_too_large_to_solve_exactly_is_left_unchanged() -> None:
    instance = instance_of("linear", 8, 24, 6.0, PAPER_6B)
    found = search(instance, tries_of(instance), budget=Budget(None, 100))
    assert exact.prove(instance, found) is found


@pytest.mark.parametrize("m", [12, 24, 64])
@pytest.mark.parametrize("costs", [PAPER_6B, Costs(3.0, 3.0, 2.0), Costs(18.522, 18.086, 9.337, 0.601)])
def test_zb_h1_is_optimal_at_its_memory(m: int, costs: Costs) -> None:
    """(p - 1)(f + i - w + 4c): the fill waits for a gradient, the drain for the last one, both ways with hops."""
    span = figures(simulate(registry.order(Spec("zb-h1", 8, m, costs=costs)), costs)).longest_stage
    bound = lower_bound(instance_of("linear", 8, m, 8.0, costs))
    assert span == pytest.approx(bound.value)
    f, i, w = (float(each) for each in (costs.F, costs.I, costs.W) if not isinstance(each, tuple))
    assert bound.value == pytest.approx(m * (f + i + w) + 7 * (f + i - w + 4 * costs.comm))


def test_zb_v_is_optimal_in_the_devices_own_windows() -> None:
    bound = lower_bound(instance_of("v", 6, 20, 12.0, Costs(2.0, 2.0, 2.0)))
    assert (bound.value, bound.name) == (20 * 6.0, "work")


def test_memory_below_the_need_of_one_round_trip_is_bounded_by_lifetimes() -> None:
    """One micro-batch at a time: nothing overlaps, so the bound is the sum of all ways."""
    costs = Costs(2.0, 3.0, 1.0, 0.5)
    bound = lower_bound(instance_of("linear", 4, 6, 1.0, costs))
    assert bound.name == "lifetimes"
    assert bound.value == pytest.approx(6 * (4 * 5.0 + 6 * 0.5 + 1.0))


@given(data=st.data(), kind=st.sampled_from(["linear", "v"]), m=st.integers(1, 6))
@few(12)
def test_a_larger_group_bounds_no_lower_and_fewer_labels_no_higher(data: st.DataObject, kind: str, m: int) -> None:
    costs = data.draw(any_costs(3 if kind == "linear" else 6))
    instance = instance_of(kind, 3, m, 2.0, costs)
    alone = Alone.of(instance)
    one, two = shortest(instance, alone, [2]), shortest(instance, alone, [1, 2])
    assert one <= two * (1.0 + 1e-9)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(device_relaxation, "LABELS", 1)
        assert shortest(instance, alone, [1, 2]) <= two * (1.0 + 1e-9)


def test_the_last_device_of_a_v_alone_proves_the_order_for_one_micro_batch_of_memory_optimal() -> None:
    """Its F, I and W of two micro-batches cannot overlap: 12 slots for each where Little's law allows 10."""
    instance = instance_of("v", 4, 16, 2.0, Costs(2.0, 2.0, 2.0))
    found = search(instance, tries_of(instance), budget=Budget(None, 10_000))
    assert (found.lower_bound, found.optimal, found.bound_name) == (15 * 12.0 + 17.0, True, "a few devices alone")


def test_a_group_with_too_many_states_has_no_bound() -> None:
    instance = instance_of("v", 8, 24, 32.0, PAPER_6B)
    assert shortest(instance, Alone.of(instance), [7]) == 0.0


def test_only_whole_chunks_count_where_w_keeps_all() -> None:
    whole, more = (lower_bound(instance_of("v", 8, 12, room, PAPER_6B)) for room in (5.0, 5.34))
    assert whole == more


def test_the_more_memory_the_lower_the_bound() -> None:
    for kind, top in (("linear", 18), ("v", 34)):
        values = [lower_bound(instance_of(kind, 8, 12, float(room), PAPER_6B)).value for room in range(2, top, 4)]
        assert values == sorted(values, reverse=True)


def test_activations_left_after_the_last_forward_fit_the_limit() -> None:
    instance = instance_of("linear", 4, 10, 3.5, Costs(), 0.4)
    left = drains(instance)
    assert [each.gradients for each in left] == [1, 2, 3]
    for each in left:
        assert 0.6 * each.gradients + 0.4 * each.weights <= 3.5 + 1e-6
        assert each.weights == 10 or 0.6 * each.gradients + 0.4 * (each.weights + 1) > 3.5


@given(
    share=st.sampled_from([1.0, 0.7, 0.4324, 0.1, 0.0]), room=st.floats(1.0, 12.0), i=st.floats(0.1, 3.0),
    more=st.floats(0.0, 1.0), w=st.floats(0.0, 3.0), way=st.floats(0.0, 9.0), walk=st.floats(0.0, 9.0),
)  # fmt: skip
def test_what_is_left_out_of_a_drain_never_gave_the_shortest_way(
    share: float, room: float, i: float, more: float, w: float, way: float, walk: float
) -> None:
    every = np.array(
        [(each.gradients, each.weights) for each in drains(instance_of("linear", 4, 10, room, Costs(), share))]
    )

    def least(lefts: npt.NDArray[np.float64]) -> float:
        after = np.maximum(way, lefts[:, 0] * i + walk)
        return float((after - lefts[:, 0] * (i + more) - lefts[:, 1] * w).min())

    kept = fullest(every.astype(np.float64), i, i + more, w)
    assert least(kept) == pytest.approx(least(every))
    assert share < 1.0 or len(kept) == 1
