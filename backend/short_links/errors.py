"""What can be wrong with a short link, in the shape that every error of Bubbleline has. Knows nothing of HTTP."""

from __future__ import annotations

from typing import Any, Literal

Kind = Literal["bad", "taken", "share", "full", "disk"]


class LinkError(Exception):
    """A link that cannot be made or read; ``kind`` says whose fault it is."""

    def __init__(
        self, kind: Kind, field: str, value: Any, message: str, limit: Any = None, nearest: Any = None
    ) -> None:
        super().__init__(message)
        self.kind, self.field, self.value, self.message = kind, field, value, message
        self.limit, self.nearest = limit, nearest

    def as_dict(self) -> dict[str, Any]:
        """The error as JSON."""
        shape: dict[str, Any] = {"field": self.field, "value": self.value, "message": self.message}
        return shape | {
            key: each for key, each in (("limit", self.limit), ("nearest", self.nearest)) if each is not None
        }
