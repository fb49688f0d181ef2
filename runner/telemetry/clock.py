"""The one clock of a run: CLOCK_MONOTONIC, which all processes of a Linux machine share.

Knows how to read it, how sure a reading is, and how to sleep until a time of it. Where ranks are on several hosts,
times that travel from one to another are the common clock's, which is the main process's: `common` says how far this
host is ahead of that (clock_sync.py and whoever exchanges times find out).
"""

from __future__ import annotations

import ctypes
import mmap
import time

now = time.monotonic_ns
SPIN_NS = 60_000
_PR_SET_TIMERSLACK = 29


class Common:
    """The common clock as this process has it: `ahead` is its own clock's lead in ns; 0 where there is one host."""

    def __init__(self) -> None:
        self.words = memoryview(bytearray(8)).cast("q")

    def share(self, path: str) -> None:
        """Have the lead in a file, which whoever compares clocks on this host writes and all others read."""
        with open(path, "a+b") as file:
            file.truncate(8)
            self.words = memoryview(mmap.mmap(file.fileno(), 8)).cast("q")

    @property
    def ahead(self) -> int:
        """The lead now; it changes a little while ranks run."""
        return self.words[0]

    @ahead.setter
    def ahead(self, lead: int) -> None:
        self.words[0] = lead


common = Common()


def uncertainty(readings: int = 1000) -> int:
    """How far apart two readings in direct succession may lie, in ns: the 99th percentile of their gaps."""
    gaps = sorted(-now() + now() for _ in range(readings))
    return max(1, gaps[readings * 99 // 100])


def unix(reading: int) -> int:
    """The wall clock's time, in ns since 1970, at a reading of this clock: for a viewer's clock, never to measure."""
    return time.time_ns() + reading - now()


def starved() -> int:
    """For how many ns this thread has so far been ready to run without a core to run on; 0 where Linux does not say."""
    try:
        with open("/proc/thread-self/schedstat") as file:
            return int(file.read().split()[1])
    except (OSError, IndexError):
        return 0


def sharpen_sleep() -> None:
    """Ask the kernel to wake this process's sleeps within 1 us instead of 50 us."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_TIMERSLACK, 1000, 0, 0, 0)


def sleep_until(deadline: int) -> None:
    """Sleep, and spin over the last moments only: ranks outnumber cores, so the others need this core."""
    while (rest := deadline - now()) > 0:
        if rest > SPIN_NS:
            time.sleep((rest - SPIN_NS) * 1e-9)
