"""One order and how often it was measured: steps and replicas whose ranks did the same ops in the same order."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from backend.schedule.diagnosis.clocks import aligned
from backend.schedule.diagnosis.waits_inside import without_waits
from backend.schedule.errors import Message, OrderError, message
from backend.schedule.interop.op_rows import assemble
from backend.schedule.interop.traces.recording import Recording, Row
from backend.schedule.options.frozen import as_read, notes_on
from backend.schedule.order.op_columns import op_columns
from backend.schedule.order.ops import PAIR, Op, Pair
from backend.schedule.order.order import Order
from backend.schedule.simulation.check import check
from backend.schedule.simulation.message_flow import producers
from backend.schedule.simulation.simulate import Timeline

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Place = tuple[int, int]  # step and replica
OVERLAP = 0.1  # of an op: recorders round, and ops that are launched early begin a little before the one before ends


@dataclass(frozen=True, eq=False)
class Instances:
    """An order of N ops that was measured I times: ``places`` (I,) as step and replica, ``start`` and ``end`` (I, N) in
    ms, without waits for messages inside ops. ``group`` (N,) numbers the kinds of op in each stage.
    """

    order: Order
    places: tuple[Place, ...]
    start: Floats
    end: Floats
    group: Ints
    made_by: Ints
    crosses: npt.NDArray[np.bool_]

    @property
    def spent(self) -> Floats:
        """Return (I, N) the time of each op."""
        return self.end - self.start

    @property
    def steps(self) -> Ints:
        """Return (I,) the step of each instance."""
        return np.array([step for step, _ in self.places])

    @property
    def replicas(self) -> Ints:
        """Return (I,) the replica of each instance."""
        return np.array([replica for _, replica in self.places])

    @property
    def span(self) -> Floats:
        """Return (I,) the time from the first start to the last end."""
        span: Floats = self.end.max(axis=1) - self.start.min(axis=1)
        return span

    def timeline(self, at: int) -> Timeline:
        """Return one instance, its first op at 0."""
        zero = self.start[at].min()
        return Timeline(self.order, self.start[at] - zero, self.end[at] - zero)

    def only(self, keep: npt.NDArray[np.bool_]) -> Instances:
        """Return those of the instances."""
        places = tuple(place for place, kept in zip(self.places, keep.tolist(), strict=True) if kept)
        return Instances(self.order, places, self.start[keep], self.end[keep], self.group, self.made_by, self.crosses)


def instances(recording: Recording) -> tuple[Instances, tuple[Message, ...]]:
    """Return the order that most steps and replicas have, with their times, and notes on those that are left out.
    Raises OrderError where none is a whole step.
    """
    found: dict[tuple[str, ...], list[tuple[Place, list[list[Row]]]]] = defaultdict(list)
    by_place: dict[Place, dict[int, list[Row]]] = defaultdict(lambda: defaultdict(list))
    for row in recording.rows:
        by_place[row.step, row.replica][row.rank].append(row)
    ranks = 1 + max((row.rank for row in recording.rows), default=-1)
    if not by_place:
        raise OrderError(message("schedule.recording_without_ops", "the files have no op of a pipeline"))
    for place, mine in sorted(by_place.items()):
        ordered = [sorted(mine.get(rank, ()), key=lambda each: (each.start, each.end)) for rank in range(ranks)]
        found[tuple(" ".join(row.op.text() for row in rows) for rows in ordered)].append((place, ordered))
    first: OrderError | None = None
    for _, same in sorted(found.items(), key=lambda each: -len(each[1])):
        try:
            order = as_read(assemble(_texts(same[0][1]), ("bidirectional", "custom")))
            check(order)
        except OrderError as error:
            first = first or _located(error, same[0][0])
            continue
        others = sum(map(len, found.values())) - len(same)
        notes = ((_others(others, len(same)),) if others else ()) + notes_on(order)
        measured, moved = _instances(order, same, recording.waits_inside)
        return measured, notes + moved
    assert first is not None
    raise first


def _texts(rows: Sequence[Sequence[Row]]) -> list[list[Op | Pair]]:
    return [[row.op for row in each] for each in rows]


def _others(others: int, same: int) -> Message:
    return message(
        "schedule.recording_other_orders",
        "{others} of {all} steps and replicas are left out: they are cut off, or have another order",
        others=others,
        all=others + same,
    )


def _located(error: OrderError, place: Place) -> OrderError:
    text = message(
        "schedule.recording_no_whole_step",
        "no whole step: in step {step} of replica {replica}, {problem}",
        step=place[0],
        replica=place[1],
        problem=error.message,
    )
    return OrderError(text, rank=error.rank, op=error.op)


def _instances(
    order: Order, same: list[tuple[Place, list[list[Row]]]], waits_inside: bool
) -> tuple[Instances, tuple[Message, ...]]:
    start_given, end = (
        np.array([[getattr(row, name) for rows in ordered for row in rows] for _, ordered in same], np.float64)
        for name in ("start", "end")
    )
    if not (end > start_given).any():
        text = message(
            "schedule.recording_without_time",
            "every op ends when it starts: times are missing, or too coarse for these ops",
        )
        raise OrderError(text)
    start = start_given.copy()
    rank = op_columns(order).rank
    together = (rank[1:] == rank[:-1]) & (end[:, :-1] > start[:, 1:])
    start[:, 1:] = np.where(together, np.minimum(end[:, :-1], end[:, 1:]), start[:, 1:])
    over = (together & (end[:, :-1] - start_given[:, 1:] > OVERLAP * (end - start_given)[:, 1:])).any(axis=0)
    if over.any():
        at = int(np.flatnonzero(over)[0])
        ops = order.row(int(rank[at]))
        begins = int(order.offsets[rank[at]])
        text = message(
            "schedule.trace_ops_overlap",
            "rank {rank}: {op} begins before {before} has ended",
            rank=int(rank[at]),
            op=ops[at + 1 - begins].text(),
            before=ops[at - begins].text(),
        )
        raise OrderError(text, rank=int(rank[at]), op=ops[at + 1 - begins].text())
    group, places = _groups(order), tuple(place for place, _ in same)
    notes: dict[Message, None] = {}
    replicas = np.array([replica for _, replica in places])
    for replica in np.unique(replicas):
        mine = replicas == replica
        offsets, note = aligned(order, start[mine], end[mine], None if waits_inside else group)
        start[mine] += offsets[rank]
        end[mine] += offsets[rank]
        if note is not None:
            notes[note] = None
    if waits_inside:
        start = without_waits(order, start, end, group)
    made_by, crosses = producers(order)
    return Instances(order, places, start, end, group, made_by, crosses), tuple(notes)


def _groups(order: Order) -> Ints:
    """Return (N,) a number for each kind of op in each stage, of a pair for both stages."""
    rank, _, kind, chunk, _, back, _ = op_columns(order)
    stages = order.placement.stages
    stage, behind = order.placement.stage_of[rank, chunk], order.placement.stage_of[rank, back]
    both = (kind * stages + stage) * stages + np.where(kind == PAIR, behind, 0)
    numbers: Ints = np.unique(both, return_inverse=True)[1].astype(np.int64)
    return numbers
