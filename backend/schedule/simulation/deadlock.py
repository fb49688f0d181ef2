"""Find out why an order cannot run to its end: which rank waits for which, in a circle or for an op that is missing."""

from __future__ import annotations

from itertools import chain
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from backend.schedule.errors import Message, message
from backend.schedule.order.dependencies import FORWARD, arrivals, rules_of
from backend.schedule.order.ops import halves
from backend.schedule.order.order import Order, micro_numbers
from backend.schedule.order.placement import Placement
from backend.schedule.simulation.costs import Costs
from backend.schedule.simulation.simulate import advance
from backend.schedule.simulation.timeline import Floats, Timeline

_UNIT = Costs()
MOST_LISTED = 4  # ranks of a deadlock that its message names


class Wait(NamedTuple):
    """A rank that waits at an op, or at an end of a message, for one on another rank; both as texts."""

    rank: int
    op: str
    needed: str
    other: int

    def text(self) -> Message:
        return message(
            "schedule.rank_waits",
            "rank {rank} waits at {op} for {needed} on rank {other}",
            rank=self.rank,
            op=self.op,
            needed=self.needed,
            other=self.other,
        )


def deadlock(order: Order) -> list[Wait]:
    """Return which rank waits for which, from the first stuck one until the chain closes; [] if the order can run.

    With messages on streams, the front of each stream waits for its other end, and that for what stands before it.
    """
    timeline, at, done = advance(order, _UNIT, 1)
    stuck = np.flatnonzero(at < order.offsets[1:])
    waits: list[Wait] = []
    rank, end = (int(stuck[0]) if len(stuck) else -1), None
    while rank >= 0:
        wait, end = _wait(order, timeline, rank, end, at, done)
        if wait in waits:
            return waits[waits.index(wait) :]
        waits.append(wait)
        rank = wait.other
    return waits


def in_words(waits: list[Wait]) -> Message:
    """Return a sentence on a deadlock that lists its first links."""
    listed = [each.text() for each in waits[:MOST_LISTED]]
    if len(waits) > MOST_LISTED:
        return message(
            "schedule.deadlock_of_many", "deadlock: {waits}, and others; none of them can go on", waits=listed
        )
    return message("schedule.deadlock", "deadlock: {waits}; none of them can go on", waits=listed)


def _wait(
    order: Order, timeline: Timeline, rank: int, end: int | None, at: npt.NDArray[np.int64], done: Floats
) -> tuple[Wait, int | None]:
    """Return for what a stuck rank waits, at its next op or where ``end`` of a message has to pass, and the other end
    of the message that it waits for, None where it is an op.
    """
    found, place = order.messages, order.placement
    end = _unarrived(order, rank, int(at[rank]), done) if end is None else end
    if found is not None and end is not None:
        same = (found.rank == rank) & (found.stream == found.stream[end]) & (timeline.sent < 0.0)
        front = int(np.flatnonzero(same)[0])
        if found.issued[front] <= at[rank] - order.offsets[rank]:
            partner = int(found.partner[front])
            return Wait(rank, found.text(front, place), found.text(partner, place), int(found.rank[partner])), partner
    return Wait(rank, *_awaited(order, rank, int(at[rank]), done)), None


def _unarrived(order: Order, rank: int, at: int, done: Floats) -> int | None:
    """Return the receive of an input that has been made but has not arrived; None where an op's inputs are not made."""
    found = order.messages
    for row, k in _inputs(order, rank, at):
        if found is not None and row < 2 * order.p * order.chunks and done[row, k] >= 0:
            ends = np.flatnonzero((found.row == row) & (found.micro == k) & found.receive & (found.rank == rank))
            if len(ends) and done[arrivals(rules_of(order)) + row, k] < 0:
                return int(ends[0])
    return None


def _inputs(order: Order, rank: int, at: int) -> list[tuple[int, int]]:
    """Return the row and micro-batch of each input of an op."""
    rule, numbers = rules_of(order), micro_numbers(order, rank)
    index = at - int(order.offsets[rank])
    rows = rule.need[rank, int(order.codes[at])].tolist()
    return [(row, max(int(numbers[half][index]), int(numbers[0][index]))) for half, row in enumerate(rows) if row >= 0]


def _awaited(order: Order, rank: int, at: int, done: Floats) -> tuple[str, str, int]:
    """Return (the op a rank is stuck at, the producer it waits for, that producer's rank)."""
    place, rule = order.placement, rules_of(order)
    op = order.row(rank)[at - int(order.offsets[rank])].text()
    for row, k in _inputs(order, rank, at):
        if row >= rule.joins and done[row, k] < 0:
            late = next(r for r in range(order.p) if done[rule.shards + 2 * r + row - rule.joins, k] < 0)
            return op, f"{place.stage(late, 0)}{'ST'[row - rule.joins]}{k}", late
        if done[row, k] < 0:
            slot, result = divmod(row, 2)
            owner, chunk = divmod(slot, order.chunks)
            letter = "F" if result == FORWARD else _gradient(order, place, owner, chunk, k)
            micro = k + order.n * place.stream(owner, chunk)
            return op, f"{place.stage(owner, chunk)}{letter}{micro}", owner
    raise AssertionError("a stuck rank waits for something")


def _gradient(order: Order, place: Placement, rank: int, chunk: int, k: int) -> str:
    """Return the kind of op, I or B, by which that rank makes this gradient."""
    micro = k + order.n * place.stream(rank, chunk)
    ops = chain.from_iterable(map(halves, order.row(rank)))
    split = any(op.kind == "I" and op.chunk == chunk and op.micro == micro for op in ops)
    return "I" if split else "B"
