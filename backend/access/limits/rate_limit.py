"""Limits per client: a number of actions an hour, and a pace with a burst. Idle clients are dropped."""

from __future__ import annotations

import math
import time
from collections import OrderedDict, deque
from collections.abc import Callable

from backend.errors import RequestError, message

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
            first = times[0] if times else now  # none is allowed where `most` is 0
            return max(1, round((first + HOUR - now) / 60))
        times.append(now)
        while len(self._times) > MOST_CLIENTS:
            self._times.popitem(last=False)
        return None


class Pace:
    """Lets each client do `most` actions at once, and as many again in each `period_s` seconds (a token bucket).

    Two numbers a client, whatever the limit.
    """

    def __init__(self, most: int, period_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.most, self.period_s = most, period_s
        self._clock = clock
        self._clients: OrderedDict[str, tuple[float, float]] = OrderedDict()  # client -> (actions left, at this time)

    def take(self, client: str) -> int | None:
        """Count one action and return None; at the limit, count nothing and return the whole seconds to wait, >= 1."""
        now = self._clock()
        left, since = self._clients.get(client, (float(self.most), now))
        left = min(float(self.most), left + (now - since) * self.most / self.period_s)
        wait = None if left >= 1.0 else max(1, math.ceil((1.0 - left) * self.period_s / self.most))
        self._clients[client] = (left - 1.0 if wait is None else left, now)
        self._clients.move_to_end(client)
        if len(self._clients) > MOST_CLIENTS:
            self._clients.popitem(last=False)
        return wait


class Credit:
    """One client's token bucket, which may be overdrawn: `burst` at once, and `rate` more each second."""

    def __init__(self, rate: float, burst: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.rate, self.burst = rate, burst
        self._clock = clock
        self._left, self._at = burst, clock()

    def take(self, count: float) -> float:
        """Count some and return the seconds by which they came too early."""
        now = self._clock()
        self._left = min(self.burst, self._left + (now - self._at) * self.rate) - count
        self._at = now
        return max(0.0, -self._left / self.rate)

    @property
    def plenty(self) -> bool:
        """Return whether half of the burst is left."""
        return self._left >= self.burst / 2


def keep_pace(pace: Pace, client: str) -> None:
    """Count a request. Raises RequestError where the client has sent too many."""
    wait = pace.take(client)
    if wait is None:
        return
    text = message(
        "access.too_many_requests",
        "More than {most} requests a minute came from you; try again in {seconds} s.",
        most=pace.most,
        seconds=wait,
    )
    raise RequestError("requests", pace.most, text, limit=pace.most, kind="share", retry_after=wait)
