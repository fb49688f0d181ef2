"""Errors of requests about short links. Knows nothing of HTTP."""

from __future__ import annotations

from typing import Any

from backend.errors import Kind, RequestError


class LinkError(RequestError):
    """A link that cannot be made or read; `kind` is one of bad, taken, share, full, disk."""

    def __init__(
        self, kind: Kind, field: str, value: Any, message: str, limit: Any = None, nearest: Any = None
    ) -> None:
        super().__init__(field, value, message, limit=limit, nearest=nearest, kind=kind)
