"""Build an Order from another tool's ops, one row per rank: find the placement that fits every stage.

Other tools' op texts name stages, never chunks or streams; both are derived here. check.check checks whether the
order can run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from backend.schedule.errors import OrderError, message
from backend.schedule.order.ops import Op, Pair
from backend.schedule.order.order import MAX_PAIR_CHUNKS, Order, from_ops
from backend.schedule.order.placement import KINDS, Kind, Placement, place
from backend.schedule.spec import LIMITS

Rows = Sequence[Sequence[Op | Pair]]


def halves(op: Op | Pair) -> tuple[Op, ...]:
    """Return the single ops of an op: one, or a pair's two."""
    return (op.forward, op.backward) if isinstance(op, Pair) else (op,)


def assemble(rows: Rows, kinds: Sequence[str] = KINDS[:2]) -> Order:
    """Build the order of these rows with the first of the placements ``kinds`` that fits them all.

    Raises OrderError for a stage on the wrong rank, or sizes that do not fit together.
    """
    single = [half for row in rows for op in row for half in halves(op)]
    micro_batches, stages = 1 + max(half.micro for half in single), 1 + max(half.stage for half in single)
    if micro_batches > LIMITS["m"] or len(rows) > LIMITS["p"]:
        raise OrderError(
            message(
                "schedule.too_many_ranks_or_micro_batches",
                "{ranks} ranks and {micro_batches} micro-batches; at most {most_ranks} and {most_micro_batches}",
                ranks=len(rows),
                micro_batches=micro_batches,
                most_ranks=LIMITS["p"],
                most_micro_batches=LIMITS["m"],
            )
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
            raise OrderError(
                message(
                    "schedule.stages_of_two_directions",
                    "{stages} stages on {p} ranks: with two directions both are the same even number",
                    stages=stages,
                    p=p,
                )
            )
        return place(kind, p, 2)
    if stages % p or stages // p > LIMITS["v"]:
        raise OrderError(
            message(
                "schedule.stages_not_even",
                "{stages} stages do not spread evenly over the file's {p} lines (ranks)",
                stages=stages,
                p=p,
            )
        )
    chunks = stages // p
    if chunks > MAX_PAIR_CHUNKS and any(isinstance(op, Pair) for row in rows for op in row):
        raise OrderError(
            message(
                "schedule.too_many_chunks_for_pairs",
                "overlapped pairs with {chunks} chunks per rank; {most} is the most",
                chunks=chunks,
                most=MAX_PAIR_CHUNKS,
            )
        )
    return place(kind, p, chunks)


def _with_chunks(rows: Rows, placement: Placement, m: int) -> list[list[Op | Pair]]:
    if m % placement.streams:
        raise OrderError(
            message(
                "schedule.odd_micro_batches_of_two_directions",
                "{m} micro-batches cannot be shared by two directions",
                m=m,
            )
        )
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
    text = message(
        "schedule.stage_on_wrong_rank",
        "rank {rank} does {op}, but with {placement} placement it holds {stages}",
        rank=rank,
        op=op.text(),
        placement=placement.kind,
        stages=here,
    )
    return OrderError(text, rank=rank, op=op.text())
