"""Failures of runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from backend.errors import Message, from_codes, message


@dataclass(frozen=True, slots=True)
class RunFailure:
    """The failure of a run: its kind (the runner's own kinds, or refused, runner, server, unknown), the rank and the
    op, if known, and a sentence.
    """

    kind: str
    message: str
    rank: int | None = None
    op: str | None = None

    @classmethod
    def read(cls, data: Any) -> RunFailure:
        """Read a failure as the runner sends it and the database stores it. Raises ValueError for another shape."""
        if not isinstance(data, Mapping) or not isinstance(data.get("message"), str):
            raise ValueError(message("runs.bad_failure", "the runner sent a failure without a message"))
        rank, op = data.get("rank"), data.get("op")
        return cls(
            str(data.get("kind", "unknown")),
            _message(data),
            rank if isinstance(rank, int) else None,
            None if op is None else str(op),
        )

    @classmethod
    def of_error(cls, kind: str, error: Any) -> RunFailure:
        """Return the failure of a run that the runner has refused, or that was stored when failures were errors of
        fields; `error` has the shape of every request's error.
        """
        data = error if isinstance(error, Mapping) else {}
        return cls(kind, _message(data) if data.get("message") else NO_REASON)

    def as_dict(self) -> dict[str, Any]:
        """Return the failure as JSON: ``{"kind", "rank", "op", "code", "params", "message"}``."""
        code, params = "unspecified", {}
        if isinstance(self.message, Message):
            _, code, params = (self.message.as_dict()[key] for key in ("message", "code", "params"))
        return {
            "kind": self.kind, "rank": self.rank, "op": self.op,
            "code": code, "params": params, "message": str(self.message),
        }  # fmt: skip


def _message(data: Mapping[str, Any]) -> str:
    """Return the sentence in `data`: a Message if it has its code and params, else plain English."""
    if isinstance(data.get("code"), str) and isinstance(data.get("params"), dict):
        found: Message = from_codes({key: data[key] for key in ("code", "params", "message")})
        return found
    return str(data["message"])


NO_REASON = message("runs.no_reason", "The runner gave no reason.")
