"""The shared memory for messages between ranks on one host, and a pipe per rank that wakes it.

Defines the layout only, and no tensors: the main process, which never loads torch, creates it.
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

WORD = 8  # bytes
HEADER = 8  # words before the payload of a message, which aligns the payload to a cache line


def usable() -> bool:
    """Return whether this machine supports shared mailboxes.

    Stores of one process must become visible to others in the order in which they were made, which x86 guarantees.
    """
    return sys.platform == "linux" and platform.machine() in ("x86_64", "AMD64")


@dataclass(frozen=True, slots=True)
class MailboxNeeds:
    """The messages of one step: how many each rank sends, how many tags there are, and the bytes of one message."""

    sends: Sequence[int]
    tags: int
    message_bytes: int


@dataclass(frozen=True, slots=True)
class Mailbox:
    """The memory of one job and its `bells`, one pipe per rank, by their paths. Layout: one word per tag, then slots of
    `stride` words, those of rank r from number `first[r]` on."""

    path: str
    bells: tuple[str, ...]
    tags: int
    first: tuple[int, ...]
    stride: int

    @property
    def slots(self) -> int:
        """Return the offset of the slots, in words."""
        return -(-self.tags // HEADER) * HEADER

    @property
    def bytes(self) -> int:
        """Return the size of the memory, in bytes."""
        return (self.slots + self.stride * self.first[-1]) * WORD

    def create(self) -> None:
        """Set the size of the memory, and create the bells."""
        os.truncate(self.path, self.bytes)
        for bell in self.bells:
            os.mkfifo(bell)


def lay_out(path: str, folder: str, needs: MailboxNeeds) -> Mailbox:
    """Lay out the memory at `path` for the messages of a step, with bells in `folder`."""
    bells = tuple(f"{folder}/bell-{rank}" for rank in range(len(needs.sends)))
    stride = HEADER + -(-needs.message_bytes // (WORD * HEADER)) * HEADER
    return Mailbox(path, bells, needs.tags, tuple(accumulate(needs.sends, initial=0)), stride)
