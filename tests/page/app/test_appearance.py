"""Themes, colours and languages: the menu, their keys in a link, and that every combination is drawn."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.support.page.queries import Open, middle, pixel, settle, state, wait, wait_url


def test_colours_as_in_papers_are_in_the_link_and_on_the_timeline(open_page: Open) -> None:
    page = open_page("?family=zb-h1&p=4&m=8")
    x, y = middle(page, "a", "0F0")
    settle(page)
    standard = pixel(page, x - 12, y)
    page.click("#theme")
    page.locator("#look-colours-paper").check()
    wait(page, "location.search.includes('colours=paper')")
    settle(page)
    assert standard == (0, 114, 178)
    assert pixel(page, x - 12, y) == (47, 90, 168)
    page.keyboard.press("Escape")
    expect(page.locator("#appearance")).to_be_hidden()
    again = open_page(page.url.split("/")[-1])
    assert state(again)["view"]["colours"] == "paper"
    expect(again.locator("#look-colours-paper")).to_be_checked()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_menu_is_driven_by_keys_and_the_theme_stays_in_the_link(open_page: Open, scheme: str) -> None:
    page = open_page("?family=v-half&p=4&m=8", color_scheme=scheme)
    page.locator("#theme").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#look-theme-auto")).to_be_focused()
    page.keyboard.press("ArrowRight")
    wait(page, "bubbleline.state().view.theme === 'light'")
    page.keyboard.press("ArrowRight")
    wait(page, "bubbleline.state().view.theme === 'dark'")
    assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") == "rgb(18, 20, 23)"


def test_the_page_uses_the_language_of_a_link_and_the_menu_changes_it(open_page: Open) -> None:
    page = open_page("?p=4&m=8")
    assert page.evaluate("document.documentElement.lang") == "en"
    page.click("#theme")
    page.locator("#look-lang-zh").click()
    wait(
        page, "document.documentElement?.lang === 'zh-Hans' && window.bubbleline && bubbleline.samples.firstPaint() > 0"
    )
    wait_url(page, "lang=zh")
    expect(page.locator("#theme")).to_have_attribute("aria-label", "外观与语言")


def test_the_page_is_chinese_in_a_chinese_browser(open_page: Open) -> None:
    page = open_page("", locale="zh-CN")
    assert page.evaluate("document.documentElement.lang") == "zh-Hans"
    page = open_page("?lang=en", locale="zh-CN")
    assert page.evaluate("document.documentElement.lang") == "en"
