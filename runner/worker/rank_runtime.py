"""One rank of one job: its stages, its shard, what carries between ranks, and its way through the training steps.

Knows how these parts are put together, and none of their trades. A job of several steps runs the same program again on
the next micro-batches, with the weights one step of gradient descent further on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import torch

from runner.devices import cores
from runner.messages import BOARD, Group, Hop, Ready, Setup, StepDone, results_file
from runner.model.activations import Memory
from runner.model.deferred_stage import DeferredStage
from runner.model.embedding_shard import EmbeddingShard
from runner.model.output_shard import Shard
from runner.model.stage import Data, dtype_of
from runner.telemetry import clock
from runner.telemetry.op_board import WAITING, Ledger
from runner.transport.gloo import GlooTransport, Transport, gloo_group, over_network
from runner.transport.nccl import NcclTransport, nccl_groups
from runner.transport.shared_memory import SharedMemoryTransport
from runner.transport.threads import MessageQueues, ThreadTransport
from runner.worker.collectives import Collectives
from runner.worker.copy_lane import CopyLane
from runner.worker.cuda_executor import CudaExecutor, EventClock, StreamTransport
from runner.worker.executor import Pace, RankExecutor
from runner.worker.replicas import sum_copies

PATIENCE_NS = 100_000  # where every thread has a core of its own, as long as it takes to sleep and be woken
TRIPS = 25  # of a message to a neighbour and back, to measure the way;
TRIPS_NS, FEWEST_TRIPS = 50_000_000, 5  # fewer where they take longer than this
SHARD = "shard"  # in place of a chunk, of results that only all ranks have together


class RankJob:
    """One rank of one job: its stages, its transport and its worker."""

    def __init__(self, setup: Setup, join: Callable[[Group], Any], exchange: MessageQueues) -> None:
        self.setup, self.exchange = setup, exchange
        if setup.lead:
            clock.common.share(setup.lead)
        # Whatever goes over gloo: messages where memory cannot be shared, sums over replicas.
        self.apart = setup.mailbox is None and not setup.together
        self.group: Any = join(setup.group) if self.apart or setup.replicas else None
        self.device = torch.device(setup.device)
        if self.device.type == "cuda":  # of this thread, from here on
            torch.cuda.set_device(self.device)
            if setup.together:
                make: Any = torch.cuda.Stream
                torch.cuda.set_stream(make(self.device))
        training = setup.training
        program, data = setup.program, Data(training, self.device)
        self.memory = Memory()
        self.parts = [DeferredStage(training, index, data, self.memory) for index in program.stages]
        board = f"{setup.folder}/{BOARD}"
        self.ledger = Ledger(board, program.rank, setup.group.ranks, setup.rows)
        for copy in program.copies:
            self.parts[copy.chunk].movable = True
        self.shard, self.embedding, self.chains = None, None, []
        if program.output is not None:
            ranks, output = setup.group.ranks, program.output
            self.shard = Shard(training, program.rank, ranks, data, self.memory, output.barriers == 1)
            self.embedding = EmbeddingShard(training, program.rank, ranks, data)
            self.chains = [
                gloo_group(f"{setup.meeting}/C{chain}", program.rank, ranks, setup.group.address)
                for chain in output.chains
            ]
        self.step = 0
        self.build_step()

    def build_step(self) -> None:
        """What serves one step: transport, lane, chains, and the worker that uses them."""
        setup, program = self.setup, self.setup.program
        # Whoever reads results on the host, or is held to a pace, waits for the GPU after every op.
        free = self.device.type == "cuda" and not setup.unit and not program.copies and program.output is None
        self.events = EventClock(_event) if free else None
        self.transport, self.collectives = self.connect(), self.spread()
        self.lane = CopyLane(program.copies, self.parts, self.ledger, setup.unit) if program.copies else None
        pace = Pace(setup.unit, setup.hop)
        own = (
            program,
            self.parts,
            self.transport,
            self.ledger,
            pace,
            self.lane,
            self.shard,
            self.collectives,
            self.memory,
        )
        self.worker = RankExecutor(*own) if self.events is None else CudaExecutor(self.events, *own)

    def set_hop(self, hop: int) -> None:
        """Have hops last so long from here on."""
        self.setup = replace(self.setup, hop=hop)
        self.worker.pace = Pace(self.setup.unit, hop)

    def connect(self) -> Transport:
        """Queues inside one process, shared memory between CPUs of a host, gloo between hosts, NCCL between GPUs."""
        program, shape = self.setup.program, self.setup.training.shape.activation
        if self.setup.together:
            queues = self.exchange.of(self.setup.folder, self.setup.training.tags)
            if self.events is not None:
                return StreamTransport(queues, self.device, self.events)
            return ThreadTransport(queues, self.device)
        dtype = dtype_of(self.setup.training)
        if self.setup.mailbox is not None:
            alone = self.setup.group.ranks <= cores() and not program.copies and program.output is None
            return SharedMemoryTransport(self.setup.mailbox, program.rank, shape, dtype, PATIENCE_NS if alone else 0)
        if self.device.type == "cpu":
            return GlooTransport(self.group, program.receives(), shape, dtype)
        make = nccl_groups(f"{self.setup.meeting}/nccl", self.setup.group.ranks)
        return NcclTransport(make, program.sends(), self.setup.arrivals, shape, self.device, dtype)

    def spread(self) -> Collectives | None:
        """The chains of an output layer that is spread over all ranks, each over a process group of its own."""
        training, output = self.setup.training, self.setup.program.output
        if output is None or self.embedding is None:
            return None
        shape, rank = training.shape.activation, self.setup.program.rank
        scale = training.share / (shape[0] * shape[1])
        return Collectives(
            self.chains,
            output,
            rank,
            self.setup.group.ranks,
            training.micros,
            shape,
            scale,
            self.embedding,
            self.device,
        )

    def synchronize(self) -> None:
        """Wait for the GPU's part of an op."""
        if self.device.type == "cuda":
            torch.cuda.current_stream(self.device).synchronize()

    def warm_up(self) -> Ready:
        """Meet every peer, run every kind of op, measure what noting one costs, and leave no trace of it."""
        self.ledger.enter(WAITING, 0)
        self.meet()
        training = self.setup.training
        x_like = torch.zeros(training.shape.activation, device=self.device, dtype=dtype_of(training))
        for part in self.parts:
            for _ in range(2):
                part.forward(0, None if part.stage.begins else x_like)
                part.input_gradient(0, None if part.stage.ends else x_like)
                part.weight_gradient(0)
        if self.shard is not None:
            for _ in range(2):
                self.shard.logits(0, x_like)
                self.shard.gradients(0, torch.zeros(2, x_like.shape[0] * x_like.shape[1], device=self.device))
        self.forget()
        note_ns = self.ledger.cost()
        links = self.hops() if over_network(self.setup.meeting) and self.apart and self.device.type == "cpu" else ()
        self.start_receiving()
        shared = self.setup.together and self.device.type == "cuda"
        return Ready(f"shared GPU {self.device}" if shared else str(self.device), note_ns, links)

    def forget(self) -> None:
        """Be as if nothing had run."""
        for part in self.parts:
            part.forget()
        for shard in self.shards():
            shard.clear()
        self.memory.reset()
        self.ledger.reset()

    def start_receiving(self) -> None:
        """Get ready to receive; other ranks do so too."""
        if self.collectives is not None:
            self.collectives.start()
        self.transport.start_receiving()

    def meet(self) -> None:
        """Exchange one message with each peer, so that connections exist before the clock runs."""
        if not self.apart:
            return
        program, tag = self.setup.program, self.setup.training.tags
        works = [
            self.group.recv([torch.empty(1)], peer, tag) for peer in sorted({one.source for one in program.receives()})
        ]
        works += [
            self.group.send([torch.ones(1)], peer, tag) for peer in sorted({one.target for one in program.sends()})
        ]
        for work in works:
            work.wait()

    def hops(self) -> tuple[Hop, ...]:
        """How long a small message takes to each neighbour that comes after this rank, over what carries them in the
        run: half of the quickest of some round trips, and how much longer half of the middle one was. All ranks take
        their pairs in one order, so that no two wait crosswise."""
        program, found = self.setup.program, []
        peers = {link.source for link in program.receives()} | {link.target for link in program.sends()}
        for first, last in sorted((min(program.rank, peer), max(program.rank, peer)) for peer in peers):
            if program.rank == last:
                self.answer(first)
                continue
            times = sorted(self.trips(last))
            found.append(Hop(last, times[0] // 2, (times[len(times) // 2] - times[0]) // 2))
        return tuple(found)

    def trips(self, peer: int) -> list[int]:
        """How long a small message took to another rank and back, in ns, some times over."""
        times: list[int] = []
        since, more = clock.now(), True
        while more:
            begin = clock.now()
            more = len(times) + 1 < (TRIPS if begin - since < TRIPS_NS else FEWEST_TRIPS)
            back = self.group.recv([torch.empty(1)], peer, self.setup.training.tags)
            self.tell(peer, more)
            back.wait()
            times.append(clock.now() - begin)
        return times

    def answer(self, peer: int) -> None:
        """The other side of these trips: each message says whether another follows."""
        more = torch.ones(1)
        while more:
            self.group.recv([more], peer, self.setup.training.tags).wait()
            self.tell(peer, bool(more))

    def tell(self, peer: int, more: bool) -> None:
        """One message of a trip; who gets it is waiting for it already, or will be before anything else."""
        self.group.send([torch.tensor([float(more)])], peer, self.setup.training.tags).wait()

    def execute(self, zero: int) -> None:
        """The program, once, and all that goes on beside it."""
        starved = clock.starved()
        self.worker.run(zero, self.synchronize)
        self.starved = clock.starved() - starved
        self.transport.flush()
        for helper in (self.lane, self.collectives):
            if helper is not None:
                helper.close()

    def rehearse(self, zero: int) -> StepDone:
        """Execute the program to no end but that memory and caches are then as they are in a later step."""
        self.execute(zero)
        self.forget()
        self.build_step()
        self.start_receiving()
        return StepDone({}, 0, 0, 0, 0)

    def run(self, zero: int, last: bool) -> StepDone:
        """Execute the program and sum what replicas hold in common, then write the results or, before the last step,
        get ready for the next; returns what is left to say."""
        setup = self.setup
        self.execute(zero)
        sum_copies(
            self.group, setup.program.rank, [part.stage for part in self.parts], setup.replicas, setup.training.tags + 1
        )
        losses = {micro: float(loss) for part in self.enders() for micro, loss in part.losses.items()}
        if last:
            torch.save(self.results(), results_file(setup.folder, setup.program.rank))
        else:
            self.advance()
        versions = max(part.versions.held if part.versions else 1 for part in self.parts)
        return StepDone(losses, self.memory.peak, self.memory.whole, versions, self.starved)

    def advance(self) -> None:
        """To the next training step."""
        self.step += 1
        data = Data(self.setup.training, self.device, self.step)
        for part in (*self.parts, *self.shards()):
            part.advance(data)
        self.ledger.reset()
        self.build_step()
        self.start_receiving()

    def shards(self) -> list[Shard | EmbeddingShard]:
        """What this rank has of the vocabulary."""
        return [shard for shard in (self.shard, self.embedding) if shard is not None]

    def results(self) -> dict[str, torch.Tensor]:
        """What this rank is judged by, each with its place before its name."""
        results = {
            f"{chunk}/{name}": result
            for chunk, part in enumerate(self.parts)
            for name, result in part.results().items()
        }
        for shard in self.shards():
            results |= {f"{SHARD}/{name}": result for name, result in shard.results().items()}
        return results

    def enders(self) -> Sequence[DeferredStage | Shard]:
        """Who has the losses; of the shards, which all have the same, only the last stage's rank tells."""
        output = self.setup.program.output
        if output is None or self.shard is None:
            return self.parts
        return [self.shard] if self.setup.program.rank == output.root else []


def _event() -> Any:
    make: Any = torch.cuda.Event
    return make(enable_timing=True)
