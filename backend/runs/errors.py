"""What can be wrong with a request about runs, in the shape that every error of Bubbleline has.

Knows nothing of HTTP: the web maps each kind to its status.
"""

from __future__ import annotations

from typing import Any


class RunError(Exception):
    """A request about a run that cannot be met; `kind` is one of full, share, unknown, over, bad."""

    def __init__(self, kind: str, field: str, value: Any, message: str, limit: Any = None) -> None:
        super().__init__(message)
        self.kind, self.field, self.value, self.message, self.limit = kind, field, value, message, limit

    def as_dict(self) -> dict[str, Any]:
        """The error as JSON."""
        return failure(self.field, self.value, self.message, self.limit)


def failure(field: str | None, value: Any, message: str, limit: Any = None) -> dict[str, Any]:
    """One error in the shape of every route and event."""
    shape: dict[str, Any] = {"field": field, "value": value, "message": message}
    if limit is not None:
        shape["limit"] = limit
    return shape
