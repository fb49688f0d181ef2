"""Wait for the disk in threads, and deflate there, so that the event loop continues to serve other requests.

Computations go to worker processes instead (computing.py): a thread shares the interpreter with the event loop.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import gevent

T = TypeVar("T")


def run_in_background(work: Callable[[], T]) -> T:
    """Do work in a thread of the pool and return its result. Raises what ``work`` raises."""
    result, problem = gevent.get_hub().threadpool.apply(lambda: _caught(work))
    if problem is not None:
        raise problem
    value: T = result
    return value


def _caught(work: Callable[[], T]) -> tuple[T | None, Exception | None]:
    """Return (result, None) or (None, error): gevent logs the traceback of whatever a thread raises."""
    try:
        return work(), None
    except Exception as problem:
        return None, problem
