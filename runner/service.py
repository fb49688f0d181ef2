"""The main loop: commands in, events out, one job at a time.

Single-threaded: it waits for lines, replies and losses together. Knows only the interface of a job.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from multiprocessing.connection import wait
from typing import Any

from backend.errors import RequestError, message
from runner import protocol
from runner.engines.base import Engine, EngineError, EngineEvent, EngineLost, RankLost, RankReply
from runner.job import failure_texts
from runner.job.job import Job
from runner.job.states import Planning

log = logging.getLogger("runner")
CHUNK = 65536
ENGINE_LOST = 3  # exit code of a runner whose engine is lost; a new one may find it again


class Service:
    """Reads commands from `source`, writes events to `sink` (file descriptors) until it is stopped."""

    def __init__(self, source: int, sink: int, engine: Engine) -> None:
        self.source, self.sink, self.engine = source, sink, engine
        self.buffer = bytearray()
        self.overlong = False
        self.job: Job | None = None
        self.stopping = False
        self.code = 0  # exit code of the program
        self.handlers: dict[type[protocol.Command], Callable[[Any], None]] = {
            protocol.Run: self.start,
            protocol.Cancel: self.cancel,
            protocol.Devices: lambda _: self.emit("devices", **engine.describe()),
            protocol.Shutdown: self.stop,
        }

    def emit(self, event: str, **fields: Any) -> None:
        """Write one line; a closed output ends the program."""
        data = memoryview(protocol.line(event, **fields))
        try:
            while data:
                data = data[os.write(self.sink, data) :]
        except BrokenPipeError:
            self.stopping = True

    def serve(self) -> int:
        """Serve until stdin ends, a shutdown command, or a closed output; return the program's exit code."""
        try:
            self.engine.open()
        except EngineError as error:
            log.error("%s", error)
            lost = {"hosts": [], "links": [], "waiting": ""}
            self.emit("cluster", address=self.engine.address, state="lost", why=error.message, **lost)
            return ENGINE_LOST
        self.emit("ready", version=protocol.VERSION, **self.engine.describe())
        while not self.stopping:
            self.turn()
        return self.code

    def turn(self) -> None:
        """Wait for an event, or for the job's next tick, and handle it."""
        patience = self.job.patience if self.job is not None else None
        happened = wait([self.source, *self.engine.waitables()], patience)
        job = self.job
        for event in self.engine.events(happened):
            self.handle(event)
        if job is not None and self.job is job and not job.over:
            job.tick()
        if self.job is not None and self.job.over:
            self.job = None
        if self.source in happened:
            self.read()

    def handle(self, event: EngineEvent) -> None:
        """Handle an event of the engine. The loss of a rank goes to the job; between jobs, new ranks are started."""
        job = self.job if self.job is not None and not self.job.over else None
        if isinstance(event, RankReply):
            if job is not None:
                job.reply(event.rank, event.reply)
        elif isinstance(event, RankLost):
            if job is not None and not isinstance(job.state, Planning):
                job.lost(event)
            else:
                self.engine.renew()
        elif isinstance(event, EngineLost):
            if job is not None:
                job.fail(failure_texts.engine_lost(event.why))
            self.code, self.stopping = ENGINE_LOST, True
        else:
            self.emit(event.event, **event.fields)

    def read(self) -> None:
        """Read from stdin and execute every whole line."""
        data = os.read(self.source, CHUNK)
        if not data:
            self.stopping = True
        self.buffer += data
        lines: list[bytearray] = []
        if b"\n" in data:
            *lines, self.buffer = self.buffer.split(b"\n")
        for text in lines:
            if self.overlong:
                self.overlong = False
            elif text.strip() and not self.stopping:
                self.execute(bytes(text))
        if len(self.buffer) > protocol.MAX_LINE:
            if not self.overlong:
                reason = message(
                    "runner.line_too_long", "a line has at most {limit} bytes", limit=f"{protocol.MAX_LINE:,}"
                )
                self.refuse(RequestError("line", len(self.buffer), reason, limit=protocol.MAX_LINE))
            self.overlong = True
            self.buffer.clear()

    def execute(self, text: bytes) -> None:
        """Execute one line."""
        try:
            command = protocol.parse(text)
        except protocol.LineError as error:
            self.refuse(error, error.id)
        else:
            self.handlers[type(command)](command)

    def refuse(self, error: RequestError, run_id: str | None = None) -> None:
        """Answer a line that cannot be executed."""
        known = {} if run_id is None else {"id": run_id}
        self.emit("error", **known, error=error.as_dict())

    def start(self, run: protocol.Run) -> None:
        """Start a job, unless one is in progress."""
        if self.job is not None and not self.job.over:
            reason = message("runner.busy", "the runner is busy with run {run}", run=self.job.run.id)
            self.refuse(RequestError("cmd", "run", reason), None if run.id == self.job.run.id else run.id)
            return
        try:
            machine = self.engine.machine(run)
        except RequestError as error:
            self.refuse(error, run.id)
            return
        self.job = Job(run, self.engine, machine, self.emit)

    def cancel(self, command: protocol.Cancel) -> None:
        """Cancel the job in progress, if it has this id."""
        if self.job is None or self.job.over or self.job.run.id != command.id:
            reason = message("runner.no_such_run", "no run of this id is in progress")
            self.refuse(RequestError("id", command.id, reason), command.id)
            return
        self.job.cancel()

    def stop(self, _: protocol.Shutdown) -> None:
        """End the program."""
        self.stopping = True
