"""Bound the span by a few devices alone: the shortest schedule of their ops if every other device were never busy.

A *group* of devices keeps its own ops, one at a time on each device, and its memory limit. Of the other stages only
their times remain: between two ops of the group a micro-batch takes as long as it does alone. Every order of the
instance is such a schedule, so the shortest is a lower bound. A low limit makes it a strong one: whole chunks seldom
fill the memory, and a micro-batch waits for its device just when the next one needs its room.

The shortest is found by dynamic programming over the ops one after the other (label setting, as for shortest paths with
resource constraints: Irnich and Desaulniers 2005). Micro-batches are alike and first in, first out, so that a *state*
is the number of micro-batches in each *queue*: those that wait for one op of the group. A *label* of a state is a
vector of times: the clock of each device, the longest window so far, and when each waiting micro-batch may go on.
A label that is nowhere earlier than another one is dropped. In a state with LABELS already, a new one and the nearest
to it are replaced by their least times, which keeps the bound a bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from backend.schedule import jit
from backend.schedule.search.alone import Alone
from backend.schedule.search.building_block import Instance

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

LABELS = 16  # most labels of a state; at low limits only a few are not dropped
LABEL = 6  # interpreted, a label takes as long as simulating this many ops
MOST = 1_000_000  # most states times ops: some tenths of a second
MOST_STATES = 5_000  # their labels take some tens of MB
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Group:
    """The ops of a few devices, in the order in which a micro-batch passes them: F of all n stages, I of all stages
    backward (2 n ops, the *chain*), then W. Equal W of one device are one op, which runs once for each of its I.

    Arrays by op: ``device``, its place in the group; ``length``; ``gap``, the least time from its end to the start of
    the next op of the chain (-1 for none); ``tail``, the least time from its end in the last micro-batch to the end of
    a window. ``head`` (devices,): when each device starts. ``paid`` (n,): the W, counted from 0, of each I. ``weight``
    (devices, queues): the memory, in chunks, of a micro-batch in each queue. The queues are those of all ops except the
    first, in the same order.
    """

    device: Ints
    length: Floats
    gap: Floats
    tail: Floats
    head: Floats
    paid: Ints
    weight: Floats

    @staticmethod
    def of(alone: Alone, ranks: Sequence[int], share: float) -> Group:
        mine = np.flatnonzero(np.isin(alone.rank, ranks))
        back, n = mine[::-1], len(mine)
        start = np.concatenate((alone.enter[mine], alone.leave[back] - alone.i[back]))
        device = np.searchsorted(ranks, alone.rank[np.concatenate((mine, back))])
        pairs, paid = np.unique(np.column_stack((device[n:], alone.w[back])), axis=0, return_inverse=True)
        length = np.concatenate((alone.f[mine], alone.i[back], pairs[:, 1]), dtype=np.float64)
        gap, tail = np.full(len(length), -1.0), np.full(len(length), -np.inf)
        gap[: 2 * n - 1] = np.maximum(start[1:] - start[:-1] - length[: 2 * n - 1], 0.0)
        tail[n : 2 * n] = [_tail(alone, stage) for stage in back]
        weight = np.zeros((len(ranks), len(length) - 1))
        for k in range(n):  # the k-th stage: from its F until its I, and the share until its W
            weight[device[k], k : 2 * n - 1 - k] += 1.0
            weight[device[k], 2 * n - 1 + paid[n - 1 - k]] = share
        device = np.concatenate((device, pairs[:, 0].astype(np.int64)))
        return Group(device, length, gap, tail, alone.head[list(ranks)], paid.ravel(), weight)


def _tail(alone: Alone, stage: int) -> float:
    """Return the least time from the end of a stage's I to the end of a window, minus the moment at which that window
    begins: the gradient still passes to every lower stage, whose W is the last op of its device.
    """
    lower = slice(0, stage + 1)
    ends = alone.leave[lower] - alone.leave[stage] + alone.w[lower] - alone.head[alone.rank[lower]]
    return float(ends.max())


def shortest(instance: Instance, alone: Alone, ranks: Sequence[int]) -> float:
    """Return the longest window of the group of ``ranks`` in its shortest schedule; 0 if that takes too long to find.

    Also 0 where I frees everything: any number of micro-batches could wait for their W.
    """
    if instance.share <= 0.0:
        return 0.0
    group = Group.of(alone, ranks, instance.share)
    chain = 2 * len(group.paid)
    steps = 3 * len(group.paid) * instance.m
    queues = states(group.weight, instance.room + ROUNDING, instance.m, min(MOST_STATES, MOST // steps))
    if queues is None:
        return 0.0
    jit.compile_for(LABEL * steps * len(queues))
    labels = np.zeros((2, len(queues), LABELS, len(ranks) + 1 + int(queues[:, : chain - 1].sum(axis=1).max())))
    times = np.stack((group.length, group.gap, group.tail))
    to, late = transitions(queues, group.paid), behind(queues, chain)
    return float(_shortest(to, queues, late, group.device, times, group.head, labels, chain, instance.m))


def states(weight: Floats, room: float, m: int, most: int) -> Ints | None:
    """List all states (states, queues) within the memory limit of each device, in lexical order, the empty one first;
    None if there are more than ``most``.
    """
    rows, left = np.zeros((1, 0), np.int64), np.full((1, len(weight)), room)
    for each in weight.T:
        holders = each > 0.0
        with np.errstate(over="ignore"):  # a weight of almost nothing leaves room for any number
            room_for = (left[:, holders] / each[holders]).min(axis=1)
        count = np.floor(np.minimum(room_for, most)).astype(np.int64) + 1
        if count.sum() > most:
            return None
        row = np.repeat(np.arange(len(rows)), count)
        number = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
        rows = np.column_stack((rows[row], number))
        left = left[row] - number[:, None] * each
    return rows


def transitions(queues: Ints, paid: Ints) -> Ints:
    """Return (states, ops) the state after each op, -1 where the op has no input or the memory does not suffice.

    An op takes a micro-batch from its own queue and puts it into that of the next op of the chain; an I also into that
    of its W.
    """
    n = len(paid)
    number = {row.tobytes(): k for k, row in enumerate(queues)}
    out = np.full((len(queues), queues.shape[1] + 1), -1, np.int64)
    for op in range(out.shape[1]):
        after = queues.copy()
        if op > 0:
            after[:, op - 1] -= 1
        if op < 2 * n - 1:
            after[:, op] += 1
        if n <= op < 2 * n:
            after[:, 2 * n - 1 + paid[op - n]] += 1
        out[:, op] = [number.get(row.tobytes(), -1) for row in after]
    return out


def behind(queues: Ints, chain: int) -> Ints:
    """Return (states,) by how many ops a state is behind one with all queues empty and as many micro-batches begun."""
    ahead = np.cumsum(queues[:, : chain - 1], axis=1)  # begun, but not yet past each op of the chain after the first
    weights = ahead[:, chain // 2 - 1 :].sum(axis=1) + queues[:, chain - 1 :].sum(axis=1)
    return np.asarray(ahead.sum(axis=1) + weights, np.int64)


@jit.inner("boolean(float64[::1], float64[::1], int64)")
def nowhere_later(one: Any, other: Any, size: int) -> bool:
    """Return whether a label dominates another one."""
    k = 0
    while k < size and one[k] <= other[k] + 1e-9:
        k += 1
    return k == size


@jit.inner("int64(float64[:, ::1], int64, float64[::1], int64)")
def insert(labels: Any, count: int, new: Any, size: int) -> int:
    """Insert a label of ``size`` times into ``labels``, of which ``count`` are in use, unless one dominates it; drop
    those that it dominates. Returns the new count. Where no label is left, the nearest one and the new one are merged.
    """
    for k in range(count):
        if nowhere_later(labels[k], new, size):
            return count
    nearest, least = -1, np.inf
    for k in range(count):
        apart = 0.0
        for x in range(size):
            apart += abs(labels[k, x] - new[x])
        if apart < least:
            nearest, least = k, apart
    if count == labels.shape[0]:
        for x in range(size):
            new[x] = min(new[x], labels[nearest, x])
    kept = 0
    for k in range(count):
        if not nowhere_later(new, labels[k], size):
            labels[kept, :size] = labels[k, :size]
            kept += 1
    labels[kept, :size] = new[:size]
    return kept + 1


@jit.inner(
    "int64(float64[::1], float64[::1], int64[::1], int64, int64, boolean, int64[::1], float64[:, ::1], float64[::1])"
)
def advance(old: Any, new: Any, queue: Any, chain: int, op: int, last: bool, device: Any, times: Any, head: Any) -> int:
    """Fill ``new`` with the label after an op of a label ``old`` of the state ``queue``; return its size.

    ``chain``: the number of F and I; ``last``: the op is of the last micro-batch.
    """
    devices, d = head.shape[0], device[op]
    at = devices + 1
    for q in range(op - 1 if 0 < op < chain else 0):
        at += queue[q]
    ready = old[at] if 0 < op < chain else 0.0
    end = max(old[d], ready) + times[0, op]
    for k in range(devices + 1):
        new[k] = old[k]
    new[d] = end
    new[devices] = max(old[devices], end - head[d])
    if last:
        new[devices] = max(new[devices], end + times[2, op])
    source = target = devices + 1
    for q in range(chain - 1):
        for k in range(queue[q]):
            if not (q == op - 1 and k == 0):
                new[target] = max(old[source], new[device[q + 1]])
                target += 1
            source += 1
        if q == op:
            new[target] = max(end + times[1, op], new[device[q + 1]])
            target += 1
    return int(target)


@jit.kernel(
    "float64(int64[:, ::1], int64[:, ::1], int64[::1], int64[::1], float64[:, ::1], float64[::1],"
    " float64[:, :, :, ::1], int64, int64)"
)
def _shortest(
    to: Any, queues: Any, late: Any, device: Any, times: Any, head: Any, labels: Any, chain: int, m: int
) -> float:
    """Run all ops of m micro-batches, one more in every step; return the least longest window.

    ``to``, ``queues``, ``late``: see transitions, states, behind; ``times`` (3, ops): length, gap, tail; ``labels``
    (2, states, LABELS, times) is a buffer.
    """
    (states, ops), devices, each = to.shape, head.shape[0], chain + chain // 2
    count, new = np.zeros((2, states), np.int64), np.zeros(labels.shape[3])
    count[0, 0] = 1
    labels[0, 0, 0, :devices] = head
    for step in range(each * m):
        one, two = step % 2, 1 - step % 2
        count[two, :] = 0
        for state in range(states):
            begun = (step + late[state]) // each
            done = begun
            for op in range(ops):
                if 0 < op < chain:
                    done -= queues[state, op - 1]
                if to[state, op] < 0 or (op == 0 and begun == m):
                    continue
                for k in range(count[one, state]):
                    last = op < chain and done == m - 1
                    size = advance(labels[one, state, k], new, queues[state], chain, op, last, device, times, head)
                    after = to[state, op]
                    count[two, after] = insert(labels[two, after], count[two, after], new, size)
    least = np.inf
    for k in range(count[each * m % 2, 0]):
        least = min(least, labels[each * m % 2, 0, k, devices])
    return least
