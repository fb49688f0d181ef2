"""The page in a browser: numbers by stage in a table, typed, pasted from a spreadsheet, and made equal."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.support.page.queries import Open, settle, state, wait, wait_url

pytestmark = pytest.mark.one_document("panels")

COSTS = "bubbleline.state().spec.costs"
PASTE = """([selector, text]) => {
  const data = new DataTransfer();
  data.setData('text/plain', text);
  document.querySelector(selector).dispatchEvent(
    new ClipboardEvent('paste', {clipboardData: data, bubbles: true, cancelable: true}));
}"""


def opened(open_page: Open, query: str = "?family=1f1b&p=4&m=8", **options: int) -> Page:
    page = open_page(query, **options)
    page.evaluate("document.getElementById('controls').setAttribute('open', '')")
    page.click("#stage-costs > summary")
    settle(page)  # drawn once more, a box forgets what is typed meanwhile
    return page


def box(name: str, stage: int, table: str = "#stage-costs") -> str:
    return f'{table} [data-at="{name}-{stage}"]'


def test_a_cost_of_one_stage_is_typed_in_its_own_box_and_a_wrong_one_is_named_and_changes_nothing(
    open_page: Open,
) -> None:
    page = opened(open_page)
    expect(page.locator(box("F", 3))).to_have_value("1")
    page.fill(box("F", 3), "2.5")
    page.keyboard.press("Enter")
    wait(page, f"Array.isArray({COSTS}.F)")
    assert state(page)["spec"]["costs"]["F"] == [1, 1, 1, 2.5]
    assert state(page)["spec"]["costs"]["I"] == 1
    foot = page.locator("#stage-costs tfoot tr")
    expect(foot.nth(0).locator("td").first).to_have_text("5.5")
    expect(foot.nth(1).locator("td").first).to_have_text("2.5")
    wait_url(page, "F=3*1,2.5")
    settle(page)  # drawn once more, a box forgets what is typed meanwhile
    page.fill(box("W", 2), "-1")
    page.keyboard.press("Tab")
    expect(page.locator("#stage-costs .problem")).to_have_text("W of stage 2 must be a number of 0 or more, not “-1”.")
    page.evaluate("document.getElementById('stage-costs').dispatchEvent(new Event('toggle'))")  # drawn once more
    expect(page.locator(box("W", 2))).to_have_attribute("aria-invalid", "true")
    expect(page.locator(box("W", 2))).to_have_value("-1")
    assert state(page)["spec"]["costs"]["W"] == 1
    page.fill(box("W", 2), "3")
    page.keyboard.press("Tab")
    expect(page.locator("#stage-costs .problem")).to_be_hidden()
    assert state(page)["spec"]["costs"]["W"] == [1, 1, 3, 1]


def test_columns_of_a_spreadsheet_and_lists_are_pasted(open_page: Open) -> None:
    page = opened(open_page)
    page.evaluate(PASTE, [box("F", 0), "1\t2\t3\n4\t5\t6\n1\t1\t1\n2\t2\t2"])
    wait(page, f"Array.isArray({COSTS}.W)")
    costs = state(page)["spec"]["costs"]
    assert (costs["F"], costs["I"], costs["W"]) == ([1, 4, 1, 2], [2, 5, 1, 2], [3, 6, 1, 2])
    page.evaluate(PASTE, [box("I", 1), "7, 8, 9"])
    wait(page, f"{COSTS}.I[3] === 9")
    assert state(page)["spec"]["costs"]["I"] == [2, 7, 8, 9]
    page.click("#stage-costs [data-act=equal]")
    wait(page, f"{COSTS}.I[0] === 6.5")


def test_arrows_go_from_stage_to_stage_and_the_table_fits_a_phone(open_page: Open) -> None:
    page = opened(open_page, "?family=interleaved&p=4&v=2&m=8", width=360, height=740)
    expect(page.locator(box("F", 7))).to_have_value("0.5")
    page.focus(box("I", 0))
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.dataset.at") == "I-2"
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    size = page.locator(box("F", 0)).bounding_box()
    assert size is not None
    assert size["width"] >= 60
    assert size["height"] >= 24


def test_the_layers_of_a_models_stages_are_edited_and_keep_to_whole_numbers(open_page: Open) -> None:
    page = open_page("?family=1f1b&p=4&m=8&m.model=llama3-8b")
    page.click("#pricing > summary")
    page.click("#stage-model-layers > summary")
    table = "#stage-model-layers"
    expect(page.locator(box("layers", 0, table))).to_have_value("8")
    page.evaluate(PASTE, [box("layers", 0, table), "7,8,8,9"])
    wait_url(page, "m.layers=7,8,8,9")
    wait(page, f"Array.isArray({COSTS}.F)")
    page.fill(box("layers", 1, table), "1.5")
    page.keyboard.press("Tab")
    expect(page.locator(f"{table} .problem")).to_contain_text("Layers of stage 1 must be a whole number")
