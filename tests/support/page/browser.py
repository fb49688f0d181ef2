"""The browser of the page's tests and benchmarks: which program, started with which flags.

Debian's `chromium-headless-shell` starts faster and draws with less work than `chromium --headless`, so it comes first;
`chromium` is used where there is no shell. BUBBLELINE_CHROMIUM names another program.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence

from playwright.sync_api import Browser, Playwright

from tests.support import PATIENCE_S

SHELL, CHROMIUM = "chromium-headless-shell", "chromium"
HOW_TO_INSTALL = "The page's tests need a browser; on Debian: apt-get install chromium-headless-shell"

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

# Debian's start script of chromium enables GPU rasterization, which without a GPU runs in slow software. The shell's
# script does not, but the flags do no harm there, and a program that BUBBLELINE_CHROMIUM names may be either.
SOFTWARE_RENDERING = (
    "--disable-gpu-rasterization",
    "--disable-gpu-compositing",
    "--disable-software-rasterizer",
)


class BrowserMissingError(RuntimeError):
    """No browser is installed; the message says how to install one."""


def browser_programs() -> list[str]:
    """Paths of the installed browsers, the one to use first. Raises BrowserMissingError if there is none."""
    candidates = [os.environ.get("BUBBLELINE_CHROMIUM"), shutil.which(SHELL), shutil.which(CHROMIUM)]
    programs = [program for program in candidates if program]
    if not programs:
        raise BrowserMissingError(HOW_TO_INSTALL)
    return programs


def full_chromium() -> str | None:
    """Path of the whole chromium where the other tests run on the shell, else None."""
    shell, full = shutil.which(SHELL), shutil.which(CHROMIUM)
    return full if full and browser_programs()[0] == shell else None


def launch_browser(playwright: Playwright, program: str | None = None, flags: Sequence[str] = ()) -> Browser:
    """Start a browser (by default the first installed one) without a GPU: the processor draws every pixel."""
    return playwright.chromium.launch(
        executable_path=program or browser_programs()[0],
        args=[*FLAGS, *SOFTWARE_RENDERING, *flags],
        timeout=1000 * PATIENCE_S,
    )
