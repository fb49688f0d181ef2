"""Forward-only schedules: every F once and nothing else, in the family's order, with laws of their own."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.schedule.analysis.compare import compare
from backend.schedule.errors import OrderError, SpecError
from backend.schedule.families import imported, registry
from backend.schedule.interop import torch_csv
from backend.schedule.interop.traces import chrome
from backend.schedule.interop.traces.chrome_export import trace
from backend.schedule.order import wire
from backend.schedule.order.order import Order
from backend.schedule.result import law_values, result
from backend.schedule.simulation.check import check
from backend.schedule.simulation.memory import peaks
from backend.schedule.simulation.message_flow import producers
from backend.schedule.simulation.metrics import figures
from backend.schedule.simulation.simulate import simulate
from backend.schedule.spec import Spec
from tests.support.strategies import specs

TAKING = [name for name, family in registry.FAMILIES.items() if "forward_only" in family.fields]


@st.composite
def forwards(draw: st.DrawFn) -> Spec:
    """A forward-only spec of any family that has one, near any legal one."""
    spec = draw(specs(draw(st.sampled_from(TAKING))))
    return spec.with_(forward_only=True, lifo=False)


@given(spec=forwards())
def test_every_stage_does_one_f_per_micro_batch_in_the_familys_order(spec: Spec) -> None:
    built, whole = registry.order(spec), registry.order(spec.with_(forward_only=False))
    check(built)
    assert built.forward_only
    assert len(built) == registry.op_count(spec) == spec.p * spec.m * spec.v
    for rank in range(spec.p):
        forwards = [op.text() for op in whole.row(rank) if op.text().split("F")[0].isdigit()]
        assert [op.text() for op in built.row(rank)] == forwards
    assert peaks(built)[0].tolist() == [0] * spec.p
    again = wire.from_text(wire.to_text(built))
    assert again.text() == built.text()
    hops = (spec.p * spec.v - 1 if built.placement.kind == "looped" else 2 * (spec.p - 1)) * spec.m
    assert int(producers(built)[1].sum()) == (hops if spec.p > 1 else 0)


@given(spec=forwards())
def test_every_forward_only_law_equals_the_simulation_where_it_says_exact(spec: Spec) -> None:
    built = registry.order(spec)
    shown = figures(simulate(built, spec.costs, spec.v))
    idle = shown.makespan - shown.busy
    simulated = {"makespan": shown.makespan, "bubble": idle, "share": idle / shown.makespan, "peak": 0.0}
    laws = law_values(spec)
    assert laws
    for law in laws:
        if law["exact"]:
            assert simulated[law["quantity"]] == pytest.approx(law["value"], rel=1e-12, abs=1e-9), law


@pytest.mark.parametrize(
    ("family", "v", "share"), [("1f1b", 1, 3 / 11), ("interleaved", 2, 3 / 19), ("v-zb", 2, 3 / 11)]
)
def test_the_bubble_of_inference_is_p_minus_1_over_v_m_plus_p_minus_1_unless_stages_are_in_a_v(
    family: str, v: int, share: float
) -> None:
    found = result(Spec(family, 4, 8, v, forward_only=True))
    assert found["bubble"]["global"]["of_total"] == pytest.approx(share)
    assert found["law"]["exact"]
    assert found["law"]["value"] == pytest.approx(share)


@pytest.mark.parametrize("family", [name for name in registry.FAMILIES if name not in TAKING])
def test_a_family_whose_order_is_made_for_backwards_is_refused_with_a_way_out(family: str) -> None:
    with pytest.raises(SpecError) as caught:
        registry.read({"family": family, "p": 4, "m": 8, "forward_only": True})
    assert (caught.value.field, caught.value.nearest) == ("forward_only", False)
    assert "use 1f1b" in caught.value.message or "use v-zb" in caught.value.message


@pytest.mark.parametrize(
    ("option", "plain"),
    [("recompute", "none"), ("vocabulary", "plain"), ("offload", "none"), ("lifo", False)],
)
def test_an_option_that_acts_on_the_backward_is_refused_and_advice_leads_to_a_legal_spec(
    option: str, plain: object
) -> None:
    family = {"lifo": "gpipe", "offload": "gis"}.get(option, "1f1b")
    value = {"recompute": "full", "vocabulary": "parallel-1", "offload": "full", "lifo": True}[option]
    data = {"family": family, "p": 4, "m": 8, "forward_only": True, option: value}
    with pytest.raises(SpecError) as caught:
        registry.read(data)
    assert (caught.value.field, caught.value.nearest) == (option, plain)
    registry.read(data | {option: plain})


def without(order: Order, at: int) -> Order:
    """The same order without one op."""
    rank = int(np.searchsorted(order.offsets, at, side="right"))
    offsets = order.offsets - (np.arange(len(order.offsets)) >= rank)
    return replace(order, codes=np.delete(order.codes, at), offsets=offsets)


def test_a_forward_that_is_missing_is_named() -> None:
    with pytest.raises(OrderError, match="rank 1 never does 1F4"):
        check(without(registry.order(Spec("1f1b", 3, 5, forward_only=True)), 9))


def test_an_order_that_lacks_the_backwards_of_one_rank_only_is_not_forward_only() -> None:
    with_backwards, alone = registry.order(Spec("1f1b", 2, 2)), registry.order(Spec("1f1b", 2, 2, forward_only=True))
    codes = np.concatenate((alone.codes[:2], with_backwards.codes[4:]))
    with pytest.raises(OrderError, match="rank 0 never does 0B0"):
        check(replace(with_backwards, codes=codes, offsets=np.array([0, 2, 6])))


def test_a_csv_file_of_forwards_is_a_forward_only_order() -> None:
    built = registry.order(Spec("interleaved", 2, 4, 2, forward_only=True))
    spec = imported.spec_of(torch_csv.read(torch_csv.dump(built)))
    assert spec.forward_only
    assert registry.order(registry.read(spec.to_json())).text() == built.text()
    with pytest.raises(SpecError) as caught:
        registry.read(spec.with_(forward_only=False).to_json())
    assert (caught.value.field, caught.value.nearest) == ("forward_only", True)


def test_a_trace_is_forward_only_if_it_says_so_because_profilers_lose_backwards() -> None:
    spec = Spec("1f1b", 3, 4, forward_only=True)
    written = trace(simulate(registry.order(spec), spec.costs), "1F1B")
    read = chrome.load(json.dumps(written))
    assert read.timeline is not None
    assert read.timeline.order.forward_only
    del written["otherData"]["forward_only"]
    lost = chrome.load(json.dumps(written))
    assert lost.timeline is None
    assert lost.missing is not None
    assert "only forwards are there" in lost.missing


def test_a_comparison_leaves_out_families_without_a_forward_only_schedule_and_claims_nothing() -> None:
    found = compare(Spec("1f1b", 4, 8, forward_only=True))
    assert [row["family"] for row in found["rows"]] == TAKING
    assert all(row["spec"]["forward_only"] and row["claim"] is None for row in found["rows"])
    left_out = [note for note in found["notes"] if "is left out" in note]
    assert len(left_out) == len(registry.FAMILIES) - len(TAKING)
