"""The timeline in a browser: what is drawn where, and how keys and pointer move it."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.support.page.queries import Open, frames, middle, pixel, reload, settle, state, wait, wait_url

pytestmark = pytest.mark.one_document

BLUE, VERMILION = (0, 114, 178), (207, 74, 30)


def near(a: tuple[int, int, int], b: tuple[int, int, int]) -> bool:
    return all(abs(x - y) <= 3 for x, y in zip(a, b, strict=True))


def test_play_moves_the_playhead_and_space_stops_it(open_page: Open) -> None:
    page = open_page()
    assert state(page)["at"] is None
    page.click("[aria-label=Play]")
    wait(page, "bubbleline.state().at > 0.3")
    page.focus("#plot")
    page.keyboard.press(" ")
    at = state(page)["at"]
    frames(page)
    frames(page)
    assert state(page)["at"] == at
    assert not state(page)["playing"]


def test_the_first_view_is_animated_unless_reduced_motion_is_preferred(open_page: Open) -> None:
    moving = open_page(reduced_motion="no-preference", anew=True)
    wait(moving, "bubbleline.state().playing && bubbleline.state().at > 0")
    still = open_page()
    settle(still)
    assert not state(still)["playing"]


def test_arrows_step_the_playhead_from_op_end_to_op_end(open_page: Open) -> None:
    page = open_page("?p=2&m=2")
    page.focus("#plot")
    seen = []
    for _ in range(3):
        page.keyboard.press("ArrowRight")
        seen.append(state(page)["at"])
    assert seen == [1, 2, 4]
    page.keyboard.press("ArrowLeft")
    assert state(page)["at"] == 2


def test_keys_walk_from_op_to_op_and_from_rank_to_rank(open_page: Open) -> None:
    page = open_page()
    page.focus("#plot")
    walked = []
    for key in (".", ".", "ArrowDown", ",", "Escape"):
        page.keyboard.press(key)
        walked.append(state(page)["view"]["sel"])
    assert walked[:2] == ["0F0", "0F1"]
    assert walked[2] == "1F0"
    assert walked[4] is None


def test_zoom_pan_and_fit_by_key_and_the_window_is_in_the_link(open_page: Open) -> None:
    page = open_page()
    page.focus("#plot")
    page.keyboard.press("w")
    window = state(page)["window"]
    assert 0 < window["t0"] < window["t1"] < 33
    page.keyboard.press("d")
    assert state(page)["window"]["t0"] > window["t0"]
    wait_url(page, "t0=")
    page.keyboard.press("f")
    assert state(page)["window"] == {"t0": 0, "t1": 33}


def test_ctrl_wheel_zooms_at_the_pointer_and_a_drag_pans(open_page: Open) -> None:
    page = open_page()
    x, y = middle(page, "a", "1B3")
    page.mouse.move(x, y)
    page.keyboard.down("Control")
    page.mouse.wheel(0, -300)
    page.keyboard.up("Control")
    wait(page, "bubbleline.state().view.t0 !== null")
    settle(page)
    there, _ = middle(page, "a", "1B3")
    assert abs(there - x) < 3, "what is under the pointer stays there"
    before = state(page)["window"]["t0"]
    page.mouse.down()
    page.mouse.move(x - 120, y, steps=3)
    page.mouse.up()
    assert state(page)["window"]["t0"] > before


def test_hovering_an_op_shows_what_it_needs_and_unblocks(open_page: Open) -> None:
    page = open_page()
    page.mouse.move(*middle(page, "a", "2F0"))
    card = page.locator("#card")
    expect(card).to_contain_text("2F0")
    expect(card).to_contain_text("1F0 on rank 1")
    expect(card).to_contain_text("3F0 on rank 3")


def test_hovering_a_bubble_shows_why_the_rank_is_idle_and_a_click_or_enter_pins_it(open_page: Open) -> None:
    page = open_page()
    spot = page.evaluate("bubbleline.point('a', 0, 7)")
    page.mouse.move(spot["x"], spot["y"])
    expect(page.locator("#card")).to_contain_text("Rank 0 is idle from 4 to 10")
    expect(page.locator("#card")).to_contain_text("1B0")
    page.mouse.click(spot["x"], spot["y"])
    page.mouse.move(5, 5)
    frames(page)
    expect(page.locator("#card")).to_contain_text("Rank 0 is idle from 4 to 10")  # pinned
    page.focus("#plot")
    page.keyboard.press("Escape")
    expect(page.locator("#card")).to_be_hidden()
    page.mouse.click(*middle(page, "a", "0B0"))
    page.mouse.move(5, 5)
    page.focus("#plot")
    page.keyboard.press("Enter")  # the idle time before the selected op
    expect(page.locator("#card")).to_contain_text("Idle for 6")
    assert state(page)["view"]["sel"] is None
    page.keyboard.press("Escape")
    expect(page.locator("#card")).to_be_hidden()


def test_a_click_selects_and_screen_readers_announce_it(open_page: Open) -> None:
    page = open_page()
    page.mouse.click(*middle(page, "a", "3B1"))
    assert state(page)["view"]["sel"] == "3B1"
    expect(page.locator("#plot-said")).to_contain_text("Full backward 3B1, rank 3")


def test_the_schedule_is_also_a_table(open_page: Open) -> None:
    page = open_page("?p=2&m=2")
    button = page.get_by_role("button", name="Read the schedule as a table")
    button.focus()
    page.keyboard.press("Enter")
    rows = page.locator("#table tbody tr")
    expect(rows).to_have_count(2)
    expect(rows.first).to_be_in_viewport()
    expect(rows.first).to_contain_text("0F0 0 to 1")
    page.keyboard.press("Escape")
    expect(rows.first).to_be_hidden()
    expect(button).to_be_focused()


def test_ops_are_drawn_where_they_run_in_the_colour_of_their_kind(open_page: Open) -> None:
    page = open_page("?p=2&m=2&theme=light")
    quarter = {}
    for op in ("0F0", "0F1", "1F0", "1B0", "0B0"):
        box = page.evaluate(f"bubbleline.box('a', '{op}')")
        quarter[op] = pixel(page, box["x"] + box["w"] / 4, box["y"] + box["h"] / 2)
    assert all(near(quarter[op], BLUE) for op in ("0F0", "0F1", "1F0"))
    assert all(near(quarter[op], VERMILION) for op in ("1B0", "0B0"))
    bubble = page.evaluate("bubbleline.point('a', 1, 0.5)")
    assert min(pixel(page, bubble["x"], bubble["y"])) > 150, "a bubble is no op's colour"
    one, two = (page.evaluate(f"bubbleline.box('a', '{op}')") for op in ("0F0", "1B0"))
    assert abs(two["w"] - 2 * one["w"]) < 1
    assert abs(two["x"] - one["x"] - 2 * one["w"]) < 1
    page.emulate_media(forced_colors="active")
    reload(page)
    assert near(pixel(page, one["x"] + one["w"] / 4, one["y"] + one["h"] / 2), BLUE), "where the system has its colours"
    page.emulate_media(forced_colors="none")


def test_thousands_of_ops_are_drawn_too(open_page: Open) -> None:
    page = open_page("?family=interleaved&p=16&m=128&v=4&theme=light")
    start = page.evaluate("bubbleline.box('a', '0F0')")
    end = page.evaluate("bubbleline.box('a', '0F7')")
    assert near(pixel(page, (start["x"] + end["x"]) / 2, start["y"] + start["h"] / 2), BLUE)
