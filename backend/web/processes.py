"""Several processes behind one address: some that serve the page, one that manages the runs, all started again when one
ends.

They share one listening socket, so that a connection goes to a process that is free for it. What else they share is in
Redis and in the database.
"""

from __future__ import annotations

import logging
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from dataclasses import dataclass, field, fields
from importlib.util import find_spec
from pathlib import Path
from threading import Event
from typing import Any

from backend.access.addresses import Invitations, address_line, cannot_listen, open_page
from backend.config import PACKAGE, PROJECT, Config, program, variable
from backend.web import logs

logger = logging.getLogger(__name__)
BACKLOG = 1024  # connections that wait for a free process
LOOK_S = 0.1  # between two looks for processes that have ended
STEADY_S = 10.0  # a process that lives so long is started again at once
PAUSES_S = (0.0, 0.5, 2.0, 5.0, 15.0)  # before the k-th start in a row of one that does not
SPARE_S = 5  # for a process to stop, beyond what it may wait for the present run
NO_REDIS = (
    "BUBBLELINE_REDIS needs Python packages that are missing: make run REDIS=... installs them, "
    "and so does pip install -r requirements-scale.txt, or pip install 'bubbleline[scale]'"
)
RUNS = "runs"  # the name of the process that manages the runs


@dataclass
class Child:
    """One of the processes: its name, its command line, and how it fared so far."""

    name: str
    command: list[str]
    process: Any = None
    began: float = 0.0
    next_start: float = 0.0  # by time.monotonic
    failures: int = 0
    files: tuple[int, ...] = field(default=())  # that it inherits

    def start(self, environ: dict[str, str]) -> None:
        """Start the process; it ends when its standard input does, so that none outlives this one."""
        self.process = subprocess.Popen(
            self.command, cwd=PROJECT, env=environ, stdin=subprocess.PIPE, pass_fds=self.files, start_new_session=True
        )  # fmt: skip
        self.began = time.monotonic()

    def look(self) -> None:
        """Note whether the process has ended, and when the next one may start."""
        if self.process is None or self.process.poll() is None:
            return
        lived = time.monotonic() - self.began
        self.failures = 0 if lived > STEADY_S else self.failures + 1
        self.next_start = time.monotonic() + PAUSES_S[min(self.failures, len(PAUSES_S)) - 1 if self.failures else 0]
        logger.warning("%s (pid %d) ended with code %d", self.name, self.process.pid, self.process.returncode)
        self.process.stdin.close()
        self.process = None


def supervise(config: Config) -> int:
    """Run all processes until SIGINT or SIGTERM, and return the exit code."""
    if find_spec("redis") is None:
        print(NO_REDIS, file=sys.stderr)
        return 1
    if not logs.set_up(config.log_level, config.log_format, config.log_file, config.log_file_mb):
        return 1
    stop = Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    try:
        listener = _listen(config)
    except OSError as error:
        print(cannot_listen(config, error), file=sys.stderr)
        return 1
    port = listener.getsockname()[1]
    print(address_line(config, port), flush=True)
    open_page(config, port)
    invitations = Invitations(config, port)
    invitations.print_first()
    children = _children(config, listener.fileno())
    while not stop.wait(LOOK_S):
        invitations.print_awaited()
        for child in children:
            child.look()
            if child.process is None and time.monotonic() >= child.next_start:
                child.start(environment(config, child.name))
    stop.clear()
    _stop(children, config.stop_s + SPARE_S, stop)
    listener.close()
    return 0


def _children(config: Config, listener: int) -> list[Child]:
    """Return the processes of this machine."""
    process = program(f"{PACKAGE}app", "process")
    web = [
        Child(
            f"web-{number}", [*process, "web", "--listener", str(listener), "--number", str(number)], files=(listener,)
        )
        for number in range(1, config.processes + 1)
    ]  # fmt: skip
    return [*([Child(RUNS, [*process, RUNS, "--lease", secrets.token_hex(8)])] if config.run_manager else []), *web]


def _listen(config: Config) -> socket.socket:
    family = socket.AF_INET6 if ":" in config.host else socket.AF_INET
    return socket.create_server((config.host, config.port), family=family, backlog=BACKLOG)


def environment(config: Config, suffix: str) -> dict[str, str]:
    """Return the environment of a process: the settings, those of the command line too, and a log of its own. Paths are
    full ones: a process does not start in the folder that the others are relative to.
    """
    values = {each.name: getattr(config, each.name) for each in fields(Config)}
    changed = {
        name: str(value) for name, value in values.items() if name in ("host", "port") or isinstance(value, Path)
    }
    if config.log_file is not None:
        changed["log_file"] = str(numbered(config.log_file, suffix))
    return os.environ | {variable(name): value for name, value in changed.items()}


def numbered(path: Path, suffix: str) -> Path:
    """Return the file of one process: server.log of the process web-2 is server-web-2.log."""
    return path.with_name(f"{path.stem}-{suffix}{path.suffix}")


def stop_with_parent(stop: Any) -> None:
    """Set gevent's event `stop`, as a signal does and a second one, when the process that started this one has ended:
    its standard input then ends.
    """
    import gevent  # the parent itself needs no gevent
    from gevent.socket import wait_read

    wait_read(sys.stdin.fileno())
    while True:
        stop.set()
        gevent.sleep(LOOK_S)


def _stop(children: list[Child], seconds: float, again: Event) -> None:
    """Stop all processes. Those that serve pages do so until that of the runs has ended, which lets the present run go
    on, or until `again`, a second signal, is set: both end at their second signal.
    """
    living = [child for child in children if child.process is not None]
    for child in living:
        child.process.send_signal(signal.SIGTERM)
    end = time.monotonic() + seconds
    while living and time.monotonic() < end:
        time.sleep(LOOK_S)
        living = [child for child in living if child.process.poll() is None]
        if again.is_set() or all(child.name != RUNS for child in living):
            for child in living:
                child.process.send_signal(signal.SIGTERM)
    for child in living:
        logger.error("%s did not stop in %g s and is killed", child.name, seconds)
        child.process.kill()
        child.process.wait()
