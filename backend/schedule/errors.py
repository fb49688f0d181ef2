"""The two ways in which an input can be wrong; every message names the place and the way out.

ValueError
├── SpecError    a value that no schedule can be built from: field, value, limit, nearest legal value
└── OrderError   an order of ops that cannot run: rank, op, and the producer that is missing
"""

from __future__ import annotations

from typing import Any


class SpecError(ValueError):
    """A field of a spec (or of any request) has a value that is not legal.

    ``field`` names it, ``value`` is what was given, ``limit`` the bound it broke (if one did) and
    ``nearest`` a legal value close to the given one (if there is one).
    """

    def __init__(self, field: str, value: Any, message: str, *, limit: Any = None, nearest: Any = None) -> None:
        super().__init__(message)
        self.field = field
        self.value = value
        self.message = message
        self.limit = limit
        self.nearest = nearest

    def as_dict(self) -> dict[str, Any]:
        """The one JSON error shape; ``limit`` and ``nearest`` only where there is one."""
        shape: dict[str, Any] = {"field": self.field, "value": printable(self.value), "message": self.message}
        if self.limit is not None:
            shape["limit"] = self.limit
        if self.nearest is not None:
            shape["nearest"] = self.nearest
        return shape


class OrderError(ValueError):
    """An order breaks a law of pipelines: an op missing, doubled, out of order, or waiting forever."""

    def __init__(self, message: str, *, rank: int | None = None, op: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.rank = rank
        self.op = op

    def as_dict(self) -> dict[str, Any]:
        """The same JSON error shape as SpecError's, with the field ``order`` and the rank as extra."""
        return {"field": "order", "value": self.op, "message": self.message, "rank": self.rank}


def printable(value: Any) -> Any:
    """``value`` as JSON can carry it, cut to a length that a message can show."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if abs(value) < 2**53 else f"{'-' if value < 0 else ''}(about 2^{abs(value).bit_length() - 1})"
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else repr(value)
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
