"""The compare tab in a browser: rows as the server gives them, sorted, explained, and put on the screen by a click."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from backend.schedule.analysis.compare import compare
from backend.schedule.families.registry import FAMILIES
from backend.schedule.spec import Spec
from tests.support.page.gestures import phone
from tests.support.page.queries import Open, frames, settle, state, wait, wait_url

pytestmark = pytest.mark.one_document("panels")

ROWS = ".comparison-table tbody tr"
TAB = "?family=zb-h1&p=4&m=8&tab=compare"
CLAIMED = "?family=zb-h1&p=8&m=32&tab=compare&families=gpipe,1f1b,zb-h1,zb-h2"  # the size of a claim of a paper


def names(page: Page) -> list[str]:
    found: list[str] = page.evaluate(
        "[...document.querySelectorAll('.comparison-table tbody tr')].map(r => r.dataset.family)"
    )
    return found


def column(page: Page, name: str) -> list[str]:
    return page.locator(f"{ROWS} [data-column={name}]").all_inner_texts()


def opened(open_page: Open, query: str = TAB, **options: object) -> Page:
    page = open_page(query, **options)
    wait(page, "document.querySelector('.comparison-table tbody tr') !== null")
    return page


def contrasts(page: Page) -> list[float]:
    """The contrast of a figure and of a claim with the page."""
    found: list[float] = page.evaluate(
        """() => {
          const light = (color) => color.match(/[\\d.]+/g).slice(0, 3).map((x) => x / 255)
            .map((x) => (x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4))
            .reduce((sum, x, at) => sum + x * [0.2126, 0.7152, 0.0722][at], 0);
          const ground = light(getComputedStyle(document.documentElement).backgroundColor);
          return ['[data-column=span]', '[data-claim=span]'].map((which) => {
            const ink = light(getComputedStyle(document.querySelector(`[data-family=zb-h2] ${which}`)).color);
            return (Math.max(ink, ground) + 0.05) / (Math.min(ink, ground) + 0.05);
          });
        }"""
    )
    return found


def test_the_table_is_the_servers_comparison_sorted_by_a_column_that_keeps_the_focus_and_fits_a_phone(
    open_page: Open,
) -> None:
    page = opened(open_page)
    rows = compare(Spec(p=4, m=8))["rows"]
    assert names(page) == list(FAMILIES)
    assert column(page, "makespan") == [f"{row['makespan']:.10g}" for row in rows]
    assert column(page, "global") == [f"{100 * row['bubble']['global']['of_total']:.1f} %" for row in rows]
    assert column(page, "messages") == [str(row["messages"]) for row in rows]
    chunked = [row["spec"]["v"] for row in rows if row["spec"]["v"] > 1]
    expect(page.locator(f"{ROWS} .size")).to_have_text([f"v {v}" for v in chunked], use_inner_text=True)
    head = page.locator("[data-sort=makespan]")
    head.focus()
    page.keyboard.press("Enter")
    spans = [float(text) for text in column(page, "makespan")]
    assert spans == sorted(spans)
    expect(page.locator("th:has([data-sort=makespan])")).to_have_attribute("aria-sort", "ascending")
    expect(head).to_be_focused()
    page.keyboard.press("Enter")
    assert [float(text) for text in column(page, "makespan")] == sorted(spans, reverse=True)
    page.keyboard.press("Enter")
    assert names(page) == list(FAMILIES)
    with phone(page):
        settle(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        page.evaluate("document.querySelector('.comparison-scroll').scrollLeft = 400")
        for name in ("[data-family=zb-h1] .put", "[data-sort=schedule]"):  # the names stay
            box = page.locator(name).bounding_box()
            assert box
            assert 0 <= box["x"] < 40


def test_a_claim_is_beside_its_figure_with_the_reason_why_they_differ_and_can_be_read_in_either_theme(
    open_page: Open,
) -> None:
    page = opened(open_page, CLAIMED)
    assert names(page) == ["gpipe", "1f1b", "zb-h1", "zb-h2"]
    expect(page.locator(".comparison-why")).to_contain_text("GPipe and 1F1B have the same bubble")
    claim = page.locator("[data-family=zb-h1] [data-claim=span]")
    expect(claim).to_have_text("R/3 = 6.0 %")
    claim.locator("button").focus()
    expect(page.locator(".comparison-why")).to_contain_text("with m = 256")
    expect(page.locator("[data-family='1f1b'] [data-claim=span]")).to_have_text("R = 17.9 %")
    expect(page.locator("[data-family='1f1b'] [data-claim=span] button")).to_have_count(0)
    expect(page.locator("[data-family=gpipe] [data-claim=span]")).to_have_text("")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        frames(page)
        assert min(contrasts(page)) > 4.5, scheme


def test_a_click_on_a_row_adds_it_below_the_first_and_another_click_removes_it(open_page: Open) -> None:
    page = opened(open_page, CLAIMED)
    page.click("[data-family=zb-h2] [data-column=makespan]")
    wait(page, "bubbleline.state().plans[1]?.shown?.family === 'zb-h2'")
    assert state(page)["plans"][1]["shown"]["m"] == 32
    expect(page.locator("[data-family=zb-h2] .plan-mark")).to_have_text("B")
    expect(page.locator("[data-family=zb-h1] .plan-mark")).to_have_text("A")
    expect(page.locator(".comparison-top > .muted")).to_contain_text("take the same time")
    page.locator("[data-family=zb-h2] .put").focus()
    page.keyboard.press("Enter")
    wait(page, "bubbleline.state().plans.length === 1")
    page.click("[data-family=zb-h1] [data-column=makespan]")
    assert len(state(page)["plans"]) == 1, "the first schedule is not put under itself"


def test_adjusted_values_are_shown_and_put_on_the_timeline_as_adjusted(open_page: Open) -> None:
    page = opened(open_page, "?family=1f1b&p=5&m=13&tab=compare")
    adjusted = page.locator("[data-family=dualpipe] .adjusted")
    expect(adjusted).to_have_text("p 6, m 14")
    adjusted.hover()
    expect(page.locator(".comparison-why")).to_contain_text("p = 6 instead of 5")
    page.click("[data-family=dualpipe] [data-column=makespan]")
    wait(page, "bubbleline.state().plans[1]?.shown?.p === 6 && bubbleline.state().plans[1].shown.m === 14")


def test_families_that_exceed_the_memory_limit_are_marked_with_a_sentence(open_page: Open) -> None:
    page = opened(open_page, "?family=1f1b&p=4&m=8&memory=5&tab=compare")
    expect(page.locator("[data-family=gpipe] .over")).to_have_text("8")
    expect(page.locator("[data-family='1f1b'] .over")).to_have_count(0)
    page.locator("[data-family=gpipe] .over button").focus()
    expect(page.locator(".comparison-why")).to_have_text("GPipe holds 8, over the limit of 5.")


def test_the_reader_chooses_families_which_are_in_the_link_and_where_there_is_none_the_tab_asks_for_one(
    open_page: Open,
) -> None:
    page = opened(open_page, f"{TAB}&b.family=1f1b")
    page.click(".comparison-choice summary")
    page.locator(".choices input[value=gpipe]").uncheck()
    wait_url(page, "families=-gpipe")
    page.get_by_role("button", name="Those on the screen").click()
    wait(page, f"document.querySelectorAll('{ROWS}').length === 2")
    expect(page.locator(".comparison-choice summary")).to_have_text(f"2 of {len(FAMILIES)} families")
    page.locator(".choices input[value=gpipe]").check()
    wait(page, f"document.querySelectorAll('{ROWS}').length === 3")
    page.keyboard.press("Escape")
    expect(page.locator(".choices input[value=gpipe]")).to_be_hidden()
    assert names(page) == [name for name in FAMILIES if name in ("gpipe", "1f1b", "zb-h1")]
    wait_url(page, "families=gpipe,1f1b,zb-h1")
    page.click(".comparison-choice summary")
    for name in ("gpipe", "1f1b", "zb-h1"):
        page.locator(f".choices input[value='{name}']").uncheck()
    expect(page.locator(".comparison-scroll")).to_have_text("Choose a family to compare.")
    page.get_by_role("button", name="All", exact=True).click()
    wait(page, f"document.querySelectorAll('{ROWS}').length === {len(FAMILIES)}")
    wait(page, "!location.search.includes('families')")


def test_the_table_follows_the_setting_and_sends_no_request_while_closed(open_page: Open) -> None:
    page = open_page("?family=1f1b&p=4&m=8")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.fill("#field-comm", "0.5")
    page.keyboard.press("Enter")
    settle(page)
    assert [url for url in asked if "/api/compare" in url] == []
    page.click("#tab-compare")
    wait(page, "document.querySelector('[data-family=gpipe] [data-column=makespan]')?.innerText === '36'")
    page.fill("#field-comm", "0")
    page.keyboard.press("Enter")
    wait(page, "document.querySelector('[data-family=gpipe] [data-column=makespan]')?.innerText === '33'")


def test_a_lost_server_is_reported_with_a_button_and_asked_again_by_itself(open_page: Open) -> None:
    page = open_page("?family=1f1b&p=4&m=8", forgive="Failed to load resource", anew=True)
    page.route("**/api/compare*", lambda route: route.abort())
    page.click("#tab-compare")
    expect(page.locator(".comparison-scroll")).to_contain_text("The server does not answer.")
    expect(page.get_by_role("button", name="Try again")).to_be_visible()
    page.unroute("**/api/compare*")
    wait(page, f"document.querySelectorAll('{ROWS}').length === {len(FAMILIES)}")
