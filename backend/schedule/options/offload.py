"""Offload activations to host memory: which chunks, and when (PipeOffload, Wan et al. 2025, arXiv 2503.01328).

Every device has a copy lane beside its compute (copy_lanes.py). ``O`` of a micro-batch is issued when its F has
ended; its reload ``R`` as late as possible to end one backward before it is needed. *selective* offloads the first
half of a device's chunks, rounded up, whose activations live longest; *full* offloads all; a list says *full* or
*none* for each chunk. A chunk whose activations live too short for two copies stays on the device.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from backend.schedule import jit
from backend.schedule.errors import message
from backend.schedule.options.per_chunk import Modes, first_half
from backend.schedule.order.copy_lanes import Copies, O, R
from backend.schedule.order.ops import B, F, I
from backend.schedule.order.order import Order, code_table, offsets_of
from backend.schedule.simulation.costs import Costs, per_stage
from backend.schedule.simulation.simulate import Timeline, simulate

ROUNDS = 6  # of planning, at most
STRETCH = 3.0  # of the times for the second round
LEAST_GAIN = 0.002  # of a round after which another follows
NEAR = 0.005  # the step without copies, which no plan is shorter than: no other round follows
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
MODES: dict[str, str] = {
    "none": message("schedule.offload_none", "every activation stays on the device"),
    "selective": message(
        "schedule.offload_selective",
        "the first half of a device's chunks, whose activations live longest, go to host memory",
    ),
    "full": message("schedule.offload_full", "the activations of all chunks go to host memory"),
}
OF_A_CHUNK = ("none", "full")
HALF = "selective"


def modes_of_chunks(mode: Modes, chunks: int) -> tuple[str, ...]:
    """Return the mode of each chunk, one of ``OF_A_CHUNK``."""
    if isinstance(mode, str):
        return first_half(chunks, "full", "none") if mode == HALF else (mode,) * chunks
    return mode


def with_offload(order: Order, costs: Costs, v: int, mode: Modes) -> Order:
    """Return the order with its copies; the same order if no activations live long enough to be copied."""
    jit.compile_for(4 * len(order))
    return Lifetimes.of(simulate(order, costs, v)).timed(costs, v, mode).order


def _makespan(timeline: Timeline) -> float:
    return float(timeline.end.max())


@dataclass(frozen=True, eq=False)
class Lifetimes:
    """How long activations live in a timeline without copies.

    Of each slot that has backwards, row by row: its ``rank`` and ``chunk``, the positions of its ``forwards`` and
    ``backwards`` (slots, n) in its rank's row, and the least time that one micro-batch's activations ``live``.
    ``backward`` (p,) is each rank's shortest backward.
    """

    without: Timeline
    rank: Ints
    chunk: Ints
    forwards: Ints
    backwards: Ints
    live: Floats
    backward: Floats

    @staticmethod
    def of(without: Timeline) -> Lifetimes:
        """Compute the lifetimes of a timeline without copies."""
        order = without.order
        kind, chunk, _ = code_table(order.chunks)[order.codes].T
        first = np.repeat(order.offsets[:-1], np.diff(order.offsets))
        slot = np.repeat(np.arange(order.p), np.diff(order.offsets)) * order.chunks + chunk
        rank, own = np.nonzero(~order.forward_slots)
        trained = ~order.forward_slots.ravel()[slot]

        def by_slot(ops: npt.NDArray[np.bool_]) -> Ints:
            at = np.flatnonzero(ops & trained)
            return at[np.argsort(slot[at], kind="stable")].reshape(len(rank), -1)

        forwards, backwards = by_slot(kind == F), by_slot((kind == I) | (kind == B))
        live = (without.start[backwards] - without.end[forwards]).min(axis=1, initial=np.inf)
        backward = np.full(order.p, np.inf)
        np.minimum.at(backward, rank, (without.end - without.start)[backwards].min(axis=1, initial=np.inf))
        return Lifetimes(without, rank, own, forwards - first[forwards], backwards - first[backwards], live, backward)

    def lanes(self, mode: Modes, times: Floats) -> list[Lane]:
        """Return the copy lane of each rank; ``times`` (p, chunks) are those of one copy."""
        order = self.without.order
        chosen = np.array([each == "full" for each in modes_of_chunks(mode, order.chunks)])
        copy = times[self.rank, self.chunk]
        rows = np.flatnonzero(chosen[self.chunk] & (self.live >= 2 * copy + self.backward[self.rank]))
        ends = np.searchsorted(self.rank[rows], np.arange(order.p + 1))
        each = (rows[low:high] for low, high in pairwise(ends.tolist()))
        return [
            Lane(rank, self.chunk[some], copy[some], self.forwards[some], self.backwards[some])
            for rank, some in enumerate(each)
        ]

    def timed(self, costs: Costs, v: int, mode: Modes) -> Timeline:
        """Return the timeline with copies; the one without if no activations live long enough to be copied.

        Copies are planned on the times of the order without them. If compute then has to wait noticeably, they are
        planned again on those times stretched, which leaves a busy lane time between its copies, and from the better
        plan on again on its own times, as long as that shortens the step noticeably.
        """
        without, order = self.without, self.without.order
        each = per_stage(0.0 if costs.O is None else costs.O, order.placement.stages, v)
        lanes = self.lanes(mode, each[order.placement.stage_of])
        if not any(len(lane.chunks) for lane in lanes):
            return without

        def planned(timeline: Timeline) -> Timeline:
            return simulate(_with_plans(order, [lane.plan(timeline) for lane in lanes]), costs, v)

        best, near = planned(without), (1 + NEAR) * _makespan(without)
        if _makespan(best) > near:
            stretched = Timeline(order, STRETCH * without.start, STRETCH * without.end)
            best = min(best, planned(stretched), key=_makespan)
        for _ in range(ROUNDS - 2):
            if _makespan(best) <= near:
                break
            before, again = _makespan(best), planned(best)
            best = min(best, again, key=_makespan)
            if _makespan(again) > (1 - LEAST_GAIN) * before:
                break
        return best


@dataclass(frozen=True, eq=False)
class Lane:
    """The copies of a rank: its ``chunks`` that live long enough, ``copy`` the time of one copy of each, and the
    positions of their ``forwards`` and ``backwards`` (chunks, n) in its row.
    """

    rank: int
    chunks: Ints
    copy: Floats
    forwards: Ints
    backwards: Ints

    def plan(self, timeline: Timeline) -> tuple[Ints, Ints]:
        """Return the codes of the copies and when each is issued, for compute at the times of ``timeline``."""
        count, n = self.forwards.shape
        if not count:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        start, end = timeline.rank(self.rank)
        backward = float((end - start)[self.backwards].min())
        deadline = start[self.backwards] - backward
        latest_first = np.argsort(-deadline.ravel(), kind="stable")
        which, micro = np.zeros((2, 2 * n * count), np.int64)
        starts = np.zeros(2 * n * count)
        _plan(np.ascontiguousarray(end[self.forwards]), deadline, self.copy, latest_first, which, micro, starts)
        reload, which = which >= count, which % count
        # A reload is issued before its backward at the latest, and its offload before it, since that starts earlier.
        issued = np.minimum(np.searchsorted(end, starts, "right"), self.backwards[which, micro])
        in_turn = np.argsort(issued, kind="stable")
        codes = np.where(reload, R, O) * timeline.order.chunks + self.chunks[which]
        return codes[in_turn], issued[in_turn]


def _with_plans(order: Order, plans: list[tuple[Ints, Ints]]) -> Order:
    codes, issued = (np.concatenate([plan[column] for plan in plans]) for column in (0, 1))
    offsets = offsets_of([len(plan[0]) for plan in plans])
    return replace(order, copies=Copies(codes.astype(np.uint8), offsets, issued.astype(np.int32)))


@jit.kernel("void(float64[:, ::1], float64[:, ::1], float64[::1], int64[::1], int64[::1], int64[::1], float64[::1])")
def _plan(release: Any, deadline: Any, copy: Any, latest_first: Any, codes: Any, micro: Any, starts: Any) -> None:
    """Plan one copy lane along the time axis.

    Next comes a reload that must start now to meet its ``deadline`` (chunks, n); else an offload that is possible
    since its ``release`` and ends before that; else the next reload, a little early. Fills the sequence: ``codes``
    (chunk, or chunks + chunk for a reload), ``micro`` and ``starts``.
    """
    chunks, n = release.shape
    due, bound = np.zeros((chunks, n)), np.inf  # the latest starts if the lane had only reloads
    for each in latest_first:
        c, k = each // n, each % n
        bound = min(bound, deadline[c, k]) - copy[c]
        due[c, k] = bound
    gone, back, now = np.zeros(chunks, np.int64), np.zeros(chunks, np.int64), 0.0
    for at in range(len(codes)):
        out, home = -1, -1
        for c in range(chunks):
            if gone[c] < n and (out < 0 or release[c, gone[c]] < release[out, gone[out]]):
                out = c
            if back[c] < gone[c] and (home < 0 or due[c, back[c]] < due[home, back[home]]):
                home = c
        begin = max(now, release[out, gone[out]]) if out >= 0 else np.inf
        wanted = max(now, due[home, back[home]]) if home >= 0 else np.inf
        if out >= 0 and begin + copy[out] <= wanted:
            codes[at], micro[at], starts[at] = out, gone[out], begin
            gone[out] += 1
            now = begin + copy[out]
        elif home >= 0:
            # early only if the lane would otherwise be taken by what goes out
            begin = wanted if begin >= wanted else max(now, min(begin, wanted))
            codes[at], micro[at], starts[at] = chunks + home, back[home], begin
            back[home] += 1
            now = begin + copy[home]
        else:
            codes[at], micro[at], starts[at] = out, gone[out], begin
            gone[out] += 1
            now = begin + copy[out]
