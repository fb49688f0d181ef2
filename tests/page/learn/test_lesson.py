"""A lesson's page: the view that follows the text, questions and their ladder, links to steps, progress, print."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.page.app.test_axe import violations
from tests.page.app.test_chinese import english
from tests.page.learn.conftest import OpenLesson
from tests.support.page.queries import DRAWN, reload, settle, state, wait

M = "bubbleline.state().spec.m"
PLAYING = "document.querySelector('#transport [aria-label=Pause]') !== null"
PHONE = {"width": 390, "height": 844, "has_touch": True, "is_mobile": True}


def said(page: Page, number: int):
    return page.locator(f"#question-{number} .said")


def is_right(page: Page, number: int, answer: str) -> None:
    """Answer a question, and see that this was right."""
    page.locator(f"#question-{number} input").fill(answer)
    page.locator(f"#question-{number} input").press("Enter")
    expect(said(page, number)).to_contain_text("Right.")


def test_the_view_follows_what_is_read_its_sliders_stay_free_and_a_scene_plays_unless_motion_is_reduced(
    open_lesson: OpenLesson,
) -> None:
    page = open_lesson("bubble", width=1440, height=900)
    assert not page.evaluate(PLAYING), "this reader has asked for less motion"
    assert state(page)["spec"]["m"] == 4
    expect(page.locator("#lesson-caption")).to_contain_text("Four devices, four micro-batches")
    page.locator("#more").evaluate("node => node.scrollIntoView()")
    wait(page, f"{M} === 16")
    wait(page, "location.hash === '#more'")
    assert state(page)["view"]["mem"] == "1"
    page.locator("#size-p").focus()
    page.keyboard.press("ArrowRight")
    wait(page, "bubbleline.state().spec.p === 5")
    back = page.get_by_role("button", name="Back to the lesson's setting")
    back.click()
    wait(page, "bubbleline.state().spec.p === 4")
    expect(back).to_be_hidden()
    page.emulate_media(reduced_motion="no-preference")
    page.locator(".scene-show").first.evaluate("node => node.click()")
    wait(page, f"{M} === 4")
    wait(page, PLAYING)
    page.focus("#lesson-open")  # the mouse may stand there already
    assert "family=gpipe&m=4" in (page.locator("#lesson-open").get_attribute("href") or "")


def test_a_wrong_answer_gets_its_reason_a_second_try_then_the_explanation_on_the_timeline(
    open_lesson: OpenLesson,
) -> None:
    page = open_lesson("bubble#fill", forgive="ERR_FAILED")
    question = page.locator("#question-1")
    question.get_by_role("button", name="Check").click()
    expect(said(page, 1)).to_have_text("Give an answer first.")
    expect(question.locator(".hint")).to_be_hidden()
    question.locator("input").fill("many")
    question.locator("input").press("Enter")
    expect(said(page, 1)).to_have_text("That is no number. Write it like 27.3 or 3/11.")
    question.locator("input").fill("37.5")
    question.get_by_role("button", name="Check").click()
    expect(said(page, 1)).to_contain_text("Not yet. 37.5 % is the idle time relative to the work")
    expect(said(page, 1)).to_contain_text("Try once more.")
    expect(question.locator(".hint")).to_contain_text("Count for one device")
    wait(page, "performance.getEntriesByType('resource').some(({ name }) => name.includes('/key?'))")
    settle(page)
    page.route("**/api/lessons/*/answers?*", lambda route: route.abort())  # the page grades without the server too
    question.locator("input").fill("20")
    question.locator("input").press("Enter")
    expect(said(page, 1)).to_contain_text("No. 20 is too low. The answer is 27.3 %.")
    expect(said(page, 1)).to_be_in_viewport(ratio=1)
    expect(question.locator(".hint")).to_be_hidden()
    expect(said(page, 1)).to_contain_text("A device works for 8 forwards")
    expect(said(page, 1).locator("math")).to_have_count(1)
    wait(page, f"{M} === 8")
    expect(question.get_by_role("button", name="Check")).to_be_hidden()


def test_the_whole_lesson_works_by_the_keyboard_alone(open_lesson: OpenLesson) -> None:
    page = open_lesson("bubble")
    press = page.keyboard.press
    press("n")
    wait(page, "document.activeElement.id === 'fill'")
    press("Tab")
    page.keyboard.type("27.3")
    press("Enter")
    expect(said(page, 1)).to_contain_text("Right.")
    page.locator("#question-2 input").first.focus()
    press("ArrowDown")  # the second option
    press("Enter")
    expect(said(page, 2)).to_contain_text("Right. Its gradient comes from there.")
    page.locator("#question-2 [data-place]").focus()
    settle(page)  # scrolling to it may have changed the scene
    press("Enter")
    wait(page, "bubbleline.state().view.sel === '1B0'")
    page.locator("#more").focus()
    settle(page)
    press("b")
    wait(page, "document.activeElement.id === 'fill'")
    settle(page)
    press("n")
    wait(page, "document.activeElement.id === 'more'")
    rows = "[...document.querySelectorAll('#question-4 [data-op]')].map(each => each.dataset.op).join(' ')"
    order = page.evaluate(rows).split()
    for place, op in enumerate(["0F0", "0F1", "0F2", "0B0", "0B1", "0B2"]):
        page.locator(f"#question-4 [data-op='{op}'] [data-move='-1']").focus()
        for _ in range(order.index(op) - place):
            press("Enter")
            assert page.evaluate("document.activeElement.closest('li').dataset.op") == op
        order.remove(op)
        order.insert(place, op)
    assert page.evaluate(rows).split() == order
    expect(said(page, 4)).to_contain_text("is now number")
    page.locator("#question-4 [type=submit]").focus()
    press("Enter")
    expect(said(page, 4)).to_contain_text("All forwards come first")


def test_the_whole_lesson_works_by_touch_alone_on_a_phone(open_lesson: OpenLesson) -> None:
    page = open_lesson("bubble", **PHONE)
    third = page.evaluate("document.querySelector('#lesson-view').getBoundingClientRect().height / innerHeight")
    assert 0.25 < third < 0.4
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.get_by_role("button", name=re.compile("Next step")).tap()
    wait(page, "location.hash === '#fill'")
    page.locator("#question-2 label").nth(1).tap()
    page.locator("#question-2 [type=submit]").tap()
    expect(said(page, 2)).to_contain_text("Right.")
    page.get_by_role("button", name=re.compile("Next step")).tap()
    wait(page, f"{M} === 16")
    wait(page, "document.querySelector('#lesson-view').getBoundingClientRect().top === 48")
    move = page.locator("#question-4 [data-op='0F0'] [data-move='-1']")
    before = page.evaluate("[...document.querySelectorAll('#question-4 li')].findIndex(li => li.dataset.op === '0F0')")
    move.tap()
    wait(page, f"[...document.querySelectorAll('#question-4 li')].findIndex(li => li.dataset.op === '0F0') < {before}")
    small = page.evaluate("""[...document.querySelectorAll('.question button, .step-bar button, .options label')]
      .filter(node => node.checkVisibility()).map(node => node.getBoundingClientRect())
      .filter(box => box.height < 36 || box.width < 36).length""")
    assert small == 0, "targets for fingers"
    assert violations(page) == []
    page.set_viewport_size({"width": 390, "height": 500})  # as with a keyboard on the screen
    page.locator("#question-1 input").tap()
    expect(page.locator("#lesson-view")).to_have_css("visibility", "hidden")
    expect(page.locator("#lesson-steps")).to_be_hidden()
    expect(page.locator("#question-1 [type=submit]")).to_be_in_viewport()


def test_a_scene_after_a_question_waits_until_it_is_reached_and_answers_and_progress_are_there_when_one_comes_back(
    open_lesson: OpenLesson,
) -> None:
    page = open_lesson("bubble#fill", width=1440, height=900)
    wait(page, "document.querySelector('.step-count').textContent.startsWith('2 / 3')")
    settle(page)
    assert state(page)["spec"]["m"] == 4, "m = 8 would show the answer"
    is_right(page, 1, "27.3")
    wait(page, f"{M} === 8")
    expect(page.locator("#lesson-caption")).to_have_text("The answer to question 1")
    page.get_by_role("button", name="Back to the lesson's setting").click()
    wait(page, f"{M} === 4")
    page.locator(".scene").nth(1).evaluate("node => node.scrollIntoView()")
    wait(page, f"{M} === 8")
    other = page.context.new_page()
    other.goto(page.url)
    wait(other, DRAWN)  # before, a click would send the form itself
    other.locator("#question-2 input").nth(1).check()
    other.locator("#question-2 [type=submit]").click()
    expect(said(other, 2)).to_contain_text("Right.")
    other.close()
    is_right(page, 3, "16")
    page.locator("#fill").evaluate("node => node.scrollIntoView()")  # question 3 is of the next step
    wait(page, "location.hash === '#fill'")
    reload(page)
    assert page.url.endswith("#fill")
    for number in (1, 2, 3):  # what each tab kept
        expect(said(page, number)).to_contain_text("Right.")
    expect(page.locator("#question-1 input")).to_have_value("27.3")
    expect(page.locator("#question-1 input")).to_be_disabled()
    settle(page)
    page.get_by_role("link", name="Learn", exact=True).click()
    row = page.locator("[data-slug=bubble]")
    expect(row.locator(".lesson-progress")).to_contain_text("of 3")
    # What another version has kept does no harm.
    page.evaluate('localStorage.setItem(\'bubbleline.lesson.bubble\', \'{"answers": 7, "seen": "x"}\')')
    row.get_by_role("link").click()
    wait(page, "location.hash === '#fill'")
    wait(page, DRAWN)
    is_right(page, 1, "3/11")
    page.get_by_role("button", name="Start this lesson over").click()
    expect(page.locator("#question-1 input")).to_be_enabled()
    expect(page.locator("#question-1 input")).to_have_value("")
    assert "#" not in page.url


def test_an_op_is_dragged_to_its_place_and_a_charts_points_go_on_the_timeline(open_lesson: OpenLesson) -> None:
    page = open_lesson("bubble", width=1440, height=900)
    handle = page.locator("#question-4 [data-op='0F0'] code")
    handle.scroll_into_view_if_needed()
    box, top = handle.bounding_box(), page.locator("#question-4 .order").bounding_box()
    assert box
    assert top
    page.mouse.move(box["x"] + 9, box["y"] + 9)
    page.mouse.down()
    page.mouse.move(box["x"] + 9, top["y"] + 4, steps=4)
    page.mouse.up()
    expect(page.locator("#question-4 li").first).to_have_attribute("data-op", "0F0")
    page.evaluate("""void (window.print = () => {
      document.body.dataset.printed = document.querySelectorAll('.chart .main-svg').length;
    })""")
    page.keyboard.press("Control+p")
    wait(page, "document.body.dataset.printed >= 1")  # the charts are drawn first
    page.locator(".chart").scroll_into_view_if_needed()
    expect(page.locator(".chart .main-svg").first).to_be_visible()
    page.locator(".chart summary").click()
    page.locator(".chart-table button").first.click()
    wait(page, "bubbleline.state().spec.m !== 16")
    assert violations(page, ".chart") == []


def test_the_handout_has_every_picture_and_no_controls(open_lesson: OpenLesson) -> None:
    page = open_lesson("bubble?notes=1")
    assert page.locator(".scene .pic").first.is_hidden()
    page.emulate_media(media="print", color_scheme="dark")
    assert [each.is_visible() for each in page.locator(".scene .pic").all()] == [True] * 3
    for hidden in (".top", "#lesson-view", ".question-ways >> nth=0", ".onward >> nth=0"):
        expect(page.locator(hidden)).to_be_hidden()
    expect(page.locator(".note")).to_contain_text("Ask the room")
    assert page.evaluate("getComputedStyle(document.querySelector('.pic-title')).fill") == "rgb(23, 25, 29)"
    page.emulate_media(media="null")


def test_it_is_readable_without_a_script(open_lesson: OpenLesson) -> None:
    page = open_lesson("bubble", java_script_enabled=False)
    expect(page.locator(".scene .pic").first).to_be_visible()
    expect(page.locator("#more")).to_contain_text("With sixteen micro-batches")
    expect(page.locator("#question-1 [type=submit]")).to_be_hidden()
    expect(page.locator("#lesson-view")).to_be_hidden()


def test_list_and_lesson_pass_axe_in_both_themes(open_lesson: OpenLesson) -> None:
    page = open_lesson("bubble?theme=dark", width=1440, height=900)
    assert violations(page) == []
    page.set_viewport_size({"width": 1024, "height": 768})
    wait(page, "document.documentElement.scrollWidth <= 1024")
    page.click("#theme")
    page.locator("#look-theme-light").check()
    wait(page, "document.documentElement.dataset.theme === 'light'")
    page.keyboard.press("Escape")
    page.locator("#question-1 [type=submit]").click()
    assert violations(page, ".top", "#lesson-view", "#question-1") == []  # the telephone is light, too
    page.goto(page.url.partition("learn/")[0] + "learn")
    expect(page.locator("html")).to_have_attribute("data-theme", "light")  # as this browser last had it
    assert violations(page) == []


def test_list_and_lesson_are_chinese(open_lesson: OpenLesson) -> None:
    page = open_lesson("bubble?lang=zh", **PHONE)
    page.locator("#question-1 input").fill("20")
    page.locator("#question-1 [type=submit]").tap()
    expect(said(page, 1)).to_contain_text("还不对。 20 偏低。 请再试一次。")
    assert english(page) == []
    page.goto(page.url.partition("learn/")[0] + "learn?lang=zh")
    page.locator("h1").wait_for()
    assert english(page) == []


def test_a_goal_is_reached_with_the_sliders_and_a_wait_is_found_on_the_timeline(open_lesson: OpenLesson) -> None:
    page = open_lesson("order#timeline", width=1440, height=900)
    page.locator("#question-2").evaluate("node => node.scrollIntoView()")
    question = page.locator("#question-2")
    wait(page, f"{M} === 4 && bubbleline.state().spec.family === 'gpipe'")
    expect(page.locator("#lesson-caption")).to_have_text("Move m until the bubble is below 28 %.")
    expect(question).to_contain_text("Goal: bubble below 28 %, peak memory at most 8")
    expect(page.locator("#size-p")).to_be_disabled()
    expect(question.locator(".chosen")).to_have_text("m = 4 · bubble 42.9 % · peak memory 4")
    slider = page.locator("#size-m")
    slider.press("ArrowRight")
    expect(question.locator(".chosen")).to_contain_text("m = 5")
    question.get_by_role("button", name="Check").click()
    expect(said(page, 2)).to_contain_text("Not yet. With m = 5 that is: bubble 37.5 %, peak memory 5.")
    for _ in range(3):
        slider.press("ArrowRight")
    expect(said(page, 2)).to_contain_text("Right.")
    expect(said(page, 2)).to_contain_text("Three of eleven slots.")
    expect(page.locator("#size-p")).to_be_enabled()
    assert state(page)["spec"]["m"] == 8, "the reader's own sizes stay"

    question = page.locator("#question-3")
    question.evaluate("node => node.scrollIntoView()")
    wait(page, "bubbleline.state().spec.family === '1f1b'")
    expect(question.locator(".chosen")).to_have_text("Nothing is selected yet.")
    question.get_by_role("button", name="Check").click()
    expect(said(page, 3)).to_have_text("Answer on the timeline first.")
    place = page.evaluate("bubbleline.point('a', 1, 7)")
    page.mouse.click(place["x"], place["y"])
    expect(question.locator(".chosen")).to_have_text("Selected: rank 1 waits from 4.0 to 8.0")
    question.get_by_role("button", name="Check").click()
    expect(said(page, 3)).to_contain_text("This is another wait.")
    page.locator("#plot").focus()
    page.keyboard.press(".")
    expect(question.locator(".chosen")).to_contain_text("Selected: 0F")
    question.get_by_role("button", name="Check").click()
    expect(said(page, 3)).to_contain_text("No. 0F0 is work; select a wait.")
    wait(page, "bubbleline.state().view.sel === null")
    expect(page.locator(".card")).to_contain_text("Rank 0 is idle from 4 to 10")

    page.locator("#lesson-end").evaluate("node => node.scrollIntoView()")
    expect(page.locator("#lesson-score")).to_contain_text("1 of 4 answered right · 2 still open")
    assert page.locator("#lesson-score li").evaluate_all("rows => rows.map(row => row.dataset.state)") == [
        "open",
        "right",
        "wrong",
        "open",
    ]
    assert violations(page, "#lesson-score", "#question-2", "#question-3") == []
    reload(page)
    expect(said(page, 2)).to_contain_text("Right.")
    expect(page.locator("#lesson-score")).to_contain_text("1 of 4 answered right")
    page.get_by_role("link", name="Learn", exact=True).click()
    expect(page.locator("#lesson-on")).to_have_text("Go on with lesson 2: One forward, one backward")
