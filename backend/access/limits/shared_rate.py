"""Rates that are counted in Redis for all processes together; alone by each process while Redis is away.

Redis' own clock counts, so that machines need not agree on the time.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable
from typing import Any

from redis import RedisError

from backend.access.limits.rate_limit import HOUR, HourlyRate, Pace

logger = logging.getLogger(__name__)
PAUSE_S = 2.0  # without a question after a failure: requests must not wait for a network that is down
# The token bucket of Pace: returns the seconds to wait as a text, "0" where the action was counted.
TAKE = """
local time = redis.call('time')
local now = time[1] + time[2] / 1000000
local most, period = tonumber(ARGV[1]), tonumber(ARGV[2])
local kept = redis.call('hmget', KEYS[1], 'left', 'since')
local left = math.min(most, (tonumber(kept[1]) or most) + (now - (tonumber(kept[2]) or now)) * most / period)
local wait = 0
if left >= 1 then left = left - 1 else wait = (1 - left) * period / most end
redis.call('hset', KEYS[1], 'left', tostring(left), 'since', tostring(now))
redis.call('expire', KEYS[1], math.ceil(period) + 1)
return tostring(wait)
"""
# The sliding window of HourlyRate: returns the seconds until the next action as a text, "0" where it was counted.
COUNT = """
local time = redis.call('time')
local now = time[1] + time[2] / 1000000
local most, period = tonumber(ARGV[1]), tonumber(ARGV[2])
redis.call('zremrangebyscore', KEYS[1], '-inf', now - period)
if redis.call('zcard', KEYS[1]) >= most then
  local first = redis.call('zrange', KEYS[1], 0, 0, 'withscores')[2]
  return tostring(math.max(tonumber(first or now) + period - now, 1))
end
redis.call('zadd', KEYS[1], now, ARGV[3])
redis.call('expire', KEYS[1], math.ceil(period))
return '0'
"""


class SharedPace(Pace):
    """A Pace for all processes, under keys that begin with `name`."""

    def __init__(self, client: Any, name: str, most: int, period_s: float) -> None:
        super().__init__(most, period_s)
        self._shared = _Script(client, TAKE, name)

    def take(self, client: str) -> int | None:
        wait = self._shared.seconds(client, self.most, self.period_s)
        return super().take(client) if wait is None else math.ceil(wait) or None


class SharedHourlyRate(HourlyRate):
    """An HourlyRate for all processes, under keys that begin with `name`."""

    def __init__(self, client: Any, name: str, most: int) -> None:
        super().__init__(most)
        self._shared = _Script(client, COUNT, name)

    def take(self, client: str) -> int | None:
        wait = self._shared.seconds(client, self.most, HOUR, time.time_ns())
        if wait is None:
            return super().take(client)
        return max(1, round(wait / 60)) if wait else None


class _Script:
    """A script that Redis runs for the key of a client."""

    def __init__(self, client: Any, text: str, name: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._run, self._name, self._clock = client.register_script(text), name, clock
        self._asked_again = 0.0  # not before this time

    def seconds(self, client: str, *arguments: float) -> float | None:
        """Return what the script returns, None while Redis is away."""
        if self._clock() < self._asked_again:
            return None
        try:
            return float(self._run(keys=[f"{self._name}:{client}"], args=arguments))
        except (RedisError, OSError) as error:
            logger.warning("limits are counted by each process alone, Redis: %s", error)
            self._asked_again = self._clock() + PAUSE_S
            return None
