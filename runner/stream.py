"""What a run's batches hold: everything that ended since the last one, read off the board."""

from __future__ import annotations

from typing import Any

from runner.board import Board
from runner.traffic import Traffic


class Stream:
    """How much of a board has been reported."""

    def __init__(self, board: Board, traffic: Traffic) -> None:
        self.board, self.traffic = board, traffic
        self.ops, self.copies, self.messages = ([0] * board.ranks for _ in range(3))

    def batch(self) -> dict[str, Any]:
        """The next `op_batch`, empty where no op ended. Copies and messages are read after the ops: a rank's last op
        waits for the last of both, so that with it every one of them has been reported."""
        ops: list[list[int]] = []
        volumes: list[list[int]] = []
        for rank, done in enumerate(self.board.done().tolist()):
            since, self.ops[rank] = self.ops[rank], done
            moved = self.traffic.moved[rank]
            for index, (*times, live) in enumerate(self.board.rows(rank, since, done), since):
                ops.append([rank, index, *times])
                volumes.append([*moved[index], live])
        if not ops:
            return {}
        others = {"copies": self._copies(), "messages": self._messages()}
        return {"ops": ops, "bytes": volumes} | {name: rows for name, rows in others.items() if rows}

    def _copies(self) -> list[list[int]]:
        rows: list[list[int]] = []
        for rank, copied in enumerate(self.board.copied().tolist()):
            rows += self.board.copy_rows(rank, self.copies[rank], copied)
            self.copies[rank] = copied
        return rows

    def _messages(self) -> list[list[int]]:
        rows: list[list[int]] = []
        for rank, taken in enumerate(self.board.taken().tolist()):
            since, self.messages[rank] = self.messages[rank], taken
            times = self.board.message_rows(rank, since, taken)
            rows += [
                [*self.traffic.row(rank, index), *row, self.traffic.bytes] for index, row in enumerate(times, since)
            ]
        return rows
