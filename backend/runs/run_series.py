"""Run several schedules one after the other on one runner process, whose workers stay warm, for the command line."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any

from backend.errors import from_codes, message
from backend.schedule.interop.measured_rows import KINDS, RowReader, named

Event = dict[str, Any]
FINAL = ("finished", "failed", "cancelled", "error")
Rows = dict[str, list[Any]]  # by kind, as named tuples


class RunnerGoneError(RuntimeError):
    """The runner ended without an answer, or cannot run; its messages are on standard error."""


class Series:
    """A runner process for the duration of the context."""

    def __init__(self, command: Sequence[str], cwd: str) -> None:
        self.command, self.cwd = command, cwd

    def __enter__(self) -> Series:
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            self.command,
            cwd=self.cwd,
            stdin=pipe,
            stdout=pipe,
            text=True,
            start_new_session=True,  # Ctrl-C is for the command, which then ends it
        )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        if kind is not None:  # such as Ctrl-C: a runner that is still loading reads nothing yet
            self.process.terminate()
        with suppress(BrokenPipeError):
            self.process.stdin.close()  # on which the runner ends, with its workers
        try:
            self.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()

    def ask(self, command: Mapping[str, Any], answers: Sequence[str], on_event: Callable[[Event], None]) -> Event:
        """Send a command and wait for one of its answers; ``on_event`` receives the events before it. Raises
        RunnerGoneError if the runner ends first."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        with suppress(BrokenPipeError):
            self.process.stdin.write(json.dumps(dict(command)) + "\n")
            self.process.stdin.flush()
        for line in self.process.stdout:
            event: Event = json.loads(line)
            if event["event"] != "op_batch":  # its many rows hold no sentences
                event = from_codes(event)
            if event["event"] in answers:
                return event
            if event["event"] == "missing":
                raise RunnerGoneError(event["why"])
            on_event(event)
        code = self.process.wait()
        raise RunnerGoneError(
            message(
                "runs.ended_before_run", "the runner ended with exit code {code} before the run was over", code=code
            )
        )

    def run(self, job: Mapping[str, Any], on_event: Callable[[Event], None] = lambda _: None) -> tuple[Event, Rows]:
        """Execute one run; returns its last event and its measured rows."""
        rows: Rows = {kind: [] for kind in KINDS}
        reader = RowReader()

        def take(event: Event) -> None:
            nonlocal reader
            if event["event"] == "running":
                reader = RowReader(event.get("fields"))
            for kind in KINDS if event["event"] == "op_batch" else ():
                rows[kind] += named(kind, reader.read(kind, event.get(kind, [])))
            on_event(event)

        return self.ask({"cmd": "run", "id": "once"} | dict(job), FINAL, take), rows
