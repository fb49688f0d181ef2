"""Jobs for the tests of the pool. A worker imports this module, so it imports nothing else of the tests."""

from __future__ import annotations

import gc
import os
import signal
import sys
import time
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from backend.errors import RequestError, message


def add(a: int, b: int) -> int:
    return a + b


def pid(*_: object) -> int:
    return os.getpid()


def refuse() -> None:
    raise RequestError("m", "x" * 10**6, message("test.refused", "m is {m}", m=3), limit=5, nearest=4)


def fail() -> None:
    raise ZeroDivisionError("a defect")


def sleep(seconds: float, note: str = "") -> str:
    time.sleep(seconds)
    return note


def spin(seconds: float) -> str:
    """Keep the processor busy, as computations do."""
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
    return "done"


def allocate(mb: int) -> int:
    return len(bytes(mb * 2**20))


def leave_free_blocks(mb: int) -> int:
    """Fill memory that the C library keeps for the next time: one large block first raises its threshold for that.
    Return the bytes of memory that is the process's own, before.
    """
    before = own_memory()
    bytes(16 * 2**20)
    blocks = [b"x" * 2**20 for _ in range(mb)]
    del blocks
    return before


def own_memory(*_: object) -> int:
    """Return the bytes of this process's data, with what it still shares with the fork server."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("RssAnon"))


def frozen() -> int:
    return gc.get_freeze_count()


def count_lists(body: bytearray) -> int:
    return len([[] for _ in range(len(body))])


def await_file(path: str, note: str = "") -> str:
    """Take until there is a file of this name."""
    while not Path(path).exists():
        time.sleep(0.005)
    return note


def note(path: str, end: str) -> str:
    """Append the process id to a file, then take until there is another."""
    with Path(path).open("a") as file:
        file.write(f"{os.getpid()}\n")
    return await_file(end, "noted")


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def loaded_after(modules: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return which of the packages are loaded once the modules are."""
    for module in modules:
        import_module(module)
    return [name for name in names if name in sys.modules]


def unpicklable() -> object:
    return lambda: None
