"""Errors of requests about runs. Knows nothing of HTTP: the web maps each kind to its status."""

from __future__ import annotations

from typing import Any

from backend.errors import Kind, RequestError


class RunError(RequestError):
    """A request about a run that cannot be met; `kind` is one of full, share, unknown, over, bad."""

    def __init__(self, kind: Kind, field: str, value: Any, message: str, limit: Any = None) -> None:
        super().__init__(field, value, message, limit=limit, kind=kind)


def failure(field: str | None, value: Any, message: str, limit: Any = None) -> dict[str, Any]:
    """One error in the shape of every route and event."""
    return RequestError(field, value, message, limit=limit).as_dict()
