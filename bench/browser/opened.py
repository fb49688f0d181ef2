"""Start a server on a free port and headless Chromium without a GPU; open a page and wait for its schedule."""

from __future__ import annotations

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

from playwright.sync_api import Browser, Page

PROJECT = Path(__file__).resolve().parents[2]
PATIENCE_S = 60.0


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


def drawn(browser: Browser, url: str, width: int, height: int) -> tuple[Page, float, float]:
    """A page in its own context, and the ms from request to drawn by its own clock and by ours."""
    context = browser.new_context(viewport={"width": width, "height": height}, reduced_motion="reduce")
    page = context.new_page()
    began = time.perf_counter()
    page.goto(url)
    while not page.evaluate("window.bubbleline && bubbleline.samples.firstPaint()"):
        assert time.perf_counter() - began < PATIENCE_S, f"nothing was drawn within {PATIENCE_S:.0f} s: {url}"
        page.wait_for_timeout(5)
    wall = (time.perf_counter() - began) * 1e3
    return page, float(page.evaluate("bubbleline.samples.firstPaint()")), wall


def query(spec: dict[str, Any]) -> str:
    """A spec as a query of the page's URL."""
    return "?" + "&".join(f"{key}={value}" for key, value in spec.items())


def quantiles(samples: list[float]) -> tuple[float, float, float]:
    """Median, 95th percentile and the worst."""
    ordered = sorted(samples)
    return ordered[len(ordered) // 2], ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))], ordered[-1]
