"""Building blocks and their families: memory from lifespans, legality, and published spans."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from backend.schedule.errors import SpecError
from backend.schedule.families import registry
from backend.schedule.families.family import Family
from backend.schedule.families.v_shape.v_auto import V_AUTO
from backend.schedule.families.v_shape.v_half import BLOCK as HALF_BLOCK
from backend.schedule.families.v_shape.v_half import V_HALF
from backend.schedule.families.v_shape.v_min import BLOCK as MIN_BLOCK
from backend.schedule.families.v_shape.v_min import V_MIN
from backend.schedule.jit import Kernel
from backend.schedule.order.placement import place
from backend.schedule.search import building_block, construction, greedy
from backend.schedule.search.bounds import lower_bound
from backend.schedule.search.building_block import ENDLESS, Choice, Instance
from backend.schedule.simulation.check import check
from backend.schedule.simulation.costs import Costs
from backend.schedule.simulation.memory import peaks
from backend.schedule.simulation.metrics import figures
from backend.schedule.simulation.simulate import simulate
from backend.schedule.spec import Spec
from tests.support import cases

min_block, half_block = MIN_BLOCK.build, HALF_BLOCK.build
BLOCKS = {"v-min": min_block, "v-half": half_block}
FAMILIES = {"v-min": V_MIN, "v-half": V_HALF}
SPANS = json.loads((Path(__file__).parents[2] / "golden" / "spans.json").read_text())


def span(family: Family, spec: Spec) -> float:
    return figures(simulate(family.order(spec), spec.costs, spec.v)).longest_stage


@pytest.mark.parametrize("name", BLOCKS)
@cases("p", range(1, 33))
def test_a_blocks_lifespans_over_its_period_are_its_memory(name: str, p: int) -> None:
    block = BLOCKS[name](p)
    mean = block.lifespan() / block.period
    assert mean.max() <= block.peak() <= math.ceil(mean.max()) + 1
    assert block.peak() == (2 * ((p + 4) // 3) if name == "v-min" else 2 * (p // 2 + 1))
    family = FAMILIES[name]
    in_flight, _ = peaks(family.order(Spec(name, p, 4 * p, 2)))
    assert in_flight.max() == block.peak()


def name_of(case: dict[str, Any]) -> str:
    """The family, sizes and F of a published span, and its memory if that is given."""
    memory = f"-{case['memory']:g}" if "memory" in case else ""
    return f"{case['family']}-p{case['p']}-m{case['m']}{memory}-F{case['costs']['F']:g}"


@pytest.mark.parametrize("case", SPANS["blocks"], ids=name_of)
def test_spans_are_no_worse_than_the_published_generators_at_the_same_peak(case: dict[str, Any]) -> None:
    family = FAMILIES[case["family"]]
    spec = Spec(family.name, case["p"], case["m"], 2, costs=Costs(**case["costs"]))
    assert span(family, spec) <= case["span"] * (1 + 1e-9)
    assert peaks(family.order(spec))[0].max() <= case["peak"]


@cases("p", range(3, 33))
def test_unit_costs_give_the_idle_slots_that_were_counted_on_published_orders(p: int) -> None:
    for m in (3 * p, 4 * p + 1):
        unit = Costs(2.0, 2.0, 2.0)
        least = span(V_MIN, Spec("v-min", p, m, 2, costs=unit)) - 6 * m
        assert least == (4 * p - 5 if p % 3 else 4 * p - 7)
        half = span(V_HALF, Spec("v-half", p, m, 2, costs=unit)) - 6 * m
        assert half == (3 * p - 4 if p % 2 else 3 * p - 7)


@st.composite
def any_costs(draw: st.DrawFn, stages: int) -> Costs:
    """Numbers or lists, zero among them, with and without hops."""
    one = st.one_of(st.sampled_from([0.0, 1.0, 10.0]), st.floats(0.01, 100.0))
    each = st.one_of(one, st.tuples(*[one] * stages))
    return Costs(draw(each), draw(each), draw(each), draw(st.sampled_from([0.0, 0.3, 7.0])))


@pytest.mark.parametrize("name", BLOCKS)
@given(data=st.data(), p=st.integers(1, 9), m=st.integers(1, 20))
def test_any_costs_give_a_legal_order_within_the_blocks_peak_deterministically(
    name: str, data: st.DataObject, p: int, m: int
) -> None:
    spec = Spec(name, p, m, 2, costs=data.draw(any_costs(2 * p)))
    order = FAMILIES[name].order(spec)
    check(order)
    assert peaks(order)[0].max() <= BLOCKS[name](p).peak()
    assert order.micro is None
    assert np.array_equal(FAMILIES[name].order(spec).codes, order.codes)


TIMES = st.sampled_from([0.0, 0.1, 0.3, 0.5, 1.0, 1.25, 2.0, 3.0, 5.0, 10.0, 12.0])


@given(p=st.integers(1, 5), m=st.integers(1, 7), room=st.integers(2, 9), f=TIMES, i=TIMES, w=TIMES, comm=TIMES)
@example(p=4, m=7, room=6, f=10.0, i=10.0, w=10.0, comm=1.0)  # a wait of 0.3 * 10 is 3 units, or nearly
@example(p=4, m=7, room=6, f=1.0, i=1.0, w=1.0, comm=0.0)
def test_every_try_that_is_left_out_lays_an_order_that_is_laid(
    p: int, m: int, room: int, f: float, i: float, w: float, comm: float
) -> None:
    instance = Instance(place("v", p, 2), m, Costs(f, i, w, comm), 2, float(room), 1.0)
    tries = greedy.folded(p, (half_block(p),))

    def laid(chosen: list[tuple[building_block.Block, Choice]]) -> list[tuple[float, bytes]]:
        found = filter(None, (building_block.lay(instance, *each) for each in chosen))
        return list(dict.fromkeys((span, codes.tobytes()) for span, codes in found))

    earlier, few = {pace: building_block.Earlier(instance, len(tries)) for pace in (0.0, *building_block.PACES)}, []
    for block, choice in tries:
        due, waits = building_block._moved(instance, block, choice), building_block._waits(instance, choice)
        if not earlier[choice.pace].has(due, block.period, waits):
            few.append((block, choice))
            decided = earlier[choice.pace].next(waits)
            building_block._laid(instance, due, block.period, waits, (instance.room, 1.0), ENDLESS, decided)
    assert laid(few) == laid(tries)
    assert len(few) < len(tries) / 3 or not (f == w and comm == 0.0 < f == i)


@given(data=st.data(), p=st.integers(1, 5), m=st.integers(1, 9), room=st.integers(2, 9))
def test_laying_and_squeezing_are_the_same_interpreted_and_compiled(
    data: st.DataObject, p: int, m: int, room: int
) -> None:
    instance = Instance(place("v", p, 2), m, data.draw(any_costs(2 * p)), 2, float(room), 0.5)
    choice = data.draw(st.sampled_from([Choice(0.3, 0.6, 0.6), Choice(0.3, ENDLESS, 0.6)]))
    fast = building_block.lay(instance, half_block(p), choice)
    fast_squeezed = None if fast is None else building_block.squeeze(instance, fast[1])
    kernels = [each for each in vars(construction).values() if isinstance(each, Kernel)]
    kept = [each.compiled for each in kernels]
    try:
        for each in kernels:
            each.compiled = None
        instance = replace(instance)  # without what was computed for it
        slow = building_block.lay(instance, half_block(p), choice)
        assert (slow is None) == (fast is None)
        if slow is not None and fast is not None and fast_squeezed is not None:
            assert np.array_equal(slow[1], fast[1])
            assert np.array_equal(building_block.squeeze(instance, slow[1])[1], fast_squeezed[1])
    finally:
        for each, function in zip(kernels, kept, strict=True):
            each.compiled = function


@given(data=st.data(), p=st.integers(1, 5), m=st.integers(1, 9), room=st.integers(2, 9))
def test_an_order_is_laid_if_it_is_within_the_longest_span_allowed(
    data: st.DataObject, p: int, m: int, room: int
) -> None:
    instance = Instance(place("v", p, 2), m, data.draw(any_costs(2 * p)), 2, float(room))
    for block, choice in greedy.folded(p, (half_block(p),))[::30]:
        free = building_block.lay(instance, block, choice._replace(pace=0.0))
        if free is None or free[0] == 0.0:
            continue
        span, codes = free
        again = building_block.lay(instance, block, choice._replace(pace=0.0), most=span)
        assert again is not None
        assert np.array_equal(again[1], codes)
        assert (
            building_block.lay(instance, block, choice._replace(pace=0.0), most=0.999 * instance.m * instance.work)
            is None
        )


@given(data=st.data(), p=st.integers(1, 5), m=st.integers(1, 9), pace=st.floats(0.1, 3.0))
def test_the_span_of_a_paced_order_is_that_of_its_codes(data: st.DataObject, p: int, m: int, pace: float) -> None:
    instance = Instance(place("v", p, 2), m, data.draw(any_costs(2 * p)), 2, float(p + 1))
    laid = building_block.lay(instance, half_block(p), Choice(0.6, 0.3, 0.3, (), pace))
    assert laid is not None
    assert laid[0] == pytest.approx(building_block.timed(instance, laid[1])[0], rel=1e-12)


@pytest.mark.parametrize(
    ("p", "m", "limit", "most"),
    [(8, 24, 4.0, 1.08), (16, 64, 8.0, 1.065), (16, 64, 5.0, 1.16), (32, 128, 16.0, 1.05)],
)
def test_constructed_orders_of_the_v_at_half_of_1f1bs_memory_and_below_are_near_their_bound(
    p: int, m: int, limit: float, most: float
) -> None:
    spec = Spec("v-auto", p, m, 2, memory=limit, costs=Costs(18.522, 18.086, 9.337, 0.601))
    assert V_AUTO.problem is not None
    instance = V_AUTO.problem(spec).instance
    assert span(V_AUTO, spec) <= most * lower_bound(instance).value


@given(data=st.data(), p=st.integers(1, 6), m=st.integers(1, 12))
def test_squeezing_never_makes_a_span_longer_nor_the_peak_higher(data: st.DataObject, p: int, m: int) -> None:
    block = min_block(p)
    instance = Instance(place("v", p, 2), m, data.draw(any_costs(2 * p)), 2, float(block.peak()))
    laid = building_block.lay(instance, block, Choice(0.3, ENDLESS, 0.6))
    assert laid is not None
    squeezed, codes = building_block.squeeze(instance, laid[1])
    assert squeezed <= laid[0] * (1 + 1e-12)
    assert (codes != laid[1]).any() or squeezed == pytest.approx(laid[0])


def test_a_v_has_two_chunks() -> None:
    for family in FAMILIES.values():
        with pytest.raises(SpecError) as caught:
            registry.validate(Spec(family.name, 4, 8, 3))
        assert (caught.value.field, caught.value.nearest) == ("v", 2)
