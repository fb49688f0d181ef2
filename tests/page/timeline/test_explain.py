"""What the timeline explains on demand, in a browser: why ranks are idle, the critical path, a followed micro-batch,
messages, and the narration line."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.support.page.queries import GO, Open, frames, middle, pixel, rgba, state, wait, wait_url

pytestmark = pytest.mark.one_document


def veiled(page: Page, op: str) -> bool:
    """Whether an op is dimmed by the overlay, which dims everything except what it explains."""
    box = page.evaluate(f"bubbleline.box('a', '{op}')")
    x, y = box["x"] + box["w"] * 0.7, box["y"] + box["h"] * 0.25  # beside lines, labels and rings
    return rgba(page, x, y, "#plot canvas.overlay")[3] > 100


def test_the_critical_path_is_highlighted_by_key_and_by_button_and_is_in_the_link(open_page: Open) -> None:
    page = open_page("?theme=light")
    page.focus("#plot")
    page.keyboard.press("c")
    frames(page)
    expect(page.locator("#crit")).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#narration")).to_contain_text("Critical path, length 33: F 11 (33.3 %), B 22 (66.7 %)")
    assert not any(veiled(page, op) for op in ("0F0", "1F0", "3B4", "2B7", "0B7"))
    assert all(veiled(page, op) for op in ("0F1", "2B3", "0B4"))
    wait_url(page, "crit=1")
    page.click("#crit")
    frames(page)
    assert state(page)["view"]["crit"] is None
    assert not veiled(page, "0F1")


def test_a_micro_batch_is_followed_from_the_op_under_the_pointer_to_its_neighbours(open_page: Open) -> None:
    page = open_page("?family=zb-h1&theme=light")
    page.mouse.move(*middle(page, "a", "2I3"))
    page.keyboard.press("t")
    page.mouse.move(5, 5)
    frames(page)
    assert state(page)["view"]["micro"] == 3
    narration = page.locator("#narration")
    expect(narration).to_contain_text(
        "Micro-batch 3 enters at 3 on rank 0; forward done at 10, backward at 17, weight gradients at 21."
    )
    assert not any(veiled(page, op) for op in ("0F3", "3F3", "1I3", "0W3"))
    assert veiled(page, "0F2")
    page.keyboard.press("]")
    expect(page.locator("#followed")).to_have_text("4")
    page.get_by_role("button", name="Previous micro-batch").click()
    page.get_by_role("button", name="Previous micro-batch").click()
    expect(page.locator("#followed")).to_have_text("2")
    page.keyboard.press("t")
    assert state(page)["view"]["micro"] is None


def test_both_micro_batches_of_an_overlapped_pair_can_be_followed(open_page: Open) -> None:
    page = open_page("?family=dualpipe&p=4&m=20")
    page.mouse.click(*middle(page, "a", "0F9"))
    pair = state(page)["view"]["sel"]
    halves = re.fullmatch(r"\(0F9;3B(\d+)\)OVERLAP_F_B", pair)
    assert halves, f"{pair} is no pair"
    followed = []
    for _ in range(3):
        page.keyboard.press("t")
        followed.append(state(page)["view"]["micro"])
    assert followed == [9, int(halves[1]), None]
    assert int(halves[1]) >= 10, "which comes from the other end of the pipeline"


def test_messages_have_lanes_whose_bars_name_sender_receiver_and_content(open_page: Open) -> None:
    page = open_page("?comm=1&theme=light")
    before = page.evaluate("bubbleline.point('a', 1, 0)")["h"]
    page.focus("#plot")
    page.keyboard.press("l")
    frames(page)
    assert page.evaluate("bubbleline.point('a', 1, 0)")["h"] <= before
    row = page.evaluate("bubbleline.point('a', 0, 1.5)")
    under = row["y"] + row["h"] / 2 + 4
    assert pixel(page, row["x"], under)[2] < 40, "0F0's output is on its way: gold"
    assert min(pixel(page, page.evaluate("bubbleline.point('a', 0, 10)")["x"], under)) > 200, "nothing is sent at 10"
    page.mouse.move(row["x"], under)
    card = page.locator("#card")
    expect(card).to_contain_text("Activation in flight")
    expect(card).to_contain_text("0F0 on rank 0 to rank 1")
    expect(card).to_contain_text("sent 1there 2in flight 1")
    received = page.evaluate("bubbleline.point('a', 0, 15.5)")
    page.mouse.move(received["x"], received["y"] + received["h"] / 2 + 13)
    expect(card).to_contain_text("Gradient in flight")


def test_without_a_time_for_a_hop_messages_are_ticks_that_can_still_be_found(open_page: Open) -> None:
    page = open_page("?lane=comm")
    row = page.evaluate("bubbleline.point('a', 0, 1)")
    page.mouse.move(row["x"] + 2, row["y"] + row["h"] / 2 + 4)
    expect(page.locator("#card")).to_contain_text("0F0 on rank 0 to rank 1")


def test_stepping_narrates_each_moment_and_the_list_shows_what_each_rank_does_and_why(open_page: Open) -> None:
    page = open_page()
    narration = page.locator("#narration")
    page.focus("#plot")
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    expect(narration).to_have_text(
        "At 4, warm-up: 3B0 starts on rank 3; 1 of 4 ranks work; rank 0: in-flight limit, waits for 1B0 until 10."
    )
    expect(narration).to_have_attribute("aria-live", "polite")
    page.click("#narration-more")
    rows = page.locator("#narration-panel tbody tr")
    expect(rows).to_have_count(4)
    expect(rows.first).to_contain_text("warm-up")
    expect(rows.first).to_contain_text("1F1B admits at most 4 in flight here")
    expect(rows.last).to_contain_text("3B0, from 4 to 6")
    page.evaluate(GO, "?family=gpipe&p=4&m=8&story=ranks&at=4")  # ends at 33 too
    expect(rows.last).to_contain_text("3F1, from 4 to 5")
    page.evaluate(GO, "?family=gpipe&p=4&m=2&at=30")
    expect(page.locator("#at")).to_have_text("t 15.0 / 15.0")
    page.evaluate(GO, "?p=4&m=8&F=0.3&I=0.3&W=0.3&comm=0.1&sel=1F6&at=30")
    expect(page.locator("#card")).to_contain_text("wait 0")
    expect(page.locator("#card")).not_to_contain_text("e-")
    page.focus("#plot")
    page.keyboard.press("n")
    expect(narration).to_have_text("")
    expect(page.locator("#tell")).to_have_attribute("aria-pressed", "false")


def test_during_playback_the_narration_is_not_read_aloud_and_no_switch_moves_the_timeline(open_page: Open) -> None:
    page = open_page("?comm=0.5")
    page.select_option("#speed", "0.1")
    page.click("[aria-label=Play]")
    wait(page, "document.querySelector('#narration').getAttribute('aria-live') === 'off'")
    box = page.locator("#plot").bounding_box()
    page.focus("#plot")
    for key in "ctln":
        page.keyboard.press(key)
        frames(page)
        assert page.locator("#plot").bounding_box() == box, key
    assert state(page)["playing"]


def test_a_link_restores_every_explanation(open_page: Open) -> None:
    page = open_page("?family=dualpipe&p=4&m=8&comm=0.2&crit=1&micro=6&lane=comm&story=ranks&at=7.4")
    for button in ("#crit", "#micro", "#mail", "#tell"):
        expect(page.locator(button)).to_have_attribute("aria-pressed", "true")
    panel = page.locator("#narration-panel")
    expect(panel).to_contain_text("Critical path")
    expect(panel).to_contain_text("Micro-batch 6 enters at")
    expect(panel).to_contain_text("on rank 3")
    expect(page.locator("#narration")).to_contain_text("ranks work")


def test_every_plan_of_a_comparison_is_explained(open_page: Open) -> None:
    page = open_page("?b.family=zb-h1&crit=1&micro=2&story=ranks&at=9")
    expect(page.locator("#narration-panel h3")).to_have_text(["1F1B", "ZB-H1"])
    expect(page.locator("#narration-panel tbody tr")).to_have_count(8)


def test_a_tap_on_a_bubble_shows_its_reason_and_on_an_op_why_its_rank_waited(open_page: Open) -> None:
    page = open_page(has_touch=True)
    spot = page.evaluate("bubbleline.point('a', 0, 7)")
    page.touchscreen.tap(spot["x"], spot["y"])
    card = page.locator("#card")
    expect(card).to_contain_text("Idle for 6: in-flight limit")
    page.touchscreen.tap(*middle(page, "a", "0B0"))
    expect(card).to_contain_text("needs")
    expect(card).to_contain_text("Rank 0 is idle from 4 to 10")


def test_on_a_phone_every_switch_is_a_button_and_nothing_is_wider_than_the_screen(open_page: Open) -> None:
    page = open_page("?comm=0.5", width=360, height=740, has_touch=True)
    for button in ("#crit", "#micro", "#mail", "#narration-more"):
        page.tap(button)
    assert state(page)["view"]["micro"] == 0
    expect(page.locator("#narration-panel")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    for button in page.locator("#narration-bar button, #transport button").all():
        box = button.bounding_box()
        assert box
        assert 0 <= box["x"] <= 360 - box["width"]
