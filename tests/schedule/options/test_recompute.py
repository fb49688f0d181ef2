"""Activation recomputation: the repeated forward takes time, and dropped activations use no memory."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.schedule import result
from backend.schedule.errors import SpecError
from backend.schedule.families import registry
from backend.schedule.options.recompute import MODES
from backend.schedule.simulation.costs import Costs
from backend.schedule.simulation.memory import curve, peaks
from backend.schedule.simulation.simulate import simulate
from backend.schedule.spec import Spec
from tests.support.strategies import specs


@given(spec=specs(max_p=6, max_m=14))
def test_full_recomputation_is_the_same_schedule_with_i_longer_by_f(spec: Spec) -> None:
    again = spec.with_(recompute="full")
    order = registry.order(again)
    costs = spec.costs
    longer = Costs(costs.F, costs.I + costs.F, costs.W, costs.comm)  # type: ignore[operator]
    assert order.text() == registry.order(spec.with_(costs=longer)).text()
    assert (simulate(order, again.timing, spec.v).end == simulate(order, longer, spec.v).end).all()
    assert result.law_values(again) == result.law_values(spec.with_(costs=longer))


@given(spec=specs(max_p=6, max_m=14), mode=st.sampled_from(["selective", "full"]), share=st.sampled_from([0.4324, 1.0]))
def test_recomputation_never_holds_more_memory_and_releases_all_of_it(spec: Spec, mode: str, share: float) -> None:
    again = spec.with_(recompute=mode, w_share=share)
    order = registry.order(again)
    timeline = simulate(order, again.timing, again.v)
    plain, less = peaks(order, share, again.v), peaks(order, share, again.v, again.kept)
    assert (less[0] == plain[0]).all()
    assert (less[1] <= plain[1] + 1e-9).all()
    for rank in range(order.p):
        level = curve(timeline, rank, share, again.v, again.kept)[1]
        assert level.min() > -1e-9
        assert abs(level[-1]) < 1e-9
        assert level.max() == pytest.approx(less[1][rank])


@pytest.mark.parametrize("mode", MODES)
def test_1f1b_holds_the_kept_part_of_all_micro_batches_except_one(mode: str) -> None:
    shape = result.result(Spec("1f1b", 4, 8, recompute=mode))
    kept = MODES[mode].kept
    assert shape["peak_memory"] == pytest.approx([(4 - r - 1) * kept + 1 for r in range(4)])
    assert shape["makespan"] == pytest.approx((8 + 3) * (3 + MODES[mode].extra))


def test_selective_recomputation_has_the_papers_shares_for_gpt_3() -> None:
    """Korthikanti et al.: 70 % of the activations for 2.7 % more FLOPs of the forward."""
    assert round(1 - MODES["selective"].kept, 2) == 0.70
    assert round(MODES["selective"].extra, 3) == 0.027


@pytest.mark.parametrize(
    ("data", "field"),
    [
        ({"recompute": "some"}, "recompute"),
        ({"recompute": None}, "recompute"),
        ({"recompute": True}, "recompute"),
        ({"family": "dualpipev", "m": 8, "recompute": "full", "costs": {"FB": 3}}, "FB"),
        ({"recompute": "full", "costs": {"F": [1, 1, 1, 1]}}, "I"),
    ],
)
def test_options_incompatible_with_recomputation_are_refused(data: dict[str, object], field: str) -> None:
    with pytest.raises(SpecError) as caught:
        registry.read(data)
    assert caught.value.field == field
