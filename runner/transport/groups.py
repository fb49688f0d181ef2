"""Process groups over gloo, and the stores in which their ranks find each other."""

from __future__ import annotations

import os
from datetime import timedelta
from typing import Any

import torch.distributed as dist
from torch._C._distributed_c10d import FileStore, PrefixStore, TCPStore  # torch.distributed: not for type checkers

TCP = "tcp://"
CONNECT = timedelta(seconds=60)  # to reach the store of a host that is up
UNLIMITED = timedelta(hours=24)  # a stalled peer is detected by the watchdog, which can explain it


def open_store(store: str, ranks: int) -> Any:
    """Open the store of a group: a file, or `tcp://HOST:PORT/NAME`, a name in a TCPStore."""
    if not over_network(store):
        return FileStore(store, ranks)
    address, _, name = store.removeprefix(TCP).partition("/")
    host, _, port = address.rpartition(":")
    return PrefixStore(name, TCPStore(host, int(port), None, False, CONNECT, False))


def over_network(store: str) -> bool:
    """Return whether the ranks of this store may be on several hosts."""
    return store.startswith(TCP)


def gloo_group(store: str, rank: int, ranks: int, address: str = "127.0.0.1") -> Any:
    """Create a gloo group whose connections are made when first used, to this rank at an address of its host.

    Its own thread is made a batch thread: gloo polls again and again for a connection that a sender holds locked, so
    where the thread preempts that sender, which an ordinary thread does on waking, it burns its whole time slice
    (1F1B with tiny ops, two ranks on two busy cores: 900 us per op, as a batch thread 100).
    """
    opened, others = open_store(store, ranks), _threads()
    options = dist.ProcessGroupGloo._Options()  # type: ignore[attr-defined]
    options._timeout = UNLIMITED
    options._devices = [dist.ProcessGroupGloo.create_device(hostname=address, lazy_init=True)]
    group = dist.ProcessGroupGloo(opened, rank, ranks, options)
    for thread in _threads() - others:
        os.sched_setscheduler(thread, os.SCHED_BATCH, os.sched_param(0))
    return group


def _threads() -> set[int]:
    return {int(name) for name in os.listdir("/proc/self/task")}
