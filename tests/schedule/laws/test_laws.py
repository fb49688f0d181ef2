"""Laws equal the simulation inside their regions, and published figures are reproduced to their digits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.schedule import result
from backend.schedule.families import registry
from backend.schedule.simulation.costs import Costs
from backend.schedule.simulation.memory import peaks
from backend.schedule.simulation.metrics import figures
from backend.schedule.simulation.simulate import simulate
from backend.schedule.spec import Spec
from tests.support.strategies import few, specs


def measured(spec: Spec, quantity: str, window: str) -> float:
    """The simulated value of the quantity that a law gives."""
    built = registry.order(spec)
    if quantity == "peak":
        return float(peaks(built)[0].max())
    shown = figures(simulate(built, spec.costs, spec.v))
    whole = shown.makespan if window == "global" else shown.longest_stage
    idle = whole - shown.busy
    return {"makespan": whole, "bubble": idle, "share": idle / whole}[quantity]


def assert_laws_hold(spec: Spec) -> int:
    exact = [law for law in result.law_values(spec) if law["exact"]]
    for law in exact:
        assert measured(spec, law["quantity"], law["window"]) == law["value"], law
    return len(exact)


@pytest.mark.parametrize("family", registry.FAMILIES)
@given(data=st.data())
@few(12)
def test_every_law_equals_the_simulation_where_it_says_exact(family: str, data: st.DataObject) -> None:
    assert_laws_hold(data.draw(specs(family)))


@pytest.mark.parametrize("family", registry.FAMILIES)
@given(data=st.data())
@few(12)
def test_with_enough_micro_batches_equal_f_i_and_w_and_no_hops_every_law_is_exact(
    family: str, data: st.DataObject
) -> None:
    f = 12.0 * data.draw(st.integers(2, 9))
    spec = data.draw(specs(family)).with_(costs=Costs(f, f, f, 0.0), group=None)
    spec = spec.with_(m=max(2, spec.m) * 2 * spec.p)
    exact = assert_laws_hold(spec)
    searched = "memory" in registry.FAMILIES[family].fields  # searched orders have no closed form
    turning = family in ("v-min", "v-half") and spec.p <= 2  # too few devices for the block's pattern
    assert exact == len(result.law_values(spec)) or searched or turning


@given(data=st.data(), p=st.integers(1, 7), m=st.integers(1, 20))
def test_uneven_gpipe_follows_its_flow_shop_law(data: st.DataObject, p: int, m: int) -> None:
    cost = st.tuples(*[st.integers(1, 20).map(float)] * p)
    spec = Spec("gpipe", p, m, costs=Costs(data.draw(cost), data.draw(cost), data.draw(cost)))
    law = next(law for law in result.law_values(spec) if law["quantity"] == "makespan")
    assert law["exact"]
    assert measured(spec, "makespan", "global") == law["value"]


@given(data=st.data(), p=st.integers(1, 7), m=st.integers(1, 20))
def test_uneven_1f1b_never_beats_its_bound(data: st.DataObject, p: int, m: int) -> None:
    cost = st.tuples(*[st.integers(1, 20).map(float)] * p)
    costs = Costs(data.draw(cost), data.draw(cost), data.draw(cost))
    stage = [sum(parts) for parts in zip(costs.F, costs.I, costs.W, strict=True)]  # type: ignore[arg-type]
    bound = max(sum(stage[:d]) + m * stage[d] for d in range(p))
    spec = Spec("1f1b", p, m, costs=costs)
    assert measured(spec, "makespan", "global") >= bound
    bubble = next(law for law in result.law_values(spec) if law["quantity"] == "bubble")
    assert bubble["exact"] == costs.uniform


@pytest.mark.parametrize("g", ["p", "2p"])
@pytest.mark.parametrize(("p", "v", "rounds"), [(2, 2, 4), (4, 2, 4), (4, 3, 6), (5, 4, 4), (8, 2, 4)])
def test_a_wider_group_hides_the_latency_of_every_hop_except_the_first(g: str, p: int, v: int, rounds: int) -> None:
    group = p if g == "p" else 2 * p
    spec = Spec("interleaved", p, p * rounds, v, group, costs=Costs(12.0 * v, 12.0 * v, 12.0 * v, 0.125))
    without = spec.with_(costs=Costs(12.0 * v, 12.0 * v, 12.0 * v, 0.0))
    extra = measured(spec, "makespan", "global") - measured(without, "makespan", "global")
    assert extra == 0.125 * 2 * ((p * v - 1) if g == "p" else (p - 1))


@given(spec=specs("zb-h1", hops=False), c=st.sampled_from(["zb-h1", "zb-h2"]))
def test_zero_bubble_memory_follows_table_2_with_the_share_that_w_keeps(spec: Spec, c: str) -> None:
    p, m, share = spec.p, max(spec.m, 2 * spec.p), 0.25
    built = registry.order(spec.with_(family=c, m=m))
    memory = peaks(built, share)[1].tolist()
    for k in range(1, p + 1):
        paper = (p - k + 1, k - 1) if c == "zb-h1" else (2 * p - 2 * k + 1, 2 * k - 2)
        assert memory[k - 1] == paper[0] + paper[1] * share


# Qi et al. 2023, table 9 (costs in ms) and table 5 (bubble of each device's own window, of total), p = 8.
PUBLISHED = [
    (24, 18.522, 18.086, 9.337, 0.601, {"1f1b": 0.2431, "zb-h1": 0.1585, "zb-h2": 0.1083}),
    (32, 18.513, 18.086, 9.331, 0.626, {"1f1b": 0.1985, "zb-h1": 0.1242, "zb-h2": 0.0837}),
    (64, 18.546, 18.097, 9.321, 0.762, {"1f1b": 0.1240, "zb-h1": 0.0674, "zb-h2": 0.0444}),
    (24, 29.718, 29.444, 19.927, 0.527, {"1f1b": 0.2347, "zb-h1": 0.1323, "zb-h2": 0.0698}),
    (32, 29.802, 29.428, 19.530, 0.577, {"1f1b": 0.1898, "zb-h1": 0.1045, "zb-h2": 0.0559}),
    (64, 29.935, 29.621, 19.388, 0.535, {"1f1b": 0.1091, "zb-h1": 0.0554, "zb-h2": 0.0294}),
]


@pytest.mark.parametrize(("m", "f", "i", "w", "c", "rates"), PUBLISHED)
def test_the_zero_bubble_papers_table_5_is_reproduced_to_four_digits(
    m: int, f: float, i: float, w: float, c: float, rates: dict[str, float]
) -> None:
    for family, rate in rates.items():
        spec = Spec(family, 8, m, costs=Costs(f, i, w, c))
        shown = figures(simulate(registry.order(spec), spec.costs))
        assert round(shown.span_bubble.of_total, 4) == rate


@pytest.mark.parametrize(
    ("family", "v", "makespan"),
    [("1f1b", 1, 117), ("zb-h1", 1, 103), ("interleaved", 4, 101.25), ("dualpipe", 1, 102), ("dualpipev", 2, 103)],
)
def test_makespans_on_which_all_tools_agree(family: str, v: int, makespan: float) -> None:
    assert measured(Spec(family, 8, 32, v), "makespan", "global") == makespan


def test_gpipe_and_1f1b_have_the_same_bubble_and_different_memory() -> None:
    gpipe, flush = Spec("gpipe", 8, 32), Spec("1f1b", 8, 32)
    assert measured(gpipe, "bubble", "global") == measured(flush, "bubble", "global")
    assert measured(gpipe, "peak", "global") == 32
    assert measured(flush, "peak", "global") == 8
