"""Presenting, on the timeline and in a lesson, and the presenter's window beside it."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.charts.contrast import contrast
from tests.page.app.test_axe import violations
from tests.page.learn.conftest import OpenLesson
from tests.support.page.queries import Open, reload, state, wait

PRESENTING = "document.documentElement.classList.contains('is-presenting')"
SMALL = """[...document.querySelectorAll('main *, .present-strip *')]
  .filter((node) => node.checkVisibility() && node.getClientRects().length)
  .filter((node) => [...node.childNodes].some((child) => child.nodeType === 3 && child.data.trim()))
  .map((node) => [parseFloat(getComputedStyle(node).fontSize) * node.currentCSSZoom, node.textContent])
  .filter(([size]) => size < 24)"""
COLOURS = """['surface', 'plot-idle', 'plot-hatch'].map((token) => {
  const probe = document.body.appendChild(document.createElement('span'));
  probe.style.color = `var(--${token})`;
  const colour = getComputedStyle(probe).color;
  probe.remove();
  return '#' + colour.match(/\\d+/g).map((part) => Number(part).toString(16).padStart(2, '0')).join('');
})"""


def strip(page: Page):
    return page.locator(".present-strip")


def test_p_presents_the_timeline_alone_and_a_clicker_and_the_presenters_window_turn_the_scenes(open_page: Open):
    page = open_page("?family=1f1b&p=8&m=16", forgive="fullscreen")
    page.keyboard.press("p")
    expect(strip(page)).to_contain_text("This view")
    expect(strip(page)).to_contain_text("1 / 13")
    for panel in ("#controls", "#figures", ".top", ".drawer", "#minimap"):
        expect(page.locator(panel)).to_be_hidden()
    assert page.evaluate(SMALL) == []
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        surface, idle, hatch = page.evaluate(COLOURS)
        assert contrast(idle, surface) >= 1.5, theme
        assert contrast(hatch, surface) >= 3, theme
    page.emulate_media(color_scheme="light")
    page.keyboard.press("PageDown")
    wait(page, "bubbleline.state().spec.m === 1")
    expect(strip(page)).to_contain_text("one device works, three wait")
    assert violations(page) == []
    with page.expect_popup() as opened:
        page.keyboard.press("n")
    notes = opened.value
    expect(notes.locator(".is-now")).to_contain_text("Ask before you show it")
    expect(notes.locator(".is-next")).to_contain_text("GPipe fills and drains")
    expect(notes.locator(".is-next .note")).to_be_hidden()
    expect(notes.locator("#presenter-state")).to_be_hidden()
    notes.get_by_role("button", name="Next").click()
    wait(page, "bubbleline.state().spec.m === 4")
    expect(strip(page)).to_contain_text("3 / 13")
    page.keyboard.press("ArrowLeft")
    expect(notes.locator("#presenter-count")).to_have_text("1 / 12")
    assert violations(notes) == []
    reload(page)
    expect(strip(page)).to_contain_text("one device works, three wait")  # it goes on
    page.keyboard.press("Escape")
    expect(page.locator("#controls")).to_be_visible()
    expect(notes.locator("#presenter-state")).to_be_visible()
    notes.close()
    assert state(page)["spec"]["m"] == 1, "the scene stays"


def test_a_lesson_is_presented_block_by_block_from_a_link(open_lesson: OpenLesson):
    page = open_lesson("bubble?present=1", width=1280, height=720)
    expect(strip(page)).to_contain_text("1 / ")
    expect(page.locator("article")).to_be_hidden()
    page.keyboard.press("PageDown")
    question = page.locator("#question-1")
    expect(question).to_be_visible()
    expect(page.locator("#plot")).to_be_visible()
    assert page.evaluate(SMALL) == []
    question.locator("input").fill("27.3")
    question.locator("input").press("Enter")
    expect(question.locator(".said")).to_contain_text("Right.")
    page.keyboard.press("PageDown")
    expect(question).to_be_hidden()
    expect(page.locator("#plot")).to_be_visible()
    reload(page)
    expect(strip(page)).to_contain_text("3 / ")  # it goes on
    page.keyboard.press("p")
    wait(page, f"!({PRESENTING})")
    reload(page)
    assert not page.evaluate(PRESENTING), "it was left"
    expect(page.locator("#lesson-caption")).to_be_visible()


def test_the_page_for_lecturers_checks_a_file_and_copies_the_code_of_a_scene(open_page: Open):
    page = open_page("teach", drawn=False, permissions=["clipboard-read", "clipboard-write"])
    page.locator("#one-at-a-time [data-embed]").click()
    expect(page.locator("#one-at-a-time [data-embed]")).to_have_text("Copied.")
    code = page.evaluate("navigator.clipboard.readText()")
    assert "/embed?family=gpipe&amp;p=4&amp;m=1" in code
    head = "---\ntitle: Ours\nminutes: 3\nsummary: S\n---\n"
    files = {
        "20-ours.md": f"{head}:::{{scene}} ?family=gpipe&p=2&m=2\nA caption.\n:::\n".encode(),
        "21-wrong.md": f"{head}:::{{scen}}\n:::\n".encode(),
        "22-odd.md": b"\xff\xfe",
    }
    given = [{"name": name, "mimeType": "text/markdown", "buffer": text} for name, text in files.items()]
    page.locator("#lesson-check input").set_input_files(given)  # type: ignore[arg-type]
    checked = page.locator(".lesson-checked section")
    expect(checked).to_have_count(3)
    expect(checked.nth(0)).to_contain_text("20-ours.md has no mistake")
    expect(checked.nth(0).locator("svg")).to_have_count(1)
    expect(checked.nth(1)).to_contain_text("line 6 There is no directive scen")
    expect(checked.nth(2)).to_contain_text("This file is not UTF-8 text.")
    page.evaluate("document.querySelectorAll('details').forEach((node) => (node.open = true))")
    assert violations(page) == []
