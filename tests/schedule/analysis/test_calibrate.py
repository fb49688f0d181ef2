"""Calibration: costs are recovered from simulated measurements, and deviations are found."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.schedule.diagnosis.calibrate import calibrate, neutral
from backend.schedule.families import registry
from backend.schedule.order.ops import Pair
from backend.schedule.simulation.costs import Costs
from backend.schedule.simulation.simulate import Timeline, replay, simulate
from backend.schedule.spec import Spec
from tests.support.strategies import optioned, specs


def ran(spec: Spec) -> Timeline:
    return simulate(registry.order(spec), spec.timing, spec.v)


@given(specs(max_p=5, max_m=12))
def test_a_run_exactly_as_simulated_is_predicted_exactly_at_the_costs_read_off_it(spec: Spec) -> None:
    measured = ran(spec)
    found = calibrate(measured, spec.v)
    assert found.error == pytest.approx(0.0, abs=1e-9)
    np.testing.assert_allclose(found.residual, 0.0, atol=1e-6 * measured.end.max())


@given(optioned(max_p=4, max_m=8))
def test_options_are_in_the_costs_that_are_read_off(spec: Spec) -> None:
    measured = ran(spec)
    if any(isinstance(op, Pair) for rank in range(spec.p) for op in measured.order.row(rank)):
        return  # a forward that only pairs hold has no time of its own
    assert calibrate(measured, spec.v).error == pytest.approx(0.0, abs=1e-9)


@given(specs(max_p=4, max_m=8), st.floats(0.1, 1e6), st.floats(0.0, 1e6))
def test_neither_the_unit_nor_the_start_of_a_run_changes_the_costs(spec: Spec, unit: float, zero: float) -> None:
    measured = ran(spec)
    later = Timeline(measured.order, measured.start * unit + zero, measured.end * unit + zero)
    found = calibrate(later, spec.v)
    assert found.error == pytest.approx(0.0, abs=1e-6)
    assert found.predicted.start.min() == pytest.approx(later.start.min())


@given(specs(max_p=4, max_m=8), st.integers(1, 9), st.sampled_from([0.0, 0.25, 1.0]), st.sampled_from([1.0, 1e3]))
def test_the_part_of_an_op_that_is_fixed_is_read_off_a_run_whose_micro_batches_differ(
    spec: Spec, seed: int, fixed: float, unit: float
) -> None:
    spec = spec.with_(sizes=f"lognormal:.4:{seed}", fixed=fixed, injection="mountain")
    ours = ran(spec)
    if spec.m == 1 or any(isinstance(op, Pair) for rank in range(spec.p) for op in ours.order.row(rank)):
        return  # one size does not tell
    measured = Timeline(ours.order, ours.start * unit, ours.end * unit)
    found = calibrate(measured, spec.v, spec.timing)
    assert found.error == pytest.approx(0.0, abs=1e-9)
    again = neutral(spec, found, unit)
    assert again.fixed == pytest.approx(fixed, abs=1e-3)
    figures = simulate(measured.order, again.timing, spec.v)
    assert figures.end.max() * unit == pytest.approx(measured.end.max(), rel=1e-6)


@pytest.mark.parametrize("more", [{}, {"sizes": "lognormal:.4:2"}, {"spared": 1}])
@pytest.mark.parametrize("family", ["1f1b", "zb-h1", "interleaved"])
def test_what_runs_ahead_of_its_gradient_is_in_the_prediction(family: str, more: dict[str, Any]) -> None:
    spec = {"family": family, "p": 4, "m": 12, "recompute": "full", "recompute_at": "ahead"} | more
    spec = registry.read(spec)
    spec = spec.with_(costs=Costs(F=1, I=1.5, W=0.5, comm=0.25))
    plan = ran(spec)
    measured = Timeline(plan.order, plan.start * 40, plan.end * 40)
    found = calibrate(measured, spec.v, spec.timing)
    assert (found.error, found.replay_error) == (pytest.approx(0.0, abs=1e-9), pytest.approx(0.0, abs=1e-9))
    assert abs(calibrate(measured, spec.v).error) > 0.01, "else it would not matter here"
    again = neutral(spec, found, 40.0)
    assert simulate(measured.order, again.timing, spec.v).end.max() == pytest.approx(plan.end.max())


def test_a_slow_stage_and_a_slow_hop_are_found() -> None:
    spec = registry.read({"p": 4, "m": 12, "family": "zb-h1", "costs": {"F": [1, 1, 3, 1], "comm": 0.25}})
    costs = calibrate(ran(spec), 1).costs
    np.testing.assert_allclose([costs.F, costs.I, costs.W], [[1, 1, 3, 1], [1, 1, 1, 1], [1, 1, 1, 1]])
    assert costs.comm == pytest.approx(0.25)


@given(specs(max_p=4, max_m=8), st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.25]))
def test_a_run_whose_ops_vary_is_replayed_exactly(spec: Spec, seed: int, comm: float) -> None:
    order = registry.order(spec)
    measured = replay(order, np.random.default_rng(seed).uniform(0.5, 2.0, len(order)), Costs(comm=comm))
    found = calibrate(measured, spec.v)
    np.testing.assert_allclose(found.replayed.end, measured.end, rtol=1e-9)
    assert found.replay_error == pytest.approx(0.0, abs=1e-9)


def test_a_replay_at_equal_times_is_the_simulation() -> None:
    for given_spec in (
        {"family": "gis", "p": 2, "m": 4, "v": 2, "offload": "full"},
        {"p": 3, "vocabulary": "parallel-1"},
    ):
        spec = registry.read({"costs": {"comm": 0.5}, **given_spec})
        plan = ran(spec)
        again = replay(plan.order, plan.end - plan.start, Costs(comm=0.5), plan.copy_end - plan.copy_start)
        np.testing.assert_allclose([*again.end, *again.copy_end], [*plan.end, *plan.copy_end])


def test_waiting_for_the_slower_rank_is_in_the_replay_and_not_in_the_medians() -> None:
    order = registry.order(registry.read({"family": "1f1b", "p": 2, "m": 64}))
    spent = np.where(np.random.default_rng(1).random(len(order)) < 0.3, 2.0, 1.0)
    found = calibrate(replay(order, spent, Costs()), 1)
    assert found.error < -0.2
    assert found.replay_error == pytest.approx(0.0, abs=1e-9)


def test_a_late_message_is_in_neither() -> None:
    order = registry.order(registry.read({"family": "1f1b", "p": 2, "m": 16}))
    plain = replay(order, np.ones(len(order)), Costs())
    late = plain.start > plain.end.max() / 2
    measured = Timeline(order, plain.start + 3.0 * late, plain.end + 3.0 * late)
    found = calibrate(measured, 1)
    assert found.replay_error == pytest.approx(-3.0 / measured.end.max(), rel=0.05)
    assert found.error == pytest.approx(found.replay_error)


def test_one_disturbed_op_is_a_residual_and_not_a_cost() -> None:
    spec = registry.read({"p": 3, "m": 9, "family": "1f1b"})
    plain = ran(spec)
    start, end = plain.start.copy(), plain.end.copy()
    last = int(plain.order.offsets[1]) - 1  # rank 0's last op, which no op waits for
    end[last] += 5.0
    found = calibrate(Timeline(plain.order, start, end), 1)
    assert found.costs == replace(calibrate(plain, 1).costs)
    assert int(np.argmax(found.residual)) == last
    assert found.residual[last] == pytest.approx(5.0)
    assert found.error == pytest.approx(plain.end.max() / (plain.end.max() + 5.0) - 1.0)


def test_pauses_between_ops_count_as_cost_and_waits_for_messages_do_not() -> None:
    spec = registry.read({"p": 2, "m": 6, "family": "gpipe", "costs": {"F": 1, "I": 1, "W": 1}})
    slower = simulate(registry.order(spec), replace(spec.costs, F=1.1, I=1.0, W=1.1), 1)
    code = slower.order.codes
    reported = Timeline(slower.order, slower.start + np.where(code == code.min(), 0.1, 0.0), slower.end)
    found = calibrate(reported, 1)
    assert isinstance(found.costs.F, tuple)
    assert found.costs.F[0] == pytest.approx(1.1)
    assert found.costs.F[1] + found.costs.comm == pytest.approx(1.1)  # after a wait, a pause and a hop look the same
    assert found.error == pytest.approx(0.0, abs=0.02)


@pytest.mark.parametrize(
    "given_spec",
    [
        {"family": "zb-h1", "p": 3, "m": 6, "layers": [3, 2, 1], "recompute": "selective"},
        {"family": "1f1b", "p": 3, "m": 6, "vocabulary": "redistribute", "layers": [4, 4, 4]},
        {"family": "1f1b", "p": 3, "m": 6, "vocabulary": "parallel-1"},
        {"family": "gis", "p": 2, "m": 4, "v": 2, "offload": "full", "shared_link": True},
        {"family": "zb-h1", "p": 3, "m": 6, "frozen": [0, 1]},
        {"family": "1f1b", "p": 3, "m": 6, "frozen": [0, 2], "vocabulary": "parallel-1"},
    ],
    ids=lambda spec: spec["family"],
)
def test_the_spec_with_measured_costs_gives_the_times_that_were_measured(given_spec: dict[str, object]) -> None:
    spec = registry.read(given_spec)
    measured = ran(spec)
    again = registry.read(neutral(spec, calibrate(measured, spec.v), 2.0).to_json())
    np.testing.assert_allclose(ran(again).end * 2.0, measured.end, rtol=1e-6)
