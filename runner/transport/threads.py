"""Messages between ranks that are threads of one process: a queue for each tag, tensors by reference.

Used by ranks that share a GPU, each with a stream of its own; on a CPU only by tests. Knows nothing of ops or
schedules.
"""

from __future__ import annotations

import queue
import threading

import torch
from torch import Tensor

from runner.program.instructions import Transfer
from runner.telemetry.clock import now

Sent = tuple[Tensor, int, int]
Queues = list["queue.SimpleQueue[Sent]"]


class MessageQueues:
    """The queues of the current job, shared by the ranks of one process."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.job, self.queues = "", Queues()

    def of(self, job: str, tags: int) -> Queues:
        """Return the queues of a job, created for the first rank that asks."""
        with self.lock:
            if job != self.job:
                self.job, self.queues = job, [queue.SimpleQueue() for _ in range(tags)]
            return self.queues


class ThreadTransport:
    """One rank's messages; a tensor from another device is moved to `device`."""

    def __init__(self, queues: Queues, device: torch.device) -> None:
        self.queues, self.device = queues, device

    def start_receiving(self) -> None:
        """Do nothing: a message may come at any time."""

    def flush(self) -> None:
        """Do nothing: a message that was sent can be taken even if its sender ends."""

    def send(self, transfer: Transfer, tensor: Tensor, due: int) -> None:
        """Pass a tensor (batch, sequence, hidden) on; its sender no longer uses it."""
        self.queues[transfer.tag].put((tensor, due, now()))

    def receive(self, transfer: Transfer) -> tuple[Tensor, int, int]:
        """Wait for a message (batch, sequence, hidden)."""
        tensor, due, posted = self.queues[transfer.tag].get()
        return tensor.to(self.device), due, posted
