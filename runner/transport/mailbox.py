"""Where messages between ranks on one host lie: memory that their processes share, and a pipe each to be woken by.

Knows the layout only, and no tensors: the main process, which never loads torch, makes it.
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

WORD = 8  # bytes
HEADER = 8  # words before what a message carries, so that this is aligned as a processor fetches memory


def usable() -> bool:
    """Whether this machine has what it takes. What one process stores must become visible to others in the order in
    which it was stored, which x86 sees to by itself."""
    return sys.platform == "linux" and platform.machine() in ("x86_64", "AMD64")


@dataclass(frozen=True, slots=True)
class Mailbox:
    """The memory of one job and its `bells`, one a rank, by their paths: a word for each tag, then slots of `stride`
    words, rank r's from number `first[r]` on."""

    path: str
    bells: tuple[str, ...]
    tags: int
    first: tuple[int, ...]
    stride: int

    @property
    def slots(self) -> int:
        """Where the slots begin, in words."""
        return -(-self.tags // HEADER) * HEADER

    @property
    def bytes(self) -> int:
        """The size of it all."""
        return (self.slots + self.stride * self.first[-1]) * WORD

    def make(self) -> None:
        """Give the memory its size, and make the bells."""
        os.truncate(self.path, self.bytes)
        for bell in self.bells:
            os.mkfifo(bell)


def lay_out(path: str, folder: str, sends: Sequence[int], tags: int, message_bytes: int) -> Mailbox:
    """The memory at `path` for so many messages a step from each rank, `message_bytes` each; bells in `folder`."""
    bells = tuple(f"{folder}/bell-{rank}" for rank in range(len(sends)))
    stride = HEADER + -(-message_bytes // (WORD * HEADER)) * HEADER
    return Mailbox(path, bells, tags, tuple(accumulate(sends, initial=0)), stride)
