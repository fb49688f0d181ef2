"""Runs one after the other on a runner of their own, whose workers stay warm between them: for the command line.

Knows the runner's protocol, not how it works; the runner is another program.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any

Message = dict[str, Any]
FINAL = ("finished", "failed", "cancelled", "error")
KEYS = ("ops", "bytes", "copies", "messages")
Rows = dict[str, list[list[int]]]


class RunnerGoneError(RuntimeError):
    """The runner ended without an answer; its own words are on standard error."""


class Series:
    """A runner as long as the context lasts."""

    def __init__(self, command: Sequence[str], cwd: str) -> None:
        self.command, self.cwd = command, cwd

    def __enter__(self) -> Series:
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(self.command, cwd=self.cwd, stdin=pipe, stdout=pipe, text=True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        with suppress(BrokenPipeError):
            self.process.stdin.close()  # the runner's sign to end, workers and all
        try:
            self.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()

    def ask(self, command: Mapping[str, Any], answers: Sequence[str], on_event: Callable[[Message], None]) -> Message:
        """Send a command and wait for one of its answers; ``on_event`` gets what comes before. Raises RunnerGoneError
        if the runner dies on the way."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        with suppress(BrokenPipeError):
            self.process.stdin.write(json.dumps(dict(command)) + "\n")
            self.process.stdin.flush()
        for line in self.process.stdout:
            message: Message = json.loads(line)
            if message["event"] in answers:
                return message
            on_event(message)
        raise RunnerGoneError(f"the runner ended with exit code {self.process.wait()} before the run was over")

    def run(self, job: Mapping[str, Any], on_event: Callable[[Message], None] = lambda _: None) -> tuple[Message, Rows]:
        """One run: its last message, and everything that its batches held, by key."""
        rows: Rows = {key: [] for key in KEYS}

        def take(message: Message) -> None:
            for key in KEYS if message["event"] == "op_batch" else ():
                rows[key] += message.get(key, [])
            on_event(message)

        return self.ask({"cmd": "run", "id": "once"} | dict(job), FINAL, take), rows
