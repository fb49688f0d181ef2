"""A rank's copy lane: a thread beside its compute that moves saved activations to host memory and back.

Copies run one at a time in the order in which they are issued. On a CPU host memory is a second buffer; on a GPU it
is pinned, and the lane has a stream of its own. Compute waits for the lane only before a backward whose activations
are not reloaded yet. In paced mode a copy is extended to its nominal time, as ops are. Knows no orders.
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
    """The interface of a stage that a copy lane uses."""

    def offload(self, micro: int) -> int:
        """Move the saved activations of a micro-batch to host memory; returns the bytes moved."""

    def reload(self, micro: int) -> int:
        """Move them back; returns the bytes moved."""


class CopyLane:
    """The copies of one rank; `unit` is the nanoseconds per time unit in paced mode, 0 in free mode."""

    def __init__(self, copies: Sequence[Copy], stages: Sequence[Movable], ledger: Ledger, unit: float) -> None:
        self.copies, self.stages, self.ledger, self.unit = copies, stages, ledger, unit
        self.issued = 0
        self.queue: queue.SimpleQueue[tuple[Copy, int] | None] = queue.SimpleQueue()
        self.reloaded = {(copy.chunk, copy.micro): threading.Event() for copy in copies if copy.kind == "R"}
        self.due: dict[tuple[int, int], int] = {}
        self.error: BaseException | None = None
        self.thread = threading.Thread(target=self._run, name="copies", daemon=True)
        self.thread.start()

    def issue(self, done: int, due: int) -> None:
        """Start the copies that are issued once the rank has done `done` ops, the last of which was due at `due`."""
        while self.issued < len(self.copies) and self.copies[self.issued].issued <= done:
            self.queue.put((self.copies[self.issued], due))
            self.issued += 1

    def reloads(self, chunk: int, micro: int) -> bool:
        """Return whether a backward has to wait for a reload."""
        return (chunk, micro) in self.reloaded

    def wait_for_reload(self, chunk: int, micro: int) -> int:
        """Wait for a reload; returns when it was due. Raises the error of any copy."""
        self.reloaded[chunk, micro].wait()
        if self.error is not None:
            raise self.error
        return self.due[chunk, micro]

    def close(self) -> None:
        """Wait for all copies. Raises the error of any."""
        self.queue.put(None)
        self.thread.join()
        if self.error is not None:
            raise self.error

    def _run(self) -> None:
        torch.set_num_threads(1)  # libraries would give a new thread all cores, and spin on them
        try:
            while (item := self.queue.get()) is not None:
                copy, ready = item
                start = now()
                stage = self.stages[copy.chunk]
                moved = stage.offload(copy.micro) if copy.kind == "O" else stage.reload(copy.micro)
                end = now()
                if self.unit:
                    end = max(end, start + int(copy.nominal * self.unit))
                    sleep_until(end)
                self.ledger.record_copy(ready, start, end, moved)
                if copy.kind == "R":
                    self.due[copy.chunk, copy.micro] = end
                    self.reloaded[copy.chunk, copy.micro].set()
        except Exception as error:  # raised again in the thread that waits
            self.error = error
            for event in self.reloaded.values():
                event.set()
