"""The process of a host that forks the processes of all its actors, so that a host loads torch once.

    python -m runner.engines.ray.fork_server SOCKET RAYLET MODULE...

SOCKET is the number of a listening socket, RAYLET that of a pidfd of the host's part of Ray, MODULE what to load. One
thread; each connection is the life of one process: the request names what it runs, the answer is its id, and a second
one its exit code. When the connection closes, because its actor has ended in whatever way, the process is killed. All
processes end with this one, which ends with the host's part of Ray, or when it has been unused for KEEP_S.

Does not import Ray.
"""

from __future__ import annotations

import ctypes
import importlib
import json
import os
import selectors
import signal
import socket
import struct
import sys
import time
import traceback
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any, NoReturn

KEEP_S = 60.0
NUMBER = struct.Struct("!i")
REQUEST_BYTES = 2**20
PEER = struct.Struct("3i")  # process, user and group at the other end of a socket
_PR_SET_PDEATHSIG = 1


@dataclass(slots=True, eq=False)
class Child:
    """A process and the connection of its actor; `handle` is a pidfd."""

    pid: int
    handle: int
    connection: socket.socket


class ForkServer:
    """The server's connections and processes."""

    def __init__(self, listener: socket.socket, raylet: int) -> None:
        self.listener, self.raylet = listener, raylet
        self.selector = selectors.DefaultSelector()
        self.selector.register(listener, selectors.EVENT_READ)
        self.selector.register(raylet, selectors.EVENT_READ)
        self.new: set[socket.socket] = set()  # connections without a request so far
        self.children: dict[socket.socket, Child] = {}
        self.dying: dict[int, Child] = {}  # by pidfd, until they have been waited for
        self.used = time.monotonic()

    def serve(self) -> None:
        """Serve until the host's part of Ray ends, or this server was unused for KEEP_S."""
        while True:
            in_use = bool(self.new or self.children)
            ready = self.selector.select(max(0.0, self.used + KEEP_S - time.monotonic()))
            for key, _ in ready:
                if key.fileobj == self.raylet:
                    return
                if key.fileobj is self.listener:
                    self._accept()
                elif isinstance(key.fileobj, int):
                    self._reap(key.fileobj)
                elif isinstance(key.fileobj, socket.socket):
                    self._read(key.fileobj)
            if in_use or ready:
                self.used = time.monotonic()
            else:
                return

    def _accept(self) -> None:
        connection, _ = self.listener.accept()
        _, user, _ = PEER.unpack(connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, PEER.size))
        if user != os.geteuid():
            connection.close()
            return
        self.new.add(connection)
        self.selector.register(connection, selectors.EVENT_READ)

    def _read(self, connection: socket.socket) -> None:
        """Take a request, or notice that the other end has closed."""
        if connection not in self.new and connection not in self.children:
            return  # closed since it became readable
        data, handles = b"", list[int]()
        with suppress(OSError):
            data, handles, _, _ = socket.recv_fds(connection, REQUEST_BYTES, 1)
        if data and handles and connection in self.new:
            self.new.remove(connection)
            self._fork(connection, json.loads(data), handles[0])
            return
        for handle in handles:
            os.close(handle)
        self._forget(connection)
        child = self.children.pop(connection, None)
        if child is not None:
            signal.pidfd_send_signal(child.handle, signal.SIGKILL)

    def _forget(self, connection: socket.socket) -> None:
        self.new.discard(connection)
        self.selector.unregister(connection)
        connection.close()

    def _fork(self, connection: socket.socket, request: dict[str, Any], pipe: int) -> None:
        try:
            pid = os.fork()
        except OSError:  # the host has no room for another process, which the actor reports
            os.close(pipe)
            self._forget(connection)
            return
        if not pid:
            connection.close()
            self._run(request, pipe)
        os.close(pipe)
        child = Child(pid, os.pidfd_open(pid), connection)
        self.children[connection] = self.dying[child.handle] = child
        self.selector.register(child.handle, selectors.EVENT_READ)
        with suppress(OSError):  # gone already: the next read shows it
            socket.send_fds(connection, [NUMBER.pack(pid)], [child.handle])

    def _run(self, request: dict[str, Any], pipe: int) -> NoReturn:
        """Become the process of a request."""
        code = 1
        try:
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
            for child in self.dying.values():
                os.close(child.handle)
            for connection in (*self.new, *self.children, self.listener):
                connection.close()
            self.selector.close()
            os.close(self.raylet)
            os.environ.clear()
            os.environ.update(request["environment"])
            function = getattr(importlib.import_module(request["module"]), request["function"])
            function(Connection(pipe), *request["arguments"])
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)

    def _reap(self, handle: int) -> None:
        """Report the end of a process to its actor."""
        child = self.dying.pop(handle)
        self.selector.unregister(handle)
        os.close(handle)
        _, status = os.waitpid(child.pid, 0)
        if self.children.pop(child.connection, None) is not None:
            with suppress(OSError):
                child.connection.send(NUMBER.pack(os.waitstatus_to_exitcode(status)))
            self._forget(child.connection)


def main() -> None:
    """Leave the actor that started this server, load the modules, serve."""
    if os.fork():
        os._exit(0)  # no child of an actor, with which Ray would end it
    os.setsid()
    listener, raylet, *modules = sys.argv[1:]
    for name in modules:
        importlib.import_module(name)
    ForkServer(socket.socket(fileno=int(listener)), int(raylet)).serve()


if __name__ == "__main__":
    main()
