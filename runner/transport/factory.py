"""The choice of a rank's transport: queues in a process, shared memory on a host, gloo between hosts, NCCL on GPUs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from runner.devices import cores
from runner.program.instructions import RankProgram, Transfer
from runner.telemetry.event_clock import EventClock
from runner.transport.base import Shapes, Transport
from runner.transport.gloo import GlooTransport
from runner.transport.mailbox import Mailbox
from runner.transport.nccl import NcclTransport, nccl_groups
from runner.transport.ordered import OrderedTransport
from runner.transport.shared_memory import SharedMemoryTransport
from runner.transport.streams import StreamTransport
from runner.transport.threads import Queues, ThreadTransport

SPIN_NS = 100_000  # where every thread has a core of its own: as long as it takes to sleep and be woken


def create_transport(
    program: RankProgram,
    *,
    ranks: int,
    shapes: Shapes,
    dtype: torch.dtype,
    device: torch.device,
    queues: Queues | None = None,
    event_clock: EventClock | None = None,
    mailbox: Mailbox | None = None,
    group: Any = None,
    store: str = "",
    arrivals: Sequence[Transfer] = (),
    wire: int = 0,
) -> Transport:
    """Create the transport of one rank for messages of `shapes` (batch, sequence, hidden), one for each micro-batch.

    `queues` are given where the ranks are threads of one process, with an `event_clock` if their ops are timed by
    events; `mailbox` where they share memory; `group` where they are CPUs that do not. Otherwise they are GPUs: their
    groups are made in `store`, and `arrivals` are this rank's receives in the order of their senders.
    """
    if queues is not None:
        if event_clock is not None:
            return StreamTransport(queues, device, event_clock)
        return ThreadTransport(queues, device)
    if program.posts:
        return OrderedTransport(group, program.posts, shapes, dtype, wire)
    if mailbox is not None:
        own_core = ranks <= cores() and not program.copies and program.output is None
        return SharedMemoryTransport(mailbox, program.rank, shapes, dtype, SPIN_NS if own_core else 0)
    if device.type == "cpu":
        return GlooTransport(group, program.receives(), shapes, dtype)
    return NcclTransport(nccl_groups(store, ranks), program.sends(), arrivals, shapes, device, dtype)
