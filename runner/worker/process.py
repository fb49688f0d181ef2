"""A worker process of the pool: waits for commands, runs one rank of one job at a time, or several that share a GPU,
each in a thread; stays warm between jobs.

Knows nothing of other jobs or of the protocol on stdin and stdout. It dies with the main process: when its pipe
closes, and by the kernel's hand when its parent goes.
"""

from __future__ import annotations

import ctypes
import os
import queue
import signal
import threading
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from typing import Any

import torch

from runner.messages import (
    Command,
    Group,
    RankCommand,
    RankError,
    RankResponse,
    Reply,
    Setup,
    StartStep,
    Verify,
    results_file,
)
from runner.model.reference import judge, mean, train, train_stale
from runner.telemetry import clock
from runner.transport.gloo import gloo_group
from runner.transport.threads import MessageQueues
from runner.worker.rank_runtime import SHARD, RankJob

_PR_SET_PDEATHSIG = 1


def main(pipe: Connection[RankResponse, RankCommand]) -> None:
    """The life of a worker process."""
    _die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    clock.sharpen_sleep()  # threads made from here on sleep as sharply
    seats: dict[int, RankThread] = {}
    exchange, lock = MessageQueues(), threading.Lock()

    def reply(rank: int, message: Reply) -> None:
        with lock:
            pipe.send((rank, message))

    while True:
        try:
            rank, command = pipe.recv()
        except (EOFError, OSError):  # without the main process there is nothing to live for
            os._exit(0)
        if rank not in seats:
            seats[rank] = RankThread(rank, exchange, reply)
        seats[rank].commands.put(command)


def told(error: Exception) -> str:
    """An error in words. Torch has no class of its own for a CPU's memory that is used up."""
    text = str(error).strip()
    if isinstance(error, MemoryError | torch.OutOfMemoryError) or "can't allocate memory" in text:
        return f"out of memory: {text or 'an allocation was refused'}"
    return f"{type(error).__name__}: {text}"


class RankThread:
    """Where one rank runs: a thread that answers commands one after the other and keeps its process group."""

    def __init__(self, rank: int, exchange: MessageQueues, reply: Callable[[int, Reply], None]) -> None:
        self.rank, self.exchange, self.reply = rank, exchange, reply
        self.group: Any = None
        self.key = ""
        self.job: RankJob | None = None
        self.commands: queue.SimpleQueue[Command] = queue.SimpleQueue()
        threading.Thread(target=self.run, name=f"rank {rank}", daemon=True).start()

    def run(self) -> None:
        """For as long as the process lives."""
        torch.set_num_threads(1)  # libraries would give a new thread all cores, and spin on them
        while True:
            command = self.commands.get()
            try:
                answer = self.answer(command)
            except Exception as error:  # whatever it was, the job's owner must hear of it
                answer = RankError(told(error))
            self.reply(self.rank, answer)

    def answer(self, command: Command) -> Reply:
        """Do what a command says and report."""
        if isinstance(command, Setup):
            self.job = None  # lets go of the last job's tensors
            self.job = RankJob(command, self.join, self.exchange)
            return self.job.warm_up()
        if isinstance(command, StartStep):
            assert self.job is not None
            self.job.set_hop(command.hop)
            return self.job.rehearse(command.zero) if command.rehearsal else self.job.run(command.zero, command.last)
        return verify(command)

    def join(self, group: Group) -> Any:
        """The process group of a job: the last one if it is still the same."""
        if group.key != self.key:
            self.group = gloo_group(group.store, group.rank, group.ranks, group.address)
            self.key = group.key
        return self.group


def verify(command: Verify) -> Reply:
    """Train the reference in this one process and judge the run by it."""
    device, losses = torch.device(command.device), torch.tensor(command.losses, dtype=torch.float64)
    copies, shards = [], defaultdict(list)
    for rank in range(command.ranks):
        held = torch.load(results_file(command.folder, rank), weights_only=True)
        for place, name, result in ((*key.split("/", 1), result) for key, result in held.items()):
            if place == SHARD:
                shards[name].append(result)
            else:
                copies.append({name: result})
    copies += [{name: torch.cat(rows)} for name, rows in shards.items()]
    training = replace(command.training, sharded=False)
    if command.used is None:
        expected, reference = train(training, device)
        losses = losses.view(training.steps, -1).mean(1)
    else:
        expected, reference = train_stale(training, command.used, device)
    if len(expected) > 1:  # each is the loss of other weights, so each is held to its own
        reference["losses"] = torch.tensor(expected)
        copies.append({"losses": losses})
    of_step = slice(-1, None) if command.used is None else slice(None)
    return judge(float(losses[of_step].mean()), copies, mean(expected[of_step]), reference, training.dtype)


def _die_with_parent() -> None:
    """SIGKILL when the fork server ends, which it does with the main process once no worker keeps it alive."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    held = getattr(forkserver._forkserver, "_forkserver_alive_fd", None)
    if held is not None:
        os.close(held)
