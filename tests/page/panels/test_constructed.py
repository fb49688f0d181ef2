"""Schedules that the page constructs itself: their sliders ask the server for nothing, also when there is none."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.support.page.queries import GO, Open, frames, held_timers, settle, state, wait

pytestmark = pytest.mark.one_document("panels")

REST_MS = 150  # delay before the server is asked
# One of each way of constructing: from rows, with groups, from slots, from a block and its costs, and with options.
# tests/js/families does it for every family and option.
CONSTRUCTED = (
    "family=pipedream",
    "family=interleaved",
    "family=dualpipe",
    "family=v-half&F=1.5",
    "family=1f1b&vocabulary=interlaced",
    "family=interleaved&v=2&offload=full&recompute=selective",
)


def drag(page: Page, field: str, end: float) -> None:
    """Drag a slider to and fro, and leave it at a part of its length."""
    box = page.locator(f"#field-{field}-slider").bounding_box()
    assert box
    y = box["y"] + box["height"] / 2
    now = float(page.evaluate(f"(s => s.value / s.max)(document.querySelector('#field-{field}-slider'))"))
    page.mouse.move(box["x"] + 8 + now * (box["width"] - 16), y)
    page.mouse.down()
    for part in (0.05, end):
        page.mouse.move(box["x"] + 8 + part * (box["width"] - 16), y)
    page.mouse.up()


def change_all(page: Page, query: str) -> None:
    """Drag each size that the schedule has: the page shows what is asked for, and it is another schedule."""
    now = state(page)
    for field, end in (("p", 0.1), ("m", 0.4), ("v", 0.2), ("group", 0.4)):
        if not page.locator(f"#field-{field}-slider").is_visible():
            continue
        before = now
        drag(page, field, end)
        frames(page)
        wait(page, "!bubbleline.state().plans[0].stale")
        now = state(page)
        value, (plan,) = now["spec"][field], now["plans"]
        assert value != before["spec"][field], f"{query}: {field}"
        assert (plan["error"], plan["offline"]) == (None, False), f"{query}: {field} = {value}"
        assert now["lanes"] != before["lanes"] or field == "group", f"{query}: {field} = {value}"


def test_sliders_of_constructed_schedules_send_no_request_and_go_on_when_the_server_is_away(open_page: Open) -> None:
    page = open_page(forgive="Failed to load resource")
    settle(page)
    page.route("**/*", lambda route: route.abort())
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    for query in CONSTRUCTED:
        page.evaluate(GO, f"?{query}&p=2&m=16")
        family = query.removeprefix("family=").partition("&")[0]
        drawn = f"shown?.family === '{family}' && shown.p === 2 && shown.m === 16 && !stale"
        wait(page, f"(({{shown, stale}}) => {drawn})(bubbleline.state().plans[0])")
        frames(page)
        change_all(page, query)
        expect(page.locator("#banner")).to_be_hidden()
    settle(page)
    assert [url for url in asked if "/api/" in url] == []
    page.click("#family")
    page.click("#family-zb-auto")
    expect(page.locator("#banner")).to_contain_text("Constructed schedules still work")
    page.focus("#plot")
    page.keyboard.press("m")
    expect(page.locator("#banner")).to_contain_text("the mark goes there")
    expect(page.locator("#banner")).to_contain_text("Constructed schedules still work")  # again, after the notice
    page.click("#family")
    page.click("#family-gpipe")
    wait(page, "bubbleline.state().plans[0].shown.family === 'gpipe'")
    expect(page.locator("#banner")).to_be_hidden()


def test_an_order_that_takes_long_is_constructed_beside_the_page(open_page: Open) -> None:
    page = open_page("?family=v-min&p=16&m=8", anew=True)  # what keeps a worker from starting does so for good
    first = state(page)["plans"][0]["figures"]["makespan"]
    page.fill("#field-m", "60")
    page.keyboard.press("Enter")
    wait(page, f"bubbleline.state().plans[0].shown.m === 60 && bubbleline.state().plans[0].figures.makespan > {first}")


def test_what_the_page_cannot_be_sure_of_the_server_refuses_once_it_rests(open_page: Open) -> None:
    page = open_page("?family=1f1b&p=4&m=8&F=1,2,1,1")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    with held_timers(page, REST_MS):
        drag(page, "p", 0.3)
    expect(page.locator("#field-F-problem")).to_contain_text("one entry per stage")
    assert len([url for url in asked if "/api/schedule" in url]) == 1
    assert state(page)["plans"][0]["shown"]["p"] == 4
