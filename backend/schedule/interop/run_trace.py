"""A measured run as a Chrome trace: the slices and arrows of any timeline, with what else was measured as their
arguments. measured.py reads it back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..ops import Pair
from ..order import Order
from ..simulate import Timeline
from . import chrome_trace
from .messages import producers

Rows = Sequence[list[int]]


def timeline_of(order: Order, ops: Rows, copies: Rows = ()) -> Timeline:
    """The rows of a run, one an op ([rank, index, ready, start, end, ...]) and one a copy, in any order: in ns."""
    found = [np.array([(row[3], row[4]) for row in sorted(rows)], np.float64).reshape(-1, 2) for rows in (ops, copies)]
    return Timeline(order, found[0][:, 0], found[0][:, 1], found[1][:, 0], found[1][:, 1])


def trace(
    timeline: Timeline, title: str, device: str, facts: Sequence[Mapping[str, Any]], messages: Rows
) -> dict[str, Any]:
    """The trace of a timeline in ns. ``facts`` has one mapping an op, rank after rank; ``messages`` are rows [source,
    target, 0 activation or 1 gradient, stage, micro-batch, posted, asked, taken, bytes]."""
    order = timeline.order
    shown = chrome_trace.trace(timeline, title, 0.001)
    shown["otherData"] = {"device": device}
    slices = [event for event in shown["traceEvents"] if event["ph"] == "X" and event["tid"] < order.p]
    for event, more in zip(slices, facts, strict=True):
        event["args"] |= more
    known = {tuple(row[2:5]): row for row in messages}
    links = _links(order)
    for event in shown["traceEvents"]:
        row = known.get(links[event["id"]]) if event["ph"] in "sf" else None
        if row is not None:  # collectives are drawn and have no row
            posted, asked, taken, size = row[5:9]
            event["args"] = {"posted_us": posted / 1e3, "asked_us": asked / 1e3, "taken_us": taken / 1e3, "bytes": size}
    return shown


def _links(order: Order) -> list[tuple[int, int, int]]:
    """(activation or gradient, stage, micro-batch) of each arrow, in the order in which they are drawn."""
    rows = [op for rank in range(order.p) for op in order.row(rank)]
    _, crosses = producers(order)
    found = []
    for index, half in np.argwhere(crosses).tolist():
        op = rows[index]
        one = (op.backward if half else op.forward) if isinstance(op, Pair) else op
        found.append((int(one.kind != "F"), one.stage, one.micro))
    return found
