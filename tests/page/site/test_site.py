"""The site without a server: its files, and its pages opened from the disk."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from click.testing import CliRunner
from playwright.sync_api import Browser, Page, expect

from app import cli
from backend.lessons.shelf import Shelf
from tests.support import PATIENCE_S
from tests.support.page.queries import wait
from tests.support.page.site import site_of

REFERENCE = re.compile(r'(?:href|src)="([^"#]+)')
CONSTRUCTED = [
    "gpipe",
    "pipedream",
    "interleaved",
    "zb-h2",
    "v-half",
    "v-zb",
    "chimera",
    "dualpipe",
    "dualpipev",
    "gis-h",
]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("disk") / "site"
    done = CliRunner().invoke(cli, ["site", str(folder)])
    assert done.exit_code == 0, done.output
    assert f"{folder}: 42 files" in done.output
    return folder


def test_a_folder_that_cannot_be_written_is_named() -> None:
    done = CliRunner().invoke(cli, ["site", "/dev/null"])
    assert done.exit_code == 1
    assert done.output == "Error: Could not open file '/dev/null': File exists\n"


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page that complains of every error, and of every request that is not for a file."""
    made = browser.new_page(viewport={"width": 1280, "height": 800})
    made.set_default_timeout(1000 * PATIENCE_S)
    complaints: list[str] = []
    made.on("console", lambda said: complaints.append(said.text) if said.type in ("error", "warning") else None)
    made.on("pageerror", lambda error: complaints.append(str(error)))
    made.on(
        "request",
        lambda asked: None if asked.url.startswith(("file:", "data:", "blob:")) else complaints.append(asked.url),
    )
    yield made
    made.close()
    assert complaints == []


def test_it_is_small_and_every_address_in_it_is_one_of_its_files(site: Path) -> None:
    files = {path for path in site.rglob("*") if path.is_file()}
    assert sum(path.stat().st_size for path in files) < 2_100_000  # 15 lessons in two languages
    for path in files:
        if path.suffix == ".html":
            for address in set(REFERENCE.findall(path.read_text())):
                found = urlsplit(address.replace("&amp;", "&"))
                there = path if not found.path else path.parent / unquote(found.path)
                assert found.scheme or there.resolve() in files, f"{path.name}: {address}"


def test_links_show_their_schedules_which_sliders_and_choices_change_as_on_the_served_page(
    site: Path, page: Page
) -> None:
    page.goto(f"file://{site}/index.html?family=zb-h1&p=4&m=8&b.family=1f1b")
    wait(page, "window.bubbleline?.state().lanes?.length === 2")
    page.locator("#field-p").fill("6")
    page.keyboard.press("Enter")
    wait(page, "bubbleline.state().spec.p === 6 && location.search.includes('p=6')")
    for family in CONSTRUCTED:
        page.evaluate(
            "(query) => { history.pushState(null, '', query); dispatchEvent(new PopStateEvent('popstate')); }",
            f"?family={family}&p=4&m=8",
        )  # as a step back does
        wait(page, f"(({{ shown, stale }}) => shown?.family === '{family}' && !stale)(bubbleline.state().plans[0])")
        assert [plan["error"] for plan in page.evaluate("bubbleline.state().plans")] == [None]
    page.click("#share")
    expect(page.locator("#share-link, [id^=share] input").first).to_have_value(
        re.compile(rf"^file://{site}/index.html\?")
    )


def test_what_needs_a_server_says_so(site: Path, page: Page) -> None:
    told = "This needs a server, which these files are without: start one with uvx bubbleline."
    page.goto(f"file://{site}/index.html?family=zb-auto&p=4&m=8")
    expect(page.locator(".plot-state")).to_contain_text(told)
    expect(page.locator("#search")).to_be_hidden()
    page.goto(f"file://{site}/index.html?family=1f1b&p=4&m=8&m.model=llama3-70b&b.family=zb-auto&tab=charts")
    expect(page.locator("#panel-charts")).to_contain_text(told)  # and covers no tab
    for tab in ("compare", "plan", "block", "costs"):
        page.click(f"#tab-{tab}")
        expect(page.locator(f"#panel-{tab}")).to_have_text(told)
    page.click("#tab-run")
    expect(page.locator("#panel-run")).to_contain_text("start one with uvx 'bubbleline[run]'")
    page.click("#tab-export")
    expect(page.locator("#panel-export")).to_contain_text(told)
    page.click("#pricing > summary")
    expect(page.locator("#pricing > .note")).to_have_text(told)
    expect(page.locator("#other-problem")).to_have_text(f"ZB-auto: {told}")
    expect(page.locator("#run, .problem:visible, .bad:visible")).to_be_hidden()


def test_it_works_below_a_path_of_a_web_server_and_on_a_phone(site: Path, browser: Browser) -> None:
    with site_of(site.parent) as address:
        page = browser.new_page(viewport={"width": 390, "height": 844})
        page.set_default_timeout(1000 * PATIENCE_S)
        answers: dict[str, int] = {}
        page.on("response", lambda answer: answers.update({answer.url: answer.status}))
        page.goto(f"{address}/{site.name}/index.html?family=v-half&p=4&m=8&tab=run")
        wait(page, "window.bubbleline?.samples.firstPaint() > 0")
        assert page.evaluate("document.documentElement.scrollWidth") == 390
        page.get_by_role("link", name="Learn").first.click()
        page.get_by_role("link", name="1F1B", exact=False).first.click()
        expect(page.locator("bubble-line").first).to_be_visible()
        page.get_by_role("link", name="Build").first.click()
        expect(page.get_by_text("Finish this 1F1B").first).to_be_visible()
        page.close()
    assert set(answers.values()) <= {200, 304}, answers
    assert all(each.startswith((f"{address}/{site.name}/", "data:")) for each in answers), answers


def test_a_lesson_judges_answers_and_leads_to_the_timeline(site: Path, page: Page) -> None:
    page.goto(f"file://{site}/learn/index.html")
    page.get_by_role("link", name="Offload, activations in host memory").click()
    expect(page.locator("bubble-line").first).to_be_visible()
    question = page.locator("form.question", has=page.locator("input[type=radio]")).first
    question.locator("input").first.check()
    question.get_by_role("button").first.click()
    expect(question.locator(".verdict")).to_have_text(re.compile(r"^(Right|Not yet)\."))
    page.get_by_role("link", name="Open it on the timeline").first.click()
    wait(page, "window.bubbleline?.samples.firstPaint() > 0")
    assert "offload" in page.url


def test_the_chinese_page_leads_to_the_chinese_lessons(site: Path, page: Page) -> None:
    page.goto(f"file://{site}/index.html?family=1f1b&p=4&m=8&lang=zh")
    wait(page, "window.bubbleline?.samples.firstPaint() > 0")
    page.locator(".site nav a").nth(1).click()
    expect(page.locator("html")).to_have_attribute("lang", "zh-Hans")
    expect(page.locator(".lesson-list li")).to_have_count(sum(file.language == "zh" for file in Shelf().files()))


def test_the_workbench_opens_on_a_task_and_places_an_op(site: Path, page: Page) -> None:
    page.goto(f"file://{site}/build.html")
    expect(page.get_by_text("Finish this 1F1B").first).to_be_visible()
    page.click("#bench-place")
    expect(page.locator("#plot-said")).not_to_be_empty()
