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
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from typing import Any

import torch

from runner import clock
from runner.activations import Memory
from runner.board import WAITING, Ledger
from runner.channels import ChannelTransport, nccl_groups
from runner.collectives import Collectives
from runner.control import BOARD, Command, Done, Go, Group, Ready, Reply, Setup, Trouble, Verify, results_file
from runner.lane import CopyLane
from runner.output import Shard
from runner.part import DeferredStage
from runner.reference import judge, mean, train, train_stale
from runner.replicas import sum_copies
from runner.stage import Data
from runner.steps import Output
from runner.transport import GlooTransport, gloo_group
from runner.worker import Pace, StageWorker

SHARD = "shard"  # in place of a chunk, of results that only all ranks have together
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
        self.shard = self.joins = None
        if program.output is not None:
            early = program.output.barriers == 1
            self.shard = Shard(training, program.rank, setup.group.ranks, data, self.memory, early)
            self.joins = self.spread(program.output)
        self.worker = StageWorker(
            program, self.parts, self.transport, self.ledger, pace, self.lane, self.shard, self.joins
        )

    def connect(self) -> GlooTransport | ChannelTransport:
        """Gloo between CPUs, NCCL between GPUs."""
        program, shape = self.setup.program, self.setup.training.shape.activation
        if self.device.type == "cpu":
            return GlooTransport(self.group, program.receives(), shape)
        torch.cuda.set_device(self.device)
        make = nccl_groups(f"{self.setup.folder}/nccl", self.setup.group.ranks)
        return ChannelTransport(make, program.sends(), self.setup.arrivals, shape, self.device)

    def spread(self, output: Output) -> Collectives:
        """The chains of an output layer that is spread over all ranks, each over a process group of its own."""
        setup, training = self.setup, self.setup.training
        shape, rank = training.shape.activation, setup.group.rank
        groups = [gloo_group(f"{setup.folder}/C{chain}", rank, setup.group.ranks) for chain in output.chains]
        scale = training.share / (shape[0] * shape[1])
        return Collectives(groups, output, rank, training.micros, shape, scale, self.device)

    def settle(self) -> None:
        """Wait for the GPU's part of an op."""
        if self.device.type == "cuda":
            torch.cuda.current_stream(self.device).synchronize()

    def warm_up(self) -> str:
        """Meet every peer, run every kind of op once, and leave no trace of it."""
        self.ledger.enter(WAITING, 0)
        self.meet()
        x_like = torch.zeros(self.setup.training.shape.activation, device=self.device)
        for part in self.parts:
            for _ in range(2):
                part.forward(0, None if part.stage.first else x_like)
                part.input_gradient(0, None if part.stage.ends else x_like)
                part.weight_gradient(0)
            part.losses.clear()
            part.stage.zero_grad(set_to_none=True)
        if self.shard is not None and self.joins is not None:
            for _ in range(2):
                self.shard.logits(0, x_like)
                self.shard.gradients(0, torch.zeros(2, x_like.shape[0] * x_like.shape[1], device=self.device))
            self.shard.clear()
            self.joins.start()
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
        for helper in (self.lane, self.joins):
            if helper is not None:
                helper.close()
        sum_copies(
            self.group, setup.program.rank, [part.stage for part in self.parts], setup.replicas, self.spare_tag + 1
        )
        results = {
            f"{chunk}/{name}": result
            for chunk, part in enumerate(self.parts)
            for name, result in part.results().items()
        }
        if self.shard is not None and self.shard.weight.grad is not None:
            results[f"{SHARD}/{self.shard.name}"] = self.shard.weight.grad.cpu()
        torch.save(results, results_file(setup.folder, setup.program.rank))
        losses = {micro: float(loss) for part in self.enders() for micro, loss in part.losses.items()}
        versions = max(part.versions.held if part.versions else 1 for part in self.parts)
        return Done(losses, self.memory.peak, self.memory.whole, versions)

    def enders(self) -> Sequence[DeferredStage | Shard]:
        """Who has the losses; of the shards, which all have the same, only the last stage's rank tells."""
        output = self.setup.program.output
        if output is None or self.shard is None:
            return self.parts
        return [self.shard] if self.setup.program.rank == output.root else []


def verify(command: Verify) -> Reply:
    """Train the reference in this one process and judge the run by it."""
    device, losses = torch.device(command.device), torch.tensor(command.losses)
    copies, shards = [], defaultdict(list)
    for rank in range(command.ranks):
        held = torch.load(results_file(command.folder, rank), weights_only=True)
        for place, name, result in ((*key.split("/", 1), result) for key, result in held.items()):
            if place == SHARD:
                shards[name].append(result)
            else:
                copies.append({name: result})
    copies += [{name: torch.cat(rows)} for name, rows in shards.items()]
    if command.used is None:
        reference_loss, reference = train(replace(command.training, sharded=False), device)
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
