"""Hourly limit per client; idle clients are dropped."""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from collections.abc import Callable

HOUR = 3600.0
MOST_CLIENTS = 10_000  # counted at a time; the one idle for longest is dropped first


class HourlyRate:
    """Counts actions of each client within the last hour."""

    def __init__(self, most: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.most = most
        self._clock = clock
        self._times: OrderedDict[str, deque[float]] = OrderedDict()

    def take(self, client: str) -> int | None:
        """Count one action and return None; at the limit, count nothing and return the minutes until the next one."""
        now = self._clock()
        times = self._times.setdefault(client, deque())
        self._times.move_to_end(client)
        while times and times[0] <= now - HOUR:
            times.popleft()
        if len(times) >= self.most:
            return max(1, round((times[0] + HOUR - now) / 60))
        times.append(now)
        while len(self._times) > MOST_CLIENTS:
            self._times.popitem(last=False)
        return None
