"""Run one job from its command to its last event: planning, placing, warming, running, verifying.

A state machine driven by the service: replies of workers, losses of workers, and ticks. Knows neither stdin nor how
processes are started.
"""

from __future__ import annotations

import logging
import math
import threading
from collections.abc import Callable
from enum import Enum
from typing import Any

from backend.errors import RequestError
from runner.devices import Machine
from runner.engines.base import Engine, PlacementError, RankLost, RankRequest
from runner.failure import RunFailure
from runner.job import failure_texts
from runner.job.failure_texts import Place
from runner.job.plan import JobPlan, plan, with_hop
from runner.job.reports import Report, setups
from runner.job.watchdog import SECOND, Watchdog
from runner.messages import BOARD, RankError, Ready, Reply, StartStep, StepDone, Verify
from runner.model.verdict import Verdict
from runner.program.traffic import Traffic
from runner.protocol import Run
from runner.telemetry import clock
from runner.telemetry.op_board import Board
from runner.telemetry.stream import Stream
from runner.transport.mailbox import MailboxNeeds

log = logging.getLogger("runner")
Emit = Callable[..., None]
BATCH_NS = 50_000_000
WAITING_NS = 1_000_000_000  # between two `waiting` events
REMIND_NS = 30_000_000_000  # after which the same one is repeated, so that silence is not taken for a hang
PROGRESS_NS = 2_000_000_000  # without an event after which `progress` is sent, if there was any
PATIENCE_S = 600  # for places: a request for more than there is will not be met by waiting


class State(Enum):
    """The state of a job."""

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
        self.planned: JobPlan | Exception | None = None
        self.replies: dict[int, Reply] = {}
        self.losses: list[list[float]] = []  # of the micro-batches of each step
        self.last_batch = self.since = self.last_event = clock.now()
        self.progress: tuple[str, int, int] = ("", 0, 0)  # the last phase, step and count of work that were sent
        self.beats = 0  # of all ranks when the phase began
        self.longest = 0
        self.restarted = False
        self.waiting = ("", 0)  # the last reason for waiting that was sent, and when
        self.failure: tuple[int, RunFailure] | None = None  # an error of a rank, and until when another may explain it
        threading.Thread(target=self._make_plan, name="plan", daemon=True).start()

    def emit(self, event: str, **fields: Any) -> None:
        """Emit an event of this run."""
        self.last_event = clock.now()
        self.emit_line(event, id=self.run.id, **fields)

    def _make_plan(self) -> None:
        try:
            self.planned = plan(self.run, self.machine)
        except Exception as error:  # handled by `tick`, in the main thread
            self.planned = error

    @property
    def patience(self) -> float:
        """Return the seconds after which the service should tick at the latest."""
        return {State.PLANNING: 0.002, State.PLACING: 0.05, State.RUNNING: 0.05}.get(self.state, 0.25)

    def tick(self) -> None:
        """Do the work that is due now."""
        if self.failure is not None and clock.now() > self.failure[0] and not self.engine.dying():
            self.fail(self.failure[1])
        elif self.state is State.PLANNING and self.planned is not None:
            self._place(self.planned)
        elif self.state is State.PLACING:
            self._await_places()
        elif self.state is State.RUNNING:
            self._stream()
            self._report_progress()
            failure = self.watchdog.look(self.longest)
            if failure is not None and not self.engine.dying():  # the loss of a rank explains more, and is close
                self.fail(failure)
        elif self.state in (State.WARMING, State.VERIFYING):
            self._report_progress()
            self._check_patience()

    def reply(self, rank: int, reply: Reply) -> None:
        """Take the reply of a worker."""
        if isinstance(reply, RankError):
            if self.failure is None:
                failure = failure_texts.of_error(rank, reply, self._place_of(rank))
                self.failure = (clock.now() + self.engine.blame_ns, failure)
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
        """Take the loss of a rank. One lost before the run began costs the run only a new set of workers."""
        if self.state in (State.PLACING, State.WARMING) and not self.restarted:
            self.restarted = True
            self.engine.renew()
            self._request_ranks()
            return
        self.fail(
            failure_texts.of_loss(lost, failure_texts.NOWHERE if self.plan.together else self._place_of(lost.rank))
        )

    def cancel(self) -> None:
        """End the run now."""
        self._abandon("cancelled")

    def fail(self, failure: RunFailure) -> None:
        """End the run as failed."""
        self._abandon("failed", failure=failure.as_dict())

    def _abandon(self, event: str, **fields: Any) -> None:
        """End the run and its workers, and with them everything that it left in processes and sockets; new workers are
        started at once."""
        before, self.state = self.state, State.OVER
        if before is not State.PLANNING:
            self.engine.clear()
        self.emit(event, **fields)
        if before not in (State.PLANNING, State.PLACING):
            self.engine.place(self._request())

    def _request(self) -> RankRequest:
        """Return the request for the ranks of this run."""
        planned, run = self.plan, self.run
        return RankRequest(planned.ranks, planned.together, planned.device, run.spread, run.arrange)

    def _place_of(self, rank: int) -> Place:
        """Return where a rank is, for its failure."""
        if self.state is State.RUNNING:
            return failure_texts.in_op(self.watchdog.step(rank).text)
        return {State.WARMING: failure_texts.WARMING, State.VERIFYING: failure_texts.VERIFYING}.get(
            self.state, failure_texts.NOWHERE
        )

    def _place(self, planned: JobPlan | Exception) -> None:
        if isinstance(planned, RequestError):
            self.state = State.OVER
            self.emit("error", error=planned.as_dict())
        elif isinstance(planned, Exception):
            log.error("planning run %s", self.run.id, exc_info=planned)
            self.fail(failure_texts.unplanned(planned))
        else:
            self.plan = planned
            self.emit("warming")
            self._request_ranks()

    def _request_ranks(self) -> None:
        """Request ranks, and continue if they are ready."""
        self.state, self.since, self.failure = State.PLACING, clock.now(), None
        self.engine.place(self._request())
        self._await_places()

    def _await_places(self) -> None:
        """Continue once all ranks are placed; until then report what is missing, at most once a second. Fails the
        run after PATIENCE_S.
        """
        try:
            placed = self.engine.placed()
        except PlacementError as error:
            self.fail(failure_texts.refused(error.message))
            return
        waiting, (last, at), time = "" if placed else self.engine.waiting, self.waiting, clock.now()
        changed = waiting != last and time - at > WAITING_NS
        if changed or (waiting and time - at > REMIND_NS) or (last and placed):
            self.waiting = (waiting, time)
            self.emit("waiting", message=waiting)
        if placed:
            self.state = State.WARMING
            self._set_up()
        elif time - self.since > PATIENCE_S * SECOND:
            self.fail(failure_texts.no_place(PATIENCE_S, waiting))

    def _set_up(self) -> None:
        planned, self.since, self.replies = self.plan, clock.now(), {}
        training, programs = planned.training, planned.program.ranks
        shared = planned.device == "cpu" and not planned.together
        sends = [len(program.sends()) for program in programs]
        needs = MailboxNeeds(sends, training.tags, training.message_bytes) if shared else None
        self.resources = self.engine.job_resources(needs)
        counts = [len(program.steps) for program in programs]
        copies = [len(program.copies) for program in programs]
        self.traffic = Traffic(planned.program, training.message_bytes)
        self.board = Board(f"{self.resources.folder}/{BOARD}", counts, copies, self.traffic.received)
        self.stream = Stream(self.board, self.traffic)
        self.engine.watch(self.board)
        for rank, setup in enumerate(setups(planned, self.resources, self.board)):
            self.engine.send(rank, setup)

    def _go(self) -> None:
        """Start the first step: all ranks are ready."""
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
        """Emit `running`: the first recorded step begins."""
        facts = {"clock_ns": clock.uncertainty(), "t0_unix_ns": clock.unix(zero)} | self.engine.facts(over=False)
        self.emit("running", **self.report.running(self.plan), **facts)

    def _start(self) -> int:
        """Start a step a little later than now, at a time to which every rank sleeps; returns it."""
        self.replies = {}
        zero = clock.now() + self.engine.start_ns + 200_000 * self.plan.ranks
        for rank in range(self.plan.ranks):
            self.engine.send(rank, StartStep(zero, self._last, self.rehearsing, int(self.plan.hop_ms * 1e6)))
        self.watchdog = Watchdog(self.plan, self.board, self.engine.halted)
        return zero

    @property
    def _last(self) -> bool:
        """Return whether the step under way is the last one, whose ops are reported."""
        return len(self.losses) == self.plan.training.steps - 1 and not self.rehearsing

    def _step_done(self) -> None:
        """Continue after a step: with the next one, or with the verification."""
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
        """Emit the rows that are new since the last batch."""
        if not rest and (not self._last or clock.now() - self.last_batch < BATCH_NS):
            return
        self.last_batch = clock.now()
        for batch in self.stream.batches(rest):
            self.longest = self.stream.longest
            self.emit("op_batch", **batch)

    def _report_progress(self) -> None:
        """Emit `progress` if there was no event for PROGRESS_NS and ops or other pieces of work were done meanwhile: it
        proves that the ranks get on, not only that this process lives."""
        if clock.now() - self.last_event < PROGRESS_NS:
            return
        phase, step, done, work = self._work_done()
        if (phase, step, done) != self.progress:
            self.progress, self.since = (phase, step, done), clock.now()
            self.emit("progress", phase=phase, step=step, steps=self.plan.training.steps, done=done, of=work)

    def _work_done(self) -> tuple[str, int, int, int | None]:
        """Return the phase, the training step, the pieces of work done in it, and how many there are, if known: ops of
        the warm-up, ops of the step, or micro-batches that the reference has trained in all steps."""
        training, beats = self.plan.training, int(self.board.beats().sum())
        if self.state is State.VERIFYING:
            done, work = beats - self.beats, training.steps * training.micros
            return "verifying", 1 + min(done // training.micros, training.steps - 1), done, work
        done = int(self.board.done().sum())
        if self.state is State.WARMING or self.rehearsing:
            return "warming", 0, beats + done, None
        return "running", len(self.losses) + 1, done, self.plan.program.ops

    def _verify(self) -> None:
        self._stream(rest=True)
        self.state, self.since, self.beats = State.VERIFYING, clock.now(), int(self.board.beats().sum())
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
        verified, finished = self.report.finished(self.plan, self.board, self.results, self.losses, verdict)
        self.emit("verified", **verified)
        self.emit("finished", **finished, **self.engine.facts(over=True))

    def _check_patience(self) -> None:
        """Fail a run whose warming or verifying takes too long without progress."""
        seconds = 30.0 + self.plan.program.ops * (0.05 + 20 * self.longest / SECOND)
        if clock.now() - self.since > seconds * SECOND:
            silent = [rank for rank in range(self.plan.ranks) if rank not in self.replies]
            rank = 0 if self.state is State.VERIFYING else silent[0]
            self.fail(failure_texts.no_answer(rank, seconds, self._place_of(rank)))
