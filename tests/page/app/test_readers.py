"""Details of the page in use: closing schedules, many at once, the playhead's slider, a tab outside the viewport."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.support.page.queries import Open, reload, state, wait

pytestmark = pytest.mark.one_document

FOUR = "&b.family=1f1b&c.family=zb-h1&d.family=dualpipe"
PHONE: dict[str, Any] = {"width": 360, "height": 740, "has_touch": True, "is_mobile": True}


def test_closing_a_schedule_clears_its_selection_and_no_other(open_page: Open) -> None:
    page = open_page("?family=gpipe&b.family=1f1b&c.family=zb-h1&sel=2F5@c&pin=0,b.1,c.3&area=3-6@b.0-2")
    page.locator(".lane-head[data-lane=b] .lane-close").click()
    view = state(page)["view"]
    assert (view["sel"], view["pin"], view["area"]) == ("2F5@b", "0,b.3", None)
    page.locator(".lane-head[data-lane=a] .lane-close").click()
    view = state(page)["view"]
    assert (view["sel"], view["pin"]) == ("2F5", "3")
    assert state(page)["spec"]["family"] == "zb-h1"
    page.go_back()
    wait(page, "bubbleline.state().others.length === 1")
    assert state(page)["view"]["sel"] == "2F5@b"


def test_the_playheads_slider_sticks_to_op_edges_and_its_arrow_keys_step(open_page: Open) -> None:
    page = open_page("?p=8&m=24&at=20")  # every op starts and ends at a whole number
    place = page.locator("#scrub").bounding_box()
    assert place

    def dragged() -> list[float]:
        seen = []
        y = place["y"] + place["height"] / 2
        page.mouse.move(place["x"] + place["width"] * 0.2, y)
        page.mouse.down()
        for part in (0.31, 0.42, 0.53, 0.64):
            page.mouse.move(place["x"] + place["width"] * part, y)
            seen.append(state(page)["at"])
        page.mouse.up()
        return seen

    stuck = dragged()
    assert len(set(stuck)) == 4
    assert all(at == int(at) for at in stuck)
    page.keyboard.press("ArrowRight")
    assert state(page)["at"] == stuck[-1] + 1
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    assert state(page)["at"] == stuck[-1] - 1
    page.keyboard.down("Alt")
    assert any(at != int(at) for at in dragged())
    page.keyboard.up("Alt")


def test_four_schedules_of_many_ranks_are_on_the_screen_at_once(open_page: Open) -> None:
    page = open_page(f"?family=gpipe&p=64&m=128{FOUR}", width=1440, height=900)
    plot = page.locator("#plot").bounding_box()
    last = page.evaluate("bubbleline.box('d', '63F0') || bubbleline.box('d', '0F64')")
    assert plot
    assert last
    assert last["y"] + last["h"] <= plot["y"] + plot["height"]


def test_figures_of_four_schedules_do_not_touch_also_in_milliseconds(open_page: Open) -> None:
    model = "&m.model=llama3-70b&m.machine=H100"
    for query in (f"?family=gpipe&p=64&m=128{FOUR}", f"?family=interleaved&p=16&m=128&v=4{model}{FOUR}"):
        page = open_page(query, width=1440, height=900, anew=True)
        wait(page, "![...document.querySelectorAll('#figures td')].some((cell) => cell.textContent === '–')")
        found = page.evaluate(
            """[...document.querySelectorAll('#figures .fig-table td')].map((cell) => {
              const range = document.createRange();
              range.selectNodeContents(cell);
              return [cell.textContent, range.getBoundingClientRect().width, cell.getBoundingClientRect().width];
            })"""
        )
        assert len(found) == (60 if model in query else 44)  # and tokens in either window, MFU, activations
        for text, needs, has in found:
            assert needs + 3 <= has, text


def test_errors_of_a_link_are_shown_until_the_schedule_changes_and_again_after_a_step_back(open_page: Open) -> None:
    page = open_page("?p=8&m=16&area=9&sel=zz", anew=True)
    problem = page.locator("#link-problem")
    expect(problem).to_contain_text("area")
    expect(problem).to_contain_text("sel")
    page.locator("#field-m").fill("12")
    page.locator("#field-m").press("Enter")
    expect(problem).to_be_hidden()
    page.go_back()
    expect(problem).to_contain_text("area")


def test_on_a_phone_with_folded_controls_a_note_says_that_a_link_was_not_fully_read(open_page: Open) -> None:
    page = open_page("?p=8&m=16", anew=True, **PHONE)
    banner = page.locator("#banner")
    expect(banner).to_be_hidden()
    page.evaluate("history.pushState(null, '', '?p=8&m=16&area=9'); dispatchEvent(new PopStateEvent('popstate'))")
    expect(banner).to_contain_text("Part of this link could not be read")
    reload(page)
    expect(banner).to_contain_text("Part of this link could not be read")


def test_four_schedules_are_printed_on_one_sheet(open_page: Open) -> None:
    page = open_page(f"?family=gpipe&p=8&m=16{FOUR}", width=1440, height=900)
    sheets = re.findall(rb"/Type\s*/Page\b", page.pdf(print_background=True, prefer_css_page_size=True))
    assert len(sheets) == 1
