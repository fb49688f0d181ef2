"""A rank on a GPU, unpaced: its ops are asked for one after the other without waiting for any, and timed by events on
its stream, which are read when they have happened. A message is waited for by the stream, not by the host.

Tried with events that are made up and tensors on a CPU: no GPU was at hand. Knows nothing of orders.
"""

from __future__ import annotations

import queue
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, cast

import torch
from torch import Tensor

from runner.program.instructions import Link, Step
from runner.telemetry.clock import now, sleep_until
from runner.telemetry.op_board import FINISHED, WAITING, WORKING
from runner.transport.gloo import Transport
from runner.transport.threads import ThreadTransport
from runner.worker.executor import RankExecutor

TRIES = 5  # to relate both clocks
Time = Callable[[], int]  # known once the stream is past it


class Event(Protocol):
    """What is needed of torch.cuda.Event."""

    def record(self) -> None:
        """It happens when the current stream has done all that it was asked for so far."""

    def wait(self) -> None:
        """The current stream goes on when it has happened."""

    def query(self) -> bool:
        """Whether it has happened."""

    def synchronize(self) -> None:
        """Wait for it."""

    def elapsed_time(self, other: Any) -> float:
        """Milliseconds until another one."""


class EventClock:
    """Marks on the current stream, and when they happened on the host's clock."""

    def __init__(self, new: Callable[[], Event]) -> None:
        self.new = new

    def relate(self) -> None:
        """Find out what time it is on the GPU, once a step: of several tries the quickest counts."""
        tries = []
        for _ in range(TRIES):
            before, event = now(), self.mark()
            event.synchronize()
            after = now()
            tries.append((after - before, (before + after) // 2, event))
        _, self.at, self.base = min(tries, key=lambda one: one[0])

    def mark(self) -> Event:
        """Now, as the stream has it."""
        event = self.new()
        event.record()
        return event

    def time(self, event: Event) -> int:
        """When something happened that has happened."""
        return self.at + round(self.base.elapsed_time(event) * 1e6)


class StreamReceiver(Transport, Protocol):
    """What an event worker needs of a transport."""

    def receive_soon(self, link: Link) -> tuple[Tensor, Time]:
        """A message, of which the current stream has what it carries when it gets there; and when it was started."""


class StreamTransport(ThreadTransport):
    """Messages between streams of one process. The host waits until the sender has asked its stream for what the
    message carries, and the receiver's stream until that is done."""

    def __init__(self, queues: Any, device: torch.device, clock: EventClock) -> None:
        super().__init__(queues, device)
        self.soon: list[queue.SimpleQueue[tuple[Tensor, Event, Time]]] = queues
        self.clock = clock

    def send(self, link: Link, tensor: Tensor, stamp: int) -> None:
        """Hand a tensor over that the current stream is yet to make."""
        event = self.clock.mark()
        self.soon[link.tag].put((tensor, event, lambda: self.clock.time(event)))

    def receive_soon(self, link: Link) -> tuple[Tensor, Time]:
        """A message."""
        tensor, event, posted = self.soon[link.tag].get()
        event.wait()
        if tensor.is_cuda:  # its memory is not another's before this stream has read it
            tensor.record_stream(torch.cuda.current_stream(tensor.device))
        return tensor.to(self.device, non_blocking=True), posted


@dataclass(frozen=True, slots=True)
class Note:
    """An op that was asked for: when its stream was free, when what it needs was there, when it was done."""

    free: Event
    start: Event
    end: Event
    messages: tuple[Time, ...]
    live: int


class CudaExecutor(RankExecutor):
    """Runs one rank's program on a stream; for programs without copies or parts of a vocabulary, which wait for the
    host."""

    def __init__(self, clock: EventClock, *parts: Any) -> None:
        super().__init__(*parts)
        self.clock, self.soon = clock, cast(StreamReceiver, self.transport)
        self.asked: deque[Note] = deque()
        self.posted: list[tuple[Time, int, int]] = []

    def run(self, zero: int, synchronize: Callable[[], None] = lambda: None) -> None:
        """Launch the program's ops from time `zero` on, and note each when it has happened."""
        ledger, clock = self.ledger, self.clock
        ledger.zero = zero
        sleep_until(zero)
        clock.relate()
        for step in self.program.steps:
            free = clock.mark()
            inputs, messages = self.collect(step)
            start = clock.mark()
            ledger.enter(WORKING, step.index)
            results = [self.dispatch[task.kind](task, x) for task, x in zip(step.tasks, inputs, strict=True)]
            end = clock.mark()
            for task, result in zip(step.tasks, results, strict=True):
                if task.output_link is not None and result is not None:
                    self.deliver(task.output_link, result, 0)
            del inputs, results
            self.asked.append(Note(free, start, end, tuple(messages), self.memory.live))
            while self.asked and self.asked[0].end.query():
                self.note(self.asked.popleft())
        for one in self.asked:
            one.end.synchronize()
            self.note(one)
        self.asked.clear()
        for posted, asked, taken in self.posted:  # reading when one was posted may wait for the stream
            ledger.record_message(posted(), asked, taken)
        self.posted.clear()
        ledger.enter(FINISHED, len(self.program.steps) - 1)

    def collect(self, step: Step) -> tuple[list[Tensor | None], list[Time]]:
        """A step's inputs, and when the messages among them were started."""
        inputs: list[Tensor | None] = []
        messages = []
        for link in (task.input_link for task in step.tasks):
            if link is None:
                inputs.append(None)
            elif link.local:
                inputs.append(self.local_values.pop(link.tag))
            else:
                self.ledger.enter(WAITING, step.index, link.tag)
                tensor, posted = self.soon.receive_soon(link)
                inputs.append(tensor)
                messages.append(posted)
        return inputs, messages

    def note(self, one: Note) -> None:
        """An op that has happened."""
        free, start, end = (self.clock.time(event) for event in (one.free, one.start, one.end))
        self.ledger.record(start if one.messages else free, start, end, start - free if one.messages else 0, one.live)
        self.posted += [(posted, free, start) for posted in one.messages]
