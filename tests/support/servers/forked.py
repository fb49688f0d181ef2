"""Servers forked from a process that has imported what they need: a start takes little time.

What runs in the fork is the same program with its own arguments, environment and streams, and so is its fork server
of workers; test_serve.py starts them as users do. As a program, ``python -m tests.support.servers.forked``, this is the
process that forks.
"""

from __future__ import annotations

import array
import importlib
import json
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from typing import IO

from backend.compute import fork_client, fork_server
from backend.config import PROJECT

LENGTH = struct.Struct("!I")


class ForkedServer:
    """A forked process with the part of Popen's interface that tests use."""

    def __init__(self, pid: int, ended: socket.socket, stdout: IO[str]) -> None:
        self.pid, self.stdout, self.returncode = pid, stdout, None
        self._ended = ended  # sends the exit code

    def poll(self) -> int | None:
        """Return the exit code, None while the process lives."""
        return self._read(0)

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit code, negative for a signal. Raises subprocess.TimeoutExpired."""
        code = self._read(timeout)
        if code is None:
            raise subprocess.TimeoutExpired("app.py", timeout or 0)
        return code

    def send_signal(self, number: int) -> None:
        """Send a signal to the process, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """End the process at once."""
        self.send_signal(signal.SIGKILL)

    def _read(self, timeout: float | None) -> int | None:
        if self.returncode is None and select.select([self._ended], [], [], timeout)[0]:
            self.returncode = int(self._ended.recv(16) or -signal.SIGKILL)  # nothing: its forking process is gone
            self._ended.close()
        return self.returncode


class ServerForks:
    """The process that forks, started with the first server."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None

    def start(self, arguments: Sequence[str], environ: Mapping[str, str], stderr: IO[str]) -> ForkedServer:
        """Fork `python app.py` with these arguments; it writes to a pipe and to the file `stderr`."""
        reading, writing = os.pipe()
        ours, theirs = socket.socketpair()
        with self._lock, theirs:
            control = self._started()
            request = json.dumps([list(arguments), dict(environ)]).encode()
            files = array.array("i", [writing, stderr.fileno(), theirs.fileno()])
            control.sendmsg([LENGTH.pack(len(request))], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, files)])
            control.sendall(request)
            pid = int(control.recv(16))
        os.close(writing)
        return ForkedServer(pid, ours, open(reading, encoding="utf-8"))

    def close(self) -> None:
        """End the process; it ends servers that are left."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None
            self._process.wait()

    def _started(self) -> socket.socket:
        if self._socket is None:
            self._socket, theirs = socket.socketpair()
            with theirs:
                self._process = subprocess.Popen(
                    [sys.executable, "-m", "tests.support.servers.forked"],
                    cwd=PROJECT, env=os.environ | fork_client.ONE_THREAD, stdin=theirs.fileno(),
                )  # fmt: skip
        return self._socket


def fork_forever(control: socket.socket) -> None:
    """Fork a server for each request until the socket closes, and report the end of each to its own socket."""
    from backend.web import factory, serve  # noqa: F401  # what a server imports
    from backend.web.http.computing import QUICK_WORK

    for name in QUICK_WORK:  # what its fork server imports
        importlib.import_module(f"backend.jobs.{name}")
    fork_server.load()  # and leaves what is imported out of garbage collection: the copies share its memory
    living: dict[int, socket.socket] = {}
    wake, woken = socket.socketpair()
    woken.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(woken.fileno(), warn_on_full_buffer=False)
    while True:
        ready = select.select([control, wake], [], [])[0]
        if wake in ready:
            wake.recv(4096)
            _report_ends(living)
        if control in ready and not _fork(control, living):
            break
    for pid in living:
        os.kill(pid, signal.SIGKILL)


def _report_ends(living: dict[int, socket.socket]) -> None:
    for pid in list(living):
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            with living.pop(pid) as ended:
                ended.sendall(b"%d" % os.waitstatus_to_exitcode(status))


def _fork(control: socket.socket, living: dict[int, socket.socket]) -> bool:
    """Carry out one request; returns False where there are no more."""
    head, ancillary, *_ = control.recvmsg(LENGTH.size, socket.CMSG_SPACE(3 * array.array("i").itemsize))
    if not head:
        return False
    files = array.array("i")
    for _, _, data in ancillary:
        files.frombytes(data)
    request = b""
    while len(request) < LENGTH.unpack(head)[0]:
        request += control.recv(1 << 16)
    arguments, environ = json.loads(request)
    writing, errors, ended = files
    pid = os.fork()
    if pid == 0:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        control.close()
        for each in (*living.values(), socket.socket(fileno=ended)):
            each.close()
        _serve(arguments, environ, writing, errors)
    living[pid] = socket.socket(fileno=ended)
    os.close(writing)
    os.close(errors)
    control.sendall(b"%d" % pid)
    return True


def _serve(arguments: list[str], environ: dict[str, str], writing: int, errors: int) -> None:
    """Become `python app.py` with these arguments; never returns."""
    code = 1
    try:
        nothing = os.open(os.devnull, os.O_RDONLY)  # 0, if that is free
        for target, source in enumerate((nothing, writing, errors)):
            if source != target:
                os.dup2(source, target)
                os.close(source)
        os.environ.clear()
        os.environ.update(environ)
        if not environ.get("BUBBLELINE_REDIS"):  # with which there are several, and the first computes nothing
            _fork_compute()
        if late := float(environ.get("LATE_SERVERS", "0")):
            from tests.support.servers.late import be_late

            be_late(late)
        from app import cli

        cli(arguments, prog_name="app.py")
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _fork_compute() -> None:
    """Fork the server's own fork server now, while there is one thread; the server finds it when it starts one."""
    ours, theirs = socket.socketpair()
    if os.fork() == 0:
        ours.close()
        os.setsid()
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        try:
            fork_server.ForkServer(theirs).serve()
        finally:
            os._exit(0)
    theirs.close()
    forked, start = [ours], fork_client.launch
    fork_client.launch = lambda: forked.pop() if forked else start()


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for pytest
    fork_forever(socket.socket(fileno=0))
