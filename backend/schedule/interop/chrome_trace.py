"""A timeline in Chrome's Trace Event Format, for Perfetto or chrome://tracing: one thread a rank, one slice an op, one
arrow a message between ranks. measured.py reads such files."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..ops import Pair
from ..simulate import Timeline
from .messages import producers


def trace(timeline: Timeline, title: str, unit_us: float = 1000.0) -> dict[str, Any]:
    """The trace as a JSON object; ``unit_us`` microseconds a unit of time (the default shows one unit as 1 ms)."""
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
            events.append(
                {
                    "ph": "X",
                    "pid": 0,
                    "tid": rank,
                    "name": op.text(),
                    "cat": category,
                    "ts": _us(begin * unit_us),
                    "dur": _us(_us(finish * unit_us) - _us(begin * unit_us)),
                    "args": args,
                }
            )
    return {"traceEvents": [*events, *_arrows(timeline, unit_us)], "displayTimeUnit": "ms"}


def _us(time: float) -> float:
    """Microseconds that are whole nanoseconds by rounding and by cutting off alike. Perfetto counts in ns and cuts
    off; a slice that then ended 1 ns after the next began would be taken for its parent."""
    ns = round(time * 1000)
    shown = ns / 1000
    return shown if int(shown * 1000) == ns else math.nextafter(shown, math.inf)


def _arrows(timeline: Timeline, unit_us: float) -> Iterator[dict[str, Any]]:
    """A flow's two ends for every value that crosses ranks. Each end stands in the middle of its slice: at an edge,
    where two slices may touch, Perfetto could bind it to the wrong one."""
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
    """Only an F awaits an activation from another rank, and it is the first half of a pair."""
    order = timeline.order
    code = int(order.codes[index])
    return half == 1 or order.chunks <= code < 4 * order.chunks
