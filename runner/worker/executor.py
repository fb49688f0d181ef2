"""One rank of a run: a short loop over its program and a dispatch table from op kind to method.

Knows how ops are timed and, in paced mode, held to their nominal duration. Does not know where messages travel, how
gradients are computed, or any schedule by name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from torch import Tensor

from runner.program.instructions import CollectiveInput, Link, RankProgram, Step, Task
from runner.telemetry.clock import now, sleep_until
from runner.telemetry.op_board import FINISHED, WAITING, WORKING, Ledger
from runner.transport.gloo import Transport
from runner.worker.copy_lane import CopyLane

GRADIENTS = "IB"  # the kinds of op that use what the forward kept


class StageOps(Protocol):
    """What a worker needs of a stage: forward, input gradient and weight gradient as separate ops."""

    def forward(self, micro: int, x: Tensor | None) -> Tensor:
        """F of a micro-batch."""

    def input_gradient(self, micro: int, gradient: Tensor | None) -> Tensor | None:
        """I of a micro-batch."""

    def weight_gradient(self, micro: int) -> None:
        """W of a micro-batch."""


class OutputPart(Protocol):
    """What a worker needs of a shard of the output layer."""

    def logits(self, micro: int, hidden: Tensor) -> Any:
        """S of a micro-batch; what its result is, only those know who make something of it together."""

    def gradients(self, micro: int, statistics: Tensor) -> Any:
        """T of a micro-batch."""


class CollectivesProtocol(Protocol):
    """What a worker needs of those who make something of all ranks' parts."""

    def give(self, chain: int, micro: int, part: Any, stamp: int) -> None:
        """This rank's part, and when it was due; never waits."""

    def take(self, join: CollectiveInput) -> tuple[Tensor, int]:
        """Wait for what was made of all parts: it, and when the last part was due."""


class Held(Protocol):
    """What a worker needs of the memory of saved activations."""

    live: int  # bytes on its device


class Nothing:
    """No activations are counted."""

    live = 0


@dataclass(frozen=True, slots=True)
class Pace:
    """Nanoseconds of a time unit that an op is held to, and of one hop between ranks; both 0 in free mode."""

    unit: float = 0.0
    hop: int = 0


class RankExecutor:
    """Runs one rank's program over its parts (one a chunk)."""

    def __init__(
        self,
        program: RankProgram,
        parts: Sequence[StageOps],
        transport: Transport,
        ledger: Ledger,
        pace: Pace,
        lane: CopyLane | None = None,
        shard: OutputPart | None = None,
        collectives: CollectivesProtocol | None = None,
        memory: Held | None = None,
    ) -> None:
        self.program, self.parts, self.transport, self.ledger, self.pace = program, parts, transport, ledger, pace
        self.lane, self.shard, self.collectives = lane, shard, collectives
        self.memory = memory or Nothing()
        self.local_values: dict[int, Tensor] = {}
        self.dispatch: dict[str, Callable[[Task, Any], Any]] = {
            "F": self.forward,
            "I": self.input_gradient,
            "W": self.weight_gradient,
            "B": self.backward,
            "S": self.logits,
            "T": self.output_gradients,
        }

    def run(self, zero: int, synchronize: Callable[[], None] = lambda: None) -> None:
        """Execute the program from time `zero` on; `synchronize` ends each op's work (a GPU's synchronisation).

        A paced op is due at a time of the plan: its begin plus its nominal duration, or when its work is done if that
        is later. What follows it, here and on other ranks, counts from that time and not from when this process woke
        from its sleep, so that late wake-ups do not add up while late work does. Reported are the times at which
        things really happened.
        """
        unit, ledger, memory = self.pace.unit, self.ledger, self.memory
        ledger.zero = due = free_at = zero
        sleep_until(zero)
        if self.lane is not None:
            self.lane.issue(0, zero)
        for step in self.program.steps:
            inputs, begin, waited = self.gather(step, due)
            ledger.enter(WORKING, step.index)
            start = now()
            results = [self.dispatch[task.kind](task, x) for task, x in zip(step.tasks, inputs, strict=True)]
            synchronize()
            due = end = now()
            if unit:
                due = max(due, begin + int(step.nominal * unit))
                sleep_until(due)
                end = now()
            for task, result in zip(step.tasks, results, strict=True):
                if task.output_link is not None and result is not None:
                    self.deliver(task.output_link, result, due)
                if task.collective_output is not None and self.collectives is not None:
                    self.collectives.give(task.collective_output, task.micro, result, due)
            del inputs, results  # memory that the next op must not find occupied
            ledger.record(max(begin, free_at), start, end, waited, memory.live)
            free_at = end
            if self.lane is not None:
                self.lane.issue(step.index + 1, due)
        ledger.enter(FINISHED, len(self.program.steps) - 1)

    def gather(self, step: Step, begin: int) -> tuple[list[Tensor | None], int, int]:
        """A step's inputs, when the last of them was there (`begin` at the earliest), and how long the rank waited.

        Paced: a message is there one hop after its sender's op was due; how long it really travelled is part of that
        hop, or, if it took longer, of the op that it delays. Free: when the wait for it was over.
        """
        inputs: list[Tensor | None] = []
        waited, paced = 0, self.pace.unit > 0
        for task in step.tasks:
            awaited = task.collective_input or task.input_link
            if awaited is None:
                inputs.append(None)
            elif isinstance(awaited, Link) and awaited.local:
                inputs.append(self.local_values.pop(awaited.tag))
            else:
                self.ledger.enter(WAITING, step.index, awaited.tag)
                since = now()
                x, stamp = self.receive(awaited, since)
                inputs.append(x)
                if paced:
                    sleep_until(stamp)
                arrived = now()
                waited += arrived - since
                begin = max(begin, stamp if paced else arrived)
            if self.lane is not None and task.kind in GRADIENTS and self.lane.moves(task.chunk, task.micro):
                self.ledger.enter(WAITING, step.index)
                begin = max(begin, self.lane.reloaded(task.chunk, task.micro))
        return inputs, begin, waited

    def receive(self, awaited: Link | CollectiveInput, since: int) -> tuple[Tensor, int]:
        """Wait, from `since` on, for something from elsewhere: it, and when it is due here."""
        if isinstance(awaited, Link):
            x, stamp, posted = self.transport.receive(awaited)
            self.ledger.record_message(posted, since, now())
            return x, stamp + self.pace.hop
        assert self.collectives is not None
        x, stamp = self.collectives.take(awaited)
        return x, stamp + self.pace.hop * awaited.far

    def deliver(self, link: Link, tensor: Tensor, stamp: int) -> None:
        """Pass a result on: to another rank, or to a later op of this one."""
        if link.local:
            self.local_values[link.tag] = tensor
        else:
            self.transport.send(link, tensor, stamp)

    def forward(self, task: Task, x: Tensor | None) -> Tensor | None:
        """F."""
        return self.parts[task.chunk].forward(task.micro, x)

    def input_gradient(self, task: Task, gradient: Tensor | None) -> Tensor | None:
        """I."""
        return self.parts[task.chunk].input_gradient(task.micro, gradient)

    def weight_gradient(self, task: Task, _: Tensor | None) -> None:
        """W."""
        self.parts[task.chunk].weight_gradient(task.micro)

    def backward(self, task: Task, gradient: Tensor | None) -> Tensor | None:
        """B: I and W in one op; what it hands on leaves when both are done, as the simulator has it."""
        result = self.input_gradient(task, gradient)
        self.weight_gradient(task, None)
        return result

    def logits(self, task: Task, hidden: Tensor) -> Any:
        """S."""
        assert self.shard is not None
        return self.shard.logits(task.micro, hidden)

    def output_gradients(self, task: Task, statistics: Tensor) -> Any:
        """T."""
        assert self.shard is not None
        return self.shard.gradients(task.micro, statistics)
