"""Read a Chrome trace, from this program or from torch's profiler, as a measured timeline on one axis.

events.py reads the JSON, names.py the ops in it, steps.py finds the steps. This module decides
which rank a track belongs to, whether all ranks are there, and what the times are worth.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from backend.schedule.errors import Message, OrderError, message
from backend.schedule.interop.op_rows import assemble
from backend.schedule.interop.traces import run_trace
from backend.schedule.interop.traces.events import (
    UNITS,
    Slice,
    Track,
    device_of,
    document,
    event_count,
    forward_only,
    read,
)
from backend.schedule.interop.traces.names import UNKNOWN, reader
from backend.schedule.interop.traces.recording import Recording, Row
from backend.schedule.interop.traces.steps import last_whole_step, numbered, whole_steps
from backend.schedule.options.frozen import as_read, notes_on
from backend.schedule.order.ops import PAIR, Op, Pair, halves
from backend.schedule.order.order import code_table
from backend.schedule.simulation.check import check
from backend.schedule.simulation.message_flow import without_waits
from backend.schedule.simulation.simulate import NOTHING, Floats, Timeline
from backend.schedule.spec import choice

_RANK = re.compile(r"\brank\s*(\d+)\b", re.IGNORECASE)
SLOW = 1.1  # times the median stage: a slower one is named
UNEXPLAINED = 0.1  # of a rank's time
NS = 1e-6  # of a ms
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

    ``step`` is the number of the step that is read, of ``steps``. ``timeline`` in ms if the ops are a whole step;
    otherwise None, and ``missing`` is a sentence on what is missing. ``computing`` is the same timeline without waits
    inside ops, None if they are equal; ``hop`` the time of a message in ms, as far as those waits show it. ``notes``
    are sentences on the accuracy of the times; ``device`` is the device, if the trace names it; ``details`` are rows
    of bytes and messages, if the trace is of a run of this program.
    """

    source: str
    lanes: tuple[Lane, ...]
    step: int
    steps: int
    ignored: int
    timeline: Timeline | None
    computing: Timeline | None
    hop: float
    missing: str | None
    notes: tuple[str, ...]
    device: str | None = None
    details: Mapping[str, list[list[int]]] = field(default_factory=dict)


def load(*files: Any, names: str | None = None, unit: str = "us") -> Measured:
    """Read one combined trace or one per rank, as text or as parsed JSON.

    ``names`` is a pattern for the names of ops, as in trace_names.reader; ``unit`` the unit of the file's times.
    Raises OrderError for a file that is not a trace or contains no op, SpecError for a wrong pattern or unit.
    """
    op_of, unit = reader(names), choice("unit", unit, tuple(UNITS))
    documents = [document(number, file) for number, file in enumerate(files, 1)]
    tracks, ignored = read(documents, op_of, unit)
    if not tracks:
        raise OrderError(_without_ops(documents, names))
    ranked = _in_rank_order(tracks, len(documents))
    cut, step, steps = last_whole_step([numbered(track.slices, stage) for _, stage, track in ranked])
    zero = min(slices[0].start for slices in cut)
    lanes = tuple(_lane(rank, slices, zero) for (rank, _, _), slices in zip(ranked, cut, strict=True))
    notes = [note for track in tracks for note in track.notes]
    missing: str | None = _missing_ranks(tracks, lanes)
    timeline = None
    if missing is None:
        timeline, missing = _timeline(lanes, forward_only(documents))
    source = message("schedule.trace_of_op_texts", "op texts")
    if any(track.torch for track in tracks):
        source = message("schedule.trace_of_torch_profiler", "torch profiler")
    computing, hop = None, 0.0
    if timeline is not None:
        computing, early, hop, unsure = without_waits(timeline)
        notes += _doubts(timeline, computing, early, hop, unsure) + _copies_of(tracks) + _slow_stage(computing)
        notes += [*_stages_beyond(computing), *notes_on(timeline.order)]
        computing = computing if not np.allclose(computing.start, timeline.start, rtol=0, atol=NS) else None
    unique, device = tuple(dict.fromkeys(notes)), device_of(documents)
    ours = len(documents) == steps == 1 and unit == "us" and timeline is not None
    more = run_trace.details(documents[0], timeline.order) if ours and timeline is not None else {}
    return Measured(source, lanes, step, steps, ignored, timeline, computing, hop, missing, unique, device, more)


def recording(documents: Sequence[dict[str, Any]], names: str | None = None, unit: str = "us") -> Recording:
    """Return all whole steps of one combined trace or of one per rank, in ms, of all replicas whose ranks are there:
    where several tracks have the same lowest stage, they are those of replicas, in the order of torch's ranks, else of
    the files. Raises OrderError and SpecError as ``load`` does.
    """
    tracks, _ = read(documents, reader(names), choice("unit", unit, tuple(UNITS)))
    if not tracks:
        raise OrderError(_without_ops(documents, names))
    rows: list[Row] = []
    notes = [note for track in tracks for note in track.notes] + list(_copies_of(tracks))
    for replica, mine in enumerate(_replicas(tracks)):
        ranked = _in_rank_order(mine, len(documents))
        slices = [numbered(track.slices, stage) for _, stage, track in ranked]
        held = [Lane(rank, tuple(each.op for each in own), NOTHING, NOTHING)
                for (rank, _, _), own in zip(ranked, slices, strict=True)]  # fmt: skip
        lacking = _missing_ranks(mine, held)
        if lacking is not None:
            raise OrderError(lacking)
        for number, step in whole_steps(slices):
            rows += [
                Row(number, replica, place, each.op, each.start, each.end)
                for place, own in enumerate(step)
                for each in own
            ]
    source = message("schedule.trace_of_op_texts", "op texts")
    if any(track.torch for track in tracks):
        source = message("schedule.trace_of_torch_profiler", "torch profiler")
    return Recording(source, rows, (), True, tuple(dict.fromkeys(notes)))


def _replicas(tracks: Sequence[Track]) -> list[list[Track]]:
    """Return the tracks of each replica."""
    lowest: dict[int, list[Track]] = {}
    for track in sorted(tracks, key=lambda each: (each.world[0] or 0, each.file)):
        stages = [half.stage for each in track.slices for half in halves(each.op) if half.stage != UNKNOWN]
        if not stages:
            return [list(tracks)]
        lowest.setdefault(min(stages), []).append(track)
    if len({len(found) for found in lowest.values()}) > 1:
        return [list(tracks)]
    return [list(each) for each in zip(*lowest.values(), strict=True)]


def _without_ops(documents: Sequence[dict[str, Any]], names: str | None) -> Message:
    """Return why there is no op in the files: how many events they have, and what to do."""
    count = sum(map(event_count, documents))
    if names is not None:
        return message(
            "schedule.trace_without_matches", "the pattern matches none of the {count} events", count=f"{count:,}"
        )
    if any(isinstance(each.get("distributedInfo"), dict) for each in documents):
        return message(
            "schedule.trace_of_torch_without_ops",
            "none of the {count} events of torch's profiler is an op. torch's Schedule1F1B records no ranges: run its "
            "order from a file with _PipelineScheduleRuntime, or put record_function around each op and give the "
            "pattern of its names",
            count=f"{count:,}",
        )
    return message(
        "schedule.trace_without_ops",
        "none of the {count} events is an op: expected names such as 2F0 or, from torch's profiler, PP:2F0 or "
        "Forward 0; a pattern reads other names",
        count=f"{count:,}",
    )


def _in_rank_order(tracks: Sequence[Track], files: int) -> list[tuple[int, int, Track]]:
    """Return each track with its rank and the stage of ops whose names do not say it.

    The rank is the one in its name if all have one, else the lowest stage on it, which equals the rank in every
    placement of one direction. Without stages it is torch's own rank, or the place of the file.
    """
    named = [int(found[1]) if (found := _RANK.search(track.name)) else -1 for track in tracks]
    known = min(named) >= 0 and len(set(named)) == len(named)
    stages = [
        [half.stage for each in track.slices for half in halves(each.op) if half.stage != UNKNOWN] for track in tracks
    ]
    if min(named) < 0 and not all(stages):
        named, known = _ranks_without_stages(tracks, files), True
    if not known and all(stages):
        named = [min(found) for found in stages]
    if len(set(named)) < len(named):
        twice = next(rank for rank in named if named.count(rank) > 1)
        text = message(
            "schedule.trace_of_same_rank",
            "{tracks} tracks have stage {stage} as their lowest: give the ranks of one pipeline only, and each once",
            tracks=named.count(twice),
            stage=twice,
        )
        raise OrderError(text)
    return sorted(((rank, rank, track) for rank, track in zip(named, tracks, strict=True)), key=lambda each: each[0])


def _ranks_without_stages(tracks: Sequence[Track], files: int) -> list[int]:
    """Return the ranks of tracks whose ops name no stage: as torch numbers them, or in the order of the files.

    Ranks in even steps that divide the number of all ranks are those of one of several equal pipelines.
    """
    ranks = [track.world[0] for track in tracks]
    given = sorted(rank for rank in ranks if rank is not None)
    if len(set(given)) == len(tracks):
        one_pipeline = _is_replica(given, tracks[0].world[1])
        return [given.index(rank) if one_pipeline else rank for rank in ranks if rank is not None]
    if files != len(tracks):
        text = message(
            "schedule.trace_without_stages",
            "the names of ops have no stage, and {tracks} tracks no rank: call the threads rank 0, rank 1 ..., or give "
            "one file for each rank",
            tracks=len(tracks),
        )
        raise OrderError(text)
    return [track.file - 1 for track in tracks]


def _is_replica(ranks: Sequence[int], world: int | None) -> bool:
    """Return whether ascending ranks may be one of several equal pipelines: neighbours, or evenly apart over all."""
    count = len(ranks)
    if world is None or count < 2 or world % count:
        return False
    apart = {b - a for a, b in pairwise(ranks)}
    return apart == {world // count} or (apart == {1} and ranks[0] % count == 0)


def _missing_ranks(tracks: Sequence[Track], lanes: Sequence[Lane]) -> Message | None:
    """Return a sentence where the files themselves say that there are other ranks: by their messages, or as a single
    one of several.
    """
    stages = sorted({half.stage for lane in lanes for op in lane.ops for half in halves(op)})
    beyond = sorted({stage for track in tracks for stage in track.stages} - set(stages))
    rank, world = tracks[0].world
    alone = len(tracks) == 1 and ((world or 1) > 1 or (rank or 0) > 0)
    if not beyond and not alone:
        return None
    have = {"ranks": [lane.rank for lane in lanes], "stages": stages}
    if alone:
        have["ranks"] = [lanes[0].rank if rank is None else rank]
    if alone and world is not None:
        return message(
            "schedule.trace_of_one_rank",
            "only rank {ranks} of {world} is there, with stage {stages}: give the traces of the others too",
            world=world,
            **have,
        )
    return message(
        "schedule.trace_of_some_ranks",
        "only rank {ranks} is there, with stage {stages}: give the traces of the other ranks too",
        **have,
    )


def _copies_of(tracks: Sequence[Track]) -> list[Message]:
    """Return a note where there may be more ranks: torch counts them, or there is one only."""
    world = tracks[0].world[1]
    if len(tracks) == 1 and world is None:
        return [
            message(
                "schedule.trace_of_one_track",
                "only one rank is there: if the pipeline has others, give their traces too",
            )
        ]
    if world is None or world <= len(tracks):
        return []
    return [
        message(
            "schedule.trace_of_a_replica",
            "{ranks} of {world} ranks are given: they are read as one whole pipeline, the others as its copies",
            ranks=len(tracks),
            world=world,
        )
    ]


def _stages_beyond(computing: Timeline) -> list[Message]:
    """Return a note where the last stage waits before its backwards: there may be stages after it in other files."""
    order = computing.order
    last = order.placement.stages - 1
    if order.placement.streams > 1 or order.forward_only:
        return []
    rank = order.placement.rank_of(last)
    start, end = computing.rank(rank)
    made = {half.micro: at for op, at in zip(order.row(rank), end, strict=True) for half in halves(op)
            if (half.kind, half.stage) == ("F", last)}  # fmt: skip
    waited = sum(
        max(0.0, float(begin) - max(float(before), float(made[half.micro])))
        for op, begin, before in zip(order.row(rank)[1:], start[1:], end, strict=False)
        for half in halves(op)
        if half.stage == last and half.kind in ("B", "I") and isinstance(op, Op)
    )
    if waited <= UNEXPLAINED * float(end[-1] - start[0]):
        return []
    return [
        message(
            "schedule.trace_last_stage_waits",
            "stage {stage}, the last one here, is idle for {time} ms before backwards whose forwards it has done: if "
            "the pipeline has more stages, give the traces of their ranks too",
            stage=last,
            time=f"{waited:.4g}",
        )
    ]


def _slow_stage(computing: Timeline) -> list[Message]:
    """Return a note that names a stage whose ops take longer than those of the others."""
    order = computing.order
    rank = np.repeat(np.arange(order.p), np.diff(order.offsets))
    kind, chunk, other = code_table(order.chunks)[order.codes].T
    spent = computing.end - computing.start
    first, second = (order.placement.stage_of[rank, each] for each in (chunk, np.where(kind == PAIR, other, chunk)))
    stages = order.placement.stages
    work = (np.bincount(first, spent / 2, stages) + np.bincount(second, spent / 2, stages)) / order.m
    slow, usual = int(work.argmax()), float(np.median(work[len(order.untrained) :]))
    if stages < 2 or not work[slow] > SLOW * usual:
        return []
    return [
        message(
            "schedule.trace_slow_stage",
            "stage {stage}, on rank {rank}, is the slowest: {time} ms per micro-batch, {ratio} times the median of "
            "the stages",
            stage=slow,
            rank=int(rank[first == slow][0]),
            time=f"{work[slow]:.4g}",
            ratio=f"{work[slow] / max(usual, 1e-12):.2f}",
        )
    ]


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
        order = as_read(assemble([lane.ops for lane in lanes], ("bidirectional", "custom")))
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


def _doubts(measured: Timeline, computing: Timeline, early: float, hop: float, unsure: bool) -> list[Message]:
    notes: list[Message] = []
    waited = float((computing.start - measured.start).sum())
    spent = float((measured.end - measured.start).sum())
    if waited > 0.01 * spent:
        notes.append(
            message(
                "schedule.trace_includes_waits",
                "{share} of the time in ops is waiting for messages: the recorder's ranges include the wait, so look "
                "at the figures without waits",
                share=f"{waited / spent:.0%}",
            )
        )
        if unsure:
            notes.append(
                message(
                    "schedule.trace_includes_transfers",
                    "every op of some kind waited, so how long its messages travelled is not known: the figures "
                    "without waits count that as work",
                )
            )
        elif hop > OVERLAP_MS:
            notes.append(
                message(
                    "schedule.trace_hop",
                    "a message takes {hop} ms: ops that waited took that much longer than those that did not",
                    hop=f"{hop:.4g}",
                )
            )
    if early > OVERLAP_MS:
        notes.append(
            message(
                "schedule.trace_clocks_disagree",
                "an op ended {early} ms before what it needs was made: the ranks' clocks disagree by that much "
                "at least, the files are of different steps, or ranges go on after their message was sent",
                early=f"{early:.3f}",
            )
        )
    return notes
