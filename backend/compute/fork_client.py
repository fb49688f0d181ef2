"""The web process's side of the fork server: start it, have it fork a worker, have it kill one."""

from __future__ import annotations

import os
import socket
import subprocess
import threading
from contextlib import suppress

from backend.compute import fork_server
from backend.compute.fork_server import COMMAND, FORK, KILL
from backend.config import PROJECT, program

# A worker is one of several that share the processors; a library's own threads would also make forking unsafe.
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
_lock = threading.Lock()
_control: socket.socket | None = None  # one fork server for a process, as with multiprocessing's
_modules: tuple[str, ...] = ()  # that a fork server loads


def preload(*modules: str) -> None:
    """Name the modules of common jobs: a fork server that is started from now on loads them, once for all workers.

    Else each worker would import them in its first job, within that job's time.
    """
    global _modules
    _modules = modules


def start() -> None:
    """Start the fork server if there is none; it loads its modules meanwhile."""
    with _lock:
        _started()


def fork(niceness: int) -> socket.socket:
    """Have a worker forked and return the socket to it, whose first message is its Hello.

    Does not wait for the worker; a fork server that has ended is started again.
    """
    ours, theirs = socket.socketpair()
    command = COMMAND.pack(FORK, niceness)
    with theirs, _lock:
        try:
            socket.send_fds(_started(), [command], [theirs.fileno()])
        except OSError:
            _forget()
            socket.send_fds(_started(), [command], [theirs.fileno()])
    return ours


def kill(pid: int) -> None:
    """Have a worker killed. Nothing happens if it has ended already."""
    with _lock, suppress(OSError):
        if _control is not None:
            _control.sendall(COMMAND.pack(KILL, pid))


def launch() -> socket.socket:
    """Start the program of the fork server and return the socket for its commands."""
    ours, theirs = socket.socketpair()
    with theirs:
        subprocess.Popen(
            program(fork_server.__name__, *_modules),
            cwd=PROJECT, env=os.environ | ONE_THREAD, stdin=theirs.fileno(), stdout=subprocess.DEVNULL,
            start_new_session=True,
        )  # fmt: skip
    return ours


def _started() -> socket.socket:
    global _control
    if _control is None:
        _control = launch()
    return _control


def _forget() -> None:
    global _control
    if _control is not None:
        _control.close()
    _control = None
