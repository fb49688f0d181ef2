"""The one clock of a run: CLOCK_MONOTONIC, which all processes of a Linux machine share.

Reads it, measures its uncertainty, and sleeps until a time. If ranks are on several hosts, times in messages are in
the common clock, the main process's: `common` holds by how much this host's clock is ahead of it, measured by
comparing clocks (clock_sync.py).
"""

from __future__ import annotations

import ctypes
import mmap
import time

now = time.monotonic_ns
SPIN_NS = 60_000
_PR_SET_TIMERSLACK = 29


class Common:
    """The common clock in this process; this host's clock is `ahead` ns ahead of it, 0 where there is one host."""

    def __init__(self) -> None:
        self.words = memoryview(bytearray(8)).cast("q")

    def share(self, path: str) -> None:
        """Store the offset in a file that all processes of this host share; the one that compares clocks writes it."""
        with open(path, "a+b") as file:
            file.truncate(8)
            self.words = memoryview(mmap.mmap(file.fileno(), 8)).cast("q")

    @property
    def ahead(self) -> int:
        """Return the current offset, in ns; it drifts while ranks run."""
        return self.words[0]

    @ahead.setter
    def ahead(self, offset: int) -> None:
        self.words[0] = offset


common = Common()


def uncertainty(readings: int = 1000) -> int:
    """Measure the uncertainty of a reading, in ns: the 99th percentile of the gaps between successive readings."""
    gaps = sorted(-now() + now() for _ in range(readings))
    return max(1, gaps[readings * 99 // 100])


def unix(reading: int) -> int:
    """Return the wall clock's time, in ns since 1970, at a reading of this clock: to display, never to measure."""
    return time.time_ns() + reading - now()


def starved() -> int:
    """Return the ns for which this thread has been ready to run but had no core; 0 where Linux does not count them."""
    try:
        with open("/proc/thread-self/schedstat") as file:
            return int(file.read().split()[1])
    except (OSError, IndexError):
        return 0


def sharpen_sleep() -> None:
    """Ask the kernel to wake this process's sleeps within 1 us instead of 50 us."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_TIMERSLACK, 1000, 0, 0, 0)


def sleep_until(deadline: int) -> None:
    """Sleep until a time, and spin only over the last SPIN_NS: ranks outnumber cores, so others need this core."""
    while (rest := deadline - now()) > 0:
        if rest > SPIN_NS:
            time.sleep((rest - SPIN_NS) * 1e-9)
