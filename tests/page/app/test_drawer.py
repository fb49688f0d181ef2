"""The drawer: one height for all tabs, by the pointer and by keys, remembered; on a phone it is over the page."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.support.page.queries import Open, reload, wait

pytestmark = pytest.mark.one_document

PHONE = {"width": 360, "height": 740, "has_touch": True}


def height(page: Page, tab: str) -> float:
    panel = page.locator(f"#panel-{tab}:not([aria-busy])")  # a tab that is opened first is replaced when it has loaded
    expect(panel).to_be_visible()
    box = panel.bounding_box()
    assert box
    return box["height"]


def test_the_edge_is_dragged_and_every_tab_then_has_that_height_also_after_a_reload(open_page: Open) -> None:
    page = open_page("?p=4&tab=compare", fresh=True)
    edge = page.locator("#drawer-edge")
    before = height(page, "compare")
    box = edge.bounding_box()
    assert box
    page.mouse.move(box["x"] + 300, box["y"] + 10)
    page.mouse.down()
    page.mouse.move(box["x"] + 300, box["y"] - 90, steps=4)
    page.mouse.up()
    assert abs(height(page, "compare") - before - 100) <= 1
    page.click("#tab-export")
    assert abs(height(page, "export") - before - 100) <= 1
    wait(page, "location.search.includes('tab=export')")
    reload(page)
    assert abs(height(page, "export") - before - 100) <= 1
    edge.dblclick()
    assert height(page, "export") < before + 100


def test_the_edge_is_moved_by_keys_within_the_window_and_says_its_height(open_page: Open) -> None:
    page = open_page("?p=4&tab=compare")
    edge = page.locator("#drawer-edge")
    edge.dblclick()
    edge.focus()
    before = height(page, "compare")
    page.keyboard.press("ArrowUp")
    assert abs(height(page, "compare") - before - 32) <= 1
    expect(edge).to_have_attribute("aria-valuenow", str(round(before) + 32))
    page.keyboard.press("End")
    assert height(page, "compare") == 640, "four fifths of the window"
    page.keyboard.press("Home")
    assert height(page, "compare") == 120
    edge.dblclick()
    page.click("#tab-compare")
    expect(edge).to_be_hidden()


def test_on_a_phone_the_tabs_are_in_sight_and_open_over_the_page(open_page: Open) -> None:
    page = open_page("?p=4", **PHONE)
    expect(page.locator("#tab-compare")).to_be_in_viewport(ratio=1)
    page.locator("#tab-run").tap()
    expect(page.locator("#panel-run")).to_be_in_viewport(ratio=0.9)
    expect(page.locator("#tab-run")).to_be_in_viewport(ratio=1)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.evaluate("document.getElementById('controls').open = true")
    page.locator("#field-comm").focus()
    covered = """(() => {
      const field = document.activeElement.getBoundingClientRect();
      return field.bottom > document.getElementById('drawer').getBoundingClientRect().top;
    })()"""
    assert not page.evaluate(covered), "a field that gets the focus is not under the tab"
    page.locator("#tab-run").tap()
    expect(page.locator("#panel-run")).to_be_hidden()


def test_a_notice_covers_no_tab_and_nothing_of_the_timeline(open_page: Open) -> None:
    page = open_page("?family=gpipe&b.family=1f1b")
    for width, size in ((1440, 900), (1280, 800), (1024, 768), (390, 844)):
        page.set_viewport_size({"width": width, "height": size})
        page.locator("#plot").press("m")
        banner = page.locator("#banner").bounding_box()
        assert banner
        assert banner["x"] >= 0
        assert banner["x"] + banner["width"] <= width
        parts = "#plot, #minimap, #transport *, .tabs button"
        assert page.evaluate(OVER, [parts, banner]) == [], width


OVER = """([parts, { x, y, width, height }]) => [...document.querySelectorAll(parts)].filter((node) => {
  const box = node.getBoundingClientRect();
  return box.left < x + width && box.right > x && box.top < y + height && box.bottom > y;
}).map((node) => node.id || node.className)"""
