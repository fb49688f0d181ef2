"""A client of the runner program for tests: starts it, talks to it, and finds its worker processes."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from backend.schedule.families import registry
from backend.schedule.order import wire
from backend.schedule.order.order import Order
from runner.protocol import Run
from tests.support import PATIENCE_S
from tests.support.processes import children_of, descendants_of

ROOT = Path(__file__).resolve().parents[3]
TINY = {"hidden": 16, "heads": 2, "sequence": 4, "batch": 1, "vocabulary": 16}
LAST = ("finished", "failed", "cancelled", "error")
Event = dict[str, Any]


class RunnerProgram:
    """`python -m runner` as a child process, or another module. `before` is a command that runs it elsewhere."""

    def __init__(self, module: str = "runner", *options: str, before: Sequence[str] = ()) -> None:
        command = [*before, sys.executable, "-m", module, *options]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT, bufsize=0)
        self.rest = b""
        self.ready = self.event()
        self.number = 0

    def write(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")

    def send(self, **command: Any) -> None:
        self.write(json.dumps(command).encode())

    def event(self, timeout: float = PATIENCE_S) -> Event:
        """The next event; fails instead of waiting without limit."""
        assert self.process.stdout is not None
        until = time.monotonic() + timeout
        while b"\n" not in self.rest:
            left = until - time.monotonic()
            assert select.select([self.process.stdout], [], [], max(0.0, left))[0], f"no event in {timeout} s"
            data = os.read(self.process.stdout.fileno(), 65536)
            assert data, "the runner closed its output"
            self.rest += data
        line, self.rest = self.rest.split(b"\n", 1)
        return json.loads(line)

    def await_silence(self, seconds: float, within: float = PATIENCE_S) -> None:
        """Wait until no event has come for some seconds; the events before are kept for `event`."""
        assert self.process.stdout is not None
        until = time.monotonic() + within
        while select.select([self.process.stdout], [], [], seconds)[0]:
            assert time.monotonic() < until, f"events came for {within} s"
            data = os.read(self.process.stdout.fileno(), 65536)
            assert data, "the runner closed its output"
            self.rest += data

    def until(self, *names: str, timeout: float = PATIENCE_S) -> list[Event]:
        """All events up to the first of one of these names."""
        events = [self.event(timeout)]
        while events[-1]["event"] not in names:
            events.append(self.event(timeout))
        return events

    def start(self, spec: dict[str, Any] | None = None, order: Order | None = None, **fields: Any) -> str:
        """Send a run command under a new id; without an order, that of the spec."""
        self.number += 1
        self.send(cmd="run", id=f"run-{self.number}", **job(spec, order), **fields)
        return f"run-{self.number}"

    def run(self, **fields: Any) -> list[Event]:
        """A whole run: its events, the last of which is its end."""
        self.start(**fields)
        return self.until(*LAST)

    def workers(self) -> list[int]:
        """Process ids of the workers: the children of the fork server, itself a child of the runner."""
        return sorted(worker for child in children_of(self.process.pid) for worker in children_of(child))

    def descendants(self) -> list[int]:
        """Every process that the runner started, directly or not."""
        return descendants_of(self.process.pid)

    def close(self) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        try:
            self.process.wait(PATIENCE_S)
        finally:
            self.process.kill()
            self.process.stdout.close()


def job(spec: dict[str, Any] | None = None, order: Order | None = None) -> dict[str, Any]:
    """The spec and the order of a run command; without an order, that of the spec."""
    spec = spec or {}
    return {"spec": spec, "order": wire.to_text(registry.order(registry.read(spec)) if order is None else order)}


def planned_run(spec: dict[str, Any] | None = None, order: Order | None = None, **fields: Any) -> Run:
    """A run command as the runner has read it."""
    return Run("a", **job(spec, order), **fields)
