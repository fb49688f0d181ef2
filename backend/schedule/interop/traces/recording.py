"""Measured ops of one or many training steps, of one or many replicas, whatever tool recorded them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from backend.schedule.errors import Message, OrderError, message
from backend.schedule.order.ops import Op, Pair

MOST_ROWS = 4_000_000


class Row(NamedTuple):
    """An op on a rank of a replica in a step, with its times in ms. Stages count over all ranks."""

    step: int
    replica: int
    rank: int
    op: Op | Pair
    start: float
    end: float


class Beside(NamedTuple):
    """What a rank did beside its ops: a collective, the optimizer; ``name`` as the tool has it, times in ms."""

    step: int
    replica: int
    rank: int
    name: str
    start: float
    end: float


@dataclass(frozen=True, eq=False)
class Recording:
    """What files hold: ``source`` names the format, ``waits_inside`` whether ops may have waited for their messages,
    ``notes`` are sentences on what the times are worth and what was left out.
    """

    source: Message
    rows: Sequence[Row]
    beside: Sequence[Beside] = ()
    waits_inside: bool = False
    notes: tuple[str, ...] = field(default=())

    @property
    def steps(self) -> list[int]:
        """Return the numbers of the steps."""
        return sorted({row.step for row in self.rows})


class Event(NamedTuple):
    """An op as a file has it: ``micro`` is None where it is to be counted, in the order of time, by kind and stage."""

    step: int
    replica: int
    rank: int
    kind: str
    stage: int
    micro: int | None
    start: float
    end: float


def rows_of(events: Iterable[Event]) -> list[Row]:
    """Return events as ops, with the micro-batches counted that are not named."""
    counts: dict[tuple[int, int, int, str, int], int] = {}
    rows = []
    for event in sorted(events, key=lambda each: (each.step, each.replica, each.rank, each.start, each.end)):
        place = event.step, event.replica, event.rank, event.kind, event.stage
        micro = counts.get(place, 0) if event.micro is None else event.micro
        counts[place] = micro + 1
        op = Op(event.kind, event.stage, micro)
        rows.append(Row(event.step, event.replica, event.rank, op, event.start, event.end))
        if len(rows) > MOST_ROWS:
            raise OrderError(too_many())
    return rows


def steps_by_repetition(events: Sequence[Event]) -> list[Event]:
    """Return events that have no step with one: a step ends on a rank where an op comes again."""
    found = []
    seen: dict[tuple[int, int], set[tuple[str, int, int | None]]] = {}
    step: dict[tuple[int, int], int] = {}
    for event in sorted(events, key=lambda each: (each.start, each.end)):
        place, op = (event.replica, event.rank), (event.kind, event.stage, event.micro)
        if event.micro is not None and op in seen.setdefault(place, set()):
            seen[place] = set()
            step[place] = step.get(place, 0) + 1
        seen.setdefault(place, set()).add(op)
        found.append(event._replace(step=step.get(place, 0)))
    return found


def too_many() -> Message:
    """Return why a file is not read to its end."""
    return message("schedule.trace_too_many_ops", "more than {most} ops; give fewer steps", most=f"{MOST_ROWS:,}")
