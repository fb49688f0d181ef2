"""The errors of tasks and boards."""

from __future__ import annotations

from backend.errors import RequestError


class TaskError(RequestError):
    """A task or an entry that does not exist, or an order that is not an answer to its task."""


class BoardError(RequestError):
    """An entry that cannot be kept or shown; ``kind`` is bad, unknown, share or disk."""
