"""Write a measured run as a Chrome trace: slices and arrows of its timeline, with other measurements as arguments.

chrome.py reads the slices back, like those of any trace; `details` reads the arguments.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from backend.schedule.interop.traces import chrome_export
from backend.schedule.order.ops import Pair
from backend.schedule.order.order import Order
from backend.schedule.simulation.message_flow import producers
from backend.schedule.simulation.simulate import Timeline

Rows = Sequence[list[int]]
Facts = Sequence[Mapping[str, Any]]
BYTE_KEYS = ("received", "sent", "live")  # of an op: bytes of its messages, and of the activations alive after it
TIMES = ("posted", "asked", "taken")  # of a message
WHAT = ("activation", "gradient")


def timeline_of(order: Order, ops: Rows, copies: Rows = ()) -> Timeline:
    """Build the timeline of a run, in ns, from its rows in any order: one per op ([rank, index, ready, start, end,
    ...]) and one per copy.
    """
    found = [np.array([(row[3], row[4]) for row in sorted(rows)], np.float64).reshape(-1, 2) for rows in (ops, copies)]
    return Timeline(order, found[0][:, 0], found[0][:, 1], found[1][:, 0], found[1][:, 1])


def trace(
    timeline: Timeline, title: str, device: str, facts: Facts, messages: Rows, copies: Facts = ()
) -> dict[str, Any]:
    """Return the trace of a timeline in ns as a JSON object.

    ``facts`` has one mapping per op, rank after rank, ``copies`` one per copy; ``messages`` are rows [source, target,
    0 activation or 1 gradient, stage, micro-batch, posted, asked, taken, bytes], times in ns.
    """
    order = timeline.order
    shown = chrome_export.trace(timeline, title, 0.001)
    shown["otherData"]["device"] = device
    slices = [event for event in shown["traceEvents"] if event["ph"] == "X"]
    for event, more in zip(slices, [*facts, *(copies or [{}] * len(timeline.copy_start))], strict=True):
        event["args"] |= more
    known = {tuple(row[2:5]): row for row in messages}
    links = _links(order)
    for event in shown["traceEvents"]:
        row = known.get(links[event["id"]]) if event["ph"] in "sf" else None
        if row is not None:  # collectives are drawn and have no row
            times = {f"{name}_us": time / 1e3 for name, time in zip(TIMES, row[5:8], strict=True)}
            event["args"] = {"source": row[0], "target": row[1], "stage": row[3], "micro": row[4]} | times
            event["args"]["bytes"] = row[8]
    return shown


def details(document: Mapping[str, Any], order: Order) -> dict[str, list[list[int]]]:
    """Read back the arguments that `trace` wrote, as rows in ns from the first op on. Skips other programs'
    arguments.
    """
    events = document["traceEvents"]
    known = [event for event in events if isinstance(event.get("args"), dict)]
    sized = [event for event in known if all(_is_size(event["args"].get(key)) for key in BYTE_KEYS)]
    if not sized:
        return {}
    index = {op.text(): (rank, k) for rank in range(order.p) for k, op in enumerate(order.row(rank))}
    zero = min((event["ts"] for event in events if event["ph"] == "X" and str(event.get("name")) in index), default=0)
    sizes = [[*index[str(event["name"])], *(event["args"][key] for key in BYTE_KEYS)]
             for event in sized if str(event.get("name")) in index]  # fmt: skip
    messages = [_message(event, zero) for event in known if event["ph"] == "s"]
    return {"bytes": sizes, "messages": [row for row in messages if row is not None]}


def _message(event: Mapping[str, Any], zero: float) -> list[int] | None:
    """Return the row of an arrow; None if its arguments were not written by `trace`."""
    args, what = event["args"], event.get("name")
    places = [args.get(key) for key in ("source", "target", "stage", "micro", "bytes")]
    times = [args.get(f"{name}_us") for name in TIMES]
    if what not in WHAT or not all(map(_is_size, places)) or not all(map(_is_time, times)):
        return None
    source, target, stage, micro, size = places
    return [source, target, WHAT.index(what), stage, micro, *(round((time - zero) * 1e3) for time in times), size]


def _is_size(value: Any) -> bool:
    return type(value) is int and 0 <= value < 2**53


def _is_time(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) < 1e15  # in us; excludes NaN


def _links(order: Order) -> list[tuple[int, int, int]]:
    """Return (0 activation or 1 gradient, stage, micro-batch) of each arrow, in drawing order."""
    rows = [op for rank in range(order.p) for op in order.row(rank)]
    _, crosses = producers(order)
    found = []
    for index, half in np.argwhere(crosses).tolist():
        op = rows[index]
        one = (op.backward if half else op.forward) if isinstance(op, Pair) else op
        found.append((int(one.kind != "F"), one.stage, one.micro))
    return found
