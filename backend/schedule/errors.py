"""Errors of the schedule core: a field that no schedule can be built from, an order that cannot run."""

from __future__ import annotations

from typing import Any

from backend.errors import Message, RequestError, message, printable

__all__ = ["Message", "OrderError", "SpecError", "message", "printable"]


class SpecError(RequestError):
    """A field of a spec, or of what goes with it (costs, model, machine), has a value that is not legal."""


class OrderError(RequestError):
    """An order breaks a rule of pipelines: an op is missing, doubled, out of order, or waits forever."""

    def __init__(self, message: str, *, rank: int | None = None, op: str | None = None) -> None:
        super().__init__("order", op, message)
        self.rank = rank
        self.op = op

    def as_dict(self) -> dict[str, Any]:
        """The JSON shape of errors with the rank as extra."""
        return super().as_dict() | {"rank": self.rank}
