"""The messages of a program and their bytes, computed before it runs, so that no rank has to count them.

Includes the messages between two ranks, with the header that holds their times; excludes collectives (a vocabulary
spread over all ranks). Knows no tensors.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

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
    sends. `bytes` (micro-batches,) is the size of a message of each, with its header.
    """

    def __init__(self, program: Program, payload_bytes: Sequence[int]) -> None:
        self.bytes = HEADER_BYTES + np.array(payload_bytes, np.int64)
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
        sent = _between_ranks(task.output_transfer for task in step.tasks)
        received, posted = (sum(int(self.bytes[each.micro]) for each in some) for some in (_received(step), sent))
        return received, posted


def _row(transfer: Transfer) -> list[int]:
    return [transfer.source, transfer.target, int(transfer.what == "gradient"), transfer.stage, transfer.micro]


def _array(rows: list[list[int]]) -> Ints:
    return np.array(rows, np.int64).reshape(-1, 5)


def _received(step: Step) -> list[Transfer]:
    return _between_ranks(task.input_transfer for task in step.tasks)


def _between_ranks(transfers: Iterable[Transfer | None]) -> list[Transfer]:
    return [transfer for transfer in transfers if transfer is not None and not transfer.local]
