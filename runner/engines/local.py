"""Worker processes on this machine: forked from a server that has torch loaded, kept warm between jobs.

Starts, keeps, replaces and ends processes. Knows no jobs: the caller decides when workers can be reused and when they
must end.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from uuid import uuid4

from backend.errors import RequestError, message
from runner import devices
from runner.devices import Machine
from runner.engines.base import EngineEvent, JobResources, RankLost, RankReply, RankRequest
from runner.engines.scratch import Scratch
from runner.messages import Command, Group, RankCommand, RankResponse
from runner.protocol import ARRANGEMENTS, HOPS, SPREADS, Run
from runner.transport import mailbox
from runner.transport.mailbox import Mailbox, MailboxNeeds

if TYPE_CHECKING:  # numpy loads while the fork server does
    from runner.telemetry.op_board import Board

log = logging.getLogger("runner")
ROOT = Path(__file__).resolve().parents[__name__.count(".")]  # where our modules are found by their names
POOL = 4  # workers forked at the start: the page's first schedule has four ranks
RANKS = f"{__name__.removesuffix('engines.local')}worker"  # the package of worker processes
PRELOADED = [f"{RANKS}.preload"]


class Process(Protocol):
    """A process, as multiprocessing has it."""

    @property
    def pid(self) -> int | None:
        """Return its id."""

    @property
    def sentinel(self) -> int:
        """Return a handle that is readable once it has ended."""

    @property
    def exitcode(self) -> int | None:
        """Return its exit code, negative for a signal; None while it lives."""

    def kill(self) -> None:
        """Kill it, in any state."""

    def join(self, timeout: float) -> None:
        """Wait for its end, at most `timeout` seconds."""

    def close(self) -> None:
        """Release what belongs to a process that has ended."""


@dataclass(frozen=True, slots=True, eq=False)
class Worker:
    """A process of the pool, and the pipe to it."""

    process: Process
    pipe: Connection[RankCommand, RankResponse]

    @property
    def pid(self) -> int:
        """Return the process id."""
        pid = self.process.pid
        assert pid is not None
        return pid


class LocalEngine:
    """A pool of worker processes that grows and shrinks to the number of ranks."""

    name, address = "local", ""
    waiting = ""
    start_ns = 10_000_000
    blame_ns = 300_000_000

    def __init__(self, folder: str | None = None) -> None:
        self.context = multiprocessing.get_context("forkserver")
        self.context.set_forkserver_preload(PRELOADED)
        self.workers: list[Worker] = []
        self.groups: list[Group] = []  # one a rank
        self.together = False
        self.scratch = Scratch(folder)
        self.job_folder = os.path.join(self.scratch.name, "none")
        self.job_memory: int | None = None

    def boot(self) -> None:
        """Start the fork server, which loads torch in parallel with the caller."""
        from multiprocessing import forkserver

        given = os.environ.get("PYTHONPATH")
        found_there = [] if sys.flags.safe_path else [str(ROOT)]  # python -P: installed, and found without
        os.environ["PYTHONPATH"] = os.pathsep.join(found_there + ([given] if given else []))
        try:
            forkserver.ensure_running()
        finally:
            if given is None:
                del os.environ["PYTHONPATH"]
            else:
                os.environ["PYTHONPATH"] = given

    def open(self) -> None:
        """Start the first workers."""
        self.resize(POOL)

    def describe(self) -> dict[str, Any]:
        """Return this machine's devices, and the mode of runs by their number of ranks."""
        return {"engine": self.name, "devices": devices.describe(), "choices": devices.choices()}

    def machine(self, run: Run) -> Machine:
        """Return this machine. Raises RequestError for options that only a cluster has."""
        for name, (usual, *_) in (("spread", SPREADS), ("arrange", ARRANGEMENTS), ("hops", HOPS)):
            value = getattr(run, name)
            if value != usual:
                reason = message(
                    "runner.needs_cluster",
                    "{name} {value} needs a cluster: start the server with make run ENGINE=ray, or leave it out",
                    name=name,
                    value=value,
                )
                raise RequestError(name, value, reason, nearest=usual)
        return devices.this_machine()

    def waitables(self) -> Sequence[Any]:
        """Return the pipes and the sentinels of all workers."""
        return [each for worker in self.workers for each in (worker.pipe, worker.process.sentinel)]

    def events(self, happened: Sequence[object]) -> Sequence[EngineEvent]:
        """Return the first death, or else the replies of ranks. If a worker's pipe has ended, its sentinel reports
        the death.
        """
        for number, worker in enumerate(self.workers):
            if worker.process.sentinel in happened:
                return [self._lost(number)]
        found: list[EngineEvent] = []
        for worker in self.workers:
            if worker.pipe in happened:
                with suppress(EOFError, OSError):
                    found.append(RankReply(*worker.pipe.recv()))
        return found

    def _lost(self, number: int) -> RankLost:
        """Return the event of a dead worker; the worker's number is its rank's."""
        process = self.workers[number].process
        code = process.exitcode
        log.warning("worker %s, number %s, ended with exit code %s", process.pid, number, code)
        signalled = code is not None and code < 0
        cause = signal.Signals(-(code or 0)).name if signalled else message("runner.exit", "exit {code}", code=code)
        if self.together:
            what = message(
                "runner.common_process_ended",
                "the worker process of all ranks, {pid}, ended ({cause})",
                pid=process.pid,
                cause=cause,
            )
        else:
            what = message(
                "runner.process_ended",
                "rank {rank}'s worker process {pid} ended ({cause})",
                rank=number,
                pid=process.pid,
                cause=cause,
            )
        return RankLost(number, what, cause=cause)

    def place(self, request: RankRequest) -> None:
        """Fit the pool to a request."""
        self.resize(request.ranks, request.together)

    def placed(self) -> bool:
        """Return True: `place` has started the processes."""
        return True

    def resize(self, ranks: int, together: bool = False) -> None:
        """Fit the pool to a number of ranks, one process per rank or all `together` in one; processes that fit are
        kept.
        """
        changed = (len(self.groups), self.together) != (ranks, together)
        self.together = together
        processes = 1 if together else ranks
        self._drop(processes)
        while len(self.workers) < processes:
            self.workers.append(self._start())
        if changed:
            self._regroup(ranks)

    def _regroup(self, ranks: int) -> None:
        """Have the ranks build new process groups when they next need one."""
        key = uuid4().hex
        self.groups = [Group(key, f"{self.scratch.name}/store-{key}", rank, ranks) for rank in range(ranks)]

    def worker(self, rank: int) -> Worker:
        """Return the process of a rank."""
        return self.workers[0 if self.together else rank]

    def send(self, rank: int, command: Command) -> None:
        """Send a command to a rank; the death of its process is reported by the sentinel."""
        with suppress(OSError):
            self.worker(rank).pipe.send((rank, command))

    def job_resources(self, needs: MailboxNeeds | None) -> JobResources:
        """Create a folder and, if needed, memory for messages between CPUs."""
        shutil.rmtree(self.job_folder, ignore_errors=True)
        self.job_folder = tempfile.mkdtemp(dir=self.scratch.name)
        box = None if needs is None else self._mailbox(needs)
        return JobResources(self.job_folder, self.job_folder, tuple(self.groups), box)

    def watch(self, board: Board) -> None:
        """Do nothing: the workers write to the board themselves."""

    def halted(self, rank: int) -> str:
        """Read the state of a rank's process from the process table."""
        pid = self.worker(rank).pid
        if _state(pid) not in ("t", "T"):
            return ""
        return message("runner.process_stopped", "its process, {pid}, is stopped", pid=pid)

    def dying(self) -> bool:
        """Return whether a worker has ended but its sentinel has not reported it yet."""
        return any(_state(worker.pid) in ("Z", "X", "") for worker in self.workers)

    def facts(self, over: bool) -> dict[str, Any]:
        """Return nothing: there is one host and one clock."""
        return {}

    def _mailbox(self, needs: MailboxNeeds) -> Mailbox | None:
        """Create the shared memory for the messages of one job; None if memory cannot be shared.

        The last job's memory is freed when its workers close it. It is in no file system, which might be small or on
        a disk.
        """
        self._release()
        if not mailbox.usable():
            return None
        self.job_memory = os.memfd_create("bubbleline")
        path = f"/proc/{os.getpid()}/fd/{self.job_memory}"
        box = mailbox.lay_out(path, self.job_folder, needs)
        box.create()
        return box

    def _release(self) -> None:
        if self.job_memory is not None:
            os.close(self.job_memory)
            self.job_memory = None

    def renew(self) -> None:
        """End all workers, in any state, and start the same number of new ones."""
        ranks = len(self.groups)
        self.clear()
        self.resize(ranks, self.together)

    def clear(self) -> None:
        """End all workers now."""
        self._drop(0)
        self.groups = []

    def _drop(self, kept: int) -> None:
        """End all workers except the first `kept`.

        SIGKILL reaches a stopped or blocked process too, and a worker has nothing to clean up.
        """
        leaving = self.workers[kept:]
        del self.workers[kept:]
        for worker in leaving:
            worker.process.kill()
        for worker in leaving:
            worker.process.join(5)
            with suppress(ValueError):  # on a busy machine it may still be ending
                worker.process.close()
            worker.pipe.close()

    def close(self) -> None:
        """End everything this engine started."""
        self.clear()
        self._release()
        self.scratch.cleanup()

    def _start(self) -> Worker:
        ours, theirs = self.context.Pipe()
        process = self.start_process(theirs)
        theirs.close()
        return Worker(process, ours)

    def start_process(self, pipe: Connection[Any, Any]) -> Process:
        """Start a worker process."""
        process = self.context.Process(target=_child, args=(pipe,), daemon=True)
        process.start()
        return process


def _child(pipe: Connection[RankResponse, RankCommand]) -> None:
    """Run a worker. Defined here so that the main process need not load torch to name it."""
    from runner.worker.process import main

    main(pipe)


def _state(pid: int) -> str:
    """Return a process's state from the process table; empty if there is no such process."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0]
    except OSError:
        return ""
