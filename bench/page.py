"""Measure the page in headless Chromium with software rendering, by real mouse and key events.

    python bench/page.py [--family interleaved-zb] [-p 16] [-m 128] [-v 4]

Prints: input event to painted frame while sliders move, beside the floor, a page that only fills a canvas; the same
where options shape the order by its costs; the size of the scripts; request to first paint of 131,072 ops; the first
screen on a slow line; frames while a million ops are zoomed and panned, alone, with memory strips and as two schedules
of half a million; the memory of that tab; and the end of an op on a worker to its span on the screen during a run.
Figures of other viewers are printed beside them.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.browser.floor import open_floor
from bench.browser.frames import Frames, memory, pan, zoom
from bench.browser.opened import drawn, quantiles, query, server
from bench.browser.sliders import collect, drag, press
from bench.browser.slow_line import print_first_screen
from tests.support.page.browser import launch_browser

FRAME_MS = 1000 / 60
OVER_FLOOR_MS = 8.0  # limit of the 95th percentile over the floor's, where the page times the order by itself
ASKING_OVER_FLOOR_MS = 16.0  # and where options shape the order by its costs
FIRST_PAINT_MS = 500.0  # limit for 131,072 ops
MILLION_MS = 700.0  # limit for a million ops
SCRIPT_KB = 250.0  # limit of the scripts that come before the first paint, compressed
TAB_MB = 300.0  # limit for a tab with a million ops
ON_SCREEN_MS = 150.0  # limit from the end of an op on its worker to its span on the screen
WIDE, HIGH = 2144, 860  # a window whose plot is 1600 x 640 or a little more

SVG_VIEWER = "an SVG viewer of schedules: 8,192 ops in 36,000 ms, no picture of 16,384 in 500,000 ms"
TRACE_VIEWERS = "viewers of traces: 131,072 slices drawn after 3,800 ms"
FIGURE_SCRIPT = "a figure by matplotlib: 24,576 ops (p 16, m 128, v 4) in 66,000 ms of processor time"

LARGE = {"131,072 ops, 1F1B 64 x 1024": {"family": "1f1b", "p": 64, "m": 1024},
         "131,072 ops, interleaved 32 x 512 x 4": {"family": "interleaved", "p": 32, "m": 512, "v": 4}}  # fmt: skip
WATCHED = {"family": "zb-h1", "p": 2, "m": 24, "tab": "run"}
MILLION = {"family": "interleaved-zb", "p": 64, "m": 1344, "v": 4}
HALVES = {
    "family": "interleaved-zb",
    "p": 32,
    "m": 1344,
    "v": 4,
    "b.family": "interleaved-zb",
    "b.p": 32,
    "b.m": 1344,
    "b.v": 4,
    "b.F": 1.2,
}
ASKING = {
    "cost f, GIS, activations offloaded": ({"family": "gis", "p": 16, "m": 128, "v": 4, "offload": "full"}, "F"),
    "cost f, interleaved, activations offloaded": (
        {"family": "interleaved", "p": 16, "m": 128, "v": 4, "offload": "full"},
        "F",
    ),
    "cost f, output layer sharded": ({"family": "1f1b", "p": 16, "m": 128, "vocabulary": "parallel-1"}, "F"),
}


def row(name: str, samples: list[float], limit: float = FRAME_MS + 0.1, over: str = "") -> str:
    """Print one line: count, median, 95th percentile, worst; ``over`` says what is wrong above the limit."""
    if not samples:
        return f"{name:<44} no events"
    middle, p95, worst = quantiles(samples)
    verdict = "" if p95 <= limit else f"  {over or f'over {limit:.1f}'}"
    return f"{name:<44} {len(samples):5d} {middle:8.1f} {p95:8.1f} {worst:8.1f}{verdict}"


def heading(name: str) -> None:
    """Print the heading of a table of rows."""
    print(f"\n{name + ', ms':<44} {'n':>5} {'p50':>8} {'p95':>8} {'max':>8}")


@dataclass(frozen=True)
class Floor:
    """The 95th percentiles, in ms, of a page that does nothing but fill a canvas: for drags and for keys."""

    drags: float
    keys: float


def floor(browser: Browser, like: Page) -> Floor:
    """Measure the floor on a canvas as large as the page's plot."""
    page = open_floor(browser, like)
    drag(page, "m", [0.75, 0.4, 0.55, 0.2, 0.45, 0.32], 16)
    drags = collect(page)
    press(page, "m", "ArrowRight", 40)
    keys = collect(page)
    print(row("floor: a canvas filled, by mouse", drags))
    print(row("floor: a canvas filled, by keys", keys, 2 * FRAME_MS))
    page.context.close()
    return Floor(quantiles(drags)[1], quantiles(keys)[1])


def script_kb(page: Page) -> float:
    """The scripts that a page has loaded, as transferred, in kB."""
    loaded = "performance.getEntriesByType('resource').filter((e) => /[.]js([?]|$)/.test(e.name))"
    return float(sum(page.evaluate(f"{loaded}.map((e) => e.transferSize)"))) / 1000


def sliders(browser: Browser, address: str, spec: dict[str, Any]) -> Floor:
    """Measure the floor, every movement in turn, and all of them together; return the floor."""
    page, first, wall = drawn(browser, address + query(spec), 1600, 900)
    ops = page.evaluate("bubbleline.state().lanes[0].ops")
    print(f"first paint of {ops:,} ops: {first:.0f} ms (by our clock {wall:.0f} ms)")
    print(f"  beside it: {FIGURE_SCRIPT}")
    size = script_kb(page)
    print(f"scripts before the first paint: {size:.0f} kB{'' if size <= SCRIPT_KB else f'  over {SCRIPT_KB:.0f}'}")
    page.wait_for_timeout(1000)
    page.evaluate("bubbleline.samples.clear()")
    heading("input to painted frame")
    least = floor(browser, page)
    drags: list[float] = []
    steps: list[float] = []
    moves = [
        ("m by mouse", lambda: drag(page, "m", [0.75, 0.4, 0.55], 16)),
        ("p by mouse", lambda: drag(page, "p", [0.2, 0.45, 0.32], 16)),
        ("v by keys", lambda: (press(page, "v", "ArrowRight", 3), press(page, "v", "ArrowLeft", 4))),
        ("m by keys", lambda: (press(page, "m", "ArrowRight", 20), press(page, "m", "ArrowLeft", 20))),
        ("cost f by mouse", lambda: drag(page, "F", [0.8, 0.1, 0.25], 16)),
        ("cost w by keys", lambda: press(page, "W", "ArrowRight", 30)),
    ]
    for name, move in moves:
        move()
        samples = collect(page)
        (drags if name.endswith("mouse") else steps).extend(samples)
        print(row(name, samples, (least.drags if name.endswith("mouse") else least.keys) + OVER_FLOOR_MS))
    print(row("all drags", drags, least.drags + OVER_FLOOR_MS))
    print(row("all key steps", steps, least.keys + OVER_FLOOR_MS))
    print("A drag's events come with a frame; a key comes between two, and waits up to 16.7 ms for the next one.")
    page.context.close()
    return least


def asking(browser: Browser, address: str, least: Floor) -> None:
    """Measure sliders of schedules whose options shape the order by its costs."""
    heading("input to painted frame, options shaped by costs")
    for name, (spec, field) in ASKING.items():
        page, _, _ = drawn(browser, address + query(spec), 1600, 900)
        page.wait_for_timeout(1000)
        page.evaluate("bubbleline.samples.clear()")
        drag(page, field, [0.8, 0.1, 0.25], 16)
        print(row(name, collect(page), least.drags + ASKING_OVER_FLOOR_MS))
        page.context.close()


def first_paints(browser: Browser, address: str) -> None:
    """Measure each five times, in a fresh context; the browser's cache is empty."""
    print("\nrequest to first full paint")
    for name, spec in LARGE.items():
        times = []
        for _ in range(5):
            page, first, _ = drawn(browser, address + query(spec), 1600, 900)
            times.append(first)
            page.context.close()
        middle = statistics.median(times)
        verdict = "" if middle <= FIRST_PAINT_MS else f"  over {FIRST_PAINT_MS:.0f}"
        print(f"{name:<44} {middle:7.0f} ms, of 5 from {min(times):.0f} to {max(times):.0f}{verdict}")
    print(f"  beside them: {TRACE_VIEWERS}; {SVG_VIEWER}")


def show(name: str, frames: Frames) -> None:
    """Print both clocks of a movement."""
    print(row(f"{name}, frame to frame", frames.between))
    print(
        f"{row(f'{name}, script of a frame', frames.drawing)}  {frames.processor:.1f} of processor time, paint included"
    )


def frames(page: Page, name: str) -> None:
    """Measure one view, zoomed and panned."""
    page.wait_for_timeout(1500)
    show(f"{name}: zoom", zoom(page))
    for part in (0.5, 0.1):
        show(f"{name}: pan of {part:.0%}", pan(page, part))


def million(browser: Browser, address: str) -> None:
    """Frames and memory at a million ops."""
    page, first, _ = drawn(browser, address + query(MILLION), WIDE, HIGH)
    box = page.locator("#plot").bounding_box()
    assert box is not None
    lanes = page.evaluate("bubbleline.state().lanes.map((lane) => lane.ops)")
    late = "" if first <= MILLION_MS else f"  over {MILLION_MS:.0f}"
    size = f"{box['width']:.0f} x {box['height']:.0f}"
    print(f"\n{sum(lanes):,} ops on a plot of {size}: first paint {first:.0f} ms{late}")
    heading("frames")
    frames(page, "a million")
    held = memory(browser, page)
    page.context.close()
    views: list[tuple[str, dict[str, Any]]] = [("with memory strips", MILLION | {"mem": 1}), ("two halves", HALVES)]
    for name, spec in views:
        page, _, _ = drawn(browser, address + query(spec), WIDE, HIGH)
        frames(page, name)
        page.context.close()
    verdict = "" if held.resident <= TAB_MB else f"  over {TAB_MB:.0f}"
    print(f"\nmemory of the tab with a million ops, zoomed and panned: {held.resident:.0f} MB resident{verdict}")
    print(f"  of them {held.own:.0f} MB its own, the rest the browser's libraries; scripts hold {held.script:.0f} MB")


def runs(browser: Browser, address: str) -> None:
    """Measure three paced runs of two ranks; the first also starts the workers."""
    heading("end of an op on its worker to its span on the screen")
    for name in ("first run", "second run", "third run"):
        page, _, _ = drawn(browser, address + query(WATCHED), 1600, 900)
        page.select_option("#run-mode", "paced")
        page.locator("#run").click(timeout=60_000)
        while not page.evaluate("['finished', 'failed'].includes(bubbleline.state().run)"):
            page.wait_for_timeout(100)
        print(row(name, page.evaluate("bubbleline.samples.ops()"), ON_SCREEN_MS))
        page.context.close()


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--family", default="interleaved-zb")
    for name, value in (("p", 16), ("m", 128), ("v", 4)):
        options.add_argument(f"-{name}", type=int, default=value)
    spec = vars(options.parse_args())
    with server() as address, sync_playwright() as playwright:
        browser = launch_browser(playwright)
        least = sliders(browser, address, spec)
        asking(browser, address, least)
        first_paints(browser, address)
        print_first_screen(browser, address)
        million(browser, address)
        runs(browser, address)
        browser.close()


if __name__ == "__main__":
    main()
