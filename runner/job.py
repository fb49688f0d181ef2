"""One run from its command to its last event: planning, warming, running, verifying.

A state machine that is fed by the service: replies of workers, deaths of workers, and ticks. Knows nothing of lines
on stdin and of how processes are made.
"""

from __future__ import annotations

import logging
import math
import signal
import threading
from collections.abc import Callable
from enum import Enum
from typing import Any

from backend.schedule.errors import OrderError, SpecError
from runner import clock
from runner.board import Board
from runner.control import BOARD, TOLERANCE, Done, Go, Ready, Reply, Setup, Trouble, Verdict, Verify
from runner.engines.local import LocalEngine
from runner.measure import finite, judged, kept, notes, outcome
from runner.plan import Plan, plan
from runner.protocol import Run
from runner.stream import Stream
from runner.traffic import Traffic
from runner.watchdog import SECOND, Watchdog, ended

log = logging.getLogger("runner")
Emit = Callable[..., None]
BATCH_NS = 50_000_000
START_NS = 10_000_000  # from "go" to the common start: the time in which the slowest worker has read it
BLAME_NS = 300_000_000  # how long an error of a worker waits for the death of another that may explain it


class State(Enum):
    """Where a job is."""

    PLANNING = 0
    WARMING = 1
    RUNNING = 2
    VERIFYING = 3
    OVER = 4


class Job:
    """Drives one run on an engine; emits its events."""

    def __init__(self, run: Run, engine: LocalEngine, emit: Emit) -> None:
        self.run, self.engine, self.emit_line = run, engine, emit
        self.state = State.PLANNING
        self.planned: Plan | Exception | None = None
        self.replies: dict[int, Reply] = {}
        self.losses: list[list[float]] = []  # of the micro-batches of each step
        self.last_batch = self.since = clock.now()
        self.longest = 0
        self.restarted = False
        self.trouble: tuple[int, dict[str, Any]] | None = None
        threading.Thread(target=self._make_plan, name="plan", daemon=True).start()

    def emit(self, event: str, **fields: Any) -> None:
        """An event of this run."""
        self.emit_line(event, id=self.run.id, **fields)

    def _make_plan(self) -> None:
        try:
            self.planned = plan(self.run)
        except Exception as error:  # judged by `tick`, in the main thread
            self.planned = error

    @property
    def patience(self) -> float:
        """Seconds after which the service should tick at the latest."""
        return {State.PLANNING: 0.002, State.RUNNING: 0.05}.get(self.state, 0.25)

    def tick(self) -> None:
        """Whatever is due now."""
        if self.trouble is not None and clock.now() > self.trouble[0] and not self._dying():
            self.fail(self.trouble[1])
        elif self.state is State.PLANNING and self.planned is not None:
            self._warm(self.planned)
        elif self.state is State.RUNNING:
            self._stream()
            error = self.watchdog.look(self.longest)
            if error is not None:
                self.fail(error)
        elif self.state in (State.WARMING, State.VERIFYING):
            self._check_patience()

    def _dying(self) -> bool:
        """Whether a worker is over of which this process is yet to be told: that will explain any trouble."""
        return any(ended(pid) for pid in self.engine.pids())

    def reply(self, rank: int, reply: Reply) -> None:
        """A worker has answered."""
        if isinstance(reply, Trouble):
            message = f"rank {rank} failed{self._where(rank)}: {reply.message}"
            if self.trouble is None:
                self.trouble = (clock.now() + BLAME_NS, {"field": "rank", "value": rank, "message": message})
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

    def lost(self, rank: int, exit_code: int | None) -> None:
        """A worker is gone. One that went before it knew of this run costs it nothing but a new set of workers."""
        if self.state is State.WARMING and not self.restarted:
            self.restarted = True
            self.engine.replace()
            self._set_up()
            return
        cause = signal.Signals(-exit_code).name if exit_code is not None and exit_code < 0 else f"exit {exit_code}"
        pid = self.engine.worker(rank).pid
        message = f"rank {rank}'s worker process {pid} ended ({cause}){self._where(rank)}"
        if self.plan.together:
            message = f"the worker process of all ranks, {pid}, ended ({cause})"
        self.fail({"field": "rank", "value": rank, "message": message})

    def cancel(self) -> None:
        """End the run now."""
        self._abandon("cancelled")

    def fail(self, error: dict[str, Any]) -> None:
        """End the run with an error."""
        self._abandon("failed", error=error)

    def _abandon(self, event: str, **fields: Any) -> None:
        """What a broken run leaves in processes and sockets goes with its workers; new ones are forked at once."""
        touched = self.state is not State.PLANNING
        self.state = State.OVER
        if touched:
            self.engine.clear()
        self.emit(event, **fields)
        if touched:
            self.engine.resize(self.plan.ranks, self.plan.together)

    def _where(self, rank: int) -> str:
        if self.state is State.RUNNING:
            return f" in op {self.watchdog.step(rank).text}"
        return {State.WARMING: " while warming up", State.VERIFYING: " while verifying"}.get(self.state, "")

    def _warm(self, planned: Plan | Exception) -> None:
        if isinstance(planned, SpecError | OrderError):
            self.state = State.OVER
            self.emit("error", error=planned.as_dict())
        elif isinstance(planned, Exception):
            log.error("planning run %s", self.run.id, exc_info=planned)
            self.fail({"field": "runner", "value": None, "message": f"the runner failed to plan this run: {planned!r}"})
        else:
            self.plan, self.state = planned, State.WARMING
            self.emit("warming")
            self._set_up()

    def _set_up(self) -> None:
        planned, self.since, self.replies, self.trouble = self.plan, clock.now(), {}, None
        self.engine.resize(planned.ranks, planned.together)
        self.folder = self.engine.folder()
        counts = [len(program.steps) for program in planned.program.ranks]
        copies = [len(program.copies) for program in planned.program.ranks]
        self.traffic = Traffic(planned.program, planned.training)
        self.board = Board(f"{self.folder}/{BOARD}", counts, copies, self.traffic.received)
        self.stream = Stream(self.board, self.traffic)
        between_cpus = planned.device == "cpu" and not planned.together
        box = self.engine.mailbox(planned.program, planned.training) if between_cpus else None
        unit = (planned.unit_ms or 0.0) * 1e6
        for rank in range(planned.ranks):
            setup = Setup(
                group=self.engine.groups[rank],
                program=planned.program.ranks[rank],
                folder=self.folder,
                rows=self.board.places(rank),
                training=planned.training,
                device=planned.device_of(rank),
                arrivals=planned.arrivals_of(rank),
                replicas=planned.program.replicas,
                unit=unit,
                hop=int(planned.hop_ms * 1e6),
                mailbox=box,
                together=planned.together,
            )
            self.engine.send(rank, setup)

    def _go(self) -> None:
        """All are ready: have them begin."""
        ready = [reply for reply in self.replies.values() if isinstance(reply, Ready)]
        devices, self.note_ns = {reply.device for reply in ready}, max(reply.note_ns for reply in ready)
        self.state = State.RUNNING
        self.device = "cpu" if devices == {"cpu"} else ", ".join(sorted(devices))
        self.rehearsing = self.plan.rehearsed
        zero = self._start()
        if not self.rehearsing:
            self._running(zero)

    def _running(self, zero: int) -> None:
        """Tell that the first step whose losses count begins."""
        self.emit(
            "running",
            mode=self.plan.mode,
            why=self.plan.why,
            device=self.device,
            overlapped=False if self.plan.program.pairs else None,  # a CPU does the halves one after the other
            unit_ms=self.plan.unit_ms,
            clock_ns=clock.uncertainty(),
            t0_unix_ns=clock.unix(zero),
            ops=self.plan.program.ops,
        )

    def _start(self) -> int:
        """Name a start of a step a little ahead, which every rank then sleeps to; when."""
        self.replies = {}
        zero = clock.now() + START_NS + 200_000 * self.plan.ranks
        for rank in range(self.plan.ranks):
            self.engine.send(rank, Go(zero, self._last, self.rehearsing))
        self.watchdog = Watchdog(self.plan, self.board, self.engine.pids())
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
        last, self.results = self._last, [reply for _, reply in sorted(self.replies.items()) if isinstance(reply, Done)]
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
            folder=self.folder,
            ranks=self.plan.ranks,
            losses=tuple(loss for step in self.losses for loss in step),
            used=self.plan.used,
        )
        self.engine.send(0, verify)

    def _finish(self, verdict: Verdict) -> None:
        self.state = State.OVER
        dtype = self.plan.training.dtype
        judgement = {"verified": verdict.verified, "max_grad_error": verdict.max_grad_error}
        figures = judgement | {"tolerance": TOLERANCE[dtype]}
        loss = {"loss": finite(verdict.loss), "reference_loss": finite(verdict.reference_loss)}
        self.emit("verified", **figures, **loss, worst=verdict.worst)
        unit_ns = None if self.plan.unit_ms is None else self.plan.unit_ms * 1e6
        found = outcome(self.plan.timeline, self.board.times, unit_ns)
        self.emit(
            "finished",
            status="finished",
            **figures,
            **loss,
            device=self.device,
            mode=self.plan.mode,
            dtype=dtype,
            unit_ms=found.unit_ms,
            predicted=found.predicted,
            measured=found.measured,
            largest_residual=found.largest_residual,
            **kept(self.plan, self.results, self.losses),
            **notes(self.plan, found, verdict, self.results, self.losses),
            **judged(self.plan, self.board, self.traffic, self.note_ns, found),
        )

    def _check_patience(self) -> None:
        """Neither warming nor verifying may last for ever."""
        steps = self.plan.training.steps
        seconds = 30.0 + steps * self.plan.program.ops * (0.05 + 20 * self.longest / SECOND)
        if clock.now() - self.since > seconds * SECOND:
            silent = [rank for rank in range(self.plan.ranks) if rank not in self.replies]
            rank = 0 if self.state is State.VERIFYING else silent[0]
            message = f"rank {rank} has not answered for {seconds:.0f} s{self._where(rank)}"
            self.fail({"field": "rank", "value": rank, "message": message})
