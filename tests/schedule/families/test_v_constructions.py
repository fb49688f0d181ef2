"""The constructions on the V after published generators: legal, within their memory, and what their papers describe."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.schedule.families.v_shape import v_half, v_min, zb_v_greedy
from backend.schedule.families.v_shape.unit_slots import unit_order
from backend.schedule.order.order import Codes, from_rows
from backend.schedule.order.placement import place
from backend.schedule.search.building_block import Block, Instance
from backend.schedule.search.initial_orders import keeps
from backend.schedule.simulation.check import check
from backend.schedule.simulation.costs import Costs
from backend.schedule.simulation.simulate import simulate
from tests.schedule.search.test_building_block import any_costs
from tests.support import cases

BLOCKS = {"v-min": v_min.BLOCK.build, "v-half": v_half.BLOCK.build}
UNIT = Costs(2.0, 2.0, 2.0)


@pytest.mark.parametrize("block", BLOCKS.values(), ids=BLOCKS)
@cases("p", range(1, 13))
def test_an_order_in_unit_slots_is_legal_and_within_the_blocks_peak(block: Callable[[int], Block], p: int) -> None:
    for m in (1, 2, p, 2 * p, 3 * p + 1):
        codes = unit_order(block(p), m)
        check(from_rows(place("v", p, 2), m, list(codes)))
        assert keeps(Instance(place("v", p, 2), m, UNIT, 2, float(min(block(p).peak(), 2 * m))), codes)


@pytest.mark.parametrize("block", BLOCKS.values(), ids=BLOCKS)
@cases("p", [2, 3, 4, 6, 7])
def test_the_steady_state_in_unit_slots_is_the_block(block: Callable[[int], Block], p: int) -> None:
    m, due = 8 * p, block(p).due
    codes = unit_order(block(p), m)
    timeline = simulate(from_rows(place("v", p, 2), m, list(codes)), UNIT, 2)
    for r in range(p):
        start, _ = timeline.rank(r)
        slots = {code: start[codes[r] == code][3 * p : 5 * p] for code in range(4)}  # F0, F1, I0, I1
        assert all(set(np.diff(each)) == {6.0} for each in slots.values())
        in_period = sorted(range(4), key=lambda code: (slots[code][0] - slots[0][0]) % 6.0)
        assert in_period == sorted(range(4), key=lambda code: (due[r, code % 2, code // 2] - due[r, 0, 0]) % 6.0)


def test_rank_0_of_v_half_in_unit_slots_is_that_of_the_published_generator() -> None:
    shown = "".join("FfIiWw"[code] for code in unit_order(v_half.BLOCK.build(4), 12)[0])
    assert shown == "FFFFFfiwfiwfIiwfWFIiwfWFIiwfWFIiwfWFIiwfWFIiwfWFIiwfWFIiwfiwIWWfiIwIWWIW"


@given(p=st.integers(1, 7), m=st.integers(1, 20), part=st.sampled_from([0.5, 1.0, 1.3, 2.0]), data=st.data())
def test_greedy_zb_v_orders_are_legal_and_within_the_limit(p: int, m: int, part: float, data: st.DataObject) -> None:
    share = data.draw(st.sampled_from([1.0, 0.4324, 0.0]))
    instance = Instance(place("v", p, 2), m, data.draw(any_costs(2 * p)), 2, max(2.0, 2 * p * part), share)
    orders: list[Codes] = list(zb_v_greedy.fitted(instance))
    for codes in orders:
        check(from_rows(instance.placement, m, list(codes)))
        assert keeps(instance, codes)
    assert orders or part < 1.0 or not instance.costs.uniform
