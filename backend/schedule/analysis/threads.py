"""Do independent constructions and simulations in threads.

Compiled kernels release the interpreter's lock, and constructing an order for given costs is nearly all kernels, so
threads of one process use several cores: no order or figure has to be sent, and the limits of memory and time, and
the end of a job whose client has left, apply to all of them at once.
"""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from backend.schedule import jit
from backend.schedule.families.registry import family_of, op_count
from backend.schedule.spec import Spec

T = TypeVar("T")
R = TypeVar("R")

MOST_THREADS = 8  # of one job; a bound, measured on two cores only
WORTH_OPS = 10_000  # constructed for given costs; fewer take some 10 ms, in which threads gain little
LARGE_OPS = 4_000  # of one item: of a smaller one less than half is kernels, and threads wait for each other's lock


def ops_constructed(spec: Spec) -> int:
    """Return how many ops of a schedule are constructed for its costs: all of them or none. A fixed order is built a
    hundred times as fast, and not by kernels: threads would wait for each other.
    """
    return op_count(spec) if family_of(spec).shaped_by_costs else 0


def in_threads(
    work: Callable[[T], R], items: Sequence[T], ops: Callable[[T], int], *, longest_first: bool = True
) -> list[R]:
    """Return ``work`` of each item, in their order. Raises what ``work`` raises.

    ``ops`` is how many ops of an item are constructed for its costs. The longest items are begun first, so that no
    thread is left with a long one at the end; the calling thread works too, and alone on the small ones. With
    ``longest_first`` false items are begun in their order: of work that ends at a time, the first items are then the
    ones done.
    """
    sizes = [ops(item) for item in items]
    helpers = min(MOST_THREADS, cores(), len(items)) - 1
    if helpers < 1 or sum(sizes) < WORTH_OPS or not jit.ready():  # interpreted kernels keep the lock
        return [work(item) for item in items]
    begun = sorted(range(len(items)), key=lambda at: -sizes[at]) if longest_first else range(len(items))
    waiting = deque(begun)
    results: dict[int, R] = {}

    def take_turns(least: int) -> None:
        while (at := _next(waiting, lambda at: sizes[at] >= least)) is not None:
            try:
                results[at] = work(items[at])
            except BaseException:
                waiting.clear()  # the others end with what they are at
                raise

    with ThreadPoolExecutor(helpers) as pool:
        helping = [pool.submit(take_turns, LARGE_OPS if longest_first else 0) for _ in range(helpers)]
        take_turns(0)
    for each in helping:
        each.result()
    return [results[at] for at in range(len(items))]


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def _next(waiting: deque[int], suits: Callable[[int], bool]) -> int | None:
    """Remove and return the first item that waits; None if none does, or if it does not suit. Another thread may take
    it in between, and the one behind it is returned then.
    """
    try:
        return waiting.popleft() if suits(waiting[0]) else None
    except IndexError:
        return None
