"""The frontier chart: its colours are the page's, its labels cover nothing, its sentences are true; also over HTTP."""

from __future__ import annotations

import functools
import json
import math
import zlib
from itertools import pairwise

import pytest
from flask.testing import FlaskClient
from hypothesis import given
from hypothesis import strategies as st

from backend.charts.axes import Frame, ticks
from backend.charts.label_placement import LINE, RIM, Box, PointLabel, place, width_of
from backend.charts.pareto.pareto import figure
from backend.charts.pareto.pareto_axes import UNIT_HEIGHTS
from backend.charts.pareto.pareto_plot import clusters, pareto_plot
from backend.charts.theme import Appearance, template
from backend.charts.theme_tokens import ALL_THEMES, TOKENS, font, tokens
from backend.errors import with_codes
from backend.schedule.analysis import pareto
from backend.schedule.families.registry import FAMILIES
from backend.schedule.spec import Spec
from tests.charts.contrast import contrast
from tests.conftest import error_of

ASKED = Spec("zb-h1", 4, 8, memory=3.0)
LOOK = Appearance("light", 900, 400, "throughput")


@functools.cache
def points() -> list[pareto.Point]:
    """The points of the chart: families, and searched orders at two memory limits."""
    return pareto.points(ASKED) + pareto.frontier(ASKED, [2.0, 4.0], pareto.constructed)


@pytest.mark.parametrize("theme", ALL_THEMES)
def test_every_group_has_a_colour_of_the_page_that_can_be_read(theme: str) -> None:
    ours = tokens(theme)
    for group in {family.group for family in FAMILIES.values()}:
        name = f"g-{group.replace(' ', '-').lower()}"
        assert f"--{name}: " in TOKENS.read_text()
        assert contrast(ours[name], ours["surface"]) >= 4.5, name
    assert template(theme).layout.font.family == font()


@given(
    st.lists(st.tuples(st.floats(0, 500), st.floats(0, 300), st.integers(3, 24)), max_size=18),
    st.lists(st.tuples(st.floats(0, 500), st.floats(0, 300)), max_size=10),
)
def test_no_label_covers_a_label_a_point_or_the_edge(
    points: list[tuple[float, float, int]], others: list[tuple[float, float]]
) -> None:
    tags = [PointLabel(x, y, "n" * letters) for x, y, letters in points]
    marks = [*others, *((tag.x, tag.y) for tag in tags)]
    places = place(tags, marks, [], 500, 300)
    boxes = [
        Box(tag.x + spot[0], tag.y + spot[1], width_of(tag.text), LINE)
        for tag, spot in zip(tags, places, strict=True)
        if spot is not None
    ]
    for at, box in enumerate(boxes):
        assert box.within(500, 300)
        assert not any(box.meets(other) for other in boxes[:at])
        assert not any(box.meets(Box(x, y, 2 * RIM, 2 * RIM)) for x, y in marks)


def test_an_isolated_point_has_its_label_next_to_it() -> None:
    spot = place([PointLabel(250, 150, "1F1B")], [(250, 150)], [], 500, 300)[0]
    assert spot is not None
    assert math.hypot(*spot) < RIM + width_of("1F1B")


def test_ticks_have_room_and_keep_whole_p() -> None:
    found = ticks(0.22, 9.0, 400, 44)
    assert 1.0 in found
    px = 400 / math.log(9.0 / 0.22)
    assert all(math.log(b / a) * px >= 44 for a, b in pairwise(found))
    assert len(found) >= 6


def test_a_frame_puts_the_ends_of_its_ranges_on_its_edges() -> None:
    frame = Frame(500, 400, 1, (0.25, 4.0), (50.0, 100.0))
    wide, high = frame.inner
    assert frame.at(0.25, 50.0) == pytest.approx((0, high))
    assert frame.at(4.0, 100.0) == pytest.approx((wide, 0))
    assert frame.at(1.0, 75.0) == pytest.approx((wide / 2, high / 2))


@pytest.mark.parametrize("y", ["throughput", "bubble"])
def test_every_point_is_drawn_once_at_its_coordinates(y: str) -> None:
    drawn, _ = figure(ASKED, points(), Appearance("dark", 900, 400, y))
    seen: dict[int, tuple[float, float]] = {}
    for trace in drawn.data:
        for at, *spot in zip(trace.customdata or (), trace.x, trace.y, strict=False):
            assert at not in seen
            seen[at] = (spot[0], spot[1])
    for at, point in enumerate(points()):
        share = point.figures.throughput if y == "throughput" else point.figures.span.of_total
        assert seen[at] == pytest.approx((point.figures.memory / 4, 100 * share))


def test_the_frontier_contains_the_points_that_none_dominates_and_rises() -> None:
    drawn, _ = figure(ASKED, points(), LOOK)
    line = next(trace for trace in drawn.data if trace.name == "best")
    best = {
        (p.figures.memory / 4, 100 * p.figures.throughput)
        for p, b in zip(points(), pareto.dominated(points()), strict=True)
        if b is None
    }
    assert set(zip(line.x[:-1], line.y[:-1], strict=True)) == best
    assert list(line.y) == sorted(line.y)


def test_the_schedule_on_the_screen_is_ringed_and_compared_with_the_frontier() -> None:
    drawn, notes = figure(ASKED, points(), LOOK)
    ring = next(trace for trace in drawn.data if trace.name == "A")
    own = next(point for point in points() if point.spec == ASKED).figures
    assert (ring.x[0], ring.y[0]) == (own.memory / 4, 100 * own.throughput)
    assert notes[-1].startswith("ZB-H1, ringed, is not on it: ZB-V holds no more and reaches 100.0 % instead of")
    assert "limit 3" in [note.text for note in drawn.layout.annotations]
    names = [note.text for note in drawn.layout.annotations]
    assert any(name.startswith("ZB-H1") for name in names)


def test_families_at_the_same_point_share_a_label() -> None:
    plot = pareto_plot(ASKED, points(), LOOK)
    shared = next(cluster for cluster in clusters(plot).values() if len(cluster) > 1)
    spots = [plot.pixel(at) for at in shared]
    assert max(math.dist(spots[0], spot) for spot in spots) < 10
    drawn, _ = figure(ASKED, points(), LOOK)
    assert "1F1B, PipeDream" in [note.text for note in drawn.layout.annotations]


def test_the_response_has_the_figure_its_sentences_and_its_points(reader: FlaskClient) -> None:
    body = reader.get("/api/charts/pareto?family=zb-h1&p=4&m=8&theme=dark&width=600&height=300").get_json()
    asked = Spec("zb-h1", 4, 8)
    points = pareto.points(asked) + pareto.frontier(asked, None, pareto.constructed)
    assert body["points"] == json.loads(json.dumps(with_codes(pareto.described(points, asked))))
    assert (body["figure"]["layout"]["width"], body["figure"]["layout"]["height"]) == (600, 300)
    assert body["figure"]["layout"]["template"]["layout"]["font"]["color"] == tokens("dark")["ink-2"]
    assert body["notes"][0]["message"].startswith("Further left holds less")
    assert body["error_found"] is None


def test_searched_families_can_be_left_out(reader: FlaskClient) -> None:
    body = reader.get("/api/charts/pareto?p=4&m=8&found=0").get_json()
    assert (body["found"], {point["limit"] for point in body["points"]}) == (False, {None})


def test_a_setting_too_large_to_search_still_shows_the_families(reader: FlaskClient) -> None:
    body = reader.get("/api/charts/pareto?p=16&m=192").get_json()
    assert body["error_found"]["field"] == "m"
    assert len(body["points"]) == len(FAMILIES) - len(pareto.SEARCHED)


def test_plotlys_script_is_kept_for_a_year_and_writes_no_style_sheet(reader: FlaskClient) -> None:
    path = reader.get("/").get_data(as_text=True).split('data-plotly="')[1].split('"')[0]
    answer = reader.get(path, headers={"Accept-Encoding": "deflate"})
    assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert answer.mimetype == "text/javascript"
    text = zlib.decompress(answer.data)
    assert b"plotly.js v" in text[:200]
    assert b'document.createElement("style");e.id=' in text
    assert b'if(!1){var e=document.createElement("style");e.id=' in text
    assert reader.get(path.replace("plotly-", "plotly-0")).status_code == 404


UNITS = "m.model=cm-9.6b&m.machine=a100&m.heads=1&found=0"


@pytest.mark.parametrize("y", UNIT_HEIGHTS)
def test_the_frontier_in_units_is_drawn_at_gigabytes_and_its_line_is_the_best_there(
    reader: FlaskClient, y: str
) -> None:
    body = reader.get(f"/api/charts/pareto?family=v-half&p=8&m=16&{UNITS}&y={y}").get_json()
    units = [point["units"] for point in body["points"]]
    memory = [
        (max(each["memory"]["activations"]) if y == "mfu-activations" else each["memory"]["most"]) / 1e9
        for each in units
    ]
    height = [each["tokens_per_second"] / 1e3 if y == "tokens" else 100 * each["mfu"] for each in units]
    drawn = {
        at: (x, value)
        for trace in body["figure"]["data"] if "customdata" in trace
        for at, x, value in zip(trace["customdata"], trace["x"], trace["y"], strict=True)
    }  # fmt: skip
    assert drawn == {at: pytest.approx(pair) for at, pair in enumerate(zip(memory, height, strict=True))}
    for at, point in enumerate(body["points"]):
        better = [o for o in range(len(memory)) if memory[o] <= memory[at] and height[o] > height[at] * (1 + 1e-9)]
        assert (point["dominated_by"] is None) >= (not better and not point["moved"])
        if point["dominated_by"] is not None:
            assert memory[point["dominated_by"]] <= memory[at] + 1e-9


def test_the_memory_of_a_device_is_a_line_where_it_is_near(reader: FlaskClient) -> None:
    def texts(more: str) -> list[str]:
        body = reader.get(f"/api/charts/pareto?family=v-half&p=8&m=16&{UNITS}&{more}").get_json()
        return [note["text"]["message"] for note in body["figure"]["layout"]["annotations"] if "params" in note["text"]]

    assert "limit 80 GB" in texts("y=mfu")
    assert "limit 80 GB" not in texts("y=mfu-activations")
    assert "limit 80 GB" not in texts("y=throughput")
    assert "limit 1000 GB" not in texts("y=mfu&m.memory=1e12")


def test_a_frontier_in_units_without_a_model_is_refused(reader: FlaskClient) -> None:
    error = error_of(reader.get("/api/charts/pareto?y=mfu"))
    assert (error["field"], error["nearest"]) == ("y", "throughput")
