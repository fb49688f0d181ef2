"""Read Trace Event JSON into tracks of ops: strict about shape, tolerant of every event that is not an op.

A track is the record of one rank. This module handles the JSON's forms and the conventions of torch's profiler, of
which one file belongs to one rank, whatever threads and streams it has; names.py reads the ops. The order of the
events in a file has no meaning.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from backend.errors import json_reason
from backend.schedule.errors import Message, OrderError, message
from backend.schedule.interop.traces.names import TORCH_PREFIX, Read, is_beyond, neighbour
from backend.schedule.order.ops import Op, Pair

MAX_BYTES = 512 * 2**20
MOST = 1e19  # largest time accepted; clocks count up to 2**63 ns
MOST_NAME = 60  # characters of a device's name
GPU = "gpu_user_annotation"  # torch's profiler: the same range as seen on a GPU's stream
UNITS = {"ns": 1e-6, "us": 1e-3, "ms": 1.0, "s": 1e3}  # ms of one
FSDP = ("FSDP::", "FullyShardedDataParallel.")
COLLECTIVES = re.compile("[nrh]ccl", re.IGNORECASE)  # in the names of kernels: NCCL, RCCL, HCCL


@dataclass(frozen=True, slots=True)
class Slice:
    """The time of one op, in ms."""

    op: Op | Pair
    start: float
    end: float


@dataclass(eq=False)
class Track:
    """The ops of one rank; ``name`` is its thread's and process's name, empty in torch's files.

    ``file`` is the number of its file; ``world`` torch's (rank, number of ranks), as far as it is stated; ``stages``
    other stages that its messages name.
    """

    name: str = ""
    torch: bool = False
    slices: list[Slice] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    file: int = 0
    world: tuple[int | None, int | None] = (None, None)
    stages: frozenset[int] = frozenset()


Key = tuple[str, str]  # pid and tid; files have numbers or texts


@dataclass(eq=False)
class _File:
    """The state of reading one file: ``scale`` is the ms of its unit of time, ``shift`` ms are added to its times."""

    number: int
    scale: float
    shift: float
    op_of: Read
    tracks: dict[tuple[bool, Key], Track] = field(default_factory=dict)
    names: dict[tuple[str, Key], str] = field(default_factory=dict)
    spans: dict[Key, list[tuple[int, dict[str, Any]]]] = field(default_factory=dict)  # B and E events
    computing: dict[Key, float] = field(default_factory=dict)  # time of kernels that compute, by stream
    stages: set[int] = field(default_factory=set)
    ignored: int = 0
    fsdp: int = 0
    kernels: bool = False
    beyond: bool = False


def document(number: int, file: Any) -> dict[str, Any]:
    """Return a trace as a JSON object, from its text or its parsed JSON; a bare list of events is wrapped. Raises
    OrderError.
    """
    data = _parsed(number, file) if isinstance(file, str) else file
    if isinstance(data, list):
        data = {"traceEvents": data}
    if not isinstance(data, dict) or not isinstance(data.get("traceEvents"), list):
        text = message(
            "schedule.not_a_trace",
            'file {number} is no Chrome trace: expected a list of events or an object with "traceEvents"',
            number=number,
        )
        raise OrderError(text)
    if not data["traceEvents"] and not event_count(data):
        raise OrderError(message("schedule.trace_without_events", "file {number} has no events", number=number))
    return data


def event_count(document: dict[str, Any]) -> int:
    """Return the number of events of a trace: the page leaves out those that no import reads, and says how many there
    were.
    """
    stated, listed = document.get("eventCount"), len(document["traceEvents"])
    return max(listed, stated) if type(stated) is int and stated < 2**53 else listed


def forward_only(documents: Sequence[dict[str, Any]]) -> bool:
    """Return whether the traces, written by this program, are of a forward-only schedule."""
    others = [each.get("otherData") for each in documents]
    return any(isinstance(other, dict) and other.get("forward_only") is True for other in others)


def device_of(documents: Sequence[dict[str, Any]]) -> str | None:
    """Return the device named in the traces: torch's profiler lists its GPUs, and this program writes "simulated"."""
    for each in documents:
        other, listed = each.get("otherData"), each.get("deviceProperties")
        names = [other.get("device")] if isinstance(other, dict) else []
        names += [item.get("name") for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []
        found = next((name for name in names if isinstance(name, str) and name.strip()), None)
        if found is not None:
            return found.strip()[:MOST_NAME]
    return None


def read(documents: Sequence[dict[str, Any]], op_of: Read, unit: str = "us") -> tuple[list[Track], int]:
    """Return the tracks of all files on one clock, and the number of events that are not ops; ``unit`` is one of
    UNITS. Raises OrderError.
    """
    bases = [int(_number(document.get("baseTimeNanoseconds", 0), "baseTimeNanoseconds")) for document in documents]
    tracks: list[Track] = []
    ignored = fsdp = 0
    for number, (document, base) in enumerate(zip(documents, bases, strict=True), 1):
        file = _File(number, UNITS[unit], (base - bases[0]) * UNITS["ns"], op_of)
        try:
            for place, event in enumerate(document["traceEvents"]):
                _take(file, place, event)
            tracks += _finish(file, document)
        except OrderError as error:
            if len(documents) == 1:
                raise
            text = message("schedule.trace_file", "file {number}: {problem}", number=number, problem=error.message)
            raise OrderError(text, rank=error.rank, op=error.op) from None
        ignored += file.ignored + event_count(document) - len(document["traceEvents"])
        fsdp += file.fsdp
    if fsdp and tracks:
        tracks[0].notes.append(message("schedule.trace_fsdp", "{count} ranges of FSDP are left out", count=fsdp))
    return tracks, ignored


def _parsed(number: int, text: str) -> Any:
    if len(text) > MAX_BYTES:
        problem = message(
            "schedule.trace_too_large",
            "file {number} has {size} bytes; {most} is the most",
            number=number,
            size=f"{len(text):,}",
            most=f"{MAX_BYTES:,}",
        )
        raise OrderError(problem)
    if not text.strip("\ufeff \t\r\n"):
        raise OrderError(message("schedule.trace_empty", "file {number} is empty", number=number))
    try:
        return json.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError) as error:
        if text.lstrip("\ufeff \t\r\n")[0] in "[{" and ends_early(text, error):
            cut = message(
                "schedule.trace_cut_off",
                "file {number} is cut off: its JSON ends after {size} characters before it is complete",
                number=number,
                size=f"{len(text):,}",
            )
            raise OrderError(cut) from None
        problem = message(
            "schedule.trace_not_json", "file {number} is not JSON: {problem}", number=number, problem=json_reason(error)
        )
        raise OrderError(problem) from None


def ends_early(text: str, error: Exception) -> bool:
    """Return whether JSON is wrong only because it ends: at its end, or within a text or a word that never ends."""
    if not isinstance(error, json.JSONDecodeError):
        return False
    rest = text[error.pos :].strip()
    if error.msg.startswith("Expecting value"):
        return any(word.startswith(rest) for word in ("true", "false", "null", "NaN", "-Infinity"))
    return not rest or error.msg.startswith("Unterminated") or (error.msg.startswith("Invalid \\") and len(rest) < 7)


def _take(file: _File, number: int, event: Any) -> None:
    if not isinstance(event, dict) or not isinstance(event.get("ph"), str):
        text = message(
            "schedule.not_a_trace_event",
            'event {number} is no trace event: expected an object with "ph"',
            number=number,
        )
        raise OrderError(text)
    phase, key = event["ph"], (str(event.get("pid", "")), str(event.get("tid", "")))
    if event.get("cat") == "kernel":
        _take_kernel(file, event, key)
    elif phase == "M":
        _name(file, event, key)
    elif phase == "X":
        op = file.op_of(event)
        if op is None:
            _pass_over(file, event)
            return
        start, length = _time(event, "ts", number), _time(event, "dur", number)
        if length < 0:
            text = message(
                "schedule.trace_negative_duration",
                "event {number} ({name}) has a negative dur",
                number=number,
                name=event["name"],
            )
            raise OrderError(text)
        _add(file, event, key, op, start, start + length)
    elif phase in ("B", "E", "b", "e"):
        file.spans.setdefault(key, []).append((number, event))
    else:
        file.ignored += 1


def _take_kernel(file: _File, event: dict[str, Any], key: Key) -> None:
    file.kernels = True
    file.ignored += 1
    length = event.get("dur")
    if isinstance(length, int | float) and 0 <= length <= MOST and not COLLECTIVES.search(str(event.get("name"))):
        file.computing[key] = file.computing.get(key, 0.0) + length


def _pass_over(file: _File, event: dict[str, Any]) -> None:
    """Count an event that is not an op; its name may still say something."""
    file.ignored += 1
    name = event.get("name")
    if not isinstance(name, str):
        return
    file.beyond = file.beyond or is_beyond(name)
    file.fsdp += name.startswith(FSDP) and event.get("cat") != GPU
    stage = neighbour(name)
    if stage is not None:
        file.stages.add(stage)


def _take_spans(file: _File, key: Key, events: list[tuple[int, dict[str, Any]]]) -> None:
    """Match the B and E events of a thread, in the order of their times if all have one, else in that of the file."""
    try:
        timed = sorted(events, key=lambda each: (_time(each[1], "ts", each[0]), each[1]["ph"] in "Bb"))
        found = _matched(file, timed, key)
    except OrderError:
        found = _matched(file, events, key)
    for event, op, start, end in found:
        _add(file, event, key, op, start, end)


def _matched(
    file: _File, events: Iterable[tuple[int, dict[str, Any]]], key: Key
) -> list[tuple[dict[str, Any], Op | Pair, float, float]]:
    opened: list[tuple[dict[str, Any], Op | Pair | None, float]] = []
    found = []
    others = 0
    for number, event in events:
        if event["ph"] in "Bb":
            op = file.op_of(event)
            others += op is None
            opened.append((event, op, 0.0 if op is None else _time(event, "ts", number)))
            continue
        if not opened:
            text = message(
                "schedule.trace_end_without_begin",
                "event {number} ends what never began on thread {thread} of process {process}",
                number=number,
                thread=key[1],
                process=key[0],
            )
            raise OrderError(text)
        begun, op, start = opened.pop()
        if op is None:
            continue
        end = _time(event, "ts", number)
        if end < start:
            raise OrderError(message("schedule.trace_op_ends_early", "{op} ends before it begins", op=begun["name"]))
        found.append((begun, op, start, end))
    unended = [event["name"] for event, op, _ in opened if op is not None]
    if unended:
        raise OrderError(message("schedule.trace_op_never_ends", "{op} begins but never ends", op=unended[0]))
    file.ignored += others
    return found


def _add(file: _File, event: dict[str, Any], key: Key, op: Op | Pair, start: float, end: float) -> None:
    track = file.tracks.setdefault((event.get("cat") == GPU, key), Track())
    track.torch = track.torch or str(event.get("name", "")).startswith(TORCH_PREFIX)
    track.slices.append(Slice(op, start * file.scale + file.shift, end * file.scale + file.shift))


def _name(file: _File, event: dict[str, Any], key: Key) -> None:
    args = event.get("args")
    if isinstance(args, dict) and isinstance(args.get("name"), str):
        place = str(event.get("name")), key
        file.names[place] = min(args["name"], file.names.get(place, args["name"]))  # whichever of two comes first


def _finish(file: _File, document: dict[str, Any]) -> list[Track]:
    """Return the file's tracks, named, by pid and tid."""
    for key, events in sorted(file.spans.items()):
        _take_spans(file, key, events)
    info = document.get("distributedInfo")
    kept = _seen_by(file, isinstance(info, dict))
    if file.beyond:
        note = message(
            "schedule.trace_left_out",
            "the trace has S and T, or copies to host memory: they are left out, and their time shows as idle",
        )
        for track in kept.values():
            track.notes.append(note)
    world = tuple(info.get(name) if isinstance(info, dict) else None for name in ("rank", "world_size"))
    rank, size = (each if type(each) is int and 0 <= each < 2**31 else None for each in world)
    for key, track in kept.items():
        track.file, track.world, track.stages = file.number, (rank, size), frozenset(file.stages)
        if isinstance(info, dict):
            continue  # the world's rank is not the pipeline's where there is data or tensor parallelism beside it
        process = next((name for (what, (pid, _)), name in sorted(file.names.items())
                        if what == "process_name" and pid == key[0]), "")  # fmt: skip
        track.name = f"{process} {file.names.get(('thread_name', key), '')}"
    return [kept[key] for key in sorted(kept)]


def _seen_by(file: _File, one_rank: bool) -> dict[Key, Track]:
    """Return the tracks as recorded on the GPU if all ops are among them, else as launched by the CPU.

    Kineto is known to omit kernels launched by autograd's own thread from a GPU's ranges (pytorch/kineto issues 1022
    and 1132), and with them whole backward ops. Streams are not ranks: those of a GPU are one track. ``one_rank``: so
    are all threads of the file.
    """
    views = [_grouped(file, gpu, one_rank) for gpu in (False, True)]
    launched, run = ({each.op for track in view.values() for each in track.slices} for view in views)
    if run and run >= launched:
        kept, note = (
            views[1],
            message(
                "schedule.trace_of_gpu",
                "these are the GPU's ranges, which may lack kernels that autograd's own thread launched",
            ),
        )
    else:
        kept, note = (
            views[0],
            message(
                "schedule.trace_of_processor",
                "these are the times at which the processor launched the ops, not those of the GPU",
            ),
        )
    for track in kept.values():
        track.notes += [note] if run or file.kernels else []
    return kept


def _grouped(file: _File, gpu: bool, one_rank: bool) -> dict[Key, Track]:
    """Return one track per thread, per GPU with its streams, or of the whole file.

    An op that has ranges on several is taken from the one that computes most: by its kernels where the file has them,
    else by the ops on it. On a stream of communication, a range lasts as long as its messages.
    """
    groups: dict[Key, list[Key]] = {}
    for on_gpu, key in sorted(file.tracks):
        if on_gpu == gpu:
            group = ("", "") if one_rank else (key[0], "") if gpu else key
            groups.setdefault(group, []).append(key)
    found = {}
    for group, keys in groups.items():
        tracks = {key: file.tracks[gpu, key] for key in keys}
        whole = Track(torch=any(track.torch for track in tracks.values()))
        taken: set[Op | Pair] = set()
        for key in sorted(keys, key=lambda key: (-round(file.computing.get(key, 0.0), 3), -_busy(tracks[key]), key)):
            whole.slices += [each for each in tracks[key].slices if each.op not in taken]
            taken |= {each.op for each in tracks[key].slices}
        found[group] = whole
    return found


def _busy(track: Track) -> float:
    """Return the time of a track's ops, to the microsecond, so that it does not depend on the order of the sum."""
    return round(sum(each.end - each.start for each in track.slices), 3)


def _time(event: dict[str, Any], key: str, number: int) -> float:
    value = event.get(key)
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= MOST:
        return value  # the usual case, without a text for an error
    name = str(event.get("name", event["ph"]))[:60]
    return _number(value, message("schedule.trace_field", "{key} of event {number} ({name})", key=key, number=number,
                                  name=name))  # fmt: skip


def _number(value: Any, field: Message | str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= MOST:  # also excludes NaN
        text = message(
            "schedule.trace_not_a_number", "{field} is {value}, not a number", field=field, value=str(value)[:40]
        )
        raise OrderError(text)
    return value
