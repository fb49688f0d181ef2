"""The charts tab in a browser: loaded when opened, figures that follow the sliders, points put on the timeline."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from backend.schedule.analysis import pareto
from backend.schedule.spec import Spec
from tests.support import until
from tests.support.page.gestures import phone
from tests.support.page.queries import (
    GO,
    Open,
    frames,
    held_timers,
    hold,
    release,
    settle,
    state,
    wait,
    wait_until,
    wait_url,
)

pytestmark = pytest.mark.one_document("panels")

READY = (
    "document.querySelector('.main-svg') && document.querySelector('.charts-state').hidden"
    " && !document.querySelector('.is-stale')"
)
WITHIN = "[...document.querySelectorAll('.charts-table .put')].some((each) => each.textContent.includes('within'))"
REST_MS = 300  # delay before a chart is requested
FOUND = f"{READY} && {WITHIN}"
TRACES = "document.querySelector('.js-plotly-plot').data"


def opened(open_page: Open, query: str, **options: object) -> Page:
    page = open_page(f"{query}&tab=charts", **options)
    wait(page, FOUND)
    return page


def labels(page: Page) -> list[str]:
    return page.locator(".charts-table .put").all_inner_texts()


def spot(page: Page, label: str) -> tuple[float, float]:
    """The position of a point on the screen, from plotly's own axes."""
    found: Any = page.evaluate(
        """(label) => {
          const plot = document.querySelector('.js-plotly-plot');
          const at = [...document.querySelectorAll('.charts-table tr')]
            .find((row) => row.querySelector('.put')?.textContent === label).dataset.at;
          const trace = plot.data.find((each) => each.customdata?.includes(Number(at)));
          const k = trace.customdata.indexOf(Number(at));
          const {xaxis, yaxis} = plot._fullLayout;
          const box = plot.getBoundingClientRect();
          return [box.left + xaxis._offset + xaxis.d2p(trace.x[k]), box.top + yaxis._offset + yaxis.d2p(trace.y[k])];
        }""",
        label,
    )
    return found[0], found[1]


def click(page: Page, label: str) -> None:
    """Click like a reader: the pointer moves to the point, the point responds, then the click."""
    page.mouse.move(0, 0)
    expect(page.locator(".hoverlayer .hovertext")).to_have_count(0)
    page.mouse.move(*spot(page, label))
    wait(page, f"document.querySelector('.hoverlayer .hovertext')?.textContent.startsWith('{label}')")
    page.mouse.down()
    page.mouse.up()


def test_plotly_is_requested_once_the_tab_opens_what_is_missing_is_asked_for_again_and_the_servers_points_are_drawn(
    open_page: Open,
) -> None:
    page = open_page("?family=zb-h1&p=5&m=8", forgive="Failed to load resource", anew=True)
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    arrived: list[str] = []
    page.on("requestfinished", lambda request: arrived.append(request.url))
    page.fill("#field-p", "4")
    page.keyboard.press("Enter")
    settle(page)
    assert [url for url in requests if "plotly" in url or "charts" in url] == []
    assert page.evaluate("typeof Plotly") == "undefined"
    cover = page.locator(".charts-cover")
    for address in ("**/api/charts/**", "**/vendor/plotly*"):
        page.route(address, lambda route: route.abort())
    page.click("#tab-charts")
    expect(cover).to_contain_text("The server does not answer.")
    expect(page.locator(".charts-files")).to_be_hidden()
    with page.expect_response("**/api/charts/**"):
        page.unroute("**/api/charts/**")  # it asks again by itself
    settle(page)
    expect(cover).to_contain_text("The server does not answer.")  # plotly's script alone is missing now
    with held_timers(page, 1000):  # it would ask again by itself, which takes the button away
        expect(cover.get_by_role("button", name="Try again")).to_be_visible()
        page.unroute("**/vendor/plotly*")
        cover.get_by_role("button", name="Try again").click()
        wait(page, FOUND)
    assert len([url for url in arrived if "plotly" in url]) == 1
    wait_url(page, "tab=charts")
    asked = Spec("zb-h1", 4, 8)
    points = pareto.points(asked) + pareto.frontier(asked, None, pareto.constructed)
    assert sorted(labels(page)) == sorted(point.label for point in points)
    expect(page.locator(".charts-reads")).to_contain_text("Further left holds less, further up is faster")
    expect(page.locator(".charts-reads")).to_contain_text("ZB-H1, ringed, is not on it")
    drawn = page.evaluate(f"{TRACES}.flatMap((trace) => trace.customdata ?? []).length")
    assert drawn == len(points)
    row = page.locator(".charts-table tr:has(.put:text-is('ZB-H1'))")
    assert row.locator("td").all_inner_texts()[:2] == ["4", "88.9 %"]
    expect(row.locator(".under")).to_have_text("A")


def test_a_click_puts_a_point_on_the_timeline_shift_adds_it_below_and_the_bubble_is_an_axis_in_the_link(
    open_page: Open,
) -> None:
    page = opened(open_page, "?p=4&m=8")
    click(page, "V-Half")
    wait(page, "bubbleline.state().plans[0].shown?.family === 'v-half'")
    wait(page, f"{FOUND} && document.querySelector('.charts-reads').textContent.includes('V-Half, ringed')")
    page.keyboard.down("Shift")
    click(page, "ZB-auto within 6")
    page.keyboard.up("Shift")
    wait(page, "bubbleline.state().plans[1]?.shown?.family === 'zb-auto'")
    assert state(page)["others"][0]["memory"] == 6
    assert state(page)["spec"]["family"] == "v-half"
    wait(page, f"{READY} && {TRACES}.some((trace) => trace.name === 'B')")
    expect(page.locator(".charts-table tr.is-shown .under")).to_have_text(["A", "B"])
    page.go_back()
    wait(page, "bubbleline.state().plans.length === 1")
    wait(page, f"!{TRACES}.some((trace) => trace.name === 'B')")
    page.click("[data-choice=bubble]")
    wait(page, f"{READY} && document.querySelector('.charts-reads').textContent.includes('less idle')")
    wait_url(page, "chart=pareto:bubble")
    expect(page.locator("[data-choice=bubble]")).to_be_focused()
    page.go_back()
    wait(page, f"{READY} && document.querySelector('.charts-reads').textContent.includes('faster')")
    page.go_forward()
    wait(page, f"{READY} && document.querySelector('.charts-reads').textContent.includes('less idle')")
    expect(page.locator("[data-choice=bubble]")).to_have_attribute("aria-pressed", "true")


def test_keys_step_through_the_points_and_put_one_and_so_does_the_table_which_keeps_the_focus(open_page: Open) -> None:
    page = opened(open_page, "?p=4&m=8")
    sentence = page.locator(".charts-reads")

    def pointed() -> bool:
        """Press until a point is read out: a figure that is drawn once more forgets which it was."""
        page.focus(".charts-figure")
        page.keyboard.press("ArrowRight")
        frames(page)
        return "is-pointed" in (sentence.get_attribute("class") or "")

    until(pointed, sleep=lambda s: page.wait_for_timeout(1000 * s))
    first = sentence.inner_text()
    page.keyboard.press("ArrowRight")
    expect(sentence).not_to_have_text(first)
    expect(page.locator(".hoverlayer .hovertext")).to_be_visible()
    for _ in range(40):
        if sentence.inner_text().startswith("ZB-V:"):
            break
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Shift+Enter")
    wait(page, "bubbleline.state().plans[1]?.shown?.family === 'v-zb'")
    page.keyboard.press("Escape")
    expect(sentence).to_contain_text("Further left holds less")
    assert state(page)["spec"]["family"] == "1f1b"
    page.get_by_role("button", name="ZB-H2 as schedule C").focus()
    page.keyboard.press("Enter")
    wait(page, "bubbleline.state().plans[2]?.shown?.family === 'zb-h2'")
    expect(page.get_by_role("button", name="ZB-H2 as schedule C")).to_be_focused()
    page.keyboard.press("Enter")
    wait(page, "bubbleline.state().plans.length === 2")
    page.locator(".charts-table .put", has_text="GPipe").click()
    wait(page, "bubbleline.state().plans[0].shown?.family === 'gpipe'")


def test_the_chart_follows_the_sliders_once_they_stop_and_one_that_returns_leaves_it_as_it_was(open_page: Open) -> None:
    page = opened(open_page, "?p=4&m=8")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    with held_timers(page, REST_MS):
        page.focus("#field-m")
        page.keyboard.press("ArrowUp")
        expect(page.locator(".charts-home")).to_have_class("charts-home is-stale")
        page.keyboard.press("ArrowDown")
        expect(page.locator(".charts-home")).to_have_class("charts-home")
    settle(page)
    assert [url for url in asked if "/api/charts" in url] == []
    with held_timers(page, REST_MS):
        for m in (9, 10, 11):
            page.fill("#field-m", str(m))
            page.keyboard.press("Enter")
            wait(page, f"bubbleline.state().plans[0].shown?.m === {m}")
            frames(page)
    wait(page, f"{FOUND} && document.querySelector('.charts-table').textContent.includes('GPipe11')")
    drawn = [url for url in asked if "/api/charts" in url]
    assert drawn
    assert all("m=11" in url for url in drawn), "only for the last step"


def test_the_memory_limit_is_a_line_each_form_of_file_is_saved_and_on_a_phone_a_tap_puts_a_point(
    open_page: Open, tmp_path: Path
) -> None:
    page = opened(open_page, "?family=zb-auto&p=4&m=8&memory=4")
    expect(page.locator(".annotation-text", has_text="limit 4")).to_be_visible()
    expect(page.locator(".charts-table tr.is-shown .put")).to_have_text("ZB-auto")
    bodies = {}
    for form in ("svg", "png", "csv"):
        with page.expect_download() as waiting:
            page.click(f"[data-save={form}]")
        assert waiting.value.suggested_filename == f"bubbleline-pareto-p4-m8.{form}"
        waiting.value.save_as(tmp_path / form)
        bodies[form] = (tmp_path / form).read_bytes()
    assert bodies["png"].startswith(b"\x89PNG")
    assert len(bodies["png"]) > 20_000
    assert bodies["svg"].startswith(b"<svg")
    assert b"ZB-V" in bodies["svg"]
    assert b"p 4, m 8, f 1, i 1, w 1, c 0" in bodies["svg"]
    rows = list(csv.DictReader(io.StringIO(bodies["csv"].decode())))
    assert [row["memory"] for row in rows if row["schedule"] == "V-Half"] == ["3"]
    with phone(page) as fingers:
        settle(page)  # drawn anew in this size
        wait(page, FOUND)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        page.evaluate("document.querySelector('.charts-home').scrollIntoView({block: 'center'})")
        fingers.down(spot(page, "GPipe"))
        fingers.up()
        wait(page, "bubbleline.state().plans[0].shown?.family === 'gpipe'")


def test_a_setting_too_large_to_search_offers_the_largest_possible(open_page: Open) -> None:
    page = open_page("?p=16&m=192&tab=charts")
    wait(page, READY)
    note = page.locator(".charts > .note")
    expect(note).to_contain_text("Search results are not shown")
    pareto.validate_frontier_size(Spec("1f1b", 16, 128))
    small = re.compile(r"\bp=16&m=128\b")  # whose answer takes less time
    page.route(small, lambda route: route.continue_(url=small.sub("p=4&m=8", route.request.url)))
    note.get_by_role("button").click()
    wait(page, "bubbleline.state().plans[0].shown?.m === 128")
    wait(page, FOUND)
    expect(note).to_be_hidden()


def test_in_the_figures_place_is_why_there_is_none_a_lost_server_mended_without_a_click_an_illegal_size_with_one(
    open_page: Open,
) -> None:
    page = opened(open_page, "?p=4&m=8", forgive="Failed to load resource")
    page.route("**/api/charts/**", lambda route: route.abort())
    page.click("[data-chart=vocabulary]")
    cover = page.locator(".charts-cover")
    expect(cover).to_contain_text("The server does not answer.")
    expect(page.locator(".charts-files")).to_be_hidden()
    expect(cover.get_by_role("button", name="Try again")).to_be_visible()
    page.unroute("**/api/charts/**")
    wait(page, READY)
    page.evaluate(GO, "?family=dualpipe&p=4&m=7&tab=charts")
    expect(cover).to_contain_text("DualPipe needs at least 2p = 8 micro-batches")
    cover.get_by_role("button").click()
    wait(page, FOUND)


def test_searching_longer_covers_every_limit_the_points_state_their_effort_and_each_plot_of_the_paper_is_one_click(
    open_page: Open,
) -> None:
    page = opened(open_page, "?family=1f1b&p=2&m=1", once=True, forgive="Failed to load resource")
    page.route("**/socket.io.esm*", lambda route: route.abort())
    page.locator("#charts-seek").click()
    expect(page.locator(".charts-seeking")).to_have_text("The server does not answer.")
    page.unroute("**/socket.io.esm*")
    held = hold(page, "**/api/charts/pareto?*")
    page.locator("#charts-seek").click()  # the best order at each limit is found at once
    wait_until(page, lambda: bool(held))
    page.click("[data-chart=bubble]")  # which what is still on its way does not replace
    wait(page, READY)
    release(page, held)
    settle(page)
    expect(page.locator(".charts-table thead")).not_to_contain_text("memory")
    page.click("[data-chart=pareto]")
    wait(page, FOUND)
    page.locator("#charts-seek").click()
    expect(page.locator(".charts-seeking")).to_have_text("Searched at every memory limit.")
    found = page.locator(".charts-table button", has_text="within")
    assert found.count() > 2
    found.first.click()
    wait(page, "location.search.includes('effort=')")
    small = re.compile(r"\bp=16&m=32\b")  # whose answer takes less time
    page.route(small, lambda route: route.continue_(url=small.sub("p=2&m=4", route.request.url)))
    page.click('[data-plot="cm-9.6b"]')
    expect(page.locator(".charts-variant")).to_have_value("mfu-activations")
    expect(page.locator(".charts-table")).to_contain_text("V-Half")
    expect(page.locator(".charts-table thead")).to_contain_text("MFU")
    of_plot = ("m.model=cm-9.6b", "p=16", "m=32", "m.machine=a100", "chart=pareto:mfu-activations")
    wait_url(page, *of_plot)
