"""One run: what was asked, how far it is, and how the runner's events change that.

Pure state: knows no process, no queue, no database and no viewer.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from backend.runs.errors import failure
from backend.runs.run_log import KINDS, WIDTHS, Message, Row, RunLog

OVER = frozenset({"finished", "failed", "cancelled"})
MODES = ("auto", "paced", "free")
IMPORTED = "imported"  # the mode of a run that happened elsewhere
# What an event of the runner sets, besides the status.
CARRIED = {
    "warming": (),
    "running": (
        "mode", "why", "device", "overlapped", "unit_ms", "clock_ns", "t0_unix_ns", "hosts", "clocks", "links",
        "hop_ms",
    ),
    "verified": ("verified", "loss", "reference_loss", "max_grad_error", "tolerance", "worst"),
    "finished": (
        "verified", "max_grad_error", "loss", "device", "mode", "unit_ms", "predicted", "measured", "largest_residual",
        "activations", "weight_versions", "losses", "notes", "dtype", "idle", "busy", "slowest", "instrumentation",
        "calibrated", "tolerance", "starved", "clock_ns", "hosts", "clocks", "links", "hop_ms",
    ),
    "failed": ("error",),
    "cancelled": (),
}  # fmt: skip


@dataclass(slots=True)
class Run:
    """A run from its request to its end; `log` holds what happened, the other fields what holds now."""

    id: str
    spec: dict[str, Any]
    asked_mode: str
    unit_ms: float | None
    created: float
    owner: str = ""
    given: dict[str, Any] = field(default_factory=dict)  # the order, where the runner would have to seek it again
    options: dict[str, Any] = field(default_factory=dict)  # dtype, device, steps, seed as asked, see apply_options.py
    name: str = ""  # what a person calls it
    status: str = "queued"
    position: int | None = None
    waiting: str = ""  # for which resources, in words, while there are not enough of them for it to start
    unkept: str | None = None  # why the database does not have it as it is now
    facts: dict[str, Any] = field(default_factory=dict)
    log: RunLog = field(init=False)

    def __post_init__(self) -> None:
        self.log = RunLog(self.id)

    @property
    def over(self) -> bool:
        return self.status in OVER

    @property
    def asked(self) -> dict[str, Any] | None:
        """What was chosen for it, so that it can be chosen again; None of a run from elsewhere."""
        return {"mode": self.asked_mode, "unit_ms": self.unit_ms, **self.options} if self.options else None

    def move(self, position: int) -> bool:
        """Note the run's place in the line, 1 being next; tells whether it changed."""
        if position == self.position:
            return False
        self.position = position
        self.log.append("queued", position=position)
        return True

    def apply(self, event: Message) -> None:
        """Take an event of the runner in; nothing changes a run that is over."""
        name = event.get("event")
        if self.over:
            return
        if name == "op_batch":
            ops = _rows("ops", event["ops"]) + _copies(event.get("copies", []))
            details = {kind: _rows(kind, event[kind]) for kind in KINDS[1:] if kind in event}
            self.log.extend({"ops": ops} | details)
        elif name == "waiting":
            self.status, self.position, self.waiting = "warming", None, str(event.get("message", ""))
            self.log.append("waiting", waiting=self.waiting)
        elif name in CARRIED:
            self.waiting = ""
            carried = {key: event[key] for key in CARRIED[name] if key in event}
            self.facts |= carried
            self.status, self.position = name, None
            self.log.append(name, **carried)
        else:
            raise ValueError(f"the runner sent an unknown event: {str(name)[:80]}")

    def fail(self, field_: str, value: Any, message: str) -> None:
        """End the run with an error of our own."""
        self.apply({"event": "failed", "error": failure(field_, value, message)})

    def summary(self) -> dict[str, Any]:
        """The run without its ops: what a list shows."""
        facts = dict.fromkeys(
            ("device", "overlapped", "clock_ns", "predicted", "measured", "verified", "max_grad_error", "loss",
             "reference_loss", "worst", "largest_residual", "error", "slowest", "why", "tolerance", "calibrated")
        )  # fmt: skip
        return {
            "id": self.id, "name": self.name, "status": self.status, "position": self.position, "spec": self.spec,
            "mode": None, "unit_ms": self.unit_ms, "asked_mode": self.asked_mode, "asked": self.asked,
            "created": self.created, "seq": self.log.seq, "op_count": self.log.ops, "unkept": self.unkept,
            **facts, **self.facts, **({"waiting": self.waiting} if self.waiting else {}),
        }  # fmt: skip

    def as_dict(self) -> dict[str, Any]:
        """The whole run, with everything measured so far."""
        return self.summary() | {kind: self.log.rows(kind) for kind in KINDS}


def _rows(kind: str, rows: Any) -> list[Row]:
    """The rows of a batch, held to their shape so that a bad one cannot spoil what is kept and sent on."""
    found = list(rows)
    if not {WIDTHS[kind]}.issuperset(map(len, found)) or not {int}.issuperset(map(type, chain.from_iterable(found))):
        raise ValueError(f"the runner sent {kind} that are not rows of {WIDTHS[kind]} whole numbers")
    return found


def _copies(rows: Any) -> list[Row]:
    """The copies of a batch as rows among the ops: the k-th of a rank's copy lane has the index -1 - k, and its bytes
    where an op has its wait."""
    return [[rank, -1 - k, *times] for rank, k, *times in _rows("ops", rows)]
