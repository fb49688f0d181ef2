"""A lesson's file, opened from a disk without a network."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from playwright.sync_api import Browser, Page, expect

from backend.cli.lessons import lessons
from tests.lessons.support import SAMPLES
from tests.page.app.test_axe import violations
from tests.support.page.queries import PATIENCE_S, wait


@pytest.fixture
def file_page(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Iterator[Page]:
    """The file of a lesson of the tests, "bubble" unless a test names another; it may send no request."""
    slug = getattr(request, "param", "bubble")
    monkeypatch.setenv("BUBBLELINE_LESSONS", str(SAMPLES))
    target = tmp_path / "lesson.html"
    assert CliRunner().invoke(lessons, ["export", slug, "-o", str(target)]).exit_code == 0
    assert target.stat().st_size < 400_000
    context = browser.new_context(viewport={"width": 900, "height": 700}, reduced_motion="reduce", offline=True)
    page = context.new_page()
    page.set_default_timeout(1000 * PATIENCE_S)
    asked: list[str] = []
    problems: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    page.goto(target.as_uri())
    yield page
    context.close()
    assert asked == [target.as_uri()]
    assert problems == []


def test_its_scenes_are_live_and_its_questions_are_graded_without_a_server(file_page: Page) -> None:
    page = file_page
    assert page.evaluate("document.querySelector('bubble-line').figures.bubble.toFixed(3)") == "0.429"
    left, right = page.evaluate(
        "(({ left, right }) => [left, innerWidth - right])(document.querySelector('article').getBoundingClientRect())"
    )
    assert abs(left - right) < 20, "the text is in the middle of the window"
    page.locator("bubble-line").first.get_by_label("Micro-batches m").press("ArrowRight")
    wait(page, "document.querySelector('bubble-line').figures.bubble < 0.4")
    question = page.locator("#question-1")
    question.locator("input").fill("37.5")
    question.locator("input").press("Enter")
    expect(question.locator(".said")).to_contain_text("37.5 % is the idle time relative to the work")
    question.locator("input").fill("27.3")
    question.locator("input").press("Enter")
    expect(question.locator(".said")).to_contain_text("A device works for 8 forwards")
    wait(page, "document.querySelector('bubble-line').getAttribute('m') === '8'")
    choice = page.locator("#question-2")
    choice.locator("input").first.check()
    choice.get_by_role("button", name="Check").click()
    expect(choice.locator(".said")).to_contain_text("Forwards go the other way")
    expect(page.locator(".chart table")).to_contain_text("GPipe")
    assert violations(page) == []


@pytest.mark.parametrize("file_page", ["order"], indirect=True)
def test_its_sliders_reach_a_goal_and_its_timeline_is_answered_on(file_page: Page) -> None:
    page = file_page
    expect(page.locator(".step img")).to_have_js_property("naturalWidth", 120)
    reach = page.locator("#question-2")
    expect(reach).to_contain_text("Goal: bubble below 28 %, peak memory at most 8")
    slider = reach.locator("bubble-line").get_by_label("Micro-batches m")
    slider.press("ArrowRight")
    reach.get_by_role("button", name="Check").click()
    said = page.locator("#question-2-said")
    expect(said).to_contain_text("With m = 5 that is: bubble 37.5 %, peak memory 5.")
    for _ in range(3):
        slider.press("ArrowRight")
    expect(said).to_contain_text("Three of eleven slots.")
    find = page.locator("#question-4")
    plot = find.locator("bubble-line .plot")
    plot.focus()
    for key in ("ArrowRight", "ArrowDown", "Enter"):
        plot.press(key)
    expect(find.locator(".chosen")).to_have_text("1F0")
    find.get_by_role("button", name="Check").click()
    expect(page.locator("#question-4-said")).to_contain_text("1F0 is not the one.")
