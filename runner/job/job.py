"""Run one job from its command to its last event: planning, placing, warming, running, verifying.

A state machine driven by the service: replies of workers, losses of workers, and ticks. Knows neither stdin nor how
processes are started.
"""

from __future__ import annotations

import logging
import math
import threading
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from queue import SimpleQueue
from typing import Any

from backend.errors import RequestError
from runner.devices import Machine
from runner.engines.base import Engine, PlacementError, RankLost, RankRequest
from runner.failure import RunFailure
from runner.job import failure_texts
from runner.job.failure_texts import Place
from runner.job.plan import JobPlan, plan, with_hop
from runner.job.reports import Report, setups
from runner.job.states import Over, Placing, Planning, Running, State, Verifying, Warming
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


class Job:
    """Drives one run on an engine; emits its events."""

    def __init__(self, run: Run, engine: Engine, machine: Machine, emit: Emit) -> None:
        self.run, self.engine, self.machine, self.emit_line = run, engine, machine, emit
        planning = Planning()
        self.state: State = planning
        self.failure: tuple[int, RunFailure] | None = None  # an error of a rank, and until when another may explain it
        self.last_batch = self.last_event = clock.now()
        self.since = self.last_event  # when the state began, or its last progress
        self.progress: tuple[str, int, int] = ("", 0, 0)  # the last phase, step and count of work that were sent
        threading.Thread(target=partial(self._make_plan, planning.found), name="plan", daemon=True).start()

    @property
    def over(self) -> bool:
        """Return whether the last event was sent."""
        return isinstance(self.state, Over)

    def emit(self, event: str, **fields: Any) -> None:
        """Emit an event of this run."""
        self.last_event = clock.now()
        self.emit_line(event, id=self.run.id, **fields)

    def _make_plan(self, found: SimpleQueue[JobPlan | Exception]) -> None:
        try:
            found.put(plan(self.run, self.machine))
        except Exception as error:  # handled by `tick`, in the main thread
            found.put(error)

    @property
    def patience(self) -> float:
        """Return the seconds after which the service should tick at the latest."""
        return {Planning: 0.002, Placing: 0.05, Running: 0.05}.get(type(self.state), 0.25)

    def tick(self) -> None:
        """Do the work that is due now."""
        if self.failure is not None and clock.now() > self.failure[0] and not self.engine.dying():
            self.fail(self.failure[1])
            return
        match self.state:
            case Planning() as planning if not planning.found.empty():
                self._planned(planning.found.get())
            case Placing() as placing:
                self._await_places(placing)
            case Running() as running:
                self._stream(running)
                self._report_progress(running)
                failure = running.watchdog.look(running.stream.longest)
                if failure is not None and not self.engine.dying():  # the loss of a rank explains more, and is close
                    self.fail(failure)
            case Warming() | Verifying() as state:
                self._report_progress(state)
                self._check_patience(state)

    def reply(self, rank: int, reply: Reply) -> None:
        """Take the reply of a worker."""
        match self.state:
            case _ if isinstance(reply, RankError):
                if self.failure is None:
                    failure = failure_texts.of_error(rank, reply, self._place_of(rank))
                    self.failure = (clock.now() + self.engine.blame_ns, failure)
            case Verifying() as verifying if isinstance(reply, Verdict):
                self._finish(verifying, reply)
            case Warming() | Running() as state:
                state.replies[rank] = reply
                if len(state.replies) == state.plan.ranks:
                    replies = [each for _, each in sorted(state.replies.items())]
                    if isinstance(state, Warming):
                        self._begin(state, [each for each in replies if isinstance(each, Ready)])
                    else:
                        self._step_done(state, [each for each in replies if isinstance(each, StepDone)])

    def lost(self, lost: RankLost) -> None:
        """Take the loss of a rank. One lost before the run began costs the run only a new set of workers."""
        match self.state:
            case Placing(again=False) | Warming(again=False) as state:
                self.engine.renew()
                placing = state if isinstance(state, Placing) else Placing(state.plan)
                self._request_ranks(replace(placing, again=True))
            case Placing() | Warming() | Running() | Verifying() as state:
                place = failure_texts.NOWHERE if state.plan.together else self._place_of(lost.rank)
                self.fail(failure_texts.of_loss(lost, place))

    def cancel(self) -> None:
        """End the run now."""
        self._abandon("cancelled")

    def fail(self, failure: RunFailure) -> None:
        """End the run as failed."""
        self._abandon("failed", failure=failure.as_dict())

    def _abandon(self, event: str, **fields: Any) -> None:
        """End the run and its workers, and with them everything that it left in processes and sockets; new workers are
        started at once."""
        before, self.state = self.state, Over()
        if not isinstance(before, Planning):
            self.engine.clear()
        self.emit(event, **fields)
        if isinstance(before, Warming | Running | Verifying):
            self.engine.place(self._request(before.plan))

    def _request(self, plan: JobPlan) -> RankRequest:
        """Return the request for the ranks of this run."""
        return RankRequest(plan.ranks, plan.together, plan.device, self.run.spread, self.run.arrange)

    def _place_of(self, rank: int) -> Place:
        """Return where a rank is, for its failure."""
        match self.state:
            case Running(watchdog=watchdog):
                return failure_texts.in_op(watchdog.step(rank).text)
            case Warming():
                return failure_texts.WARMING
            case Verifying():
                return failure_texts.VERIFYING
        return failure_texts.NOWHERE

    def _planned(self, found: JobPlan | Exception) -> None:
        """Request ranks for the plan, or end the run with the error in its place."""
        if isinstance(found, RequestError):
            self.state = Over()
            self.emit("error", error=found.as_dict())
        elif isinstance(found, Exception):
            log.error("planning run %s", self.run.id, exc_info=found)
            self.fail(failure_texts.unplanned(found))
        else:
            self.emit("warming")
            self._request_ranks(Placing(found))

    def _request_ranks(self, placing: Placing) -> None:
        """Request ranks, and continue if they are ready."""
        self.state, self.since, self.failure = placing, clock.now(), None
        self.engine.place(self._request(placing.plan))
        self._await_places(placing)

    def _await_places(self, placing: Placing) -> None:
        """Continue once all ranks are placed; until then report what is missing, at most once a second. Fails the
        run after PATIENCE_S.
        """
        try:
            placed = self.engine.placed()
        except PlacementError as error:
            self.fail(failure_texts.refused(error.message))
            return
        waiting, time = "" if placed else self.engine.waiting, clock.now()
        since = time - placing.sent
        changed = waiting != placing.waiting and since > WAITING_NS
        if changed or (waiting and since > REMIND_NS) or (placing.waiting and placed):
            self.state = replace(placing, waiting=waiting, sent=time)
            self.emit("waiting", message=waiting)
        if placed:
            self._set_up(placing)
        elif time - self.since > PATIENCE_S * SECOND:
            self.fail(failure_texts.no_place(PATIENCE_S, waiting))

    def _set_up(self, placing: Placing) -> None:
        """Send the ranks their setups."""
        plan, self.since = placing.plan, clock.now()
        training, programs = plan.training, plan.program.ranks
        # Messages on streams wait for each other at both ends, which memory does not.
        shared = plan.device == "cpu" and not plan.together and plan.timeline.order.messages is None
        sends = [len(program.sends()) for program in programs]
        needs = MailboxNeeds(sends, training.tags, max(training.message_bytes)) if shared else None
        resources = self.engine.job_resources(needs)
        counts = [len(program.steps) for program in programs]
        copies = [len(program.copies) for program in programs]
        traffic = Traffic(plan.program, training.message_bytes)
        board = Board(f"{resources.folder}/{BOARD}", counts, copies, traffic.received)
        self.state = Warming(plan, placing.again, resources, board, Stream(board, traffic))
        self.engine.watch(board)
        for rank, setup in enumerate(setups(plan, resources, board)):
            self.engine.send(rank, setup)

    def _begin(self, warming: Warming, ready: list[Ready]) -> None:
        """Start the first step: all ranks are ready."""
        report, plan = Report(ready), warming.plan
        if self.run.hops == "measured" and report.hops:
            plan = with_hop(plan, report.hop_ms)
        self._start(warming, plan, report, plan.rehearsed)

    def _start(
        self,
        before: Warming | Running,
        plan: JobPlan,
        report: Report,
        rehearsing: bool,
        losses: tuple[list[float], ...] = (),
    ) -> None:
        """Start a step a little later than now, at a time to which every rank sleeps. Emit `running` before the first
        one that is recorded."""
        watchdog = Watchdog(plan, before.board, self.engine.halted, report.longest)
        state = Running(plan, before.resources, before.board, before.stream, report, watchdog, rehearsing, losses)
        self.state = state
        zero = clock.now() + self.engine.start_ns + 200_000 * plan.ranks
        for rank in range(plan.ranks):
            self.engine.send(rank, StartStep(zero, state.last, rehearsing, int(plan.hop_ms * 1e6)))
        if not rehearsing and not losses:
            facts = {"clock_ns": clock.uncertainty(), "t0_unix_ns": clock.unix(zero)} | self.engine.facts(over=False)
            self.emit("running", **report.running(plan), **facts)

    def _step_done(self, running: Running, results: list[StepDone]) -> None:
        """Continue after a step: with the next one, or with the verification."""
        if running.rehearsing:
            self._start(running, running.plan, running.report, rehearsing=False)
            return
        found = {micro: loss for result in results for micro, loss in result.losses.items()}
        losses = *running.losses, [found.get(micro, math.nan) for micro in range(running.plan.program.micros)]
        if running.last:
            self._verify(running, results, losses)
        else:
            self._start(running, running.plan, running.report, rehearsing=False, losses=losses)

    def _stream(self, running: Running, rest: bool = False) -> None:
        """Emit the rows that are new since the last batch."""
        if not rest and (not running.last or clock.now() - self.last_batch < BATCH_NS):
            return
        self.last_batch = clock.now()
        for batch in running.stream.batches(rest):
            self.emit("op_batch", **batch)

    def _report_progress(self, state: Warming | Running | Verifying) -> None:
        """Emit `progress` if there was no event for PROGRESS_NS and ops or other pieces of work were done meanwhile: it
        proves that the ranks get on, not only that this process lives."""
        if clock.now() - self.last_event < PROGRESS_NS:
            return
        phase, step, done, work = _work_done(state)
        if (phase, step, done) != self.progress:
            self.progress, self.since = (phase, step, done), clock.now()
            self.emit("progress", phase=phase, step=step, steps=state.plan.training.steps, done=done, of=work)

    def _verify(self, running: Running, results: list[StepDone], losses: tuple[list[float], ...]) -> None:
        self._stream(running, rest=True)
        plan, board, beats = running.plan, running.board, int(running.board.beats().sum())
        self.since = clock.now()
        self.state = Verifying(plan, board, running.stream, running.report, results, losses, beats)
        verify = Verify(
            training=plan.training,
            device=plan.device_of(0),
            folder=running.resources.folder,
            ranks=plan.ranks,
            losses=tuple(loss for step in losses for loss in step),
            used=plan.used,
        )
        self.engine.send(0, verify)

    def _finish(self, state: Verifying, verdict: Verdict) -> None:
        self.state = Over()
        verified, finished = state.report.finished(state.plan, state.board, state.results, state.losses, verdict)
        self.emit("verified", **verified)
        self.emit("finished", **finished, **self.engine.facts(over=True))

    def _check_patience(self, state: Warming | Verifying) -> None:
        """Fail a run whose warming or verifying takes too long without progress."""
        seconds = 30.0 + state.plan.program.ops * (0.05 + 20 * state.stream.longest / SECOND)
        if clock.now() - self.since > seconds * SECOND:
            replies = state.replies if isinstance(state, Warming) else {}
            rank = next(rank for rank in range(state.plan.ranks) if rank not in replies)
            self.fail(failure_texts.no_answer(rank, seconds, self._place_of(rank)))


def _work_done(state: Warming | Running | Verifying) -> tuple[str, int, int, int | None]:
    """Return the phase, the training step, the pieces of work done in it, and how many there are, if known: ops of
    the warm-up, ops of the step, or micro-batches that the reference has trained in all steps."""
    training, beats = state.plan.training, int(state.board.beats().sum())
    if isinstance(state, Verifying):
        done, work = beats - state.beats, training.steps * training.micros
        return "verifying", 1 + min(done // training.micros, training.steps - 1), done, work
    done = int(state.board.done().sum())
    if isinstance(state, Warming) or state.rehearsing:
        return "warming", 0, beats + done, None
    return "running", len(state.losses) + 1, done, state.plan.program.ops
