"""So many of something an hour from one address, so that one visitor cannot fill a store. Forgets whoever rests.

Knows nothing of what is counted, nor how a refusal is told.
"""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from collections.abc import Callable

HOUR = 3600.0
MOST_OWNERS = 10_000  # remembered at a time; the one that has been quiet longest goes first


class HourlyRate:
    """Counts what each owner did within the last hour."""

    def __init__(self, most: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.most = most
        self._clock = clock
        self._done: OrderedDict[str, deque[float]] = OrderedDict()

    def take(self, owner: str) -> int | None:
        """Count one more; when the hour's share is used up nothing is counted, and the minutes until there is more."""
        now = self._clock()
        times = self._done.setdefault(owner, deque())
        self._done.move_to_end(owner)
        while times and times[0] <= now - HOUR:
            times.popleft()
        if len(times) >= self.most:
            return max(1, round((times[0] + HOUR - now) / 60))
        times.append(now)
        while len(self._done) > MOST_OWNERS:
            self._done.popitem(last=False)
        return None
