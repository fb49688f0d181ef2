"""Processes of an actor that the host's fork server forks, and the start of that server.

The first actor of a host starts the server, and so does any that finds it gone. Does not import Ray.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

from runner.engines.local import PRELOADED, RANKS, ROOT, LocalEngine
from runner.engines.ray import fork_server
from runner.engines.ray.fork_server import NUMBER

START_S = 280.0  # for the server to load torch; less than the time in which an actor has to start (pool.py)
STATUS_S = 2.0  # from the end of a process to its exit code
TRIES = 3  # to reach a server, which may be about to end


class HostProcess:
    """A process that lives at most as long as this object's connection; `sentinel` is readable once it has ended."""

    def __init__(self, connection: socket.socket, pid: int, sentinel: int) -> None:
        self.connection, self.pid, self.sentinel = connection, pid, sentinel

    def is_alive(self) -> bool:
        """Return whether it has not ended."""
        return not select.select([self.sentinel], [], [], 0)[0]

    @property
    def exitcode(self) -> int | None:
        """Return the exit code, negative for a signal; None while it lives. Ask once."""
        if self.is_alive():
            return None
        data = b""
        with suppress(OSError):
            self.connection.settimeout(STATUS_S)
            data = self.connection.recv(NUMBER.size)
        code: int = NUMBER.unpack(data)[0] if data else -signal.SIGKILL  # the server was killed, and this with it
        return code

    def kill(self) -> None:
        """Kill it, in any state."""
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.sentinel, signal.SIGKILL)

    def join(self, timeout: float) -> None:
        """Wait for its end, at most `timeout` seconds."""
        select.select([self.sentinel], [], [], timeout)

    def close(self) -> None:
        """Let go of it; the server kills it if it still lives."""
        self.connection.close()
        os.close(self.sentinel)


class HostServer:
    """The fork server of this host, for actors of this version of the code. `folder` is Ray's folder of this session,
    `parent` the process id of the host's part of Ray."""

    def __init__(self, folder: str, parent: int, modules: Sequence[str] = PRELOADED) -> None:
        version = hashlib.sha256(f"{ROOT} {sys.executable} {modules}".encode()).hexdigest()[:8]
        self.path, self.parent, self.modules = f"{folder}/ranks-{version}", parent, modules

    def connect(self) -> socket.socket:
        """Connect to the server; starts it if there is none. Raises OSError."""
        with suppress(ConnectionRefusedError, FileNotFoundError):
            return self._connect()
        with open(self.path + ".lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            with suppress(ConnectionRefusedError, FileNotFoundError):  # another actor was first
                return self._connect()
            self._start()
            return self._connect()

    def _connect(self) -> socket.socket:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            connection.settimeout(START_S)
            connection.connect(self.path)
        except BaseException:
            connection.close()
            raise
        return connection

    def _start(self) -> None:
        """Start a server, which accepts connections at once and answers when it has loaded its modules."""
        with suppress(FileNotFoundError):
            os.unlink(self.path)
        raylet = os.pidfd_open(self.parent)
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
                listener.bind(self.path)
                os.chmod(self.path, 0o600)
                listener.listen(128)
                handles = (listener.fileno(), raylet)
                path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
                subprocess.run(
                    [sys.executable, "-m", fork_server.__name__, *map(str, handles), *self.modules],
                    pass_fds=handles,
                    stdin=subprocess.DEVNULL,
                    cwd=ROOT,
                    env=os.environ | {"PYTHONPATH": path},
                    check=True,
                )
        finally:
            os.close(raylet)

    def fork(self, module: str, function: str, pipe: Connection[Any, Any], *arguments: str) -> HostProcess:
        """Start a process that calls a function with a pipe and more arguments, in this process's environment. Raises
        OSError."""
        request = {"module": module, "function": function, "arguments": arguments, "environment": dict(os.environ)}
        for _ in range(TRIES):
            try:
                connection = self.connect()
            except ConnectionError:  # it has ended since it was found
                continue
            with suppress(ConnectionError):
                socket.send_fds(connection, [json.dumps(request).encode()], [pipe.fileno()])
                data, handles, _, _ = socket.recv_fds(connection, NUMBER.size, 1)
                if data and handles:
                    return HostProcess(connection, NUMBER.unpack(data)[0], handles[0])
            connection.close()
        raise ConnectionError(f"the server that forks ranks on this host, {self.path}, has ended {TRIES} times")


class ActorEngine(LocalEngine):
    """The local engine with processes from the host's fork server."""

    def __init__(self, folder: str, parent: int) -> None:
        super().__init__(folder)
        self.server = HostServer(folder, parent)

    def boot(self) -> None:
        """Start the server if there is none. Raises OSError."""
        self.server.connect().close()

    def start_process(self, pipe: Connection[Any, Any]) -> HostProcess:
        """Start a worker process. Raises OSError."""
        return self.server.fork(f"{RANKS}.process", "main", pipe)
