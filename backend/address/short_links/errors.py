"""The error of requests about short links."""

from __future__ import annotations

from backend.errors import RequestError


class LinkError(RequestError):
    """A short link that cannot be made or found; ``kind`` is bad, unknown, taken, share, full or disk."""
