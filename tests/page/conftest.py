"""Fixtures of the page's tests: one browser for all of them, and pages in it.

The browser is closed after the last of these tests, because its event loop must not run beside other tests. When a test
ends, each page that it opened must have written nothing to its console and sent no request to another machine.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

import pytest
from playwright.sync_api import (
    Browser,
    ConsoleMessage,
    Page,
    Playwright,
    ViewportSize,
    expect,
    sync_playwright,
)

from tests.conftest import Server, launch
from tests.support.page.browser import launch_browser
from tests.support.page.bundle import make_bundle
from tests.support.page.other_machines import OtherMachines, other_machines
from tests.support.page.queries import (
    COUNT_PENDING,
    DRAWN,
    FORGET,
    GO,
    PATIENCE_S,
    Open,
    settle,
    wait,
    without_first_visit,
)

expect.set_options(timeout=1000 * PATIENCE_S)

# How many times slower the pages' own work is made: a test that asserts before the page is ready passes at 1 and fails
# at 4. SLOW_PAGES=4 pytest tests/page
SLOWER = float(os.environ.get("SLOW_PAGES", "1"))

# All are to use the processor less. A process of its own for a GPU that is not there costs a tenth of the time of
# loading a page, and several threads that draw, compile or collect garbage cost more than one. A page that comes from a
# blank one would get a process of its own for each document. The code cache is left on: pages are used again.
FRUGAL = (
    "--in-process-gpu",
    "--num-raster-threads=1",
    "--js-flags=--single-threaded",
    "--process-per-site",
)
SIZE: dict[str, Any] = {"width": 1280, "height": 800}
MEDIA = {"color_scheme": "light", "reduced_motion": "reduce", "media": "null"}


@dataclass(frozen=True)
class OpenedPage:
    """A page in use by a test: its kind (None: not to be used again), its listeners, whether its server ends first."""

    page: Page
    kind: str | None
    listeners: list[tuple[Any, Any]]
    fresh: bool
    permitted: bool
    own_server: bool


@pytest.fixture(scope="package", autouse=True)
def bundle() -> None:
    """The bundle of the sources as they are now."""
    make_bundle()


@pytest.fixture(scope="package")
def playwright() -> Iterator[Playwright]:
    """Playwright's own process; a second one in the same thread would be refused."""
    with sync_playwright() as started:
        yield started


@pytest.fixture(scope="package")
def outside() -> Iterator[OtherMachines]:
    """What pages ask of other machines."""
    with other_machines() as served:
        yield served


@pytest.fixture(scope="package")
def browser(playwright: Playwright, outside: OtherMachines) -> Iterator[Browser]:
    """The headless shell, or chromium where there is no shell; test_chromium.py replaces it by chromium."""
    started = launch_browser(playwright, flags=(*FRUGAL, outside.flag))
    yield started
    started.close()


@pytest.fixture(scope="package")
def live_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server with the real runner, whose start takes seconds, for all tests that do not mind each other's runs."""
    with lasting(launch(tmp_path_factory.mktemp("live"), BUBBLELINE_RUNNER=f"{sys.executable} -m runner")) as server:
        yield server


LASTING: set[str] = set()  # addresses of servers that a test shares with the next ones


@contextmanager
def lasting(server: Server) -> Iterator[Server]:
    """Use a server for several tests: pages that one of them leaves there are not left blank, but used again."""
    with server:
        LASTING.add(server.url)
        yield server
        LASTING.remove(server.url)
        for pools in POOLS.values():
            for page in (page for pages in pools.values() for page in pages):
                if page.url.startswith(f"{server.url}/"):
                    page.goto("about:blank")


@pytest.fixture
def open_page(
    browser: Browser, outside: OtherMachines, server: Server, request: pytest.FixtureRequest
) -> Iterator[Open]:
    """Open a view: open_page("?family=gpipe", width=1280, ...) waits until the schedule is drawn.

    A page is used again by the next test that needs the same kind, because the first load in a new one takes half
    as long again. Sizes, colour schemes and permissions are set anew each time. ``fresh=True`` is a browser that has no
    cookies yet and keeps none; ``once=True`` is for no other test, as after ``route_web_socket``, which cannot be taken
    back. In files marked ``one_document`` a page is not even loaded anew: it goes from one test's address to the next
    one's as after a step back, and keeps its scripts, unless ``anew=True``. A query that names no schedule is 1F1B's
    unless ``first_visit=True``. ``forgive`` is a text in the console that the test causes itself.
    The pages of a test that fails are not used again.
    """
    failed = request.session.testsfailed
    document = document_of(request)
    opened: list[OpenedPage] = []
    complaints: list[str] = []

    def open_view(
        query: str = "",
        url: str | None = None,
        drawn: bool = True,
        forgive: str = "",
        fresh: bool = False,
        once: bool = False,
        anew: bool = False,
        first_visit: bool = False,
        **options: Any,
    ) -> Page:
        query = query if first_visit else without_first_visit(query)
        look = {name: options.pop(name, usual) for name, usual in (SIZE | MEDIA).items()}
        permissions: list[str] = options.pop("permissions", [])
        kind = None if once or SLOWER > 1 else repr(sorted(options.items()))
        page = free_page(browser, kind, options)
        set_up(page, look)
        if fresh:
            page.context.clear_cookies()
        if permissions:
            page.context.grant_permissions(permissions)
        listeners = listen(page, complaints, forgive)
        own_server = url not in {None, *LASTING}
        opened.append(OpenedPage(page, kind, listeners, fresh, bool(permissions), own_server))
        address = f"{url or server.url}/{query}"
        if goes_on(page, address, document) and drawn and not (anew or fresh):
            page.evaluate(GO, query)
            settle(page, hurry=True)
        else:
            leave(page, address)
            if drawn:
                wait(page, DRAWN)
        return page

    yield open_view
    for each in opened:
        give_back(browser, each, failed=request.session.testsfailed > failed)
    complaints += (f"asked for {each}" for each in outside.asked)
    outside.asked.clear()
    assert complaints == []


LEFT_BY: WeakKeyDictionary[Page, str | None] = WeakKeyDictionary()  # the document of the last test
POOLS: WeakKeyDictionary[Browser, dict[str, list[Page]]] = WeakKeyDictionary()  # by kind of page


def document_of(request: pytest.FixtureRequest) -> str | None:
    """Return what the mark ``one_document`` names, or else the test's file; None for a test without the mark."""
    mark = request.node.get_closest_marker("one_document")
    if mark is None:
        return None
    name: str = mark.args[0] if mark.args else request.module.__name__
    return name


def goes_on(page: Page, address: str, document: str | None) -> bool:
    """Whether the last test of the page has this document too and left it at this address, but for the query."""
    last, LEFT_BY[page] = LEFT_BY.get(page), document
    here, there = (urlsplit(url)._replace(query="", fragment="") for url in (page.url, address))
    return document is not None and last == document and here == there


def free_page(browser: Browser, kind: str | None, options: dict[str, Any]) -> Page:
    """Return an unused page of a context with these options."""
    free = POOLS.setdefault(browser, {}).setdefault(kind, []) if kind is not None else []
    if free:
        return free.pop()
    context = browser.new_context(reduced_motion="reduce", **options)  # for what it opens, too
    context.add_init_script(COUNT_PENDING)
    page = context.new_page()
    if SLOWER > 1:
        context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
    return page


def set_up(page: Page, look: dict[str, Any]) -> None:
    """Give a page the size and the media features that its test asks for."""
    page.set_default_timeout(1000 * PATIENCE_S)
    page.emulate_media(**{name: look[name] for name in MEDIA})
    size: ViewportSize = {"width": look["width"], "height": look["height"]}
    if page.viewport_size != size:
        page.set_viewport_size(size)


def give_back(browser: Browser, used: OpenedPage, failed: bool) -> None:
    """Make the page ready for the next test of its kind; close it if it must not be used again, as after a test that
    ``failed``: keys and buttons may be down.
    """
    page = used.page
    if failed or used.kind is None or page.is_closed():
        page.context.close()
        return
    for event, listener in used.listeners:
        page.remove_listener(event, listener)
    for other in page.context.pages:
        if other is not page:
            other.close()
    page.unroute_all(behavior="ignoreErrors")
    page.mouse.move(0, 0)  # away from the next page
    if used.fresh:
        page.context.clear_cookies()
    if used.permitted:
        page.context.clear_permissions()
    if used.own_server:  # the server ends with its test, and the page would keep asking for it
        leave(page, "about:blank")
    POOLS[browser][used.kind].append(page)


def leave(page: Page, address: str) -> None:
    """Go to another address; what the page has kept until then is forgotten."""
    if page.url.startswith("http"):
        page.evaluate(FORGET)
    page.goto(address)


def listen(page: Page, complaints: list[str], forgive: str) -> list[tuple[Any, Any]]:
    """Collect what the page complains of; return the listeners by event."""
    listeners: list[tuple[Any, Any]] = [
        ("console", lambda message: complaints.extend(complaint_of(message, forgive))),
        ("pageerror", lambda error: complaints.append(str(error))),
    ]
    for event, listener in listeners:
        page.on(event, listener)
    return listeners


def complaint_of(message: ConsoleMessage, forgive: str) -> list[str]:
    """Return the message as a complaint if it is an error or a warning that the test does not cause itself."""
    if message.type not in ("error", "warning") or (forgive and forgive in message.text):
        return []
    return [f"console: {message.text}"]
