"""The failure of a run: one record, from the process in which it happens to the `failed` event."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from backend.errors import Message

FailureKind = Literal[
    "exception", "out_of_memory", "process_ended", "host_lost", "no_answer", "stalled", "no_place", "engine", "internal"
]
"""exception: raised in a rank; out_of_memory: a rank's memory is used up; process_ended: a rank's process is gone;
host_lost: its host is; no_answer: a rank, or its host, has not answered in time; stalled: no op finishes any more;
no_place: the engine has no room for the ranks; engine: the engine itself is lost; internal: a defect of the runner."""


@dataclass(frozen=True, slots=True)
class RunFailure:
    """The failure of a run: the `rank` and the `op`, if known, and a sentence for readers."""

    kind: FailureKind
    rank: int | None
    op: str | None
    message: Message

    def as_dict(self) -> dict[str, Any]:
        """Return the fields of the `failed` event: ``{"kind", "rank", "op", "code", "params", "message"}``."""
        return {"kind": self.kind, "rank": self.rank, "op": self.op, **self.message.as_dict()}
