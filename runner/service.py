"""The main loop: commands in, events out, one job at a time. Single-threaded: it waits for lines, replies and deaths
together. Knows nothing of what a job does.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from multiprocessing.connection import Connection, wait
from typing import Any

from backend.schedule.errors import SpecError
from runner import devices, protocol
from runner.engines.local import LocalEngine
from runner.job import Job, State
from runner.work import MAX_RANKS

log = logging.getLogger("runner")
CHUNK = 65536


class Service:
    """Reads commands from `source`, writes events to `sink` (file descriptors) until told to stop."""

    def __init__(self, source: int, sink: int, engine: LocalEngine) -> None:
        self.source, self.sink, self.engine = source, sink, engine
        self.buffer = bytearray()
        self.overlong = False
        self.job: Job | None = None
        self.stopping = False
        self.handlers: dict[type[protocol.Command], Callable[[Any], None]] = {
            protocol.Run: self.start,
            protocol.Cancel: self.cancel,
            protocol.Devices: lambda _: self.emit("devices", **_machine()),
            protocol.Shutdown: self.stop,
        }

    def emit(self, event: str, **fields: Any) -> None:
        """One line out; a reader that is gone ends the program."""
        data = memoryview(protocol.line(event, **fields))
        try:
            while data:
                data = data[os.write(self.sink, data) :]
        except BrokenPipeError:
            self.stopping = True

    def serve(self) -> None:
        """Until stdin ends, a shutdown command, or a reader that is gone."""
        self.emit("ready", version=protocol.VERSION, **_machine())
        while not self.stopping:
            self.turn()

    def turn(self) -> None:
        """Wait for something to happen, or for the job's next tick, and see to it."""
        pipes = [worker.pipe for worker in self.engine.workers]
        ends = {worker.process.sentinel: number for number, worker in enumerate(self.engine.workers)}
        patience = self.job.patience if self.job is not None else None
        happened = wait([self.source, *pipes, *ends], patience)
        job = self.job
        dead = [ends[what] for what in happened if isinstance(what, int) and what in ends]
        if dead:
            self.bury(dead[0])
        else:
            for what in happened:
                if isinstance(what, Connection):
                    self.hear(what)
        if job is not None and self.job is job and job.state is not State.OVER:
            job.tick()
        if self.job is not None and self.job.state is State.OVER:
            self.job = None
        if self.source in happened:
            self.read()

    def bury(self, number: int) -> None:
        """A worker died: the job's affair, or, between jobs, a reason to start new ones. Its number is its rank's, the
        first one's if it has several."""
        process = self.engine.workers[number].process
        log.warning("worker %s, number %s, ended with exit code %s", process.pid, number, process.exitcode)
        if self.job is not None and self.job.state not in (State.OVER, State.PLANNING):
            self.job.lost(number, process.exitcode)
        else:
            self.engine.replace()

    def hear(self, pipe: Connection[Any, Any]) -> None:
        """A rank's reply; a worker whose pipe has ended is dead, which its sentinel tells."""
        try:
            rank, reply = pipe.recv()
        except (EOFError, OSError):
            return
        if self.job is not None and self.job.state is not State.OVER:
            self.job.reply(rank, reply)

    def read(self) -> None:
        """Take what stdin has and obey every whole line."""
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
                self.obey(bytes(text))
        if len(self.buffer) > protocol.MAX_LINE:
            message = f"a line has at most {protocol.MAX_LINE:,} bytes"
            if not self.overlong:
                self.refuse(SpecError("line", len(self.buffer), message, limit=protocol.MAX_LINE))
            self.overlong = True
            self.buffer.clear()

    def obey(self, text: bytes) -> None:
        """One line."""
        try:
            command = protocol.parse(text)
        except protocol.LineError as error:
            self.refuse(error, error.id)
        else:
            self.handlers[type(command)](command)

    def refuse(self, error: SpecError, run_id: str | None = None) -> None:
        """Answer a line that cannot be obeyed."""
        known = {} if run_id is None else {"id": run_id}
        self.emit("error", **known, error=error.as_dict())

    def start(self, run: protocol.Run) -> None:
        """Begin a job, unless one is under way."""
        if self.job is not None and self.job.state is not State.OVER:
            message = f"the runner is busy with run {self.job.run.id}"
            self.refuse(SpecError("cmd", "run", message), None if run.id == self.job.run.id else run.id)
            return
        self.job = Job(run, self.engine, self.emit)

    def cancel(self, command: protocol.Cancel) -> None:
        """End the job that is under way, if it is the one meant."""
        if self.job is None or self.job.state is State.OVER or self.job.run.id != command.id:
            self.refuse(SpecError("id", command.id, "no run of this id is under way"), command.id)
            return
        self.job.cancel()

    def stop(self, _: protocol.Shutdown) -> None:
        """End the program."""
        self.stopping = True


def _machine() -> dict[str, Any]:
    """What there is to run on, and what runs of how many ranks make of it."""
    return {"devices": devices.describe(), "choices": devices.choices(MAX_RANKS)}
