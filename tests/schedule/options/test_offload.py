"""Offload of activations to host memory: copy lanes, memory, and compute that waits for copies."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.schedule.families import registry
from backend.schedule.order.copy_lanes import O, R
from backend.schedule.simulation.costs import Costs
from backend.schedule.simulation.memory import curve, peak_memory, peaks
from backend.schedule.simulation.metrics import figures
from backend.schedule.simulation.simulate import Timeline, simulate
from backend.schedule.spec import Spec

FAMILIES = ("interleaved", "gis", "gis-h")


def run(spec: Spec) -> Timeline:
    return simulate(registry.order(spec), spec.timing, spec.v)


def spec_of(family: str, p: int, v: int, k: float, mode: str, costs: Costs | None = None) -> Spec:
    """k as defined by PipeOffload: both copies over compute."""
    costs = costs or Costs()
    assert isinstance(costs.F, float) and isinstance(costs.I, float) and isinstance(costs.W, float)  # noqa: PT018
    copy = k * (costs.F + costs.I + costs.W) / 2
    return Spec(family, p, 4 * p, v, offload=mode, costs=Costs(costs.F, costs.I, costs.W, O=copy))


@given(
    family=st.sampled_from(FAMILIES),
    p=st.sampled_from([2, 3, 4, 6]),
    v=st.sampled_from([1, 2, 3, 4]),
    k=st.floats(0, 2),
    mode=st.sampled_from(["selective", "full"]),
    costs=st.builds(Costs, *[st.floats(0.2, 5)] * 3),
)
def test_a_lane_does_one_copy_at_a_time_and_each_after_what_it_needs(
    family: str, p: int, v: int, k: float, mode: str, costs: Costs
) -> None:
    spec = spec_of(family, p, v, k, mode, costs)
    timeline = run(spec)
    order, copies = timeline.order, timeline.order.copies
    if copies is None:
        return
    for rank in range(p):
        span = slice(copies.offsets[rank], copies.offsets[rank + 1])
        start, end = timeline.copy_start[span], timeline.copy_end[span]
        assert (start[1:] >= end[:-1]).all()
        ended = dict(zip([op.text() for op in order.row(rank)], timeline.rank(rank)[1].tolist(), strict=True))
        out: dict[tuple[int, int], float] = {}
        for (kind, chunk, micro, _), begin, done in zip(copies.row(rank, v), start, end, strict=True):
            stage = order.placement.stage(rank, chunk)
            if kind == O:
                assert begin >= ended[f"{stage}F{micro}"]
                out[chunk, micro] = float(done)
            else:
                assert begin >= out[chunk, micro]


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("p", "v"), [(4, 2), (4, 4), (8, 2), (8, 4)])
def test_copies_that_keep_up_cost_no_time_and_free_most_of_the_memory(family: str, p: int, v: int) -> None:
    plain = Spec(family, p, 4 * p, v)
    spec = spec_of(family, p, v, 0.5, "full")
    free, timeline = run(plain), run(spec)
    assert figures(timeline).makespan == pytest.approx(figures(free).makespan)
    held = peak_memory(timeline, 1.0, v, 1.0).max()
    assert held <= 0.5 * peaks(free.order, 1.0, v)[1].max()
    assert held <= 6 / v  # O(M / (v p)): a few chunks, however many devices


@pytest.mark.parametrize("family", ["gis", "gis-h"])
def test_at_k_of_one_full_offload_is_nearly_free(family: str) -> None:
    for p, v in ((4, 2), (8, 4)):
        plain = figures(run(Spec(family, p, 4 * p, v))).makespan
        assert figures(run(spec_of(family, p, v, 1.0, "full"))).makespan <= 1.03 * plain


@pytest.mark.parametrize("family", ["gis", "interleaved"])
def test_above_k_of_one_compute_waits_for_the_lane_about_as_long_as_k_predicts(family: str) -> None:
    plain = figures(run(Spec(family, 4, 16, 4))).makespan
    waits = figures(run(spec_of(family, 4, 4, 1.3, "full"))).makespan / plain
    assert 1.15 < waits < 1.35


def test_selective_offload_takes_the_chunks_that_live_longest_and_is_free_up_to_twice_the_k() -> None:
    plain, spec = Spec("gis", 8, 32, 4), spec_of("gis", 8, 4, 1.5, "selective")
    timeline = run(spec)
    copies = timeline.order.copies
    assert copies is not None
    assert set((copies.codes % 4).tolist()) == {0, 1}
    assert figures(timeline).makespan == pytest.approx(figures(run(plain)).makespan)
    assert peak_memory(timeline, 1.0, 4, 1.0).max() < 0.65 * peaks(timeline.order, 1.0, 4)[1].max()


def test_a_shared_link_makes_every_copy_take_twice_as_long() -> None:
    own = Spec("gis", 4, 16, 2, offload="full", costs=Costs(O=0.5))
    alone, shared = own.timing, own.with_(shared_link=True).timing
    assert isinstance(alone.O, float)
    assert shared.O == 2 * alone.O


def test_activations_with_too_short_a_lifetime_stay_on_the_device() -> None:
    """The last stage's activations are wanted at once: there is no time for a copy out and back."""
    timeline = run(spec_of("gis", 4, 2, 1.0, "full"))
    copies = timeline.order.copies
    assert copies is not None
    last = copies.codes[copies.offsets[3] : copies.offsets[4]] % 2
    assert 1 not in last.tolist()
    assert run(spec_of("gis", 2, 1, 50.0, "full")).order.copies is None


def test_the_curve_drops_at_the_end_of_an_offload_and_rises_at_the_start_of_a_reload() -> None:
    timeline = run(spec_of("gis", 4, 2, 0.5, "full"))
    copies = timeline.order.copies
    assert copies is not None
    times, levels = curve(timeline, 0, 1.0, 2)
    rank = slice(copies.offsets[0], copies.offsets[1])
    back = copies.codes[rank] // 2 == R
    assert set(timeline.copy_end[rank][~back]) <= set(times)
    assert set(timeline.copy_start[rank][back]) <= set(times)
    assert levels.max() < peaks(timeline.order, 1.0, 2)[1][0]
    assert np.all(np.diff(times) >= 0)
