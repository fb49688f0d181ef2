"""A worker process of the pool: waits for commands, runs one rank of one job at a time, stays warm between jobs.

Knows nothing of other jobs or of the protocol on stdin and stdout. It dies with the main process: when its pipe
closes, and by the kernel's hand when its parent goes.
"""

from __future__ import annotations

import ctypes
import os
import queue
import signal
import threading
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from typing import Any

import torch

from runner import clock
from runner.activations import Memory
from runner.board import WAITING, Ledger
from runner.channels import ChannelTransport, nccl_groups
from runner.control import BOARD, Command, Done, Go, Group, Ready, Reply, Setup, Trouble, Verify, results_file
from runner.lane import CopyLane
from runner.part import DeferredStage
from runner.reference import judge, mean, train, train_stale
from runner.replicas import sum_copies
from runner.stage import Data
from runner.transport import GlooTransport, gloo_group
from runner.worker import Pace, StageWorker

_PR_SET_PDEATHSIG = 1


def main(pipe: Connection[Reply, Command]) -> None:
    """The life of a worker process."""
    _die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    torch.set_num_threads(1)
    clock.sharpen_sleep()
    commands: queue.SimpleQueue[Command] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(pipe, commands), name="commands", daemon=True).start()
    process = WorkerProcess()
    while True:
        command = commands.get()
        try:
            reply = process.answer(command)
        except Exception as error:  # whatever it was, the job's owner must hear of it
            reply = Trouble(f"{type(error).__name__}: {error}")
        pipe.send(reply)


class WorkerProcess:
    """Answers commands one after the other; keeps its process group from job to job."""

    def __init__(self) -> None:
        self.group: Any = None
        self.key = ""
        self.job: RankJob | None = None

    def answer(self, command: Command) -> Reply:
        """Do what a command says and report."""
        if isinstance(command, Setup):
            self.job = None  # lets go of the last job's tensors
            self.job = RankJob(command, self.join(command.group))
            return Ready(self.job.warm_up())
        if isinstance(command, Go):
            assert self.job is not None
            return self.job.run(command.zero)
        return verify(command)

    def join(self, group: Group) -> Any:
        """The process group of a job: the last one if it is still the same."""
        if group.key != self.key:
            self.group = gloo_group(group.store, group.rank, group.ranks)
            self.key = group.key
        return self.group


class RankJob:
    """One rank of one job: its stages, its transport and its worker."""

    def __init__(self, setup: Setup, group: Any) -> None:
        self.setup, self.group = setup, group
        self.device = torch.device(setup.device)
        training = setup.training
        data = Data(training, self.device)
        program = setup.program
        self.memory = Memory()
        self.parts = [DeferredStage(training, index, data, self.memory) for index in program.stages]
        board = f"{setup.folder}/{BOARD}"
        self.ledger = Ledger(board, program.rank, setup.group.ranks, setup.offset, setup.copy_offset)
        self.transport = self.connect()
        pace = Pace(setup.unit, setup.hop)
        self.lane = CopyLane(program.copies, self.parts, self.ledger, setup.unit) if program.copies else None
        self.worker = StageWorker(program, self.parts, self.transport, self.ledger, pace, self.lane)

    def connect(self) -> GlooTransport | ChannelTransport:
        """Gloo between CPUs, NCCL between GPUs."""
        program, shape = self.setup.program, self.setup.training.shape.activation
        if self.device.type == "cpu":
            return GlooTransport(self.group, program.receives(), shape)
        torch.cuda.set_device(self.device)
        make = nccl_groups(f"{self.setup.folder}/nccl", self.setup.group.ranks)
        return ChannelTransport(make, program.sends(), self.setup.arrivals, shape, self.device)

    def settle(self) -> None:
        """Wait for the GPU's part of an op."""
        if self.device.type == "cuda":
            torch.cuda.current_stream(self.device).synchronize()

    def warm_up(self) -> str:
        """Meet every peer, run every kind of op once, and leave no trace of it."""
        self.ledger.enter(WAITING, 0)
        self.meet()
        for part in self.parts:
            x_like = torch.zeros(self.setup.training.shape.activation, device=self.device)
            for _ in range(2):
                part.forward(0, None if part.stage.first else x_like)
                part.input_gradient(0, None if part.stage.last else x_like)
                part.weight_gradient(0)
            part.losses.clear()
            part.stage.zero_grad(set_to_none=True)
        self.memory.reset()
        if self.setup.training.asynchronous:
            for part in self.parts:
                part.update_always()
        self.transport.prime()
        return str(self.device)

    @property
    def spare_tag(self) -> int:
        """The first tag that no link of the program has."""
        return 2 * self.setup.training.stages * self.setup.training.micros

    def meet(self) -> None:
        """Exchange one message with each peer, so that connections exist before the clock runs."""
        program, tag = self.setup.program, self.spare_tag
        works = [
            self.group.recv([torch.empty(1)], peer, tag) for peer in sorted({one.source for one in program.receives()})
        ]
        works += [
            self.group.send([torch.ones(1)], peer, tag) for peer in sorted({one.target for one in program.sends()})
        ]
        for work in works:
            work.wait()

    def run(self, zero: int) -> Done:
        """Execute the program, sum what replicas hold in common, write the results; returns what is left to say."""
        setup = self.setup
        self.worker.run(zero, self.settle)
        self.transport.flush()
        if self.lane is not None:
            self.lane.close()
        sum_copies(
            self.group, setup.program.rank, [part.stage for part in self.parts], setup.replicas, self.spare_tag + 1
        )
        results = {
            f"{chunk}/{name}": result
            for chunk, part in enumerate(self.parts)
            for name, result in part.results().items()
        }
        torch.save(results, results_file(setup.folder, setup.program.rank))
        losses = {micro: float(loss) for part in self.parts for micro, loss in part.losses.items()}
        versions = max(part.versions.held if part.versions else 1 for part in self.parts)
        return Done(losses, self.memory.peak, self.memory.whole, versions)


def verify(command: Verify) -> Reply:
    """Train the reference in this one process and judge the run by it."""
    device, losses = torch.device(command.device), torch.tensor(command.losses)
    copies = []
    for rank in range(command.ranks):
        held = torch.load(results_file(command.folder, rank), weights_only=True)
        copies += [{name.split("/", 1)[1]: result} for name, result in held.items()]
    if command.used is None:
        reference_loss, reference = train(command.training, device)
    else:  # here every micro-batch's loss is of other weights, so each one is held to its own
        singly, reference = train_stale(command.training, command.used, device)
        reference_loss = mean([torch.tensor(one) for one in singly])
        reference["losses"] = torch.tensor(singly)
        copies.append({"losses": losses})
    loss = mean(list(losses))
    return judge(loss, copies, reference_loss, reference)


def _listen(pipe: Connection[Reply, Command], commands: queue.SimpleQueue[Command]) -> None:
    """Take commands from the main process; without it there is nothing to live for."""
    while True:
        try:
            commands.put(pipe.recv())
        except (EOFError, OSError):
            os._exit(0)


def _die_with_parent() -> None:
    """SIGKILL when the fork server ends, which it does with the main process once no worker keeps it alive."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    held = getattr(forkserver._forkserver, "_forkserver_alive_fd", None)
    if held is not None:
        os.close(held)
