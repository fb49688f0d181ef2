"""Loaded by the fork server of idle_runner.py: what its workers do in place of the runner's own program."""

from __future__ import annotations

import signal
import sys
from types import ModuleType

from runner.engines.local import RANKS


def main(_: object) -> None:
    """Wait, whatever is sent; the end of the runner is not noticed."""
    while True:
        signal.pause()


process = ModuleType(f"{RANKS}.process")
process.main = main  # type: ignore[attr-defined]
sys.modules[process.__name__] = process
