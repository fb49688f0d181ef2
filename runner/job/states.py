"""The states of a job, in their order: each has what is known by then."""

from __future__ import annotations

from dataclasses import dataclass, field
from queue import SimpleQueue

from runner.engines.base import JobResources
from runner.job.plan import JobPlan
from runner.job.reports import Report
from runner.job.watchdog import Watchdog
from runner.messages import Reply, StepDone
from runner.telemetry.op_board import Board
from runner.telemetry.stream import Stream


@dataclass(frozen=True)
class Planning:
    """A thread makes the plan and puts it, or its error, into `found`."""

    found: SimpleQueue[JobPlan | Exception] = field(default_factory=SimpleQueue)


@dataclass(frozen=True)
class Placing:
    """Ranks are requested. `again`: some were lost, and are requested a second time; `waiting` is the last reason for
    waiting that was sent, at `sent`."""

    plan: JobPlan
    again: bool = False
    waiting: str = ""
    sent: int = 0


@dataclass(frozen=True)
class Warming:
    """Ranks have their setup and warm up; `replies` by rank. `again` as in `Placing`."""

    plan: JobPlan
    again: bool
    resources: JobResources
    board: Board
    stream: Stream
    replies: dict[int, Reply] = field(default_factory=dict)


@dataclass(frozen=True)
class Running:
    """A step is under way. `losses` are those of each micro-batch of the steps before it, `replies` by rank; a
    rehearsal is a step that is not recorded."""

    plan: JobPlan
    resources: JobResources
    board: Board
    stream: Stream
    report: Report
    watchdog: Watchdog
    rehearsing: bool
    losses: tuple[list[float], ...] = ()
    replies: dict[int, Reply] = field(default_factory=dict)

    @property
    def last(self) -> bool:
        """Return whether the step is the last one, whose ops are reported."""
        return len(self.losses) == self.plan.training.steps - 1 and not self.rehearsing


@dataclass(frozen=True)
class Verifying:
    """Rank 0 compares the results with a reference. `beats` is the work counted when it began."""

    plan: JobPlan
    board: Board
    stream: Stream
    report: Report
    results: list[StepDone]
    losses: tuple[list[float], ...]
    beats: int


@dataclass(frozen=True)
class Over:
    """The last event was sent."""


State = Planning | Placing | Warming | Running | Verifying | Over
