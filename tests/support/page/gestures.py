"""Gestures on the timeline in tests of the page: positions, drags, and touches on a phone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Page

from tests.support.page.queries import frames, state


def point(page: Page, rank: int, t: float, lane: str = "a") -> tuple[float, float]:
    """The position of a rank's moment on the screen."""
    found = page.evaluate(f"bubbleline.point('{lane}', {rank}, {t})")
    assert found, f"rank {rank} of {lane} is not on the screen"
    return found["x"], found["y"]


def view(page: Page, key: str) -> Any:
    return state(page)["view"][key]


def drag(page: Page, start: tuple[float, float], end: tuple[float, float], key: str | None = None) -> None:
    page.mouse.move(*start)
    if key:
        page.keyboard.down(key)
    page.mouse.down()
    page.mouse.move((start[0] + end[0]) / 2, (start[1] + end[1]) / 2)
    page.mouse.move(*end)
    page.mouse.up()
    if key:
        page.keyboard.up(key)


def total(page: Page, name: str) -> str:
    """A row of the area's panel."""
    return page.locator(f"#area tr:has(th:text-is('{name}')) td").first.inner_text()


class Fingers:
    """Touches by the browser's own input, so that the browser decides what scrolls the page."""

    def __init__(self, page: Page) -> None:
        self.session = page.context.new_cdp_session(page)

    def _send(self, kind: str, *places: tuple[float, float]) -> None:
        points = [{"x": x, "y": y} for x, y in places]
        self.session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    def down(self, *places: tuple[float, float]) -> None:
        self._send("touchStart", *places)

    def move(self, *places: tuple[float, float]) -> None:
        self._send("touchMove", *places)

    def up(self) -> None:
        self._send("touchEnd")


@contextmanager
def phone(page: Page) -> Iterator[Fingers]:
    """Make an open page as small as a phone, with a coarse pointer, until the end of the block; return its fingers."""
    fingers = Fingers(page)
    fingers.session.send("Emulation.setTouchEmulationEnabled", {"enabled": True})
    page.set_viewport_size({"width": 360, "height": 740})
    frames(page)
    yield fingers
    fingers.session.detach()


PHONE: dict[str, Any] = {"width": 360, "height": 740, "has_touch": True, "is_mobile": True}
