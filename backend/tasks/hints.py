"""Where a task's hints lead: the page's (static/js/core/workbench/goals.ts) where no other order than par is known."""

from __future__ import annotations

from itertools import takewhile

from backend.errors import Message
from backend.schedule.partial_order.legality import Board
from backend.schedule.partial_order.position import Position
from backend.tasks.task import Task


def follow_hints(task: Task, par: Position) -> tuple[Position, Message | None]:
    """Take back what leaves par in a task's start, and place par's ops one at a time, each only where it is legal.

    Return the position where no hint is left, and the reason if an op that a hint names may not come next.
    """
    start = task.position
    board = Board(start.with_rows([()] * start.p))
    placed = [0] * start.p
    agreed = [
        sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(row, whole, strict=False)))
        for row, whole in zip(start.rows, par.rows, strict=True)
    ]
    _place(board, placed, par, agreed)  # without the ops that need one which is taken back
    why = _place(board, placed, par, [len(row) for row in par.rows])
    return par.with_rows([row[:count] for row, count in zip(par.rows, placed, strict=True)]), why


def _place(board: Board, placed: list[int], par: Position, most: list[int]) -> Message | None:
    """Place par's ops up to a count for each rank; return why the first rank that stops before may not go on."""
    moved = True
    why: dict[int, Message] = {}
    while moved:
        moved, why = False, {}
        for rank, row in enumerate(par.rows):
            while placed[rank] < most[rank]:
                op = row[placed[rank]]
                reason = board.why_not(rank, op)
                if reason is not None:
                    why[rank] = reason
                    break
                board.place(rank, op)
                placed[rank] += 1
                moved = True
    return why[min(why)] if why else None
