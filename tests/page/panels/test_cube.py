"""The cube in a browser: drawn by the page alone, filled by the playhead, turned, and its ops selected."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from backend.charts.theme_tokens import tokens
from tests.support.page.queries import GO, Open, settle, wait

pytestmark = pytest.mark.one_document("panels")

DRAWN = (
    "document.querySelector('[data-chart=cube]')?.getAttribute('aria-current') === 'true'"
    " && document.querySelector('.charts-table') && document.querySelector('.charts-cover').hidden"
)
ROWS = "document.querySelectorAll('.charts-table tbody tr').length"
PIXELS = """const canvas = document.querySelector('.charts-cube canvas');
  const {width, height} = canvas;
  const copy = new OffscreenCanvas(width, height).getContext('2d', {willReadFrequently: true});
  copy.drawImage(canvas, 0, 0);
  const {data} = copy.getImageData(0, 0, width, height);
  let sum = 0;"""
INK = f"""() => {{
  {PIXELS}
  for (let i = 0; i < data.length; i++) sum += data[i] * (1 + i % 97);
  return sum;
}}"""
KIND = f"""([r, g, b]) => {{
  {PIXELS}
  for (let i = 0; i < data.length; i += 4) sum += data[i] === r && data[i + 1] === g && data[i + 2] === b;
  return sum;
}}"""


def seek(page: Page, moment: float) -> None:
    """Scrub to a moment of the 33 that 1F1B takes at p = 4, m = 8."""
    page.evaluate(
        """(part) => {
          const scrub = document.querySelector('#scrub');
          scrub.value = String(Math.round(part * Number(scrub.max)));
          scrub.dispatchEvent(new Event('input', {bubbles: true}));
        }""",
        moment / 33,
    )
    settle(page)


def rgb(colour: str) -> list[int]:
    return [int(colour[at : at + 2], 16) for at in (1, 3, 5)]


def test_the_cube_needs_no_server_and_fills_as_the_playhead_advances(open_page: Open) -> None:
    page = open_page("?p=4&m=8&theme=light&at=0&tab=charts&chart=cube", anew=True)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    wait(page, DRAWN)
    assert page.evaluate("typeof Plotly") == "undefined"
    seen = []
    for moment in (0, 8, 20, 33):
        seek(page, moment)
        seen.append(page.evaluate(KIND, rgb(tokens("light")["k-b"])))
    assert seen[0] == 0, "no backward has run"
    assert seen[1] < seen[2] < seen[3]
    assert page.evaluate(ROWS) == 2 * 4 * 8
    assert not [url for url in asked if "/api/charts" in url]


def test_the_cube_turns_by_key_and_drag_and_a_click_selects_the_op(open_page: Open) -> None:
    page = open_page("?p=2&m=3&tab=charts&chart=cube")
    wait(page, DRAWN)
    settle(page)
    before = page.evaluate(INK)
    page.focus(".charts-cube")
    for _ in range(6):
        page.keyboard.press("ArrowUp")
    settle(page)
    assert page.evaluate(INK) != before
    page.keyboard.press("Home")
    settle(page)
    assert page.evaluate(INK) == before
    page.locator(".charts-cube").scroll_into_view_if_needed()
    box = page.locator(".charts-cube").bounding_box()
    assert box
    sentence = page.locator(".charts-reads")
    for k in range(8, 40):
        page.mouse.move(box["x"] + box["width"] * k / 48, box["y"] + box["height"] * 0.6)
        if "is-pointed" in (sentence.get_attribute("class") or ""):
            break
    expect(sentence).to_contain_text("micro-batch")
    op = sentence.inner_text().split(":")[0]
    page.mouse.down()
    page.mouse.up()
    wait(page, f"bubbleline.state().view.sel?.startsWith('{op}@')")
    page.mouse.down()
    page.mouse.move(box["x"] + 20, box["y"] + 20, steps=4)
    page.mouse.up()
    settle(page)
    assert page.evaluate(INK) != before


def test_a_cube_with_too_many_ops_to_distinguish_is_cut_or_offers_a_smaller_one(open_page: Open) -> None:
    page = open_page("?p=8&m=300&tab=charts&chart=cube")
    wait(page, DRAWN)
    expect(page.locator(".charts-reads")).to_contain_text("150 of 300 micro-batches are drawn")
    assert page.evaluate(ROWS) == 400
    expect(page.locator(".charts-more")).to_contain_text("The first 400 of 2400 rows")
    page.evaluate(GO, "?p=1024&m=4&family=zb-h1&tab=charts&chart=cube")
    expect(page.locator(".charts-cover")).to_contain_text("more ops here than the 2400 that a cube can show")
    page.locator(".charts-cover").get_by_role("button").click()
    wait(page, "bubbleline.state().plans[0].shown?.p === 800")
    wait(page, DRAWN)


def test_the_cube_shows_whichever_schedule_is_chosen_and_speaks_of_dots_only_where_there_are_messages(
    open_page: Open,
) -> None:
    reads = "A dot is a message from stage to stage."
    page = open_page("?p=3&m=4&b.family=zb-h1&tab=charts&chart=cube")
    wait(page, DRAWN)
    expect(page.locator(".charts-reads")).to_contain_text(reads)
    assert page.evaluate(ROWS) == 24
    page.click("[data-choice=b]")
    wait(page, f"{ROWS} === 36")
    wait(page, "location.search.includes('chart=cube:b')")
    page.evaluate(GO, "?p=1&m=4&tab=charts&chart=cube")
    wait(page, f"{ROWS} === 8")
    expect(page.locator(".charts-reads")).to_contain_text("Every box is an op")
    expect(page.locator(".charts-reads")).not_to_contain_text(reads)
