"""How fast the page is: input event to painted frame while sliders move, and the first paint.

    python bench/page.py [--family interleaved-zb] [-p 16] [-m 128] [-v 4]

Starts the server on a free port and headless Chromium (software rendering), and moves real sliders with real mouse and
key events. The page notes for each input event when the frame that shows it was painted. Knows no schedule.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

PROJECT = Path(__file__).resolve().parents[1]
CHROMIUM = os.environ.get("BUBBLELINE_CHROMIUM", "/usr/bin/chromium")
ARGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
        "--disable-background-networking", "--disable-component-update"]  # fmt: skip
FRAME_MS = 16.7


@contextmanager
def server() -> Iterator[str]:
    """A server of its own on a free port; yields its address."""
    with tempfile.TemporaryDirectory() as folder:
        env = os.environ | {"BUBBLELINE_DATABASE": f"{folder}/runs.sqlite3"}
        command = [sys.executable, "app.py", "serve", "--port", "0"]
        process = subprocess.Popen(command, cwd=PROJECT, env=env, text=True, stdout=subprocess.PIPE)
        assert process.stdout is not None
        try:
            found = re.search(r"http://[0-9.:]+", process.stdout.readline())
            assert found, "the server did not say where it is"
            yield found[0]
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=10)


def drag(page: Page, field: str, parts: list[float], pause_ms: float) -> None:
    """Move a slider's thumb with the mouse to these parts of its width, in even steps."""
    box = page.locator(f"#field-{field}-slider").bounding_box()
    assert box is not None
    y = box["y"] + box["height"] / 2
    now = float(page.evaluate(f"(s => s.value / s.max)(document.querySelector('#field-{field}-slider'))"))
    at = box["x"] + 8 + now * (box["width"] - 16)
    page.mouse.move(at, y)
    page.wait_for_timeout(400)  # a hand rests on the thumb before it drags
    page.mouse.down()
    for part in parts:
        goal = box["x"] + 8 + part * (box["width"] - 16)
        for k in range(1, 13):
            page.mouse.move(at + (goal - at) * k / 12, y)
            page.wait_for_timeout(pause_ms)
        at = goal
    page.mouse.up()


def press(page: Page, field: str, key: str, times: int) -> None:
    """Step a slider with an arrow key."""
    page.locator(f"#field-{field}-slider").focus()
    page.wait_for_timeout(400)
    for _ in range(times):
        page.keyboard.press(key)
        page.wait_for_timeout(40)


def collect(page: Page) -> list[float]:
    """The latencies since the last call."""
    page.wait_for_timeout(600)
    found: list[float] = page.evaluate("bubbleline.samples.inputs()")
    page.evaluate("bubbleline.samples.clear()")
    return found


def summary(name: str, samples: list[float]) -> str:
    """One line: how many, median, 95th percentile, worst."""
    ordered = sorted(samples)
    if not ordered:
        return f"{name:<34} no events"
    p95 = ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]
    verdict = "" if p95 <= FRAME_MS else "  over one frame"
    return f"{name:<34} {len(ordered):4d}  {ordered[len(ordered) // 2]:7.1f} {p95:7.1f} {ordered[-1]:7.1f}{verdict}"


def measure(page: Page, address: str, spec: dict[str, Any]) -> None:
    """Every movement in turn, and all of them together."""
    query = "&".join(f"{key}={value}" for key, value in spec.items())
    began = time.perf_counter()
    page.goto(f"{address}/?{query}")
    while not page.evaluate("window.bubbleline && bubbleline.samples.firstPaint()"):
        page.wait_for_timeout(5)
    wall = (time.perf_counter() - began) * 1e3
    first = page.evaluate("bubbleline.samples.firstPaint()")
    print(f"first paint of the schedule          {first:7.1f} ms (wall {wall:.0f} ms)")
    page.wait_for_timeout(1000)
    page.evaluate("bubbleline.samples.clear()")
    print(f"{'input to painted frame, ms':<34} {'n':>4}  {'p50':>7} {'p95':>7} {'max':>7}")
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
        print(summary(name, samples))
    print(summary("all drags", drags))
    print(summary("all key steps", steps))
    print("A drag's events come with a frame; a key comes between two, and waits up to 16.7 ms for the next one.")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--family", default="interleaved-zb")
    for name, value in (("p", 16), ("m", 128), ("v", 4)):
        options.add_argument(f"-{name}", type=int, default=value)
    spec = vars(options.parse_args())
    with server() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGS)
        page = browser.new_page(viewport={"width": 1600, "height": 900}, reduced_motion="reduce")
        measure(page, address, spec)
        browser.close()


if __name__ == "__main__":
    main()
