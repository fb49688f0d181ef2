"""Grade a submitted order: whether it answers its task, and its score, computed here and nowhere else."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from backend.errors import RequestError, message
from backend.schedule.errors import OrderError
from backend.schedule.order.order import Order
from backend.schedule.order.order_codec import pack, unpack
from backend.schedule.partial_order.legality import first_illegal
from backend.schedule.partial_order.position import Position, read_rows, text_rows
from backend.schedule.partial_order.score import Score, score
from backend.schedule.simulation.check import check
from backend.schedule.spec import MOST_ORDER
from backend.tasks.reference import other_kinds, reference
from backend.tasks.task import Task

ID_LENGTH = 24  # hexadecimal digits


@dataclass(frozen=True)
class Graded:
    """A legal answer to a task: its identity, its packed order, its score, each goal with whether it is met, stars."""

    task: str
    id: str
    packed: str
    rows: tuple[str, ...]
    score: Score
    goals: tuple[dict[str, Any], ...]
    stars: int

    @property
    def solved(self) -> bool:
        """Return whether every goal is met."""
        return self.stars > 0


def grade(task: Task, order: Any, rows: Any) -> Graded:
    """Grade an order, given as packed text or as rows of op texts. Raises RequestError for one that is not a
    complete order of the task's sizes, within its memory limit, of its kinds of op, from its start.
    """
    if (order is None) == (rows is None):
        raise RequestError(
            "order", None, message("workbench.order_or_rows", "give either order, as packed text, or rows")
        )
    start = task.position
    given = _unpacked(order, start) if rows is None else start.with_rows(read_rows(start.placement, start.m, rows))
    check(given.order())
    if task.fixed:
        _check_start(given, start)
    other = other_kinds(given, task.kinds)
    if other:
        text = message(
            "workbench.other_kinds",
            "the task takes ops of the kinds {kinds}; {op} is another",
            kinds=" ".join(task.kinds),
            op=other[0],
        )
        raise RequestError("order", other[0], text)
    wrong = first_illegal(given)  # what the checker does not know: the memory limit
    if wrong is not None:
        raise wrong
    found = score(given)
    goals, measure = [], reference(task)
    for goal in measure.goals:
        met, value = goal.grade(given, found)
        goals.append(goal.as_dict() | {"met": met, "value": value})
    texts = text_rows(given.rows)
    stars = measure.stars(all(goal["met"] for goal in goals), found.makespan)
    return Graded(task.slug, identity(task.slug, texts), pack(given.order()), tuple(texts), found, tuple(goals), stars)


def identity(slug: str, rows: list[str]) -> str:
    """Return the identity of an order on a task's board: equal for equal ops, however they were written."""
    return sha256("\n".join((slug, *rows)).encode()).hexdigest()[:ID_LENGTH]


def _unpacked(text: Any, start: Position) -> Position:
    """Return the position of a packed order. Raises RequestError, also for other sizes than the task's."""
    if not isinstance(text, str) or len(text) > MOST_ORDER:
        why = message(
            "workbench.order_is_packed", "order is a packed order of at most {most} characters", most=MOST_ORDER
        )
        raise RequestError("order", None, why, limit=MOST_ORDER)
    order = unpack(text)
    most = 3 * start.placement.chunks * start.m * start.p
    plain = not order.barriers and order.copies is None
    if order.placement != start.placement or order.m != start.m or len(order) > most or not plain:
        raise _other_sizes(order, start)
    return start.with_rows([order.row(rank) for rank in range(order.p)])


def _other_sizes(order: Order, start: Position) -> RequestError:
    text = message(
        "workbench.other_sizes",
        "the task is for p = {p}, m = {m} and {chunks} chunks per device, {placement}; this order is for "
        "p = {other_p}, m = {other_m} and {other_chunks}, {other_placement}, or has ops that a task does not have",
        p=start.p,
        m=start.m,
        chunks=start.placement.chunks,
        placement=start.placement.kind,
        other_p=order.p,
        other_m=order.m,
        other_chunks=order.chunks,
        other_placement=order.placement.kind,
    )
    return RequestError("order", None, text)


def _check_start(given: Position, start: Position) -> None:
    for rank, (row, begin) in enumerate(zip(given.rows, start.rows, strict=True)):
        if row[: len(begin)] != begin:
            at = next(at for at, op in enumerate(begin) if at >= len(row) or row[at] != op)
            text = message(
                "workbench.not_from_the_start",
                "rank {rank} does not begin as the task does: op {number} is {op} there",
                rank=rank,
                number=at + 1,
                op=begin[at].text(),
            )
            raise OrderError(text, rank=rank, op=begin[at].text())
