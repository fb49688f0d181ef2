"""Take pictures of each role's path through the page, to be looked at: three widths, both themes, both languages.

`python -m tests.support.page.screenshots FOLDER [PART]` writes FOLDER/ROLE-STEP-WIDTH-THEME-LANGUAGE.png, of all
steps or of those whose name contains PART.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from tests.conftest import launch
from tests.support.page.browser import launch_browser
from tests.support.page.queries import COUNT_PENDING, settle, wait

WIDTHS = {1920: 1080, 1440: 900, 390: 844}
THEMES, LANGUAGES = ("light", "dark"), ("en", "zh")
MODEL = "family=1f1b&p=8&m=32&m.model=llama3-70b&m.machine=h100&m.tp=8&m.data=8&m.zero=1"


def nothing(page: Page) -> None:
    """Leave the page as its link opens it."""


def click(*selectors: str) -> Callable[[Page], None]:
    """Return what clicks on one thing after another."""

    def act(page: Page) -> None:
        for selector in selectors:
            page.click(selector)
            settle(page)

    return act


STEPS: dict[str, tuple[str, Callable[[Page], None]]] = {
    "student-first-visit": ("?", nothing),
    "student-tour": ("?", click("#story-tour", "#tour-next", "#tour-next", "#tour-next")),
    "student-why-idle": ("?family=1f1b&p=4&m=8&at=6&story=ranks", nothing),
    "student-help": ("?family=1f1b&tab=keys", nothing),
    "lecturer-four-schedules": ("?family=gpipe&p=4&m=8&b.family=1f1b&c.family=zb-h1&d.family=v-half", nothing),
    "lecturer-share": ("?family=gpipe&b.family=1f1b", click("#share")),
    "lecturer-cube": ("?family=1f1b&p=4&m=8&tab=charts&chart=cube", nothing),
    "engineer-plan": (f"?{MODEL}&tab=costs", nothing),
    "engineer-compare": (f"?{MODEL}&tab=compare", nothing),
    "engineer-pareto": (f"?{MODEL}&tab=charts&chart=pareto", nothing),
    "engineer-run": ("?family=zb-h1&p=4&m=8&tab=run", nothing),
}


def shoot(browser: Browser, url: str, folder: Path, part: str) -> None:
    """Take every picture whose step has `part` in its name."""
    for width, height in WIDTHS.items():
        phone = {"is_mobile": True, "has_touch": True} if width < 600 else {}
        context = browser.new_context(viewport={"width": width, "height": height}, reduced_motion="reduce", **phone)
        context.add_init_script(COUNT_PENDING)
        for name, (query, act) in STEPS.items():
            for theme in THEMES if part in name else ():
                for language in LANGUAGES:
                    page = context.new_page()
                    page.goto(f"{url}/{query}&theme={theme}&lang={language}")
                    wait(page, "window.bubbleline && bubbleline.samples.firstPaint() > 0")
                    settle(page)
                    act(page)
                    page.screenshot(path=folder / f"{name}-{width}-{theme}-{language}.png")
                    page.close()
        context.close()


def main(folder: str, part: str = "") -> None:
    """Start a server and a browser, and take the pictures."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as data, sync_playwright() as playwright:
        server = launch(Path(data))
        try:
            shoot(launch_browser(playwright), server.url, Path(folder), part)
        finally:
            server.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
