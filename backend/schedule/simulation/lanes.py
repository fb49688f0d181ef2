"""What runs on a rank's lanes beside its compute: copies to and from host memory, barriers, sends and receives.

A job is issued after a given number of its rank's compute ops, waits for the job before it on its lane, and meets the
jobs of its meeting, one on each lane that takes part, with which it starts: a copy none, a message's send and its
receive each other, a barrier those of all ranks.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from backend.schedule.order.copy_lanes import R
from backend.schedule.order.dependencies import Rules, arrivals
from backend.schedule.order.ops import S, T
from backend.schedule.order.order import Order, code_table, micro_numbers

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

_COPY, _BARRIER, _STREAM = 0, 1, 3  # a rank's lanes: its copies, C1 and C2, its streams of messages


@dataclass(frozen=True, eq=False)
class Jobs:
    """The jobs of all lanes, one lane after the other.

    ``jobs`` (J, 4): when each is issued, the row of its result (-1 for none), the micro-batch in its slot, and its
    meeting; ``cost`` (J,); ``size`` (M,) the jobs of each meeting; lane l has ``jobs[first[l]:first[l + 1]]``, rank r
    the lanes from ``lanes[r]`` to ``lanes[r + 1]``. ``place`` (J,) is where each is here of the copies, barriers and
    messages one after the other.
    """

    jobs: Ints
    cost: Floats
    size: Ints
    first: Ints
    lanes: Ints
    place: Ints


def jobs_of(order: Order, rule: Rules, copying: Floats, wire: Floats) -> Jobs:
    """Return the jobs of an order; ``copying`` (C,) are the times of its copies, ``wire`` those of its messages."""
    if order.copies is None and order.messages is None and not order.barriers:  # most orders, timed by the hundred
        return _no_jobs(order.p)
    parts = [_copies(order, rule, copying), *_barriers(order, rule), _messages(order, rule, wire)]
    meetings = 0
    for part in parts:
        part[5] += meetings
        meetings = 1 + int(part[5].max(initial=meetings - 1))
    rank, lane, issued, row, micro, meeting, cost = np.concatenate(parts, axis=1)
    sequence = np.lexsort((lane, rank))
    place = np.empty(len(sequence), np.int64)
    place[sequence] = np.arange(len(sequence))
    each = np.stack((issued, row, micro, meeting), 1)[sequence].astype(np.int64)
    number = (rank * (1 + lane.max(initial=0)) + lane)[sequence]
    first = np.flatnonzero(np.diff(number, prepend=-1))
    lanes = np.searchsorted(rank[sequence][first], np.arange(order.p + 1))
    size = np.bincount(each[:, 3], minlength=meetings)
    return Jobs(each, np.ascontiguousarray(cost[sequence]), size, np.append(first, len(each)), lanes, place)


@lru_cache(maxsize=8)  # nothing is written into them
def _no_jobs(p: int) -> Jobs:
    none = np.empty(0, np.int64)
    first, lanes = np.zeros(1, np.int64), np.zeros(p + 1, np.int64)
    return Jobs(np.empty((0, 4), np.int64), np.empty(0), size=none, first=first, lanes=lanes, place=none)


def _part(*columns: npt.ArrayLike) -> Floats:
    return np.stack(np.broadcast_arrays(*columns)).astype(np.float64).reshape(7, -1)


def _copies(order: Order, rule: Rules, copying: Floats) -> Floats:
    copies, chunks = order.copies, order.chunks
    if copies is None:
        return np.empty((7, 0))
    rank = np.repeat(np.arange(order.p), np.diff(copies.offsets))
    row = np.where(copies.codes // chunks == R, rule.reloads + rank * chunks + copies.codes % chunks, -1)
    micro = [copy[2] for each in range(order.p) for copy in copies.row(each, chunks)]
    return _part(rank, _COPY, copies.issued, row, micro, np.arange(len(copies)), copying)


def _barriers(order: Order, rule: Rules) -> list[Floats]:
    """Return each barrier's jobs, which each rank issues after its S or T."""
    found = []
    for barrier, kind in enumerate((S, T)[: order.barriers]):
        kinds = code_table(order.chunks)[order.codes, 0]
        at = np.flatnonzero(kinds == kind)
        rank = np.searchsorted(order.offsets, at, "right") - 1
        numbers = np.concatenate([micro_numbers(order, each)[0] for each in range(order.p)])
        issued = at - order.offsets[rank] + 1
        found.append(_part(rank, _BARRIER + barrier, issued, rule.joins + barrier, numbers[at], numbers[at], 0.0))
    return found


def _messages(order: Order, rule: Rules, wire: Floats) -> Floats:
    found = order.messages
    if found is None:
        return np.empty((7, 0))
    row = np.where(found.receive, arrivals(rule) + found.row, -1)
    meeting = np.minimum(np.arange(len(found)), found.partner)
    return _part(found.rank, _STREAM + found.stream, found.issued, row, found.micro,
                 np.unique(meeting, return_inverse=True)[1], wire)  # fmt: skip


def through_messages(order: Order, rule: Rules) -> tuple[npt.NDArray[np.int32], int]:
    """Return ``rule.need`` in which ops need the arrival of what another rank sends, and the number of rows."""
    if order.messages is None:
        return rule.need, rule.rows
    sent = (rule.hops > 0) & (rule.need < 2 * order.p * order.chunks)
    sent[:, code_table(order.chunks)[: sent.shape[1], 0] == S] = False  # the broadcast of the last stage's output
    need = np.where(sent, rule.need + arrivals(rule), rule.need).astype(np.int32)
    return need, arrivals(rule) + 2 * order.p * order.chunks
