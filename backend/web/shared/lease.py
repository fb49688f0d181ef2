"""Which of several processes manages the runs: the one that holds the lease in Redis.

The others take it when it is not renewed. While Redis is away none can take it, and its holder goes on.
"""

from __future__ import annotations

from typing import Any

from backend.web.shared.connection import key

LEASE = key("manager")
LEASE_S, RENEW_S = 5, 1.0
# Renewed only by its holder; taken anew where Redis has lost it.
RENEW = """
local holder = redis.call('get', KEYS[1])
if holder == ARGV[1] or not holder then
  redis.call('set', KEYS[1], ARGV[1], 'ex', ARGV[2])
  return 1
end
return 0
"""
RELEASE = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0"


class Lease:
    """The lease as one process sees it; every call raises what Redis raises. Processes that follow each other at one
    place, never two at a time, have one name: the next one need not wait until the lease ends.
    """

    def __init__(self, client: Any, name: str) -> None:
        self._client, self._name = client, name

    def is_free(self) -> bool:
        """Return whether no other process holds the lease."""
        return self._client.get(LEASE) in (None, self._name.encode())

    def take(self) -> bool:
        """Take or renew the lease; returns False where another process holds it."""
        return bool(self._client.eval(RENEW, 1, LEASE, self._name, LEASE_S))

    def release(self) -> None:
        """Give the lease back, so that another process need not wait for its end."""
        self._client.eval(RELEASE, 1, LEASE, self._name)
