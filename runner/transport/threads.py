"""How messages travel between ranks that are threads of one process: a queue for each tag, tensors by reference.

So run ranks that share a GPU, each with a stream of its own; on a CPU it is there to be tested. Knows nothing of ops or
schedules.
"""

from __future__ import annotations

import queue
import threading

import torch
from torch import Tensor

from runner.program.instructions import Link
from runner.telemetry.clock import now

Message = tuple[Tensor, int, int]
Queues = list["queue.SimpleQueue[Message]"]


class MessageQueues:
    """What the ranks of one process have in common: the queues of the job that they are at."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.job, self.queues = "", Queues()

    def of(self, job: str, tags: int) -> Queues:
        """The queues of a job, made for the first rank that asks."""
        with self.lock:
            if job != self.job:
                self.job, self.queues = job, [queue.SimpleQueue() for _ in range(tags)]
            return self.queues


class ThreadTransport:
    """One rank's messages; what arrives is moved to `device` if it lies on another."""

    def __init__(self, queues: Queues, device: torch.device) -> None:
        self.queues, self.device = queues, device

    def start_receiving(self) -> None:
        """A message may come at any time."""

    def flush(self) -> None:
        """What was sent can be taken whatever becomes of its sender."""

    def send(self, link: Link, tensor: Tensor, stamp: int) -> None:
        """Hand a tensor over; its sender has no more to do with it."""
        self.queues[link.tag].put((tensor, stamp, now()))

    def receive(self, link: Link) -> tuple[Tensor, int, int]:
        """Wait for a message."""
        tensor, stamp, posted = self.queues[link.tag].get()
        return tensor.to(self.device), stamp, posted
