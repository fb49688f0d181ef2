"""Timeline tools in a browser: snapping, marks, find, pinned ranks, the minimap, touch and the table."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.support.page.gestures import PHONE, Fingers, drag, point, view
from tests.support.page.queries import Open, state, wait, wait_url

pytestmark = pytest.mark.one_document


def test_scrubbing_sticks_to_op_edges_unless_alt_is_held(open_page: Open) -> None:
    page = open_page()
    x = point(page, 0, 10)[0]
    top = page.locator("#plot").bounding_box()
    assert top
    page.mouse.move(x + 3, top["y"] + 8)
    page.mouse.down()
    page.mouse.up()
    assert state(page)["at"] == 10
    page.keyboard.down("Alt")
    page.mouse.down()
    page.mouse.up()
    page.keyboard.up("Alt")
    assert 10 < state(page)["at"] < 10.5


def test_marks_are_set_at_the_pointer_with_their_distance_and_removed_by_a_click(open_page: Open) -> None:
    page = open_page()
    for t in (3, 10):
        x, y = point(page, 0, t)
        page.mouse.move(x + 2, y)
        page.keyboard.press("m")
    assert view(page, "marks") == "3,10"
    flags = page.locator(".mark")
    expect(flags).to_have_text(["3", "10\n+7"], use_inner_text=True)
    wait_url(page, "marks=3,10")
    flags.first.click()
    assert view(page, "marks") == "10"
    page.focus("#plot")
    page.keyboard.press(".")
    page.keyboard.press(".")
    page.keyboard.press("m")
    assert view(page, "marks") == "1,10", "the keyboard marks the selected op, wherever the pointer rests"
    page.keyboard.press("m")
    assert view(page, "marks") == "10"


def test_there_are_at_most_eight_marks_and_the_page_states_this(open_page: Open) -> None:
    page = open_page("?marks=1,2,3,4,5,6,7,8&sel=0B7")
    page.focus("#plot")
    page.keyboard.press("m")
    assert view(page, "marks") == "1,2,3,4,5,6,7,8"
    expect(page.locator("#banner")).to_contain_text("At most 8 marks")


def test_find_counts_matches_steps_through_them_and_explains_the_syntax(open_page: Open) -> None:
    page = open_page()
    page.focus("#plot")
    page.keyboard.press("/")
    status = page.locator("#find-status")
    page.keyboard.type("f5")
    expect(status).to_have_text("4 matches")
    walked = []
    for key in ("Enter", "Enter", "Shift+Enter"):
        page.keyboard.press(key)
        walked.append(view(page, "sel"))
    assert walked == ["0F5", "1F5", "0F5"]
    expect(status).to_have_text("1 of 4")
    page.fill("#find-text", "2x")
    expect(status).to_contain_text("type an op: 2F5")
    expect(page.locator("#find-text")).to_have_attribute("aria-invalid", "true")
    page.fill("#find-text", "9F5")
    expect(status).to_have_text("no such op")
    page.keyboard.press("Escape")
    expect(page.locator("#find")).to_be_hidden()
    assert page.evaluate("document.activeElement.id") == "plot"
    assert view(page, "sel") == "0F5"


def test_find_scrolls_to_a_hairline_op_among_many(open_page: Open) -> None:
    page = open_page("?family=interleaved&p=16&m=256&v=4")
    page.focus("#plot")
    page.keyboard.press("/")
    page.keyboard.type("50B200")
    page.keyboard.press("Enter")
    expect(page.locator("#find-status")).to_have_text("1 of 1")
    wait(page, "bubbleline.box('a', '50B200')?.w > 5")


def test_a_rank_is_pinned_by_its_number_and_by_key_and_comes_first(open_page: Open) -> None:
    page = open_page()
    x, y = point(page, 2, 0)
    before = page.evaluate("bubbleline.point('a', 2, 0).h")
    page.mouse.click(x - 16, y)
    assert view(page, "pin") == "2"
    wait(page, "bubbleline.point('a', 2, 0).y < bubbleline.point('a', 0, 0).y")  # laid out with the next frame
    assert point(page, 0, 0)[1] < point(page, 1, 0)[1] < point(page, 3, 0)[1]
    assert page.evaluate("bubbleline.point('a', 2, 0).h") == before, "rows keep their height where they are tall"
    page.focus("#plot")
    page.keyboard.press("Escape")
    page.keyboard.press(".")
    assert view(page, "sel") == "2F0", "the first row is the pinned one"
    page.keyboard.press("ArrowDown")
    assert view(page, "sel").startswith("0"), "and the row below is the one that is drawn there"
    page.keyboard.press("Shift+P")
    assert view(page, "pin") == "0,2"
    expect(page.locator("#plot-said")).to_contain_text("Rank 0 is pinned")
    page.keyboard.press("Shift+P")
    assert view(page, "pin") == "2"


def test_pinned_ranks_and_the_title_stay_while_the_others_scroll(open_page: Open) -> None:
    page = open_page("?p=300&m=12&pin=250")
    y = point(page, 250, 5)[1]
    title = page.locator(".lane-head").bounding_box()
    assert page.evaluate("bubbleline.point('a', 0, 5)"), "the first rank is in sight"
    page.mouse.move(600, 400)
    page.mouse.wheel(0, 400)
    wait(page, "bubbleline.point('a', 0, 5) === null")
    assert point(page, 250, 5)[1] == y
    assert page.locator(".lane-head").bounding_box() == title
    page.focus("#plot")
    page.keyboard.press("PageUp")
    wait(page, "bubbleline.point('a', 0, 5) !== null")


def test_the_minimap_is_zoomed_by_its_edges_moved_by_its_middle_and_drawn_anew(open_page: Open) -> None:
    page = open_page("?t0=10&t1=20")
    box = page.locator("#minimap").bounding_box()
    assert box
    left = page.evaluate("bubbleline.point('a', 0, bubbleline.state().window.t0).x")
    right = page.evaluate("bubbleline.point('a', 0, bubbleline.state().window.t1).x")
    y = box["y"] + box["height"] / 2

    def at(t: float) -> tuple[float, float]:
        return left + (right - left) * t / 33, y

    drag(page, at(20), at(25))
    window = state(page)["window"]
    assert window["t0"] == 10
    assert abs(window["t1"] - 25) < 0.2
    drag(page, at(15), at(20))
    moved = state(page)["window"]
    assert abs(moved["t0"] - 15) < 0.2
    assert abs(moved["t1"] - moved["t0"] - (window["t1"] - window["t0"])) < 1e-6
    page.mouse.click(*at(3))
    assert state(page)["window"]["t0"] == 0, "a click centres the window as far as it goes"
    page.focus("#plot")
    page.keyboard.press("f")
    drag(page, at(8), at(12))
    anew = state(page)["window"]
    assert abs(anew["t0"] - 8) < 0.2
    assert abs(anew["t1"] - 12) < 0.2


def test_on_a_phone_a_finger_pans_two_zoom_and_a_long_press_selects(open_page: Open) -> None:
    page = open_page("?t0=0&t1=12", **PHONE)
    x, y = point(page, 1, 6)
    fingers = Fingers(page)
    fingers.down((x, y))
    for step in range(1, 6):
        fingers.move((x - 12 * step, y))
    fingers.up()
    assert state(page)["window"]["t0"] > 1
    before = state(page)["window"]
    fingers.down((x - 20, y), (x + 20, y))
    fingers.move((x - 60, y), (x + 60, y))
    fingers.up()
    after = state(page)["window"]
    assert after["t1"] - after["t0"] < before["t1"] - before["t0"]
    fingers.down((x, y))
    wait(page, "bubbleline.state().view.area !== null")
    foot = page.evaluate("bubbleline.point('a', 3, 0).y")
    fingers.move((x + 10, (y + foot) / 2))
    fingers.move((x + 40, foot))
    fingers.up()
    assert view(page, "area").endswith("@1-3")
    assert page.evaluate("window.scrollY") == 0, "the page did not scroll under the finger"
    assert page.evaluate("visualViewport.scale") == 1


def test_on_a_phone_tools_are_buttons_and_nothing_is_wider_than_the_screen(open_page: Open) -> None:
    page = open_page("?area=5-14@1-2&marks=2,8.5,9", **PHONE)
    page.tap("#tools [aria-label='Find ops']")
    page.fill("#find-text", "2F")
    expect(page.locator("#find-status")).to_have_text("8 matches")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    panel, plot = page.locator("#area").bounding_box(), page.locator("#plot").bounding_box()
    assert panel
    assert plot
    assert panel["height"] < plot["height"] * 0.6
    page.tap("#area .more")
    expect(page.locator("#area tr.kinds").first).to_be_visible()


def test_the_table_lists_the_ops_in_view_and_explains_how_to_reach_the_rest(open_page: Open) -> None:
    page = open_page("?p=2&m=100")
    page.get_by_role("button", name="Read the schedule as a table").evaluate("node => node.click()")
    table = page.locator("#table table")
    expect(table.locator("caption")).to_contain_text("the first 60 are listed: zoom in with W")
    expect(table.locator("tbody tr")).to_have_count(2)
    page.focus("#plot")
    for _ in range(6):
        page.keyboard.press("w")
    wait(page, "!document.querySelector('#table caption').textContent.includes('zoom in')")
    expect(table.locator("tbody th").first).to_contain_text("Rank 0")
