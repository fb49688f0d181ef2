"""The runner program as a child process: JSON lines over its pipes, restarted when it dies.

Knows the protocol's envelope and the life of the process; not what a run is, nor who waits for it. The runner lives
in a session of its own, so that ending it also ends the workers that it started.
"""

from __future__ import annotations

import json
import logging
import os
import signal
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import gevent
from gevent import subprocess
from gevent.event import Event

from backend.runs import cluster_state
from backend.runs.run_log import Message

logger = logging.getLogger(__name__)

PATIENCE_S = 60.0  # from start to "ready": torch is imported in between
PAUSES_S = (0.0, 0.5, 2.0, 5.0, 15.0)  # before the k-th start in a row that did not get ready
STOP_S = 1.5  # from "shutdown" to SIGKILL


class Client:
    """One runner. `on_event` gets every message about a run; `on_death(why)` tells that the process is gone,
    `on_cluster()` that the cluster behind it is another than before."""

    def __init__(
        self,
        command: Sequence[str],
        cwd: str,
        on_event: Callable[[Message], None],
        on_death: Callable[[str], None],
        on_cluster: Callable[[], None] = lambda: None,
    ) -> None:
        self.command, self.cwd = list(command), cwd
        self.on_event, self.on_death, self.on_cluster = on_event, on_death, on_cluster
        self.state = "off"  # off, starting, ready, down (did not start), stopped
        self.devices: list[Any] = []
        self.choices: list[Any] = []  # which of them, and which mode, a run of how many ranks would use
        self.engine = ""  # local or ray; "" until a runner has said it
        self.cluster: Message | None = None  # behind the runner, where there is one
        self.why = ""  # why it is not ready, in words
        self.starts = 0
        self._failures = 0
        self._changed = Event()
        self._got_ready = False
        self._trouble = ""  # why there is no cluster, as this process said it
        self._process: Any = None
        self._life: Any = None
        self._birth: Any = None

    def start(self) -> None:
        """Begin to keep a runner alive; returns at once."""
        if self._life is None:
            self.state = "starting"
            self._life = gevent.spawn(self._keep_alive)

    def wait_ready(self) -> str | None:
        """Wait until the runner is ready (None), or a start has failed (why)."""
        self.start()
        while self.state not in ("ready", "down", "stopped"):
            self._changed.wait()
        return None if self.state == "ready" else self.why

    def send(self, message: Message) -> bool:
        """Write one line to the runner; False when it is not there to read it."""
        if self.state != "ready":
            return False
        try:
            self._process.stdin.write(json.dumps(message, allow_nan=False).encode() + b"\n")
            self._process.stdin.flush()
        except (OSError, ValueError):
            self.kill()
            return False
        return True

    def kill(self) -> None:
        """End the runner and its workers at once; a new one starts, and until it is there nobody can be served."""
        if self.state == "ready":
            self._become("starting", "")
        if self._process is not None and self._process.poll() is None:
            _signal_group(self._process.pid, signal.SIGKILL)

    def stop(self) -> None:
        """End the runner for good: ask, wait a little, then kill."""
        asked = self.send({"cmd": "shutdown"})
        self._become("stopped", "the server is stopping")
        if self._life is not None:
            self._life.kill()
        if self._birth is not None:
            self._birth.join(timeout=2)
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
                self._live_once()
            except OSError as error:
                self._failures += 1
                self._become("down", f"The runner does not start: {error.strerror or error}.")

    def _live_once(self) -> None:
        """Start a runner and attend to it until it is gone."""
        # In a greenlet of its own: starting a process waits in between, and a stop in that moment must not lose it.
        self._birth = gevent.spawn(self._give_birth)
        process = self._birth.get()
        if isinstance(process, OSError):
            raise process
        self._got_ready, self._trouble = False, ""
        self.starts += 1
        if self.state != "down":  # a start after a failed one counts only when it gets ready
            self._become("starting", "")
        patience = gevent.spawn_later(PATIENCE_S, self.kill)
        reader = gevent.spawn(self._read, process.stdout, patience)
        process.wait()  # not the end of its output: a worker may hold that pipe open
        reader.join(timeout=0.5)
        reader.kill()
        patience.kill()
        _signal_group(process.pid, signal.SIGKILL)
        _close(process.stdin)
        _close(process.stdout)
        self._mourn(process.returncode)

    def _give_birth(self) -> Any:
        """The new process, or the error that kept it from starting (raised here, it would only be printed)."""
        try:
            self._process = subprocess.Popen(
                self.command, cwd=self.cwd, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True,
                env=os.environ | {"PYTHONUNBUFFERED": "1"},
            )  # fmt: skip
        except OSError as error:
            return error
        return self._process

    def _mourn(self, code: int) -> None:
        how = f"was ended by signal {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
        logger.warning("the runner %s", how)
        self.devices, self.choices = [], []
        if self.cluster is not None:
            self._take_cluster(cluster_state.lost(self.cluster, f"The runner {how}; a new one is being started."))
        if self._got_ready:
            self._become("starting", "")
            self.on_death(f"The runner {how} during this run. A new one is being started; try again.")
        else:
            self._failures += 1
            if self._failures > 1:  # once may be bad luck: whoever waits gets the benefit of a second start
                self._become(
                    "down", self._trouble or f"The runner {how} before it was ready; the server's log says more."
                )

    def _read(self, pipe: Any, patience: Any) -> None:
        for line in pipe:
            try:
                message = json.loads(line)
                event = message["event"]
            except (ValueError, TypeError, KeyError):
                logger.warning("the runner wrote a line that is not an event: %.200r", line)
                continue
            if event == "ready":
                patience.kill()
                self._failures, self._got_ready = 0, True
                self._describe(message)
                self._become("ready", "")
            elif event == "devices":
                self._describe(message)
            elif event == "cluster":
                self._describe({"engine": "ray", "cluster": message})
            elif event == "error" and "id" not in message:
                logger.warning("the runner did not understand a line: %s", message.get("error"))
            else:
                self.on_event(message)

    def _describe(self, message: Message) -> None:
        """What there is to run on, as far as the runner says it now."""
        self.engine = message.get("engine", self.engine or cluster_state.LOCAL)
        self.devices, self.choices = message.get("devices", self.devices), message.get("choices", self.choices)
        if "cluster" not in message:
            return
        try:
            found = cluster_state.read(message["cluster"])
        except ValueError as error:
            logger.warning("%s", error)
            return
        self._trouble = found["why"]
        joined = cluster_state.members(found) != cluster_state.members(self.cluster)
        self._take_cluster(found)
        if joined and "event" not in message:
            self.send({"cmd": "devices"})  # hosts came or went, and with them what there is to run on

    def _take_cluster(self, found: Message) -> None:
        if found != self.cluster:
            self.cluster = found
            self.on_cluster()

    def _become(self, state: str, why: str) -> None:
        self.state, self.why = state, why
        self._changed.set()
        self._changed.clear()


def _signal_group(pid: int, number: int) -> None:
    """Signal the runner and all that it started; its session's group bears its pid."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, number)


def _wait(process: Any, seconds: float) -> None:
    with suppress(subprocess.TimeoutExpired):
        process.wait(timeout=seconds)


def _close(pipe: Any) -> None:
    with suppress(OSError):
        pipe.close()
