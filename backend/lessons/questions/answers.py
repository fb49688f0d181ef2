"""Answers that the engine finds: the next op of a device, what an idle device waits for, the order of a row."""

from __future__ import annotations

import random
from dataclasses import dataclass

from backend.lessons.values import Budget, Given, Measured, measured, mistake, spec_of
from backend.schedule.simulation.message_flow import producers

LONGEST_ORDER = 24  # ops that a reader may be asked to put in order


@dataclass(frozen=True)
class Found:
    """An op that is an answer, and the view that shows it."""

    op: str
    query: str


def next_op(text: str, budget: Budget) -> Found:
    """Find the op after the first ``after`` ones of a device's row: ``1f1b p=4 m=8 rank=0 after=4``."""
    given = spec_of(text, ("rank", "after"))
    row = _row(given, measured(given.spec, budget))
    after = _whole(given, "after", len(row) - 1)
    return Found(row[after], f"{given.query}&sel={row[after]}")


def awaited_op(text: str, budget: Budget) -> Found:
    """Find the op that an idle device waits for: ``1f1b p=4 m=8 rank=0 at=5``; its input arrives last."""
    given = spec_of(text, ("rank", "at"))
    of = measured(given.spec, budget)
    at = float(given.more["at"])
    rank = _whole(given, "rank", of.order.p - 1)
    begin, end = of.order.offsets[rank], of.order.offsets[rank + 1]
    coming = [x for x in range(begin, end) if of.timeline.end[x] > at]
    if not coming or of.timeline.start[coming[0]] <= at:
        raise mistake("lessons.not_idle", "rank {rank} does not wait for an op at {at}", rank=rank, at=f"{at:g}")
    made_by, hops = producers(of.order)
    x = coming[0]
    sources = [
        (of.timeline.end[made_by[x, half]] + (given.spec.timing.comm if hops[x, half] else 0.0), -half)
        for half in (0, 1)
        if made_by[x, half] >= 0
    ]
    if not sources:
        raise mistake("lessons.waits_for_no_op", "rank {rank} waits for no single op there", rank=rank)
    op = _op_text(of, int(made_by[x, -max(sources)[1]]))
    return Found(op, f"{given.query}&sel={op}&at={at:g}")


COMPUTED = {"next": next_op, "why-idle": awaited_op}


def row_part(text: str, budget: Budget) -> tuple[tuple[str, ...], str]:
    """Return (ops, query) of a part of a device's row: ``1f1b p=2 m=3 rank=0 from=0 to=6``."""
    given = spec_of(text, ("rank", "from", "to"))
    row = _row(given, measured(given.spec, budget))
    first, last = _whole(given, "from", len(row)), _whole(given, "to", len(row))
    if not 2 <= last - first <= LONGEST_ORDER:
        raise mistake(
            "lessons.order_length",
            "from={first} to={last} are not 2 to {most} ops",
            first=first,
            last=last,
            most=LONGEST_ORDER,
        )
    return tuple(row[first:last]), f"{given.query}&sel={row[first]}"


def shuffled(ops: tuple[str, ...]) -> tuple[str, ...]:
    """Mix ops, the same way each time, and never into their right order."""
    mixed, chance = list(ops), random.Random(" ".join(ops))
    while tuple(mixed) == ops:
        chance.shuffle(mixed)
    return tuple(mixed)


def _row(given: Given, of: Measured) -> list[str]:
    return [op.text() for op in of.order.row(_whole(given, "rank", of.order.p - 1))]


def _whole(given: Given, key: str, most: int) -> int:
    value = given.more[key]
    if not isinstance(value, int) or not 0 <= value <= most:
        raise mistake(
            "lessons.key_out_of_range",
            "{key}={value} must be a whole number from 0 to {most}",
            key=key,
            value=f"{value:g}",
            most=most,
        )
    return value


def _op_text(of: Measured, x: int) -> str:
    """Return the text of the op at a flat index; of a pair, that of the pair."""
    offsets = of.order.offsets
    rank = int((offsets[1:] > x).argmax())
    op = of.order.row(rank)[x - int(offsets[rank])]
    return op.text()
