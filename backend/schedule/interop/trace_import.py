"""Read a Chrome trace, from this program or from torch's profiler, as a measured timeline on one axis.

An op may have two names: ours (``2F0``) and torch's profiler range (``PP:2F0``, which torch's
_PipelineScheduleRuntime records). Every other event is counted and left out. This module decides which program wrote
a file, which rank a track belongs to and which step is read; trace_events.py reads the JSON.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from backend.schedule.errors import OrderError, message
from backend.schedule.interop import run_trace
from backend.schedule.interop.op_rows import assemble
from backend.schedule.interop.trace_events import Slice, Track, device_of, document, forward_only, read
from backend.schedule.order.ops import Op, Pair, halves
from backend.schedule.simulation.check import check
from backend.schedule.simulation.message_flow import without_waits
from backend.schedule.simulation.simulate import Floats, Timeline

_RANK = re.compile(r"\brank\s*(\d+)\b", re.IGNORECASE)
OVERLAP_MS = 0.001  # recorders round; ops that overlap by more than a microsecond ran concurrently


@dataclass(frozen=True, eq=False)
class Lane:
    """The ops of one rank in the step that is read: ``start`` and ``end`` in ms from the first op of all ranks."""

    rank: int
    ops: tuple[Op | Pair, ...]
    start: Floats
    end: Floats


@dataclass(frozen=True, eq=False)
class Measured:
    """An imported measurement.

    ``timeline`` in ms if the ops are a whole step; otherwise None, and ``missing`` is a sentence on what is missing.
    ``computing`` is the same timeline without waits inside ops, None if they are equal. ``notes`` are sentences on
    the accuracy of the times; ``device`` is the device, if the trace names it; ``details`` are rows of bytes and
    messages, if the trace is of a run of this program.
    """

    source: str
    lanes: tuple[Lane, ...]
    steps: int
    ignored: int
    timeline: Timeline | None
    computing: Timeline | None
    missing: str | None
    notes: tuple[str, ...]
    device: str | None = None
    details: Mapping[str, list[list[int]]] = field(default_factory=dict)


def load(*files: Any) -> Measured:
    """Read one combined trace or one per rank, as text or as parsed JSON. Raises OrderError for a file that is not a
    trace or contains no op.
    """
    documents = [document(number, file) for number, file in enumerate(files, 1)]
    tracks, ignored = read(documents)
    if not tracks:
        text = message(
            "schedule.trace_without_ops",
            "none of the {ignored} events is an op: expected names such as 2F0 or, from torch's profiler, PP:2F0",
            ignored=ignored,
        )
        raise OrderError(text)
    ranked = _in_rank_order(tracks)
    cut = [_last_step(track) for _, track in ranked]
    zero = min(slices[0].start for slices, _ in cut)
    lanes = tuple(_lane(rank, slices, zero) for (rank, _), (slices, _) in zip(ranked, cut, strict=True))
    timeline, missing = _timeline(lanes, forward_only(documents))
    source = message("schedule.trace_of_op_texts", "op texts")
    if any(track.torch for track in tracks):
        source = message("schedule.trace_of_torch_profiler", "torch profiler")
    notes = [note for track in tracks for note in track.notes]
    computing = None
    if timeline is not None:
        computing, early = without_waits(timeline)
        notes += _doubts(timeline, computing, early)
        computing = computing if not np.array_equal(computing.start, timeline.start) else None
    steps = max(count for _, count in cut)
    unique, device = tuple(dict.fromkeys(notes)), device_of(documents)
    one = len(documents) == steps == 1
    more = run_trace.details(documents[0], timeline.order) if one and timeline is not None else {}
    return Measured(source, lanes, steps, ignored, timeline, computing, missing, unique, device, more)


def _in_rank_order(tracks: Sequence[Track]) -> list[tuple[int, Track]]:
    """Return each track with its rank: from its name if all have one, else from the lowest stage on it, which equals
    the rank in every placement of one direction.
    """
    named = [int(found[1]) if (found := _RANK.search(track.name)) else -1 for track in tracks]
    if min(named) < 0 or len(set(named)) < len(named):
        named = [min(half.stage for each in track.slices for half in halves(each.op)) for track in tracks]
    if len(set(named)) < len(named):
        twice = next(rank for rank in named if named.count(rank) > 1)
        text = message(
            "schedule.trace_of_same_rank",
            "{tracks} tracks have stage {stage} as their lowest: give the ranks of one pipeline only, and each once",
            tracks=named.count(twice),
            stage=twice,
        )
        raise OrderError(text)
    return sorted(zip(named, tracks, strict=True), key=lambda pair: pair[0])


def _last_step(track: Track) -> tuple[list[Slice], int]:
    """Return the ops of the last whole step on a track, and the number of steps found.

    A step begins with the forward of the smallest micro-batch in the lowest stage. If a profile starts or ends in the
    middle of a step, the piece with the most ops is a whole one.
    """
    slices = sorted(track.slices, key=lambda each: each.start)
    if len({each.op.text() for each in slices}) == len(slices):
        return slices, 1
    forwards = [(half.stage, half.micro) for each in slices for half in halves(each.op) if half.kind == "F"]
    if not forwards:
        return sorted({each.op.text(): each for each in slices}.values(), key=lambda each: each.start), 1
    first = min(forwards)
    begins = [
        index
        for index, each in enumerate(slices)
        if any((half.stage, half.micro) == first and half.kind == "F" for half in halves(each.op))
    ]
    pieces = [slices[a:b] for a, b in zip(begins, [*begins[1:], len(slices)], strict=True)]
    return max(reversed(pieces), key=len), len(pieces)


def _lane(rank: int, slices: Sequence[Slice], zero: float) -> Lane:
    start = np.array([each.start for each in slices], np.float64) - zero
    end = np.array([each.end for each in slices], np.float64) - zero
    late = np.flatnonzero(end[:-1] > start[1:] + OVERLAP_MS)
    if len(late):
        one, two = (slices[int(late[0]) + step].op.text() for step in (0, 1))
        text = message(
            "schedule.trace_ops_overlap",
            "rank {rank}: {op} begins before {before} has ended",
            rank=rank,
            op=two,
            before=one,
        )
        raise OrderError(text, rank=rank, op=two)
    return Lane(rank, tuple(each.op for each in slices), start, end)


def _timeline(lanes: Sequence[Lane], forwards: bool) -> tuple[Timeline | None, str | None]:
    """Return the lanes as one timeline, or a sentence on what is missing; ``forwards``: no backwards are expected."""
    stages = 1 + max(half.stage for lane in lanes for op in lane.ops for half in halves(op))
    lacking = sorted(set(range(stages)) - {half.stage for lane in lanes for op in lane.ops for half in halves(op)})
    if lacking:
        return None, message(
            "schedule.trace_lacks_stage",
            "no op of stage {stage} is there: is the trace of another rank lacking?",
            stage=lacking[0],
        )
    try:
        order = assemble([lane.ops for lane in lanes], ("bidirectional", "custom"))
        check(order)
    except OrderError as error:
        return None, error.message
    if order.forward_only and not forwards:
        return None, message(
            "schedule.trace_without_backwards",
            "rank 0 never does {op}: only forwards are there, and profilers often leave out what autograd launched",
            op=f"{order.placement.stage(0, 0)}B0",
        )
    return Timeline(order, np.concatenate([x.start for x in lanes]), np.concatenate([x.end for x in lanes])), None


def _doubts(measured: Timeline, computing: Timeline, early: float) -> list[str]:
    notes: list[str] = []
    waited = float((computing.start - measured.start).sum())
    spent = float((measured.end - measured.start).sum())
    if waited > 0.01 * spent:
        notes.append(
            message(
                "schedule.trace_includes_waits",
                "{share} of the time in ops is waiting for messages that had not been made: the recorder's "
                "ranges include the wait, so look at the figures without waits",
                share=f"{waited / spent:.0%}",
            )
        )
    if early > OVERLAP_MS:
        notes.append(
            message(
                "schedule.trace_clocks_disagree",
                "an op ended {early} ms before what it needs was made: the ranks' clocks disagree by that much "
                "at least, or the files are of different steps",
                early=f"{early:.3f}",
            )
        )
    return notes
