"""A worker process of the pool, warm between jobs.

Waits for commands and runs one rank of one job at a time, or several that share a GPU, each in a thread. Knows
neither other jobs nor the protocol on stdin and stdout. It ends with the main process: when its pipe closes, and by a
signal of the kernel when its parent ends.
"""

from __future__ import annotations

import ctypes
import os
import queue
import signal
import threading
import warnings
from collections.abc import Callable
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from typing import Any

import torch

from backend.errors import Message, message
from runner.messages import Command, Group, RankCommand, RankError, RankResponse, Reply, Setup, StartStep
from runner.telemetry import clock
from runner.transport.groups import gloo_group
from runner.transport.threads import MessageQueues
from runner.worker.rank_runtime import RankJob
from runner.worker.verification import verify

_PR_SET_PDEATHSIG = 1


def main(pipe: Connection[RankResponse, RankCommand]) -> None:
    """Run a worker process until its pipe closes."""
    _die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Autograd's own threads say so on a GPU where they make its context current, which is harmless.
    warnings.filterwarnings("ignore", "Attempting to run cuBLAS, but there was no current CUDA context")
    clock.sharpen_sleep()  # threads made from here on sleep as sharply
    threads: dict[int, RankThread] = {}
    queues, lock = MessageQueues(), threading.Lock()

    def reply(rank: int, response: Reply) -> None:
        with lock:
            pipe.send((rank, response))

    while True:
        try:
            rank, command = pipe.recv()
        except (EOFError, OSError):  # the main process has ended
            os._exit(0)
        if rank not in threads:
            threads[rank] = RankThread(rank, queues, reply)
        threads[rank].commands.put(command)


def describe_error(error: Exception) -> RankError:
    """Describe an exception. Torch has no exception class for exhausted CPU memory."""
    text = str(error).strip()
    if isinstance(error, MemoryError | torch.OutOfMemoryError) or "can't allocate memory" in text:
        reason = text or message("runner.allocation_refused", "an allocation was refused")
        return RankError("out_of_memory", message("runner.out_of_memory", "out of memory: {error}", error=reason))
    sentence = error.args[0] if error.args and isinstance(error.args[0], Message) else text
    return RankError(
        "exception",
        message("runner.exception", "{name}: {error}", name=type(error).__name__, error=sentence),
    )


class RankThread:
    """The thread of one rank: answers commands one after the other and keeps the rank's process group."""

    def __init__(self, rank: int, queues: MessageQueues, reply: Callable[[int, Reply], None]) -> None:
        self.rank, self.queues, self.reply = rank, queues, reply
        self.group: Any = None
        self.key = ""
        self.job: RankJob | None = None
        self.commands: queue.SimpleQueue[Command] = queue.SimpleQueue()
        threading.Thread(target=self.run, name=f"rank {rank}", daemon=True).start()

    def run(self) -> None:
        """Answer commands until the process ends."""
        torch.set_num_threads(1)  # libraries would give a new thread all cores, and spin on them
        while True:
            command = self.commands.get()
            try:
                reply = self.answer(command)
            except Exception as error:  # every error must reach the job
                reply = describe_error(error)
            self.reply(self.rank, reply)

    def answer(self, command: Command) -> Reply:
        """Execute a command; returns the reply."""
        if isinstance(command, Setup):
            self.job = None  # frees the last job's tensors
            self.job = RankJob(command, self.join, self.queues)
            return self.job.warm_up()
        if isinstance(command, StartStep):
            assert self.job is not None
            self.job.set_hop(command.hop)
            return self.job.rehearse(command.zero) if command.rehearsal else self.job.run(command.zero, command.last)
        return verify(command) if self.job is None else verify(command, self.job.ledger.beat)

    def join(self, group: Group) -> Any:
        """Return the process group of a job; the last one is reused if it is still the same."""
        if group.key != self.key:
            self.group = gloo_group(group.store, group.rank, group.ranks, group.address)
            self.key = group.key
        return self.group


def _die_with_parent() -> None:
    """Have the kernel send SIGKILL when the fork server ends, which it does with the main process once no worker keeps
    it alive."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    alive_fd = getattr(forkserver._forkserver, "_forkserver_alive_fd", None)
    if alive_fd is not None:
        os.close(alive_fd)
