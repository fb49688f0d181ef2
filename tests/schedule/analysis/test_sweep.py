"""The data of charts against laws and simulations: bubbles over sizes, the parts of idle time, ratios of models."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.schedule.analysis.sweep import M_STOPS, MOST_STOPS, P_STOPS, cell, grid, over_v, stops
from backend.schedule.families.registry import FAMILIES, order
from backend.schedule.hardware.cost_model import Setting
from backend.schedule.hardware.estimate import estimate
from backend.schedule.hardware.models import MODELS
from backend.schedule.hardware.ratios import GUIDE_BYTES, GUIDE_FLOPS, offload_ratio, output_layers
from backend.schedule.simulation.costs import Costs
from backend.schedule.simulation.idle_breakdown import USEFUL, WASTED, idle_breakdown
from backend.schedule.simulation.metrics import figures
from backend.schedule.simulation.simulate import simulate
from backend.schedule.spec import Spec


def spec_of(family: str, p: int = 4, m: int = 8, **more: Any) -> Spec:
    more.setdefault("v", FAMILIES[family].v[1])
    return Spec(family, p, m, **more)


def test_1f1bs_bubbles_over_p_and_m_are_the_textbooks_law() -> None:
    ps, ms, cells = grid(Spec("1f1b", 4, 8))
    for p, line in zip(ps, cells, strict=True):
        for m, found in zip(ms, line, strict=True):
            assert found.figures is not None
            for share in (found.figures.span_bubble, found.figures.global_bubble):
                assert share.of_total == pytest.approx((p - 1) / (m + p - 1))
                assert share.of_ideal == pytest.approx((p - 1) / m)


def test_an_illegal_size_has_a_reason_and_a_size_too_large_is_not_an_error() -> None:
    refused = cell(Spec("dualpipe", 4, 8), 4, 7)
    assert (refused.legal, refused.figures) == (False, None)
    assert refused.problem is not None
    assert "DualPipe needs at least" in refused.problem
    large = cell(Spec("v-half", 4, 8, v=2), 64, 256)
    assert (large.legal, large.figures) == (True, None)
    assert large.problem is not None
    assert large.problem.startswith("left out: 98,304 ops")


@given(st.integers(1, 1024), st.integers(1, 65536))
def test_the_requested_size_is_on_both_axes_and_they_have_a_fixed_length(p: int, m: int) -> None:
    for known, asked in ((P_STOPS, p), (M_STOPS, m)):
        sizes = stops(known, asked)
        assert asked in sizes
        assert sizes == sorted(set(sizes))
        assert len(sizes) <= MOST_STOPS


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("comm", [0.0, 0.3])
def test_the_parts_of_every_ranks_time_sum_to_the_makespan(family: str, comm: float) -> None:
    spec = spec_of(family, m=12, costs=Costs(1.0, 1.25, 0.75, comm))
    built = order(spec)
    timeline = simulate(built, spec.timing, spec.v)
    spent = idle_breakdown(built, spec.timing, spec.v)
    assert sum(spent.parts.values()) == pytest.approx(np.full(4, spent.makespan))
    assert sum(spent.parts[name] for name in USEFUL) == pytest.approx(timeline.busy())
    assert all((spent.parts[name] >= 0.0).all() for name in WASTED)
    assert (spent.parts["hop"].sum() > 0.0) == (comm > 0.0)
    idle = sum(float(spent.parts[name].mean()) for name in WASTED)
    assert idle / spent.makespan == pytest.approx(figures(timeline).global_bubble.of_total)


def test_1f1bs_idle_time_is_fill_drain_and_the_waiting_given_by_the_law() -> None:
    spent = idle_breakdown(order(Spec("1f1b", 4, 8)), Costs(), 1)
    ranks = np.arange(4)
    assert spent.parts["fill"] == pytest.approx(ranks)
    assert spent.parts["drain"] == pytest.approx(2 * ranks)
    assert spent.parts["wait"] == pytest.approx(9 - 3 * ranks)


def test_slow_copies_are_waited_for_as_copies_and_barriers_as_hops() -> None:
    slow = spec_of("gis", m=16, v=4, offload="full", costs=Costs(O=2.5))
    spent = idle_breakdown(order(slow), slow.timing, slow.v)
    assert sum(spent.parts.values()) == pytest.approx(np.full(4, spent.makespan))
    assert spent.parts["copy"][0] > 0.2 * spent.makespan
    spread = spec_of("1f1b", vocabulary="parallel-1", costs=Costs(comm=0.1))
    shared = idle_breakdown(order(spread), spread.timing, 1)
    assert shared.parts["S"] == pytest.approx(np.full(4, 8 * 0.25))
    assert sum(shared.parts.values()) == pytest.approx(np.full(4, shared.makespan))


def test_a_size_whose_receives_deadlock_has_the_reason_in_its_place() -> None:
    alone = Spec("1f1b", 1, 2, streams="rank", receives="deferred")
    found = cell(alone, 4, 8)
    assert (found.figures, found.legal) == (None, False)
    assert found.problem is not None
    assert found.problem.startswith("deadlock: rank 2 waits at 2SEND_F1")
    assert over_v(alone.with_(p=4, m=8), "interleaved") == []


def test_messages_multiply_with_v_as_stage_boundaries_do() -> None:
    loads = over_v(Spec("1f1b", 4, 8), "interleaved")
    assert [(load.spec.v, load.messages) for load in loads] == [(v, 2 * 8 * (4 * v - 1)) for v in range(1, 13)]
    spans = [load.figures.span_bubble.of_ideal for load in loads]
    assert spans == pytest.approx([3 / (8 * v) for v in range(1, 13)])


@pytest.mark.parametrize(
    ("hidden", "sequence", "k"), [(4096, 4096, 1.71), (4096, 32768, 0.85), (8192, 4096, 0.92), (8192, 32768, 0.60)]
)
def test_k_equals_the_guides_value_and_the_estimate(hidden: int, sequence: int, k: float) -> None:
    ratio = float(offload_ratio(hidden, sequence, GUIDE_FLOPS, GUIDE_BYTES))
    assert ratio == pytest.approx(k, abs=0.006)
    setting = Setting.read(
        {"model": "custom", "machine": "custom", "hidden": hidden, "sequence": sequence, "p": 1, "efficiency": 1.0,
         "flops": GUIDE_FLOPS, "host_bandwidth": GUIDE_BYTES, "causal": False}
    )  # fmt: skip
    # All tensors of the layer go, as many as are freed.
    assert estimate(setting).options.ratio == pytest.approx(ratio * 34 / 20)


def test_weights_of_output_layers_follow_from_their_flop_and_parameters() -> None:
    found = {each.model.name: each for each in output_layers()}
    assert set(found) == set(MODELS) - {"custom"}
    gemma = found["gemma2-9b"]
    s, h, wide = 4096, 3584, 16 * 256
    n = 2 * h * wide + 2 * h * 8 * 256 + 3 * h * 14336
    assert gemma.parameters == pytest.approx(3584 * 256000 / n)
    layer = 6 * s * n + 6 * s * s * wide  # half of the scores: they are causal
    assert gemma.compute == pytest.approx(6 * s * h * 256000 / layer)
    assert gemma.forward == pytest.approx(2 * s * h * 256000 / (42 * (2 * s * n + 2 * s * s * wide)))
