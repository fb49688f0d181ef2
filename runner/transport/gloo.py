"""Messages between CPUs that cannot share memory: gloo, over the loopback or between hosts.

A gloo send completes only when its peer has posted the receive, so the rank never waits for a pending send: sends are
started and left to a thread that waits for them, oldest first, and reuses their buffers; receives are posted ahead in
the order in which the program needs them. Every message carries two times of the common clock: when its sender's op
was due to end, and when it was started. Knows no ops or schedules.
"""

from __future__ import annotations

import queue
import threading
from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

import torch
from torch import Tensor

from runner.program.instructions import Transfer
from runner.telemetry.clock import common, now
from runner.transport.base import WORDS, Shapes

AHEAD_BYTES = 64 * 2**20  # memory that receives posted ahead may take on a rank
REAP = 32  # sends passed to the reaping thread at a time


class Parcel:
    """The buffer of one message: int64 (words,), two of them times, with a `payload` of one shape and type in it."""

    __slots__ = ("buffer", "payload", "shape", "times")

    def __init__(self, shape: Sequence[int], dtype: torch.dtype) -> None:
        self.shape = torch.Size(shape)
        size = self.shape.numel() * dtype.itemsize
        self.buffer = torch.empty(WORDS + -(-size // 8), dtype=torch.int64)
        self.times = self.buffer.numpy()[:2]
        start = WORDS * 8 // dtype.itemsize
        self.payload = self.buffer.view(dtype)[start : start + self.shape.numel()].view(self.shape)

    @property
    def bytes(self) -> int:
        """Return the bytes to send."""
        return 8 * self.buffer.numel()


class GlooTransport:
    """Messages between the ranks of a gloo group; `receives` in the order in which they are needed, `shapes` of each
    micro-batch's."""

    def __init__(
        self, group: Any, receives: Iterable[Transfer], shapes: Shapes, dtype: torch.dtype = torch.float32
    ) -> None:
        self.group, self.shapes, self.dtype = group, [torch.Size(each) for each in shapes], dtype
        self.expected = iter(receives)
        self.posted: dict[int, tuple[Any, Parcel]] = {}
        self.started: list[tuple[Any, Parcel]] = []
        self.reaper = _Reaper()

    def start_receiving(self) -> None:
        """Post as many receives ahead as the memory for them allows."""
        largest = max(Parcel(shape, self.dtype).bytes for shape in set(self.shapes))
        for transfer in islice(self.expected, max(4, AHEAD_BYTES // largest)):
            self._post(transfer)

    def _post(self, transfer: Transfer) -> None:
        parcel = Parcel(self.shapes[transfer.micro], self.dtype)
        self.posted[transfer.tag] = (self.group.recv([parcel.buffer], transfer.source, transfer.tag), parcel)

    def receive(self, transfer: Transfer) -> tuple[Tensor, int, int]:
        """Wait for a message (batch, sequence, hidden), and post the next receive in its place."""
        work, parcel = self.posted.pop(transfer.tag)
        work.wait()
        following = next(self.expected, None)
        if following is not None:
            self._post(following)
        due, started = parcel.times.tolist()
        return parcel.payload, due + common.ahead, started + common.ahead

    def send(self, transfer: Transfer, tensor: Tensor, due: int) -> None:
        """Start a message; started ones are passed to the reaper, REAP at a time."""
        shape = self.shapes[transfer.micro]
        try:
            parcel = self.reaper.free[shape].pop()
        except IndexError:
            parcel = Parcel(shape, self.dtype)
        parcel.payload.copy_(tensor)
        parcel.times[:] = due - common.ahead, now() - common.ahead
        self.started.append((self.group.send([parcel.buffer], transfer.target, transfer.tag), parcel))
        if len(self.started) >= REAP:
            self.reaper.take(self.started)
            self.started = []

    def flush(self) -> None:
        """Wait until every message started here has been received."""
        self.reaper.take(self.started)
        self.started = []
        self.reaper.close()


class _Reaper:
    """A thread that waits for sends, oldest first, and puts their parcels into `free`."""

    def __init__(self) -> None:
        self.batches: queue.SimpleQueue[list[tuple[Any, Parcel]] | None] = queue.SimpleQueue()
        self.free: defaultdict[torch.Size, deque[Parcel]] = defaultdict(deque)
        self.error: BaseException | None = None
        self.thread = threading.Thread(target=self._run, name="reaper", daemon=True)
        self.thread.start()

    def take(self, started: list[tuple[Any, Parcel]]) -> None:
        self.batches.put(started)

    def close(self) -> None:
        """Wait for all sends. Raises the error of any."""
        self.batches.put(None)
        self.thread.join()
        if self.error is not None:
            raise self.error

    def _run(self) -> None:
        try:
            while (batch := self.batches.get()) is not None:
                for work, parcel in batch:
                    work.wait()
                    self.free[parcel.shape].append(parcel)
        except RuntimeError as error:
            self.error = error
