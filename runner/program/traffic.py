"""The messages of a program and their bytes, computed before it runs, so that no rank has to count them.

Includes the messages between two ranks, with the header that holds their times; excludes collectives (a vocabulary
spread over all ranks). Knows no tensors.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from runner.program.compile import Program
from runner.program.instructions import Step, Transfer

HEADER_BYTES = 64
Ints = npt.NDArray[np.int64]


class Traffic:
    """The messages of all ranks.

    Per rank: `messages`, those that it receives, in the order in which it needs them, each with the index of that op;
    `rows` (messages, 5), the first fields of `MessageRow`; `moved` (ops, 2), the bytes that each op receives and
    sends. `bytes` is the size of one message with its header; all are equal.
    """

    def __init__(self, program: Program, payload_bytes: int) -> None:
        self.bytes = HEADER_BYTES + payload_bytes
        self.messages: list[list[tuple[int, Transfer]]] = [
            [(step.index, transfer) for step in rank.steps for transfer in _received(step)] for rank in program.ranks
        ]
        self.moved = [np.array([self._of(step) for step in rank.steps], np.int64) for rank in program.ranks]
        self.rows = [_array([_row(transfer) for _, transfer in messages]) for messages in self.messages]

    @property
    def received(self) -> list[int]:
        """Return the number of messages that each rank receives."""
        return [len(messages) for messages in self.messages]

    def _of(self, step: Step) -> tuple[int, int]:
        """Return the bytes that an op receives and sends."""
        sent = sum(task.output_transfer is not None and not task.output_transfer.local for task in step.tasks)
        return len(_received(step)) * self.bytes, sent * self.bytes


def _row(transfer: Transfer) -> list[int]:
    return [transfer.source, transfer.target, int(transfer.what == "gradient"), transfer.stage, transfer.micro]


def _array(rows: list[list[int]]) -> Ints:
    return np.array(rows, np.int64).reshape(-1, 5)


def _received(step: Step) -> list[Transfer]:
    return [
        task.input_transfer for task in step.tasks if task.input_transfer is not None and not task.input_transfer.local
    ]
