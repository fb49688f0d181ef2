"""The lanes of options on the timeline: S and T, barriers, copies to and from host memory, memory strips."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.support.page.queries import Open, middle, pixel, reload, settle, state, wait, wait_url

pytestmark = pytest.mark.one_document

ROSE, PLUM, GOLD = (227, 166, 203), (151, 64, 122), (227, 189, 0)
AWAY, BACK, HELD, OVER = (134, 147, 163), (188, 199, 210), (166, 179, 192), (198, 47, 31)
SPREAD = "?vocabulary=parallel-1&S=0.25&T=0.5&theme=light"
COPIES = "?family=interleaved&v=2&p=2&m=4&offload=full&O=3&theme=light"


def near(a: tuple[int, int, int], b: tuple[int, int, int]) -> bool:
    return all(abs(x - y) <= 3 for x, y in zip(a, b, strict=True))


def box(page: Page, op: str, lane: str = "a") -> dict[str, float]:
    found: dict[str, float] = page.evaluate(f"bubbleline.box('{lane}', '{op}')")
    return found


def strip(page: Page, rank: int, t: float, lane: str = "a") -> dict[str, float]:
    """The lower edge of a memory strip at a time."""
    found: dict[str, float] = page.evaluate(f"bubbleline.point('{lane}', {rank}, {t}, 'strip')")
    return found


def height(page: Page, rank: int, t: float) -> int:
    """The number of filled pixels of a strip at a time, from its lower edge up."""
    foot = strip(page, rank, t)
    filled = 0
    while filled < foot["h"] and near(pixel(page, foot["x"], foot["y"] - filled), HELD):
        filled += 1
    return filled


def test_the_output_layers_shards_are_drawn_on_every_rank_where_they_run(open_page: Open) -> None:
    page = open_page(SPREAD)
    for rank in range(4):
        for op, colour in ((f"{rank}S3", ROSE), (f"{rank}T3", PLUM)):
            place = box(page, op)
            assert near(pixel(page, place["x"] + place["w"] / 3, place["y"] + place["h"] * 0.8), colour), op
    s, t = box(page, "2S3"), box(page, "2T3")
    assert abs(t["w"] - 2 * s["w"]) < 1.5
    expect(page.locator("#legend")).to_contain_text("S output layer's shard")
    expect(page.locator("#legend")).to_contain_text("barrier opens")


def test_a_gold_line_crosses_all_ranks_where_a_barrier_opens_if_lines_have_room(open_page: Open) -> None:
    page = open_page(SPREAD)
    last = max(box(page, f"{rank}T2")["x"] + box(page, f"{rank}T2")["w"] for rank in range(4))
    rows = [box(page, f"{rank}F0") for rank in range(4)]
    for row in rows:
        near_line = [pixel(page, last + dx, row["y"] + row["h"] / 4) for dx in (-1, 0, 1)]
        assert any(near(seen, GOLD) for seen in near_line)
    crowded = open_page("?vocabulary=parallel-1&m=256&theme=light")
    expect(crowded.locator("#legend")).to_contain_text("barriers, once zoomed in")
    crowded.focus("#plot")
    for _ in range(12):
        crowded.keyboard.press("w")
    expect(crowded.locator("#legend")).to_contain_text("barrier opens")


def test_a_shard_names_the_barrier_it_meets_and_the_last_backward_the_one_it_waits_for(open_page: Open) -> None:
    page = open_page(SPREAD)
    card = page.locator("#card")
    page.mouse.move(*middle(page, "a", "1S3"))
    expect(card).to_contain_text("all ranks at barrier C1 of micro-batch 3")
    page.mouse.move(*middle(page, "a", "1T3"))
    expect(card).to_contain_text("barrier C1 of micro-batch 3, opens at")
    expect(card).to_contain_text("all ranks at barrier C2 of micro-batch 3")
    page.mouse.click(*middle(page, "a", "3B3"))
    expect(card).to_contain_text("barrier C2 of micro-batch 3")
    expect(page.locator("#plot-said")).to_contain_text("needs barrier C2 of micro-batch 3")


def test_copies_are_drawn_under_their_rank_and_the_hovered_reload_is_named(open_page: Open) -> None:
    page = open_page(COPIES)
    for op, colour in (("0O1", AWAY), ("0R1", BACK)):
        place = box(page, op)
        assert near(pixel(page, place["x"] + 6, place["y"] + place["h"] / 2), colour), op
    ops, copy = box(page, "0F1"), box(page, "0O1")
    assert copy["y"] == ops["y"] + ops["h"]
    assert abs(copy["h"] - ops["h"] / 3) <= 1
    page.mouse.move(*middle(page, "a", "0R1"))
    card = page.locator("#card")
    expect(card).to_contain_text("Reload of 0F1's activation")
    expect(card).to_contain_text("it takes memory again from 5")
    expect(card).to_contain_text("0O1 on rank 0, arrives at 3.5")
    expect(card).to_contain_text("0B1 on rank 0, arrives at 6.5")
    free = page.evaluate("bubbleline.point('a', 0, 14)")
    page.mouse.move(free["x"], copy["y"] + copy["h"] / 2)
    expect(card).to_be_hidden()


def test_a_bubble_before_a_backward_without_its_activation_names_the_reload(open_page: Open) -> None:
    page = open_page("?family=gis&p=4&m=8&v=4&offload=full&O=3")
    spot = page.evaluate("bubbleline.point('a', 3, 8)")
    page.mouse.move(spot["x"], spot["y"])
    expect(page.locator("#card")).to_contain_text("11I0 waits for its activation to come back: the copy lane does 11R0")


def test_keys_walk_along_the_copies_and_between_the_rows(open_page: Open) -> None:
    page = open_page(COPIES)
    page.mouse.click(*middle(page, "a", "0O1"))
    page.focus("#plot")
    walked = []
    for key in (".", ",", "ArrowUp", "ArrowDown", "ArrowDown", "ArrowDown", "ArrowUp"):
        page.keyboard.press(key)
        walked.append(state(page)["view"]["sel"])
    assert walked[:2] == ["0R0", "0O1"]
    assert [text.strip("0123456789") in "FB" for text in walked[2:]] == [True, False, True, False, True]
    expect(page.locator("#plot-said")).to_contain_text("rank 1")
    settle(page)
    reload(page)
    assert state(page)["view"]["sel"] == walked[-1]


def test_memory_drops_in_the_strip_when_an_offload_ends(open_page: Open) -> None:
    page = open_page(COPIES)
    assert height(page, 0, 7.9) > height(page, 0, 8.1 + 1) > height(page, 0, 14) > 0
    foot = strip(page, 0, 6)
    page.mouse.move(foot["x"], foot["y"])
    expect(page.locator("#card")).to_contain_text("Rank 0 holds 2.5")
    expect(page.locator("#card")).to_contain_text("peak 2.5")


def test_strips_appear_with_offload_are_hidden_by_key_or_button_and_kept_in_the_link(open_page: Open) -> None:
    page = open_page(COPIES)
    button = page.locator("#strips")
    expect(button).to_have_attribute("aria-pressed", "true")
    assert strip(page, 0, 1)["h"] > 0
    page.focus("#plot")
    page.keyboard.press("h")
    wait(page, "bubbleline.point('a', 0, 1, 'strip').h === 0")
    expect(button).to_have_attribute("aria-pressed", "false")
    wait_url(page, "mem=0")
    button.click()
    wait(page, "bubbleline.point('a', 0, 1, 'strip').h > 0")
    plain = open_page("?p=16&m=32")
    assert strip(plain, 0, 1)["h"] == 0
    expect(plain.locator("#strips")).to_have_attribute("aria-pressed", "false")


def test_strips_appear_where_the_rows_leave_room_and_the_rows_fill_the_plot(open_page: Open) -> None:
    page = open_page("?p=4&m=8")
    assert strip(page, 0, 1)["h"] > 10
    expect(page.locator("#strips")).to_have_attribute("aria-pressed", "true")
    last, plot = page.evaluate("bubbleline.box('a', '3F0')"), page.locator("#plot").bounding_box()
    assert plot
    assert 0 <= plot["y"] + plot["height"] - (last["y"] + last["h"]) < 40


def test_memory_above_the_limit_is_red(open_page: Open) -> None:
    page = open_page("?p=8&m=16&memory=5&mem=1&theme=light")
    foot = strip(page, 0, 20)
    colours = [pixel(page, foot["x"], foot["y"] - up) for up in range(int(foot["h"]) - 1)]
    assert near(colours[0], HELD)
    assert any(near(seen, OVER) for seen in colours)
    within = [pixel(page, foot["x"], strip(page, 4, 20)["y"] - up) for up in range(3)]
    assert all(near(seen, HELD) for seen in within)
    page.mouse.move(foot["x"], foot["y"])
    expect(page.locator("#card")).to_contain_text("the limit is 5, which is exceeded here")
    expect(page.locator("#legend")).to_contain_text("above its limit")


def test_two_schedules_may_differ_in_lanes_and_share_row_height_and_scale(open_page: Open) -> None:
    page = open_page("?family=gis&v=4&m=16&offload=full&b.offload=none")
    with_copies, without = box(page, "0F0"), box(page, "0F0", "b")
    assert with_copies["h"] == without["h"]
    assert box(page, "0O0")["y"] == with_copies["y"] + with_copies["h"]
    assert box(page, "0O0", "b") is None
    expect(page.locator("#legend")).to_contain_text("full height 4")


def test_thousands_of_ops_have_copies_and_strips_too(open_page: Open) -> None:
    page = open_page("?family=gis&p=8&m=256&v=4&offload=full&theme=light")
    first, last = box(page, "0O0"), box(page, "0R255")
    lane = {pixel(page, first["x"] + k * (last["x"] - first["x"]) / 60, first["y"] + first["h"] / 2) for k in range(60)}
    assert any(near(seen, AWAY) for seen in lane)
    assert any(near(seen, BACK) for seen in lane)
    assert height(page, 0, 20) > 1


def test_screen_readers_have_the_copies_in_the_table(open_page: Open) -> None:
    page = open_page(COPIES)
    page.get_by_role("button", name="Read the schedule as a table").evaluate("node => node.click()")
    row = page.locator("#table tr", has_text="Copies of rank 0")
    expect(row).to_contain_text("0R1 5 to 6.5")
