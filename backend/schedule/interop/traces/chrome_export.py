"""Write a timeline in Chrome's Trace Event Format, for Perfetto or chrome://tracing.

One thread per rank, one slice per op, one arrow per message between ranks. chrome.py reads such files.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from backend.schedule.order.copy_lanes import LETTERS
from backend.schedule.order.ops import Pair
from backend.schedule.simulation.message_flow import producers
from backend.schedule.simulation.simulate import Timeline


def trace(timeline: Timeline, title: str, unit_us: float = 1000.0) -> dict[str, Any]:
    """Return the trace as a JSON object; ``unit_us`` is the microseconds of one unit of time (default: one unit is 1
    ms).
    """
    order = timeline.order
    events: list[dict[str, Any]] = [{"ph": "M", "pid": 0, "tid": 0, "name": "process_name", "args": {"name": title}}]
    for rank in range(order.p):
        events.append({"ph": "M", "pid": 0, "tid": rank, "name": "thread_name", "args": {"name": f"rank {rank}"}})
        events.append({"ph": "M", "pid": 0, "tid": rank, "name": "thread_sort_index", "args": {"sort_index": rank}})
        start, end = timeline.rank(rank)
        for op, begin, finish in zip(order.row(rank), start.tolist(), end.tolist(), strict=True):
            args: dict[str, Any]
            if isinstance(op, Pair):
                category, args = "FB", {"forward": op.forward.text(), "backward": op.backward.text()}
            else:
                category, args = op.kind, {"stage": op.stage, "micro": op.micro, "chunk": op.chunk}
            events.append(_slice(rank, op.text(), category, begin * unit_us, finish * unit_us, args))
    copies = _copies(timeline, unit_us) if order.copies is not None else ()
    shown = [*events, *copies, *_arrows(timeline, unit_us)]
    passes = {"forward_only": True} if order.forward_only else {}  # which a profile that lost its backwards has not
    return {"traceEvents": shown, "displayTimeUnit": "ms", "otherData": {"device": "simulated"} | passes}


def _slice(tid: int, name: str, category: str, start: float, end: float, args: dict[str, Any]) -> dict[str, Any]:
    times = {"ts": _us(start), "dur": _us(_us(end) - _us(start))}
    return {"ph": "X", "pid": 0, "tid": tid, "name": name, "cat": category, **times, "args": args}


def _copies(timeline: Timeline, unit_us: float) -> Iterator[dict[str, Any]]:
    """Yield the copy lanes: a separate thread for each rank, below the ranks."""
    order, copies = timeline.order, timeline.order.copies
    assert copies is not None
    for rank in range(order.p):
        tid = order.p + rank
        yield {"ph": "M", "pid": 0, "tid": tid, "name": "thread_name", "args": {"name": f"rank {rank} copies"}}
        yield {"ph": "M", "pid": 0, "tid": tid, "name": "thread_sort_index", "args": {"sort_index": tid}}
        first = int(copies.offsets[rank])
        for at, (kind, chunk, micro, _) in enumerate(copies.row(rank, order.chunks), first):
            stage, letter = order.placement.stage(rank, chunk), LETTERS[kind]
            start, end = float(timeline.copy_start[at]) * unit_us, float(timeline.copy_end[at]) * unit_us
            args = {"stage": stage, "micro": micro, "chunk": chunk}
            yield _slice(tid, f"{stage}{letter}{micro}", letter, start, end, args)


def _us(time: float) -> float:
    """Round a time in microseconds to whole nanoseconds, so that truncation gives the same value.

    Perfetto counts in ns and truncates; a slice that then ended 1 ns after the start of the next would be taken for
    its parent.
    """
    ns = round(time * 1000)
    shown = ns / 1000
    return shown if int(shown * 1000) == ns else math.nextafter(shown, math.inf)


def _arrows(timeline: Timeline, unit_us: float) -> Iterator[dict[str, Any]]:
    """Yield both ends of a flow for every value that crosses ranks. Each end is in the middle of its slice: at an
    edge, where two slices may touch, Perfetto could bind it to the wrong one.
    """
    order = timeline.order
    rank = np.repeat(np.arange(order.p), np.diff(order.offsets)).tolist()
    middle = ((timeline.start + timeline.end) / 2 * unit_us).tolist()
    made_by, crosses = producers(order)
    for number, (index, half) in enumerate(np.argwhere(crosses).tolist()):
        maker = int(made_by[index, half])
        plain = {"cat": "message", "name": "gradient" if _is_gradient(timeline, index, half) else "activation"}
        yield {"ph": "s", "pid": 0, "tid": rank[maker], "id": number, "ts": _us(middle[maker])} | plain
        yield {"ph": "f", "bp": "e", "pid": 0, "tid": rank[index], "id": number, "ts": _us(middle[index])} | plain


def _is_gradient(timeline: Timeline, index: int, half: int) -> bool:
    """Return whether the awaited value is a gradient: only an F, the first half of a pair, awaits an activation from
    another rank.
    """
    order = timeline.order
    code = int(order.codes[index])
    return half == 1 or order.chunks <= code < 4 * order.chunks
