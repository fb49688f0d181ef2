"""The output layer sharded over the ranks: the paper's law and peaks, the positions of S and T, and the gain."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.schedule.families import registry
from backend.schedule.options.effective_costs import LAYERS_A_STAGE
from backend.schedule.options.vocabulary import MODES, SPREAD, ahead
from backend.schedule.order.order import Order
from backend.schedule.simulation.costs import Costs
from backend.schedule.simulation.memory import peaks
from backend.schedule.simulation.metrics import figures
from backend.schedule.simulation.simulate import simulate
from backend.schedule.spec import Spec

whole = st.integers(1, 30).map(float)
costs = st.builds(lambda f, i, w, s, t: Costs(f, i, w, S=s, T=t), whole, whole, whole, whole, whole)
MORE = {"parallel-1": 2, "parallel-2": 1}


def makespan(spec: Spec) -> float:
    return figures(simulate(registry.order(spec), spec.timing, spec.v)).makespan


@pytest.mark.parametrize("mode", SPREAD)
@given(p=st.sampled_from([1, 2, 3, 4, 8, 16]), m=st.integers(1, 40), costs=costs)
def test_1f1b_takes_the_papers_time_within_one_more_micro_batch_per_barrier(
    mode: str, p: int, m: int, costs: Costs
) -> None:
    spec = Spec("1f1b", p, m, costs=costs, vocabulary=mode)
    assert isinstance(costs.F, float) and isinstance(costs.I, float) and isinstance(costs.W, float)  # noqa: PT018
    once = costs.F + costs.I + costs.W
    assert makespan(spec) == m * (once + costs.S + costs.T) + (p - 1) * once
    assert peaks(registry.order(spec))[0].max() == min(m, p + MORE[mode])


@given(p=st.integers(1, 16), m=st.integers(1, 40), costs=costs)
def test_in_step_1f1b_takes_as_long_and_half_as_much_memory_again(p: int, m: int, costs: Costs) -> None:
    costs = Costs(costs.F, costs.F, costs.W, S=costs.S, T=costs.T)  # b >= f
    spec = Spec("1f1b", p, m, costs=costs, vocabulary="interlaced")
    built = registry.order(spec)
    once = costs.F + costs.I + costs.W
    assert makespan(spec) == m * (once + costs.S + costs.T) + (p - 1) * once
    assert peaks(built)[0].max() == min(m, p + p // 2)
    for rank in range(p):
        kinds = "".join(op.kind for op in built.row(rank))
        assert kinds.count("ST") == m  # nothing between a rank's S and T: all ranks do them together


@pytest.mark.parametrize("family", ["v-half", "v-min", "v-zb"])
@pytest.mark.parametrize("mode", SPREAD)
@pytest.mark.parametrize("p", [2, 4, 8])
def test_a_v_holds_one_micro_batch_more_for_each_barrier(family: str, mode: str, p: int) -> None:
    plain, spread = Spec(family, p, 4 * p, 2), Spec(family, p, 4 * p, 2, vocabulary=mode, costs=Costs(S=0.25, T=0.5))
    held = peaks(registry.order(plain))[0].max()
    assert peaks(registry.order(spread))[0].max() <= held + 2 * MORE[mode]
    ideal = spread.m * 3.75
    assert makespan(spread) <= 1.25 * ideal  # the barriers hide: a bubble of the plain V's size stays


@pytest.mark.parametrize("family", [name for name in registry.FAMILIES if registry.FAMILIES[name].vocabulary])
def test_with_a_heavy_output_layer_spreading_it_beats_moving_layers_and_that_beats_plain(family: str) -> None:
    v = registry.FAMILIES[family].v[1]
    took = {
        mode: makespan(Spec(family, 4, 16, v, costs=Costs(S=0.2, T=0.4), vocabulary=mode))
        for mode in ("plain", "redistribute", "parallel-2")
    }
    assert took["parallel-2"] < took["redistribute"] < took["plain"]


@given(p=st.integers(1, 8), v=st.sampled_from([1, 2]), head=st.floats(0, 3), layers=st.integers(1, 6))
def test_redistribution_keeps_every_layer_and_makes_no_stage_slower(p: int, v: int, head: float, layers: int) -> None:
    family = "1f1b" if v == 1 else "interleaved"
    stages = p * v
    spec = Spec(family, p, 4 * p, v, layers=(layers,) * stages, costs=Costs(S=head / 2, T=head / 2))
    before, after = spec.timing, spec.with_(vocabulary="redistribute").timing

    def slowest(costs: Costs) -> float:
        per = [c if isinstance(c, tuple) else (c / v,) * stages for c in (costs.F, costs.I, costs.W)]
        return max(sum(stage) for stage in zip(*per, strict=True))

    def work(costs: Costs) -> float:
        per = [c if isinstance(c, tuple) else (c / v,) * stages for c in (costs.F, costs.I, costs.W)]
        return sum(sum(c) for c in per)

    assert slowest(after) <= slowest(before) * (1 + 1e-12)
    assert work(after) == pytest.approx(work(before))


def test_redistribution_without_given_layers_assumes_a_number_per_stage() -> None:
    spec = Spec("1f1b", 4, 8, vocabulary="redistribute", costs=Costs(S=0.1875, T=0.375))  # a head of 2.25, a stage of 3
    timing = spec.timing
    assert timing == spec.with_(layers=(LAYERS_A_STAGE,) * 4).timing
    assert timing.F == (1.25, 1.25, 1.0, 0.5 + 0.75)  # 5, 5, 4 and 2 layers, and the head on the last


def test_where_nothing_is_given_s_and_t_take_a_quarter_and_a_half_of_f() -> None:
    timing = Spec("1f1b", 4, 8, vocabulary="parallel-1", costs=Costs(F=8.0)).timing
    assert (timing.S, timing.T) == (2.0, 4.0)
    assert Spec("1f1b", 4, 8).timing == Costs()  # and plain has no output layer unless it is given


@given(p=st.integers(1, 6), more=st.integers(0, 6), by=st.integers(0, 3))
def test_forwards_run_ahead_by_the_stated_number_of_micro_batches(p: int, more: int, by: int) -> None:
    m = p + by + more
    early = ahead(registry.order(Spec("1f1b", p, m + by)), m, by)
    plain = registry.order(Spec("1f1b", p, m))
    assert in_flight(early) == [held + by for held in in_flight(plain)]


def in_flight(order: Order) -> list[int]:
    return [int(each) for each in peaks(order)[0]]


def test_the_modes_state_how_often_all_ranks_meet() -> None:
    assert {mode: each.barriers for mode, each in MODES.items()} == {
        "plain": 0, "redistribute": 0, "parallel-1": 2, "parallel-2": 1, "interlaced": 2
    }  # fmt: skip
