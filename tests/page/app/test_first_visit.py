"""The first screen and its ways on; the tour; the help."""

from __future__ import annotations

import io
import re

import numpy as np
from PIL import Image
from playwright.sync_api import Page, expect

from backend.lessons.values import Budget
from backend.lessons.views import view_of
from tests.support.page.queries import Open, frames, hold, release, reload, settle, wait

MOVING = "document.querySelector('#transport [aria-label=Pause]') !== null"
FAMILIES = "[bubbleline.state().spec, ...bubbleline.state().others].map((spec) => spec.family).join()"


def first_visit(open_page: Open, query: str = "", **options: object) -> Page:
    return open_page(query, first_visit=True, anew=True, **options)


def test_the_first_screen_is_one_story_whose_figures_follow_its_slider_and_its_price(open_page: Open) -> None:
    page = first_visit(open_page)
    title, waste = page.locator("#story-title"), page.locator("#story-waste")
    expect(title).to_have_text("Your 4 GPUs idle 27 % of the step. Can you do better?")
    expect(waste).to_have_text("The grey costs $65 a day here, and $8,378 a day on 512 such GPUs.")
    for hidden in ("#controls", "#figures", "#drawer", "#transport", ".lane-head", "#run"):
        expect(page.locator(hidden).first).to_be_hidden()
    expect(page.locator("#story-m")).to_be_focused()
    assert not page.evaluate(MOVING), "reduced motion is preferred"
    page.keyboard.press("End")
    expect(title).to_contain_text("idle 4.5 % of the step")
    expect(page.locator("#story-catch")).to_contain_text("of all 64 in memory")
    assert page.evaluate("bubbleline.state().spec.m") == 64
    page.fill("#story-price", "10")
    expect(waste).to_contain_text("costs $43 a day here")
    page.fill("#story-price", "cheap")
    expect(page.locator("#story-price-problem")).to_have_text("The price is a number of dollars from 0 to 1000.")
    expect(waste).to_contain_text("costs $43 a day here")
    assert page.url.endswith("/"), "the address stays short"
    reload(page)
    expect(page.locator("#story-price")).to_have_value("10.00")
    expect(waste).to_contain_text("costs $262 a day here")
    expect(page.locator("#story-fix")).to_have_attribute("href", "/build?task=finish-1f1b")


def test_the_whole_instrument_opens_from_the_story_and_back_returns_to_it(open_page: Open) -> None:
    page = first_visit(open_page)
    page.locator("#story-m").press("ArrowRight")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.click("#story-open")
    wait(page, "location.search === '?family=gpipe&m=9&b.family=1f1b'")
    assert page.evaluate(FAMILIES) == "gpipe,1f1b"
    expect(page.locator("#field-m")).to_have_value("9")
    settle(page)
    assert asked == [], "nothing is loaded, and the server is not needed"
    expect(page.locator("#story-title")).to_be_hidden()
    expect(page.locator(".site [aria-current]")).to_have_text("Explore")
    page.go_back()
    expect(page.locator("#story-title")).to_be_visible()
    expect(page.locator("#controls")).to_be_hidden()
    page.click("#story-tour")
    expect(page.locator("#tour")).to_contain_text("1 of 9")
    expect(page.locator("#controls")).to_be_visible()
    page = first_visit(open_page)
    page.locator("#plot").press("?")
    expect(page.locator("#panel-keys")).to_be_visible()


def test_a_first_visit_plays_unless_the_link_asks_for_something(open_page: Open) -> None:
    page = open_page("?tab=compare", anew=True, reduced_motion="no-preference")
    assert not page.evaluate(MOVING)
    page = first_visit(open_page, reduced_motion="no-preference")  # last: what moves takes time until the end
    wait(page, MOVING)


SHIFTS = """() => {
  const observer = new PerformanceObserver(() => {});
  observer.observe({ type: 'layout-shift', buffered: true });
  return observer.takeRecords().reduce((sum, { value }) => sum + value, 0);
}"""
STYLED = "[...document.querySelectorAll('link[rel=stylesheet]')].every(({ sheet }) => sheet)"
TEXTS = "[...document.querySelectorAll('.story-part')].map((part) => part.textContent)"


def test_the_first_screen_stands_still_from_its_first_paint_on_at_every_width(open_page: Open) -> None:
    for width, height in ((390, 844), (768, 1024), (1024, 768), (1440, 900)):
        page = open_page("", first_visit=True, anew=True, width=width, height=height)
        settle(page)
        assert page.evaluate(SHIFTS) < 0.05, width
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        slider, plot = page.locator("#story-m").bounding_box(), page.locator("#plot").bounding_box()
        assert slider
        assert plot
        assert slider["y"] < plot["y"]
        assert plot["y"] + plot["height"] < height, "slider and picture are on the first screen"
        assert plot["width"] == width
    sent = page.request.get(page.url).text()
    for text in re.findall(r"<(?:span|strong|p|a|button) data-t[^>]* id=\"story-\w+\"[^>]*>([^<]+)<", sent):
        assert text in "".join(page.evaluate(TEXTS)), "the script says what the server has written"


def test_a_link_shows_its_schedules_before_the_script_is_there_and_nothing_moves_when_it_is(open_page: Open) -> None:
    for width, height in ((390, 844), (1440, 900)):
        page = open_page("readyz", drawn=False, width=width, height=height)
        scripts = hold(page, "**/*.js")
        page.goto(page.url.removesuffix("readyz") + "?family=gpipe&b.family=1f1b&c.family=zb-h1", wait_until="commit")
        expect(page.locator(".first-picture strong")).to_have_text(["A · GPipe", "B · 1F1B", "C · ZB-H1"])
        wait(page, STYLED)
        drawn = [each.bounding_box() for each in page.locator(".pic-lane").all()]
        release(page, scripts)
        wait(page, "window.bubbleline && bubbleline.samples.firstPaint() > 0")
        expect(page.locator(".first-picture")).to_have_count(0)
        settle(page)
        assert page.evaluate(SHIFTS) < 0.05, width
        for box, lane in zip(drawn, "abc", strict=True):
            row = page.evaluate(f"bubbleline.point('{lane}', 0, 0)")
            assert box
            assert abs(box["x"] - row["x"]) < 2
            assert box["y"] < row["y"] < box["y"] + box["height"] / 4, "the first of four rows"


def test_bubbles_are_as_strong_ahead_of_the_playhead_as_behind_it(open_page: Open) -> None:
    page = open_page("?family=gpipe&p=4&m=8&mem=0&at=12", height=600)
    grounds = set()
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        frames(page)
        settle(page)
        grounds.add(page.evaluate("getComputedStyle(document.documentElement).backgroundColor"))
        shot = np.asarray(Image.open(io.BytesIO(page.screenshot())).convert("RGB"), dtype=float)
        spots = [page.evaluate(f"bubbleline.point('a', 0, {time})") for time in (10, 15)]  # device 0 waits from 8 to 17
        behind, ahead = (shot[round(y) - 6 : round(y) + 6, round(x) - 6 : round(x) + 6].mean(axis=(0, 1))
                         for x, y in ((spot["x"], spot["y"]) for spot in spots))  # fmt: skip
        assert np.abs(behind - ahead).max() < 6, theme
    assert len(grounds) == 2


def test_the_tour_goes_through_its_views_by_keys_with_computed_figures_and_gives_the_view_back(open_page: Open) -> None:
    page = open_page("?family=zb-h1&p=6&m=12&theme=dark")
    page.keyboard.press("?")
    page.locator("#tour-start").press("Enter")
    card = page.locator("#tour")
    expect(card).to_contain_text("1 of 9")
    seen = []
    for step in range(1, 10):
        expect(page.locator(".tour-count")).to_have_text(f"{step} of 9")
        wait(page, "/^[^{}–]+$/.test(document.querySelector('#tour p').textContent)")
        seen.append(page.locator("#tour p").inner_text())
        if step < 9:
            page.locator("#tour-next").press("Enter")
    assert len(set(seen)) == 9
    assert "42.9 %" in seen[1], "(4 - 1) / (4 + 4 - 1)"
    assert "15.8 %" in seen[2]
    assert "rise to 16" in seen[2]
    assert "stay at 4 instead of 16" in seen[3]
    assert "8.6 % instead of 15.8 %" in seen[4]
    assert page.evaluate("bubbleline.state().view.theme") == "dark"
    page.locator("#tour-back").click()
    expect(page.locator(".tour-count")).to_have_text("8 of 9")
    page.keyboard.press("Escape")
    expect(card).to_be_hidden()
    wait(page, "location.search.includes('family=zb-h1&p=6&m=12')")
    expect(page.locator(".tour-marked")).to_have_count(0)


def test_the_help_names_lessons_terms_papers_with_their_doi_and_shortcuts(open_page: Open) -> None:
    page = open_page("")
    expect(page.locator(".site").get_by_role("link", name="Learn")).to_have_attribute("href", "/learn")
    page.click("#help")
    expect(page.locator("#help-learn")).to_have_attribute("href", "/learn")
    panel = page.locator("#panel-keys")
    expect(panel.locator("dt").filter(has_text=re.compile("^Bubble$"))).to_be_visible()
    link = panel.get_by_role("link", name="GPipe: Efficient Training of Giant Neural Networks using Pipeline").first
    expect(link).to_have_attribute("href", "https://doi.org/10.48550/arXiv.1811.06965")
    expect(panel).to_contain_text("doi:10.48550/arXiv.1811.06965")
    expect(panel.locator("kbd").first).to_be_attached()
    views = panel.locator("a.glossary-view").evaluate_all("links => links.map((link) => link.getAttribute('href'))")
    assert len(views) > 10
    for view in views:
        assert view_of(view, Budget()), view
