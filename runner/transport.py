"""How messages travel between ranks on CPUs: gloo over the loopback.

A gloo send is done only when its peer has posted the receive, so nothing here ever waits for a send on the way: sends
are started and left to a thread that waits for them, oldest first, and lets go of their buffers; receives are posted
ahead in the order in which the program needs them. Every message carries a time: when its sender's op was due to end.
Knows nothing of ops or schedules.
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Iterable, Sequence
from datetime import timedelta
from itertools import islice
from typing import Any, Protocol

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor
from torch._C._distributed_c10d import FileStore  # torch.distributed has it too, but not for type checkers

from runner.steps import Link

HEADER = 16  # floats, of which the first two hold the time: 64 bytes, so that what follows stays aligned
AHEAD_BYTES = 64 * 2**20  # memory that receives posted ahead may take on a rank
REAP = 32  # sends handed to the reaping thread at a time
FOREVER = timedelta(hours=24)  # a stalled peer is the watchdog's business, which has words for it


class Transport(Protocol):
    """What a worker needs of a transport."""

    def receive(self, link: Link) -> tuple[Tensor, int]:
        """Wait for a message: what it carries and the time sent with it."""

    def send(self, link: Link, tensor: Tensor, stamp: int) -> None:
        """Start a message; never waits."""

    def flush(self) -> None:
        """Wait until every message started here has been taken."""


def gloo_group(store_path: str, rank: int, ranks: int) -> Any:
    """A gloo group over 127.0.0.1 whose connections are made when first used.

    Its own thread is made a batch thread: gloo polls again and again for a connection that a sender holds locked, so
    where the thread preempts that sender, which an ordinary thread does on waking, it burns its whole time slice
    (1F1B with tiny ops, two ranks on two busy cores: 900 us an op, as a batch thread 100).
    """
    others = _threads()
    options = dist.ProcessGroupGloo._Options()  # type: ignore[attr-defined]
    options._timeout = FOREVER
    options._devices = [dist.ProcessGroupGloo.create_device(hostname="127.0.0.1", lazy_init=True)]
    group = dist.ProcessGroupGloo(FileStore(store_path, ranks), rank, ranks, options)
    for thread in _threads() - others:
        os.sched_setscheduler(thread, os.SCHED_BATCH, os.sched_param(0))
    return group


def _threads() -> set[int]:
    return {int(name) for name in os.listdir("/proc/self/task")}


class GlooTransport:
    """Messages of one shape between the ranks of a gloo group; `receives` in the order of need."""

    def __init__(self, group: Any, receives: Iterable[Link], shape: Sequence[int]) -> None:
        self.group, self.shape = group, tuple(shape)
        self.end = HEADER + torch.Size(shape).numel()
        self.size = self.end + self.end % 2  # even, so that the whole can be seen as 64-bit integers
        self.coming = iter(receives)
        self.posted: dict[int, tuple[Any, Tensor]] = {}
        self.started: list[tuple[Any, Tensor]] = []
        self.reaper = _Reaper()

    def prime(self) -> None:
        """Post as many receives ahead as the memory for them allows."""
        for link in islice(self.coming, max(4, AHEAD_BYTES // (4 * self.size))):
            self._post(link)

    def _post(self, link: Link) -> None:
        buffer = torch.empty(self.size)
        self.posted[link.tag] = (self.group.recv([buffer], link.source, link.tag), buffer)

    def receive(self, link: Link) -> tuple[Tensor, int]:
        """Wait for a message, and post the next receive in its place."""
        work, buffer = self.posted.pop(link.tag)
        work.wait()
        following = next(self.coming, None)
        if following is not None:
            self._post(following)
        return buffer[HEADER : self.end].view(self.shape), int(buffer.numpy().view(np.int64)[0])

    def send(self, link: Link, tensor: Tensor, stamp: int) -> None:
        """Start a message; every now and then hand what was started to the reaper."""
        buffer = torch.empty(self.size)
        buffer.numpy().view(np.int64)[0] = stamp
        buffer[HEADER : self.end].view(self.shape).copy_(tensor)
        self.started.append((self.group.send([buffer], link.target, link.tag), buffer))
        if len(self.started) >= REAP:
            self.reaper.take(self.started)
            self.started = []

    def flush(self) -> None:
        """Wait until every message started here has been taken."""
        self.reaper.take(self.started)
        self.started = []
        self.reaper.close()


class _Reaper:
    """A thread that waits for sends, oldest first; a send's buffer is free once nothing refers to it."""

    def __init__(self) -> None:
        self.batches: queue.SimpleQueue[list[tuple[Any, Tensor]] | None] = queue.SimpleQueue()
        self.error: BaseException | None = None
        self.thread = threading.Thread(target=self._run, name="reaper", daemon=True)
        self.thread.start()

    def take(self, started: list[tuple[Any, Tensor]]) -> None:
        self.batches.put(started)

    def close(self) -> None:
        """Wait for all sends; raises what went wrong with any."""
        self.batches.put(None)
        self.thread.join()
        if self.error is not None:
            raise self.error

    def _run(self) -> None:
        try:
            while (batch := self.batches.get()) is not None:
                batch.reverse()
                while batch:
                    work, _ = batch.pop()
                    work.wait()
        except RuntimeError as error:
            self.error = error
