"""A rank's copy lane: a thread beside its compute that moves saved activations to host memory and back.

Copies run one at a time in the order in which they are issued. On a CPU host memory is a second buffer; on a GPU it is
pinned, and the lane has a stream of its own. The backward of what was moved waits for its reload; compute waits for
nothing else here. Paced, a copy is held to its nominal time as an op is. Knows nothing of orders.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Sequence
from typing import Protocol

import torch

from runner.program.instructions import Copy
from runner.telemetry.clock import now, sleep_until
from runner.telemetry.op_board import Ledger


class Movable(Protocol):
    """What a lane needs of a stage."""

    def offload(self, micro: int) -> int:
        """Move what a micro-batch's forward kept to host memory; the bytes moved."""

    def reload(self, micro: int) -> int:
        """Bring it back."""


class CopyLane:
    """The copies of one rank; `unit` nanoseconds of a time unit that a copy is held to, 0 in free mode."""

    def __init__(self, copies: Sequence[Copy], parts: Sequence[Movable], ledger: Ledger, unit: float) -> None:
        self.copies, self.parts, self.ledger, self.unit = copies, parts, ledger, unit
        self.issued = 0
        self.queue: queue.SimpleQueue[tuple[Copy, int] | None] = queue.SimpleQueue()
        self.home = {(copy.chunk, copy.micro): threading.Event() for copy in copies if copy.kind == "R"}
        self.due: dict[tuple[int, int], int] = {}
        self.error: BaseException | None = None
        self.thread = threading.Thread(target=self._run, name="copies", daemon=True)
        self.thread.start()

    def issue(self, done: int, due: int) -> None:
        """The rank has done so many ops, the last of which was due at `due`: start what is issued by now."""
        while self.issued < len(self.copies) and self.copies[self.issued].issued <= done:
            self.queue.put((self.copies[self.issued], due))
            self.issued += 1

    def moves(self, chunk: int, micro: int) -> bool:
        """Whether a backward has to wait for a reload."""
        return (chunk, micro) in self.home

    def reloaded(self, chunk: int, micro: int) -> int:
        """Wait for a reload; when it was due."""
        self.home[chunk, micro].wait()
        if self.error is not None:
            raise self.error
        return self.due[chunk, micro]

    def close(self) -> None:
        """Wait for all copies; raises what went wrong with any."""
        self.queue.put(None)
        self.thread.join()
        if self.error is not None:
            raise self.error

    def _run(self) -> None:
        torch.set_num_threads(1)  # libraries would give a new thread all cores, and spin on them
        try:
            free = 0
            while (item := self.queue.get()) is not None:
                copy, ready = item
                begin = max(ready, free)
                start = now()
                part = self.parts[copy.chunk]
                moved = part.offload(copy.micro) if copy.kind == "O" else part.reload(copy.micro)
                free = end = now()
                if self.unit:
                    free = max(free, begin + int(copy.nominal * self.unit))
                    sleep_until(free)
                    end = now()
                self.ledger.record_copy(ready, start, end, moved)
                if copy.kind == "R":
                    self.due[copy.chunk, copy.micro] = free
                    self.home[copy.chunk, copy.micro].set()
        except Exception as error:  # raised again in whoever waits
            self.error = error
            for event in self.home.values():
                event.set()
