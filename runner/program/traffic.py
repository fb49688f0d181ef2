"""What a program moves between ranks: known before it runs, so that nobody has to count bytes while it does.

Counted are the messages between two ranks, as they travel: what they carry and the times before it. Collectives, where
the vocabulary is spread over all ranks, are not. Knows no tensors.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from runner.model.config import Training
from runner.program.compile import Program
from runner.program.instructions import Link, Step

HEADER_BYTES = 64
Ints = npt.NDArray[np.int64]


class Traffic:
    """The messages of all ranks: `messages` those that each rank receives, in the order in which it needs them, each
    with the index of the op that does; `rows` [source, target, activation or gradient, stage, micro-batch] of each, the
    stage being the one that receives it; `moved` bytes that each op receives and sends; `bytes` the size of one
    message, of whatever it is."""

    def __init__(self, program: Program, training: Training) -> None:
        self.bytes = HEADER_BYTES + training.message_bytes
        self.messages: list[list[tuple[int, Link]]] = [
            [(step.index, link) for step in rank.steps for link in _input_links(step)] for rank in program.ranks
        ]
        self.moved = [np.array([self._of(step) for step in rank.steps], np.int64) for rank in program.ranks]
        self.rows = [_array([_row(link) for _, link in messages]) for messages in self.messages]

    @property
    def received(self) -> list[int]:
        """How many messages each rank receives."""
        return [len(messages) for messages in self.messages]

    def _of(self, step: Step) -> tuple[int, int]:
        """Bytes that an op receives and sends."""
        sent = sum(task.output_link is not None and not task.output_link.local for task in step.tasks)
        return len(_input_links(step)) * self.bytes, sent * self.bytes


def _row(link: Link) -> list[int]:
    return [link.source, link.target, int(link.what == "gradient"), link.stage, link.micro]


def _array(rows: list[list[int]]) -> Ints:
    return np.array(rows, np.int64).reshape(-1, 5)


def _input_links(step: Step) -> list[Link]:
    return [task.input_link for task in step.tasks if task.input_link is not None and not task.input_link.local]
