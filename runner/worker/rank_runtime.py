"""One rank of one job: its stages, its shard, its transport, and its training steps.

Wires the parts together; contains none of their logic. A job of several steps runs the same program again on the next
micro-batches, with the weights one step of gradient descent further on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import torch

from runner.messages import BOARD, Group, Ready, Setup, StepDone, results_file
from runner.model.activations import ActivationMemory
from runner.model.deferred_stage import DeferredStage
from runner.model.embedding_shard import EmbeddingShard
from runner.model.output_shard import OutputShard
from runner.model.parameters import Data, dtype_of
from runner.telemetry import clock
from runner.telemetry.event_clock import EventClock
from runner.telemetry.op_board import WAITING, Ledger
from runner.transport.base import Transport
from runner.transport.factory import create_transport
from runner.transport.groups import gloo_group, over_network
from runner.transport.ordered import OrderedTransport
from runner.transport.threads import MessageQueues
from runner.worker.collectives import Collectives
from runner.worker.copy_lane import CopyLane
from runner.worker.cuda_executor import CudaExecutor
from runner.worker.executor import Pace, RankExecutor
from runner.worker.hop_probe import HopProbe
from runner.worker.replicas import sum_replicas
from runner.worker.verification import SHARD


class RankJob:
    """One rank of one job; `join` returns its process group, `queues` are shared by the ranks of this process."""

    def __init__(self, setup: Setup, join: Callable[[Group], Any], queues: MessageQueues) -> None:
        self.setup, self.queues = setup, queues
        if setup.clock_file:
            clock.common.share(setup.clock_file)
        # gloo carries messages where memory cannot be shared, and the sums over replicas.
        self.remote = setup.mailbox is None and not setup.together
        self.group: Any = join(setup.group) if self.remote or setup.replicas else None
        self.device = torch.device(setup.device)
        if self.device.type == "cuda":  # of this thread, from here on
            torch.cuda.set_device(self.device)
            if setup.together:
                stream: Any = torch.cuda.Stream
                torch.cuda.set_stream(stream(self.device))
        training, program = setup.training, setup.program
        data = Data(training, self.device)
        self.memory = ActivationMemory()
        self.stages = [DeferredStage(training, index, data, self.memory) for index in program.stages]
        self.ledger = Ledger(f"{setup.folder}/{BOARD}", program.rank, setup.group.ranks, setup.rows)
        for copy in program.copies:
            self.stages[copy.chunk].movable = True
        self.output: OutputShard | None = None
        self.embedding: EmbeddingShard | None = None
        self.chain_groups: list[Any] = []
        if program.output is not None:
            self._build_shards(data)
        self.probe = HopProbe(self.group, program, training.tags)
        self.step = 0
        self.build_step()

    def _build_shards(self, data: Data) -> None:
        """Build this rank's shards of the vocabulary, and a process group for each chain of collectives."""
        setup, layout, rank = self.setup, self.setup.program.output, self.setup.program.rank
        assert layout is not None
        training, ranks = setup.training, setup.group.ranks
        self.output = OutputShard(training, rank, ranks, data, self.memory, layout.barriers == 1)
        self.embedding = EmbeddingShard(training, rank, ranks, data)
        self.chain_groups = [
            gloo_group(f"{setup.meeting}/C{chain}", rank, ranks, setup.group.address) for chain in layout.chains
        ]

    def build_step(self) -> None:
        """Build the parts of one step: transport, copy lane, collectives, and the executor that uses them."""
        setup, program = self.setup, self.setup.program
        # Copies and collectives, which read results on the host, and paced ops wait for the GPU after every op.
        free = self.device.type == "cuda" and not setup.unit and not program.copies and program.output is None
        self.events = EventClock(_event) if free else None
        self.transport = self._create_transport()
        self.collectives = self._create_collectives()
        self.lane = CopyLane(program.copies, self.stages, self.ledger, setup.unit) if program.copies else None
        pace = Pace(setup.unit, setup.hop)
        self.executor: RankExecutor
        if self.events is not None:
            self.executor = CudaExecutor(program, self.stages, self.transport, self.ledger, self.memory, self.events)
        else:
            self.executor = RankExecutor(
                program,
                self.stages,
                self.transport,
                self.ledger,
                pace,
                lane=self.lane,
                streams=self.transport if isinstance(self.transport, OrderedTransport) else None,
                shard=self.output,
                collectives=self.collectives,
                memory=self.memory,
            )

    def _create_transport(self) -> Transport:
        setup = self.setup
        queues = self.queues.of(setup.folder, setup.training.tags) if setup.together else None
        return create_transport(
            setup.program,
            ranks=setup.group.ranks,
            shapes=setup.training.activations,
            dtype=dtype_of(setup.training),
            device=self.device,
            queues=queues,
            event_clock=self.events,
            mailbox=setup.mailbox,
            group=self.group,
            store=f"{setup.meeting}/nccl",
            arrivals=setup.arrivals,
            wire=int(setup.wire * setup.unit),
        )

    def _create_collectives(self) -> Collectives | None:
        setup, layout = self.setup, self.setup.program.output
        if layout is None or self.embedding is None:
            return None
        return Collectives(
            self.chain_groups,
            layout,
            rank=setup.program.rank,
            ranks=setup.group.ranks,
            shapes=setup.training.activations,
            share=setup.training.share,
            embedding=self.embedding,
            device=self.device,
        )

    def set_hop(self, hop: int) -> None:
        """Set the time of a hop, in ns, for the following ops."""
        self.setup = replace(self.setup, hop=hop)
        self.executor.pace = Pace(self.setup.unit, hop)

    def synchronize(self) -> None:
        """Wait for the GPU's part of an op."""
        if self.device.type == "cuda":
            torch.cuda.current_stream(self.device).synchronize()

    def warm_up(self) -> Ready:
        """Connect to every peer, run every kind of op, measure what recording one costs, and undo all effects."""
        self.ledger.set_state(WAITING, 0)
        if self.remote:
            self.probe.connect()
        training, micro = self.setup.training, self.setup.training.longest
        x_like = torch.zeros(training.activations[micro], device=self.device, dtype=dtype_of(training))
        longest = 0
        for stage in self.stages:
            for _ in range(2):
                began = clock.now()
                stage.forward(micro, None if stage.stage.begins else x_like)
                self.ledger.beat()
                if training.keeps_nothing(stage.index):
                    continue
                stage.input_gradient(micro, None if stage.stage.ends else x_like)
                stage.weight_gradient(micro)
                self.ledger.beat()
            self.synchronize()
            longest = max(longest, clock.now() - began)  # of the second time: the first one takes longer
        if self.output is not None:
            for _ in range(2):
                self.output.logits(micro, x_like)
                self.output.gradients(micro, torch.zeros(2, x_like.shape[0] * x_like.shape[1], device=self.device))
                self.ledger.beat()
        self.reset()
        record_ns = self.ledger.cost()
        far = over_network(self.setup.meeting) and self.remote and self.device.type == "cpu"
        hops = self.probe.measure() if far else ()
        self.start_receiving()
        shared = self.setup.together and self.device.type == "cuda"
        return Ready(str(self.device), record_ns, hops, shared, longest)

    def reset(self) -> None:
        """Undo all effects of the ops so far."""
        for part in (*self.stages, *self._shards()):
            part.reset()
        self.memory.reset()
        self.ledger.reset()

    def start_receiving(self) -> None:
        """Get ready to receive; all ranks do so at the same time."""
        if self.collectives is not None:
            self.collectives.start()
        self.transport.start_receiving()

    def execute(self, zero: int) -> None:
        """Run the program once, from time `zero` on, with all threads beside it."""
        starved = clock.starved()
        self.executor.run(zero, self.synchronize)
        self.starved = clock.starved() - starved
        self.transport.flush()
        for thread in (self.lane, self.collectives):
            if thread is not None:
                thread.close()

    def rehearse(self, zero: int) -> StepDone:
        """Run the program once and undo its effects, so that memory and caches are as in a later step."""
        self.execute(zero)
        self.reset()
        self.build_step()
        self.start_receiving()
        return StepDone({}, 0, 0, 0, 0)

    def run(self, zero: int, last: bool) -> StepDone:
        """Run the program and sum the gradients of replicas; then write the results or, before the last step, get ready
        for the next."""
        setup = self.setup
        self.execute(zero)
        stages = [stage.stage for stage in self.stages]
        frozen = {(setup.program.rank, chunk) for chunk, stage in enumerate(self.stages) if stage.frozen}
        trained = [() if frozen.intersection(places) else places for places in setup.replicas]
        sum_replicas(self.group, setup.program.rank, stages, trained, setup.training.tags + 1)
        losses = {micro: float(loss) for part in self._with_losses() for micro, loss in part.losses.items()}
        if last:
            torch.save(self.results(), results_file(setup.folder, setup.program.rank))
        else:
            self.advance()
        versions = max(stage.versions.held if stage.versions else 1 for stage in self.stages)
        return StepDone(losses, self.memory.peak, self.memory.whole, versions, self.starved)

    def advance(self) -> None:
        """Go on to the next training step."""
        self.step += 1
        data = Data(self.setup.training, self.device, self.step)
        for part in (*self.stages, *self._shards()):
            part.advance(data)
        self.ledger.reset()
        self.build_step()
        self.start_receiving()

    def results(self) -> dict[str, torch.Tensor]:
        """Return the results that are verified, each with its chunk, or SHARD, before its name."""
        results = {
            f"{chunk}/{name}": result
            for chunk, stage in enumerate(self.stages)
            for name, result in stage.results().items()
        }
        for shard in self._shards():
            results |= {f"{SHARD}/{name}": result for name, result in shard.results().items()}
        return results

    def _shards(self) -> list[OutputShard | EmbeddingShard]:
        """Return this rank's shards of the vocabulary."""
        return [shard for shard in (self.output, self.embedding) if shard is not None]

    def _with_losses(self) -> Sequence[DeferredStage | OutputShard]:
        """Return the parts that report losses; of the shards, which all have the same, only that of the last stage's
        rank.
        """
        layout = self.setup.program.output
        if layout is None or self.output is None:
            return self.stages
        return [self.output] if self.setup.program.rank == layout.root else []


def _event() -> Any:
    event: Any = torch.cuda.Event
    return event(enable_timing=True)
