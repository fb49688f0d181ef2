"""Charts other than the frontier: figures and tables agree with each other and with the core."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.charts.bubble_curves import bubble_m
from backend.charts.bubble_map import bubble, value_of
from backend.charts.catalogue import KINDS
from backend.charts.chart import Chart, ChartSeries, spread_apart
from backend.charts.memory import MOST_STEPS, memory, thinned
from backend.charts.messages import messages
from backend.charts.offload import HIDDEN, SEQUENCE, offload
from backend.charts.theme import Appearance
from backend.charts.theme_tokens import THEMES, rgb, tokens
from backend.charts.time_split import MOST_BARS, NAMES, split
from backend.charts.vocabulary import vocabulary
from backend.schedule.analysis.compare import compare
from backend.schedule.analysis.sweep import grid, resized
from backend.schedule.families.registry import FAMILIES, order
from backend.schedule.hardware.cost_model import Setting
from backend.schedule.hardware.models import MODELS
from backend.schedule.hardware.preset_costs import Preset
from backend.schedule.hardware.ratios import GUIDE_BYTES, GUIDE_FLOPS, offload_ratio, output_layers
from backend.schedule.result import result
from backend.schedule.simulation.costs import Costs
from backend.schedule.simulation.memory import curve, peak_memory
from backend.schedule.simulation.metrics import figures
from backend.schedule.simulation.simulate import simulate
from backend.schedule.spec import Spec
from tests.charts.contrast import contrast
from tests.support.strategies import few, optioned

LOOK = Appearance("light", 900, 400, "span")


def plan(family: str, p: int = 4, m: int = 8, name: str = "a", **more: Any) -> ChartSeries:
    more.setdefault("v", FAMILIES[family].v[1])
    return ChartSeries(name, Spec(family, p, m, **more), FAMILIES[family].title)


def appearance(name: str, theme: str = "light", width: int = 900, height: int = 400) -> Appearance:
    return Appearance(theme, width, height, KINDS[name].heights[0])


def drawn(name: str, *plans: ChartSeries, **more: Any) -> Chart:
    return KINDS[name].draw(plans or (plan("1f1b"),), appearance(name, **more), None)


@pytest.mark.parametrize("name", KINDS)
def test_every_chart_names_its_axes_explains_itself_and_lists_all_points_in_its_table(name: str) -> None:
    chart = drawn(name, plan("1f1b"), plan("zb-h1", name="b"), theme="dark")
    body = json.loads(json.dumps(chart.as_dict()))
    layout = body["figure"]["layout"]
    assert layout["xaxis"]["title"]["text"]
    assert layout["yaxis"].get("title", {}).get("text") or name == "vocabulary"
    assert all(note.endswith(".") for note in body["notes"])
    assert body["notes"]
    assert all(len(row["cells"]) == len(body["columns"]) for row in body["rows"])
    points: set[int] = set()
    for trace in body["figure"]["data"]:
        points |= set(np.ravel(trace.get("customdata") or []).astype(int).tolist())
    assert points == set(range(len(body["rows"])))
    assert layout["template"]["layout"]["font"]["color"] == tokens("dark")["ink-2"]


@pytest.mark.parametrize("name", KINDS)
def test_a_narrow_figure_keeps_room_for_its_plot(name: str) -> None:
    layout = drawn(name, plan("1f1b"), plan("dualpipe", name="b"), width=280, height=320).figure.layout
    margin = layout.margin
    assert layout.width - margin.l - margin.r >= 90
    assert layout.height - margin.t - margin.b >= 100


def test_the_heat_map_and_its_table_agree_on_every_bubble() -> None:
    chart = bubble([plan("dualpipe", 4, 8)], Appearance("light", 900, 400, "global-ideal"))
    ps, ms, cells = grid(Spec("dualpipe", 4, 8))
    legal, refused = chart.figure.data[:2]
    for y, line in enumerate(cells):
        for x, found in enumerate(line):
            row = chart.rows[legal.customdata[y][x]]
            assert row.cells[:2] == (ps[y], ms[x])
            if found.figures is None:
                assert (legal.z[y][x], refused.z[y][x], row.change) == (None, 0.0, None)
                assert found.problem in refused.hovertext[y][x]
            else:
                assert legal.z[y][x] == pytest.approx(100 * found.figures.global_bubble.of_ideal)
                assert row.change == {"p": ps[y], "m": ms[x]}
    assert [row.cells[:2] for row in chart.rows if row.mark] == [(4, 8)]


def test_the_four_bubbles_are_the_four_of_the_figures() -> None:
    shown = figures(simulate(order(Spec("zb-h1", 4, 8)), Costs(), 1))
    assert [value_of(shown, y) for y in KINDS["bubble"].heights] == [
        shown.span_bubble.of_total, shown.global_bubble.of_total,
        shown.span_bubble.of_ideal, shown.global_bubble.of_ideal,
    ]  # fmt: skip


def test_bars_stack_to_the_makespan_and_thousands_of_ranks_are_few_bars() -> None:
    one, many = plan("1f1b"), plan("gpipe", 200, 2, "b")
    chart = split([one, many], appearance("split"))
    assert chart.notes[-1] == f"More than {MOST_BARS // 2} ranks: each bar is the mean of neighbouring ranks."
    heights = np.sum([trace.y for trace in chart.figure.data], axis=0)
    assert heights[:4] == pytest.approx([33.0] * 4)
    assert len(heights) == 4 + MOST_BARS // 2
    work = sum(row.cells[3] for row in chart.rows if row.cells[0] == "A 1F1B" and row.cells[2] == NAMES["F"])
    assert work == 4 * 8


def test_lines_against_m_are_the_simulations_and_the_schedules_on_the_screen_are_ringed() -> None:
    chart = bubble_m([plan("zb-h1"), plan("gpipe", name="b", m=16)], LOOK)
    lines = {trace.name: trace for trace in chart.figure.data if trace.name}
    at = list(lines["ZB-H1"].x).index(8)
    timeline = simulate(order(Spec("zb-h1", 4, 8)), Costs(), 1)
    assert lines["ZB-H1"].y[at] == pytest.approx(100 * figures(timeline).span_bubble.of_total)
    assert [100 * 3 / (m + 3) for m in lines["GPipe"].x] == pytest.approx(list(lines["GPipe"].y))
    rings = {trace.text[0]: (trace.x[0], trace.y[0]) for trace in chart.figure.data if trace.mode == "markers+text"}
    assert rings["A"] == pytest.approx((8, lines["ZB-H1"].y[at]))
    assert rings["B"] == pytest.approx((16, 100 * 3 / 19))
    assert {row.mark: row.cells[:2] for row in chart.rows if row.mark} == {"A": ("ZB-H1", 8), "B": ("GPipe", 16)}


def test_memory_rises_to_each_ranks_peak_and_the_limit_is_a_line() -> None:
    shown = plan("1f1b", memory=3.0)
    chart = memory([shown], appearance("memory"))
    timeline = simulate(order(shown.spec), Costs(), 1)
    assert [row.cells[2] for row in chart.rows] == peak_memory(timeline, 1.0, 1, 1.0).tolist()
    lines = [trace for trace in chart.figure.data if trace.customdata is not None]
    assert [max(trace.y) for trace in lines] == [4.0, 3.0, 2.0, 1.0]
    when, held = curve(timeline, 0)
    assert list(zip(lines[0].x[1:], lines[0].y[1:], strict=True)) == list(zip(when, held, strict=True))
    limit = next(trace for trace in chart.figure.data if trace.name == "limit")
    assert limit.y == (3.0, 3.0)


def test_a_line_of_many_steps_hides_no_peak() -> None:
    held = np.zeros(5000)
    held[::7] = np.arange(len(held[::7]))
    when, kept = thinned(np.arange(5000.0), held)
    assert len(when) == len(kept) == MOST_STEPS
    assert kept.max() == held.max()
    edges = [*when.astype(int), 5000]
    assert kept.tolist() == [held[a:b].max() for a, b in pairwise(edges)]


def test_memory_without_offload_is_drawn_above_memory_with_it() -> None:
    chart = memory([plan("gis", m=16, v=4, offload="full")], appearance("memory"))
    bare = next(trace for trace in chart.figure.data if trace.name == "without copies")
    assert max(bare.y) > 2 * max(max(trace.y) for trace in chart.figure.data if trace.customdata is not None)
    larger = memory([plan("gis", m=16, v=4, offload="full", sizes=(3.0,) * 16, fixed=1.0)], appearance("memory"))
    without = next(trace for trace in larger.figure.data if trace.name == "without copies")
    assert max(without.y) == pytest.approx(3 * max(bare.y))


def test_the_memory_of_frozen_stages_that_keep_nothing_is_a_line_at_0() -> None:
    chart = memory([plan("1f1b", frozen=(0,))], appearance("memory"))
    assert [row.cells[2] for row in chart.rows] == [0.0, 3.0, 2.0, 1.0]
    assert set(chart.figure.data[0].y) == {0.0}


def test_bytes_are_the_number_of_messages_times_the_size_of_one() -> None:
    model = MODELS["zb-6.2b"]
    chart = messages([plan("interleaved", v=3)], appearance("messages"), Setting.read({"model": model.name, "p": 1}))
    unit = chart.columns[3][0]
    assert unit == "GB"
    each = 2 * model.micro_batch * model.sequence * model.hidden
    for row in chart.rows:
        assert row.cells[3] == pytest.approx(row.cells[2] * each / 1e9, abs=1e-6)
    marked = [row for row in chart.rows if row.mark]
    assert [row.cells[:3] for row in marked] == [("Interleaved 1F1B", 3, 2 * 8 * 11)]
    assert chart.figure.layout.yaxis2.range[1] / chart.figure.layout.yaxis.range[1] == pytest.approx(each / 1e9)


def test_offloads_map_is_k_and_its_line_is_where_k_is_one() -> None:
    chart = offload([plan("gis", v=4)], Appearance("light", 900, 400, "guide"))
    for row in chart.rows:
        h, s, k = row.cells
        assert k == pytest.approx(10 / (3 * (6 * h + s)) * 220e12 / 15e9, rel=1e-3)
        assert row.change == {"costs": {"O": pytest.approx(k * 3 / 2, rel=1e-3)}}
    heat, line = chart.figure.data[:2]
    assert heat.z[SEQUENCE.index(4096)][HIDDEN.index(4096)] == pytest.approx(np.log2(1.7051), abs=1e-3)
    hidden = 2 ** np.interp(line.x, np.arange(len(HIDDEN)), np.log2(HIDDEN))
    sequence = 2 ** np.interp(line.y, np.arange(len(SEQUENCE)), np.log2(SEQUENCE))
    assert offload_ratio(hidden, sequence, GUIDE_FLOPS, GUIDE_BYTES) == pytest.approx(np.ones(len(hidden)), rel=1e-6)


def test_offload_on_a_machine_uses_its_rates() -> None:
    setting = Setting.read({"p": 1, "machine": "a100", "efficiency": 0.5})
    chart = offload([plan("gis", v=4)], Appearance("light", 900, 400, "machine"), setting)
    assert chart.rows[0].cells[2] == pytest.approx(10 / (3 * 7 * 1024) * 156e12 / 32e9, rel=1e-3)
    assert "Rates of A100 80GB SXM: 156 TFLOP/s reached, 32 GB/s to host memory." in chart.notes


def test_a_models_output_layer_is_put_on_the_timeline_in_its_proportion() -> None:
    setting = Setting.read({"model": "gemma2-9b", "p": 1})
    chart = vocabulary([plan("1f1b", costs=Costs(F=2.0))], appearance("vocabulary"), setting)
    top, found = chart.rows[0], output_layers()[0]
    assert (top.cells[0], top.mark) == ("Gemma 2 9B", "m")
    assert [name for name, _ in chart.columns][3] == "printed"
    assert top.cells[3] == 4.63
    assert top.change == {
        "costs": {"S": pytest.approx(2 * found.forward, rel=1e-4), "T": pytest.approx(4 * found.forward, rel=1e-4)}
    }


MODEL = {"model": "llama3-70b", "machine": "h100", "tp": 8, "heads": True}


@few(3)
@given(optioned(max_p=4, max_m=8), st.booleans())
def test_every_point_of_every_chart_is_the_figure_of_its_own_schedule(drawn_spec: Spec, with_model: bool) -> None:
    preset = Preset.of(MODEL) if with_model else None
    spec = drawn_spec if preset is None else preset.priced(drawn_spec.with_(layers=None))
    shown = ChartSeries("a", spec, FAMILIES[spec.family].title, preset)

    def bubble_of(each: Spec) -> float:
        """Return the bubble as compare and show print it, of costs derived again for these stages."""
        priced = each if preset is None or each == spec else preset.priced(each)
        assert priced == each
        return round(100 * result(each)["bubble"]["global"]["of_total"], 4)

    look = Appearance("light", 900, 400, "global")
    for row in bubble([shown], look).rows:
        p, m = row.cells[:2]
        if row.cells[2] is not None and p <= 6 and m <= 8:
            assert row.cells[2] == bubble_of(resized(spec, p, m, preset))
    for chart in (bubble_m([shown], look), messages([shown], look)):
        rows = [(Spec.from_json(row.change or {}), row) for row in chart.rows]
        assert [each for each, row in rows if row.mark] == [spec]
        for each, row in rows:
            if each.m <= 8 and each.v <= 4:
                assert row.cells[-1] == bubble_of(each)


def test_more_chunks_of_a_model_keep_its_output_layer_on_the_last_stage() -> None:
    preset = Preset.of(MODEL)
    asked = preset.priced(Spec("interleaved", 8, 64, 2))
    title = FAMILIES["interleaved"].title
    for shown in (ChartSeries("a", asked, title, preset), ChartSeries("a", asked, title)):
        rows = messages([shown], appearance("messages")).rows
        shares = {row.cells[1]: row.cells[4] for row in rows if row.cells[0] == title}
        for v in (5, 8):
            compared = compare(Spec("interleaved", 8, 64), ["interleaved"], v, preset)["rows"][0]
            told = 100 * compared["bubble"]["global"]["of_total"]
            assert shares[v] == pytest.approx(told, abs=1e-3 if shown.preset or v == 5 else 1.0)


@given(st.lists(st.floats(0, 300), max_size=15))
def test_labels_at_the_ends_of_lines_do_not_overlap_and_keep_their_order(at: list[float]) -> None:
    spots = spread_apart(at, 15, 0, 300)
    ordered = sorted(range(len(at)), key=lambda each: at[each])
    for one, other in pairwise(ordered):
        assert spots[other] - spots[one] >= 15 - 1e-9
    assert all(-1e-9 <= spot <= 300 + 1e-9 for spot in spots)


def test_every_line_of_a_group_has_a_colour_a_dash_and_a_marker_of_its_own() -> None:
    for theme in THEMES:
        chart = bubble_m([plan("1f1b")], replace(LOOK, theme=theme))
        lines = {trace.name: trace for trace in chart.figure.data if trace.line.dash}
        for names in (("V-Min", "V-Half", "ZB-V"), ("GPipe", "1F1B", "PipeDream"), ("DualPipe", "DualPipeV")):
            for look in (lambda line: line.line.color, lambda line: line.line.dash, lambda line: line.marker.symbol):
                assert len({look(lines[name]) for name in names}) == len(names)
        ground = tokens(theme)["surface"]
        written = {note.text: note.font.color for note in chart.figure.layout.annotations}
        assert {"V-Min", "V-Half"} <= set(written)
        assert min(contrast(colour, ground) for colour in written.values()) >= 4.5


@pytest.mark.parametrize("theme", THEMES)
def test_the_values_of_the_heat_map_can_be_read_on_every_cell(theme: str) -> None:
    chart = bubble([plan("1f1b")], appearance("bubble", theme, width=1400, height=900))
    cells, values = chart.figure.data[0], chart.figure.data[-1]
    ends = [rgb(colour) for _, colour in cells.colorscale]
    assert len(values.text) == sum(share is not None for line in cells.z for share in line) > 50
    seen = set()
    for x, y, ink in zip(values.x, values.y, values.textfont.color, strict=True):
        share = cells.z[y][x] / cells.zmax
        seen.add(round(share, 1))
        ground = "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in zip(*ends, strict=True))
        assert contrast(ink, ground) >= 4.45, f"at {share:.2f} of the scale"  # the ground is rounded here
    assert len(seen) > 5


def test_curves_and_messages_can_be_left_with_the_families_on_the_screen():
    look = Appearance("light", 900, 400, "global", only=1)
    plans = [plan("1f1b", 4, 16), plan("interleaved", 4, 16)]
    chart = bubble_m(plans, look)
    assert {row.cells[0] for row in chart.rows} == {"1F1B", "Interleaved 1F1B"}
    loads = messages([plan("interleaved", 4, 16)], Appearance("light", 900, 400, "count", only=1))
    assert {row.cells[0] for row in loads.rows} == {"Interleaved 1F1B"}
    texts = [note["text"] for note in loads.figure.to_plotly_json()["layout"]["annotations"]]
    assert any(text.startswith("bubble ") for text in texts), "the first says what the others are"
