"""What a run measured, for other programs: ops by their texts and numbers by their names, and as a Chrome trace.

The one shape of a run's JSON, whether the command line prints it or a page saves it. Knows rows and orders, no runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from backend.schedule.interop import run_trace
from backend.schedule.order.copy_lanes import merged
from backend.schedule.order.order import Order

Rows = Mapping[str, Sequence[list[int]]]  # ops, bytes, copies, messages, as the runner sends them, in any order
OP_KEYS = ("ready", "start", "end", "recv_wait")
COPY_KEYS = ("ready", "start", "end", "bytes")
BYTE_KEYS = run_trace.BYTE_KEYS
MESSAGE_KEYS = ("source", "target", "what", "stage", "micro", "posted", "asked", "taken", "bytes")
WHAT = run_trace.WHAT


def told(order: Order, rows: Rows) -> dict[str, Any]:
    """Every op with its times and bytes; the messages, where there are any; the copies, where the order has some."""
    texts = [[op.text() for op in order.row(rank)] for rank in range(order.p)]
    sizes = {(rank, index): dict(zip(BYTE_KEYS, row, strict=True)) for rank, index, *row in rows["bytes"]}
    ops = [_named(row, texts, OP_KEYS) | sizes.get((row[0], row[1]), {}) for row in sorted(rows["ops"])]
    shape: dict[str, Any] = {"ops": ops}
    if rows["messages"]:
        shape["messages"] = [_message(row) for row in sorted(rows["messages"], key=lambda row: row[5])]
    if order.copies is not None:
        lanes = [merged([], order.copies, order.placement, rank) for rank in range(order.p)]
        shape["copies"] = [_named(row, lanes, COPY_KEYS) for row in sorted(rows["copies"])]
    return shape


def trace(order: Order, rows: Rows, title: str, device: str) -> dict[str, Any]:
    """A whole run as a Chrome trace."""
    timeline = run_trace.timeline_of(order, rows["ops"], rows["copies"])
    sizes = {(rank, index): dict(zip(BYTE_KEYS, row, strict=True)) for rank, index, *row in rows["bytes"]}
    facts = [{"recv_wait": row[5]} | sizes.get((row[0], row[1]), {}) for row in sorted(rows["ops"])]
    moved = [{"bytes": row[5]} for row in sorted(rows["copies"])]
    return run_trace.trace(timeline, title, device, facts, rows["messages"], moved)


def _named(row: list[int], texts: list[list[str]], keys: Sequence[str]) -> dict[str, Any]:
    rank, index, *numbers = row
    return {"rank": rank, "op": texts[rank][index]} | dict(zip(keys, numbers, strict=True))


def _message(row: list[int]) -> dict[str, Any]:
    found: dict[str, Any] = dict(zip(MESSAGE_KEYS, row, strict=True))
    return found | {"what": WHAT[row[2]]}
