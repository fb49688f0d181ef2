"""A whole class in three browsers: the lecturer's, a phone that follows, and a student who looks around."""

from __future__ import annotations

import signal

from playwright.sync_api import Page, expect

from tests.conftest import Server, Start
from tests.page.workbench.test_tasks import REST
from tests.support.page.queries import Open, wait

INSIDE = "Boolean(window.bubblelineClass?.inside)"
SPEC = "JSON.stringify(bubbleline.state().spec)"


def join(page: Page, url: str, code: str, name: str) -> None:
    """Join as a student does: the code, a name."""
    page.goto(f"{url}/class")
    page.fill("#join-code", code.lower())
    page.keyboard.press("Enter")
    page.fill("#member-name", name)
    page.keyboard.press("Enter")
    wait(page, INSIDE)


def open_class(page: Page, url: str, title: str) -> tuple[str, Page]:
    """Open a class; return its code and the page that leads it, which the desk has opened."""
    page.goto(f"{url}/class")
    page.fill("#open-title", title)
    page.keyboard.press("Enter")
    page.wait_for_url("**/lead")
    with page.expect_popup() as opened:
        page.click("#open-stage")
    stage = opened.value
    wait(stage, INSIDE)
    return page.url.split("/")[-2], stage


def follows(page: Page, spec: str) -> None:
    """Wait until a page shows this spec."""
    wait(page, f"window.bubbleline && {SPEC} === {spec!r}")


def ask(stage: Page, kind: str) -> None:
    stage.get_by_role("button", name="Ask", exact=True).click()
    stage.select_option("#class-kind", kind)


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def test_a_class_joins_follows_answers_builds_is_compared_runs_and_ends(open_page: Open, live_server: Server) -> None:
    url = live_server.url
    desk, phone, roamer = (
        open_page("class", url=url, drawn=False, first_visit=True, fresh=True, **options)
        for options in ({}, {"width": 360, "height": 740, "has_touch": True}, {"locale": "en-GB"})
    )
    code, stage = open_class(desk, url, "Systems, week 6")
    join(phone, url, code, "Ada")
    join(roamer, url, code, "Grace")
    expect(stage.locator(".class-here")).to_have_text("2 here")

    # The lecturer's slider moves everybody's.
    stage.goto(f"{url}/?family=1f1b&p=2&m=4")
    wait(stage, INSIDE)
    stage.locator("#controls input[type=range]").first.press("ArrowRight")
    spec = stage.evaluate(SPEC)
    for page in (phone, roamer):
        follows(page, spec)

    # A student looks around alone, and comes back.
    roamer.locator("#controls input[type=range]").first.press("ArrowRight")
    expect(roamer.locator(".class-said")).to_contain_text("on your own")
    stage.locator("#controls input[type=range]").first.press("ArrowRight")
    follows(phone, stage.evaluate(SPEC))
    press(stage, "Hold")
    follows(roamer, stage.evaluate(SPEC))
    press(stage, "Hold")

    # A number is predicted, counted without names on the projected page, and revealed.
    ask(stage, "predict")
    stage.click("#class-send-question")
    phone.fill("#class-number", "30")
    phone.click("#class-send")
    roamer.fill("#class-number", "42,9")
    roamer.press("#class-number", "Enter")
    expect(stage.locator(".class-asked")).to_have_text("2 answered")
    expect(phone.locator(".class-status")).to_contain_text("Your answer is in")
    assert "42" not in phone.locator(".class-sheet").inner_text()
    press(stage, "Run it and reveal")  # a run on the pool, which all watch
    for page in (stage, phone):
        wait(page, "window.bubbleline && bubbleline.state().lanes.some(({ id }) => id === 'run')")
    expect(phone.locator(".class-sheet")).to_contain_text("Measured in the run.")
    expect(phone.locator(".class-sheet .class-tally")).to_contain_text("2 of 2 have answered")
    for page in (stage, phone, roamer):
        wait(page, "window.bubbleline && bubbleline.state().run === 'finished'")
    press(stage, "Done")
    expect(phone.locator(".class-sheet")).to_be_hidden()

    # A place is found on the timeline; the class's answers are spots over it.
    ask(stage, "find")
    stage.click("#class-send-question")
    box = roamer.evaluate("bubbleline.box('a', '1F0')")
    roamer.mouse.click(box["x"] + box["w"] / 2, box["y"] + box["h"] / 2)
    expect(roamer.locator(".class-place")).to_have_text("Selected: 1F0")
    roamer.click("#class-send")
    expect(stage.locator(".class-asked")).to_have_text("1 answered")
    press(stage, "Reveal")
    spot = phone.locator(".class-spot").first
    expect(spot).to_be_visible()
    press(stage, "Done")

    # Everybody is paused, and goes on.
    press(stage, "Pause")
    expect(phone.locator(".class-pause")).to_be_visible()
    press(stage, "Pause")
    expect(phone.locator(".class-pause")).to_be_hidden()

    # One builds; the desk sees it done.
    ask(stage, "build")
    stage.select_option("#class-task", "finish-1f1b")
    stage.click("#class-send-question")
    press(roamer, "Open the board")
    wait(roamer, INSIDE)
    roamer.click("#class-send")
    expect(roamer.locator(".class-status")).to_contain_text("not complete")
    for op in REST:
        roamer.click(f"#placing [data-op='{op}']")
    expect(roamer.locator("#solved")).to_be_visible()
    roamer.keyboard.press("Escape")
    expect(roamer.locator(".class-status")).to_contain_text("Your answer is in")
    expect(stage.locator(".class-asked")).to_have_text("1 answered")
    press(stage, "Reveal")
    expect(stage.locator(".class-tally")).to_contain_text("1")
    press(stage, "Done")

    # Both schedules beside each other, without names.
    press(roamer, "Follow again")
    wait(roamer, f"location.pathname === '/' && {INSIDE}")
    rows = desk.locator(".grid tbody tr")
    expect(rows).to_have_count(2)
    for number in range(2):
        rows.nth(number).locator("input[type=checkbox]").check()
    press(desk, "Show side by side")
    for page in (stage, phone, roamer):
        wait(page, "window.bubbleline && bubbleline.state().others.length === 1")
        assert "Ada" not in page.locator("#stage").inner_text()

    # The end: nothing is left, and every page says so.
    desk.click("#delete-class")
    desk.click("#delete-now")
    desk.wait_for_url("**/class?deleted=1*")
    expect(phone.locator(".class-said")).to_have_text("This class has ended.")
    assert desk.request.get(f"{url}/api/classes/{code}").status == 404


def test_a_class_goes_on_when_its_server_is_killed_and_started_again(open_page: Open, start: Start) -> None:
    server = start()
    url = server.url
    desk, student = (
        open_page(
            "class", url=url, drawn=False, first_visit=True, fresh=True, forgive="ERR_CONNECTION_REFUSED", **options
        )
        for options in ({}, {"locale": "en-GB"})
    )
    code, stage = open_class(desk, url, "")
    join(student, url, code, "Ada")
    stage.goto(f"{url}/?family=1f1b&p=2&m=4")
    wait(stage, INSIDE)
    ask(stage, "choose")
    question, options = (stage.locator("#class-ask textarea").nth(number) for number in range(2))
    question.fill("Which waits less?")
    options.fill("*ZB-H1\nGPipe")
    stage.click("#class-send-question")
    student.get_by_label("ZB-H1").check()
    student.click("#class-send")
    expect(student.locator(".class-status")).to_contain_text("Your answer is in")
    server.stop(signal.SIGKILL)
    expect(student.locator(".class-said")).to_have_text("Connecting …")
    stage.locator("#controls input[type=range]").first.press("ArrowRight")  # while nobody hears it
    again = start(port=int(url.rsplit(":", 1)[1]))
    for page in (stage, student):
        wait(page, INSIDE)
    follows(student, stage.evaluate(SPEC))
    expect(stage.locator(".class-asked")).to_have_text("1 answered")
    expect(student.get_by_label("ZB-H1")).to_be_checked()
    lines = desk.request.get(f"{again.url}/api/classes/{code}/answers.csv").text().splitlines()
    assert [line.split(",")[4:8] for line in lines[1:]] == [["1", "Ada", "0", "yes"]]
