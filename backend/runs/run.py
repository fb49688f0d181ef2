"""The state of one run: its request, its progress, and how the runner's events change it. Does no input or output."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from backend.errors import from_codes, message
from backend.runs.errors import RunFailure
from backend.runs.run_log import Event, RunLog
from backend.schedule.interop.measured_rows import FIELDS, KINDS, RowReader

PHASES = ("warming", "running", "verifying")
OVER = frozenset({"finished", "failed", "cancelled"})
MODES = ("auto", "paced", "free")
MOST = 2**53  # of a number that a page can count
IMPORTED = "imported"  # the mode of a run that happened elsewhere
# The facts that an event of the runner sets, besides the status.
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
        "calibrated", "tolerance", "starved", "over_plan", "too_busy", "clock_ns", "hosts", "clocks", "links", "hop_ms",
    ),
    "failed": ("failure",),
    "cancelled": (),
}  # fmt: skip
STATUSES = ("queued", *CARRIED)
FACTS = (
    "device", "overlapped", "clock_ns", "predicted", "measured", "verified", "max_grad_error", "loss", "reference_loss",
    "worst", "largest_residual", "failure", "slowest", "why", "tolerance", "calibrated",
)  # fmt: skip
"""What every run has in a list, null until the runner has reported it."""


@dataclass(slots=True)
class Run:
    """A run from its request to its end: `log` has every event, the other fields the present state."""

    id: str
    spec: dict[str, Any]
    asked_mode: str
    unit_ms: float | None
    created: float
    owner: str = ""  # who may change it, see backend/access; not told to anybody
    order: str = ""  # wire.to_text of its order; "" in runs that were stored without one, see run_order.py
    options: dict[str, Any] = field(default_factory=dict)  # dtype, device, steps, seed as asked, see options.py
    name: str = ""  # given by a reader
    status: str = "queued"
    position: int | None = None
    waiting: str = ""  # a sentence: for which resources, while there are not enough of them for it to start
    progress: dict[str, Any] = field(default_factory=dict)  # phase, step and steps, while a long run reports them
    notice: str = ""  # a sentence of the server about a run in progress: that it stops soon
    unkept: str | None = None  # a sentence: why the database lacks its present state
    facts: dict[str, Any] = field(default_factory=dict)
    log: RunLog = field(init=False)
    _reader: RowReader = field(init=False, repr=False)
    _counted: tuple[Any, ...] = field(init=False, repr=False, default=())  # phase, step, count

    def __post_init__(self) -> None:
        self.log, self._reader = RunLog(self.id), RowReader()

    @property
    def over(self) -> bool:
        return self.status in OVER

    @property
    def asked(self) -> dict[str, Any] | None:
        """Return the options chosen for the run, for a run with the same ones; None for an imported run."""
        return {"mode": self.asked_mode, "unit_ms": self.unit_ms, **self.options} if self.options else None

    def move(self, position: int) -> bool:
        """Set the run's position in the queue, 1 being next; returns whether it changed."""
        if position == self.position:
            return False
        self.position = position
        self.log.append("queued", position=position)
        return True

    def apply(self, event: Event) -> None:
        """Apply an event of the runner; a run that is over does not change. Raises ValueError for an unknown event
        or one of another shape.
        """
        name = event.get("event")
        if self.over:
            return
        if name == "op_batch":
            given = [kind for kind in KINDS if kind in event or kind == "ops"]  # a batch always has ops, maybe none
            self.log.extend({kind: self._reader.read(kind, event[kind]) for kind in given})
        elif name == "waiting":
            self.status, self.position, self.waiting = "warming", None, event.get("message") or ""
            self.log.append("waiting", waiting=self.waiting)
        elif name == "progress":
            self._apply_progress(event)
        elif name in CARRIED:
            self.waiting = ""
            carried = {key: event[key] for key in CARRIED[name] if key in event}
            if name == "running":
                self._reader = RowReader(event.get("fields"))
            elif name == "failed":
                carried["failure"] = RunFailure.read(event.get("failure")).as_dict()
            self.facts |= carried
            self.status, self.position = name, None
            self.log.append(name, **carried, **({"fields": FIELDS} if name == "running" else {}))
        else:
            text = message("runs.unknown_event", "the runner sent an unknown event: {name}", name=str(name)[:80])
            raise ValueError(text)

    def follow(self, text: str) -> None:
        """Apply the next entry of the log that another process keeps of this run, encoded by `RunLog.texts`.

        Raises ValueError, KeyError for one that cannot be read.
        """
        entry = self.log.take(text)
        name, fields = entry["event"], from_codes({key: entry[key] for key in entry if key not in ("event", "fields")})
        if name == "queued":
            self.position = fields["position"]
        elif name == "waiting":
            self.status, self.position, self.waiting = "warming", None, fields["waiting"]
        elif name == "progress":
            self.progress = fields["progress"]
        elif name == "notice":
            self.notice = fields["notice"]
        elif name in CARRIED:
            self.status, self.position, self.waiting = name, None, ""
            self.facts |= fields

    def gets_on(self, event: Event) -> bool:
        """Return whether an event `progress` reports more than the last one that was applied."""
        return (event.get("phase"), event.get("step"), event.get("done")) != self._counted

    def _apply_progress(self, event: Event) -> None:
        """Set the progress; viewers receive it where the phase or the step has changed. Raises ValueError."""
        phase, numbers = event.get("phase"), [event.get(key) for key in ("step", "steps", "done")]
        if phase not in PHASES or any(type(each) is not int or not 0 <= each < MOST for each in numbers):
            raise ValueError(message("runs.bad_progress", "the runner sent progress that cannot be read"))
        self._counted = (phase, numbers[0], numbers[2])
        progress = {"phase": phase, "step": numbers[0], "steps": numbers[1]}
        if progress != self.progress:
            self.progress = progress
            self.log.append("progress", progress=progress)

    def announce_stop(self, seconds: str) -> None:
        """Tell the viewers that the server ends the run in `seconds`."""
        text = message(
            "runs.server_stops_soon", "The server stops in {seconds} s, and this run with it.", seconds=seconds
        )
        self.notice = text
        self.log.append("notice", notice=text)

    def fail(self, failure: RunFailure) -> None:
        """End the run with a failure that is not the runner's report."""
        self.apply({"event": "failed", "failure": failure.as_dict()})

    def summary(self) -> dict[str, Any]:
        """Return the run without its rows: what a list shows."""
        return {
            "id": self.id, "name": self.name, "status": self.status, "position": self.position, "spec": self.spec,
            "mode": None, "unit_ms": self.unit_ms, "asked_mode": self.asked_mode, "asked": self.asked,
            "created": self.created, "seq": self.log.seq, "op_count": self.log.ops, "unkept": self.unkept,
            **dict.fromkeys(FACTS), **self.facts, **({"waiting": self.waiting} if self.waiting else {}),
            **({"progress": self.progress} if self.progress and not self.over else {}),
            **({"notice": self.notice} if self.notice and not self.over else {}),
        }  # fmt: skip

    def as_dict(self) -> dict[str, Any]:
        """Return the whole run, with every row so far."""
        rows = {kind: [list(row) for row in self.log.rows(kind)] for kind in KINDS}
        return self.summary() | {"fields": FIELDS} | rows
