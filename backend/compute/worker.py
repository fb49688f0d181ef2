"""A worker process: does one job after the other, each under a memory limit, until the server closes its socket.

A job is a function of a module and its arguments. The limit is on the growth of the process's data (RLIMIT_DATA), so
what it shares with the fork server does not count; beyond it Python raises MemoryError, at once and in that job only.
"""

from __future__ import annotations

import ctypes
import gc
import resource
import select
import socket
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

from backend.compute import errors, frames
from backend.errors import RequestError
from backend.schedule import jit

MB = 2**20
TRIM_MB = 4  # freed memory is given back to the system after a job by which a worker has grown by more
KEPT_MB = 64  # a worker that has grown by more is replaced, so that its memory returns to the system
Outcome = Literal["progress", "done", "refused", "memory", "failed"]
_server: list[socket.socket] = []  # the one socket of this process, while it does a job


@dataclass(frozen=True, slots=True)
class Job:
    """A function of a module and its arguments; with a body, the bytes beside the job are the last argument."""

    work: Callable[..., Any]
    args: tuple[Any, ...]
    memory_mb: int
    with_body: bool = False


@dataclass(frozen=True, slots=True)
class Hello:
    """The first message of a worker: its process id, and whether its kernels are compiled."""

    pid: int
    compiled: bool


@dataclass(frozen=True, slots=True)
class Reply:
    """The end of a job, or its progress so far.

    ``value`` is its result, the RequestError that it raised, or the traceback of another error. A worker that is
    ``spent`` takes no further job.
    """

    outcome: Outcome
    value: Any
    spent: bool

    def result(self) -> Any:
        """Return the result. Raises the error with which the job ended."""
        if self.outcome == "done":
            return self.value
        if self.outcome == "refused":
            raise self.value
        if self.outcome == "memory":
            raise errors.too_large(int(self.value))
        raise errors.WorkerError(str(self.value))


def serve(sock: socket.socket, pid: int) -> None:
    """Do the jobs that come over the socket until it is closed."""
    before = settled = _resident()
    _server[:] = [sock]
    with suppress(EOFError, OSError):
        frames.send(sock, frames.pack(Hello(pid, jit.ready())))
        while True:
            job, beside = frames.receive(sock)
            reply = _packed(_done(job, beside), before)
            del job, beside
            frames.send(sock, reply)
            del reply
            if _resident() > settled + TRIM_MB * MB:
                _trim()
                settled = _resident()


def report(value: Any) -> None:
    """Send the server the progress of the present job."""
    frames.send(_server[0], frames.pack(Reply("progress", value, False)))


def told_to_stop() -> bool:
    """Return whether the server has sent something since the job, or is gone: the job is to end soon."""
    return bool(select.select(_server, [], [], 0)[0])


def _done(job: Job, beside: bytearray) -> tuple[Outcome, Any]:
    _limit_data(job.memory_mb)
    if job.with_body:
        gc.disable()  # it would visit all that is read again and again, most of the time, and free nothing
    try:
        return "done", job.work(*job.args, *([beside] if job.with_body else []))
    except RequestError as error:
        return "refused", error.with_traceback(None)
    except MemoryError:
        return "memory", job.memory_mb
    except Exception:
        return "failed", traceback.format_exc()
    finally:
        _limit_data(None)
        gc.enable()


def _packed(end: tuple[Outcome, Any], before: int) -> bytes:
    outcome, value = end
    grown = (_resident() - before) / MB > KEPT_MB
    try:
        return frames.pack(Reply(outcome, value, grown or outcome == "memory"))
    except Exception:  # a result that cannot be pickled
        return frames.pack(Reply("failed", traceback.format_exc(), True))


def _trim() -> None:
    """Give freed memory back to the system: glibc keeps blocks of up to 32 MB for the next time. Others cannot."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


def _limit_data(mb: int | None) -> None:
    """Let the data of this process grow by `mb`, without limit for None. Only Linux counts what is mapped."""
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    present = _status("VmData:")
    if mb is None or not present:
        resource.setrlimit(resource.RLIMIT_DATA, (hard, hard))
    else:
        most = present + mb * MB
        resource.setrlimit(resource.RLIMIT_DATA, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def _resident() -> int:
    return _status("VmRSS:")


def _status(name: str) -> int:
    """Return an entry of the process's status in bytes, 0 where the system has none."""
    try:
        with open("/proc/self/status") as lines:
            return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(name)), 0)
    except OSError:
        return 0
