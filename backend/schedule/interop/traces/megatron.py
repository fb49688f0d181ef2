"""Read dumps of Megatron-LM's pipeline timers: one JSON object a rank, from ``forward-3-start`` to a time in ms.

The file is named ``event_times_PP{p}_VPP{v}_TPxCPxDP_rank_{r}_pp_rank_{rank}_rank_{global}.json``; with several chunks
the names are ``forward-{chunk}-{micro}-start``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from backend.schedule.errors import OrderError, message
from backend.schedule.interop.traces.recording import Event, Recording, rows_of

_FILE = re.compile(r"event_times_PP(\d+)_VPP(\d+)_TPxCPxDP_rank_(\d+)_pp_rank_(\d+)_")
_NAME = re.compile(r"(forward|backward)-(?:(\d+)-)?(\d+)-(start|end)")


def is_dump(name: str) -> bool:
    """Return whether a file is named as such a dump."""
    return _FILE.search(name) is not None


def recording(files: Sequence[tuple[str, str]]) -> Recording:
    """Return the ops of files, each with its name and its text; a replica is a rank of TP x CP x DP. Raises OrderError
    for a file that is not JSON, or an op without start or end.
    """
    events = []
    for name, text in files:
        found = _FILE.search(name)
        if found is None:
            problem = message(
                "schedule.not_a_megatron_dump",
                "{file} is not named event_times_PP..._pp_rank_..., which says whose times it has",
                file=name,
            )
            raise OrderError(problem)
        p, _, replica, rank = map(int, found.groups())
        try:
            times = json.loads(text)
        except ValueError as error:
            problem = message("schedule.file_not_json", "{file} is not JSON: {problem}", file=name,
                              problem=str(error)[:80])  # fmt: skip
            raise OrderError(problem) from None
        for key, start in times.items() if isinstance(times, dict) else ():
            match = _NAME.fullmatch(key)
            if match is None or match[4] != "start":
                continue
            end = times.get(key[: -len("start")] + "end")
            if not isinstance(start, int | float) or not isinstance(end, int | float):
                problem = message("schedule.dump_without_end", "{file}: {op} has no end", file=name, op=key)
                raise OrderError(problem, rank=rank)
            kind, chunk = "F" if match[1] == "forward" else "B", int(match[2] or 0)
            events.append(Event(0, replica, rank, kind, chunk * p + rank, int(match[3]), float(start), float(end)))
    source = message("schedule.trace_of_megatron", "Megatron-LM's timers")
    return Recording(source, rows_of(events), waits_inside=False)
