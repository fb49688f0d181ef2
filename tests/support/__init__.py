"""Helpers that several tests share, and how long these may take: as long as the machine needs."""

from __future__ import annotations

import functools
import inspect
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PATIENCE_S = 320.0  # of waits and requests, free where they are met: a busy cluster starts ranks in 300 s
LOOPS, LOOPS_S = 1_000_000, 0.05  # some work, and how long it takes at most on a core that does nothing else
NOT_LOADED = str(Path(__file__).parent / "cluster" / "not_loaded")  # first in the path of processes


def slowness() -> float:
    """Return how many times as long as on a quiet machine work takes here and now, at least 1."""
    begun = time.perf_counter()
    for _ in range(LOOPS):
        pass
    return max(1.0, (time.perf_counter() - begun) / LOOPS_S)


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Assert that what is done inside takes no longer than this on a quiet machine."""
    before, begun = slowness(), time.monotonic()
    yield
    took = time.monotonic() - begun
    allowed = seconds * max(before, slowness())
    assert took < allowed, f"took {took:.2f} s instead of at most {allowed:.2f}"


def until(
    true: Callable[[], object], seconds: float = PATIENCE_S, sleep: Callable[[float], object] = time.sleep
) -> None:
    """Wait until something holds; the longer it takes, the less often it is asked."""
    begun = time.monotonic()
    while not true():
        waited = time.monotonic() - begun
        assert waited < seconds, f"not within {seconds} s"
        sleep(min(0.01 + waited / 10, 0.1))


def cases(names: str, rows: Iterable[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Run a test for each row of values, as `pytest.mark.parametrize` does, but as one test: of hundreds of cheap cases
    pytest would take longer than they do. A failure names its case. ``names``: "p" or "p, m".
    """
    listed = names.split(", ")
    given = [dict(zip(listed, row if len(listed) > 1 else (row,), strict=True)) for row in rows]
    assert given

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def every(**fixtures: Any) -> None:
            for case in given:
                try:
                    test(**fixtures, **case)
                except BaseException as error:
                    error.add_note(f"in the case {case}")
                    raise

        signature = inspect.signature(test)
        left = [each for name, each in signature.parameters.items() if name not in listed]
        every.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]  # what pytest reads
        return every

    return decorate
