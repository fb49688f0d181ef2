"""Messages between ranks that share a GPU, each a thread with a stream of its own: the streams wait, not the host.

The tests simulate events and tensors on a CPU; runs on a GPU are in docs/gpu.md.
"""

from __future__ import annotations

import queue
from collections.abc import Callable
from typing import Protocol

import torch
from torch import Tensor

from runner.program.instructions import Transfer
from runner.telemetry.event_clock import Event, EventClock
from runner.transport.base import Transport
from runner.transport.threads import Queues, ThreadTransport

Time = Callable[[], int]  # ns of the host's clock; known once the stream is past it


class StreamReceiver(Transport, Protocol):
    """A transport whose messages a stream can wait for."""

    def receive_soon(self, transfer: Transfer) -> tuple[Tensor, Time]:
        """Return a message (batch, sequence, hidden) that the current stream waits for, and when it was started."""


class StreamTransport(ThreadTransport):
    """Messages between streams of one process. The host waits until the sender has launched the work that makes the
    message, and the receiver's stream until that is done."""

    def __init__(self, queues: Queues, device: torch.device, clock: EventClock) -> None:
        super().__init__(queues, device)
        self.soon: list[queue.SimpleQueue[tuple[Tensor, Event, Time]]] = queues  # type: ignore[assignment]
        self.clock = clock

    def send(self, transfer: Transfer, tensor: Tensor, due: int) -> None:
        """Pass on a tensor that the current stream has yet to make."""
        event = self.clock.mark()
        self.soon[transfer.tag].put((tensor, event, lambda: self.clock.time(event)))

    def receive_soon(self, transfer: Transfer) -> tuple[Tensor, Time]:
        """Return a message (batch, sequence, hidden), and when it was started."""
        tensor, event, posted = self.soon[transfer.tag].get()
        event.wait()
        if tensor.is_cuda:  # its memory must not be reused before this stream has read it
            tensor.record_stream(torch.cuda.current_stream(tensor.device))
        return tensor.to(self.device, non_blocking=True), posted
