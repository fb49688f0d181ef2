"""The collection of the tests by several workers: one compiles the modules, which takes longest, for all of them."""

from __future__ import annotations

import fcntl
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest


class CompiledOnce:
    """Lets the first worker collect alone, and the others after it, who then read what it has compiled."""

    @pytest.hookimpl(wrapper=True)
    def pytest_collection(self, session: pytest.Session) -> Iterator[None]:
        if sys.dont_write_bytecode or not hasattr(session.config, "workeroutput"):
            return (yield)
        with Path(__file__).open() as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                fcntl.flock(lock, fcntl.LOCK_SH)
            return (yield)
