"""Run one rank's program: a short loop over its steps and a dispatch table from op kind to method.

Times ops and, in paced mode, extends them to their nominal duration. Knows neither transports, nor how gradients are
computed, nor any schedule by name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from torch import Tensor

from runner.program.instructions import CollectiveInput, OpTask, RankProgram, Step, Transfer
from runner.telemetry.clock import now, sleep_until
from runner.telemetry.op_board import FINISHED, WAITING, WORKING, Ledger
from runner.transport.base import Transport
from runner.transport.ordered import OrderedTransport
from runner.worker.copy_lane import CopyLane

GRADIENTS = "IB"  # the kinds of op that use saved activations


class StageOps(Protocol):
    """The interface of a stage that an executor uses: forward, input gradient and weight gradient as separate ops.

    Tensors are (batch, sequence, hidden); None at the ends of the model.
    """

    def forward(self, micro: int, x: Tensor | None) -> Tensor:
        """Run F of a micro-batch."""

    def recompute_ahead(self, micro: int) -> None:
        """Run again what I of a micro-batch needs, before its gradient is there."""

    def input_gradient(self, micro: int, gradient: Tensor | None) -> Tensor | None:
        """Run I of a micro-batch."""

    def weight_gradient(self, micro: int) -> None:
        """Run W of a micro-batch."""


class ShardOps(Protocol):
    """The interface of an output-layer shard that an executor uses."""

    def logits(self, micro: int, hidden: Tensor) -> Any:
        """Run S of a micro-batch, from hidden states (batch, sequence, hidden); its result goes to a collective."""

    def gradients(self, micro: int, statistics: Tensor) -> Any:
        """Run T of a micro-batch, from statistics (2, tokens); its result goes to a collective."""


class CollectiveOps(Protocol):
    """The interface of the collectives of all ranks that an executor uses."""

    def contribute(self, chain: int, micro: int, part: Any, due: int) -> None:
        """Add this rank's part, and when it was due; never waits."""

    def wait_for(self, awaited: CollectiveInput) -> tuple[Tensor, int]:
        """Wait for a result: (batch, sequence, hidden), or statistics (2, tokens); and when the last part was due."""


class ActivationBytes(Protocol):
    """The interface of the memory of saved activations that an executor uses."""

    live: int  # bytes on its device


class NoActivations:
    """Counts no activations."""

    live = 0


@dataclass(frozen=True, slots=True)
class Pace:
    """The nanoseconds per time unit to which ops are extended, and of one hop between ranks; both 0 in free mode."""

    unit: float = 0.0
    hop: int = 0


class RankExecutor:
    """Runs one rank's program over its stages, one per chunk."""

    def __init__(
        self,
        program: RankProgram,
        stages: Sequence[StageOps],
        transport: Transport,
        ledger: Ledger,
        pace: Pace,
        *,
        lane: CopyLane | None = None,
        streams: OrderedTransport | None = None,
        shard: ShardOps | None = None,
        collectives: CollectiveOps | None = None,
        memory: ActivationBytes | None = None,
    ) -> None:
        self.program, self.stages, self.transport, self.ledger, self.pace = program, stages, transport, ledger, pace
        self.beside = [each for each in (lane, streams) if each is not None]
        self.lane, self.shard, self.collectives = lane, shard, collectives
        self.memory = memory or NoActivations()
        self.local_values: dict[int, Tensor] = {}  # (batch, sequence, hidden) by the tags of local transfers
        self.dispatch: dict[str, Callable[[OpTask, Any], Any]] = {
            "F": self.forward,
            "I": self.input_gradient,
            "W": self.weight_gradient,
            "B": self.backward,
            "S": self.logits,
            "T": self.output_gradients,
        }

    def run(self, zero: int, synchronize: Callable[[], None] = lambda: None) -> None:
        """Execute the program from time `zero` on; `synchronize` waits for each op's work on a GPU.

        A paced op lasts its nominal duration from its real start, or until its work is done if that is later; that is
        its recorded end, from which its successors count, here and on other ranks. A rank that wakes late from an op
        starts its next one late and pushes back all that depends on it: the time from `ready` to `start` is that late
        start, and no op is recorded as shorter than planned.
        """
        unit, ledger, memory = self.pace.unit, self.ledger, self.memory
        ledger.zero = end = zero
        sleep_until(zero)
        for each in self.beside:
            each.issue(0, zero)
        for step in self.program.steps:
            early = self.recompute_ahead(step, synchronize) if step.again is not None else 0
            inputs, ready, waited = self.collect_inputs(step, end)
            ledger.set_state(WORKING, step.index)
            start = now()
            if early:  # as if it had ended when the gradient came: until then the rank waited
                before = int(step.lead * unit) if unit else early
                start, ready = max(end, start - before), max(end, ready - before)
            results = [self.dispatch[task.kind](task, x) for task, x in zip(step.tasks, inputs, strict=True)]
            synchronize()
            end = now()
            if unit:
                end = max(end, start + int(step.nominal * unit))
                sleep_until(end)
            for task, result in zip(step.tasks, results, strict=True):
                if task.output_transfer is not None and result is not None:
                    self.deliver(task.output_transfer, result, end)
                if task.collective_output is not None and self.collectives is not None:
                    self.collectives.contribute(task.collective_output, task.micro, result, end)
            del inputs, results  # memory that the next op must not find occupied
            ledger.record(ready, start, end, waited, memory.live)
            for each in self.beside:
                each.issue(step.index + 1, end)
        ledger.set_state(FINISHED, len(self.program.steps) - 1)

    def recompute_ahead(self, step: Step, synchronize: Callable[[], None]) -> int:
        """Run again what this backward or a later one needs, before the step's gradient is there; returns how many ns
        that took."""
        assert step.again is not None
        chunk, micro = step.again
        if self.lane is not None and self.lane.reloads(chunk, micro):
            self.lane.wait_for_reload(chunk, micro)
        began = now()
        self.ledger.set_state(WORKING, step.index)
        self.stages[chunk].recompute_ahead(micro)
        synchronize()
        return now() - began

    def collect_inputs(self, step: Step, free: int) -> tuple[list[Tensor | None], int, int]:
        """Return a step's inputs (batch, sequence, hidden), the time from which it could start (`free`, when the
        rank has done the op before, at the earliest), and how many ns the rank waited.

        Paced: a message counts as arrived one hop after its sender's op ended; its real travel time is part of that
        hop, or, if it took longer, of the late start that it causes. Free: it counts from the end of the wait for it.
        """
        inputs: list[Tensor | None] = []
        ready, waited, paced = free, 0, self.pace.unit > 0
        for task in step.tasks:
            awaited = task.collective_input or task.input_transfer
            if awaited is None:
                inputs.append(None)
            elif isinstance(awaited, Transfer) and awaited.local:
                inputs.append(self.local_values.pop(awaited.tag))
            else:
                self.ledger.set_state(WAITING, step.index, awaited.tag)
                since = now()
                x, due = self.receive(awaited, since)
                inputs.append(x)
                if paced:
                    sleep_until(due)
                arrived = now()
                waited += arrived - since
                ready = max(ready, due if paced else arrived)
            if self.lane is not None and task.kind in GRADIENTS and self.lane.reloads(task.chunk, task.micro):
                self.ledger.set_state(WAITING, step.index)
                ready = max(ready, self.lane.wait_for_reload(task.chunk, task.micro))
        return inputs, ready, waited

    def receive(self, awaited: Transfer | CollectiveInput, since: int) -> tuple[Tensor, int]:
        """Wait, from `since` on, for a message or the result of a collective; returns it and when it is due here."""
        if isinstance(awaited, Transfer):
            x, due, posted = self.transport.receive(awaited)
            self.ledger.record_message(posted, since, now())
            return x, due + self.pace.hop
        assert self.collectives is not None
        x, due = self.collectives.wait_for(awaited)
        return x, due + self.pace.hop * awaited.far

    def deliver(self, transfer: Transfer, tensor: Tensor, due: int) -> None:
        """Pass a result (batch, sequence, hidden) to another rank, or to a later op of this one."""
        if transfer.local:
            self.local_values[transfer.tag] = tensor
        else:
            self.transport.send(transfer, tensor, due)

    def forward(self, task: OpTask, x: Tensor | None) -> Tensor | None:
        """Run F."""
        return self.stages[task.chunk].forward(task.micro, x)

    def input_gradient(self, task: OpTask, gradient: Tensor | None) -> Tensor | None:
        """Run I."""
        return self.stages[task.chunk].input_gradient(task.micro, gradient)

    def weight_gradient(self, task: OpTask, _: Tensor | None) -> None:
        """Run W."""
        self.stages[task.chunk].weight_gradient(task.micro)

    def backward(self, task: OpTask, gradient: Tensor | None) -> Tensor | None:
        """Run B, which is I and W in one op; its result is sent when both are done, as in the simulator."""
        result = self.input_gradient(task, gradient)
        self.weight_gradient(task, None)
        return result

    def logits(self, task: OpTask, hidden: Tensor) -> Any:
        """Run S."""
        assert self.shard is not None
        return self.shard.logits(task.micro, hidden)

    def output_gradients(self, task: OpTask, statistics: Tensor) -> Any:
        """Run T."""
        assert self.shard is not None
        return self.shard.gradients(task.micro, statistics)
