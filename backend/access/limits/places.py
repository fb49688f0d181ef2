"""Places for what clients do at the same time: few in all, and one for each client."""

from __future__ import annotations

from backend.access.limits.fair_queue import NoPlaceError


class Places:
    """At most `most` clients at once."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._clients: set[str] = set()

    def take(self, client: str) -> None:
        """Take a place. Raises NoPlaceError if the client has one or there is none."""
        if client in self._clients:
            raise NoPlaceError("share", 1, 1)
        if len(self._clients) >= self.most:
            raise NoPlaceError("full", self.most, self.most)
        self._clients.add(client)

    def leave(self, client: str) -> None:
        """Give the client's place back."""
        self._clients.discard(client)
