"""Zoom and pan the timeline by wheel and drag; measure frame times and the memory of the tab."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page

# The time between two frames as the browser shows them, while it is watching.
WATCH = """() => {
  const seen = [];
  let last = 0;
  window.watched = seen;
  window.watching = true;
  const look = (now) => {
    if (last) seen.push(now - last);
    last = now;
    if (window.watching) requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}"""


@dataclass(frozen=True)
class Frames:
    """Times in ms: from frame to frame during a gesture; of script in the frames that drew ops; and of the tab's
    processor per such frame, including painting and the frames between, which a busy machine lengthens least.
    """

    between: list[float]
    drawing: list[float]
    processor: float


def _tab(browser: Browser) -> dict[str, Any]:
    """The process of the tab: the renderer process with the most processor time."""
    processes = browser.new_browser_cdp_session().send("SystemInfo.getProcessInfo")["processInfo"]
    found: dict[str, Any] = max(
        (each for each in processes if each["type"] == "renderer"), key=lambda each: each["cpuTime"]
    )
    return found


@contextmanager
def _watching(page: Page) -> Iterator[list[Frames]]:
    """Record frames during the body; the list contains them afterwards."""
    browser = page.context.browser
    assert browser is not None
    page.evaluate("bubbleline.samples.draws()")
    found: list[Frames] = []
    before = _tab(browser)["cpuTime"]
    page.evaluate(WATCH)
    yield found
    page.wait_for_timeout(60)
    page.evaluate("window.watching = false")
    drawing = page.evaluate("bubbleline.samples.draws()")
    spent = 1e3 * (_tab(browser)["cpuTime"] - before)
    found.append(Frames(page.evaluate("window.watched"), drawing, spent / max(1, len(drawing))))


def _middle(page: Page) -> tuple[float, float]:
    box = page.locator("#plot").bounding_box()
    assert box is not None
    return box["x"] + box["width"] * 0.4, box["y"] + box["height"] * 0.5


def zoom(page: Page, steps: int = 45) -> Frames:
    """Zoom in and out again with Ctrl and the wheel."""
    page.mouse.move(*_middle(page))
    page.wait_for_timeout(300)
    with _watching(page) as found:
        page.keyboard.down("Control")
        for way in (-1, 1):
            for _ in range(steps):
                page.mouse.wheel(0, 110 * way)
                page.wait_for_timeout(12)
        page.keyboard.up("Control")
    return found[0]


def pan(page: Page, part: float, moves: int = 150) -> Frames:
    """Drag a window of this fraction of the whole to and fro."""
    page.focus("#plot")
    page.keyboard.press("f")
    x, y = _middle(page)
    page.mouse.move(x, y)
    page.keyboard.down("Control")
    page.mouse.wheel(0, math.log(part) / 0.0022)  # the page zooms by exp(0.0022 a pixel)
    page.keyboard.up("Control")
    page.wait_for_timeout(500)
    with _watching(page) as found:
        page.mouse.down()
        for k in range(moves):
            page.mouse.move(x + 320 * math.sin(k / 12), y)
            page.wait_for_timeout(8)
        page.mouse.up()
    return found[0]


@dataclass(frozen=True)
class Memory:
    """Megabytes of one tab: objects and arrays of its scripts; private memory of its process, and with libraries."""

    script: float
    own: float
    resident: float


def memory(browser: Browser, page: Page) -> Memory:
    """Measure memory after a garbage collection."""
    tab = page.context.new_cdp_session(page)
    tab.send("HeapProfiler.collectGarbage")
    tab.send("Performance.enable")
    metrics = {each["name"]: each["value"] for each in tab.send("Performance.getMetrics")["metrics"]}
    arrays = page.evaluate("performance.memory ? performance.memory.usedJSHeapSize : 0")
    status = Path(f"/proc/{_tab(browser)['id']}/status").read_text()
    rows = {line.split(":")[0]: line.split()[1] for line in status.splitlines() if line.endswith("kB")}
    script = max(metrics["JSHeapUsedSize"], arrays)
    return Memory(script / 1e6, int(rows["RssAnon"]) / 1e3, int(rows["VmRSS"]) / 1e3)
