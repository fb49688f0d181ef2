"""Every chart in a browser: chosen, drawn, read, stepped through, taken away; and the cube that plays along."""

# ruff: noqa: F401, F811  (fixtures are imported, and named by the tests that want them)

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from backend.charts.catalogue import KINDS
from backend.charts.theme import tokens
from backend.schedule.families import order
from backend.schedule.metrics import figures
from backend.schedule.simulate import simulate
from backend.schedule.spec import Spec
from tests.page_fixtures import Open, browser, open_page, state, wait

DRAWN = (
    "document.querySelector('.charts-table') && document.querySelector('.charts-state').hidden"
    " && !document.querySelector('.charts-home.is-stale') && document.querySelector('.charts-cover').hidden"
)
PLOT = "document.querySelector('.js-plotly-plot')"


def shown(page: Page, chart: str, seconds: float = 12) -> None:
    """Wait until a chart is drawn and its own table stands beside it."""
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


def test_every_chart_is_drawn_named_read_and_listed_in_either_theme(open_page: Open) -> None:
    page = open_page("?p=4&m=8&tab=charts&chart=bubble", color_scheme="light")
    shown(page, "bubble")
    for name in KINDS:
        pick(page, name)
        assert f"chart={name}" in wait_url(page, f"chart={name}")
        layout = page.evaluate(f"{PLOT}.layout")
        assert layout["xaxis"]["title"]["text"]
        assert layout["template"]["layout"]["font"]["color"] == tokens("light")["ink-2"]
        assert page.locator(".charts-reads").inner_text().endswith(".")
        assert len(rows(page)) > 3
        assert page.locator(".charts-head h2").is_visible()
        expect(page.locator(".charts-files button")).to_have_text(["SVG", "PNG", "CSV"])
    page.emulate_media(color_scheme="dark")
    wait(page, f"{PLOT}.layout.template.layout.font.color === '{tokens('dark')['ink-2']}'")
    page.go_back()
    shown(page, "offload")


def wait_url(page: Page, part: str) -> str:
    for _ in range(100):
        if part in page.url:
            break
        page.wait_for_timeout(20)
    return page.url


def test_a_square_of_the_heat_map_puts_its_size_on_the_timeline_and_an_illegal_one_says_why(open_page: Open) -> None:
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


def test_the_four_definitions_are_a_menu_and_in_the_link(open_page: Open) -> None:
    page = open_page("?p=4&m=8&tab=charts&chart=bubble-m")
    shown(page, "bubble-m")
    assert page.evaluate(f"{PLOT}.layout.yaxis.title.text") == "bubble, of time"
    page.focus(".charts-variant")
    page.select_option(".charts-variant", "global-ideal")
    wait(page, f"{DRAWN} && {PLOT}.layout.yaxis.title.text === 'bubble, of work'")
    assert "chart=bubble-m:global-ideal" in wait_url(page, "chart=bubble-m:global-ideal")
    expect(page.locator(".charts-variant")).to_be_focused()


def test_all_schedules_on_the_screen_are_in_the_chart(open_page: Open) -> None:
    page = open_page("?p=4&m=8&b.family=zb-h1&c.family=v-half&d.family=gpipe&tab=charts&chart=memory")
    shown(page, "memory")
    named = {row[0] for row in rows(page)}
    assert named == {"A 1F1B", "B ZB-H1", "C V-Half", "D GPipe"}
    held = [float(row[2]) for row in rows(page) if row[0] == "D GPipe"]
    assert held == [8, 8, 8, 8]


def test_keys_go_through_the_squares_and_enter_puts_one(open_page: Open) -> None:
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
    page = open_page("?p=4&m=8")
    held: list[Route] = []
    page.route(
        "**/api/charts/split**", lambda route: held.append(route) if "m=8&" in route.request.url else route.continue_()
    )
    page.evaluate("document.querySelector('#tab-charts').click()")
    wait(page, "document.querySelector('[data-chart=split]')")
    page.evaluate("document.querySelector('[data-chart=split]').click()")
    for _ in range(200):
        if held:
            break
        page.wait_for_timeout(20)
    page.fill("#field-m", "6")
    page.keyboard.press("Enter")
    wait(page, f"{DRAWN} && document.querySelector('.charts-table')", 12)
    work = [row for row in rows(page) if row[2] == "F forward"]
    assert [float(row[3]) for row in work] == [6, 6, 6, 6]
    for route in held:
        route.continue_()
    page.wait_for_timeout(300)
    assert [float(row[3]) for row in rows(page) if row[2] == "F forward"] == [6, 6, 6, 6]


def test_what_is_refused_and_a_server_that_went_away_stand_in_the_figures_place(open_page: Open) -> None:
    page = open_page("?p=4&m=8&tab=charts&chart=memory", forgive="Failed to load resource")
    shown(page, "memory")
    page.route("**/api/charts/**", lambda route: route.abort())
    page.evaluate("document.querySelector('[data-chart=vocabulary]').click()")
    expect(page.locator(".charts-cover")).to_contain_text("The server does not answer.")
    expect(page.locator(".charts-files")).to_be_hidden()
    page.unroute("**/api/charts/**")
    page.get_by_role("button", name="Try again").click()
    shown(page, "vocabulary")
    page.goto(page.url.split("?")[0] + "?family=dualpipe&p=4&m=7&tab=charts&chart=split")
    expect(page.locator(".charts-cover")).to_contain_text("DualPipe needs at least 2p = 8 micro-batches")
    page.locator(".charts-cover").get_by_role("button").click()
    shown(page, "split")


@pytest.mark.parametrize("chart", ["split", "cube"])
def test_charts_are_taken_away_as_files(open_page: Open, tmp_path: Path, chart: str) -> None:
    page = open_page(f"?p=4&m=8&tab=charts&chart={chart}")
    shown(page, chart)
    bodies = {}
    for form in ("svg", "png", "csv"):
        with page.expect_download() as waiting:
            page.click(f"[data-save={form}]")
        assert waiting.value.suggested_filename == f"bubbleline-{chart}-p4-m8.{form}"
        waiting.value.save_as(tmp_path / form)
        bodies[form] = (tmp_path / form).read_bytes()
    assert bodies["png"].startswith(b"\x89PNG")
    assert len(bodies["png"]) > 20_000
    assert bodies["svg"].startswith(b"<svg")
    assert b"p 4, m 8, f 1, i 1, w 1, c 0" in bodies["svg"]
    table = list(csv.reader(io.StringIO(bodies["csv"].decode())))
    head = ["schedule", "rank", "part", "time (unit of the costs)"] if chart == "split" else ["op", "rank", "stage"]
    assert table[0][: len(head)] == head
    assert len(table) > 12
    if chart == "cube":
        assert ["3B7", "3", "3", "7", "25", "27"] in table


PIXELS = """const canvas = document.querySelector('.charts-cube canvas');
  const {width, height} = canvas;
  const copy = new OffscreenCanvas(width, height).getContext('2d', {willReadFrequently: true});
  copy.drawImage(canvas, 0, 0);
  const {data} = copy.getImageData(0, 0, width, height);
  let sum = 0;"""
INK = f"""() => {{
  {PIXELS}
  for (let i = 0; i < data.length; i++) sum += data[i] * (1 + i % 97);
  return sum;
}}"""
KIND = f"""([r, g, b]) => {{
  {PIXELS}
  for (let i = 0; i < data.length; i += 4) sum += data[i] === r && data[i + 1] === g && data[i + 2] === b;
  return sum;
}}"""


def seek(page: Page, moment: float) -> None:
    """Scrub to a moment of the 33 that 1F1B takes at p = 4, m = 8."""
    page.evaluate(
        """(part) => {
          const scrub = document.querySelector('#scrub');
          scrub.value = String(Math.round(part * Number(scrub.max)));
          scrub.dispatchEvent(new Event('input', {bubbles: true}));
        }""",
        moment / 33,
    )
    page.wait_for_timeout(100)


def rgb(colour: str) -> list[int]:
    return [int(colour[at : at + 2], 16) for at in (1, 3, 5)]


def test_the_cube_needs_no_server_and_fills_as_the_playhead_goes_on(open_page: Open) -> None:
    page = open_page("?p=4&m=8&theme=light&at=0&tab=charts&chart=cube")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    shown(page, "cube")
    assert page.evaluate("typeof Plotly") == "undefined"
    seen = []
    for moment in (0, 8, 20, 33):
        seek(page, moment)
        seen.append(page.evaluate(KIND, rgb(tokens("light")["k-b"])))
    assert seen[0] == 0, "no backward has run"
    assert seen[1] < seen[2] < seen[3]
    assert len(rows(page)) == 2 * 4 * 8
    assert not [url for url in asked if "/api/charts" in url]


def test_the_cube_turns_by_key_and_drag_and_a_click_selects_the_op(open_page: Open) -> None:
    page = open_page("?p=2&m=3&tab=charts&chart=cube")
    shown(page, "cube")
    before = page.evaluate(INK)
    page.focus(".charts-cube")
    for _ in range(6):
        page.keyboard.press("ArrowUp")
    page.wait_for_timeout(80)
    assert page.evaluate(INK) != before
    page.keyboard.press("Home")
    page.wait_for_timeout(80)
    assert page.evaluate(INK) == before
    page.locator(".charts-cube").scroll_into_view_if_needed()
    box = page.locator(".charts-cube").bounding_box()
    assert box
    said = page.locator(".charts-reads")
    for k in range(8, 40):
        page.mouse.move(box["x"] + box["width"] * k / 48, box["y"] + box["height"] * 0.6)
        if "is-told" in (said.get_attribute("class") or ""):
            break
    expect(said).to_contain_text("micro-batch")
    op = said.inner_text().split(":")[0]
    page.mouse.down()
    page.mouse.up()
    wait(page, f"bubbleline.state().view.sel?.startsWith('{op}@')")
    page.mouse.down()
    page.mouse.move(box["x"] + 20, box["y"] + 20, steps=4)
    page.mouse.up()
    page.wait_for_timeout(80)
    assert page.evaluate(INK) != before


def test_a_cube_of_more_ops_than_can_be_told_apart_is_cut_or_offers_a_way_out(open_page: Open) -> None:
    page = open_page("?p=8&m=300&tab=charts&chart=cube")
    shown(page, "cube")
    expect(page.locator(".charts-reads")).to_contain_text("150 of 300 micro-batches are drawn")
    assert len(rows(page)) == 400
    expect(page.locator(".charts-more")).to_contain_text("The first 400 of 2400 rows")
    page.goto(page.url.split("?")[0] + "?p=1024&m=4&family=zb-h1&tab=charts&chart=cube")
    expect(page.locator(".charts-cover")).to_contain_text("more ops here than the 2400 that a cube can show")
    page.locator(".charts-cover").get_by_role("button").click()
    wait(page, "bubbleline.state().plans[0].shown?.p === 800")
    wait(page, DRAWN)


def test_the_cube_shows_whichever_schedule_is_chosen(open_page: Open) -> None:
    page = open_page("?p=3&m=4&b.family=zb-h1&tab=charts&chart=cube")
    shown(page, "cube")
    assert len(rows(page)) == 24
    page.click("[data-choice=b]")
    wait(page, "document.querySelectorAll('.charts-table tbody tr').length === 36")
    assert "chart=cube:b" in wait_url(page, "chart=cube:b")


def test_on_a_phone_charts_are_chosen_from_a_menu_and_nothing_is_wider_than_the_screen(open_page: Open) -> None:
    page = open_page("?p=4&m=8&tab=charts&chart=bubble", width=360, height=740, has_touch=True)
    wait(page, f"{PLOT} && {DRAWN}", 12)
    expect(page.locator(".charts-list")).to_be_hidden()
    for name in ("split", "vocabulary", "cube", "messages"):
        page.select_option(".charts-menu", name)
        shown(page, name)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        box = page.locator(".charts-home").bounding_box()
        assert box
        assert box["height"] >= 300
