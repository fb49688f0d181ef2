"""Servers as processes, `python app.py serve`, with a runner that executes nothing; and requests to them."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

import requests

from backend.config import PROJECT
from tests.support import PATIENCE_S, until
from tests.support.processes import children_of, command_of
from tests.support.servers.forked import ForkedServer, ServerForks

FAKE_RUNNER = (sys.executable, str(Path(__file__).parents[1] / "runner" / "fake_runner.py"))
GOES_ON = 113  # micro-batches of a run of this runner that sends ops until it is cancelled
FORKS = ServerForks()


@dataclass
class Server:
    """A running server; `url` is the address that it printed. Its end closes it as a context."""

    process: ForkedServer | subprocess.Popen[str]
    url: str

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.stop()
        assert self.process.stdout is not None
        self.process.stdout.close()

    def stop(self, number: int = signal.SIGTERM) -> int:
        """End it by a signal; returns its exit code."""
        self.process.send_signal(number)
        return self.process.wait(timeout=PATIENCE_S)

    def printed(self) -> str:
        """The next line that it prints."""
        assert self.process.stdout is not None
        return self.process.stdout.readline()

    def get(self, path: str, **options: Any) -> requests.Response:
        return requests.get(self.url + path, **{"timeout": PATIENCE_S} | options)

    def post(self, path: str, json: object = None, **options: Any) -> requests.Response:
        return requests.post(self.url + path, json=json, timeout=PATIENCE_S, **options)

    def start_run(self, m: int = 3, p: int = 4, headers: dict[str, str] | None = None, **chosen: Any) -> str:
        """Ask for a run; returns its id."""
        answer = self.post("/api/runs", {"spec": {"p": p, "m": m}} | chosen, headers=headers)
        assert answer.status_code == 202, answer.text
        return str(answer.json()["id"])

    def cancel(self, run_id: str) -> requests.Response:
        return self.post(f"/api/runs/{run_id}/cancel")

    def run(self, run_id: str) -> dict[str, Any]:
        """A run with all its rows."""
        found: dict[str, Any] = self.get(f"/api/runs/{run_id}").json()
        return found

    def ready(self) -> bool:
        """Whether its runner is."""
        return bool(self.get("/api/devices").json()["state"] == "ready")

    def connect(self) -> socket.socket:
        """A connection for bytes of the test's own."""
        at = urlsplit(self.url)
        return socket.create_connection((str(at.hostname), at.port or 0), timeout=PATIENCE_S)

    def runner(self) -> int:
        """Its runner's process: its only child but the one that forks its workers."""
        (child,) = (each for each in children_of(self.process.pid) if not forks_workers(each))
        return child

    def fork_server(self) -> int:
        """The process that forks its workers, which is there soon after it."""

        def found() -> list[int]:
            return [each for each in children_of(self.process.pid) if forks_workers(each)]

        until(found)
        return found()[0]

    def workers(self) -> list[int]:
        """Its processes for computations."""
        return children_of(self.fork_server())


def forks_workers(pid: int) -> bool:
    """Whether a server's child is its fork server: the usual program, or a copy of the process that forks servers."""
    return any(name in command_of(pid) for name in ("backend.compute.fork_server", "tests.support.servers.forked"))


Start = Callable[..., Server]


def launch(folder: Path, *runner_options: str, port: int = 0, as_users_do: bool = False, **environ: str) -> Server:
    """Start a server on a free port or on a given one, and wait until it has printed its address.

    It is forked from a process that has imported what it needs, unless it is to be started as users do.
    """
    environ = {"BUBBLELINE_RUNNER": " ".join([*FAKE_RUNNER, *runner_options])} | environ
    process = _started(folder, ["serve", "--port", str(port)], environ, as_users_do)
    assert process.stdout is not None
    line = process.stdout.readline()
    address = re.search(r"http://[0-9.:]+", line)
    assert address, f"the server printed {line!r}: {(folder / 'server.log').read_text()}"
    return Server(process, address[0])


def refusal(folder: Path, *options: str) -> tuple[int, str]:
    """Start a server that finds out that it cannot serve; returns its exit code and what it has written."""
    process = _started(folder, ["serve", *options], {})
    assert process.stdout is not None
    with process.stdout:
        return process.wait(PATIENCE_S), (folder / "server.log").read_text()


def _started(
    folder: Path, command: list[str], environ: dict[str, str], as_users_do: bool = False
) -> ForkedServer | subprocess.Popen[str]:
    settings = {"DATABASE": str(folder / "runs.sqlite3"), "STOP_S": "0"}
    settings |= {"WORKERS_AFTER_S": "3600", "WORKER_SECONDS": "600"}  # none before they are needed, and time to end
    env = os.environ | {f"BUBBLELINE_{name}": value for name, value in settings.items()} | environ
    with (folder / "server.log").open("a") as log:
        if not as_users_do:
            return FORKS.start(command, env, log)
        command = [sys.executable, "app.py", *command]
        return subprocess.Popen(command, cwd=PROJECT, env=env, text=True, stdout=subprocess.PIPE, stderr=log)
