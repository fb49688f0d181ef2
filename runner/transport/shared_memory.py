"""Messages between ranks on one host: through memory that all their processes share.

A message is a slot of this memory and a word that names the slot. Its sender fills a slot of its own, writes the word
of the message's tag and rings its receiver's bell, a pipe; its receiver copies the slot and frees it. A sender has a
slot for each of its messages of a step and reuses freed ones first, so that sending never waits and no more memory is
touched than there are messages in flight. There is no thread and no socket in between. Knows nothing of ops
or schedules.
"""

from __future__ import annotations

import mmap
import os
from collections import deque

import torch
from torch import Tensor

from runner.program.instructions import Transfer
from runner.telemetry.clock import now
from runner.transport.base import Shapes
from runner.transport.mailbox import HEADER, WORD, Mailbox

DUE, POSTED, TAKEN = range(3)  # words of a slot's header


class SharedMemoryTransport:
    """One rank's messages, `shapes` of each micro-batch's. It polls for a message for `spin` nanoseconds before it
    sleeps: waking up takes longer, but polling keeps a core from others."""

    def __init__(
        self, box: Mailbox, rank: int, shapes: Shapes, dtype: torch.dtype = torch.float32, spin: int = 0
    ) -> None:
        with open(box.path, "r+b") as file:
            self.memory = mmap.mmap(file.fileno(), box.bytes)
        self.words = memoryview(self.memory).cast("q")
        self.box, self.dtype, self.spin = box, dtype, spin
        self.shapes = [torch.Size(each) for each in shapes]
        self.bells = [os.open(bell, os.O_RDWR | os.O_NONBLOCK) for bell in box.bells]  # to ring
        self.bell = os.open(box.bells[rank], os.O_RDWR)  # to wait for
        self.fresh = iter(range(box.first[rank], box.first[rank + 1]))
        self.sent: deque[int] = deque()  # slots, oldest first
        self.slots: dict[tuple[int, torch.Size], Tensor] = {}

    def __del__(self) -> None:
        for handle in (*self.bells, self.bell):
            os.close(handle)

    def start_receiving(self) -> None:
        """Do nothing: a message may come at any time."""

    def flush(self) -> None:
        """Do nothing: a message that was sent can be taken even if its sender ends."""

    def send(self, transfer: Transfer, tensor: Tensor, due: int) -> None:
        """Write a message and ring."""
        words, sent = self.words, self.sent
        slot = sent.popleft() if sent and words[self._at(sent[0]) + TAKEN] else next(self.fresh)
        sent.append(slot)
        at = self._at(slot)
        self._payload(slot, self.shapes[transfer.micro]).copy_(tensor)
        words[at + TAKEN] = 0
        words[at + DUE] = due
        words[at + POSTED] = now()
        words[transfer.tag] = slot + 1  # from here on the receiver sees the message
        try:  # noqa: SIM105 - suppress costs as much as the call
            os.write(self.bells[transfer.target], b"!")
        except BlockingIOError:  # a full pipe wakes its reader all the same
            pass

    def receive(self, transfer: Transfer) -> tuple[Tensor, int, int]:
        """Wait for a message (batch, sequence, hidden)."""
        words, tag = self.words, transfer.tag
        if not words[tag]:
            self._wait(tag)
        slot = words[tag] - 1
        words[tag] = 0
        at = self._at(slot)
        tensor = self._payload(slot, self.shapes[transfer.micro]).clone()
        due, posted = words[at + DUE], words[at + POSTED]
        words[at + TAKEN] = 1
        return tensor, due, posted

    def _wait(self, tag: int) -> None:
        words, until = self.words, now() + self.spin
        while not words[tag]:
            if now() >= until:
                os.read(self.bell, 4096)  # sleeps unless the bell rang since the last read

    def _at(self, slot: int) -> int:
        """Return the offset of a slot, in words."""
        return self.box.slots + slot * self.box.stride

    def _payload(self, slot: int, shape: torch.Size) -> Tensor:
        """Return the payload (batch, sequence, hidden) in a slot."""
        found = self.slots.get((slot, shape))
        if found is None:
            offset = (self._at(slot) + HEADER) * WORD
            whole = torch.frombuffer(self.memory, dtype=self.dtype, count=shape.numel(), offset=offset)
            found = self.slots[slot, shape] = whole.view(shape)
        return found
