"""Errors of the schedule core: an illegal field of a spec, an order that cannot run."""

from __future__ import annotations

from typing import Any

from backend.errors import Message, RequestError, message, printable

__all__ = ["Message", "OrderError", "SpecError", "message", "printable"]


class SpecError(RequestError):
    """A field of a spec, or of its costs, model or machine, has an illegal value."""

    def __str__(self) -> str:
        return self.in_full


class OrderError(RequestError):
    """An order breaks a rule of pipelines: an op is missing, doubled, out of order, or waits forever."""

    def __init__(self, message: str, *, rank: int | None = None, op: str | None = None) -> None:
        super().__init__("order", op, message)
        self.rank = rank
        self.op = op

    def as_dict(self) -> dict[str, Any]:
        """Return the error as JSON, with the rank as an extra field."""
        return super().as_dict() | {"rank": self.rank}
