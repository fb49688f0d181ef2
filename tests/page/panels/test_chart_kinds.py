"""Every chart in a browser: chosen, drawn, read, stepped through, and saved."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from backend.charts.catalogue import KINDS
from backend.charts.theme_tokens import tokens
from backend.schedule.families.registry import order
from backend.schedule.simulation.metrics import figures
from backend.schedule.simulation.simulate import simulate
from backend.schedule.spec import Spec
from tests.support.page.queries import PATIENCE_S, Open, settle, wait, wait_until, wait_url

pytestmark = pytest.mark.one_document("panels")

DRAWN = (
    "document.querySelector('.charts-table') && document.querySelector('.charts-state').hidden"
    " && !document.querySelector('.charts-home.is-stale') && document.querySelector('.charts-cover').hidden"
)
PLOT = "document.querySelector('.js-plotly-plot')"


def shown(page: Page, chart: str, seconds: float = PATIENCE_S) -> None:
    """Wait until a chart is drawn with its own table."""
    current = f"document.querySelector('[data-chart={chart}]').getAttribute('aria-current') === 'true'"
    wait(page, f"{current} && {DRAWN}", seconds)


def pick(page: Page, chart: str) -> None:
    page.evaluate(f"document.querySelector('[data-chart={chart}]').click()")
    shown(page, chart)


def rows(page: Page) -> list[list[str]]:
    found: list[list[str]] = page.evaluate(
        "[...document.querySelectorAll('.charts-table tbody tr')]"
        ".map((row) => [...row.cells].map((cell) => cell.textContent))"
    )
    return found


def test_every_chart_is_drawn_named_read_and_listed_in_either_theme_and_chosen_from_a_menu_where_it_is_narrow(
    open_page: Open,
) -> None:
    page = open_page("?p=4&m=8&tab=charts&chart=bubble")
    shown(page, "bubble")
    for name in KINDS:
        pick(page, name)
        layout = page.evaluate(f"{PLOT}.layout")
        assert layout["xaxis"]["title"]["text"]
        assert layout["template"]["layout"]["font"]["color"] == tokens("light")["ink-2"]
        assert page.locator(".charts-reads").inner_text().endswith(".")
        assert len(rows(page)) > 3
        expect(page.locator(".charts-head h2")).to_be_visible()
        expect(page.locator(".charts-files button")).to_have_text(["SVG", "PNG", "CSV"])
    wait_url(page, "chart=vocabulary")
    page.emulate_media(color_scheme="dark")
    wait(page, f"{PLOT}.layout.template.layout.font.color === '{tokens('dark')['ink-2']}'")
    page.go_back()
    shown(page, "offload")
    page.set_viewport_size({"width": 360, "height": 740})
    expect(page.locator(".charts-list")).to_be_hidden()
    for name in ("split", "cube"):  # tests/charts has the others' layout
        page.select_option(".charts-menu", name)
        shown(page, name)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        box = page.locator(".charts-home").bounding_box()
        assert box
        assert box["height"] >= 300


def test_a_square_of_the_heat_map_sets_its_size_on_the_timeline_and_an_illegal_one_shows_the_reason(
    open_page: Open,
) -> None:
    page = open_page("?family=dualpipe&p=4&m=8&tab=charts&chart=bubble")
    shown(page, "bubble")
    cell = """([p, m]) => {
      const plot = document.querySelector('.js-plotly-plot');
      const {xaxis, yaxis} = plot._fullLayout;
      const box = plot.getBoundingClientRect();
      const at = (axis, size) => axis._offset + axis.d2p(plot.layout[axis._name].ticktext.indexOf(size));
      return [box.left + at(xaxis, m), box.top + at(yaxis, p)];
    }"""
    page.mouse.move(*page.evaluate(cell, ["8", "8"]))
    expect(page.locator(".charts-reads")).to_contain_text("DualPipe needs at least 2p = 16 micro-batches")
    page.mouse.move(*page.evaluate(cell, ["6", "24"]))
    bubble = figures(simulate(order(Spec("dualpipe", 6, 24)), Spec().timing, 1)).span_bubble.of_total
    expect(page.locator(".charts-reads")).to_contain_text(f"bubble {100 * bubble:.1f} %")
    page.mouse.down()
    page.mouse.up()
    wait(page, "bubbleline.state().plans[0].shown?.p === 6 && bubbleline.state().plans[0].shown.m === 24")
    wait(page, f"{DRAWN} && document.querySelector('.charts-rows .is-shown')?.textContent.startsWith('6A24')")


def test_all_schedules_on_the_screen_are_in_a_chart_and_its_file_and_the_four_definitions_are_a_menu_and_in_the_link(
    open_page: Open,
) -> None:
    page = open_page("?p=4&m=8&b.family=zb-h1&c.family=v-half&d.family=gpipe&tab=charts&chart=memory")
    shown(page, "memory")
    named = {row[0] for row in rows(page)}
    assert named == {"A 1F1B", "B ZB-H1", "C V-Half", "D GPipe"}
    held = [float(row[2]) for row in rows(page) if row[0] == "D GPipe"]
    assert held == [8, 8, 8, 8]
    with page.expect_download() as waiting:
        page.click("[data-save=csv]")
    table = list(csv.reader(Path(waiting.value.path()).read_text().splitlines()))
    assert [row[0] for row in table[1:]] == [row[0] for row in rows(page)]
    pick(page, "bubble-m")
    assert page.evaluate(f"{PLOT}.layout.yaxis.title.text") == "bubble, of time"
    page.focus(".charts-variant")
    page.select_option(".charts-variant", "global-ideal")
    wait(page, f"{DRAWN} && {PLOT}.layout.yaxis.title.text === 'bubble, of work'")
    wait_url(page, "chart=bubble-m:global-ideal")
    expect(page.locator(".charts-variant")).to_be_focused()


def test_keys_step_through_the_squares_and_enter_sets_one(open_page: Open) -> None:
    page = open_page("?family=gis&v=4&m=16&tab=charts&chart=offload")
    shown(page, "offload")
    page.focus(".charts-figure")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".charts-reads")).to_contain_text("hidden 1,024, sequence 1,024; k 6.82")
    expect(page.locator(".hoverlayer .hovertext")).to_be_visible()
    page.keyboard.press("Enter")
    wait(page, "bubbleline.state().plans[0].asked.costs.O > 10.2 && bubbleline.state().plans[0].asked.costs.O < 10.3")
    page.focus("[data-chart=offload]")
    page.keyboard.press("ArrowDown")
    expect(page.locator("[data-chart=cube]")).to_be_focused()


def test_a_setting_that_changes_while_a_chart_is_drawn_wins(open_page: Open) -> None:
    page = open_page("?p=4&m=7")  # charts of other sizes are there already
    held: list[Route] = []
    page.route(
        "**/api/charts/split**", lambda route: held.append(route) if "m=7&" in route.request.url else route.continue_()
    )
    page.evaluate("document.querySelector('#tab-charts').click()")
    wait(page, "document.querySelector('[data-chart=split]')")
    page.evaluate("document.querySelector('[data-chart=split]').click()")
    wait_until(page, lambda: held)
    page.fill("#field-m", "6")
    page.keyboard.press("Enter")
    wait(page, f"{DRAWN} && document.querySelector('.charts-table')")
    work = [row for row in rows(page) if row[2] == "F forward"]
    assert [float(row[3]) for row in work] == [6, 6, 6, 6]
    for route in held:
        route.continue_()
    settle(page)
    assert [float(row[3]) for row in rows(page) if row[2] == "F forward"] == [6, 6, 6, 6]


def test_the_cube_is_saved_as_files(open_page: Open, tmp_path: Path) -> None:
    page = open_page("?p=4&m=8&tab=charts&chart=cube")
    shown(page, "cube")
    bodies = {}
    for form in ("svg", "png", "csv"):
        with page.expect_download() as waiting:
            page.click(f"[data-save={form}]")
        assert waiting.value.suggested_filename == f"bubbleline-cube-p4-m8.{form}"
        waiting.value.save_as(tmp_path / form)
        bodies[form] = (tmp_path / form).read_bytes()
    assert bodies["png"].startswith(b"\x89PNG")
    assert len(bodies["png"]) > 20_000
    assert bodies["svg"].startswith(b"<svg")
    assert b"p 4, m 8, f 1, i 1, w 1, c 0" in bodies["svg"]
    table = list(csv.reader(io.StringIO(bodies["csv"].decode())))
    assert table[0][:3] == ["op", "rank", "stage"]
    assert len(table) > 12
    assert ["3B7", "3", "3", "7", "25", "27"] in table
