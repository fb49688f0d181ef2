"""A bounded queue that is fair between owners: owners take turns, and each owner's items keep their order.

So a client with twenty runs does not delay a client with one. Items are any names.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator

from backend.errors import message
from backend.runs.errors import RunError


class FairQueue:
    """Items in the order in which they will be taken: by round, then by arrival; an owner has one item per round."""

    def __init__(self, limit: int, per_owner: int) -> None:
        self.limit, self.per_owner = limit, per_owner
        self._waiting: list[tuple[int, int, str, str]] = []  # (round, arrival, owner, item), kept sorted
        self._last: dict[str, int] = {}  # the last round that each owner has used
        self._round = 0
        self._arrivals = 0

    def put(self, owner: str, item: str) -> None:
        """Add an item at its owner's next turn. Raises RunError if the queue is full."""
        waiting = len(self._waiting)
        if waiting >= self.limit:
            text = message("runs.queue_full", "{waiting} runs are waiting already; try again soon", waiting=waiting)
            raise RunError("full", "queue", waiting, text, self.limit)
        mine = sum(entry[2] == owner for entry in self._waiting)
        if mine >= self.per_owner:
            text = message(
                "runs.queue_share",
                "{waiting} of your runs are waiting already; cancel one or try again soon",
                waiting=mine,
            )
            raise RunError("share", "queue", mine, text, self.per_owner)
        turn = max(self._round, self._last.get(owner, -1) + 1)
        self._last[owner] = turn
        self._arrivals += 1
        insort(self._waiting, (turn, self._arrivals, owner, item))

    def pop(self) -> str | None:
        """Remove and return the next item, None when the queue is empty."""
        if not self._waiting:
            return None
        self._round, _, _, item = self._waiting.pop(0)
        self._last = {owner: turn for owner, turn in self._last.items() if turn >= self._round}
        return item

    def remove(self, item: str) -> bool:
        """Remove an item from any position; returns whether it was there."""
        for index, entry in enumerate(self._waiting):
            if entry[3] == item:
                del self._waiting[index]
                return True
        return False

    def __iter__(self) -> Iterator[str]:
        return (entry[3] for entry in self._waiting)

    def __len__(self) -> int:
        return len(self._waiting)
