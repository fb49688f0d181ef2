"""The map of analyses (backend/schedule/analysis/map_each.py) in several processes.

Half of the time of an answer is Python, in which threads would wait for each other's lock. Copies of this process made
by `fork` have all that they need, and send back the results alone. Each has the limits of memory and time of this
process, and ends with it.
"""

from __future__ import annotations

import ctypes
import os
import pickle
import signal
import struct
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, BinaryIO, NoReturn, TypeVar

T = TypeVar("T")
R = TypeVar("R")

MOST_PROCESSES = 8  # of one job; a bound, measured on two cores only
WORTH_OPS = 300_000  # fixed orders of fewer take some 30 ms, and a copy of this process 5 to 10
NUMBER = struct.Struct("I")  # of an item, in the queue
DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of <sys/prctl.h>


def in_processes(
    work: Callable[[T], R], items: Sequence[T], time_of: Callable[[T], int], *, longest_first: bool = True
) -> list[R]:
    """Return ``work`` of each item, as `Map` says. Raises what ``work`` raises.

    The longest items are begun first, so that no process is left with a long one at the end. Results are pickled; what
    ``work`` changes elsewhere is lost.
    """
    times = [time_of(item) for item in items]
    helpers = min(MOST_PROCESSES, cores(), len(items)) - 1
    if helpers < 1 or sum(times) < WORTH_OPS or not can_fork():
        return [work(item) for item in items]
    begun = sorted(range(len(items)), key=lambda at: -times[at]) if longest_first else range(len(items))
    results: dict[int, R] = {}
    with _queue(begun) as numbers, _copies(helpers, lambda: _take_turns(work, items, numbers)) as copies:
        results.update(_take_turns(work, items, numbers))
        for each in copies:
            results.update(each.result())
    return [results[at] for at in range(len(items))]


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def can_fork() -> bool:
    """Return whether this process can be copied: a copy has no other threads, and keeps the locks that they hold."""
    return hasattr(os, "fork") and threading.active_count() == 1


def end_with_parent(parent: int) -> None:
    """Have the system kill this process when ``parent``, the process that forked it, ends; only Linux can."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() != parent:  # it ended before
        os._exit(0)


def _take_turns(work: Callable[[T], R], items: Sequence[T], numbers: int) -> dict[int, R]:
    """Return the results of the items whose numbers this process takes from the queue."""
    results = {}
    try:
        while taken := os.read(numbers, NUMBER.size):
            (at,) = NUMBER.unpack(taken)
            results[at] = work(items[at])
    except BaseException:
        while os.read(numbers, 2**16):
            pass  # the others end with what they are at
        raise
    return results


@contextmanager
def _queue(numbers: Sequence[int]) -> Iterator[int]:
    """Give a pipe with these numbers, from which each process takes the next."""
    source, sink = os.pipe()
    os.write(sink, b"".join(map(NUMBER.pack, numbers)))
    os.close(sink)
    try:
        yield source
    finally:
        os.close(source)


@dataclass(frozen=True)
class Copy:
    """A copy of this process, and where its result or error comes from."""

    pid: int
    output: BinaryIO

    def result(self) -> Any:
        """Return what the copy returns. Raises what it raises, and RuntimeError if it ended without a result."""
        sent = self.output.read()
        if not sent:
            raise RuntimeError("a process of this computation ended without a result")
        done, value = pickle.loads(sent)
        if not done:
            raise value
        return value


@contextmanager
def _copies(count: int, work: Callable[[], Any]) -> Iterator[list[Copy]]:
    """Start copies of this process, ``count`` at most, that do the work; kill those that still run at the end."""
    copies: list[Copy] = []
    parent = os.getpid()
    try:
        for _ in range(count):
            source, sink = os.pipe()
            try:
                pid = os.fork()
            except OSError:  # too many processes: those that there are do the work
                os.close(source)
                os.close(sink)
                break
            if not pid:
                _be_copy(work, sink, parent)
            os.close(sink)
            copies.append(Copy(pid, os.fdopen(source, "rb")))
        yield copies
    finally:
        for each in copies:
            each.output.close()
            os.kill(each.pid, signal.SIGKILL)  # it has not been waited for, so the number is still its own
        for each in copies:
            os.waitpid(each.pid, 0)


def _be_copy(work: Callable[[], Any], sink: int, parent: int) -> NoReturn:
    """Do the work in this copy, send its result or error, and end."""
    try:
        end_with_parent(parent)
        try:
            sent = pickle.dumps((True, work()), pickle.HIGHEST_PROTOCOL)
        except Exception as error:
            sent = pickle.dumps((False, error.with_traceback(None)))
        with open(sink, "wb") as output:
            output.write(sent)
    finally:
        os._exit(0)
