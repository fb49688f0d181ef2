"""Room for what is typed and for long numbers, and for the parts of the site, at every width."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.support.page.queries import Open, frames, settle, wait

pytestmark = pytest.mark.one_document

CLIPPED = """() => [...document.querySelectorAll('input[type=text], input[type=number]')]
  .filter((each) => each.value && each.offsetWidth && each.scrollWidth > each.clientWidth)
  .map((each) => [each.id, each.value])"""

WIDE = """() => [...document.querySelectorAll('.figures td')]
  .filter((each) => each.offsetWidth && each.scrollWidth > each.clientWidth + 1).map((each) => each.textContent)"""

TOPS = """[...document.querySelectorAll('.sheet > .figures > * > h2:first-child, .sheet > .figures > h2')]
  .map((each) => each.getBoundingClientRect()).filter((box) => box.height > 0).map((box) => box.top)"""


def test_numbers_of_six_digits_are_not_clipped(open_page: Open) -> None:
    numbers = "&".join(f"{key}=123456" for key in ("F", "I", "W", "comm", "memory"))
    page = open_page(f"?family=zb-auto&p=4&m=8&tab=costs&{numbers}")
    page.evaluate("document.querySelectorAll('details').forEach((each) => (each.open = true))")
    for width in (1280, 360):
        page.set_viewport_size({"width": width, "height": 800})
        frames(page)
        settle(page)
        assert page.evaluate(CLIPPED) == [], width


@pytest.mark.parametrize("others", ["", "&b.family=1f1b", "&b.family=1f1b&c.family=gpipe&d.family=zb-h2"])
@pytest.mark.parametrize("cost", ["185.2275", "18522.7513"])
def test_step_times_of_many_digits_fit_into_the_table_of_figures(open_page: Open, cost: str, others: str) -> None:
    page = open_page(f"?family=zb-h1&p=8&m=32&F={cost}&comm=0.6013{others}", width=1440, height=900)
    page.evaluate("document.querySelectorAll('details').forEach((each) => (each.open = true))")
    settle(page)
    assert page.locator(".figures td").count() > 3
    assert page.evaluate(WIDE) == []


@pytest.mark.parametrize(("width", "cost"), [(1440, "18522.75"), (360, "18.5227513")])
def test_a_cost_of_many_digits_is_read_whole_beside_its_slider(open_page: Open, width: int, cost: str) -> None:
    page = open_page(f"?family=zb-h1&p=4&m=8&F={cost}", width=width, height=900)
    settle(page)
    page.evaluate("document.querySelectorAll('#controls, #controls details').forEach((each) => (each.open = true))")
    box, slider = page.locator("#field-F"), page.locator(".field:has(#field-F) input[type=range]")
    expect(box).to_have_value(cost)
    expect(box).to_be_visible()
    assert box.evaluate("node => node.scrollWidth - node.clientWidth") <= 0
    size = slider.bounding_box()
    assert size is not None
    assert size["width"] >= 24


def test_the_comparison_fits_a_screen_of_1920_px(open_page: Open) -> None:
    page = open_page("?family=1f1b&p=4&m=8&tab=compare", width=1920, height=1080)
    settle(page)
    over = page.evaluate("(e => e.scrollWidth - e.clientWidth)(document.querySelector('.comparison-scroll'))")
    assert over <= 0
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    tops = page.evaluate(TOPS)
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert abs(tops[0] - sorted(tops)[1]) < 2, "the columns of the printed figures begin at one height"


NAVIGATION = """() => {
  const parts = [document.querySelector('.site .word'), ...document.querySelectorAll('.site nav a, #theme')];
  const boxes = parts.map((each) => each.getBoundingClientRect());
  return {
    outside: parts.filter((_, at) => boxes[at].left < 0 || boxes[at].right > innerWidth).map((e) => e.textContent),
    crossing: parts.filter((_, at) => at > 0 && boxes[at].left < boxes[at - 1].right - 1).map((e) => e.textContent),
    rows: new Set(boxes.map((box) => Math.round(box.top + box.height / 2))).size,
    wide: document.documentElement.scrollWidth - innerWidth,
  };
}"""


@pytest.mark.parametrize("address", ["?family=1f1b", "learn", "learn/gpipe", "build", "teach", "nothing"])
def test_the_parts_of_the_site_are_in_one_row_at_every_width(open_page: Open, address: str) -> None:
    page = open_page(address, first_visit=True, drawn=False, forgive="404")  # that there is no page
    for width in (360, 390, 768, 1024, 1280, 1440):
        page.set_viewport_size({"width": width, "height": 800})
        wait(page, "document.documentElement.scrollWidth <= innerWidth")  # once everything has its new width
        found = page.evaluate(NAVIGATION)
        assert found == {"outside": [], "crossing": [], "rows": 1, "wide": 0}, width
