"""A leader's page and students' pages of a class in headless Chromium: whether all show the same, and how soon."""

from __future__ import annotations

import time
from collections.abc import Sequence

from playwright.sync_api import Browser, Error, Page, sync_playwright

from backend.cli.crowd.pages import Opened
from bench.browser.opened import PATIENCE_S
from bench.browser.sliders import drag
from tests.support.page.browser import launch_browser

STUDENTS = 2
VIEW = "/?family=zb-h1&p=4&m=8"
PARTS = (0.3, 0.6, 0.15, 0.45, 0.2, 0.5, 0.35, 0.25)  # of the slider of m, where the leader lets it go
PAUSE_MS = 16
# What is on the screen: the schedule with its figures as the page has timed it, and the playhead.
SHOWN = """() => window.bubbleline && JSON.stringify((({ spec, others, at, plans, lanes }) => [
  spec, others, at?.toFixed(3) ?? null,
  plans.map((each) => [each.stale, each.figures]),
  lanes.map((each) => [each.ops, each.end]),
])(bubbleline.state()))"""


def follow(opened: Opened) -> tuple[list[float], list[str]]:
    """Drag a slider on the leader's page; return the ms from each release until all students' pages show the same as
    the leader's, and what went wrong.
    """
    with sync_playwright() as playwright:
        browser = launch_browser(playwright)
        try:
            leader = _page(browser)
            leader.goto(opened.lead)
            _enter(leader, opened, "leader")
            students = [_joined(browser, opened, f"Browser {k}") for k in range(STUDENTS)]
            leader.goto(opened.url + VIEW)
            took, faults, shown = [], [], {None}
            _wait_for_same(leader, students)  # until all have loaded
            for part in PARTS:
                drag(leader, "m", [1 - part, part], PAUSE_MS)
                ms = _wait_for_same(leader, students)
                if ms is None or _shown(leader) in shown:
                    faults.append(f"the browsers do not show the same, or not another m: {part}")
                else:
                    took.append(ms)
                    shown.add(_shown(leader))
            return took, faults
        finally:
            browser.close()


def _page(browser: Browser) -> Page:
    return browser.new_context(viewport={"width": 1400, "height": 900}, reduced_motion="reduce").new_page()


def _joined(browser: Browser, opened: Opened, name: str) -> Page:
    """A student's page, which has joined by its form and follows."""
    page = _page(browser)
    page.goto(opened.join)
    page.locator("#member-name").fill(name)
    page.locator("#member-form button[type=submit]").first.click()
    page.wait_for_url(lambda url: "/class/" not in url, timeout=1000 * PATIENCE_S)
    return page


def _enter(page: Page, opened: Opened, part: str) -> None:
    """Have this tab be in the class, as the links of its pages do."""
    page.evaluate(
        "([code, part]) => sessionStorage.setItem('bubbleline.class', `${code} ${part}`)", [opened.code, part]
    )


def _wait_for_same(leader: Page, students: Sequence[Page]) -> float | None:
    """Wait until all pages show the same; return after how many ms, None where they do not."""
    begun = time.monotonic()
    while time.monotonic() - begun < PATIENCE_S:
        shown = {_shown(page) for page in (leader, *students)}
        if len(shown) == 1 and None not in shown:
            return (time.monotonic() - begun) * 1000
        time.sleep(0.01)
    return None


def _shown(page: Page) -> str | None:
    try:
        found: str | None = page.evaluate(SHOWN)
    except Error:  # the page goes to another address meanwhile
        return None
    return found
