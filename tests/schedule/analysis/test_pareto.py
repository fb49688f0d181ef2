"""Memory against throughput: a family's point is its Result, and dominance agrees with brute force."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from app import cli
from backend.schedule.analysis import pareto
from backend.schedule.errors import SpecError
from backend.schedule.families.registry import FAMILIES, order
from backend.schedule.hardware.preset_costs import Preset
from backend.schedule.order.order import Order
from backend.schedule.result import result
from backend.schedule.simulation.costs import Costs
from backend.schedule.simulation.memory import peaks
from backend.schedule.simulation.metrics import Bubble
from backend.schedule.simulation.simulate import simulate
from backend.schedule.spec import Spec
from tests.support.strategies import specs

SETTING = Spec(p=4, m=10, costs=Costs(1.0, 0.98, 0.6, 0.03))
NONE = Bubble(0.0, 0.0)


def found(asked: Spec, limits: list[float] | None = None) -> list[pareto.Point]:
    return pareto.frontier(asked, limits, pareto.constructed)


@given(specs())
def test_a_familys_point_is_its_result(spec: Spec) -> None:
    point = pareto.points(spec, [spec.family])[0]
    shape, shown = result(spec), point.figures
    assert point.spec == spec
    assert shown.memory == max(shape["peak_memory"])
    assert shown.span.of_total == shape["bubble"]["span"]["of_total"]
    assert shown.whole.of_ideal == shape["bubble"]["global"]["of_ideal"]
    if spec.costs.FB is None:
        assert shown.throughput == pytest.approx(1.0 - shown.span.of_total)


def test_every_family_has_a_point_and_searched_families_only_on_request() -> None:
    names = [point.spec.family for point in pareto.points(SETTING)]
    assert names == [name for name in FAMILIES if name not in pareto.SEARCHED]
    asked = SETTING.with_(family="zb-auto", memory=3.0)
    points = pareto.points(asked)
    assert [point.spec for point in points if point.spec.family == "zb-auto"] == [asked]
    assert {point.spec.memory for point in points if point.spec.family != "zb-auto"} == {None}


def test_an_output_layer_that_a_family_cannot_spread_still_counts_as_its_work() -> None:
    asked = SETTING.with_(vocabulary="parallel-1")
    points = {point.spec.family: point for point in pareto.points(asked) + found(asked, [4.0])}
    assert points["1f1b"].spec == asked
    assert points["v-auto"].spec.vocabulary == "plain"
    work = {
        name: point.figures.throughput * simulate(order(point.spec), point.spec.timing, point.spec.v).end.max()
        for name, point in points.items()
        if name in ("1f1b", "gpipe", "dualpipev")
    }
    head = asked.m * (asked.timing.S + asked.timing.T)
    assert work == pytest.approx(dict.fromkeys(work, asked.m * (1.0 + 0.98 + 0.6) + head))


def test_a_pair_that_overlaps_is_worth_speed() -> None:
    plain, paired = (
        pareto.measured(Spec("dualpipe", 4, 12, costs=Costs(FB=fb))).throughput for fb in (None, 2.0)
    )  # fmt: skip
    assert paired > plain


@pytest.mark.parametrize("asked", [SETTING, SETTING.with_(w_share=0.4), SETTING.with_(p=5, m=7)])
def test_a_searched_point_keeps_its_memory_limit_and_improves_with_it(asked: Spec) -> None:
    points = found(asked)
    for family in pareto.SEARCHED:
        ours = [point for point in points if point.spec.family == family]
        assert len(ours) >= 4
        limits, memories, speeds = zip(
            *((point.limit, point.figures.memory, point.figures.throughput) for point in ours), strict=True
        )
        assert all(memory <= limit + 1e-9 for memory, limit in zip(memories, limits, strict=True))
        assert list(limits) == sorted(set(limits))
        assert list(speeds) == sorted(set(speeds))
        for point in ours:
            assert point.figures.memory == peaks(order(point.spec), asked.w_share, point.spec.v)[1].max()


def test_more_memory_never_makes_a_searched_schedule_slower() -> None:
    """A single search may do worse with more memory; its line does not."""
    worse = iter([3.0, 1.0, 4.0, 2.0] * 3)
    fixed = {"zb-auto": "zb-h1", "v-auto": "v-zb", "chimera-auto": "dualpipe"}

    def search(spec: Spec) -> tuple[Spec, Order]:
        return spec, order(Spec(fixed[spec.family], spec.p, int(next(worse)) * 8, spec.v))

    points = pareto.frontier(Spec(p=4, m=8), [4.0, 5.0, 6.0, 7.0], search)
    assert [point.limit for point in points] == [4.0, 6.0, 4.0, 4.0, 6.0]


def test_a_limit_too_small_for_a_step_is_left_out() -> None:
    assert {point.limit for point in found(SETTING, [0.5, 3.0])} == {3.0}
    assert found(SETTING, [0.5]) == []


def test_the_spec_of_a_searched_point_builds_its_order() -> None:
    def search(spec: Spec) -> tuple[Spec, Order]:
        searched = spec.with_(effort=400)
        return searched, order(searched)

    point = pareto.frontier(Spec(p=3, m=5), [3.0], search)[0]
    assert point.spec.effort == 400
    assert pareto.measured(point.spec) == point.figures


def test_default_limits_are_whole_chunks_of_the_v() -> None:
    assert pareto.default_limits(Spec(p=8)) == [2.5, 4.0, 6.0, 8.0, 10.0, 12.0, 16.0]
    assert pareto.default_limits(Spec(p=1)) == [1.0, 1.5, 2.0]
    assert pareto.default_limits(Spec(p=8, w_share=0.5))[0] == 2.67


def test_the_frontier_of_a_setting_does_not_depend_on_the_requesting_family() -> None:
    for asked in (
        SETTING.with_(family="interleaved", v=4, group=5),
        SETTING.with_(family="zb-auto", memory=2.0, effort=9),
    ):
        assert pareto.setting_of(asked) == pareto.setting_of(SETTING)
        assert found(asked, [3.0]) == found(SETTING, [3.0])
    assert pareto.setting_of(SETTING.with_(m=11)) != pareto.setting_of(SETTING)


def test_a_setting_too_large_to_search_names_the_largest_possible() -> None:
    with pytest.raises(SpecError) as refusal:
        found(Spec(p=16, m=192))
    assert refusal.value.field == "m"
    pareto.validate_frontier_size(Spec(p=16, m=refusal.value.nearest))


def test_a_large_setting_is_searched_at_fewer_limits() -> None:
    assert len(pareto.default_limits(Spec(p=16, m=85))) == 7
    assert pareto.default_limits(Spec(p=16, m=86)) == [8.0, 16.0, 32.0]


def test_points_with_a_model_have_the_costs_of_their_own_stages_and_their_units() -> None:
    preset = Preset.of({"model": "cm-9.6b", "machine": "a100", "heads": True})
    points = {point.spec.family: point for point in pareto.points(Spec("1f1b", 16, 32), None, preset)}
    assert len(points["1f1b"].spec.costs.F) == 16  # type: ignore[arg-type]  # a list per stage
    assert len(points["v-half"].spec.costs.F) == 32  # type: ignore[arg-type]
    for point in points.values():
        assert point.figures.units is not None
        timeline = simulate(order(point.spec), point.spec.timing, point.spec.v)
        assert point.figures.units == preset.units(point.spec, timeline)
    held = {name: max(point.figures.units.memory.activations) for name, point in points.items() if point.figures.units}
    assert held["v-min"] < held["v-half"] < held["v-zb"] <= 1.1 * held["1f1b"] < held["interleaved"]
    speed = {name: point.figures.units.mfu for name, point in points.items() if point.figures.units}
    assert speed["v-min"] < speed["v-half"] < speed["v-zb"]
    assert speed["1f1b"] < speed["v-half"]


def point_of(memory: float, speed: float, m: int = 8) -> pareto.Point:
    return pareto.Point(Spec(m=m), None, None, pareto.Figures(memory, speed, NONE, NONE, 1))


grid = st.integers(1, 4).map(float)


@given(st.lists(st.builds(point_of, grid, grid, st.sampled_from([8, 9])), max_size=12))
def test_dominated_points_equal_those_of_brute_force(points: list[pareto.Point]) -> None:
    for point, better in zip(points, pareto.dominated(points), strict=True):
        own = point.figures
        rivals = [
            each.figures for each in points
            if each.spec.m == point.spec.m and each.figures.memory <= own.memory
            and each.figures.throughput >= own.throughput and each.figures != own
        ]  # fmt: skip
        if not rivals:
            assert better is None
        else:
            named = points[better].figures if better is not None else None
            assert named is not None
            assert named in rivals
            assert named.throughput == max(rival.throughput for rival in rivals)


def call(*args: str) -> tuple[int, str]:
    done = CliRunner().invoke(cli, ["pareto", *args])
    return done.exit_code, done.output


def test_the_command_prints_one_row_per_point_and_what_dominates_it() -> None:
    code, text = call("-p", "4", "-m", "8", "--limits", "2,4")
    lines = text.splitlines()
    assert code == 0
    assert lines[0].split()[:5] == ["schedule", "p", "m", "v", "memory"]
    by_name = {line[:20].split("  ")[0].strip(): line for line in lines[1:]}
    assert by_name["1F1B"].endswith("ZB-V")
    assert by_name["ZB-V"].endswith(" -")
    assert "V-auto within 4" in text


def test_the_command_gives_the_points_as_json() -> None:
    code, text = call("zb-h1", "-p", "4", "-m", "8", "--comm", "0.1", "--limits", "3", "--json")
    shape = json.loads(text)
    asked = Spec("zb-h1", 4, 8, costs=Costs(comm=0.1))
    points = pareto.points(asked) + found(asked, [3.0])
    assert code == 0
    assert shape == json.loads(json.dumps({"spec": asked.to_json(), "points": pareto.described(points, asked)}))


def test_a_family_of_another_size_has_a_note() -> None:
    _, text = call("-p", "5", "-m", "8", "--limits", "5")
    row = next(line for line in text.splitlines() if line.startswith("DualPipe*"))
    assert row.endswith("(other p or m)")
    assert "* DualPipe: p = 6 instead of 5" in text


def test_searching_longer_is_no_worse_and_its_effort_is_in_the_spec() -> None:
    _, text = call("-p", "4", "-m", "8", "--comm", "0.05", "--limits", "3", "--seconds", "0.2", "--json")
    _, quick = call("-p", "4", "-m", "8", "--comm", "0.05", "--limits", "3", "--json")
    searched, built = ([each for each in json.loads(each)["points"] if each["limit"]] for each in (text, quick))
    assert [each["family"] for each in searched] == ["zb-auto", "v-auto", "chimera-auto"]
    for long, short in zip(searched, built, strict=True):
        assert long["spec"]["effort"] > 0
        assert long["throughput"] >= short["throughput"] - 1e-9


@pytest.mark.parametrize("wrong", ["-1", "0"])
def test_an_invalid_limit_exits_with_2(wrong: str) -> None:
    code, text = call("--limits", wrong)
    assert (code, "limits must be from" in text) == (2, True)


def test_the_timeline_of_a_searched_order_has_the_span_of_its_point() -> None:
    point = found(SETTING, [4.0])[0]
    timeline = simulate(order(point.spec), point.spec.timing, point.spec.v)

    def window(rank: int) -> float:
        starts, ends = timeline.rank(rank)[:2]
        return float(ends[-1] - starts[0])

    work = SETTING.m * (1.0 + 0.98 + 0.6)
    assert point.figures.throughput == pytest.approx(work / max(window(rank) for rank in range(SETTING.p)))
