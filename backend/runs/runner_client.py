"""The runner program as a child process: JSON lines over its pipes, restarted when it ends.

It has a process session of its own, so that ending it also ends the workers that it started.
"""

from __future__ import annotations

import json
import logging
import os
import signal
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import gevent
from gevent import subprocess
from gevent.event import Event as Signal
from gevent.lock import BoundedSemaphore

from backend.errors import Message, from_codes, message
from backend.runs import cluster_state
from backend.runs.run_log import Event as RunnerEvent

logger = logging.getLogger(__name__)
runner_log = logging.getLogger("bubbleline.runner")

LONGEST_LINE = 4096  # of the runner's log; a longer one is logged in parts
PATIENCE_S = 60.0  # from start to "ready": torch is imported in between
PAUSES_S = (0.0, 0.5, 2.0, 5.0, 15.0)  # before the k-th start in a row that did not get ready
STOP_S = 1.5  # from "shutdown" to SIGKILL


@dataclass(eq=False)
class RunnerState:
    """What a server shows of its runner."""

    state: str = "off"  # off, starting, ready, down (did not start), missing (its packages are), stopped
    why: str = ""  # a sentence: why it is not ready
    devices: list[Any] = field(default_factory=list)
    choices: list[Any] = field(default_factory=list)  # the devices and the mode of a run, by its number of ranks
    engine: str = ""  # local or ray; "" until a runner has named it
    cluster: RunnerEvent | None = None  # behind the runner, where there is one
    starts: int = 0


class RunnerClient(RunnerState):
    """One runner process. `on_event` receives every event of a run; `on_death(why)` is called when the process has
    ended, `on_cluster()` when the state of the cluster behind it has changed."""

    def __init__(
        self,
        command: Sequence[str],
        cwd: str,
        on_event: Callable[[RunnerEvent], None],
        on_death: Callable[[str], None],
        on_cluster: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__()
        self.command, self.cwd = list(command), cwd
        self.on_event, self.on_death, self.on_cluster = on_event, on_death, on_cluster
        self._failures = 0
        self._changed = Signal()
        self._got_ready = False
        self._no_cluster = ""  # a sentence of this process: why there is no cluster
        self._missing = ""  # likewise: which package is to be installed
        self._process: Any = None
        self._keeper: Any = None
        self._spawning: Any = None
        self._writing = BoundedSemaphore(1)

    def start(self) -> None:
        """Start a runner and keep one running; returns at once."""
        if self._keeper is None:
            self.state = "starting"
            self._keeper = gevent.spawn(self._keep_alive)

    def wait_ready(self) -> str | None:
        """Wait until the runner is ready, or a start has failed: returns None, or a sentence that says why."""
        self.start()
        while self.state in ("off", "starting"):
            self._changed.wait()
        return None if self.state == "ready" else self.why

    def send(self, command: RunnerEvent) -> bool:
        """Write one line to the runner; returns False when it is not running."""
        if self.state != "ready":
            return False
        try:
            with self._writing:  # a long line waits for the runner, and another must not come between
                self._process.stdin.write(json.dumps(command, allow_nan=False).encode() + b"\n")
                self._process.stdin.flush()
        except (OSError, ValueError):
            self.kill()
            return False
        return True

    def kill(self) -> None:
        """End the runner and its workers at once; a new runner starts."""
        if self.state == "ready":
            self._become("starting", "")
        if self._process is not None and self._process.poll() is None:
            _signal_group(self._process.pid, signal.SIGKILL)

    def stop(self) -> None:
        """End the runner without starting another: ask, wait up to STOP_S, then kill."""
        asked = not self._writing.locked() and self.send({"cmd": "shutdown"})
        self._become("stopped", message("runs.server_stopping", "the server is stopping"))
        if self._keeper is not None:
            self._keeper.kill()
        if self._spawning is not None:
            self._spawning.join(timeout=2)
        process = self._process
        if process is None:
            return
        if process.poll() is None:
            _close(process.stdin)
            _wait(process, STOP_S if asked else 0.1)
        _signal_group(process.pid, signal.SIGKILL)
        _wait(process, 2.0)

    def _keep_alive(self) -> None:
        while True:
            gevent.sleep(PAUSES_S[min(self._failures, len(PAUSES_S) - 1)])
            try:
                self._run_once()
            except OSError as error:
                self._failures += 1
                reason = error.strerror or str(error)
                text = message("runs.runner_not_started", "The runner does not start: {reason}.", reason=reason)
                self._become("down", text)

    def _run_once(self) -> None:
        """Start a runner and read its lines until it ends."""
        # In a greenlet of its own: starting a process yields in between, and a stop in that moment must not lose it.
        self._spawning = gevent.spawn(self._spawn)
        process = self._spawning.get()
        if isinstance(process, OSError):
            raise process
        self._got_ready, self._no_cluster, self._missing = False, "", ""
        self.starts += 1
        if self.state not in ("down", "missing"):  # a start after a failed one counts only when it gets ready
            self._become("starting", "")
        patience = gevent.spawn_later(PATIENCE_S, self.kill)
        reader = gevent.spawn(self._read, process.stdout, patience)
        log = gevent.spawn(_log_lines, process.stderr)
        process.wait()  # not the end of its output: a worker may hold that pipe open
        gevent.joinall([reader, log], timeout=0.5)
        gevent.killall([reader, log])
        patience.kill()
        _signal_group(process.pid, signal.SIGKILL)
        _close(process.stdin)
        _close(process.stdout)
        _close(process.stderr)
        self._on_exit(process.returncode)

    def _spawn(self) -> Any:
        """Return the new process, or the error that kept it from starting (raised here, it would only be printed)."""
        try:
            self._process = subprocess.Popen(
                self.command, cwd=self.cwd, env=os.environ | {"PYTHONUNBUFFERED": "1"}, start_new_session=True,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            )  # fmt: skip
        except OSError as error:
            return error
        return self._process

    def _on_exit(self, code: int) -> None:
        if self._missing:
            self._failures += 1  # they may be installed while the server runs
            if self.state != "missing":
                logger.warning("%s", self._missing)
                self._become("missing", self._missing)
            return
        how = _how_it_ended(code)
        logger.warning("the runner %s", how)
        self.devices, self.choices = [], []
        if self.cluster is not None:
            self._set_cluster(cluster_state.lost(self.cluster, how))
        if self._got_ready:
            self._become("starting", "")
            self.on_death(
                message(
                    "runs.runner_ended",
                    "The runner {how} during this run. A new one is being started; try again.",
                    how=how,
                )
            )
        else:
            self._failures += 1
            if self._failures > 1:  # the first failure may be chance: waiting runs get a second start
                early = message(
                    "runs.runner_ended_early",
                    "The runner {how} before it was ready; the server's log has details.",
                    how=how,
                )
                self._become("down", self._no_cluster or early)

    def _read(self, pipe: Any, patience: Any) -> None:
        for line in pipe:
            try:
                event = json.loads(line)
                name = event["event"]
                if name != "op_batch":  # its many rows hold no sentences
                    event = from_codes(event)
            except (ValueError, TypeError, KeyError):
                logger.warning("the runner wrote a line that is not an event: %.200r", line)
                continue
            if name == "ready":
                patience.kill()
                self._failures, self._got_ready = 0, True
                self._describe(event)
                self._become("ready", "")
            elif name == "missing":
                self._missing = event["why"]
            elif name == "devices":
                self._describe(event)
            elif name == "cluster":
                self._describe({"engine": "ray", "cluster": event})
            elif name == "error" and "id" not in event:
                logger.warning("the runner did not understand a line: %s", event.get("error"))
            else:
                self.on_event(event)

    def _describe(self, event: RunnerEvent) -> None:
        """Take the engine, devices and cluster from a runner's event that has them."""
        self.engine = event.get("engine", self.engine or cluster_state.LOCAL)
        self.devices, self.choices = event.get("devices", self.devices), event.get("choices", self.choices)
        if "cluster" not in event:
            return
        try:
            state = cluster_state.read(event["cluster"])
        except ValueError as error:
            logger.warning("%s", error)
            return
        self._no_cluster = state["why"]
        joined = cluster_state.members(state) != cluster_state.members(self.cluster)
        self._set_cluster(state)
        if joined and "event" not in event:
            self.send({"cmd": "devices"})  # hosts joined or left, and with them the devices

    def _set_cluster(self, state: RunnerEvent) -> None:
        if state != self.cluster:
            self.cluster = state
            self.on_cluster()

    def _become(self, state: str, why: str) -> None:
        self.state, self.why = state, why
        self._changed.set()
        self._changed.clear()


def _log_lines(pipe: Any) -> None:
    """Log what the runner and its workers write to standard error; a line that is no record of theirs is a warning."""
    while line := pipe.readline(LONGEST_LINE):
        text = line.decode(errors="replace").rstrip()
        level, _, rest = text.partition(" ")
        known = level if level in ("DEBUG", "INFO", "ERROR", "CRITICAL") else "WARNING"
        if text:  # a traceback is many lines, so that more of them are allowed than of other records
            runner_log.log(logging.getLevelName(known), "%s", rest if known == level else text, extra={"allowed": 200})


def _how_it_ended(code: int) -> Message:
    """Return how a process with this exit code ended, for use inside a sentence."""
    if code < 0:
        return message("runs.ended_by_signal", "was ended by signal {signal}", signal=signal.Signals(-code).name)
    return message("runs.ended_with_code", "ended with exit code {code}", code=code)


def _signal_group(pid: int, number: int) -> None:
    """Signal the runner and every process that it started: its session's group has its pid."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, number)


def _wait(process: Any, seconds: float) -> None:
    with suppress(subprocess.TimeoutExpired):
        process.wait(timeout=seconds)


def _close(pipe: Any) -> None:
    with suppress(OSError):
        pipe.close()
