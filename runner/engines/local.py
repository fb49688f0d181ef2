"""Worker processes on this machine: forked from a server that has torch loaded, kept warm between jobs.

Knows how to start, keep, replace and end processes. Does not know what a job is: whoever runs one says when its
workers can be used again and when they must go.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import shutil
import signal
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from backend.schedule.errors import SpecError
from runner import devices
from runner.devices import Machine
from runner.engines.base import EngineEvent, JobResources, RankLost, RankReply, RankRequest
from runner.messages import Command, Group, RankCommand, RankResponse
from runner.protocol import ARRANGEMENTS, HOPS, SPREADS, Run
from runner.transport import mailbox
from runner.transport.mailbox import Mailbox

if TYPE_CHECKING:  # the schedule core loads while the fork server does
    from runner.job.plan import Plan
    from runner.telemetry.op_board import Board

log = logging.getLogger("runner")
ROOT = Path(__file__).resolve().parents[2]
POOL = 4  # workers forked at the start: the page's first schedule has four ranks
# The second is what torch's first backward imports: half a second that every worker would spend otherwise.
PRELOADED = ["runner.worker.process", "torch.fx.experimental.symbolic_shapes"]


@dataclass(frozen=True, slots=True, eq=False)
class Worker:
    """A process of the pool and the pipe to it."""

    process: ForkServerProcess
    pipe: Connection[RankCommand, RankResponse]

    @property
    def pid(self) -> int:
        """Its process id."""
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
        self.scratch = tempfile.TemporaryDirectory(prefix="bubbleline-", dir=folder)
        self.job_folder = os.path.join(self.scratch.name, "none")
        self.job_memory: int | None = None

    def boot(self) -> None:
        """Start the fork server, which loads torch while the caller goes on."""
        from multiprocessing import forkserver

        given = os.environ.get("PYTHONPATH")
        os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT)] + ([given] if given else []))
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
        """This machine, and what runs of how many ranks make of it."""
        from runner.job.work import MAX_RANKS

        return {"engine": self.name, "devices": devices.describe(), "choices": devices.choices(MAX_RANKS)}

    def machine(self, run: Run) -> Machine:
        """This machine; what only a cluster has is refused."""
        for name, (usual, *_) in (("spread", SPREADS), ("arrange", ARRANGEMENTS), ("hops", HOPS)):
            value = getattr(run, name)
            if value != usual:
                message = f"{name} {value} needs a cluster: start the server with make run ENGINE=ray, or leave it out"
                raise SpecError(name, value, message, nearest=usual)
        return devices.here()

    def waitables(self) -> Sequence[Any]:
        """Pipes, and what tells of a process's end."""
        return [each for worker in self.workers for each in (worker.pipe, worker.process.sentinel)]

    def events(self, happened: Sequence[object]) -> Sequence[EngineEvent]:
        """The first death, or else what ranks reply; that a worker whose pipe has ended is dead, its sentinel tells."""
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
        """A worker that died; its number is its rank's."""
        process = self.workers[number].process
        code = process.exitcode
        log.warning("worker %s, number %s, ended with exit code %s", process.pid, number, code)
        cause = signal.Signals(-code).name if code is not None and code < 0 else f"exit {code}"
        if self.together:
            return RankLost(number, f"the worker process of all ranks, {process.pid}, ended ({cause})", cause=cause)
        return RankLost(number, f"rank {number}'s worker process {process.pid} ended ({cause})", cause=cause)

    def place(self, ask: RankRequest) -> None:
        """Make the pool fit."""
        self.resize(ask.ranks, ask.together)

    def placed(self) -> bool:
        """At once."""
        return True

    def resize(self, ranks: int, together: bool = False) -> None:
        """Make the pool fit so many ranks, a process each or all `together` in one; processes that stay are kept."""
        changed = (len(self.groups), self.together) != (ranks, together)
        self.together = together
        processes = 1 if together else ranks
        self._drop(processes)
        while len(self.workers) < processes:
            self.workers.append(self._start())
        if changed:
            self._regroup(ranks)

    def _regroup(self, ranks: int) -> None:
        """Have the ranks build process groups of their own where they next need one."""
        key = uuid4().hex
        self.groups = [Group(key, f"{self.scratch.name}/store-{key}", rank, ranks) for rank in range(ranks)]

    def worker(self, rank: int) -> Worker:
        """The process in which a rank is."""
        return self.workers[0 if self.together else rank]

    def send(self, rank: int, command: Command) -> None:
        """Tell a rank something; that its process is dead, the sentinel will say."""
        with suppress(OSError):
            self.worker(rank).pipe.send((rank, command))

    def job_resources(self, plan: Plan) -> JobResources:
        """A new folder, and memory for messages between CPUs."""
        shutil.rmtree(self.job_folder, ignore_errors=True)
        self.job_folder = tempfile.mkdtemp(dir=self.scratch.name)
        box = self._mailbox(plan) if plan.device == "cpu" and not plan.together else None
        return JobResources(self.job_folder, self.job_folder, tuple(self.groups), box)

    def watch(self, board: Board) -> None:
        """The workers write there themselves."""

    def halted(self, rank: int) -> str:
        """As the process table has it."""
        pid = self.worker(rank).pid
        return f"its process, {pid}, is stopped" if _state(pid) in ("t", "T") else ""

    def dying(self) -> bool:
        """Whether a worker is over of which its sentinel is yet to tell."""
        return any(_state(worker.pid) in ("Z", "X", "") for worker in self.workers)

    def facts(self, over: bool) -> dict[str, Any]:
        """One host, one clock: nothing to say."""
        return {}

    def _mailbox(self, plan: Plan) -> Mailbox | None:
        """Where the messages of one job's workers lie, all of them being on this host; the last job's goes when they
        let go of it. It is in no file system, which might be small or on a disk. None where none can be shared."""
        self._release()
        if not mailbox.usable():
            return None
        self.job_memory = os.memfd_create("bubbleline")
        path = f"/proc/{os.getpid()}/fd/{self.job_memory}"
        sends = [len(rank.sends()) for rank in plan.program.ranks]
        box = mailbox.lay_out(path, self.job_folder, sends, plan.training.tags, plan.training.message_bytes)
        box.make()
        return box

    def _release(self) -> None:
        if self.job_memory is not None:
            os.close(self.job_memory)
            self.job_memory = None

    def renew(self) -> None:
        """End all workers, whatever they are doing, and start as many new ones."""
        ranks = len(self.groups)
        self.clear()
        self.resize(ranks, self.together)

    def clear(self) -> None:
        """End all workers now."""
        self._drop(0)
        self.groups = []

    def _drop(self, kept: int) -> None:
        """End all workers but the first few. SIGKILL reaches a stopped or blocked process too, and a worker holds
        nothing that would need a farewell."""
        leaving = self.workers[kept:]
        del self.workers[kept:]
        for worker in leaving:
            worker.process.kill()
        for worker in leaving:
            worker.process.join(5)
            worker.process.close()
            worker.pipe.close()

    def close(self) -> None:
        """End everything this engine started."""
        self.clear()
        self._release()
        self.scratch.cleanup()

    def _start(self) -> Worker:
        ours, theirs = self.context.Pipe()
        process = self.context.Process(target=_child, args=(theirs,), daemon=True)
        process.start()
        theirs.close()
        return Worker(process, ours)


def _child(pipe: Connection[RankResponse, RankCommand]) -> None:
    """A worker's first call, here so that the main process need not load torch to name it."""
    from runner.worker.process import main

    main(pipe)


def _state(pid: int) -> str:
    """Of the process table; empty for a process that is not there."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0]
    except OSError:
        return ""
