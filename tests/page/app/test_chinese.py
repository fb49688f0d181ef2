"""The page in Simplified Chinese: no text on the screen, in a label or in a hint is left in English.

The Node tests (tests/js/i18n) check the texts themselves; this one looks at what is on the screen, where a text that
bypasses the catalogues would show. No font is required.
"""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from backend.charts.catalogue import KINDS
from backend.schedule.families.registry import FAMILIES
from tests.page.app.test_axe import COLOURS, all_tabs_shown, looks, violations
from tests.page.panels.test_chart_kinds import pick, shown
from tests.support.page.queries import Open, settle

pytestmark = pytest.mark.one_document

TEXTS = """() => {
  const found = [];
  const shown = (node) => node.checkVisibility({visibilityProperty: true});
  const walker = document.createTreeWalker(document.documentElement, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (node.nodeType === Node.TEXT_NODE) {
      const home = node.parentElement;
      const skipped = 'head, script, style, noscript, code, textarea, math, body [lang=en]';
      if (!home.closest(skipped) && shown(home)) found.push(node.data);
    } else if (shown(node)) {
      for (const name of ['title', 'aria-label', 'aria-roledescription', 'aria-valuetext', 'placeholder', 'alt']) {
        if (node.hasAttribute(name)) found.push(node.getAttribute(name));
      }
    }
  }
  return found.map((text) => text.trim()).filter(Boolean);
}"""
ENGLISH = re.compile(r"[A-Za-z]{3,}(?:[ ,;:'’-]+[A-Za-z]{3,})+")
"""Two words or more of three letters or more."""
TITLES = sorted((family.title for family in FAMILIES.values()), key=len, reverse=True)
NAMES = [
    *TITLES,
    "Zero Bubble",
    "Controllable Memory",
    "flash attention",
    "Flash attention",
    "torch CSV",
    "torch profiler",
    "torch-csv",
    "zero-bubble",
    "gpipe-lesson",
]
"""Of families, models, methods and programs; the same in every language."""
IDENTIFIERS = re.compile(r"(?:[a-z0-9]+(?:-[a-z0-9]+)*(?:, |、))+[a-z0-9-]+")
"""Lists of a spec's own words, as a link has them: "plain, redistribute"."""


CUT = """() => [...document.querySelectorAll('button, th, h2, h3, label, .lane-head strong, .tabs button')]
  .filter((node) => node.checkVisibility() && node.clientWidth > 1 && !node.classList.contains('visually-hidden'))
  .filter((node) => node.scrollWidth > node.clientWidth + 1 && getComputedStyle(node).overflowX !== 'visible'
    && getComputedStyle(node).textOverflow !== 'ellipsis').map((node) => node.outerHTML.slice(0, 120))"""
"""What does not fit in its place and is cut there."""


def english(page: Page) -> list[str]:
    """The English words left in all texts of the page."""
    left = []
    for text in page.evaluate(TEXTS):
        rest = IDENTIFIERS.sub("", text)
        for name in NAMES:
            rest = rest.replace(name, "")
        if ENGLISH.search(rest):
            left.append(text)
    return left


def test_the_search_for_english_finds_it(open_page: Open) -> None:
    left = english(open_page("?p=2&m=2"))
    assert "Pipeline-parallel schedules, drawn and run" in left
    assert any(text.startswith("Timeline. Up and down") for text in left), "labels are looked at too"
    assert not any(text in ("p", "Bubbleline", "GPipe", "2F0") for text in left)


TABS = [
    ("compare", ".comparison-table tbody tr"),
    ("charts", ".charts-figure svg"),
    ("plan", "#plan-model:has(option)"),
    ("block", ".block-arithmetic"),
    ("costs", "#arithmetic"),
    ("run", "#run-mode"),
    ("export", ".export img"),
    ("keys", ".keys kbd"),
]


def test_every_tab_is_chinese_and_passes_axe(open_page: Open) -> None:
    page = open_page("?lang=zh&family=zb-h1&p=4&m=8&m.model=llama3-70b&m.heads=1&tab=compare", anew=True)
    for tab, there in TABS:
        if tab != "compare":
            page.click(f"#tab-{tab}")
        page.locator(there).first.wait_for()
        assert english(page) == [], tab
    with all_tabs_shown(page):
        assert violations(page) == []


def test_training_plans_are_chinese_and_pass_axe_in_both_themes_and_on_a_phone(open_page: Open) -> None:
    page = open_page("?lang=zh&family=1f1b&p=2&m=4&tab=plan")
    page.select_option("#plan-model", "cm-9.6b")
    assert english(page) == [], "before a search"
    page.click("#plan-find")
    page.locator("#panel-plan .main-svg").first.wait_for()
    assert english(page) == []
    for theme, width, rules in (("light", 1280, ()), ("dark", 360, COLOURS)):
        looks(page, theme, width)
        page.locator("#panel-plan .main-svg").first.wait_for()
        assert violations(page, "#drawer", rules=rules) == [], (theme, width)
    assert page.evaluate(CUT) == []


def test_every_chart_is_chinese(open_page: Open) -> None:
    page = open_page("?lang=zh&family=zb-h1&p=4&m=8&tab=charts&chart=bubble", width=1440, height=900)
    shown(page, "bubble")
    for chart in [*KINDS, "cube"]:
        pick(page, chart)
        assert english(page) == [], chart


def test_schedules_side_by_side_and_their_explanations_are_chinese(open_page: Open) -> None:
    page = open_page(
        "?lang=zh&family=zb-h1&p=4&m=8&comm=0.2&b.family=pipedream&b.p=4&b.m=8&c.family=zb-auto&c.memory=3"
        "&tab=compare&sel=2I3&crit=1&micro=2&lane=comm&story=ranks&at=9.5&marks=3,7&pin=1"
    )
    page.locator(".difference-table tbody tr").nth(2).wait_for()
    expect(page.locator(".card")).to_be_visible()
    page.locator("#plot").focus()
    page.keyboard.press("/")
    page.keyboard.type("2F")
    assert english(page) == []
    page.keyboard.press("Escape")
    page.click("#family")
    assert english(page) == []


def test_options_an_area_and_copies_are_chinese(open_page: Open) -> None:
    page = open_page(
        "?lang=zh&family=interleaved&v=2&p=4&m=8&recompute=selective&offload=full&memory=9&layers=7*2,3&area=4-20@0-2"
    )
    page.locator("#area").wait_for()
    assert page.locator("#options").get_attribute("open") is not None
    assert english(page) == []


def test_a_sharded_output_layer_and_its_barriers_are_chinese(open_page: Open) -> None:
    page = open_page("?lang=zh&family=1f1b&vocabulary=parallel-1&p=4&m=8&sel=2S1")
    page.locator(".card").wait_for()
    assert english(page) == []


@pytest.mark.parametrize(
    "query",
    [
        "?lang=zh&family=no-such&p=4",
        "?lang=zh&p=0&m=x&t0=5&t1=2&marks=a&foo=1&p=3&F=1,q&m.model=a b&theme=red&sel=!",
        "?lang=zh&family=dualpipe&p=3&m=8",
    ],
)
def test_errors_are_chinese(open_page: Open, query: str) -> None:
    page = open_page(query, drawn=False)
    page.locator(".problem:visible").first.wait_for()
    assert english(page) == []


def test_dialogs_and_menus_are_chinese(open_page: Open) -> None:
    page = open_page("?lang=zh&family=zb-h1&p=4&m=8&tab=compare", forgive="status of 400")
    page.click("#theme")
    assert english(page) == []
    page.keyboard.press("Escape")
    page.click("#share")
    for group in page.locator("dialog[open] summary").all():
        group.click()
    assert english(page) == []
    page.keyboard.press("Escape")
    page.locator(".comparison-lead + p button, .comparison button.link").filter(has_text="打开").first.click()
    page.locator("#import-text").fill("2F0,wrong")
    page.click("#import-take")
    page.locator("#import-wrong:not([hidden])").wait_for()
    assert english(page) == []


def test_without_its_server_the_page_is_chinese_too(open_page: Open) -> None:
    page = open_page("?lang=zh&family=zb-auto&p=4&m=8&tab=block", forgive="ERR_", anew=True)
    page.route("**/api/**", lambda route: route.abort())
    page.fill("#field-m", "9")
    page.keyboard.press("Enter")
    page.locator("#banner:not([hidden])").wait_for()
    page.click("#tab-compare")
    page.locator(".comparison .bad").wait_for()
    assert english(page) == []


def test_the_first_screen_is_chinese(open_page: Open) -> None:
    page = open_page("?lang=zh", first_visit=True, anew=True)
    page.fill("#story-price", "x")
    assert english(page) == []


def test_an_embed_is_chinese(open_page: Open) -> None:
    page = open_page("embed?lang=zh&family=zb-h1&p=4&m=8&sel=1F2&story=ranks&at=4")
    assert page.evaluate("document.documentElement.lang") == "zh-Hans"
    assert english(page) == []


def test_nothing_chinese_makes_the_page_wider_than_the_screen(open_page: Open) -> None:
    page = open_page("?lang=zh&family=zb-h1&p=4&m=8&b.family=interleaved&b.v=2&tab=export", width=360, height=740)
    for width, tab in ((360, "export"), (1440, "keys")):
        page.set_viewport_size({"width": width, "height": 740})
        if tab != "export":
            page.click(f"#tab-{tab}")
        settle(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate(CUT) == []
