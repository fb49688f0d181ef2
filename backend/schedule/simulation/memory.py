"""Compute the activations in memory: in chunks in flight, and in units of one micro-batch's activations on a device.

Ops of a rank run one at a time, so the peak follows from the order alone; no times are needed. A chunk's activation
is allocated when its F starts and freed when its W (or full B) ends; inside a pair the F allocates before the B
frees. Times matter only if copies move activations away and back. In a forward-only order an F keeps nothing. A
micro-batch of size x (options/sizes.py) has x times the activations.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from backend.schedule import jit
from backend.schedule.order.copy_lanes import R
from backend.schedule.order.ops import PAIR, B, F, I, W
from backend.schedule.order.order import Order, code_count, code_table, decode, micro_numbers
from backend.schedule.order.repeats import no_phases
from backend.schedule.order.weight_versions import weight_versions
from backend.schedule.simulation.simulate import Timeline

Floats = npt.NDArray[np.float64]
Kept = float | tuple[float, ...] | Floats  # of all chunks, of each chunk of a device, or (p, chunks)

TRIED = 4  # blocks of a phase, until one leaves the levels as they were; a share such as 0.4324 rounds them at first


@jit.inner(
    "UniTuple(float64, 4)(uint8[::1], int64, int64, float64[:, ::1], float64[:, ::1], float64, float64, float64,"
    " float64)"
)
def _levels(
    codes: Any, begin: Any, end: Any, take: Any, back: Any, level0: Any, level1: Any, top0: Any, top1: Any
) -> tuple[float, float, float, float]:
    """Return both levels after the ops ``[begin:end]`` and the highest so far, from those before."""
    for x in range(begin, end):
        code = codes[x]
        level0 += take[code, 0]
        level1 += take[code, 1]
        top0 = max(top0, level0)
        top1 = max(top1, level1)
        level0 -= back[code, 0]
        level1 -= back[code, 1]
    return level0, level1, top0, top1


@jit.kernel(
    "void(uint8[::1], int64[::1], int64[:, ::1], int64[:, ::1], int64[::1], float64[:, ::1], float64[:, ::1],"
    " float64[:, ::1])"
)
def _peaks(codes: Any, offsets: Any, begins: Any, ends: Any, period: Any, take: Any, back: Any, peak: Any) -> None:
    """Write each rank's highest level, counted in two ways, to ``peak`` (p, 2); ``take``, ``back`` are (codes, 2),
    ``begins``, ``ends``, ``period`` the phases of the rows (order/repeats.py).

    A block after which both levels are what they were before it does the same each time: its repetitions are skipped.
    """
    for r in range(offsets.shape[0] - 1):
        level0, level1, top0, top1 = 0.0, 0.0, 0.0, 0.0
        x = offsets[r]
        for phase in range(period.shape[0]):
            begin, end, ops = offsets[r] + begins[r, phase], offsets[r] + ends[r, phase], period[phase]
            level0, level1, top0, top1 = _levels(codes, x, begin, take, back, level0, level1, top0, top1)
            x = begin
            for _ in range(TRIED):
                if x + 2 * ops > end:
                    break
                before0, before1 = level0, level1
                level0, level1, top0, top1 = _levels(codes, x, x + ops, take, back, level0, level1, top0, top1)
                x += ops
                if level0 == before0 and level1 == before1:
                    x += (end - x) // ops * ops
        level0, level1, top0, top1 = _levels(codes, x, offsets[r + 1], take, back, level0, level1, top0, top1)
        peak[r, 0] = top0
        peak[r, 1] = top1


@jit.kernel(
    "void(uint8[::1], int64[::1], float64[::1], float64[::1], float64[:, ::1], float64[:, ::1], uint8[::1], int64[::1],"
    " int32[::1], float64[:], float64[:], float64[:, ::1], float64[::1])"
)
def _copied_peaks(
    codes: Any, offsets: Any, start: Any, end: Any, take: Any, back: Any,
    copies: Any, spans: Any, issued: Any, leave: Any, arrive: Any, held: Any, peak: Any,
) -> None:  # fmt: skip
    """Write each rank's highest level with its copies to ``peak`` (p,), as ``curve`` has it; ``take``, ``back``
    (p, codes); ``copies`` (C,), their ``spans`` (p + 1,) and when they were ``issued``, and start and end; ``held``
    (p, chunks), what a copy moves.
    """
    chunks = held.shape[1]
    for r in range(len(offsets) - 1):
        first, count, copied = offsets[r], 2 * (offsets[r + 1] - offsets[r]), spans[r + 1] - spans[r]
        # Copies by their place among the starts and ends of ops: the first of each place, and which follows each copy.
        # A lane runs its copies in turn: the places of reloads and those of offloads only move on.
        heads, follows, places = np.full(count + 1, -1), np.empty(copied, np.int64), np.empty(copied, np.int64)
        out, home = 0, 0
        for c in range(copied):
            each = spans[r] + c
            if arrive[each] <= leave[each]:
                places[c] = 2 * issued[each]
            elif copies[each] >= chunks:
                while home < count and (end if home & 1 else start)[first + home // 2] <= leave[each]:
                    home += 1
                places[c] = home
            else:
                while out < count and (end if out & 1 else start)[first + out // 2] < arrive[each]:
                    out += 1
                places[c] = out
        for c in range(copied - 1, -1, -1):
            follows[c], heads[places[c]] = heads[places[c]], c
        level, top = 0.0, 0.0
        for at in range(count + 1):
            c = heads[at]
            while c >= 0:
                code = copies[spans[r] + c]
                level += held[r, code - chunks] if code >= chunks else -held[r, code]
                top, c = max(top, level), follows[c]
            if at < count:
                code = codes[first + at // 2]
                level += -back[r, code] if at % 2 else take[r, code]
                top = max(top, level)
        peak[r] = top


def changes(
    order: Order,
    w_share: float,
    kept: Kept = 1.0,
    restored: float = 1.0,
    rank: int = 0,
    sizes: Floats | None = None,
) -> tuple[Floats, Floats]:
    """Return (codes, 2) allocated at an op's start and freed at its end.

    Column 0 counts chunks in flight (I frees none of them), column 1 chunk activations, ``sizes`` (p, chunks) times a
    chunk's (None: 1). F keeps the part ``kept`` of them, the backward restores the rest by recomputation, and W still
    needs ``w_share`` of all after I. A full backward restores the part ``restored`` of a chunk's activations at a
    time: one layer of them. An I restores all, which W needs. The F of a stage without backwards keeps nothing: such
    stages may differ from ``rank`` to rank.
    """
    chunks = order.chunks
    held = (
        (kept,) * chunks if isinstance(kept, float) else tuple(np.broadcast_to(kept, (order.p, chunks))[rank].tolist())
    )
    size = (1.0,) * chunks if sizes is None else tuple(sizes[rank].tolist())
    take, give = _changes(w_share, restored, held, size)
    take = take.copy()
    take[:chunks][order.forward_slots[rank]] = 0.0
    return take, give


@lru_cache(maxsize=64)  # a search measures thousands of orders with the same
def _changes(
    w_share: float, restored: float, held: tuple[float, ...], size: tuple[float, ...]
) -> tuple[Floats, Floats]:
    """Return what ``changes`` does where every stage has backwards, of a device whose chunks have these sizes and keep
    these parts of them.
    """
    chunks, none = len(held), (0.0, 0.0)
    takes, gives = [], []
    for kind, chunk, other in (decode(code, chunks) for code in range(code_count(chunks))):
        backward = other if kind == PAIR else chunk
        again = restored * (1.0 - held[backward])
        whole = size[backward] * (1.0 if restored == 1.0 else held[backward] + again)
        takes.append(
            {
                F: (1.0, size[chunk] * held[chunk]),
                I: (0.0, size[chunk] * (1.0 - held[chunk])),
                B: (0.0, size[chunk] * again),
                # exactly 1 where both chunks keep the same
                PAIR: (1.0, whole + (size[chunk] * held[chunk] - size[other] * held[other])),
            }.get(kind, none)
        )
        needed = size[chunk] * w_share
        freed = {I: (0.0, size[chunk] - needed), W: (1.0, needed), B: (1.0, whole), PAIR: (1.0, whole)}
        gives.append(freed.get(kind, none))
    return np.array(takes), np.array(gives)


def peaks(
    order: Order,
    w_share: float = 1.0,
    v: int = 1,
    kept: Kept = 1.0,
    restored: float = 1.0,
    sizes: Floats | None = None,
) -> tuple[npt.NDArray[np.int64], Floats]:
    """Return (p,) the most chunks in flight, and (p,) the peak memory in units of one micro-batch's activations on a
    device.

    The peak of 1F1B is min(p, m). Neither offloaded activations nor stashed weights are counted: see ``peak_memory``.
    """
    peak = np.empty((order.p, 2))
    jit.compile_for(len(order))
    phases = order.repeats or no_phases(order.p)
    begin, end, period = phases.begin, phases.end, phases.period
    for low, high in pairwise(_alike(order, kept, sizes)):
        ranks, ops = slice(low, high), slice(order.offsets[low], order.offsets[high])
        row = order.offsets[low : high + 1] - order.offsets[low]
        table = changes(order, w_share, kept, restored, low, sizes)
        _peaks(order.codes[ops], row, begin[ranks], end[ranks], period, *table, peak[ranks])
    return peak[:, 0].astype(np.int64), peak[:, 1] / v


def _alike(order: Order, kept: Kept, sizes: Floats | None) -> list[int]:
    """Return where runs of neighbouring ranks begin for whose ops ``changes`` is the same, and p."""
    shape = order.p, order.chunks
    differ = [
        np.broadcast_to(each, shape) for each in (kept, sizes) if each is not None and not isinstance(each, float)
    ]
    rows = np.hstack([order.forward_slots, *differ]) if differ else order.forward_slots
    return [0, *(1 + np.flatnonzero((rows[1:] != rows[:-1]).any(1))).tolist(), order.p]


def peak_memory(
    timeline: Timeline,
    w_share: float,
    v: int,
    kept: Kept,
    weights: float = 0.0,
    restored: float = 1.0,
    sizes: Floats | None = None,
) -> Floats:
    """Return (p,) the peak memory of each rank, including copies and weight versions, in the unit of ``peaks``.

    Offloaded activations are away from the end of O to the start of R; every weight version except the newest costs
    ``weights``.
    """
    order = timeline.order
    if order.copies is None and weights == 0.0 and timeline.sizes is None:
        return peaks(order, w_share, v, kept, restored, sizes)[1]
    if order.copies is None or weights > 0.0 or timeline.sizes is not None:
        levels = (curve(timeline, rank, w_share, v, kept, weights, restored, sizes)[1] for rank in range(order.p))
        return np.array([level.max(initial=0.0) for level in levels])
    jit.compile_for(2 * len(order))
    begins = _alike(order, kept, sizes)
    tables = [changes(order, w_share, kept, restored, low, sizes) for low in begins[:-1]]
    take, back = (np.repeat([table[at][:, 1] for table in tables], np.diff(begins), axis=0) for at in (0, 1))
    held = np.broadcast_to(kept, (order.p, order.chunks)) * (1.0 if sizes is None else sizes)
    peak = np.empty(order.p)
    ops, copies = (order.codes, order.offsets, timeline.start, timeline.end), order.copies
    lanes = (copies.codes, copies.offsets, copies.issued, timeline.copy_start, timeline.copy_end)
    _copied_peaks(*ops, take, back, *lanes, np.ascontiguousarray(held), peak)
    return peak / v


def curve(
    timeline: Timeline,
    rank: int,
    w_share: float = 1.0,
    v: int = 1,
    kept: Kept = 1.0,
    weights: float = 0.0,
    restored: float = 1.0,
    sizes: Floats | None = None,
) -> tuple[Floats, Floats]:
    """Return times and levels of one rank's memory as steps: level ``y[k]`` holds from ``t[k]`` on; as
    ``peak_memory``.
    """
    order = timeline.order
    span = slice(order.offsets[rank], order.offsets[rank + 1])
    take, back = (table[:, 1] for table in changes(order, w_share, kept, restored, rank, sizes))
    if timeline.sizes is None:
        take, back = take[order.codes[span]], back[order.codes[span]]
    else:
        whole = changes(order, w_share, 1.0, restored, rank, sizes)[0][:, 1] if timeline.recomputation else take
        take, back = _sized(timeline, rank, take, back, whole)
    stash = np.zeros(len(take))
    if weights > 0.0:
        stash = weights * v * np.diff(weight_versions(order).stashed[span], prepend=0)
    moves = np.stack((take, stash - back), 1).ravel()
    times = np.stack(timeline.rank(rank), 1).ravel()
    if order.copies is not None:
        held = np.broadcast_to(kept, (order.p, order.chunks))[rank] * (1.0 if sizes is None else sizes[rank])
        times, moves = _with_copies(timeline, rank, times, moves, held)
    keep = moves != 0.0
    return times[keep], np.cumsum(moves[keep]) / v


def _sized(timeline: Timeline, rank: int, take: Floats, back: Floats, whole: Floats) -> tuple[Floats, Floats]:
    """Return what each op of a rank allocates and frees: that of its code, ``take``, ``back`` (codes,), times the size
    of its micro-batch. Of a pair the forward allocates what its chunk's forwards do, the backward the rest. Of a
    micro-batch that keeps all an op allocates ``whole``; what runs again is allocated where it does.
    """
    order, sizes = timeline.order, np.array(timeline.sizes)
    codes = order.codes[order.offsets[rank] : order.offsets[rank + 1]]
    first, second = micro_numbers(order, rank)
    kind, chunk, other = code_table(order.chunks)[codes].T
    shift = order.n * np.array([order.placement.stream(rank, each) for each in range(order.chunks)])
    one = sizes[first + shift[chunk]]
    two = np.where(kind == PAIR, sizes[second + shift[other]], one)
    made = np.where(kind == PAIR, take[F * order.chunks + chunk], take[codes])
    rest = take[codes] - made
    rest = rest * two
    if timeline.recomputation:
        low, high = order.offsets[rank : rank + 2].tolist()
        keeps, backward_keeps, before = (each[low:high] for each in timeline.recomputation)
        made = np.where(keeps, np.where(kind == PAIR, whole[F * order.chunks + chunk], whole[codes]), made)
        away = np.flatnonzero((before >= 0) & (before != np.arange(low, high)))
        rest, moved = np.where(backward_keeps, 0.0, rest), rest[away]
        rest[away] = 0.0
        rest[before[away] - low] += moved
    return made * one + rest, back[codes] * two


def _with_copies(timeline: Timeline, rank: int, times: Floats, moves: Floats, kept: Floats) -> tuple[Floats, Floats]:
    """Merge the changes by the compute ops with those by the rank's copies: an offload frees at its end, a reload
    allocates at its start. ``kept`` (chunks,) is what a copy moves. At equal times an offload's comes first and a
    reload's last; copies that take no time are placed where they are issued.
    """
    copies = timeline.order.copies
    assert copies is not None
    span = slice(copies.offsets[rank], copies.offsets[rank + 1])
    reload, chunk = np.divmod(copies.codes[span], timeline.order.chunks)
    reload, held = reload == R, kept[chunk]
    if timeline.sizes is not None:
        micro = [each[2] for each in copies.row(rank, timeline.order.chunks)]
        held = held * np.array(timeline.sizes)[np.array(micro, np.int64)]
    start, end = timeline.copy_start[span], timeline.copy_end[span]
    when = np.where(reload, start, end)
    among = np.where(reload, np.searchsorted(times, when, "right"), np.searchsorted(times, when, "left"))
    among = np.where(end > start, among, 2 * copies.issued[span])
    return np.insert(times, among, when), np.insert(moves, among, np.where(reload, held, -held))
