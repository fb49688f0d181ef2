"""axe finds no violation on any view: every tab, what opens over the page, comparing, a run, both themes, a phone.

The tabs in the light and on a wide screen are in test_chinese.py, which opens them too.
"""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from backend.config import PROJECT
from tests.support.page.queries import Open, frames, settle, wait

pytestmark = pytest.mark.one_document

AXE = PROJECT / "node_modules" / "axe-core" / "axe.min.js"
FULL = "?b.family=zb-h1&area=5-14@2-b.1&marks=2,8.5,9&pin=b.3&crit=1&lane=comm&story=ranks&at=9&micro=3&mem=1"
TABS = [("compare", "#panel-compare tbody tr"), ("charts", "#panel-charts .main-svg"),
        ("plan", "#plan-model:has(option)"), ("block", "#panel-block svg"),
        ("costs", "#panel-costs"), ("run", "#panel-run"),
        ("export", "#panel-export button"), ("keys", "#panel-keys kbd")]  # fmt: skip
PLANNED = "?family=1f1b&p=1&m=2&m.model=cm-9.6b&m.machine=a100&m.tp=8&tab=plan"
GROUND = {"light": "rgb(244, 244, 241)", "dark": "rgb(18, 20, 23)"}
OPENED = ":popover-open, dialog[open]"

LEAST = 24  # px of either side of what a pointer aims at, by WCAG 2.5.8
SMALL = """(least) => [...document.querySelectorAll('button, input, summary, select')].filter((each) => {
  const { width, height } = each.getBoundingClientRect();
  return width > 0 && height > 0 && getComputedStyle(each).visibility !== 'hidden';
}).map((each) => {
  const ticked = ['checkbox', 'radio'].includes(each.type);
  const { width, height } = ((ticked && each.closest('label')) || each).getBoundingClientRect();
  return [each.id || each.className || each.textContent, width, height];
}).filter(([, width, height]) => Math.min(width, height) < least - 0.01)"""


def violations(page: Page, *parts: str) -> list[str]:
    """Each rule that is broken and where, in these parts of the page (by default all of it). What axe would have to
    fetch again (style sheets) no rule here needs.
    """
    if not page.evaluate("'axe' in window"):
        page.evaluate(f"{AXE.read_text()}; 0")
    found: list[str] = page.evaluate(
        """(parts) => {
          const where = parts.length ? { include: parts.map((part) => [part]) } : document;
          return axe.run(where, { preload: false, resultTypes: ['violations'] }).then(({ violations }) =>
            violations.flatMap(({ id, nodes }) => nodes.map(({ target, any, all, none }) => {
              const messages = [...any, ...all, ...none].map(({ message }) => message);
              return `${id} at ${target.join(' ')}: ${messages.join('; ')}`;
            })));
        }""",
        parts,
    )
    return found


def changed(name: str) -> tuple[str, str]:
    """All that a change to this tab changes."""
    return f"#panel-{name}", "[role=tablist]"


def open_tab(page: Page, name: str, there: str) -> None:
    page.click(f"#tab-{name}")
    expect(page.locator(there).first).to_be_visible()  # every family simulated, charts drawn


def looks(page: Page, theme: str, width: int) -> None:
    """Have the page drawn anew in a theme and a width."""
    page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
    page.set_viewport_size({"width": width, "height": 800})
    frames(page)
    settle(page)
    ground = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    assert ground == GROUND[theme]


def test_the_first_screen_passes_in_both_themes_and_on_a_phone(open_page: Open) -> None:
    page = open_page(first_visit=True, anew=True)
    for theme, width in (("light", 1280), ("dark", 1280), ("light", 360)):
        looks(page, theme, width)
        assert violations(page) == [], (theme, width)


def test_dialogs_and_menus_pass(open_page: Open) -> None:
    page = open_page("?family=zb-h1")
    page.click("#family")
    expect(page.locator("#family-list")).to_be_visible()
    assert violations(page, "#controls") == [], "the families"
    page.keyboard.press("Escape")
    for button in ("#theme", "#share"):
        page.click(button)
        expect(page.locator(OPENED)).to_be_visible()
        assert violations(page, OPENED, "header") == [], f"what {button} opens"
        page.keyboard.press("Escape")
    for summary in page.locator("#controls details > summary").all():
        inside = summary.evaluate("node => node.parentElement.parentElement.closest('details:not([open])') !== null")
        if summary.is_visible() and not inside:  # that of a model's layers is not there without a model
            summary.click()
            settle(page)  # what is in there may hide a part of it once its data has come
    page.focus("#plot")
    page.keyboard.press("/")
    page.keyboard.type("9x")
    assert violations(page, "#controls", "#stage") == [], "options, and a find field with a wrong text"
    page.keyboard.press("Escape")
    page.keyboard.press(".")
    expect(page.locator("#card")).to_be_visible()
    page.get_by_role("button", name="Read the schedule as a table").evaluate("node => node.click()")
    assert violations(page) == [], "a selected op's card, and the table"


def test_comparing_with_everything_on_passes_in_both_themes(open_page: Open) -> None:
    page = open_page(FULL)
    expect(page.locator("#area")).to_be_visible()
    for theme in ("light", "dark"):
        looks(page, theme, 1280)
        assert violations(page) == [], theme


def test_training_plans_pass_in_both_themes_and_on_a_phone(open_page: Open) -> None:
    page = open_page(PLANNED)
    page.click("#plan-find")
    for theme, width in (("light", 1280), ("dark", 360)):
        looks(page, theme, width)
        expect(page.locator("#panel-plan .main-svg").first).to_be_visible()
        assert violations(page, *changed("plan")) == [], (theme, width)


def test_every_tab_passes_in_the_dark_on_a_phone_and_its_targets_are_large_enough_to_hit(open_page: Open) -> None:
    query = "?family=zb-auto&p=4&m=8&b.family=1f1b&sel=2F0&theme=dark"
    page = open_page(query, width=360, height=740, has_touch=True, is_mobile=True)
    for name, there in TABS:
        open_tab(page, name, there)
        assert violations(page, *(changed(name) if name != "compare" else ())) == [], name
        page.evaluate("document.querySelectorAll('details').forEach((each) => (each.open = true))")
        settle(page)
        assert page.evaluate(SMALL, LEAST) == [], name
    page.evaluate("document.querySelector('#tab-keys').click()")
    settle(page)
    assert page.evaluate(SMALL, LEAST) == [], "no tab"
    fingers = page.evaluate("[...document.querySelectorAll('#controls select, #controls .check')]"
                            ".filter(e => e.offsetWidth).map(e => e.getBoundingClientRect().height)")  # fmt: skip
    assert len(fingers) > 3
    assert min(fingers) >= 44


def test_a_run_and_a_refused_spec_pass(open_page: Open) -> None:
    page = open_page("?p=2&m=4&tab=run")
    page.click("#run")
    wait(page, "['finished', 'failed'].includes(bubbleline.state().run)")
    assert violations(page) == [], "a run"
    page = open_page("?family=dualpipe&p=3", drawn=False)
    expect(page.locator(".plot-state")).to_contain_text("No such schedule")
    assert violations(page) == [], "a spec that is refused"


def test_an_embed_passes(open_page: Open) -> None:
    page = open_page("embed?family=zb-h1&theme=dark", drawn=False)
    expect(page.locator("#plot canvas").first).to_be_visible()
    wait(page, "!document.querySelector('#stage').classList.contains('is-empty')")
    assert violations(page) == []


def test_the_workbench_passes_in_both_themes_and_on_a_phone(open_page: Open) -> None:
    half = "build?family=imported&p=2&m=3&order=lY2JmVGBiYGZgBgA"
    for query in ("build?family=zb-h1&p=4&m=8&theme=dark", half):
        page = open_page(query, first_visit=True)
        expect(page.locator("#bench-score tbody tr").first).to_be_visible()
        assert violations(page) == [], query
    page.set_viewport_size({"width": 360, "height": 740})
    page.click("#bench-place")
    page.click("#bench-hint")
    assert violations(page) == [], "a phone"


def test_axe_itself_detects_a_violation_in_the_page_and_in_each_part_that_is_checked_alone(open_page: Open) -> None:
    page = open_page("?tab=keys")
    assert violations(page) == []
    for part in ("#tools", "#controls", "#drawer"):
        page.evaluate("""(part) => document.querySelector(part).append(document.createElement('button'))""", part)
        assert any("button-name" in each for each in violations(page, part)), part
        page.evaluate("(part) => document.querySelector(part).lastChild.remove()", part)
    page.evaluate("document.querySelector('#tools button').removeAttribute('aria-label')")
    page.evaluate("document.querySelector('#tools button').removeAttribute('title')")
    assert any("button-name" in each for each in violations(page))
