"""The building block tab in a browser: the server's figures, updates by sliders, ops named by pointer and keys."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from backend.schedule.analysis.steady_state import steady_state
from backend.schedule.families.registry import FAMILIES
from backend.schedule.spec import Spec
from tests.support.page.gestures import phone
from tests.support.page.queries import GO, Open, held_timers, settle, state, wait

pytestmark = pytest.mark.one_document("panels")

DRAWING = ".block-drawing"
STATUS = ".block-status"


def opened(open_page: Open, query: str, **options: object) -> Page:
    page = open_page(f"{query}&tab=block", **options)
    wait(page, "document.querySelector('.block-section') !== null")
    return page


def rows(page: Page) -> list[list[str]]:
    found: list[list[str]] = page.evaluate(
        "[...document.querySelectorAll('.block-arithmetic tbody tr')]"
        ".map((row) => [...row.cells].map((cell) => cell.textContent))"
    )
    return found


def at(page: Page, rank: int, slot: float) -> tuple[float, float]:
    """The position of a rank's slot, from the bracket that spans the first period."""
    box = page.locator(DRAWING).bounding_box()
    bracket = page.locator(f"{DRAWING} .bracket").bounding_box()
    assert box
    assert bracket
    period = steady_state(Spec("v-min", 4))["block"]["period"]
    return bracket["x"] + (slot + 0.5) * bracket["width"] / period, box["y"] + 34 + rank * 34 + 8


def test_a_link_opens_the_block_with_the_servers_arithmetic(open_page: Open) -> None:
    page = opened(open_page, "?family=v-min&p=4")
    expect(page.locator("#tab-block")).to_have_attribute("aria-selected", "true")
    steady = steady_state(Spec("v-min", 4))
    expect(page.locator(".block-top p")).to_have_text(steady["sentence"])
    assert rows(page)[1] == ["rank 1", "17 + 5", "22 / 6 = 3.67", "4"]
    assert [row[-1] for row in rows(page)] == [str(peak) for peak in steady["peaks"]]
    expect(page.locator(".block-arithmetic tfoot")).to_have_text(
        "most at once: 4 chunks = 2 micro-batches; 1F1B holds p = 4"
    )
    expect(page.locator(f"{DRAWING} .period")).to_have_text("period 6 slots")
    expect(page.locator(f"{DRAWING} .one path")).to_have_count(12)  # three kinds, two chunks: ops and their marks


def test_it_follows_sizes_and_family_names_the_most_loaded_and_reports_too_few_micro_batches(open_page: Open) -> None:
    page = opened(open_page, "?family=1f1b&p=4&m=16")
    assert [row[1] for row in rows(page)] == ["12 / 3 = 4", "9 / 3 = 3", "6 / 3 = 2", "3 / 3 = 1"]
    expect(page.locator(".is-most th")).to_have_text("rank 0")
    page.fill("#field-p", "6")
    page.keyboard.press("Enter")
    wait(page, "document.querySelectorAll('.block-arithmetic tbody tr').length === 6")
    expect(page.locator(".block-top p")).to_contain_text("18 / 3 = 6 chunks in flight")
    page.click("#family")
    page.click("#family-zb-h2")
    wait(page, "document.querySelector('.block-section')?.dataset.family === 'zb-h2'")
    assert rows(page)[5] == ["rank 5", "33 / 3 = 11", "11"]
    expect(page.locator(".is-most"), "all ranks hold as much").to_have_count(0)
    page.go_back()
    wait(page, "document.querySelector('.block-section')?.dataset.family === '1f1b'")
    expect(page.locator(".is-remark")).to_have_count(0)
    page.fill("#field-m", "4")
    page.keyboard.press("Enter")
    expect(page.locator(".is-remark")).to_contain_text(
        "With m = 4 the last micro-batch begins before the first is done"
    )
    expect(page.locator(DRAWING)).to_have_count(1)


def test_two_schedules_are_drawn_on_one_scale_and_one_block_once_with_every_slot_in_a_table(open_page: Open) -> None:
    page = opened(open_page, "?family=v-min&p=4&b.family=1f1b")
    expect(page.locator(".block-section .plan-mark")).to_have_text(["A", "B"])
    widths = page.evaluate(
        "[...document.querySelectorAll('.block-drawing .bracket')].map((node) => node.getBBox().width)"
    )
    assert widths[0] == pytest.approx(widths[1]), "six slots of half a device's work are three of a whole one's"
    page.evaluate(GO, "?family=1f1b&p=3&m=8&b.family=1f1b&b.m=12&tab=block")
    wait(page, "document.querySelector('.block-section .plan-mark')?.textContent === 'A, B'")
    expect(page.locator(DRAWING)).to_have_count(1)
    page.get_by_text("Every slot as a table").click()
    wait(page, "document.querySelector('.block-slots') !== null")
    cells = page.evaluate(
        "[...document.querySelectorAll('.block-slots tr')].map((row) => [...row.cells].map((cell) => cell.textContent))"
    )
    assert cells == [["device", "F", "B"], ["rank 0", "0", "7"], ["rank 1", "1", "5"], ["rank 2", "2", "3"]]


def test_a_family_without_a_block_shows_the_reason_and_offers_families_with_one_in_place_of_the_first_or_second(
    open_page: Open,
) -> None:
    page = opened(open_page, "?family=gpipe&p=4&m=12")
    expect(page.locator(".block-none p")).to_contain_text("all forwards run before the first backward")
    offered = page.locator(".block-none [data-put]")
    expect(offered).to_have_text([family.title for family in FAMILIES.values() if family.block], use_inner_text=True)
    page.click("[data-put=v-half]")
    wait(page, "document.querySelector('.block-drawing') !== null")
    shown = state(page)["spec"]
    assert (shown["family"], shown["p"], shown["m"], shown["v"]) == ("v-half", 4, 12, 2)
    page.go_back()
    expect(page.locator(".block-none p")).to_contain_text("GPipe has no block")
    page.evaluate(GO, "?family=v-min&p=4&b.family=gis&tab=block")
    expect(page.locator(".block-none p")).to_contain_text("GIS has no block")
    page.click("[data-put=v-zb]")
    wait(page, "document.querySelectorAll('.block-drawing').length === 2")
    assert (state(page)["spec"]["family"], state(page)["others"][0]["family"]) == ("v-min", "v-zb")


def test_an_op_is_named_under_the_pointer_and_so_are_copies_and_lifespans_by_keys_and_by_a_tap_on_a_phone(
    open_page: Open,
) -> None:
    page = opened(open_page, "?family=v-min&p=4")
    expect(page.locator(STATUS)).to_contain_text("Strong: one micro-batch")
    x, y = at(page, 1, 1)
    page.mouse.move(x, y)
    expect(page.locator(STATUS)).to_contain_text("Forward (F) of micro-batch k on rank 1, chunk 0, stage 1: slot 1;")
    page.mouse.move(at(page, 1, 7)[0], y)
    expect(page.locator(STATUS)).to_contain_text("Forward (F) of micro-batch k + 1 on rank 1")
    page.mouse.move(x, y + 14)
    expect(page.locator(STATUS)).to_contain_text("keeps the activations of micro-batch k for 17 slots")
    page.mouse.move(x, y - 60)
    expect(page.locator(STATUS)).to_contain_text("Strong: one micro-batch")
    page.locator("#tab-block").focus()
    for _ in range(12):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.classList.contains('block-drawing')"):
            break
    expect(page.locator(STATUS)).to_contain_text("Forward (F) of micro-batch k on rank 0, chunk 0")
    page.keyboard.press("ArrowRight")
    expect(page.locator(STATUS)).to_contain_text("Forward (F) of micro-batch k on rank 0, chunk 1, stage 7: slot 7")
    page.keyboard.press("ArrowDown")
    expect(page.locator(STATUS)).to_contain_text("rank 1, chunk 1, stage 6: slot 6")
    expect(page.locator(f"{DRAWING} .here")).to_be_visible()
    assert state(page)["view"]["sel"] is None, "the keys leave the timeline alone"
    with phone(page) as fingers:
        page.locator(DRAWING).scroll_into_view_if_needed()
        fingers.down(at(page, 0, 0))
        fingers.up()
        named = "Forward (F) of micro-batch k on rank 0, chunk 0, stage 0: slot 0;"
        expect(page.locator(STATUS)).to_contain_text(named)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_with_too_many_devices_to_draw_fewer_are_offered_which_another_theme_repaints_and_a_phone_has_room_for(
    open_page: Open,
) -> None:
    page = opened(open_page, "?family=zb-h1&p=128&m=128&theme=light")
    expect(page.locator(".block-top p")).to_contain_text("384 / 3 = 128 chunks in flight")
    expect(page.locator(DRAWING)).to_have_count(0)
    page.get_by_role("button", name="Show p = 16").click()
    wait(page, "document.querySelector('.block-drawing') !== null")
    assert state(page)["spec"]["p"] == 16
    fill = "document.querySelector('.block-drawing .one path').getAttribute('fill')"
    light = page.evaluate(fill)
    page.click("#theme")
    expect(page.locator("#appearance")).to_be_visible()
    page.locator("#look-theme-dark").check()
    wait(page, f"{fill} !== '{light}'")
    expect(page.locator(DRAWING)).to_have_count(1)
    page.keyboard.press("Escape")
    with phone(page):
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        edges = page.evaluate(
            "['.block-arithmetic', '.block-scroll'].map((each) => document.querySelector(each))"
            ".map((node) => node.getBoundingClientRect().right)"
        )
        assert max(edges) <= 360
        assert page.locator(DRAWING).bounding_box()["width"] >= 300  # type: ignore[index]


def test_a_closed_tab_sends_no_request_and_a_lost_server_is_reported(open_page: Open) -> None:
    page = open_page("?family=1f1b&p=4", forgive="Failed to load resource", anew=True)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.fill("#field-p", "5")
    page.keyboard.press("Enter")
    settle(page)
    assert [url for url in asked if "/api/block" in url] == []
    page.route("**/api/block*", lambda route: route.abort())
    page.click("#tab-block")
    expect(page.locator("#panel-block")).to_contain_text("The server does not answer.")
    with held_timers(page, 1000):  # it would ask again by itself, which takes the button away
        page.unroute("**/api/block*")
        page.get_by_role("button", name="Try again").click()
    wait(page, "document.querySelectorAll('.block-arithmetic tbody tr').length === 5")
