"""Worker processes on this machine: forked from a server that has torch loaded, kept warm between jobs.

Knows how to start, keep, replace and end processes. Does not know what a job is: whoever runs one says when its
workers can be used again and when they must go.
"""

from __future__ import annotations

import multiprocessing
import os
import shutil
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from uuid import uuid4

from runner import mailbox
from runner.control import Answer, Command, Group, Order
from runner.mailbox import Mailbox
from runner.program import Program
from runner.shape import Training

ROOT = Path(__file__).resolve().parents[2]
# The second is what torch's first backward imports: half a second that every worker would spend otherwise.
PRELOADED = ["runner.process", "torch.fx.experimental.symbolic_shapes"]


@dataclass(frozen=True, slots=True, eq=False)
class Worker:
    """A process of the pool and the pipe to it."""

    process: ForkServerProcess
    pipe: Connection[Order, Answer]

    @property
    def pid(self) -> int:
        """Its process id."""
        pid = self.process.pid
        assert pid is not None
        return pid


class LocalEngine:
    """A pool of worker processes that grows and shrinks to the number of ranks."""

    def __init__(self) -> None:
        self.context = multiprocessing.get_context("forkserver")
        self.context.set_forkserver_preload(PRELOADED)
        self.workers: list[Worker] = []
        self.groups: list[Group] = []  # one a rank
        self.together = False
        self.scratch = tempfile.TemporaryDirectory(prefix="bubbleline-")
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

    def pids(self) -> list[int]:
        """The process id of each rank."""
        return [self.worker(rank).pid for rank in range(len(self.groups))]

    def send(self, rank: int, command: Command) -> None:
        """Tell a rank something; that its process is dead, the sentinel will say."""
        with suppress(OSError):
            self.worker(rank).pipe.send((rank, command))

    def folder(self) -> str:
        """A new folder for one job; the last job's goes."""
        shutil.rmtree(self.job_folder, ignore_errors=True)
        self.job_folder = tempfile.mkdtemp(dir=self.scratch.name)
        return self.job_folder

    def mailbox(self, program: Program, training: Training) -> Mailbox | None:
        """Where the messages of one job's workers lie, all of them being on this host; the last job's goes when they
        let go of it. It is in no file system, which might be small or on a disk. None where none can be shared."""
        self._release()
        if not mailbox.usable():
            return None
        self.job_memory = os.memfd_create("bubbleline")
        path = f"/proc/{os.getpid()}/fd/{self.job_memory}"
        sends = [len(rank.sends()) for rank in program.ranks]
        box = mailbox.lay_out(path, self.job_folder, sends, training.tags, training.message_bytes)
        box.make()
        return box

    def _release(self) -> None:
        if self.job_memory is not None:
            os.close(self.job_memory)
            self.job_memory = None

    def replace(self) -> None:
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


def _child(pipe: Connection[Answer, Order]) -> None:
    """A worker's first call, here so that the main process need not load torch to name it."""
    from runner.process import main

    main(pipe)
