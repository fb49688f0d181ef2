"""The pool of worker processes: who computes what, for whom, for how long.

Two lanes have processes of their own, so that what takes milliseconds never waits behind what takes seconds. The quick
lane takes jobs that are expected to be short and ends one that is not after QUICK_S: it then starts again in the long
lane. Long jobs run at a lower priority than everything else.

In each lane clients take turns, and one client never has all processes of the long lane. Requests for the same job
share it. A job whose clients have all left is removed, its process killed and replaced.
"""

from __future__ import annotations

import copy
import select
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import gevent
from gevent import Greenlet
from gevent.event import Event
from gevent.socket import socket as GeventSocket

from backend.access.limits.turns import Turns
from backend.compute import errors, fork_client, frames
from backend.compute.worker import Hello, Job, Reply

T = TypeVar("T")
QUICK_S = 0.5  # for which a job of the quick lane may run
NICENESS = 10  # of long jobs
LOOK_S = 0.25  # between two looks at whether a client has left
BIRTH_S = 240.0  # for the first process, which waits for the fork server, and once for its compiler
USUAL_S = 1.0  # a job takes, until some have been measured


@dataclass(frozen=True)
class Limits:
    """Limits of a pool: processes of the long lane, seconds and megabytes of a job, jobs that may wait in a lane."""

    workers: int = 2
    seconds: float = 30.0
    memory_mb: int = 1024
    waiting: int = 256
    waiting_of_client: int = 32


class QueuedJob:
    """A job with the requests that wait for it."""

    def __init__(self, client: str, key: bytes | None, packed: bytes, beside: bytearray | None) -> None:
        self.client, self.key, self.packed, self.beside = client, key, packed, beside
        self.waiters = 0
        self.over = Event()
        self.result: Any = None
        self.error: Exception | None = None
        self.lane: Lane | None = None
        self.greenlet: Greenlet[..., Any] | None = None

    def end(self, result: Any = None, error: Exception | None = None) -> None:
        """Set the outcome and wake the requests."""
        self.result, self.error, self.beside = result, error, None
        self.over.set()

    def wait(self, seconds: float) -> bool:
        """Wait for the outcome for at most ``seconds``; return whether there is one.

        An event that is set is not waited for: of several greenlets that call `wait` after gevent's Event is set and
        before it has woken the others, it does not wake all.
        """
        return self.over.is_set() or bool(self.over.wait(seconds))


class Process:
    """A worker process, as the pool uses it."""

    def __init__(self, niceness: int) -> None:
        self._socket = GeventSocket(fileno=fork_client.fork(niceness).detach())
        self.hello: Hello | None = None

    def greet(self) -> Hello:
        """Wait until the process is there. Raises EOFError, OSError or gevent.Timeout."""
        if self.hello is None:
            with gevent.Timeout(BIRTH_S):
                self.hello, _ = frames.receive(self._socket)
        return self.hello

    def ask(self, packed: bytes, beside: bytearray | None) -> Reply:
        """Have a job done. Raises EOFError or OSError if the process ends meanwhile."""
        frames.send(self._socket, packed, beside or b"", lambda: gevent.sleep(0))
        reply, _ = frames.receive(self._socket)
        assert isinstance(reply, Reply)
        return reply

    def gone(self) -> bool:
        """Return whether a process that is idle has ended: it sends nothing unasked but the end of its socket."""
        return self.hello is not None and bool(select.select([self._socket.fileno()], [], [], 0)[0])

    def end(self) -> None:
        """Kill the process, whatever it does."""
        if self.hello is not None:
            fork_client.kill(self.hello.pid)
        self._socket.close()  # one that has not greeted yet ends by itself


class Lane:
    """Processes with a common queue."""

    def __init__(self, size: int, each: int, seconds: float, niceness: int, limits: Limits) -> None:
        self.size, self.seconds, self.niceness, self.limits = size, seconds, niceness, limits
        self.slower: Lane | None = None  # for jobs that take longer than expected
        self.turns: Turns[QueuedJob] = Turns(each)
        self.usual = USUAL_S  # seconds of a job, a running mean
        self.busy = 0
        self._idle: list[Process] = []

    def open(self) -> None:
        """Have all processes forked."""
        while len(self._idle) + self.busy < self.size:
            self._idle.append(Process(self.niceness))

    def put(self, job: QueuedJob, refuse: bool = True) -> None:
        """Add a job. Raises RequestError if there is no place for it or its client."""
        mine, all_ = self.turns.waiting(job.client), len(self.turns)
        if refuse and mine >= self.limits.waiting_of_client:
            raise errors.no_place("share", mine, self._soon(mine))
        if refuse and all_ >= self.limits.waiting:
            raise errors.no_place("full", all_, self._soon(all_))
        job.lane = self
        self.turns.put(job.client, job)
        self._next()

    def cancel(self, job: QueuedJob) -> None:
        """Remove a job, or kill the process that works on it."""
        if not self.turns.remove(job.client, job) and job.greenlet is not None:
            job.greenlet.kill(block=False)

    def close(self) -> None:
        """End all idle processes."""
        while self._idle:
            self._idle.pop().end()

    def _soon(self, waiting: int) -> int:
        """Return the seconds after which this number of jobs is probably done."""
        return max(1, min(600, round(waiting * self.usual / self.size)))

    def _next(self) -> None:
        while self.busy < self.size:
            job = self.turns.take()
            if job is None:
                return
            self.busy += 1
            job.greenlet = gevent.spawn(self._work, job)
            job.greenlet.link(lambda _, job=job: self._after(job))  # also if it is killed before it starts

    def _work(self, job: QueuedJob) -> None:
        process, kept = None, False
        try:
            process = self._take_idle() or Process(self.niceness)
            compiled = process.greet().compiled
            with gevent.Timeout(self.seconds, False):
                begun = time.monotonic()
                reply = process.ask(job.packed, job.beside)
                self.usual += 0.1 * (time.monotonic() - begun - self.usual)
                kept = compiled and not reply.spent
                try:
                    job.end(reply.result())
                except Exception as error:
                    job.end(error=error.with_traceback(None))
            if not job.over.is_set() and self.slower is None:
                job.end(error=errors.too_long(self.seconds))
        except (EOFError, OSError, gevent.Timeout):
            job.end(error=errors.died())
        finally:
            if process is not None and kept:
                self._idle.append(process)
            elif process is not None:
                process.end()

    def _take_idle(self) -> Process | None:
        while self._idle:
            process = self._idle.pop()
            if not process.gone():
                return process
            process.end()
        return None

    def _after(self, job: QueuedJob) -> None:
        self.busy -= 1
        self.turns.done(job.client)
        if job.waiters and not job.over.is_set() and self.slower is not None:
            self.slower.put(job, refuse=False)
        self._next()


class Pool:
    """The computations of one server."""

    def __init__(self, limits: Limits | None = None) -> None:
        self.limits = limits = limits or Limits()
        self.long = Lane(limits.workers, max(1, limits.workers - 1), limits.seconds, NICENESS, limits)
        self.quick = Lane(1, 1, min(QUICK_S, limits.seconds), 0, limits)
        self.quick.slower = self.long
        self._jobs: dict[bytes, QueuedJob] = {}  # by what they compute, those that are not over

    def open(self) -> None:
        """Start all processes, so that the first job need not wait for one."""
        for lane in (self.quick, self.long):
            lane.open()

    def run(
        self,
        client: str,
        work: Callable[..., T],
        *args: Any,
        quick: bool = False,
        body: bytearray | None = None,
        memory_mb: int | None = None,
        left: Callable[[], bool] = lambda: False,
        patience: float | None = None,
    ) -> T | None:
        """Have ``work(*args)`` done by a worker and return the result.

        ``body`` is passed as a last argument without a copy, and such jobs are not shared. ``left`` tells whether
        the client has gone. After ``patience`` seconds the result is None. Raises RequestError: the work's own, or one
        for a full queue or an exceeded limit.
        """
        packed = frames.pack(Job(work, args, memory_mb or self.limits.memory_mb, body is not None))
        job = self._jobs.get(packed) if body is None else None
        if job is None:
            job = QueuedJob(client, packed if body is None else None, packed, body)
            (self.quick if quick else self.long).put(job)
            if job.key is not None:
                self._jobs[job.key] = job
        job.waiters += 1
        rest = patience
        try:
            while not job.wait(LOOK_S if rest is None else min(LOOK_S, rest)):
                if left():
                    raise errors.left()
                if rest is not None:
                    rest -= LOOK_S
                    if rest <= 0:
                        return None
        finally:
            job.waiters -= 1
            if not job.waiters or job.over.is_set():
                self._drop(job)
        if job.error is not None:
            raise copy.copy(job.error)  # one object raised for each of several requests would join their tracebacks
        result: T = job.result
        return result

    def close(self) -> None:
        """End all processes; those that work end with their jobs."""
        for job in list(self._jobs.values()):
            self._drop(job)
        for lane in (self.quick, self.long):
            lane.close()

    def _drop(self, job: QueuedJob) -> None:
        if job.key is not None and self._jobs.get(job.key) is job:
            del self._jobs[job.key]
        if not job.over.is_set() and job.lane is not None:
            job.lane.cancel(job)
