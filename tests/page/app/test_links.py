"""Links: each kind opens its view; sharing, short links, back, forward and copy."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.conftest import Server
from tests.support.page.queries import GO, Open, frames, reload, state, wait, wait_url

pytestmark = pytest.mark.one_document

LISTED = ",".join(f"{1 + k % 7}.{k % 10}5" for k in range(80))  # by hand, too much for a link that can be read
COSTS = {"F": 18.5, "I": 18.1, "W": 9.3}
Form = tuple[str, dict[str, Any], list[dict[str, Any]], dict[str, Any]]
FORMS: list[Form] = [
    ("", {"family": "gpipe", "p": 4, "m": 8, "v": 1}, [], {"theme": "auto"}),
    ("?theme=dark&utm_source=x", {"family": "gpipe"}, [], {"theme": "dark"}),
    ("?family=Interleaved+1F1B&b.family=ZB-V&fbclid=x", {"family": "interleaved"}, [{"family": "v-zb", "v": 2}], {}),
    ("?family=gpipe&lifo=true&p=4&m=8", {"lifo": True}, [], {}),
    ("?p=8&b.family=zb-h1&c.family=zb-h2&d.m=16", {"p": 8}, [{"family": "zb-h1"}, {"family": "zb-h2"}, {"m": 16}], {}),
    (
        "?family=zb-h1&p=6&m=12&F=1.5&comm=0.25&b.family=1f1b&t0=5&t1=20&at=11&sel=2I3&theme=dark&tab=compare",
        {"costs.F": 1.5, "costs.comm": 0.25}, [{"family": "1f1b", "costs.F": 1.5}],
        {"t0": 5, "t1": 20, "at": 11, "sel": "2I3", "theme": "dark", "tab": "compare"},
    ),
    ("?family=v-auto&p=4&m=8&memory=2.5&effort=40&seed=3", {"effort": 40, "seed": 3}, [], {}),
    ("?vocabulary=parallel-1&S=0.25&T=0.5&theme=light", {"vocabulary": "parallel-1", "costs.S": 0.25}, [], {}),
    (
        "?p=2&F=20,18&m.model=llama3-70b&m.machine=h100&m.tp=8&m.efficiency=0.45&m.heads=1&m.sequence=8192"
        "&m.micro_batch=2&m.layers=2*39&tab=costs",
        {"costs.F": [20, 18]}, [], {},
    ),
    ("?p=8&comm=3&m.model=llama3-70b&m.heads=1&m.off=1", {"model": True, "costs.comm": 3}, [], {}),
    ("?area=12-30@0-3&marks=3,10.5&pin=0,2", {}, [], {"area": "12-30@0-3", "marks": "3,10.5", "pin": "0,2"}),
    ("?z=.nvwxr8AA&theme=dark&m=16", {"family": "zb-h1", "m": 16}, [], {"theme": "dark"}),
]  # fmt: skip
"""A form of each kind with what it shows: of the first schedule, the others and the view.

tests/js/state/link_forms.test.ts has every one that was ever published."""


def assert_shown(expected: dict[str, Any], shown: dict[str, Any]) -> None:
    for key, value in expected.items():
        if key == "model":
            assert shown["costs"]["F"] != 1, "the costs follow from the model"
            continue
        actual = shown["costs"][key.partition(".")[2]] if key.startswith("costs.") else shown[key]
        assert actual == value, f"{key} is {actual}"


def go(page: Page, query: str) -> None:
    """Go to another address without reloading the page, as a step back does."""
    page.evaluate(GO, query)


def shows(page: Page, form: Form) -> None:
    query, spec, others, view = form
    wait(
        page, "window.bubbleline && bubbleline.samples.firstPaint() > 0 && !bubbleline.state().plans.some(p => p.stale)"
    )
    shown = state(page)
    assert [plan["error"] for plan in shown["plans"]] == [None] * (1 + len(others)), query
    assert len(shown["others"]) == len(others), query
    for expected, actual in zip([spec, *others, view], [shown["spec"], *shown["others"], shown["view"]], strict=True):
        assert_shown(expected, actual)
    expect(page.locator(".problem:visible"), query).to_have_count(0)


def test_links_of_every_kind_open_their_view(open_page: Open, server: Server):
    page = open_page("", width=900, height=600)
    for form in FORMS:
        if "model" in form[1]:  # a page that has not asked for a model's costs yet must load anew
            page.goto(f"{server.url}/{form[0]}")
        else:
            go(page, form[0])
        shows(page, form)
    page.goto(f"{server.url}/?family=ZB-V&utm_source=x")
    wait(page, "location.search === '?family=v-zb'")


def test_a_partly_wrong_link_is_reported_and_the_rest_is_shown(open_page: Open):
    page = open_page("?p=8&famly=gpipe&utm_source=x&p=9")
    assert state(page)["spec"]["p"] == 8
    go(page, "?z=AAAAA&p=7")
    assert state(page)["spec"]["p"] == 7


def test_back_and_forward_go_through_the_earlier_choices(open_page: Open):
    page = open_page("?p=4")
    page.click("#compare-toggle")
    wait(page, "bubbleline.state().others.length === 1 && location.search.includes('b.family')")
    page.click("#compare-toggle")
    wait(page, "bubbleline.state().others.length === 2 && location.search.includes('c.family')")
    page.go_back()
    wait(page, "bubbleline.state().others.length === 1")
    page.go_back()
    wait(page, "bubbleline.state().others.length === 0 && location.search === '?p=4'")
    page.go_forward()
    wait(page, "bubbleline.state().others.length === 1")
    wait_url(page, "b.family=")


def test_a_view_too_large_for_a_plain_link_is_packed_and_restored(open_page: Open):
    page = open_page(f"?p=80&F={LISTED}")
    page.keyboard.press("w")
    wait(page, "location.search.startsWith('?z=')")
    assert len(urlsplit(page.url).query) < 300
    before = state(page)
    reload(page)
    assert (state(page)["spec"], state(page)["view"]["t0"]) == (before["spec"], before["view"]["t0"])


def copied(page: Page) -> str:
    return page.evaluate("navigator.clipboard.readText()")


def share(open_page: Open, query: str, **options: Any) -> Page:
    permissions = options.pop("permissions", ["clipboard-read", "clipboard-write"])
    page = open_page(query, permissions=permissions, **options)
    page.evaluate("document.querySelector('#share-dialog')?.close()")  # which an earlier test may have left open
    page.click("#share")
    wait(page, "document.querySelector('#share-dialog').open")
    return page


def test_one_click_copies_the_link_and_the_link_opens_the_same_view(open_page: Open):
    page = share(open_page, "?family=zb-h1&p=8&b.family=1f1b&t0=3&t1=30&at=11&sel=2F5&theme=dark")
    wait(page, "document.querySelector('.share-status').textContent.startsWith('Copied')")
    link = copied(page)
    assert link == page.input_value("#share-link") == page.url
    before = state(page)
    page.goto(link)
    wait(page, "window.bubbleline && bubbleline.samples.firstPaint() > 0")
    after = state(page)
    assert before["window"] == {"t0": 3, "t1": 30}
    for key in ("spec", "others", "view", "window", "at"):
        assert after[key] == before[key], key


def test_the_dialog_captures_the_keys_while_it_is_open_and_returns_the_focus(open_page: Open):
    page = share(open_page, "?p=4")
    before = state(page)["window"]
    page.focus("#share-dialog .share-head button")
    page.keyboard.press("w")
    page.keyboard.press(" ")  # closes: the button is pressed
    wait(page, "!document.querySelector('#share-dialog').open")
    assert state(page)["window"] == before
    assert page.evaluate("document.activeElement.id") == "share"
    page.keyboard.press("Enter")
    wait(page, "document.querySelector('#share-dialog').open")
    page.keyboard.press("Escape")
    wait(page, "!document.querySelector('#share-dialog').open")


def test_where_nothing_can_be_copied_the_link_is_selected(open_page: Open):
    page = share(open_page, "?p=5", permissions=[])
    page.evaluate(
        "Object.defineProperty(navigator, 'clipboard',"
        " { value: { writeText: () => Promise.reject(new Error()) }, configurable: true })"
    )
    page.click("#share-dialog .button.primary")
    wait(page, "document.querySelector('.share-status').textContent.includes('Ctrl+C')")
    selected = "(box => box.value.slice(box.selectionStart, box.selectionEnd))(document.activeElement)"
    assert page.evaluate(selected) == page.url
    page.evaluate("delete navigator.clipboard")


def test_a_short_link_is_made_only_on_request_and_leads_back_here(open_page: Open):
    asked: list[str] = []
    page = share(open_page, "?family=zb-h1&p=6&m=18")
    page.on("request", lambda request: asked.append(request.url) if "/api/links" in request.url else None)
    expect(page.locator("#share-short")).to_be_hidden()
    page.fill("#share-name", "")
    page.click("#share-short-make")
    wait(page, "document.querySelector('#share-short').value.includes('/s/')")
    assert len(asked) == 1
    short = page.input_value("#share-short")
    assert len(urlsplit(short).path) == len("/s/") + 7
    page.goto(short)
    wait(page, "window.bubbleline && bubbleline.samples.firstPaint() > 0")
    assert urlsplit(page.url).query == "family=zb-h1&p=6&m=18"


def test_a_taken_or_invalid_name_is_refused_with_a_free_one(open_page: Open):
    page = share(open_page, "?p=3&m=5", forgive="Failed to load resource")
    page.fill("#share-name", "Zero bubble!")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Use zero-bubble").click()
    wait(page, "document.querySelector('#share-short').value.endsWith('/s/zero-bubble')")
    page.keyboard.press("Escape")
    go(page, "?p=3&m=6")
    page.click("#share")
    page.fill("#share-name", "zero-bubble")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Use zero-bubble-2").click()
    wait(page, "document.querySelector('#share-short').value.endsWith('/s/zero-bubble-2')")


def test_without_the_server_the_long_link_still_works(open_page: Open):
    page = share(open_page, "?p=3", forgive="Failed to load resource")
    page.route("**/api/links", lambda route: route.abort())
    page.click("#share-short-make")
    wait(page, "document.querySelector('#share-short-status').textContent.includes('does not answer')")
    assert page.input_value("#share-link") == page.url


def test_the_embed_code_has_a_preview(open_page: Open):
    page = share(open_page, "?family=zb-h1&p=8&tab=compare&theme=light")
    page.click("#share-embed-part summary")
    wait(page, "document.querySelector('#share-embed').value.includes('height')")
    tall = [int(re.findall(r'height="(\d+)"', page.input_value("#share-embed"))[0])]
    page.select_option("#share-controls", "none")
    tall.append(int(re.findall(r'height="(\d+)"', page.input_value("#share-embed"))[0]))
    assert 280 <= tall[1] < tall[0] <= 480, "as tall as eight rows need, with what is shown around them"
    page.select_option("#share-theme", "dark")
    page.select_option("#share-controls", "minimal")
    page.select_option("#share-size", "column")
    code = page.input_value("#share-embed")
    assert 'width="640" height="360"' in code
    assert "/embed?family=zb-h1&amp;p=8&amp;theme=dark&amp;controls=minimal&quot;" not in code
    assert '/embed?family=zb-h1&amp;p=8&amp;theme=dark&amp;controls=minimal"' in code
    frame = page.frame_locator(".share-frame iframe")
    frame.locator(".lane-head strong", has_text="ZB-H1").wait_for()


def test_the_dialog_fits_the_screen(open_page: Open):
    page = share(open_page, "?family=zb-h1", width=360, height=740)
    page.click("#share-file-part summary")
    wait(page, "/^\\d+ kB$/.test(document.querySelector('#share-file-part .share-status').textContent)")
    for width, height in ((360, 740), (1440, 900)):
        page.set_viewport_size({"width": width, "height": height})
        frames(page)
        box = page.locator("#share-dialog").bounding_box()
        assert box is not None
        within = (box["x"] >= 0, box["x"] + box["width"] <= width, box["y"] + box["height"] <= height)
        assert within == (True, True, True), width
        assert page.evaluate("(d => d.scrollWidth - d.clientWidth)(document.querySelector('#share-dialog'))") == 0


def test_an_unknown_short_link_gets_a_page_with_a_link_home(open_page: Open):
    page = open_page("s/nobody", drawn=False, forgive="Failed to load resource")
    page.get_by_role("link", name="Open Bubbleline").click()
    wait(page, "window.bubbleline && bubbleline.samples.firstPaint() > 0")
