"""Export the measured rows of a run: as JSON with named fields and op texts, and as a Chrome trace.

The command line prints the same JSON that the page exports.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from backend.schedule.interop.measured_rows import BytesRow, CopyRow, MessageRow, OpRow
from backend.schedule.interop.traces import run_trace
from backend.schedule.order.copy_lanes import merged
from backend.schedule.order.order import Order

Rows = Mapping[str, Sequence[Any]]  # by kind: OpRow, CopyRow, BytesRow, MessageRow, in any order


def run_details(order: Order, rows: Rows) -> dict[str, Any]:
    """Return `ops` with their times and bytes; `messages`, if there are any; `copies`, if the order has some."""
    texts = [[op.text() for op in order.row(rank)] for rank in range(order.p)]
    sizes = _sizes(rows["bytes"])
    shape: dict[str, Any] = {"ops": [_named(row, texts) | sizes.get(row[:2], {}) for row in sorted(rows["ops"])]}
    if rows["messages"]:
        shape["messages"] = [_message(row) for row in sorted(rows["messages"], key=lambda row: row.posted)]
    if order.copies is not None:
        lanes = [merged([], order.copies, order.placement, rank) for rank in range(order.p)]
        shape["copies"] = [_named(row, lanes) for row in sorted(rows["copies"])]
    return shape


def trace(order: Order, rows: Rows, title: str, device: str) -> dict[str, Any]:
    """Return a whole run as a Chrome trace."""
    timeline = run_trace.timeline_of(order, rows["ops"], rows["copies"])
    sizes = _sizes(rows["bytes"])
    facts = [{"recv_wait": row.recv_wait} | sizes.get(row[:2], {}) for row in sorted(rows["ops"])]
    moved = [{"bytes": row.bytes} for row in sorted(rows["copies"])]
    return run_trace.trace(timeline, title, device, facts, rows["messages"], moved)


def _sizes(rows: Sequence[BytesRow]) -> dict[tuple[int, ...], dict[str, int]]:
    """Return the bytes of each op by (rank, index)."""
    return {(row.rank, row.index): {"received": row.received, "sent": row.sent, "live": row.live} for row in rows}


def _named(row: OpRow | CopyRow, texts: list[list[str]]) -> dict[str, Any]:
    """Return the fields of a row, with the text of its op in place of the index."""
    fields = row._asdict()
    return {"rank": fields.pop("rank"), "op": texts[row.rank][fields.pop("index")]} | fields


def _message(row: MessageRow) -> dict[str, Any]:
    """Return the fields of a message, with `what` in place of `gradient`."""
    return {("what" if key == "gradient" else key): value for key, value in row._asdict().items()} | {
        "what": run_trace.WHAT[row.gradient]
    }
