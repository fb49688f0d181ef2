"""Messages where every rank has a GPU of its own: one group of two ranks for each direction between two of them.

NCCL knows no tags and lets an operation wait on the GPU for its peer, so what shares a communicator must be started
in the same order at both ends. Here each direction between two ranks has its own, and its receives are posted in the
order in which the sender sends, whatever the order in which they are needed. The tests run it with gloo groups; NCCL
needs GPUs.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor
from torch._C._distributed_c10d import PrefixStore

from runner.program.instructions import Transfer
from runner.telemetry.clock import common, now
from runner.transport.base import WORDS, Shapes
from runner.transport.groups import open_store

AHEAD = 2  # receives posted ahead in each direction: a waiting one occupies a part of the GPU
SENDER, RECEIVER = 0, 1

MakeGroup = Callable[[tuple[int, int], int], Any]


def nccl_groups(store: str, ranks: int) -> MakeGroup:
    """Return a function that makes the NCCL group of a direction, seen from its sender or its receiver."""

    def make(direction: tuple[int, int], end: int) -> Any:
        opened = PrefixStore(f"nccl-{direction[0]}-{direction[1]}", open_store(store, ranks))
        return dist.ProcessGroupNCCL(opened, end, 2, dist.ProcessGroupNCCL.Options())

    return make


class NcclTransport:
    """The directions from and to one rank; `sends` and `arrivals` in the order in which their senders send."""

    def __init__(
        self,
        make: MakeGroup,
        sends: Iterable[Transfer],
        arrivals: Iterable[Transfer],
        shapes: Shapes,
        device: torch.device,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        self.shapes, self.device, self.dtype = [torch.Size(each) for each in shapes], device, dtype
        self.expected: dict[tuple[int, int], deque[Transfer]] = defaultdict(deque)
        for transfer in arrivals:
            self.expected[transfer.source, transfer.target].append(transfer)
        outgoing = {(transfer.source, transfer.target) for transfer in sends}
        ends = dict.fromkeys(outgoing, SENDER) | dict.fromkeys(self.expected, RECEIVER)
        # Connecting waits for the peer: all ranks take the directions in one order, so that no two wait crosswise.
        self.groups = {direction: self._meet(make, direction, ends[direction]) for direction in sorted(ends)}
        self.posted: dict[int, tuple[Any, Tensor]] = {}
        self.started: list[tuple[Any, Tensor]] = []

    def _meet(self, make: MakeGroup, direction: tuple[int, int], end: int) -> Any:
        group = make(direction, end)
        token = torch.zeros(1, device=self.device)
        work = group.send([token], RECEIVER, 0) if end == SENDER else group.recv([token], SENDER, 0)
        work.wait()
        self.synchronize()
        return group

    def synchronize(self) -> None:
        """Wait for the work of the current stream, but not for receives that are still expected."""
        if self.device.type == "cuda":
            torch.cuda.current_stream(self.device).synchronize()

    def start_receiving(self) -> None:
        """Post the first receives of each direction."""
        for direction in self.expected:
            for _ in range(AHEAD):
                self._post(direction)

    def _post(self, direction: tuple[int, int]) -> None:
        if self.expected[direction]:
            transfer = self.expected[direction].popleft()
            buffer = self._buffer(transfer)
            self.posted[transfer.tag] = (self.groups[direction].recv([buffer], SENDER, 0), buffer)

    def _buffer(self, transfer: Transfer) -> Tensor:
        """Create the buffer of one message: int64 (words,), two of them times, then the payload."""
        words = WORDS + -(-self.shapes[transfer.micro].numel() * self.dtype.itemsize // 8)
        return torch.empty(words, dtype=torch.int64, device=self.device)

    def _payload(self, buffer: Tensor, transfer: Transfer) -> Tensor:
        """Return the payload (batch, sequence, hidden) in a buffer."""
        start, shape = WORDS * 8 // self.dtype.itemsize, self.shapes[transfer.micro]
        return buffer.view(self.dtype)[start : start + shape.numel()].view(shape)

    def receive(self, transfer: Transfer) -> tuple[Tensor, int, int]:
        """Wait for a message (batch, sequence, hidden), posting all receives of the messages sent before it."""
        buffer = self._next(transfer)
        self.synchronize()
        due, started = buffer[:2].tolist()
        return self._payload(buffer, transfer), due + common.ahead, started + common.ahead

    def receive_soon(self, transfer: Transfer) -> tuple[Tensor, Callable[[], int]]:
        """Return a message (batch, sequence, hidden) that the current stream waits for, and when its sender started
        it."""
        buffer = self._next(transfer)
        return self._payload(buffer, transfer), lambda: int(buffer[1]) + common.ahead

    def _next(self, transfer: Transfer) -> Tensor:
        direction = (transfer.source, transfer.target)
        while transfer.tag not in self.posted:
            self._post(direction)
        work, buffer = self.posted.pop(transfer.tag)
        work.wait()
        self._post(direction)
        return buffer

    def send(self, transfer: Transfer, tensor: Tensor, due: int) -> None:
        """Start a message."""
        buffer = self._buffer(transfer)
        self._payload(buffer, transfer).copy_(tensor)
        buffer[0].fill_(due - common.ahead)
        buffer[1].fill_(now() - common.ahead)
        self.started.append((self.groups[transfer.source, transfer.target].send([buffer], RECEIVER, 0), buffer))
        if self.device.type == "cuda":  # only there a work can be asked whether it is done
            self.started = [one for one in self.started if not one[0].is_completed()]

    def flush(self) -> None:
        """Wait until every message started here has been received."""
        for work, _ in self.started:
            work.wait()
        self.synchronize()
        self.started = []
