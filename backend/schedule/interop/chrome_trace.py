"""A timeline in Chrome's Trace Event Format, for Perfetto or chrome://tracing: one thread a rank, one slice an op."""

from __future__ import annotations

from typing import Any

from ..ops import Pair
from ..simulate import Timeline


def trace(timeline: Timeline, title: str, unit_us: float = 1000.0) -> dict[str, Any]:
    """The trace as a JSON object; ``unit_us`` microseconds a unit of time (the default shows one unit as 1 ms)."""
    order = timeline.order
    events: list[dict[str, Any]] = [{"ph": "M", "pid": 0, "name": "process_name", "args": {"name": title}}]
    for rank in range(order.p):
        events.append({"ph": "M", "pid": 0, "tid": rank, "name": "thread_name", "args": {"name": f"rank {rank}"}})
        events.append({"ph": "M", "pid": 0, "tid": rank, "name": "thread_sort_index", "args": {"sort_index": rank}})
        start, end = timeline.rank(rank)
        for op, begin, finish in zip(order.row(rank), start.tolist(), end.tolist(), strict=True):
            if isinstance(op, Pair):
                category, args = "FB", {"forward": op.forward.text(), "backward": op.backward.text()}
            else:
                category, args = op.kind, {"stage": op.stage, "micro": op.micro, "chunk": op.chunk}  # type: ignore[dict-item]
            events.append(
                {
                    "ph": "X",
                    "pid": 0,
                    "tid": rank,
                    "name": op.text(),
                    "cat": category,
                    "ts": begin * unit_us,
                    "dur": (finish - begin) * unit_us,
                    "args": args,
                }
            )
    return {"traceEvents": events, "displayTimeUnit": "ms"}
