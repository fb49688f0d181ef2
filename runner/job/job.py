"""One run from its command to its last event: planning, warming, running, verifying.

A state machine that is fed by the service: replies of workers, deaths of workers, and ticks. Knows nothing of lines
on stdin and of how processes are made.
"""

from __future__ import annotations

import logging
import math
import threading
from collections.abc import Callable
from enum import Enum
from typing import Any

from backend.schedule.errors import OrderError, SpecError
from runner.devices import Machine
from runner.engines.base import Engine, RankLost, RankRequest
from runner.job.plan import Plan, plan, with_hop
from runner.job.reports import Report, setups
from runner.job.watchdog import SECOND, Watchdog
from runner.messages import BOARD, RankError, Ready, Reply, StartStep, StepDone, Verdict, Verify
from runner.program.traffic import Traffic
from runner.protocol import Run
from runner.telemetry import clock
from runner.telemetry.op_board import Board
from runner.telemetry.stream import Stream

log = logging.getLogger("runner")
Emit = Callable[..., None]
BATCH_NS = 50_000_000
TELL_NS = 1_000_000_000  # between two words about what a run waits for
REMIND_NS = 30_000_000_000  # after which the same is told again, so that nobody takes silence for a hang
PATIENCE_S = 600  # for places; whoever asks for more than there is will not get it by waiting


class State(Enum):
    """Where a job is."""

    PLANNING = 0
    PLACING = 1
    WARMING = 2
    RUNNING = 3
    VERIFYING = 4
    OVER = 5


class Job:
    """Drives one run on an engine; emits its events."""

    def __init__(self, run: Run, engine: Engine, machine: Machine, emit: Emit) -> None:
        self.run, self.engine, self.machine, self.emit_line = run, engine, machine, emit
        self.state = State.PLANNING
        self.planned: Plan | Exception | None = None
        self.replies: dict[int, Reply] = {}
        self.losses: list[list[float]] = []  # of the micro-batches of each step
        self.last_batch = self.since = clock.now()
        self.longest = 0
        self.restarted = False
        self.told = ("", 0)  # the last word about places, and when
        self.trouble: tuple[int, dict[str, Any]] | None = None
        threading.Thread(target=self._make_plan, name="plan", daemon=True).start()

    def emit(self, event: str, **fields: Any) -> None:
        """An event of this run."""
        self.emit_line(event, id=self.run.id, **fields)

    def _make_plan(self) -> None:
        try:
            self.planned = plan(self.run, self.machine)
        except Exception as error:  # judged by `tick`, in the main thread
            self.planned = error

    @property
    def patience(self) -> float:
        """Seconds after which the service should tick at the latest."""
        return {State.PLANNING: 0.002, State.PLACING: 0.05, State.RUNNING: 0.05}.get(self.state, 0.25)

    def tick(self) -> None:
        """Whatever is due now."""
        if self.trouble is not None and clock.now() > self.trouble[0] and not self.engine.dying():
            self.fail(self.trouble[1])
        elif self.state is State.PLANNING and self.planned is not None:
            self._place(self.planned)
        elif self.state is State.PLACING:
            self._await_places()
        elif self.state is State.RUNNING:
            self._stream()
            error = self.watchdog.look(self.longest)
            if error is not None and not self.engine.dying():  # a rank that is lost says more, and soon
                self.fail(error)
        elif self.state in (State.WARMING, State.VERIFYING):
            self._check_patience()

    def reply(self, rank: int, reply: Reply) -> None:
        """A worker has answered."""
        if isinstance(reply, RankError):
            message = f"rank {rank} failed{self._where(rank)}: {reply.message}"
            if self.trouble is None:
                self.trouble = (
                    clock.now() + self.engine.blame_ns,
                    {"field": "rank", "value": rank, "message": message},
                )
            return
        if isinstance(reply, Verdict):
            self._finish(reply)
            return
        self.replies[rank] = reply
        if len(self.replies) == self.plan.ranks:
            if self.state is State.WARMING:
                self._go()
            else:
                self._step_done()

    def lost(self, lost: RankLost) -> None:
        """A rank is gone. One that went before it knew of this run costs it nothing but a new set of workers."""
        if self.state in (State.PLACING, State.WARMING) and not self.restarted:
            self.restarted = True
            self.engine.renew()
            self._seek()
            return
        where = "" if self.plan.together else self._where(lost.rank)
        message = f"{lost.what}{where}" + (f": {lost.why}" if lost.why else "")
        self.fail({"field": "rank", "value": lost.rank, "message": message})

    def cancel(self) -> None:
        """End the run now."""
        self._abandon("cancelled")

    def fail(self, error: dict[str, Any]) -> None:
        """End the run with an error."""
        self._abandon("failed", error=error)

    def _abandon(self, event: str, **fields: Any) -> None:
        """What a broken run leaves in processes and sockets goes with its workers; new ones are started at once."""
        before, self.state = self.state, State.OVER
        if before is not State.PLANNING:
            self.engine.clear()
        self.emit(event, **fields)
        if before not in (State.PLANNING, State.PLACING):
            self.engine.place(self._ask())

    def _ask(self) -> RankRequest:
        """The ranks that this run wants."""
        planned, run = self.plan, self.run
        return RankRequest(planned.ranks, planned.together, planned.device, run.spread, run.arrange)

    def _where(self, rank: int) -> str:
        if self.state is State.RUNNING:
            return f" in op {self.watchdog.step(rank).text}"
        return {State.WARMING: " while warming up", State.VERIFYING: " while verifying"}.get(self.state, "")

    def _place(self, planned: Plan | Exception) -> None:
        if isinstance(planned, SpecError | OrderError):
            self.state = State.OVER
            self.emit("error", error=planned.as_dict())
        elif isinstance(planned, Exception):
            log.error("planning run %s", self.run.id, exc_info=planned)
            self.fail({"field": "runner", "value": None, "message": f"the runner failed to plan this run: {planned!r}"})
        else:
            self.plan = planned
            self.emit("warming")
            self._seek()

    def _seek(self) -> None:
        """Request places, and go on if they are there."""
        self.state, self.since, self.trouble = State.PLACING, clock.now(), None
        self.engine.place(self._ask())
        self._await_places()

    def _await_places(self) -> None:
        """Say what is missing, at most once a second; not for ever."""
        try:
            placed = self.engine.placed()
        except SpecError as error:
            self.fail(error.as_dict())
            return
        words, (told, at), time = "" if placed else self.engine.waiting, self.told, clock.now()
        if (words != told and time - at > TELL_NS) or (words and time - at > REMIND_NS) or (told and placed):
            self.told = (words, time)
            self.emit("waiting", message=words)
        if placed:
            self.state = State.WARMING
            self._set_up()
        elif time - self.since > PATIENCE_S * SECOND:
            message = f"there was no place for this run in {PATIENCE_S} s: {words}"
            self.fail({"field": "p", "value": self.plan.ranks, "message": message})

    def _set_up(self) -> None:
        planned, self.since, self.replies = self.plan, clock.now(), {}
        self.resources = self.engine.job_resources(planned)
        counts = [len(program.steps) for program in planned.program.ranks]
        copies = [len(program.copies) for program in planned.program.ranks]
        self.traffic = Traffic(planned.program, planned.training)
        self.board = Board(f"{self.resources.folder}/{BOARD}", counts, copies, self.traffic.received)
        self.stream = Stream(self.board, self.traffic)
        self.engine.watch(self.board)
        for rank, setup in enumerate(setups(planned, self.resources, self.board)):
            self.engine.send(rank, setup)

    def _go(self) -> None:
        """All are ready: have them begin."""
        ready = [reply for _, reply in sorted(self.replies.items()) if isinstance(reply, Ready)]
        self.state = State.RUNNING
        self.report = Report(ready)
        if self.run.hops == "measured" and self.report.hops:
            self.plan = with_hop(self.plan, self.report.hop_ms)
        self.rehearsing = self.plan.rehearsed
        zero = self._start()
        if not self.rehearsing:
            self._running(zero)

    def _running(self, zero: int) -> None:
        """Tell that the first step whose losses count begins."""
        facts = {"clock_ns": clock.uncertainty(), "t0_unix_ns": clock.unix(zero)} | self.engine.facts(over=False)
        self.emit("running", **self.report.running(self.plan), **facts)

    def _start(self) -> int:
        """Name a start of a step a little ahead, which every rank then sleeps to; when."""
        self.replies = {}
        zero = clock.now() + self.engine.start_ns + 200_000 * self.plan.ranks
        for rank in range(self.plan.ranks):
            self.engine.send(rank, StartStep(zero, self._last, self.rehearsing, int(self.plan.hop_ms * 1e6)))
        self.watchdog = Watchdog(self.plan, self.board, self.engine.halted)
        return zero

    @property
    def _last(self) -> bool:
        """Whether the step under way is the last one, whose ops are reported."""
        return len(self.losses) == self.plan.training.steps - 1 and not self.rehearsing

    def _step_done(self) -> None:
        """All ranks are through a step."""
        if self.rehearsing:
            self.rehearsing = False
            self._running(self._start())
            return
        last, self.results = (
            self._last,
            [reply for _, reply in sorted(self.replies.items()) if isinstance(reply, StepDone)],
        )
        found = {micro: loss for result in self.results for micro, loss in result.losses.items()}
        self.losses.append([found.get(micro, math.nan) for micro in range(self.plan.program.micros)])
        if last:
            self._verify()
        else:
            self._start()

    def _stream(self, rest: bool = False) -> None:
        """Report the ops that ended since the last batch."""
        if not rest and (not self._last or clock.now() - self.last_batch < BATCH_NS):
            return
        self.last_batch = clock.now()
        for batch in self.stream.batches(rest):
            self.longest = self.stream.longest
            self.emit("op_batch", **batch)

    def _verify(self) -> None:
        self._stream(rest=True)
        self.state, self.since = State.VERIFYING, clock.now()
        verify = Verify(
            training=self.plan.training,
            device=self.plan.device_of(0),
            folder=self.resources.folder,
            ranks=self.plan.ranks,
            losses=tuple(loss for step in self.losses for loss in step),
            used=self.plan.used,
        )
        self.engine.send(0, verify)

    def _finish(self, verdict: Verdict) -> None:
        self.state = State.OVER
        verified, finished = self.report.finished(
            self.plan, self.board, self.traffic, self.results, self.losses, verdict
        )
        self.emit("verified", **verified)
        self.emit("finished", **finished, **self.engine.facts(over=True))

    def _check_patience(self) -> None:
        """Neither warming nor verifying may last for ever."""
        steps = self.plan.training.steps
        seconds = 30.0 + steps * self.plan.program.ops * (0.05 + 20 * self.longest / SECOND)
        if clock.now() - self.since > seconds * SECOND:
            silent = [rank for rank in range(self.plan.ranks) if rank not in self.replies]
            rank = 0 if self.state is State.VERIFYING else silent[0]
            message = f"rank {rank} has not answered for {seconds:.0f} s{self._where(rank)}"
            self.fail({"field": "rank", "value": rank, "message": message})
