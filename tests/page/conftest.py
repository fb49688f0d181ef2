"""A browser for tests of the page: one for all of them, closed after the last (it has an event loop, which other tests
must not find running).

Every page that a test opens is held to two things when the test ends: nothing in its console, and no request that left
this machine.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Playwright, Request, ViewportSize, sync_playwright

from tests.conftest import Server, launch
from tests.support.browser import launch_browser
from tests.support.page_queries import COUNT_PENDING, Open, wait


@dataclass(frozen=True)
class Opened:
    """A page that a test has: of which kind (None: of no other's), and what listens to it."""

    page: Page
    kind: str | None
    size: ViewportSize
    heard: list[tuple[Any, Any]]
    own_server: bool


@pytest.fixture(scope="package")
def playwright() -> Iterator[Playwright]:
    """Playwright's own process; a second one in the same thread would be refused."""
    with sync_playwright() as started:
        yield started


@pytest.fixture(scope="package")
def browser(playwright: Playwright) -> Iterator[Browser]:
    """The headless shell, or chromium where there is no shell; test_chromium.py replaces it by chromium."""
    started = launch_browser(playwright)
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
    browser two seconds of work. ``fresh=True`` is for tests that leave something behind in it.
    """
    opened: list[Opened] = []
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
        opened.append(Opened(page, kind, options["viewport"], heard, own_server=url is not None))
        page.goto(f"{url or server.url}/{query}")
        if drawn:
            wait(page, "window.bubbleline && bubbleline.samples.firstPaint() > 0")
        return page

    yield open_view
    for each in opened:
        give_back(browser, each)
    assert complaints == []


POOLS: WeakKeyDictionary[Browser, dict[str, list[Page]]] = WeakKeyDictionary()  # by kind of page


def free_page(browser: Browser, kind: str | None, options: dict[str, Any]) -> Page:
    """A page that nobody uses, of a context with these options."""
    free = POOLS.setdefault(browser, {}).setdefault(kind, []) if kind is not None else []
    if free:
        return free.pop()
    context = browser.new_context(**options)
    context.add_init_script(COUNT_PENDING)
    return context.new_page()


def give_back(browser: Browser, used: Opened) -> None:
    """Leave the page to the next test; one that has no next is closed."""
    page = used.page
    if used.kind is None or page.is_closed():
        page.context.close()
        return
    for event, hear in used.heard:
        page.remove_listener(event, hear)
    for other in page.context.pages:
        if other is not page:
            other.close()
    page.unroute_all()
    page.mouse.up()
    page.mouse.move(0, 0)  # nothing of the next page is under it, and nothing is held down
    for key in ("Alt", "Control", "Shift"):
        page.keyboard.up(key)
    if used.own_server:  # which ends with its test, and the page would ask for it again and again
        page.goto("about:blank")
    if page.viewport_size != used.size:
        page.set_viewport_size(used.size)
    POOLS[browser][used.kind].append(page)


def complaint_of(message: ConsoleMessage, forgive: str) -> list[str]:
    """Errors and warnings, but for what the test brings about itself."""
    if message.type not in ("error", "warning") or (forgive and forgive in message.text):
        return []
    return [f"console: {message.text}"]


def strayed(request: Request) -> list[str]:
    here = ("http://127.0.0.1:", "ws://127.0.0.1:", "data:", "blob:")
    return [] if request.url.startswith(here) else [f"asked for {request.url}"]
