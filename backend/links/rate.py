"""So many new links an hour from one address, so that one visitor cannot fill the store. Forgets whoever rests."""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from collections.abc import Callable

from backend.links.errors import LinkError

HOUR = 3600.0
MOST_OWNERS = 10_000  # remembered at a time; the one that has been quiet longest goes first


class HourlyRate:
    """Counts what each owner did within the last hour."""

    def __init__(self, most: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.most = most
        self._clock = clock
        self._done: OrderedDict[str, deque[float]] = OrderedDict()

    def take(self, owner: str) -> None:
        """Count one more; LinkError ("share") when the hour's share is used up."""
        now = self._clock()
        times = self._done.setdefault(owner, deque())
        self._done.move_to_end(owner)
        while times and times[0] <= now - HOUR:
            times.popleft()
        if len(times) >= self.most:
            minutes = max(1, round((times[0] + HOUR - now) / 60))
            message = f"{self.most} new short links an hour are enough; try again in {minutes} min"
            raise LinkError("share", "links", len(times), message, limit=self.most)
        times.append(now)
        while len(self._done) > MOST_OWNERS:
            self._done.popitem(last=False)
