"""Tasks of the workbench with the server that sets and scores them: the map, one by keys alone, one by touch alone."""

from __future__ import annotations

import re
from html import unescape

from PIL import Image
from playwright.sync_api import Page, expect

from backend.tasks.task import tasks
from tests.page.app.test_axe import violations
from tests.page.workbench.test_build import bench, placed
from tests.support.page.queries import Open, frames, settle, wait

# what "Finish this 1F1B" (p = 3, m = 4) leaves to be placed: which rank, which op
REST = ("2F2", "2B2", "1B1", "0F3", "1F3", "0B1", "1B2", "2F3", "2B3", "0B2", "1B3", "0B3")
MOST_TABS = 80
SHIFTS = """new Promise((done) => {
  let sum = 0;
  const add = (list) => list.getEntries().forEach(({ value }) => (sum += value));
  new PerformanceObserver(add).observe({ type: "layout-shift", buffered: true });
  setTimeout(() => done(sum), 100); // for what is buffered to come
})"""


def tab_to(page: Page, selector: str) -> None:
    """Press Tab until the focus is on an element."""
    for _ in range(MOST_TABS):
        if page.evaluate("(selector) => document.activeElement?.matches(selector)", selector):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"Tab does not lead to {selector}")


def is_in_sight_beside_the_board(page: Page) -> None:
    """A task's goals and hints are, in three sizes of the window."""
    expect(page.locator("#task-goals li")).to_have_count(1)
    page.click("#bench-hint")
    for width, height in ((1024, 768), (960, 540), (1440, 900)):  # 960: 1920 at 200 %
        page.set_viewport_size({"width": width, "height": height})
        frames(page)
        settle(page)
        board = page.locator("#plot").bounding_box()
        assert board
        for part in ("#task-title", "#task-goals", "#bench-hints", "#bench-hint"):
            box = page.locator(part).bounding_box()
            assert box, part
            assert box["y"] + box["height"] <= height, (width, part)
            assert box["x"] + box["width"] <= board["x"] or box["x"] >= board["x"] + board["width"], (width, part)
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def its_card_is_shared_and_saved(page: Page, claim: str) -> None:
    """The card's link shows its claim elsewhere, and its picture has the size of such previews."""
    unfurled = page.request.get(page.locator("#card-link").input_value()).text()
    title = re.search('<meta property="og:title" content="([^"]*)">', unfurled)
    assert title is not None
    assert unescape(title[1]) == claim
    with page.expect_download() as saved:
        page.click("#card-save")
    assert saved.value.suggested_filename == "finish-1f1b.png"
    assert Image.open(saved.value.path()).size == (1200, 630)


def is_solved(page: Page) -> None:
    expect(page.locator("#task-status")).to_contain_text("Solved: the server agrees.")
    expect(page.locator("#task-goals .is-met")).to_have_count(1)


def test_a_task_is_found_solved_and_entered_by_keys_alone_and_the_next_one_is_in_sight_beside_its_board(
    open_page: Open,
) -> None:
    page = bench(open_page, "build?lang=en", locale="en-GB")  # a browser that remembers no board: the first task
    press = page.keyboard.press
    expect(page.locator("#task-title")).to_have_text("Finish this 1F1B")
    tab_to(page, "#bench-tasks")
    press("Enter")
    expect(page.locator("#map-finish-1f1b")).to_be_focused()
    assert violations(page, "#task-map") == []
    press("Enter")
    expect(page.locator("#task-map")).to_be_hidden()
    settle(page)
    assert placed(page) == 12
    tab_to(page, "#plot")
    rank = 0
    for op in REST:
        while rank != int(op[0]):
            press("ArrowDown" if rank < int(op[0]) else "ArrowUp")
            rank += 1 if rank < int(op[0]) else -1
        press(op[1].lower())
        press("Enter")
        expect(page.locator("#plot-said")).to_contain_text(f"{op} is placed on rank {rank}")
    expect(page.locator("#card-next")).to_be_focused()
    expect(page.locator("#card-next")).to_have_text("Next: GPipe from nothing")
    claim = "Built op by op: 1F1B, proved optimal"
    expect(page.locator("#card-claim")).to_have_text(claim)
    expect(page.locator("#solved .stars")).to_have_attribute("aria-label", "3 of 3 stars")
    assert violations(page, "#solved") == []
    its_card_is_shared_and_saved(page, claim)
    press("Escape")
    tab_to(page, "#task-name")
    page.keyboard.type("Ada")
    tab_to(page, "#task-enter")
    press("Enter")
    is_solved(page)
    tab_to(page, "#task-board > summary")
    press("Enter")
    expect(page.locator(".board-best")).to_contain_text("Ada")
    press("Tab")
    press("Enter")
    expect(page.locator("#plot-said")).to_contain_text("The entry is on the board.")
    link = page.url
    page.goto(link.split("?")[0])  # the board that this browser had last is solved
    expect(page.locator("#task-title")).to_have_text("GPipe from nothing")
    is_in_sight_beside_the_board(page)
    page.click("#bench-tasks")
    count = len(tasks())
    expect(page.locator("#map-count")).to_have_text(f"1 of {count} tasks solved, 3 of {3 * count} stars.")
    page.click("#map-forget")
    expect(page.locator("#map-count")).to_contain_text(f"0 of {count} tasks solved")
    page.goto(link)  # as one who has not solved it
    expect(page.locator("#card-claim")).to_have_text(claim)
    page.click("#card-again")
    settle(page)
    assert placed(page) == 12


def test_a_task_is_found_solved_and_entered_by_touch_alone_on_a_phone(open_page: Open) -> None:
    page = bench(open_page, "build?task=gpipe-from-nothing", width=390, height=844, has_touch=True, is_mobile=True)
    assert page.evaluate(SHIFTS) < 0.05, "the task pushes the board away"
    page.tap("#bench-tasks")
    page.tap("#map-finish-1f1b")
    expect(page.locator("#task-title")).to_have_text("Finish this 1F1B")
    expect(page.locator("#task-goals")).to_contain_text("It is 1F1B.")
    settle(page)
    above = page.locator("#task").bounding_box()
    board = page.locator("#stage").bounding_box()
    assert above is not None
    assert board is not None
    assert above["y"] + above["height"] <= board["y"]
    page.tap(f"#placing [data-op='{REST[0]}']")
    page.tap("#bench-undo")
    settle(page)
    assert placed(page) == 12
    for op in REST:
        page.tap(f"#placing [data-op='{op}']")
    wait(page, "bubbleline.state().lanes[0].ops === 24")
    page.tap("#card-enter")
    page.tap("#task-enter")
    is_solved(page)
    page.tap("#task-board > summary")
    expect(page.locator("#board-count")).to_contain_text("Different orders: 1")
    page.tap("[data-replay='0']")
    expect(page.locator("#plot-said")).to_contain_text("The entry is on the board.")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
