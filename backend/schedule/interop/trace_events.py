"""Read Trace Event JSON into tracks of ops: strict about shape, tolerant of every event that is not an op.

A track is the record of one rank: a thread with ops. This module handles the JSON's forms and the conventions of
torch's profiler; it does not interpret the ops.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from backend.schedule.errors import Message, OrderError, message
from backend.schedule.order.ops import Op, Pair, parse

MAX_BYTES = 512 * 2**20
MOST = 1e19  # largest time accepted; clocks count up to 2**63 ns
TORCH_PREFIX = "PP:"
MOST_NAME = 60  # characters of a device's name
BEYOND = re.compile(r"\d{1,6}[STOR]\d{1,8}")  # ops that this program writes to traces but cannot read
GPU = "gpu_user_annotation"  # torch's profiler: the same range as seen on a GPU's stream


@dataclass(frozen=True, slots=True)
class Slice:
    """The time of one op, in ms."""

    op: Op | Pair
    start: float
    end: float


@dataclass(eq=False)
class Track:
    """The ops of one thread of one file; ``name`` is the thread's or the process's, with torch's own rank if given."""

    name: str = ""
    torch: bool = False
    slices: list[Slice] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


Key = tuple[str, str]  # pid and tid; files have numbers or texts


@dataclass(eq=False)
class _File:
    """The state of reading one file."""

    shift_us: float
    tracks: dict[tuple[bool, Key], Track] = field(default_factory=dict)
    names: dict[tuple[str, Key], str] = field(default_factory=dict)
    open: dict[Key, list[tuple[Op | Pair | None, float]]] = field(default_factory=dict)
    ignored: int = 0
    kernels: bool = False
    beyond: bool = False

    def track(self, gpu: bool, key: Key) -> Track:
        return self.tracks.setdefault((gpu, key), Track())


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
    return data


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


def read(documents: Sequence[dict[str, Any]]) -> tuple[list[Track], int]:
    """Return the tracks of all files on one clock, and the number of events that are not ops. Raises OrderError."""
    bases = [int(_number(document.get("baseTimeNanoseconds", 0), "baseTimeNanoseconds")) for document in documents]
    tracks: list[Track] = []
    ignored = 0
    for document, base in zip(documents, bases, strict=True):
        file = _File((base - bases[0]) / 1000)
        for number, event in enumerate(document["traceEvents"]):
            _take(file, number, event)
        ignored += file.ignored
        tracks += _finish(file, document)
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
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        problem = message(
            "schedule.trace_not_json", "file {number} is not JSON: {problem}", number=number, problem=str(error)[:120]
        )
        raise OrderError(problem) from None


def _take(file: _File, number: int, event: Any) -> None:
    if not isinstance(event, dict) or not isinstance(event.get("ph"), str):
        text = message(
            "schedule.not_a_trace_event",
            'event {number} is no trace event: expected an object with "ph"',
            number=number,
        )
        raise OrderError(text)
    phase, key = event["ph"], (str(event.get("pid", "")), str(event.get("tid", "")))
    file.kernels = file.kernels or event.get("cat") == "kernel"
    if phase == "M":
        _name(file, event, key)
    elif phase == "X":
        op = _op(event.get("name"))
        if op is None:
            file.ignored += 1
            file.beyond = file.beyond or (isinstance(event.get("name"), str) and bool(BEYOND.fullmatch(event["name"])))
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
    elif phase == "B":
        op = _op(event.get("name"))
        file.ignored += op is None
        file.open.setdefault(key, []).append((op, 0.0 if op is None else _time(event, "ts", number)))
    elif phase == "E":
        if not file.open.get(key):
            text = message(
                "schedule.trace_end_without_begin",
                "event {number} ends what never began on thread {thread} of process {process}",
                number=number,
                thread=key[1],
                process=key[0],
            )
            raise OrderError(text)
        op, start = file.open[key].pop()
        if op is not None:
            _add(file, event, key, op, start, _time(event, "ts", number))
    else:
        file.ignored += 1


def _op(name: Any) -> Op | Pair | None:
    if not isinstance(name, str):
        return None
    text = name.removeprefix(TORCH_PREFIX)
    if not text or text[0] not in "0123456789(":
        return None
    try:
        return parse(text)
    except OrderError:
        return None


def _add(file: _File, event: dict[str, Any], key: Key, op: Op | Pair, start: float, end: float) -> None:
    if end < start:
        raise OrderError(message("schedule.trace_op_ends_early", "{op} ends before it begins", op=op.text()))
    track = file.track(event.get("cat") == GPU, key)
    track.torch = track.torch or str(event.get("name", "")).startswith(TORCH_PREFIX)
    track.slices.append(Slice(op, (start + file.shift_us) / 1000, (end + file.shift_us) / 1000))


def _name(file: _File, event: dict[str, Any], key: Key) -> None:
    args = event.get("args")
    if isinstance(args, dict) and isinstance(args.get("name"), str):
        file.names[str(event.get("name")), key] = args["name"]


def _finish(file: _File, document: dict[str, Any]) -> list[Track]:
    """Return the file's tracks, named; a file of torch's profiler belongs to one rank, whose track is the one with
    most ops.
    """
    unended = [op for stack in file.open.values() for op, _ in stack if op is not None]
    if unended:
        raise OrderError(message("schedule.trace_op_never_ends", "{op} begins but never ends", op=unended[0].text()))
    kept = _seen_by(file)
    if file.beyond:
        note = message(
            "schedule.trace_left_out",
            "the trace has S and T, or copies to host memory: they are left out, and their time shows as idle",
        )
        for track in kept.values():
            track.notes.append(note)
    for key, track in kept.items():
        process = next((name for (what, (pid, _)), name in file.names.items()
                        if what == "process_name" and pid == key[0]), "")  # fmt: skip
        track.name = f"{process} {file.names.get(('thread_name', key), '')}"
    if isinstance(document.get("distributedInfo"), dict) and kept:
        most = max(kept.values(), key=lambda track: len(track.slices))
        most.name = ""  # the world's rank is not the pipeline's where there is data or tensor parallelism beside it
        return [most]
    return list(kept.values())


def _seen_by(file: _File) -> dict[Key, Track]:
    """Return the tracks as recorded on the GPU if all ops are among them, else as launched by the CPU.

    Kineto is known to omit kernels launched by autograd's own thread from a GPU's ranges (pytorch/kineto issues 1022
    and 1132), and with them whole backward ops.
    """
    views = [{key: track for (gpu, key), track in file.tracks.items() if gpu == wanted} for wanted in (False, True)]
    launched, run = ({each.op.text() for track in view.values() for each in track.slices} for view in views)
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


def _time(event: dict[str, Any], key: str, number: int) -> float:
    name = str(event.get("name", event["ph"]))[:60]
    field = message("schedule.trace_field", "{key} of event {number} ({name})", key=key, number=number, name=name)
    return _number(event.get(key), field)


def _number(value: Any, field: Message | str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= MOST:  # also excludes NaN
        text = message(
            "schedule.trace_not_a_number", "{field} is {value}, not a number", field=field, value=str(value)[:40]
        )
        raise OrderError(text)
    return value
