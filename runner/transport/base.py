"""The interface of transports: how the tensors of messages travel between ranks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from torch import Tensor

from runner.program.instructions import Transfer

Shapes = Sequence[Sequence[int]]  # of each micro-batch's messages
WORDS = 8  # 64-bit integers before the payload, two of them times: 64 bytes, so that the payload is aligned


class Transport(Protocol):
    """The messages of one rank, all of one type; those of a micro-batch have one shape (batch, sequence, hidden)."""

    def receive(self, transfer: Transfer) -> tuple[Tensor, int, int]:
        """Wait for a message. Returns its payload, the time at which its sender's op was due to end, and the time at
        which the message was started, both in ns of this host's clock."""

    def start_receiving(self) -> None:
        """Get ready to receive."""

    def send(self, transfer: Transfer, tensor: Tensor, due: int) -> None:
        """Start a message; never waits. `due` is the time at which the op that made it was due to end."""

    def flush(self) -> None:
        """Wait until every message started here has been received."""
