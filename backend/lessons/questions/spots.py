"""Places on the timeline that a question asks for: an op, or a wait of a rank.

why-idle rank=0 at=5      the op that an idle rank waits for
next rank=0 after=4       the op after the first ones of a rank
op 1B0 0B0                one of these ops
idle rank=0 at=5          the wait of a rank at a time
longest-idle              the longest wait between two ops of a rank, or one of them
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import parse_qsl

from backend.address.query import KEYS
from backend.lessons.questions.answers import COMPUTED
from backend.lessons.values import Budget, Measured, measured, mistake, spec_of
from backend.lessons.views import view_of

WAIT = re.compile(r"(\d{1,4})@(\d{1,9}(?:\.\d{1,12})?)", re.ASCII)
OP = re.compile(r"[0-9FIWBST();]{3,40}", re.ASCII)
NAMES = (*COMPUTED, "op", "idle", "longest-idle")
EPSILON = 1e-9
MOST_OPS = 8


@dataclass(frozen=True)
class Spot:
    """An op, or, without one, a wait of a rank from a time to another."""

    op: str = ""
    rank: int = 0
    begin: float = 0.0
    end: float = 0.0

    def has(self, given: str) -> bool:
        """Return whether a choice is this place: an op, or a rank and a time, ``2@7.5``."""
        wait = WAIT.fullmatch(given)
        if wait is None:
            return given == self.op
        return not self.op and int(wait[1]) == self.rank and self.begin < float(wait[2]) < self.end

    def text(self) -> str:
        """Return it as a choice."""
        return self.op or f"{self.rank}@{(self.begin + self.end) / 2:g}"


def is_place(given: str) -> bool:
    """Return whether a text is an op or a wait."""
    return bool(WAIT.fullmatch(given) or OP.fullmatch(given))


def spots_of(query: str, answer: str, budget: Budget) -> tuple[Spot, ...]:
    """Find the places that an answer means in a view. Raises LessonError."""
    name, _, rest = answer.partition(" ")
    if name in COMPUTED:
        return (Spot(COMPUTED[name](f"{_head(query)} {rest}", budget).op),)
    of = measured(view_of(query, budget)[0], budget)
    if name == "op":
        return tuple(_op(of, op) for op in rest.split()[:MOST_OPS])
    if name == "idle":
        return (_wait(f"{_head(query)} {rest}", budget),)
    if answer == "longest-idle":
        return _longest(of)
    raise mistake("lessons.bad_spot", "answer begins with one of {names}", names=list(NAMES))


def _head(query: str) -> str:
    """Return the schedule of a view as an expression names it: ``gpipe p=4 m=8``."""
    pairs = dict(parse_qsl(query.removeprefix("?")))
    family = pairs.pop("family", "")
    return " ".join([family, *(f"{key}={value}" for key, value in pairs.items() if key in KEYS)])


def _op(of: Measured, op: str) -> Spot:
    if not any(op == each.text() for rank in range(of.order.p) for each in of.order.row(rank)):
        raise mistake("lessons.no_such_op", "there is no op {op} in this view", op=op[:20])
    return Spot(op)


def _waits(of: Measured, rank: int) -> Iterator[Spot]:
    """Yield the waits of a rank, from the first start of the step to its end."""
    starts, ends = of.timeline.rank(rank)
    edges = zip([0.0, *ends.tolist()], [*starts.tolist(), of.figures.makespan], strict=True)
    yield from (Spot("", rank, begin, end) for begin, end in edges if end - begin > EPSILON)


def _wait(text: str, budget: Budget) -> Spot:
    given = spec_of(text, ("rank", "at"))
    of = measured(given.spec, budget)
    rank, at = int(given.more["rank"]), float(given.more["at"])
    waits = _waits(of, rank) if 0 <= rank < of.order.p else iter(())
    found = next((each for each in waits if each.begin < at < each.end), None)
    if found is None:
        raise mistake("lessons.not_idle", "rank {rank} does not wait for an op at {at}", rank=rank, at=f"{at:g}")
    return found


def _longest(of: Measured) -> tuple[Spot, ...]:
    end = of.figures.makespan
    inner = [wait for rank in range(of.order.p) for wait in _waits(of, rank) if wait.begin > 0 and wait.end < end]
    longest = max((wait.end - wait.begin for wait in inner), default=0.0)
    if not inner:
        raise mistake("lessons.no_wait", "no rank waits between two of its ops")
    return tuple(wait for wait in inner if wait.end - wait.begin > longest - EPSILON)
