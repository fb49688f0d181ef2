"""A browser for tests of the page, and what they ask of it. One browser a module (it leaves no event loop behind for
other tests), a fresh context a test.

Every page that a test opens is held to two things when the test ends: nothing in its console, and no request that left
this machine.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any
from weakref import WeakKeyDictionary

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, ViewportSize, sync_playwright

from tests.conftest import Server, launch

CHROMIUM = os.environ.get("BUBBLELINE_CHROMIUM") or shutil.which("chromium") or "/usr/bin/chromium"
ARGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
        "--disable-background-networking", "--disable-component-update"]  # fmt: skip

Open = Callable[..., Page]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGS)
        yield started
        started.close()


@pytest.fixture(scope="module")
def live_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with the real runner behind it."""
    made = launch(tmp_path_factory.mktemp("live"), BUBBLELINE_RUNNER=f"{sys.executable} -m runner")
    yield made
    made.stop()
    assert made.process.stdout is not None
    made.process.stdout.close()


@pytest.fixture
def open_page(browser: Browser, server: Server) -> Iterator[Open]:
    """Open a view: open_page("?family=gpipe", width=1280, ...) waits until the schedule is on the screen.

    A page that a test is done with serves the next one that wants the same kind of page: a new window costs the
    browser a second of work. ``fresh=True`` is for tests that leave something behind in it.
    """
    opened: list[tuple[Page, str | None, ViewportSize, list[tuple[Any, Any]]]] = []
    complaints: list[str] = []

    def open_view(
        query: str = "",
        url: str | None = None,
        drawn: bool = True,
        forgive: str = "",
        fresh: bool = False,
        **options: Any,
    ) -> Page:
        options["viewport"] = {"width": options.pop("width", 1280), "height": options.pop("height", 800)}
        options.setdefault("reduced_motion", "reduce")
        kind = None if fresh else repr(sorted(options.items()))
        page = free_page(browser, kind, options)
        page.set_default_timeout(8000)
        heard: list[tuple[Any, Any]] = [
            ("console", lambda message: complaints.extend(complaint_of(message, forgive))),
            ("pageerror", lambda error: complaints.append(str(error))),
            ("request", lambda request: complaints.extend(strayed(request))),
        ]
        for event, hear in heard:
            page.on(event, hear)
        opened.append((page, kind, options["viewport"], heard))
        page.goto(f"{url or server.url}/{query}")
        if drawn:
            wait(page, "window.bubbleline && bubbleline.samples.firstPaint() > 0")
        return page

    yield open_view
    for page, kind, size, heard in opened:
        give_back(browser, page, kind, size, heard)
    assert complaints == []


POOLS: WeakKeyDictionary[Browser, dict[str, list[Page]]] = WeakKeyDictionary()  # by kind of page


def free_page(browser: Browser, kind: str | None, options: dict[str, Any]) -> Page:
    """A page that nobody uses, of a context with these options."""
    free = POOLS.setdefault(browser, {}).setdefault(kind, []) if kind is not None else []
    return free.pop() if free else browser.new_context(**options).new_page()


def give_back(browser: Browser, page: Page, kind: str | None, size: ViewportSize, heard: list[tuple[Any, Any]]) -> None:
    """Leave the page empty for the next test; one that has no next is closed."""
    if kind is None or page.is_closed():
        page.context.close()
        return
    for event, hear in heard:
        page.remove_listener(event, hear)
    for other in page.context.pages:
        if other is not page:
            other.close()
    page.unroute_all()
    page.goto("about:blank")
    page.set_viewport_size(size)
    POOLS[browser][kind].append(page)


def complaint_of(message: ConsoleMessage, forgive: str) -> list[str]:
    """Errors and warnings, but for what the test brings about itself."""
    if message.type not in ("error", "warning") or (forgive and forgive in message.text):
        return []
    return [f"console: {message.text}"]


def strayed(request: Request) -> list[str]:
    here = ("http://127.0.0.1:", "ws://127.0.0.1:", "data:", "blob:")
    return [] if request.url.startswith(here) else [f"asked for {request.url}"]


def wait(page: Page, expression: str, seconds: float = 8.0) -> Any:
    """Wait until an expression holds in the page (its policy forbids Playwright's own way, which needs eval)."""
    end = time.monotonic() + seconds
    while True:
        value = page.evaluate(expression)
        if value:
            return value
        assert time.monotonic() < end, f"not within {seconds} s: {expression}; {page.evaluate('document.title')}"
        page.wait_for_timeout(20)


def wait_url(page: Page, part: str) -> str:
    """The address once it says this; it is written when a drag rests."""
    for _ in range(100):
        if part in page.url:
            break
        page.wait_for_timeout(20)
    return page.url


def state(page: Page) -> dict[str, Any]:
    """What the page shows, as data."""
    found: dict[str, Any] = page.evaluate("bubbleline.state()")
    return found


def middle(page: Page, lane: str, op: str) -> tuple[float, float]:
    """Where an op stands on the screen."""
    box = page.evaluate(f"bubbleline.box('{lane}', '{op}')")
    assert box, f"{op} is not on the screen"
    return box["x"] + box["w"] / 2, box["y"] + box["h"] / 2


def figure(page: Page, name: str) -> str:
    """The text of a figure in the right column, by the first words of its row."""
    return page.locator(f"#figures tr:has(th:text('{name}')) td").first.inner_text()


def pixel(page: Page, x: float, y: float) -> tuple[int, int, int]:
    """The colour that the timeline's canvas has at a place of the page."""
    found = page.evaluate(
        """([x, y]) => {
          const canvas = document.querySelector('#plot canvas');
          const box = canvas.getBoundingClientRect();
          const scale = canvas.width / box.width;
          const copy = new OffscreenCanvas(1, 1).getContext('2d', {willReadFrequently: true});
          copy.drawImage(canvas, -Math.floor((x - box.left) * scale), -Math.floor((y - box.top) * scale));
          return [...copy.getImageData(0, 0, 1, 1).data];
        }""",
        [x, y],
    )
    return found[0], found[1], found[2]
