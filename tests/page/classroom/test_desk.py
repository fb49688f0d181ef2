"""The pages of a class in several browsers: open one, join it, answer, be seen on the leader's desk, delete it."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page, WebSocketRoute, expect

from tests.page.app.test_axe import violations
from tests.support.page.queries import GO, Open, wait, wait_until

INSIDE = "window.bubblelineClass?.inside"
TITLE = "Systems for ML, week 6"
CHOOSE = {"kind": "choose", "text": "Which holds more?", "options": ["GPipe", "1F1B"], "right": "0"}


@pytest.fixture
def desk(open_page: Open) -> Page:
    """The desk of a class that has just been opened from the page of classes."""
    return open_class(open_page("class", drawn=False, fresh=True, width=1440, height=1000))


def open_class(page: Page) -> Page:
    page.get_by_label("Title").fill(TITLE)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name=TITLE)).to_be_visible()
    wait(page, "document.querySelector('#desk-here').textContent !== ''")  # let in
    return page


def code_of(desk: Page) -> str:
    found: str = desk.evaluate("document.body.dataset.code")
    return found


def join(open_page: Open, desk: Page, name: str = "") -> Page:
    """Join as a student of another browser."""
    page = open_page(f"class/{code_of(desk)}", drawn=False, fresh=True)
    page.locator("#member-name").fill(name)
    page.keyboard.press("Enter")
    wait(page, INSIDE)
    return page


def lead(desk: Page) -> Page:
    """The page that leads, as the desk opens it."""
    with desk.expect_popup() as opened:
        desk.get_by_role("button", name="Open the page to lead").click()
    wait(opened.value, INSIDE)
    return opened.value


def looks_around(student: Page, goes: str) -> Page:
    """Have a student's page show another view than the leader's."""
    student.get_by_role("button", name="Look around").click()
    if goes.startswith("?"):
        student.evaluate(GO, goes)
    else:
        student.goto(student.url.partition("?")[0] + goes)
        wait(student, INSIDE)
    return student


def send(page: Page, event: str, payload: dict[str, Any] | None = None) -> None:
    page.evaluate("([event, payload]) => bubblelineClass.send(event, payload)", [event, payload or {}])


def row(desk: Page, text: str) -> Any:
    return desk.locator(".grid tbody tr", has_text=text)


def test_who_joins_with_the_code_is_on_the_desk_without_a_name_until_a_key_shows_it(
    desk: Page, open_page: Open
) -> None:
    code = code_of(desk)
    expect(desk.locator("#students .class-notice")).to_contain_text(["Names are shown", "Nobody has joined yet"])
    assert desk.evaluate("document.querySelector('.desk-code img').naturalWidth") > 0
    student = open_page("class", drawn=False, fresh=True, width=360)
    assert violations(student) == []
    student.locator("#join-code").fill("BK")
    student.keyboard.press("Enter")
    expect(student.get_by_role("alert")).to_contain_text("six letters")
    student.locator("#join-code").fill("")
    student.keyboard.type(f"{code[:3]}-{code[3:]}".lower())
    student.keyboard.press("Enter")
    expect(student.get_by_role("heading", name=TITLE)).to_be_visible()
    assert violations(student) == []
    student.keyboard.type("Zoë")
    student.locator("#member-form").evaluate("form => { form.requestSubmit(); form.requestSubmit(); }")  # in haste
    wait(student, INSIDE)
    expect(row(desk, "Student 1")).to_contain_text("here")
    expect(desk.locator(".grid tbody tr")).to_have_count(1)
    expect(desk.locator("body")).not_to_contain_text("Zoë")
    wait(desk, "document.querySelector('.thumb canvas')?.width > 1")
    desk.keyboard.press("h")
    expect(row(desk, "Zoë")).to_be_visible()
    expect(desk.get_by_text("do not project this window")).to_be_visible()
    assert violations(desk) == []
    desk.keyboard.press("h")
    expect(desk.locator("body")).not_to_contain_text("Zoë")

    student.goto(f"{student.url.partition('?')[0]}class/{code}?me=1")
    expect(student.locator("#member-said")).to_contain_text("Zoë")
    desk.get_by_label("Nobody else can join").check()
    other = open_page(f"class/{code}", drawn=False, fresh=True)
    expect(other.get_by_text("its leader has locked it")).to_be_visible()
    student.get_by_role("button", name="Leave the class").click()
    expect(student.get_by_text("Your name and your answers are deleted")).to_be_visible()
    expect(desk.locator(".grid tbody tr")).to_have_count(0)
    desk.get_by_role("button", name="Show it full screen").click()
    expect(desk.locator("#join-screen")).to_contain_text(code)
    desk.keyboard.press("Escape")
    expect(desk.locator("#join-screen")).to_be_hidden()


def test_a_switch_stays_as_it_was_pressed_when_an_older_state_of_the_class_comes_after_it(open_page: Open) -> None:
    page = open_page("class", drawn=False, fresh=True, once=True)
    states: list[str] = []  # that the server has sent
    pressed: list[str] = []  # not sent on to the server before the test does
    lines: list[tuple[WebSocketRoute, WebSocketRoute]] = []

    def line(client: WebSocketRoute) -> None:
        server = client.connect_to_server()
        lines.append((client, server))
        client.on_message(lambda told: pressed.append(str(told)) if '"class_set"' in str(told) else server.send(told))

        def take(told: str | bytes) -> None:
            if isinstance(told, str) and told.startswith('42["class",') and '"paused":false' in told:
                states.append(told)
            client.send(told)

        server.on_message(take)

    page.route_web_socket("**/socket.io/*", line)
    desk = open_class(page)
    send(lead(desk), "class_ask", {"question": CHOOSE})
    expect(desk.locator(".desk-question")).to_contain_text("Which holds more?")
    desk.get_by_label("Pause").check()
    wait_until(desk, lambda: pressed)
    [(client, server)] = lines
    client.send(re.sub('"here":[0-9]+', '"here":7', states[-1]))
    expect(desk.locator("#desk-here")).to_contain_text("7")
    expect(desk.get_by_label("Pause")).to_be_checked()
    server.send(pressed[0])
    expect(desk.locator("#desk-here")).not_to_contain_text("7")
    expect(desk.get_by_label("Pause")).to_be_checked()


def answers_are_counted_at_once_and_shown_when_the_leader_asks_for_them(desk: Page, student: Page) -> None:
    send(lead(desk), "class_ask", {"question": CHOOSE})
    panel = desk.locator(".desk-question")
    expect(panel).to_contain_text("Which holds more?")
    wait(student, "window.bubblelineClass?.state?.question")
    student.evaluate("bubblelineClass.answer(bubblelineClass.state.question, '0')")
    expect(panel).to_contain_text("1 of 1 have answered")
    expect(panel.locator(".tally-bars")).to_be_hidden()
    panel.get_by_role("button", name="Show answers to me").click()
    expect(panel.locator(".tally-bars li")).to_contain_text(["A GPipe✓right1 · 100 %", "B 1F1B0 · 0 %"])
    expect(desk.get_by_role("row", name="Student 1").get_by_role("img", name="done")).to_be_visible()
    assert violations(desk, ".desk-question") == []
    panel.get_by_label("A word on it").fill("p in flight, not m")
    panel.get_by_role("button", name="Reveal to all").click()
    expect(panel).to_contain_text("revealed")
    wait(student, "window.bubblelineClass?.state.question.revealed?.note === 'p in flight, not m'")
    panel.get_by_role("button", name="Ask again").click()
    expect(panel).to_contain_text("round 2")
    expect(panel.locator(".tally-bars")).to_be_hidden()
    with desk.expect_download() as download:
        desk.get_by_role("link", name="Export answers").click()
    assert "1,1,choose,Which holds more?,1,Ada,0,yes," in download.value.path().read_text("utf-8-sig")
    panel.get_by_role("button", name="Take off the screens").click()
    expect(panel).to_contain_text("No question is on the screens")
    desk.get_by_label("Pause").check()
    wait(student, "window.bubblelineClass?.state.paused")
    desk.get_by_label("Pause").uncheck()


def test_answers_are_counted_schedules_of_two_students_are_shown_side_by_side_and_the_class_is_deleted(
    desk: Page, open_page: Open
) -> None:
    student = join(open_page, desk, "Ada")
    answers_are_counted_at_once_and_shown_when_the_leader_asks_for_them(desk, student)
    looks_around(student, "?family=zb-h1&p=4&m=6")
    builder = looks_around(join(open_page, desk), "build?task=gpipe-from-nothing")
    expect(desk.locator(".grid-view")).to_contain_text(["Page", "ZB-H1", "Board"])
    desk.get_by_label("Select Student 2").check()
    desk.get_by_role("button", name="Show side by side").click()
    expect(desk.locator(".snapshot-bar")).to_contain_text("The board of Student 2 is not finished")
    builder.goto(f"{builder.url.partition('?')[0]}?family=1f1b&p=2&m=2")
    expect(row(desk, "Student 2").locator(".thumb-label")).to_have_text("Board · p 2 · m 2")
    desk.get_by_label("Select Student 1").check()
    desk.get_by_role("button", name="Show side by side").click()
    expect(desk.locator(".snapshots li")).to_contain_text(["A Student 2, B Student 1"])
    wait(student, "window.bubblelineClass?.scene?.query.includes('imported')")
    scene = student.evaluate("bubblelineClass.scene")
    assert scene["page"] == "/"
    assert "Ada" not in scene["query"]
    shown = r"\?family=imported&p=2&m=2&order=\w+&b\.family=zb-h1&b\.p=4&b\.m=6"
    assert re.fullmatch(shown, scene["query"]), scene["query"]

    desk.get_by_role("button", name="Remove Student 2").click()
    desk.get_by_role("dialog").get_by_role("button", name="Remove").click()
    wait(builder, "window.bubblelineClass?.over")
    expect(desk.locator(".grid tbody tr")).to_have_count(1)
    desk.get_by_role("button", name="Delete the class …").click()
    expect(desk.get_by_role("dialog")).to_contain_text("cannot be undone")
    address = desk.url
    desk.get_by_role("dialog").get_by_role("button", name="Delete the class").click()
    expect(desk.get_by_text("The class has been deleted")).to_be_visible()
    wait(student, "window.bubblelineClass?.over")
    assert desk.request.get(address).status == 404
