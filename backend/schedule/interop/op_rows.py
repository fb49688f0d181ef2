"""Ops as other tools write them, a row for each rank, into an Order: which placement puts every stage where it is.

Other tools' op texts name stages, never chunks or streams; this finds both. Whether the order can run is for
check.check to say.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from backend.schedule.errors import OrderError
from backend.schedule.order.ops import Op, Pair
from backend.schedule.order.order import MAX_PAIR_CHUNKS, Order, from_ops
from backend.schedule.order.placement import KINDS, Kind, Placement, place
from backend.schedule.spec import LIMITS

Rows = Sequence[Sequence[Op | Pair]]


def halves(op: Op | Pair) -> tuple[Op, ...]:
    """The one or two single ops of an op."""
    return (op.forward, op.backward) if isinstance(op, Pair) else (op,)


def assemble(rows: Rows, kinds: Sequence[str] = KINDS[:2]) -> Order:
    """The order of these rows with the first of the placements ``kinds`` that fits them all.

    Raises OrderError for a stage on the wrong rank, or sizes that do not fit together.
    """
    single = [half for row in rows for op in row for half in halves(op)]
    micro_batches, stages = 1 + max(half.micro for half in single), 1 + max(half.stage for half in single)
    if micro_batches > LIMITS["m"] or len(rows) > LIMITS["p"]:
        raise OrderError(
            f"{len(rows)} ranks and {micro_batches} micro-batches; at most {LIMITS['p']} and {LIMITS['m']}"
        )
    first: OrderError | None = None
    for kind in kinds:
        try:
            placement = _placement(rows, cast(Kind, kind), stages)
            return from_ops(placement, micro_batches, _with_chunks(rows, placement, micro_batches))
        except OrderError as error:
            first = first or error
    assert first is not None
    raise first


def _placement(rows: Rows, kind: Kind, stages: int) -> Placement:
    p = len(rows)
    if kind == "bidirectional":
        if stages != p or p % 2:
            raise OrderError(f"{stages} stages on {p} ranks: with two directions both are the same even number")
        return place(kind, p, 2)
    if stages % p or stages // p > LIMITS["v"]:
        raise OrderError(f"{stages} stages do not spread evenly over the file's {p} lines (ranks)")
    chunks = stages // p
    if chunks > MAX_PAIR_CHUNKS and any(isinstance(op, Pair) for row in rows for op in row):
        raise OrderError(f"overlapped pairs with {chunks} chunks per rank; {MAX_PAIR_CHUNKS} is the most")
    return place(kind, p, chunks)


def _with_chunks(rows: Rows, placement: Placement, m: int) -> list[list[Op | Pair]]:
    if m % placement.streams:
        raise OrderError(f"{m} micro-batches cannot be shared by two directions")
    out: list[list[Op | Pair]] = []
    for rank, row in enumerate(rows):
        slots = {
            (placement.stage(rank, chunk), placement.stream(rank, chunk)): chunk for chunk in range(placement.chunks)
        }

        def put(op: Op, rank: int = rank, slots: dict[tuple[int, int], int] = slots) -> Op:
            chunk = slots.get((op.stage, op.micro * placement.streams // m))
            if chunk is None:
                raise _misplaced(op, rank, placement)
            return Op(op.kind, op.stage, op.micro, chunk)

        out.append([Pair(put(op.forward), put(op.backward)) if isinstance(op, Pair) else put(op) for op in row])
    return out


def _misplaced(op: Op, rank: int, placement: Placement) -> OrderError:
    here = sorted(set(placement.stage_of[rank].tolist()))
    message = f"rank {rank} does {op.text()}, but with {placement.kind} placement it holds {here}"
    return OrderError(message, rank=rank, op=op.text())
