"""A bounded queue that shares places and time between clients.

**Time.** Each client has a virtual time: the seconds of service it has had, counted from that of the server when it
began to wait (start-time fair queuing, Goyal, Vin and Cheng 1996). The client with the least is next, so clients that
always have something waiting get the same seconds, whatever the number and the length of their items. The server's
virtual time advances by the seconds served divided by the number of clients, and newcomers begin there: a client that
has used much waits for its share, but no stream of newcomers makes it wait without limit. When nothing waits or runs,
all clients are equal again.

**Places.** Half of them are for the first item that a client has waiting, so a client with nothing waiting finds a
place while fewer than `reserved` clients wait, however many items these have. The other half is for second and further
items, in equal shares of the clients that wait: the more clients, the fewer for each.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from backend.errors import Message, RequestError

MOST_CLIENTS = 10_000  # without items, whose service time is kept
SHORTEST_S = 0.001  # so that items of no length cannot be served without end


class NoPlaceError(Exception):
    """There is no place: `kind` full for all, or share for this client; `waiting` items, over the `limit`."""

    def __init__(self, kind: Literal["full", "share"], waiting: int, limit: int) -> None:
        super().__init__(kind)
        self.kind, self.waiting, self.limit = kind, waiting, limit

    def refusal(self, field: str, full: Message, share: Message, retry_after: int) -> RequestError:
        """Return the error of the request that found no place, with the sentence of its kind."""
        why = full if self.kind == "full" else share
        return RequestError(field, self.waiting, why, limit=self.limit, kind=self.kind, retry_after=retry_after)


@dataclass(frozen=True, slots=True)
class _Item:
    """An item that waits: its arrival (the first is 0), its name, its estimated seconds of service."""

    arrival: int
    name: str
    seconds: float


class FairQueue:
    """Items of clients in the order in which they will be served. A client is any name; it has one item in service at
    a time, and its items are served in their order of arrival.
    """

    def __init__(self, limit: int, per_client: int) -> None:
        self.limit, self.per_client = limit, per_client
        self.reserved = limit - limit // 2
        self._waiting: dict[str, list[_Item]] = {}  # by client; never an empty list
        self._serving: dict[str, tuple[str, float]] = {}  # item -> (client, estimated seconds)
        self._time: dict[str, float] = {}  # the virtual time of each client with items, or ahead of the server's
        self._now = 0.0  # the server's virtual time
        self._arrivals = 0

    def put(self, client: str, item: str, seconds: float = 1.0) -> None:
        """Add an item that will take about `seconds` of service. Raises NoPlaceError."""
        mine, total = self._waiting.get(client, []), len(self)
        if total >= self.limit:
            raise NoPlaceError("full", total, self.limit)
        if mine:
            most = self._share(client)
            if len(mine) >= most or total - len(self._waiting) >= self.limit - self.reserved:
                raise NoPlaceError("share", len(mine), min(most, len(mine)))
        else:
            self._time[client] = max(self._now, self._time.get(client, 0.0))
        self._waiting.setdefault(client, []).append(_Item(self._arrivals, item, max(seconds, SHORTEST_S)))
        self._arrivals += 1

    def pop(self) -> str | None:
        """Remove and return the next item of a client that has none in service; None if there is none. Call `done`
        at the end of its service."""
        busy = {client for client, _ in self._serving.values()}
        ready = [client for client in self._waiting if client not in busy]
        if not ready:
            return None
        client = min(ready, key=lambda each: (self._time[each], self._waiting[each][0].arrival))
        item = self._waiting[client].pop(0)
        if not self._waiting[client]:
            del self._waiting[client]
        self._now = max(self._now, self._time[client])
        self._time[client] += item.seconds
        self._serving[item.name] = (client, item.seconds)
        return item.name

    def done(self, item: str, seconds: float) -> None:
        """Count the `seconds` that the service of an item took, in place of the estimate."""
        clients = self._waiting.keys() | {client for client, _ in self._serving.values()}
        client, estimated = self._serving.pop(item)
        self._time[client] += max(seconds, SHORTEST_S) - estimated
        self._now += max(seconds, SHORTEST_S) / len(clients)
        self._forget()

    def remove(self, item: str) -> bool:
        """Remove an item that waits, from any position; returns whether it was there."""
        for client, items in self._waiting.items():
            kept = [each for each in items if each.name != item]
            if len(kept) < len(items):
                if kept:
                    self._waiting[client] = kept
                else:
                    del self._waiting[client]
                self._forget()
                return True
        return False

    @property
    def serving(self) -> int:
        """Return the number of items in service."""
        return len(self._serving)

    def __iter__(self) -> Iterator[str]:
        """Yield the items in the order in which they will be served if none is added."""
        ranked: list[tuple[float, int, str]] = []
        for client, items in self._waiting.items():
            time = self._time[client]
            for item in items:
                ranked.append((time, item.arrival, item.name))
                time += item.seconds
        return (name for _, _, name in sorted(ranked))

    def __len__(self) -> int:
        return sum(map(len, self._waiting.values()))

    def _share(self, client: str) -> int:
        """Return the most items that this client may have waiting now."""
        clients = len(self._waiting.keys() | {client})
        return max(1, min(self.per_client, 1 + (self.limit - self.reserved) // clients))

    def _forget(self) -> None:
        """Drop the virtual times that no longer matter."""
        kept = self._waiting.keys() | {client for client, _ in self._serving.values()}
        if not kept:
            self._time.clear()
            self._now = 0.0
        ahead = sorted((time, client) for client, time in self._time.items() if client not in kept)
        for place, (time, client) in enumerate(reversed(ahead)):
            if time <= self._now or place >= MOST_CLIENTS:
                del self._time[client]
