"""The simulator: compiled equals interpreted, memory ends at zero, costs of stages and pairs, the dependency rule.

That every op starts at the latest of its causes is tested with all options, in tests/schedule/options/test_options.py.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.schedule import jit
from backend.schedule.families import registry
from backend.schedule.order import dependencies
from backend.schedule.order.order import from_ops
from backend.schedule.simulation.costs import Costs, durations
from backend.schedule.simulation.memory import _peaks, curve, peaks
from backend.schedule.simulation.metrics import figures
from backend.schedule.simulation.simulate import simulate
from backend.schedule.spec import Spec
from tests.support.strategies import specs


@given(spec=specs(max_p=6, max_m=14))
def test_compiled_and_interpreted_execution_agree_bit_by_bit(spec: Spec) -> None:
    order = registry.order(spec)
    jit.compile_all()
    assert jit.ready()
    fast, fast_peaks = simulate(order, spec.costs, spec.v), peaks(order, 0.4, spec.v)
    kernels, saved = jit._kernels, [each.compiled for each in jit._kernels]
    try:
        for each in kernels:
            each.compiled = None
        slow, slow_peaks = simulate(order, spec.costs, spec.v), peaks(order, 0.4, spec.v)
    finally:
        for each, compiled in zip(kernels, saved, strict=True):
            each.compiled = compiled
    assert np.array_equal(fast.start, slow.start)
    assert np.array_equal(fast.end, slow.end)
    assert all(np.array_equal(a, b) for a, b in zip(fast_peaks, slow_peaks, strict=True))
    assert _peaks.compiled is not None


@given(spec=specs(), share=st.sampled_from([0.0, 0.25, 0.4324, 1.0]))
def test_memory_is_never_negative_and_all_released(spec: Spec, share: float) -> None:
    order = registry.order(spec)
    timeline = simulate(order, spec.costs, spec.v)
    in_flight, memory = peaks(order, share, spec.v)
    for rank in range(order.p):
        _, level = curve(timeline, rank, share, spec.v)
        assert level.min() > -1e-9
        assert abs(level[-1]) < 1e-9
        assert level.max() == pytest.approx(memory[rank])
    assert (in_flight <= spec.m * order.chunks).all()
    assert (in_flight >= memory * spec.v - 1e-9).all()


def test_uneven_stages_have_the_cost_of_their_entry() -> None:
    order = registry.order(Spec("interleaved", 2, 2, 2))
    table = durations(order.placement, Costs((1.0, 2.0, 3.0, 4.0), 10.0, (0.0, 0.0, 0.0, 7.0)), 2)
    assert table[:, 0:2].tolist() == [[1, 3], [2, 4]]  # F of chunks 0, 1: stages 0, 2 and 1, 3
    assert table[:, 6:8].tolist() == [[5, 5], [5, 12]]  # B = I / v + W of the stage
    assert table[1, 8:12].tolist() == [2 + 5, 2 + 12, 4 + 5, 4 + 12]  # pairs: F of one chunk, B of the other


def test_an_overlapped_pair_takes_fb_and_gives_both_results_at_its_end() -> None:
    spec = Spec("dualpipev", 2, 4, 2, costs=Costs(2.0, 2.0, 2.0, 0.0, FB=4.0))
    order = registry.order(spec)
    timeline = simulate(order, spec.costs, 2)
    paired = order.codes >= 4 * order.chunks
    assert paired.any()
    assert ((timeline.end - timeline.start)[paired] == 2.0).all()


@given(spec=specs(max_p=5, max_m=10))
def test_stored_micro_batches_that_are_implied_are_not_stored(spec: Spec) -> None:
    order = registry.order(spec)
    again = from_ops(order.placement, order.m, [order.row(rank) for rank in range(order.p)])
    assert np.array_equal(again.codes, order.codes)
    assert (again.micro is None) == (order.micro is None)
    assert again.text() == order.text()


def test_the_two_windows_and_denominators_are_distinguished() -> None:
    shown = figures(simulate(registry.order(Spec("zb-h2", 4, 8)), Costs()))
    assert shown.span_bubble.of_total == 0.0
    assert shown.global_bubble.of_total == pytest.approx(3 / 27)
    assert shown.global_bubble.of_ideal == pytest.approx(3 / 24)


def test_the_dependency_rule_in_words() -> None:
    place = registry.order(Spec("dualpipev", 2, 4, 2)).placement  # stages 0 3 | 1 2
    rule = dependencies.rules(place)
    forward = dependencies.FORWARD
    row = {stage: 2 * int(place.slot_at[0, stage]) for stage in range(4)}
    assert rule.need[0, 0, 0] == -1  # 0F needs nothing
    assert rule.need[1, 1, 0] == row[1] + forward  # 2F needs 1F,
    assert rule.hops[1, 1, 0] == 0  # which is on its own rank: the turn of the V
    assert rule.need[0, 2 + 1, 0] == row[3] + forward  # 3I, the loss, needs 3F
    assert rule.need[0, 2 + 0, 0] == row[1] + dependencies.GRADIENT  # 0I needs 1's gradient,
    assert rule.hops[0, 2 + 0, 0] == 1  # one hop away
    assert (rule.need[:, 4:6, 0] == -1).all()  # W waits for nothing but its own rank
