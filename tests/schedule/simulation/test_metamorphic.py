"""Metamorphic relations that hold for every family: the effect of a changed spec on its result."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from backend.schedule.analysis.compare import message_count
from backend.schedule.errors import SpecError
from backend.schedule.families.registry import FAMILIES, order, validate
from backend.schedule.order.ops import Op, Pair, parse
from backend.schedule.order.order import Order, from_ops, micro_numbers
from backend.schedule.order.placement import Placement
from backend.schedule.simulation.check import check
from backend.schedule.simulation.costs import Cost, Costs
from backend.schedule.simulation.memory import peaks
from backend.schedule.simulation.metrics import figures
from backend.schedule.simulation.simulate import Timeline, simulate
from backend.schedule.spec import Spec
from tests.support.strategies import few, nearest_legal, specs

every_family = pytest.mark.parametrize("family", FAMILIES)


def timed(spec: Spec, costs: Costs | None = None) -> Timeline:
    return simulate(order(spec), costs or spec.costs, spec.v)


def stored(built: Order, relabel: np.ndarray) -> Order:
    """The order with every slot's own micro-batch k renamed to ``relabel[k]``."""
    numbers = np.concatenate([np.stack(micro_numbers(built, rank), 1) for rank in range(built.p)])
    renamed = np.where(numbers < 0, -1, relabel[numbers]).astype(np.int32)
    return Order(built.placement, built.m, built.codes, built.offsets, renamed)


def with_chunk(op: Op | Pair, rank: int, place: Placement) -> Op | Pair:
    """An op read from text, which does not name the chunk; DualPipe's two chunks of a rank hold different stages."""
    if isinstance(op, Pair):
        return Pair(*(_placed(half, rank, place) for half in (op.forward, op.backward)))
    return _placed(op, rank, place)


def _placed(op: Op, rank: int, place: Placement) -> Op:
    return replace(op, chunk=place.stage_of[rank].tolist().index(op.stage))


@every_family
@given(data=st.data())
@few(10)
def test_renaming_micro_batches_changes_no_time_and_no_memory(family: str, data: st.DataObject) -> None:
    spec = data.draw(specs(family))
    built = order(spec)
    renamed = stored(built, np.array(data.draw(st.permutations(range(built.n)))))
    check(renamed)
    before, after = simulate(built, spec.costs, spec.v), simulate(renamed, spec.costs, spec.v)
    assert np.array_equal(before.start, after.start)
    assert np.array_equal(before.end, after.end)
    assert np.array_equal(peaks(built)[0], peaks(renamed)[0])


def scaled(costs: Costs, by: float) -> Costs:
    def scale(cost: Cost) -> Cost:
        return tuple(each * by for each in cost) if isinstance(cost, tuple) else cost * by

    pair = None if costs.FB is None else costs.FB * by
    return Costs(scale(costs.F), scale(costs.I), scale(costs.W), costs.comm * by, pair)


@every_family
@given(data=st.data(), power=st.integers(-6, 12))
@few(10)
def test_figures_keep_their_order_and_a_clock_that_runs_faster_scales_every_time_and_no_share(
    family: str, data: st.DataObject, power: int
) -> None:
    spec = data.draw(specs(family))
    by = 2.0**power  # a power of two leaves every sum exact
    faster = spec.with_(costs=scaled(spec.costs, by))
    before, after = timed(spec), timed(faster)
    assert np.array_equal(before.order.codes, after.order.codes), "an order may depend on ratios of costs only"
    assert np.array_equal(before.start * by, after.start)
    assert np.array_equal(before.end * by, after.end)
    shown, then = figures(before), figures(after)
    assert (shown.global_bubble, shown.span_bubble) == (then.global_bubble, then.span_bubble)
    assert shown.busy <= shown.longest_stage <= shown.makespan
    assert 0.0 <= shown.span_bubble.of_total <= shown.global_bubble.of_total < 1.0
    assert shown.global_bubble.of_ideal >= shown.global_bubble.of_total


@every_family
@given(data=st.data(), slower=st.sampled_from(["F", "I", "W", "comm"]), more=st.integers(1, 50))
@few(12)
def test_a_slower_op_or_hop_never_helps(family: str, data: st.DataObject, slower: str, more: int) -> None:
    spec = data.draw(specs(family))
    built = order(spec)
    cost = getattr(spec.costs, slower) + (more if slower == "comm" else 12 * more)
    before, after = simulate(built, spec.costs, spec.v), simulate(built, replace(spec.costs, **{slower: cost}), spec.v)
    assert (after.end >= before.end).all()


@pytest.mark.parametrize("family", [name for name, each in FAMILIES.items() if each.placement != "bidirectional"])
@given(data=st.data())
@few(10)
def test_one_device_has_no_bubble_and_no_messages(family: str, data: st.DataObject) -> None:
    spec = nearest_legal(data.draw(specs(family)).with_(p=1))
    assert spec.p == 1
    shown = figures(timed(spec))
    assert message_count(order(spec)) == 0
    work = sum(float(cost) for cost in (spec.costs.F, spec.costs.I, spec.costs.W))  # type: ignore[arg-type]
    assert shown.makespan == shown.longest_stage == spec.m * work
    assert shown.global_bubble.of_total == shown.span_bubble.of_total == 0.0


@every_family
@given(data=st.data())
@few(10)
def test_one_more_micro_batch_never_ends_earlier(family: str, data: st.DataObject) -> None:
    spec = data.draw(specs(family, hops=False))
    next_m = next((m for m in range(spec.m + 1, spec.m + 100) if is_legal(spec.with_(m=m))), None)
    assume(next_m is not None)  # groups as few as one micro-batch run only while there is a single group
    more = spec.with_(m=next_m)
    assert figures(timed(more)).makespan >= figures(timed(spec)).makespan


def is_legal(spec: Spec) -> bool:
    try:
        validate(spec)
    except SpecError:
        return False
    return True


@every_family
@given(data=st.data())
@few(10)
def test_the_text_of_an_order_reads_back_as_the_same_order(family: str, data: st.DataObject) -> None:
    built = order(data.draw(specs(family)))
    lines = built.text()
    rows = [[with_chunk(parse(text), r, built.placement) for text in line.split()] for r, line in enumerate(lines)]
    again = from_ops(built.placement, built.m, rows)
    assert np.array_equal(again.codes, built.codes)
    assert np.array_equal(again.offsets, built.offsets)
    assert again.text() == lines
    for rank in range(built.p):
        assert all(
            np.array_equal(*each) for each in zip(micro_numbers(again, rank), micro_numbers(built, rank), strict=True)
        )
