"""Batches of a run: every row recorded since the last one, read from the board.

Reads whole columns at a time: reporting ten thousand ops per second must not take a core from the ranks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from runner.program.traffic import Traffic
from runner.telemetry.op_board import Board
from runner.telemetry.rows import OP

Ints = npt.NDArray[np.int64]
MOST = 4096  # rows of a kind in one line
MANY = 200  # ops in one batch above which their other rows are sent later


class Stream:
    """The reported and the new rows of a board."""

    def __init__(self, board: Board, traffic: Traffic) -> None:
        self.board, self.traffic = board, traffic
        self.ops, self.copies, self.messages, self.bytes = ([0] * board.ranks for _ in range(4))
        self.longest = 0  # ns of the longest op that was reported

    def batch(self, last: bool = False) -> dict[str, Any]:
        """Return the rows of the next `op_batch` by kind, in the layouts of rows.py; empty if there are no new ones.

        The `last` batch has all remaining rows: copies and messages are read after the ops, and the last op of a rank
        waits for the last of both.
        """
        done = self.board.done().tolist()
        many = sum(done) - sum(self.ops) > MANY
        ops = self._read(self.ops, done, self._ops)
        others = {"copies": self._read(self.copies, self.board.copied().tolist(), self._copies)}
        if last or not many:
            others["bytes"] = self._read(self.bytes, done, self._bytes)
            others["messages"] = self._read(self.messages, self.board.received().tolist(), self._messages)
        found = {name: rows for name, rows in others.items() if rows}
        return {"ops": ops} | found if ops or found else {}

    def batches(self, last: bool = False) -> Iterator[dict[str, Any]]:
        """Yield what `batch` returns in lines of bounded length, between which a reader can serve others."""
        found = self.batch(last)
        for at in range(0, max(map(len, found.values()), default=0), MOST):
            yield {"ops": []} | {name: some for name, rows in found.items() if (some := rows[at : at + MOST])}

    def _read(self, reported: list[int], now: list[int], rows: Callable[[int, int, int], Ints]) -> list[list[int]]:
        """Return the new rows of all ranks, and count them as reported."""
        parts = [rows(rank, reported[rank], until) for rank, until in enumerate(now) if until > reported[rank]]
        reported[:] = now
        found: list[list[int]] = np.concatenate(parts).tolist() if parts else []
        return found

    def _ops(self, rank: int, since: int, until: int) -> Ints:
        """Return (n, 6) as `OpRow`."""
        times = self.board.rows(rank, since, until)
        self.longest = max(self.longest, int((times[:, OP.end] - times[:, OP.start]).max()))
        return _numbered(rank, since, times[:, : OP.live])

    def _copies(self, rank: int, since: int, until: int) -> Ints:
        """Return (n, 6) as `CopyRow`."""
        return _numbered(rank, since, self.board.copy_rows(rank, since, until))

    def _bytes(self, rank: int, since: int, until: int) -> Ints:
        """Return (n, 5) as `BytesRow`."""
        live = self.board.rows(rank, since, until)[:, OP.live]
        return _numbered(rank, since, np.column_stack((self.traffic.moved[rank][since:until], live)))

    def _messages(self, rank: int, since: int, until: int) -> Ints:
        """Return (n, 9) as `MessageRow`."""
        times = self.board.message_rows(rank, since, until)
        rows = self.traffic.rows[rank][since:until]
        return np.column_stack((rows, times, self.traffic.bytes[rows[:, 4]]))


def _numbered(rank: int, since: int, times: Ints) -> Ints:
    """Put the rank and the index in its row before each row."""
    index = np.arange(since, since + len(times))
    return np.column_stack((np.full(len(times), rank), index, times))
