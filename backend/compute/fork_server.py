"""The process that forks the workers: ``python -m backend.compute.fork_server MODULE ...``, a single thread.

The kernels and these modules are loaded before it forks.

The web process cannot be forked, since gevent's loop and its threads would be in every copy. Its commands come over
standard input, a socket: fork a worker for the socket that comes along, or kill a worker. When that socket closes,
because the web process has ended in whatever way, all workers are killed.

Where numba's cache is empty, a child compiles first. Workers forked meanwhile interpret the kernels. Those for long
jobs, which have a niceness, are forked when it has ended: interpreted, such a job takes longer than it may.
"""

from __future__ import annotations

import gc
import importlib
import os
import select
import signal
import socket
import struct
import sys
from contextlib import suppress
from pathlib import Path

from backend.compute import worker
from backend.compute.parallel_map import end_with_parent
from backend.schedule import jit

COMMAND = struct.Struct("!ci")  # what, and its number: the niceness of a new worker, or the worker to kill
FORK, KILL = b"f", b"k"


class ForkServer:
    """The server's state: its children that have not been waited for."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._pid = os.getpid()
        self._children: set[int] = set()
        self._compiler = 0  # process id
        self._waiting: list[tuple[int, int]] = []  # handle and niceness of workers that are forked once it has ended

    def serve(self) -> None:
        """Carry out commands until the socket closes, then kill all workers."""
        if _cached():
            load()
        else:
            self._compile_in_child()
        while True:
            self._wait()
            data, sockets, *_ = socket.recv_fds(self._control, COMMAND.size, 1)
            if len(data) < COMMAND.size:
                break
            self._reap()
            what, number = COMMAND.unpack(data)
            if what == FORK and sockets and self._compiler and number:
                self._waiting.append((sockets[0], number))
            elif what == FORK and sockets:
                self._fork(sockets[0], number)
            elif what == KILL and number in self._children:  # a child that was waited for may be another process now
                os.kill(number, signal.SIGKILL)
        for pid in self._children:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def _wait(self) -> None:
        """Wait for a command, or for the end of the compiler and then for a command."""
        if self._compiler:
            compiler = os.pidfd_open(self._compiler)
            if compiler in select.select([self._control.fileno(), compiler], [], [])[0]:
                self._reap()
            os.close(compiler)

    def _fork(self, handle: int, niceness: int) -> None:
        pid = os.fork()
        if pid:
            self._children.add(pid)
            os.close(handle)
            return
        try:
            self._become_child()
            os.nice(niceness)
            worker.serve(socket.socket(fileno=handle), os.getpid())
        finally:
            os._exit(0)

    def _compile_in_child(self) -> None:
        self._compiler = os.fork()
        if self._compiler:
            self._children.add(self._compiler)
            return
        code = 1
        try:
            self._become_child()
            jit.compile_all()
            code = 0
        finally:
            os._exit(code)

    def _become_child(self) -> None:
        self._control.close()
        for handle, _ in self._waiting:
            os.close(handle)  # else the socket would not end with the worker that it is for
        end_with_parent(self._pid)

    def _reap(self) -> None:
        with suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if not pid:
                    return
                self._children.discard(pid)
                if pid == self._compiler:
                    self._compiler = 0
                    if status == 0:
                        load()  # from the cache now
                    while self._waiting:
                        self._fork(*self._waiting.pop(0))


def load() -> None:
    """Load the kernels from numba's cache, and leave all that is loaded out of garbage collection: it marks the objects
    that it visits, which would copy their memory into each worker.
    """
    jit.compile_all()
    gc.collect()
    gc.freeze()


def _cached() -> bool:
    """Return whether numba's cache has an entry for each module with kernels; a stale one only costs time."""
    files = [Path(str(importlib.import_module(name).__file__)) for name in jit.MODULES]
    return all(any((file.parent / "__pycache__").glob(f"{file.stem}.*.nbi")) for file in files)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the web process
    for module in sys.argv[1:]:
        importlib.import_module(module)
    ForkServer(socket.socket(fileno=0)).serve()
