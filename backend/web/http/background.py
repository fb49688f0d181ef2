"""Run long work in threads, so that the event loop continues to serve other requests."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import gevent

from backend.schedule.families import registry
from backend.schedule.spec import Spec

T = TypeVar("T")
BACKGROUND_OPS = 60_000  # work on fewer ops is done before a thread would have paid


def run_in_background(ops: int, work: Callable[[], T]) -> T:
    """Do work on ``ops`` ops and return its result: at once if they are few, else in a thread of the pool.

    Raises what ``work`` raises.
    """
    if ops < BACKGROUND_OPS:
        return work()
    result, problem = gevent.get_hub().threadpool.apply(lambda: _caught(work))
    if problem is not None:
        raise problem
    value: T = result
    return value


def estimated_ops(spec: Spec) -> int:
    """Estimate the work of building a spec's order, in ops.

    An order constructed for its costs takes as long as a hundred fixed ones; a searched one as long as all orders that
    the search times.
    """
    tries = spec.effort or (100 if registry.family_of(spec).shaped_by_costs else 1)
    return tries * 3 * spec.p * spec.m * spec.v


def _caught(work: Callable[[], T]) -> tuple[T | None, Exception | None]:
    """Return (result, None) or (None, error): gevent logs the traceback of whatever a thread raises."""
    try:
        return work(), None
    except Exception as problem:
        return None, problem
