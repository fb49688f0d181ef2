"""A bounded waiting line that is fair between owners.

Whoever submits twenty runs does not hold up whoever submits one: owners take turns, and within an owner the first
comes first. Knows nothing of runs: items are any hashable names.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator

from backend.runs.errors import RunError


class FairQueue:
    """Items in the order in which they will be taken: by round, then by arrival; an owner has one item a round."""

    def __init__(self, limit: int, per_owner: int) -> None:
        self.limit, self.per_owner = limit, per_owner
        self._line: list[tuple[int, int, str, str]] = []  # (round, arrival, owner, item), kept sorted
        self._last: dict[str, int] = {}  # the last round that each owner has used
        self._round = 0
        self._arrivals = 0

    def put(self, owner: str, item: str) -> None:
        """Add an item at its owner's next turn; RunError when there is no room."""
        waiting = len(self._line)
        if waiting >= self.limit:
            raise RunError("full", "queue", waiting, f"{waiting} runs wait already; try again soon", self.limit)
        mine = sum(entry[2] == owner for entry in self._line)
        if mine >= self.per_owner:
            message = f"{mine} runs of yours wait already; cancel one or try again soon"
            raise RunError("share", "queue", mine, message, self.per_owner)
        turn = max(self._round, self._last.get(owner, -1) + 1)
        self._last[owner] = turn
        self._arrivals += 1
        insort(self._line, (turn, self._arrivals, owner, item))

    def pop(self) -> str | None:
        """Take the next item, None when nothing waits."""
        if not self._line:
            return None
        self._round, _, _, item = self._line.pop(0)
        self._last = {owner: turn for owner, turn in self._last.items() if turn >= self._round}
        return item

    def remove(self, item: str) -> bool:
        """Take an item out of the line, wherever it stands."""
        for index, entry in enumerate(self._line):
            if entry[3] == item:
                del self._line[index]
                return True
        return False

    def __iter__(self) -> Iterator[str]:
        return (entry[3] for entry in self._line)

    def __len__(self) -> int:
        return len(self._line)
