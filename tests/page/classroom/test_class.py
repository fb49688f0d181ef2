"""A whole class in three browsers: the lecturer's, a phone that follows, and a student who looks around."""

from __future__ import annotations

import signal
from dataclasses import dataclass

from playwright.sync_api import Page, Route, expect

from tests.conftest import Start
from tests.page.workbench.test_tasks import REST
from tests.support.page.queries import Open, wait, wait_until

INSIDE = "Boolean(window.bubblelineClass?.inside)"
ORDER = "new URLSearchParams(location.search).get('order')"
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


@dataclass(frozen=True)
class Class:
    """The pages of one class: the leader's desk, the page that leads, a phone that follows, and one who roams."""

    desk: Page
    stage: Page
    phone: Page
    roamer: Page

    @property
    def all(self) -> tuple[Page, ...]:
        """The pages that show the timeline."""
        return self.stage, self.phone, self.roamer


def follow_and_look_around(each: Class) -> None:
    """The lecturer's slider moves everybody's; a student who looks around comes back when all are held."""
    slider = each.stage.locator("#controls input[type=range]").first
    slider.press("ArrowRight")
    for page in (each.phone, each.roamer):
        follows(page, each.stage.evaluate(SPEC))
    each.roamer.locator("#controls input[type=range]").first.press("ArrowRight")
    expect(each.roamer.locator(".class-said")).to_contain_text("on your own")
    slider.press("ArrowRight")
    follows(each.phone, each.stage.evaluate(SPEC))
    press(each.stage, "Hold")
    follows(each.roamer, each.stage.evaluate(SPEC))
    press(each.stage, "Hold")
    expect(each.roamer.locator(".class-said")).to_contain_text("following")
    each.roamer.reload()
    expect(each.roamer.locator(".class-said")).to_contain_text("following")
    follows(each.roamer, each.stage.evaluate(SPEC))


def predict_and_reveal_by_a_run(each: Class) -> None:
    """A number is predicted, counted without names, and revealed by a run on the pool that all watch."""
    ask(each.stage, "predict")
    each.stage.click("#class-send-question")
    each.phone.fill("#class-number", "30")
    each.phone.click("#class-send")
    each.roamer.fill("#class-number", "42,9")
    each.roamer.press("#class-number", "Enter")
    expect(each.stage.locator(".class-asked")).to_have_text("2 answered")
    expect(each.phone.locator(".class-status")).to_contain_text("Your answer is in")
    assert "42" not in each.phone.locator(".class-sheet").inner_text()
    press(each.stage, "Run it and reveal")
    for page in (each.stage, each.phone):
        wait(page, "window.bubbleline && bubbleline.state().lanes.some(({ id }) => id === 'run')")
    expect(each.phone.locator(".class-sheet")).to_contain_text("Measured in the run.")
    expect(each.phone.locator(".class-sheet .class-tally")).to_contain_text("2 of 2 have answered")
    for page in each.all:
        wait(page, "window.bubbleline && bubbleline.state().run === 'finished'")
    press(each.stage, "Done")
    expect(each.phone.locator(".class-sheet")).to_be_hidden()


def build_and_hand_in(each: Class) -> None:
    """A task is built; the order that solves it is handed in by itself."""
    ask(each.stage, "build")
    each.stage.select_option("#class-task", "finish-1f1b")
    each.stage.click("#class-send-question")
    press(each.roamer, "Open the board")
    wait(each.roamer, f"location.pathname === '/build' && {INSIDE}")
    each.roamer.click("#class-send")
    expect(each.roamer.locator(".class-status")).to_contain_text("not complete")
    for op in REST:
        each.roamer.click(f"#placing [data-op='{op}']")
    expect(each.roamer.locator("#solved")).to_be_visible()
    each.roamer.keyboard.press("Escape")
    expect(each.roamer.locator(".class-status")).to_contain_text("Your answer is in")
    expect(each.stage.locator(".class-asked")).to_have_text("1 answered")
    press(each.stage, "Reveal")
    expect(each.stage.locator(".class-tally")).to_contain_text("1")
    press(each.stage, "Done")


def follow_on_the_board(each: Class) -> None:
    """A board is followed, also to a task that comes later than the op that is placed next, or after a key."""
    address, view = each.stage.url.partition("/build")[0].partition("/?")[0], each.stage.url
    each.stage.goto(f"{address}/build?family=1f1b&p=2&m=2")
    wait(each.phone, f"location.pathname === '/build' && {INSIDE}")
    held: list[Route] = []
    each.phone.route("**/api/tasks/finish-1f1b", lambda route: held.append(route))
    each.stage.goto(f"{address}/build?task=finish-1f1b")
    wait(each.stage, INSIDE)
    wait_until(each.phone, lambda: held)

    def shown() -> bool:
        while held:
            held.pop().continue_()
        return bool(each.phone.evaluate(ORDER) == each.stage.evaluate(ORDER))

    for op in REST[:2]:
        before = each.stage.evaluate(ORDER)
        each.stage.click(f"#placing [data-op='{op}']")
        wait(each.stage, f"{ORDER} !== {before!r}")
        wait(each.phone, f"bubblelineClass.scene.query.includes({each.stage.evaluate(ORDER)!r})")
        wait_until(each.phone, shown)
        expect(each.phone.locator(".class-said")).to_contain_text("following")
        each.phone.keyboard.press("Shift")
    each.stage.goto(view)
    wait(each.stage, INSIDE)


def compare(each: Class) -> None:
    """What two students have is put beside each other for all, without names."""
    press(each.roamer, "Follow again")
    wait(each.roamer, f"location.pathname === '/' && {INSIDE}")
    rows = each.desk.locator(".grid tbody tr")
    expect(rows).to_have_count(2)
    for number in range(2):
        rows.nth(number).locator("input[type=checkbox]").check()
    press(each.desk, "Show side by side")
    for page in each.all:
        wait(page, "window.bubbleline && bubbleline.state().others.length === 1")
        assert "Ada" not in page.locator("#stage").inner_text()


def find_on_the_timeline(each: Class) -> None:
    """A place is found on the timeline; the class's answers are spots over it. Then all are paused, and go on."""
    ask(each.stage, "find")
    each.stage.click("#class-send-question")
    expect(each.roamer.locator(".class-place")).to_be_visible()  # before it, a click would be looking around
    box = each.roamer.evaluate("bubbleline.box('a', '1F0')")
    each.roamer.mouse.click(box["x"] + box["w"] / 2, box["y"] + box["h"] / 2)
    expect(each.roamer.locator(".class-place")).to_have_text("Selected: 1F0")
    each.roamer.click("#class-send")
    expect(each.stage.locator(".class-asked")).to_have_text("1 answered")
    press(each.stage, "Reveal")
    expect(each.phone.locator(".class-spot").first).to_be_visible()
    press(each.stage, "Done")
    press(each.stage, "Pause")
    expect(each.phone.locator(".class-pause")).to_be_visible()
    press(each.stage, "Pause")
    expect(each.phone.locator(".class-pause")).to_be_hidden()


def choose(each: Class) -> None:
    """A question with options is asked and answered."""
    ask(each.stage, "choose")
    question, options = (each.stage.locator("#class-ask textarea").nth(number) for number in range(2))
    question.fill("Which waits less?")
    options.fill("*ZB-H1\n" + 121 * "G")
    each.stage.locator("#class-ask").click(position={"x": 4, "y": 4})  # beside what is in it
    each.stage.click("#class-send-question")
    expect(each.stage.locator("#class-ask [role=alert]")).to_contain_text("120 characters")
    expect(question).to_have_value("Which waits less?")
    options.fill("*ZB-H1\nGPipe")
    each.stage.click("#class-send-question")
    each.phone.get_by_label("ZB-H1").check()
    each.phone.click("#class-send")
    expect(each.phone.locator(".class-status")).to_contain_text("Your answer is in")


def goes_on(each: Class) -> None:
    """What the leader moved while the server was away is followed, and the answer is still there."""
    for page in each.all:
        wait(page, INSIDE)
    follows(each.phone, each.stage.evaluate(SPEC))
    expect(each.stage.locator(".class-asked")).to_have_text("1 answered")
    expect(each.phone.get_by_label("ZB-H1")).to_be_checked()


def test_a_class_joins_follows_answers_runs_builds_is_compared_goes_on_after_its_server_was_killed_and_ends(
    open_page: Open, start: Start
) -> None:
    server = start()
    url = server.url
    desk, phone, roamer = (
        open_page(
            "class", url=url, drawn=False, first_visit=True, fresh=True, forgive="ERR_CONNECTION_REFUSED", **options
        )
        for options in ({}, {"width": 360, "height": 740, "has_touch": True}, {"locale": "en-GB"})
    )
    code, stage = open_class(desk, url, "Systems, week 6")
    join(phone, url, code, "Ada")
    join(roamer, url, code, "Grace")
    expect(stage.locator(".class-here")).to_have_text("2 here")
    stage.goto(f"{url}/?family=1f1b&p=2&m=4")
    wait(stage, INSIDE)
    each = Class(desk, stage, phone, roamer)
    for part in (
        follow_and_look_around, find_on_the_timeline, predict_and_reveal_by_a_run, build_and_hand_in,
        follow_on_the_board, compare, choose,
    ):  # fmt: skip
        part(each)
    server.stop(signal.SIGKILL)
    expect(phone.locator(".class-said")).to_have_text("Connecting …")
    stage.locator("#controls input[type=range]").first.press("ArrowRight")  # while nobody hears it
    start(port=int(url.rsplit(":", 1)[1]))
    goes_on(each)
    lines = desk.request.get(f"{url}/api/classes/{code}/answers.csv").text().splitlines()
    assert [line.split(",")[4:8] for line in lines if "Which waits less?" in line] == [["1", "Ada", "0", "yes"]]
    stage.locator(".class-tools").get_by_role("button", name="Pause").click()
    expect(phone.locator(".class-pause")).to_be_visible()
    desk.click("#delete-class")
    desk.click("#delete-now")
    desk.wait_for_url("**/class?deleted=1*")
    for page in each.all:
        expect(page.locator(".class-said")).to_have_text("This class has ended.")
        expect(page.locator(".class-pause:visible, .class-sheet:visible")).to_have_count(0)
    roamer.locator("#controls input[type=range]").first.press("ArrowRight")  # its own again, and still said
    expect(roamer.locator(".class-said")).to_have_text("This class has ended.")
    assert desk.request.get(f"{url}/api/classes/{code}").status == 404
