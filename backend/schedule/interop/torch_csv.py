"""Torch's schedule CSV: one line a rank, one cell an op, as torch.distributed.pipelining reads and writes it.

Torch's own reader accepts garbage and drops the halves of pairs silently; this one refuses what it does not
understand, and names line and cell. Torch has no text for a stage that lives on two ranks, so a DualPipe order cannot
be written.
"""

from __future__ import annotations

import csv
import io

from ..errors import OrderError, SpecError
from ..ops import Op, Pair, parse
from ..order import MAX_PAIR_CHUNKS, Order, from_ops
from ..placement import KINDS, Placement, place
from ..spec import LIMITS

MAX_BYTES = 64 * 2**20


def dump(order: Order) -> str:
    """The order as CSV text. Raises SpecError for an order with two replicas."""
    if order.placement.streams > 1:
        raise SpecError(
            "format",
            "torch-csv",
            "torch's CSV gives each stage one rank; DualPipe holds every stage on two, so it cannot be written there "
            "(DualPipeV can)",
            nearest="json",
        )
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([op.text() for op in order.row(rank)] for rank in range(order.p))
    return out.getvalue()


def load(text: str, kind: str | None = None) -> Order:
    """Read CSV text; empty cells are idle slots. ``kind`` is the placement, found from the stages if None.

    Raises OrderError for anything that is not an op, a stage on the wrong rank, or sizes that do not fit together;
    whether the order can run is for check.check to say.
    """
    if len(text) > MAX_BYTES:
        raise OrderError(f"the file has {len(text):,} bytes; {MAX_BYTES:,} is the most")
    rows = [
        _parse_line(number, cells) for number, cells in enumerate(csv.reader(io.StringIO(text, newline="")), 1) if cells
    ]
    if not rows or not any(rows):
        raise OrderError("the file holds no ops: expected one line a rank, such as 0F0,0F1,0B0,0B1")
    halves = [half for row in rows for op in row for half in _halves(op)]
    micro_batches = 1 + max(half.micro for half in halves)
    stages = 1 + max(half.stage for half in halves)
    if micro_batches > LIMITS["m"] or len(rows) > LIMITS["p"]:
        raise OrderError(
            f"{len(rows)} ranks and {micro_batches} micro-batches; at most {LIMITS['p']} and {LIMITS['m']}"
        )
    placement = _placement(rows, stages, kind)
    slot_of = {(r, int(s)): c for r in range(placement.p) for c, s in enumerate(placement.stage_of[r])}
    return from_ops(
        placement, micro_batches, [[_with_chunk(op, r, slot_of) for op in row] for r, row in enumerate(rows)]
    )


def _parse_line(number: int, cells: list[str]) -> list[Op | Pair]:
    ops = []
    for column, cell in enumerate(cells, 1):
        if cell.strip():
            try:
                ops.append(parse(cell.strip()))
            except ValueError as error:
                raise OrderError(f"line {number}, cell {column}: {error}", rank=number - 1, op=cell[:60]) from None
    return ops


def _halves(op: Op | Pair) -> tuple[Op, ...]:
    return (op.forward, op.backward) if isinstance(op, Pair) else (op,)


def _placement(rows: list[list[Op | Pair]], stages: int, kind: str | None) -> Placement:
    """The placement that puts every stage on the rank where the file has it."""
    p = len(rows)
    if stages % p or stages // p > LIMITS["v"]:
        raise OrderError(f"{stages} stages do not spread evenly over the file's {p} lines (ranks)")
    chunks = stages // p
    if chunks > MAX_PAIR_CHUNKS and any(isinstance(op, Pair) for row in rows for op in row):
        raise OrderError(f"overlapped pairs with {chunks} chunks per rank; {MAX_PAIR_CHUNKS} is the most")
    if kind is not None and kind not in KINDS[:2]:
        raise OrderError(f"placement {kind!r} cannot be read from a CSV; it is looped or v")
    first: OrderError | None = None
    for name in KINDS[:2] if kind is None else (kind,):
        placement = place("v" if name == "v" else "looped", p, chunks)
        wrong = _misplaced(rows, placement)
        if wrong is None:
            return placement
        first = first or wrong
    assert first is not None
    raise first


def _misplaced(rows: list[list[Op | Pair]], placement: Placement) -> OrderError | None:
    for rank, row in enumerate(rows):
        here = set(placement.stage_of[rank].tolist())
        for op in row:
            for half in _halves(op):
                if half.stage not in here:
                    message = (
                        f"rank {rank} does {half.text()}, but with {placement.kind} placement it holds {sorted(here)}"
                    )
                    return OrderError(message, rank=rank, op=half.text())
    return None


def _with_chunk(op: Op | Pair, rank: int, slot_of: dict[tuple[int, int], int]) -> Op | Pair:
    if isinstance(op, Pair):
        return Pair(_set_chunk(op.forward, rank, slot_of), _set_chunk(op.backward, rank, slot_of))
    return _set_chunk(op, rank, slot_of)


def _set_chunk(op: Op, rank: int, slot_of: dict[tuple[int, int], int]) -> Op:
    return Op(op.kind, op.stage, op.micro, slot_of[rank, op.stage])
