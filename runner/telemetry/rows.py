"""The layouts of measured rows of integers on a job's board; reported rows are those of measured_rows.py."""

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
