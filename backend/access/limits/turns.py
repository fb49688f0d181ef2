"""Which job is next: clients take turns, and each has a bounded number waiting and a bounded number running."""

from __future__ import annotations

from collections import Counter, OrderedDict, deque
from typing import Generic, TypeVar

T = TypeVar("T")


class Turns(Generic[T]):
    """Waiting items of many clients, at most `each` of a client running at once."""

    def __init__(self, each: int) -> None:
        self.each = each
        self._waiting: OrderedDict[str, deque[T]] = OrderedDict()  # the client whose turn is next comes first
        self._running: Counter[str] = Counter()
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def waiting(self, client: str) -> int:
        """Return how many items of a client wait."""
        return len(self._waiting.get(client, ()))

    def put(self, client: str, item: T) -> None:
        """Add an item behind those of its client."""
        self._waiting.setdefault(client, deque()).append(item)
        self._length += 1

    def take(self) -> T | None:
        """Remove and return the next item of the first client who has fewer than `each` running; None if there is
        none. The item runs until `done`.
        """
        for client, items in self._waiting.items():
            if self._running[client] < self.each:
                item = items.popleft()
                self._length -= 1
                self._running[client] += 1
                if items:
                    self._waiting.move_to_end(client)
                else:
                    del self._waiting[client]
                return item
        return None

    def done(self, client: str) -> None:
        """Count an item of a client as no longer running."""
        self._running[client] -= 1
        if self._running[client] <= 0:
            del self._running[client]

    def remove(self, client: str, item: T) -> bool:
        """Remove an item that waits; return whether it did."""
        items = self._waiting.get(client)
        if items is None or item not in items:
            return False
        items.remove(item)
        self._length -= 1
        if not items:
            del self._waiting[client]
        return True
