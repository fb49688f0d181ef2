"""The page in a browser: what a reader sets, reads, compares and shares."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.support.page.queries import GO, Open, figure, frames, pixel, settle, state, wait, wait_url

pytestmark = pytest.mark.one_document


def drag(page: Page, field: str, part: float) -> None:
    box = page.locator(f"#field-{field}-slider").bounding_box()
    assert box
    now = float(page.evaluate(f"(s => s.value / s.max)(document.querySelector('#field-{field}-slider'))"))
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 8 + now * (box["width"] - 16), y)
    page.mouse.down()
    page.mouse.move(box["x"] + 8 + part * (box["width"] - 16), y, steps=4)
    page.mouse.up()


def shown(page: Page, **spec: object) -> None:
    """Wait until the first schedule on the screen has these values."""
    tests = " && ".join(f"plan.shown?.{key} === {value!r}" for key, value in spec.items())
    wait(page, f"(plan => plan && {tests})(bubbleline.state().plans[0])")


def test_a_slider_drag_changes_the_schedule_and_the_figures(open_page: Open) -> None:
    page = open_page()
    expect(figure(page, "Step time")).to_have_text("33")
    assert page.title() == "1F1B · p 4 · m 8 · Bubbleline"
    drag(page, "m", 0.6)
    m = state(page)["spec"]["m"]
    assert m > 8
    shown(page, m=m)
    wait(page, f"document.querySelector('#figures').innerText.includes('{3 * (m + 3)}')")
    expect(page.locator("#field-m")).to_have_value(str(m))


def test_cost_sliders_send_no_request(open_page: Open) -> None:
    page = open_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    drag(page, "F", 0.8)
    assert state(page)["spec"]["costs"]["F"] > 2
    wait(page, "bubbleline.state().plans[0].figures.makespan > 33")
    assert [url for url in asked if "/api/" in url] == []


def test_a_slider_skips_illegal_values(open_page: Open) -> None:
    page = open_page("?family=interleaved&p=4&m=8&v=2")
    page.hover("#field-m-slider")
    settle(page)  # the page prefetches the likely next schedules
    seen = set()
    page.focus("#field-m-slider")
    for _ in range(6):
        page.keyboard.press("ArrowRight")
        frames(page)
        assert not state(page)["plans"][0]["stale"]
        seen.add(state(page)["spec"]["m"])
    assert sorted(seen) == [10, 12, 15, 16, 20, 24]


def test_a_typed_illegal_m_offers_the_nearest_legal_value_and_the_button_applies_it(open_page: Open) -> None:
    page = open_page("?family=interleaved&p=4&m=8&v=2")
    page.fill("#field-m", "13")
    page.keyboard.press("Enter")
    problem = page.locator("#field-m-problem")
    expect(problem).to_contain_text("m = 12")
    assert state(page)["plans"][0]["stale"]
    expect(page.locator(".lane-head[data-lane=a] .badge")).to_contain_text("Showing the last valid schedule")
    assert state(page)["plans"][0]["shown"]["m"] == 8, "the last good schedule stays"
    settle(page)
    expect(page.locator("#figures .out-of-date")).to_be_visible()
    expect(page.locator("#law .verdict").first).to_have_text("of the last valid schedule")
    expect(page.locator("#figures :is(.exact, .within)")).to_have_count(0)
    problem.get_by_role("button").click()
    shown(page, m=12)
    expect(problem).to_be_hidden()
    expect(page.locator("#figures .out-of-date")).to_be_hidden()
    expect(page.locator("#law .verdict.good").first).to_be_visible()


def test_text_in_a_number_field_is_explained_beside_it(open_page: Open) -> None:
    page = open_page()
    page.fill("#field-p", "four")
    page.keyboard.press("Enter")
    expect(page.locator("#field-p-problem")).to_contain_text("must be a number")
    assert state(page)["spec"]["p"] == 4


def test_arrow_keys_in_a_box_step_by_one_and_the_wheel_changes_nothing(open_page: Open) -> None:
    page = open_page()
    page.focus("#field-m")
    page.keyboard.press("ArrowUp")
    shown(page, m=9)
    page.mouse.wheel(0, 200)
    assert state(page)["spec"]["m"] == 9


def test_options_that_do_not_apply_are_hidden(open_page: Open) -> None:
    page = open_page("?family=1f1b")
    for name in ("v", "group", "FB", "w_share"):
        expect(page.locator(f"#field-{name}")).to_be_hidden()
    expect(page.locator("#lifo")).to_be_hidden()
    for family, field in (("gpipe", "#lifo"), ("dualpipe", "#field-FB")):
        page.click("#family")
        page.click(f"#family-{family}")
        expect(page.locator(field)).to_be_visible()


def test_the_picker_names_every_family_with_year_and_line_picks_by_key_and_back_returns(
    open_page: Open,
) -> None:
    page = open_page()
    page.click("#family")
    options = page.locator("[role=option]:not([data-family=imported])")
    assert options.count() >= 8
    assert all(re.search(r"(19|20)\d\d\s+.{20,}", text) for text in options.all_inner_texts())
    page.keyboard.press("z")
    page.keyboard.press("Enter")
    shown(page, family="zb-h1")
    wait_url(page, "family=zb-h1")
    page.go_back()
    shown(page, family="1f1b")
    page.go_forward()
    shown(page, family="zb-h1")


COUNT_STEPS = """(() => {
  const push = history.pushState.bind(history);
  window.steps = 0;
  history.pushState = (...step) => { window.steps += 1; push(...step); };
})()"""  # history.length ends at 50, which earlier tests may have reached

UNDO_WITH_CAPS_LOCK = """document.activeElement.dispatchEvent(
  new KeyboardEvent('keydown', { key: 'Z', ctrlKey: true, bubbles: true }),
)"""


def test_each_gesture_is_one_step_that_back_undo_and_redo_go_through(open_page: Open) -> None:
    page = open_page(anew=True)
    page.evaluate(COUNT_STEPS)
    drag(page, "m", 0.5)
    settle(page)
    m = state(page)["spec"]["m"]
    wait_url(page, f"m={m}")
    assert page.evaluate("steps") == 1
    page.focus("#field-p-slider")
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    shown(page, p=7, m=m)
    page.evaluate(UNDO_WITH_CAPS_LOCK)
    shown(page, p=4, m=m)
    page.keyboard.press("Control+z")
    shown(page, p=4, m=8)
    page.keyboard.press("Control+z")  # the page stays: this was the first gesture
    page.keyboard.press("Control+Shift+Z")
    shown(page, p=4, m=m)
    page.go_back()
    shown(page, p=4, m=8)


def test_two_schedules_share_one_axis_and_their_figures_are_side_by_side(open_page: Open) -> None:
    page = open_page("?family=zb-h1&p=4&m=8")
    page.click("#compare-toggle")
    wait(page, "bubbleline.state().lanes.length === 2")
    settle(page)
    boxes = [page.evaluate(f"bubbleline.box('{lane}', '0F1')") for lane in "ab"]
    assert boxes[0]["x"] == boxes[1]["x"]
    assert boxes[0]["w"] == boxes[1]["w"]
    assert boxes[0]["y"] < boxes[1]["y"]
    row = page.locator("#figures tr:has(th:text('Step time')) td")
    expect(row).to_have_text(["27", "33"], use_inner_text=True)
    expect(page.locator("#figures table.headline thead")).to_contain_text("ZB-H1")
    wait_url(page, "b.family=1f1b")
    page.evaluate(GO, "?family=1f1b&p=4&m=8&b.family=1f1b&b.comm=0.3")  # of one family: each has its letter too
    for letter in "AB":
        expect(page.locator("#figures table.headline")).to_contain_text(f"{letter} · 1F1B")
        expect(page.locator("#figures .law h3", has_text=f"{letter} · 1F1B: Bubble")).to_be_visible()
    page.go_back()
    page.go_back()
    wait(page, "bubbleline.state().lanes.length === 1")


def test_up_to_four_schedules_are_stacked_and_each_can_be_removed(open_page: Open) -> None:
    page = open_page("?family=zb-h1&p=4&m=8&tab=compare")
    for count in (2, 3, 4):
        page.click("#compare-toggle")
        wait(page, f"bubbleline.state().lanes.length === {count}")
    expect(page.locator("#compare-toggle")).to_be_disabled()
    expect(page.locator("#compare-toggle")).to_be_focused()
    boxes = [page.evaluate(f"bubbleline.box('{lane}', '0F0')") for lane in "abcd"]
    assert len({box["x"] for box in boxes}) == 1
    assert sorted(boxes, key=lambda box: box["y"]) == boxes
    rows = page.locator(".difference-table tbody tr")
    expect(rows).to_have_count(4)
    assert rows.nth(1).locator("td").all_inner_texts()[1:] == ["33", "+22.2 %", "27.3 %", "4"]
    families = [each["family"] for each in state(page)["others"]]
    assert len({"zb-h1", *families}) == 4
    page.locator(".lane-head[data-lane=c] .lane-close").click()
    wait(page, "bubbleline.state().lanes.length === 3")
    assert [each["family"] for each in state(page)["others"]] == [families[0], families[2]]
    page.locator(".lane-head[data-lane=a] .lane-close").click()
    wait(page, "bubbleline.state().lanes.length === 2")
    assert state(page)["spec"]["family"] == families[0]
    page.go_back()
    wait(page, "bubbleline.state().lanes.length === 3")


def test_linked_schedules_change_together(open_page: Open) -> None:
    page = open_page("?family=zb-h1&b.family=1f1b&b.p=4")
    page.fill("#field-m", "16")
    page.keyboard.press("Enter")
    wait(page, "bubbleline.state().plans.every(plan => plan.shown?.m === 16)")


def test_the_law_is_mathml_and_states_whether_it_is_exact_or_why_not(open_page: Open) -> None:
    page = open_page("?family=zb-h1")
    law = page.locator("[data-law=bubble-global]")
    expect(law).to_contain_text("matches the simulation")
    expect(law.locator("math")).to_have_count(2)
    page.fill("#field-comm", "0.5")
    page.keyboard.press("Enter")
    expect(law).to_contain_text("approximate here")
    expect(law).to_contain_text("a hop takes time")


@pytest.mark.parametrize(("family", "words"), [("1f1b", "B is the full backward"), ("zb-h1", "write B for this I")])
def test_the_meaning_of_b_is_explained(open_page: Open, family: str, words: str) -> None:
    expect(open_page(f"?family={family}").locator("#meaning")).to_contain_text(words)


def test_the_dark_theme_is_dark_and_the_button_cycles_through_themes(open_page: Open) -> None:
    page = open_page(color_scheme="dark")
    dark = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    assert max(int(x) for x in re.findall(r"\d+", dark)[:3]) < 60
    spot = page.evaluate("bubbleline.point('a', 0, 0)")
    assert max(pixel(page, spot["x"] - 30, spot["y"] + 200)) < 60
    page.click("#theme")
    page.locator("#look-theme-light").check()
    assert state(page)["view"]["theme"] == "light"
    wait(page, "getComputedStyle(document.documentElement).backgroundColor === 'rgb(244, 244, 241)'")


def test_a_phone_shows_the_timeline_first_and_nothing_overflows(open_page: Open) -> None:
    page = open_page(
        "?family=interleaved-zb&p=8&m=16&v=2&b.family=1f1b&tab=compare", width=360, height=740, has_touch=True
    )
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    plot, controls = page.locator("#plot").bounding_box(), page.locator("#controls").bounding_box()
    assert plot
    assert controls
    assert plot["y"] < 200
    assert plot["y"] + plot["height"] <= controls["y"]
    page.click("#controls summary")
    expect(page.locator("#field-m")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_a_link_to_an_illegal_schedule_offers_a_legal_one(open_page: Open) -> None:
    page = open_page("?family=interleaved&p=4&m=13&v=2", drawn=False)
    expect(page.locator(".plot-state")).to_contain_text("No such schedule")
    page.get_by_role("button", name="Use m = 12").first.click()
    shown(page, m=12)
