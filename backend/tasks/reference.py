"""What a task is measured by: its par, the named schedules at its sizes, and a bound; all computed, once a process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from backend.errors import with_codes
from backend.schedule.order.ops import Pair, halves
from backend.schedule.partial_order.bound import makespan_bound
from backend.schedule.partial_order.legality import first_illegal
from backend.schedule.partial_order.position import Position, text_rows
from backend.schedule.partial_order.recognition import Named, named_orders, recognise
from backend.schedule.partial_order.score import METRICS, Score, score
from backend.schedule.partial_order.searched_order import searched_order
from backend.schedule.search.bounds import Bound
from backend.tasks.task import RECOGNISED, UNRECOGNISED, Task, goal_of

MET = 1e-9  # relative: sums of float64 in another sequence


@dataclass(frozen=True)
class Contender:
    """A named schedule with its score; ``within``: it keeps the task's memory limit, and has only its kinds of op."""

    named: Named
    score: Score
    within: bool

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON."""
        title = with_codes(self.named.title)
        return {"family": self.named.name, "title": title, "score": self.score.as_dict(), "within": self.within}


@dataclass(frozen=True)
class Goal:
    """A goal: a metric that must be at most a value, or below a family's, or the names that the order must be, or be
    none of.
    """

    metric: str
    at_most: float | None = None
    below: float | None = None
    than: str = ""
    names: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON."""
        if self.at_most is not None:
            return {"metric": self.metric, "at_most": self.at_most}
        if self.below is not None:
            return {"metric": self.metric, "below": self.below, "than": self.than}
        return {"metric": self.metric} | ({"as": list(self.names)} if self.names else {})

    def grade(self, position: Position, found: Score) -> tuple[bool, Any]:
        """Return whether a complete order meets the goal, and its value."""
        if self.metric in METRICS:
            value = getattr(found, self.metric)
            if self.below is not None:
                return value < self.below - MET * max(1.0, abs(self.below)), value
            return self.at_most is not None and is_at_most(value, self.at_most), value
        exact = recognise(position).exact
        met = not exact if self.metric == UNRECOGNISED else bool(set(exact) & set(self.names))
        return met, list(exact)


@dataclass(frozen=True)
class Reference:
    """What a task is measured by: the order of par with its score and, if a family makes it, its name."""

    par: Position
    score: Score
    source: str
    name: str | None
    goals: tuple[Goal, ...]
    named: tuple[Contender, ...]
    bound: Bound | None

    def stars(self, solved: bool, makespan: float) -> int:
        """Return the stars of an order: 1 for the goals, 2 for par's time, 3 for a time that no order beats."""
        if not solved:
            return 0
        least = self.bound is not None and is_at_most(makespan, self.bound.value)
        return 3 if least else 2 if is_at_most(makespan, self.score.makespan) else 1

    def par_as_dict(self) -> dict[str, Any]:
        """Return par as JSON, with its rows."""
        rows = text_rows(self.par.rows)
        return {"source": self.source, "name": self.name, "score": self.score.as_dict(), "rows": rows}

    def bound_as_dict(self) -> dict[str, Any] | None:
        """Return the bound as JSON; None for a task of two directions."""
        if self.bound is None:
            return None
        return {"makespan": self.bound.value, "argument": with_codes(self.bound.name)}


@lru_cache(maxsize=256)
def _reference(number: int, position: Position, kinds: str, par: str | int, goals: tuple[str, ...]) -> Reference:
    empty = position.with_rows([()] * position.p)
    full = kinds == "FB"
    if isinstance(par, str):
        best = empty.with_rows(next(named.rows for named in named_orders(empty) if named.name == par))
    else:
        best = searched_order(empty, full, par)
    contenders = []
    for named in named_orders(empty):
        whole = empty.with_rows(named.rows)
        contenders.append(Contender(named, score(whole), within(whole, kinds)))
    exact = recognise(best).exact
    found = score(best)
    name = par if isinstance(par, str) else exact[0] if exact else None
    scores = {each.named.name: each.score for each in contenders}
    made = tuple(_goal(*goal_of(each), found, scores, exact) for each in goals)
    bound = makespan_bound(empty, full)
    return Reference(best, found, "family" if isinstance(par, str) else "search", name, made, tuple(contenders), bound)


def _goal(metric: str, than: str, par: Score, scores: Mapping[str, Score], exact: tuple[str, ...]) -> Goal:
    if metric not in METRICS:
        return Goal(metric, names=exact if metric == RECOGNISED else ())
    return Goal(metric, below=getattr(scores[than], metric), than=than) if than else Goal(metric, getattr(par, metric))


def is_at_most(value: float, most: float) -> bool:
    """Return whether a value is at most another, up to rounding."""
    return value <= most + MET * max(1.0, abs(most))


def reference(task: Task) -> Reference:
    """Return what a task is measured by. Takes up to a second the first time."""
    return _reference(task.number, task.position, task.kinds, task.par, task.goals)


def within(position: Position, kinds: str) -> bool:
    """Return whether a position can be played within its memory limit with these kinds of op alone."""
    return not other_kinds(position, kinds) and first_illegal(position) is None


def other_kinds(position: Position, kinds: str) -> list[str]:
    """Return the texts of the ops that are of other kinds; a pair is one of none."""
    return [
        op.text()
        for row in position.rows
        for op in row
        if isinstance(op, Pair) or any(half.kind not in kinds for half in halves(op))
    ]
