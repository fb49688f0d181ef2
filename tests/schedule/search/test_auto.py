"""Orders searched under a memory limit: never over it, legal for any costs, and as good as the published generators."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.schedule.errors import SpecError
from backend.schedule.families.bidirectional.chimera_auto import CHIMERA_AUTO
from backend.schedule.families.v_shape.v_auto import V_AUTO
from backend.schedule.families.zero_bubble.zb_auto import ZB_AUTO
from backend.schedule.simulation.check import check
from backend.schedule.simulation.costs import Costs
from backend.schedule.simulation.memory import peaks
from backend.schedule.simulation.metrics import figures
from backend.schedule.simulation.simulate import simulate
from backend.schedule.spec import Spec
from tests.schedule.search.test_building_block import SPANS, any_costs, name_of, span
from tests.support.strategies import few

FAMILIES = {"zb-auto": ZB_AUTO, "v-auto": V_AUTO, "chimera-auto": CHIMERA_AUTO}


@pytest.mark.parametrize("name", FAMILIES)
@given(data=st.data(), p=st.integers(1, 7), m=st.integers(1, 14))
@few(10)
def test_any_limit_from_one_micro_batch_up_has_a_legal_order_and_the_result_is_deterministic(
    name: str, data: st.DataObject, p: int, m: int
) -> None:
    family = FAMILIES[name]
    v = family.v[0]
    if family.placement == "bidirectional":
        p, m = p + p % 2, m + m % 2
    memory = data.draw(st.none() | st.sampled_from([1.0, 1.5, p / 2 + 1]) | st.floats(1.0, 2.0 * p + 1))
    share = data.draw(st.sampled_from([1.0, 0.4324, 0.0]))
    spec = Spec(name, p, m, v, memory=memory, w_share=share, costs=data.draw(any_costs(v * p)))
    family.validate(spec)
    order = family.order(spec)
    check(order)
    assert peaks(order, share, v)[1].max() <= (p if memory is None else memory) + 1e-9
    assert np.array_equal(family.order(spec).codes, order.codes)


@pytest.mark.parametrize("name", FAMILIES)
def test_a_limit_below_one_micro_batch_is_refused_with_the_least_that_works(name: str) -> None:
    family = FAMILIES[name]
    spec = Spec(name, 4, 8, family.v[0], memory=0.9)
    with pytest.raises(SpecError) as caught:
        family.validate(spec)
    assert (caught.value.field, caught.value.nearest) == ("memory", 1.0)
    check(family.order(spec.with_(memory=caught.value.nearest)))


@pytest.mark.parametrize("case", SPANS["searched"], ids=name_of)
def test_v_auto_is_no_longer_than_the_published_generator_and_zb_auto_within_a_percent(case: dict[str, Any]) -> None:
    family = FAMILIES[case["family"]]
    sizes = {key: case[key] for key in ("p", "m", "v", "memory", "w_share")}
    spec = Spec(family.name, **sizes, costs=Costs(**case["costs"]))
    assert span(family, spec) <= case["span"] * (1 + 1e-9 if family is V_AUTO else 1.01)


PAPER = [  # Zero Bubble tables 9 and 5, p = 8: m, f, i, w, hop, M_W / M_B, rates of ZB-1p and ZB-2p
    (24, 18.522, 18.086, 9.337, 0.601, 0.3664, 0.1585, 0.0433),
    (32, 18.513, 18.086, 9.331, 0.626, 0.3664, 0.1242, 0.0039),
    (64, 18.546, 18.097, 9.321, 0.762, 0.3664, 0.0674, 0.0026),
    (24, 29.718, 29.444, 19.927, 0.527, 0.4324, 0.1323, 0.0029),
    (32, 29.802, 29.428, 19.530, 0.577, 0.4324, 0.1045, 0.0022),
    (64, 29.935, 29.621, 19.388, 0.535, 0.4324, 0.0554, 0.0010),
]


@pytest.mark.parametrize(("m", "f", "i", "w", "hop", "share", "one", "two"), PAPER)
def test_zb_1p_and_zb_2p_reach_the_papers_bubble_rates(
    m: int, f: float, i: float, w: float, hop: float, share: float, one: float, two: float
) -> None:
    for memory, rate in ((8.0, one), (16.0, two)):
        spec = Spec("zb-auto", 8, m, memory=memory, w_share=share, costs=Costs(f, i, w, hop))
        shown = figures(simulate(ZB_AUTO.order(spec), spec.costs)).span_bubble.of_total
        assert round(shown, 4) <= rate + 0.00011  # one in the last digit
