"""Orders searched for two streams in opposite directions: Chimera's and DualPipe's placement."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.schedule.errors import SpecError
from backend.schedule.families import registry
from backend.schedule.families.bidirectional.chimera_auto import problem
from backend.schedule.order.order import from_rows
from backend.schedule.order.placement import place
from backend.schedule.search import exact, passes
from backend.schedule.search.anneal import starts
from backend.schedule.search.bounds import lower_bound
from backend.schedule.search.building_block import Instance
from backend.schedule.search.improve import Budget, search
from backend.schedule.search.initial_orders import keeps, span_of
from backend.schedule.simulation.costs import Costs
from backend.schedule.simulation.memory import peaks
from backend.schedule.simulation.metrics import figures
from backend.schedule.simulation.simulate import simulate
from backend.schedule.spec import Spec
from tests.schedule.search.test_building_block import any_costs
from tests.schedule.search.test_search import checked_span, uneven
from tests.support.strategies import few

solver = pytest.mark.skipif(not exact.available(), reason="OR-tools is not installed: pip install ortools")


@st.composite
def instances(draw: st.DrawFn) -> Instance:
    p, m = 2 * draw(st.integers(1, 4)), 2 * draw(st.integers(1, 8))
    room = draw(st.sampled_from([1.0, 1.5, 2.0, 2.5, p / 2 + 1, float(p), 2.0 * p + 1]))
    share = draw(st.sampled_from([1.0, 1.0, 0.4324, 0.0]))
    return uneven(draw, Instance(place("bidirectional", p, 2), m, draw(any_costs(p)), 1, room, share))


def start_of(instance: Instance) -> list[npt.NDArray[np.uint8]]:
    return [passes.one_by_one(instance)]


@given(instance=instances(), seed=st.integers(0, 99))
@few(12)
def test_every_order_found_is_legal_within_the_limit_and_never_below_the_bound(instance: Instance, seed: int) -> None:
    found = search(instance, passes.tries(instance), start_of(instance), seed, Budget(None, 500))
    span = checked_span(instance, found.codes)
    assert found.span == pytest.approx(span, rel=1e-12)
    assert span >= lower_bound(instance).value * (1 - 1e-9)


def all_rows(instance: Instance) -> list[npt.NDArray[np.uint8]]:
    """Every order of one rank's ops with one micro-batch in each direction, within the limit."""
    kinds = np.arange(3, dtype=np.uint8)
    rows = []
    for first in combinations(range(6), 3):
        row = np.empty(6, np.uint8)
        row[list(first)] = 2 * kinds
        row[[x for x in range(6) if x not in first]] = 2 * kinds + 1
        gain = np.array([1.0, instance.share - 1.0, -instance.share])[row // 2]
        if np.cumsum(gain).max() <= instance.room + 1e-9:
            rows.append(row)
    return rows


@given(costs=any_costs(2), room=st.sampled_from([1.0, 1.5, 2.0, 2.6]), share=st.sampled_from([1.0, 0.4324, 0.0]))
@few(8)
def test_in_an_exhaustive_search_no_order_is_below_the_bound_or_better_than_the_one_found(
    costs: Costs, room: float, share: float
) -> None:
    instance = Instance(place("bidirectional", 2, 2), 2, costs, 1, room, share)
    least = min(span_of(instance, np.stack(each)) for each in product(all_rows(instance), repeat=2))
    assert lower_bound(instance).value <= least * (1.0 + 1e-9)
    found = search(instance, passes.tries(instance), start_of(instance), budget=Budget(None, 3000))
    assert found.span == pytest.approx(least, rel=1e-9, abs=1e-9)


@solver
@pytest.mark.parametrize(
    ("p", "m", "room", "share"),
    [(2, 6, 2.0, 1.0), (2, 6, 3.0, 0.4), (4, 4, 2.0, 1.0), (4, 4, 1.0, 1.0), (4, 4, 3.0, 0.4), (4, 6, 3.0, 1.0)],
)
def test_the_bound_is_not_above_the_proven_optimum_and_the_search_reaches_it(
    p: int, m: int, room: float, share: float
) -> None:
    instance = Instance(place("bidirectional", p, 2), m, Costs(10.0, 12.0, 8.0, 1.0), 1, room, share)
    found = search(instance, passes.tries(instance), start_of(instance), budget=Budget(None, 200_000))
    proven = exact.prove(instance, found)
    assert proven.optimal
    assert keeps(instance, proven.codes)
    assert found.lower_bound <= proven.span * (1.0 + 1e-9)
    assert found.span == pytest.approx(proven.span)


def test_a_first_op_starts_when_a_micro_batch_alone_arrives_or_no_walk_begins_there() -> None:
    instance = Instance(place("bidirectional", 4, 2), 4, Costs(2.0, 3.0, 1.0, 0.5), 1, 4.0)
    found = search(instance, passes.tries(instance), budget=Budget(None, 50))
    head = starts(instance, found.codes)
    assert head is not None
    timeline = simulate(from_rows(instance.placement, instance.m, list(found.codes)), instance.costs, instance.v)
    assert head.tolist() == timeline.start.reshape(found.codes.shape)[:, 0].tolist()
    codes = passes.one_by_one(instance)
    codes[2] = np.concatenate((codes[2, 3:], codes[2, :3]))  # rank 2 begins with stream 1, from rank 3 which does not
    assert starts(instance, codes) is None


@pytest.mark.parametrize(("p", "m", "memory"), [(4, 8, 4.0), (4, 8, 5.0), (8, 16, 8.0), (8, 24, 9.0), (8, 20, 9.0)])
@pytest.mark.parametrize("costs", [Costs(), Costs(18.522, 18.086, 9.337, 0.601)])
def test_no_order_is_longer_than_those_of_chimera_and_dualpipe(p: int, m: int, memory: float, costs: Costs) -> None:
    spec = Spec("chimera-auto", p, m, memory=memory, costs=costs)
    span = figures(simulate(registry.order(spec), costs, 1)).longest_stage
    others = [Spec("chimera", p, m, costs=costs)] if m % p == 0 else []
    others += [Spec("dualpipe", p, m, costs=costs)] if memory > p else []
    assert others
    for other in others:
        order = registry.order(other)
        assert peaks(order)[1].max() <= memory
        assert span <= figures(simulate(order, costs, 1)).longest_stage * (1 + 1e-9)


def test_chimeras_order_takes_part_where_its_last_unit_is_incomplete() -> None:
    spec = Spec("chimera-auto", 4, 10, memory=4.0)
    instance = problem(spec).instance
    assert any(
        np.bincount(codes[0], minlength=6)[:6].tolist() == [5] * 6 and keeps(instance, codes)
        for codes in problem(spec).fixed()
        if not np.array_equal(codes, passes.one_by_one(instance))
    )


@pytest.mark.parametrize(("field", "p", "m"), [("p", 3, 8), ("m", 4, 7), ("m", 4, 1)])
def test_two_directions_refuse_odd_sizes_with_the_nearest(field: str, p: int, m: int) -> None:
    with pytest.raises(SpecError) as caught:
        registry.order(Spec("chimera-auto", p, m))
    given_one = {"p": p, "m": m}[field]
    assert (caught.value.field, caught.value.nearest) == (field, given_one + 1)


def test_with_memory_for_one_micro_batch_those_of_both_directions_take_turns() -> None:
    """A wave of F and I of one direction follows that of the other: p stages for each turn, not two times p."""
    spec = Spec("chimera-auto", 4, 8, memory=1.0)
    assert figures(simulate(registry.order(spec), spec.costs, 1)).longest_stage <= 8 * (4 + 2) + 4
