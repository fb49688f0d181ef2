"""The layouts of measured rows of integers: on a job's board, and in the `op_batch` lines of the runner.

Each layout is defined here once; `FIELDS` is part of every `running` event, and readers decode by it.
"""

from __future__ import annotations

from typing import NamedTuple


class OpTimes(NamedTuple):
    """One op on the board. Times in ns since the run's start; `recv_wait` ns; `live` bytes of saved activations."""

    ready: int
    start: int
    end: int
    recv_wait: int
    live: int


class CopyTimes(NamedTuple):
    """One copy of activations on the board. Times in ns since the run's start."""

    ready: int
    start: int
    end: int
    bytes: int


class MessageTimes(NamedTuple):
    """One received message on the board, in ns since the run's start: when its sender started it, when the receiver
    asked for it, and when the receiver had it. If the receiver waited, `taken` is when the message came."""

    posted: int
    asked: int
    taken: int


# The column numbers of board rows by name: `times[:, OP.start]`.
OP = OpTimes(*range(len(OpTimes._fields)))
COPY = CopyTimes(*range(len(CopyTimes._fields)))
MESSAGE = MessageTimes(*range(len(MessageTimes._fields)))


class OpRow(NamedTuple):
    """One op as reported: `index` counts the ops of its rank; times in ns since the run's start."""

    rank: int
    index: int  # type: ignore[assignment]  # hides tuple.index
    ready: int
    start: int
    end: int
    recv_wait: int


class CopyRow(NamedTuple):
    """One copy as reported: `index` counts the copies of its rank; times in ns since the run's start."""

    rank: int
    index: int  # type: ignore[assignment]  # hides tuple.index
    ready: int
    start: int
    end: int
    bytes: int


class BytesRow(NamedTuple):
    """The bytes of one op: of the messages that it received and sent, and of the activations that are alive on its
    rank's device after it."""

    rank: int
    index: int  # type: ignore[assignment]  # hides tuple.index
    received: int
    sent: int
    live: int


class MessageRow(NamedTuple):
    """One message as reported: `gradient` is 1 for a gradient, 0 for an activation; `stage` is the receiving stage;
    times as on the board; `bytes` with its header.
    """

    source: int
    target: int
    gradient: int
    stage: int
    micro: int
    posted: int
    asked: int
    taken: int
    bytes: int


FIELDS = {
    "ops": OpRow._fields,
    "copies": CopyRow._fields,
    "bytes": BytesRow._fields,
    "messages": MessageRow._fields,
}
