"""The unpaced executor of a rank on a GPU.

Launches the ops one after the other without waiting, and times them by events on its stream, which it reads once they
have happened. The stream, not the host, waits for messages. The tests simulate events and tensors on a CPU; runs on a
GPU are in docs/gpu.md. Knows no orders.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

from torch import Tensor

from runner.program.instructions import RankProgram, Step
from runner.telemetry.clock import sleep_until
from runner.telemetry.event_clock import Event, EventClock
from runner.telemetry.op_board import FINISHED, WAITING, WORKING, Ledger
from runner.transport.base import Transport
from runner.transport.streams import StreamReceiver, Time
from runner.worker.executor import ActivationBytes, Pace, RankExecutor, StageOps


@dataclass(frozen=True, slots=True)
class LaunchedOp:
    """A launched op: the events at which its stream was free, had recomputed what needs no input, its inputs had
    arrived, and it was done; when the messages among its inputs were started; and the bytes of activations alive after
    it.
    """

    free: Event
    again: Event
    start: Event
    end: Event
    messages: tuple[Time, ...]
    live: int


class CudaExecutor(RankExecutor):
    """Runs one rank's program on a stream; only for programs without copies or shards of a vocabulary, which wait
    for the host.
    """

    def __init__(
        self,
        program: RankProgram,
        stages: Sequence[StageOps],
        transport: Transport,
        ledger: Ledger,
        memory: ActivationBytes | None,
        clock: EventClock,
    ) -> None:
        super().__init__(program, stages, transport, ledger, Pace(), memory=memory)
        self.clock, self.receiver = clock, cast(StreamReceiver, transport)
        self.launched: deque[LaunchedOp] = deque()
        self.posted: list[tuple[Time, int, int]] = []

    def run(self, zero: int, synchronize: Callable[[], None] = lambda: None) -> None:
        """Launch the program's ops from time `zero` on, and record each when it has happened."""
        ledger, clock = self.ledger, self.clock
        ledger.zero = zero
        sleep_until(zero)
        clock.relate()
        for step in self.program.steps:
            free = again = clock.mark()
            if step.again is not None:
                chunk, micro = step.again
                self.stages[chunk].recompute_ahead(micro)
                again = clock.mark()
            inputs, messages = self.collect(step)
            start = clock.mark()
            ledger.set_state(WORKING, step.index)
            results = [self.dispatch[task.kind](task, x) for task, x in zip(step.tasks, inputs, strict=True)]
            end = clock.mark()
            for task, result in zip(step.tasks, results, strict=True):
                if task.output_transfer is not None and result is not None:
                    self.deliver(task.output_transfer, result, 0)
            del inputs, results
            self.launched.append(LaunchedOp(free, again, start, end, tuple(messages), self.memory.live))
            while self.launched and self.launched[0].end.query():
                self.record(self.launched.popleft())
        for op in self.launched:
            op.end.synchronize()
            self.record(op)
        self.launched.clear()
        for posted, asked, taken in self.posted:  # reading when one was posted may wait for the stream
            ledger.record_message(posted(), asked, taken)
        self.posted.clear()
        ledger.set_state(FINISHED, len(self.program.steps) - 1)

    def collect(self, step: Step) -> tuple[list[Tensor | None], list[Time]]:
        """Return a step's inputs (batch, sequence, hidden), and when the messages among them were started."""
        inputs: list[Tensor | None] = []
        messages = []
        for transfer in (task.input_transfer for task in step.tasks):
            if transfer is None:
                inputs.append(None)
            elif transfer.local:
                inputs.append(self.local_values.pop(transfer.tag))
            else:
                self.ledger.set_state(WAITING, step.index, transfer.tag)
                tensor, posted = self.receiver.receive_soon(transfer)
                inputs.append(tensor)
                messages.append(posted)
        return inputs, messages

    def record(self, op: LaunchedOp) -> None:
        """Record an op that has happened; what it recomputed as if that had ended when its inputs came."""
        free, again, arrived, end = (self.clock.time(event) for event in (op.free, op.again, op.start, op.end))
        start = arrived - (again - free)
        self.ledger.record(start if op.messages else free, start, end, start - free if op.messages else 0, op.live)
        self.posted += [(posted, again, arrived) for posted in op.messages]
