"""Read timelines of production jobs, in the format of ByteDance-Seed/StragglerAnalysis (OSDI 2025, arXiv 2505.05713).

Threads are named ``PP rank r, TP rank t, compute`` (or pp-comm, tp-comm, dp-comm, misc), a process is a replica, and an
event names what runs (``forward-compute``, ``backward-compute``), with step, model_chunk and mb_id in its arguments.
mb_id is counted anew here: it is kept in eight bits there, and is -1 beside compute.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from backend.schedule.errors import message
from backend.schedule.interop.traces.recording import Beside, Event, Recording, rows_of

KINDS = {"forward-compute": "F", "backward-compute": "B"}
_THREAD = re.compile(r"PP rank (\d+), TP rank (\d+), ([\w-]+)")
US = 1e-3  # ms


def is_timeline(events: Sequence[Any]) -> bool:
    """Return whether events are of this format."""
    return any(isinstance(each, dict) and each.get("name") in KINDS and "mb_id" in _args(each) for each in events)


def recording(documents: Sequence[Mapping[str, Any]]) -> Recording:
    """Return the ops of all steps and replicas; of ranks that share a stage by tensor parallelism the first's."""
    events: list[Event] = []
    beside: list[Beside] = []
    left = 0
    for document in documents:
        threads = _threads(document["traceEvents"])
        for event in document["traceEvents"]:
            if event.get("ph") != "X" or "step" not in _args(event):
                continue
            rank, tensor = threads.get((event.get("pid"), event.get("tid")), (0, 0))
            if tensor > 0:
                left += 1
                continue
            args, start = event["args"], float(event["ts"]) * US
            end, replica, step = start + float(event.get("dur", 0.0)) * US, int(event["pid"]), int(args["step"])
            kind = KINDS.get(event["name"])
            if kind is None:
                beside.append(Beside(step, replica, rank, event["name"], start, end))
            else:
                events.append(Event(step, replica, rank, kind, max(0, int(args["model_chunk"])), None, start, end))
    notes = [
        message("schedule.timeline_of_tensor_rank_0", "{count} events of other tensor-parallel ranks are left out",
                count=f"{left:,}")
    ] if left else []  # fmt: skip
    source = message("schedule.trace_of_timeline", "a production timeline")
    p = 1 + max((each.rank for each in events), default=0)
    placed = (each._replace(stage=each.stage * p + each.rank) for each in events)  # chunks go around the ranks
    return Recording(source, rows_of(placed), beside, notes=tuple(notes))


def _threads(events: Sequence[Any]) -> dict[tuple[Any, Any], tuple[int, int]]:
    """Return the pipeline rank and the tensor-parallel rank of each process and thread."""
    found = {}
    for event in events:
        if event.get("ph") == "M" and event.get("name") == "thread_name":
            match = _THREAD.match(str(_args(event).get("name", "")))
            if match:
                found[event.get("pid"), event.get("tid")] = int(match[1]), int(match[2])
    return found


def _args(event: Mapping[str, Any]) -> Mapping[str, Any]:
    args = event.get("args")
    return args if isinstance(args, dict) else {}
