"""What a transport does, and how messages travel between CPUs that cannot share memory for them: gloo, over the
loopback or between hosts.

A gloo send is done only when its peer has posted the receive, so nothing here ever waits for a send on the way: sends
are started and left to a thread that waits for them, oldest first, and lets go of their buffers; receives are posted
ahead in the order in which the program needs them. Every message carries two times of the common clock: when its
sender's op was due to end, and when it was started. Knows nothing of ops or schedules.
"""

from __future__ import annotations

import os
import queue
import threading
from collections import deque
from collections.abc import Iterable, Sequence
from datetime import timedelta
from itertools import islice
from typing import Any, Protocol

import torch
import torch.distributed as dist
from torch import Tensor
from torch._C._distributed_c10d import FileStore, PrefixStore, TCPStore  # torch.distributed: not for type checkers

from runner.program.instructions import Link
from runner.telemetry.clock import common, now

WORDS = 8  # 64-bit integers before what a message carries, two of them times: 64 bytes, so that the rest is aligned
AHEAD_BYTES = 64 * 2**20  # memory that receives posted ahead may take on a rank
REAP = 32  # sends passed to the reaping thread at a time
TCP = "tcp://"
MEETING = timedelta(seconds=60)  # to reach the store of a host that is there
FOREVER = timedelta(hours=24)  # a stalled peer is the watchdog's business, which has words for it


class Transport(Protocol):
    """What a worker needs of a transport."""

    def receive(self, link: Link) -> tuple[Tensor, int, int]:
        """Wait for a message: what it carries, the time sent with it, and when it was started."""

    def start_receiving(self) -> None:
        """Get ready to receive."""

    def send(self, link: Link, tensor: Tensor, stamp: int) -> None:
        """Start a message; never waits."""

    def flush(self) -> None:
        """Wait until every message started here has been taken."""


def meet(store: str, ranks: int) -> Any:
    """Where ranks find each other: a file, or `tcp://HOST:PORT/NAME`, a name in a TCPStore."""
    if not over_network(store):
        return FileStore(store, ranks)
    place, _, name = store.removeprefix(TCP).partition("/")
    host, _, port = place.rpartition(":")
    return PrefixStore(name, TCPStore(host, int(port), None, False, MEETING, False))


def over_network(store: str) -> bool:
    """Whether ranks that meet there may be on several hosts."""
    return store.startswith(TCP)


def gloo_group(store: str, rank: int, ranks: int, address: str = "127.0.0.1") -> Any:
    """A gloo group whose connections are made when first used, to this rank at an address of its host.

    Its own thread is made a batch thread: gloo polls again and again for a connection that a sender holds locked, so
    where the thread preempts that sender, which an ordinary thread does on waking, it burns its whole time slice
    (1F1B with tiny ops, two ranks on two busy cores: 900 us an op, as a batch thread 100).
    """
    meeting, others = meet(store, ranks), _threads()
    options = dist.ProcessGroupGloo._Options()  # type: ignore[attr-defined]
    options._timeout = FOREVER
    options._devices = [dist.ProcessGroupGloo.create_device(hostname=address, lazy_init=True)]
    group = dist.ProcessGroupGloo(meeting, rank, ranks, options)
    for thread in _threads() - others:
        os.sched_setscheduler(thread, os.SCHED_BATCH, os.sched_param(0))
    return group


def _threads() -> set[int]:
    return {int(name) for name in os.listdir("/proc/self/task")}


class Parcel:
    """Memory for one message: two times, then a tensor of one shape and type."""

    __slots__ = ("buffer", "payload", "times")

    def __init__(self, shape: Sequence[int], dtype: torch.dtype) -> None:
        size = torch.Size(shape).numel() * dtype.itemsize
        self.buffer = torch.empty(WORDS + -(-size // 8), dtype=torch.int64)
        self.times = self.buffer.numpy()[:2]
        start = WORDS * 8 // dtype.itemsize
        self.payload = self.buffer.view(dtype)[start : start + torch.Size(shape).numel()].view(shape)

    @property
    def bytes(self) -> int:
        """What travels."""
        return 8 * self.buffer.numel()


class GlooTransport:
    """Messages of one shape and type between the ranks of a gloo group; `receives` in the order of need."""

    def __init__(
        self, group: Any, receives: Iterable[Link], shape: Sequence[int], dtype: torch.dtype = torch.float32
    ) -> None:
        self.group, self.shape, self.dtype = group, torch.Size(shape), dtype
        self.coming = iter(receives)
        self.posted: dict[int, tuple[Any, Parcel]] = {}
        self.started: list[tuple[Any, Parcel]] = []
        self.reaper = _Reaper()

    def start_receiving(self) -> None:
        """Post as many receives ahead as the memory for them allows."""
        for link in islice(self.coming, max(4, AHEAD_BYTES // Parcel(self.shape, self.dtype).bytes)):
            self._post(link)

    def _post(self, link: Link) -> None:
        parcel = Parcel(self.shape, self.dtype)
        self.posted[link.tag] = (self.group.recv([parcel.buffer], link.source, link.tag), parcel)

    def receive(self, link: Link) -> tuple[Tensor, int, int]:
        """Wait for a message, and post the next receive in its place."""
        work, parcel = self.posted.pop(link.tag)
        work.wait()
        following = next(self.coming, None)
        if following is not None:
            self._post(following)
        stamp, started = parcel.times.tolist()
        return parcel.payload, stamp + common.ahead, started + common.ahead

    def send(self, link: Link, tensor: Tensor, stamp: int) -> None:
        """Start a message; every now and then hand what was started to the reaper."""
        try:
            parcel = self.reaper.free.pop()
        except IndexError:
            parcel = Parcel(self.shape, self.dtype)
        parcel.payload.copy_(tensor)
        parcel.times[:] = stamp - common.ahead, now() - common.ahead
        self.started.append((self.group.send([parcel.buffer], link.target, link.tag), parcel))
        if len(self.started) >= REAP:
            self.reaper.take(self.started)
            self.started = []

    def flush(self) -> None:
        """Wait until every message started here has been taken."""
        self.reaper.take(self.started)
        self.started = []
        self.reaper.close()


class _Reaper:
    """A thread that waits for sends, oldest first; a send that is done leaves its parcel in `free`."""

    def __init__(self) -> None:
        self.batches: queue.SimpleQueue[list[tuple[Any, Parcel]] | None] = queue.SimpleQueue()
        self.free: deque[Parcel] = deque()
        self.error: BaseException | None = None
        self.thread = threading.Thread(target=self._run, name="reaper", daemon=True)
        self.thread.start()

    def take(self, started: list[tuple[Any, Parcel]]) -> None:
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
                for work, parcel in batch:
                    work.wait()
                    self.free.append(parcel)
        except RuntimeError as error:
            self.error = error
