"""axe finds no violation on any view: every tab, what opens over the page, comparing, a run, both themes, a phone.

The tabs in the light and on a wide screen, and training plans, are in test_chinese.py, which opens them too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

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
GROUND = {"light": "rgb(244, 244, 241)", "dark": "rgb(18, 20, 23)"}
OPENED = ":popover-open, dialog[open]"
COLOURS = ("color-contrast", "link-in-text-block")  # the rules that depend on the theme

LEAST = 24  # px of either side of what a pointer aims at, by WCAG 2.5.8
SMALL = """(least) => [...document.querySelectorAll('button, input, summary, select')].filter((each) => {
  const { width, height } = each.getBoundingClientRect();
  return width > 0 && height > 0 && getComputedStyle(each).visibility !== 'hidden';
}).map((each) => {
  const ticked = ['checkbox', 'radio'].includes(each.type);
  const { width, height } = ((ticked && each.closest('label')) || each).getBoundingClientRect();
  return [each.id || each.className || each.textContent, width, height];
}).filter(([, width, height]) => Math.min(width, height) < least - 0.01)"""


def violations(page: Page, *parts: str, rules: Sequence[str] = ()) -> list[str]:
    """Each rule that is broken and where, of these rules and in these parts of the page, by default all. What axe would
    have to fetch again (style sheets) no rule here needs.
    """
    if not page.evaluate("'axe' in window"):
        page.evaluate(f"{AXE.read_text()}; 0")
    found: list[str] = page.evaluate(
        """([parts, rules]) => {
          const where = parts.length ? { include: parts.map((part) => [part]) } : document;
          const only = rules.length ? { runOnly: rules } : {};
          return axe.run(where, { preload: false, resultTypes: ['violations'], ...only }).then(({ violations }) =>
            violations.flatMap(({ id, nodes }) => nodes.map(({ target, any, all, none }) => {
              const messages = [...any, ...all, ...none].map(({ message }) => message);
              return `${id} at ${target.join(' ')}: ${messages.join('; ')}`;
            })));
        }""",
        [parts, rules],
    )
    return found


@contextmanager
def all_tabs_shown(page: Page) -> Iterator[None]:
    """Show the tabs that were open one below the other: axe takes about as long for all as for one of them.

    They lengthen the page, so that axe sees the colours of all: not of what is outside of a page that does not scroll.
    """
    page.evaluate("""() => {
      document.body.style.cssText = 'height: auto; overflow: visible';
      document.querySelector('#drawer').style.position = 'static';
      for (const panel of document.querySelectorAll('.panel')) panel.hidden = false;
    }""")
    yield
    page.evaluate("""() => {
      const open = document.querySelector('[role=tab][aria-selected=true]').getAttribute('aria-controls');
      document.body.style.cssText = document.querySelector('#drawer').style.position = '';
      for (const panel of document.querySelectorAll('.panel')) panel.hidden = panel.id !== open;
    }""")


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
    for theme, width, rules in (("light", 1280, ()), ("dark", 1280, COLOURS), ("light", 360, ())):
        looks(page, theme, width)
        assert violations(page, rules=rules) == [], (theme, width)


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
    page.focus("#plot")
    page.keyboard.press(".")
    page.get_by_role("button", name="Read the schedule as a table").evaluate("node => node.click()")
    for opened in ("#card", "#find-status"):
        expect(page.locator(opened)).to_be_visible()
    assert violations(page) == [], "options, a find field with a wrong text, a selected op's card, and the table"


def test_comparing_with_everything_on_passes_in_both_themes(open_page: Open) -> None:
    page = open_page(FULL)
    expect(page.locator("#area")).to_be_visible()
    for theme, rules in (("light", ()), ("dark", COLOURS)):
        looks(page, theme, 1280)
        assert violations(page, rules=rules) == [], theme


def test_every_tab_passes_in_the_dark_on_a_phone_and_its_targets_are_large_enough_to_hit(open_page: Open) -> None:
    query = "?family=zb-auto&p=4&m=8&b.family=1f1b&sel=2F0&theme=dark"
    page = open_page(query, width=360, height=740, has_touch=True, is_mobile=True)
    for name, there in TABS:
        page.click(f"#tab-{name}")
        expect(page.locator(there).first).to_be_visible()  # every family simulated, charts drawn
        page.evaluate("document.querySelectorAll('details').forEach((each) => (each.open = true))")
        settle(page)
        assert page.evaluate(SMALL, LEAST) == [], name
    with all_tabs_shown(page):
        assert violations(page) == []
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
    for query, rules in (("build?family=zb-h1&p=4&m=8&theme=dark", ()), (half, COLOURS)):
        page = open_page(query, first_visit=True)
        expect(page.locator("#bench-score tbody tr").first).to_be_visible()
        assert violations(page, rules=rules) == [], query
    page.set_viewport_size({"width": 360, "height": 740})
    page.click("#bench-place")
    page.click("#bench-hint")
    assert violations(page) == [], "a phone"


PLANT = """(parts) => parts.forEach((part, k) => {
  const button = Object.assign(document.createElement('button'), { id: `button-name-${k}` });
  const pale = Object.assign(document.createElement('p'), { id: `color-contrast-${k}`, textContent: 'pale' });
  pale.style.cssText = 'position: relative; z-index: 9; color: #888; background: #999';
  for (const each of [button, pale]) each.className = 'planted';
  document.querySelector(part).prepend(button, pale);
})"""


def test_axe_itself_detects_violations_in_the_page_and_in_parts_that_are_checked_alone(open_page: Open) -> None:
    page = open_page("?tab=keys")
    assert violations(page) == []
    parts = ("#tools", "#controls", "#panel-keys")
    page.evaluate(PLANT, parts)
    planted = {f"{rule} at #{rule}-{k}" for k in range(len(parts)) for rule in ("button-name", "color-contrast")}
    assert {each.partition(":")[0] for each in violations(page)} == planted
    for k, part in enumerate(parts):
        found = violations(page, part, rules=["button-name"])
        assert [each.partition(":")[0] for each in found] == [f"button-name at #button-name-{k}"]
    assert len(violations(page, rules=COLOURS)) == len(parts)
    page.evaluate("document.querySelectorAll('.planted').forEach((each) => each.remove())")
