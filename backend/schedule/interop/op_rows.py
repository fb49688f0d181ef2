"""Build an Order from another tool's ops, one row per rank: find the rank of every stage.

Other tools' op texts name stages, never chunks or streams; both are derived here. check.check checks whether the
order can run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import cast

from backend.schedule.errors import OrderError, message
from backend.schedule.order.ops import Op, Pair, halves
from backend.schedule.order.order import MAX_PAIR_CHUNKS, Order, from_ops
from backend.schedule.order.placement import Kind, Placement, place, place_on, stages_by_rank
from backend.schedule.spec import LIMITS

Rows = Sequence[Sequence[Op | Pair]]


def assemble(rows: Rows, kinds: Sequence[str] = ("custom",)) -> Order:
    """Build the order of these rows with the first of the placements ``kinds`` that fits them all; custom is any with
    each stage on one rank, and becomes looped or v where it is one of these.

    Raises OrderError for a stage on the wrong rank, or sizes that do not fit together, as seen by the last of them.
    """
    single = [half for row in rows for op in row for half in halves(op)]
    micro_batches, stages = 1 + max(half.micro for half in single), 1 + max(half.stage for half in single)
    if micro_batches > LIMITS["m"] or len(rows) > LIMITS["p"]:
        text = message(
            "schedule.too_many_ranks_or_micro_batches",
            "{ranks} ranks and {micro_batches} micro-batches; at most {most_ranks} and {most_micro_batches}",
            ranks=len(rows),
            micro_batches=micro_batches,
            most_ranks=LIMITS["p"],
            most_micro_batches=LIMITS["m"],
        )
        raise OrderError(text)
    last: OrderError | None = None
    for kind in kinds:
        try:
            placement = _placement(rows, cast(Kind, kind), stages, micro_batches)
            placed = [with_chunks(row, placement, micro_batches, rank) for rank, row in enumerate(rows)]
            return from_ops(placement, micro_batches, placed)
        except OrderError as error:
            last = error
    assert last is not None
    raise last


def _placement(rows: Rows, kind: Kind, stages: int, m: int) -> Placement:
    p = len(rows)
    if kind == "bidirectional":
        if stages != p or p % 2:
            text = message(
                "schedule.stages_of_two_directions",
                "{stages} stages on {p} ranks: with two directions both are the same even number",
                stages=stages,
                p=p,
            )
            raise OrderError(text)
        if m % 2:
            text = message(
                "schedule.odd_micro_batches_of_two_directions",
                "{m} micro-batches cannot be shared by two directions",
                m=m,
            )
            raise OrderError(text)
        return place(kind, p, 2)
    if kind == "custom":
        return _as_found(rows, stages)
    if stages % p or stages // p > LIMITS["v"]:
        text = message(
            "schedule.stages_not_even",
            "{stages} stages do not spread evenly over the file's {p} lines (ranks)",
            stages=stages,
            p=p,
        )
        raise OrderError(text)
    placement = place(kind, p, stages // p)
    _check_pairs(rows, placement.chunks)
    return placement


def _as_found(rows: Rows, stages: int) -> Placement:
    """Return the placement of every stage on the rank that does its ops. Raises OrderError for a stage on several
    ranks or on none, and for more stages on a rank than one may have.
    """
    homes: dict[int, int] = {}
    for rank, row in enumerate(rows):
        held = {half.stage for op in row for half in halves(op)}
        if not homes.keys().isdisjoint(held):
            first = next(half for op in row for half in halves(op) if half.stage in homes)
            text = message(
                "schedule.stage_on_two_ranks",
                "rank {rank} does {op}, but stage {stage} is on rank {home}; a stage has one rank",
                rank=rank,
                op=first.text(),
                stage=first.stage,
                home=homes[first.stage],
            )
            raise OrderError(text, rank=rank, op=first.text())
        homes |= dict.fromkeys(held, rank)
    missing = next((stage for stage in range(stages) if stage not in homes), None)
    if missing is not None:
        text = message(
            "schedule.stage_on_no_rank",
            "no rank has stage {stage}, and there is a stage {last}: a rank or a stage is missing",
            stage=missing,
            last=stages - 1,
        )
        raise OrderError(text)
    idle = next((rank for rank, row in enumerate(rows) if not row), None)
    if idle is not None:
        raise OrderError(message("schedule.rank_has_no_ops", "rank {rank} has no ops", rank=idle), rank=idle)
    ranks = tuple(homes[stage] for stage in range(stages))
    most = max(map(len, stages_by_rank(ranks, len(rows))))
    if most > LIMITS["v"]:
        text = message(
            "schedule.too_many_stages_on_a_rank",
            "a rank has {stages} stages; {most} is the most",
            stages=most,
            most=LIMITS["v"],
        )
        raise OrderError(text)
    _check_pairs(rows, most)
    return place_on(ranks, len(rows))


def _check_pairs(rows: Rows, chunks: int) -> None:
    if chunks > MAX_PAIR_CHUNKS and any(isinstance(op, Pair) for row in rows for op in row):
        text = message(
            "schedule.too_many_chunks_for_pairs",
            "overlapped pairs with {chunks} chunks per rank; {most} is the most",
            chunks=chunks,
            most=MAX_PAIR_CHUNKS,
        )
        raise OrderError(text)


def with_chunk(op: Op, placement: Placement, m: int, rank: int) -> Op:
    """Return the op with the chunk that its rank has of its stage. Raises OrderError where it has none."""
    stream = min(op.micro * placement.streams // m, placement.streams - 1)
    chunk = placement.chunk_of.get((rank, op.stage, stream))
    if chunk is not None:
        return Op(op.kind, op.stage, op.micro, chunk)
    text = message(
        "schedule.stage_on_wrong_rank",
        "rank {rank} does {op}, but with {placement} placement it holds {stages}",
        rank=rank,
        op=op.text(),
        placement=placement.kind,
        stages=sorted(set(placement.stages_of(rank))),
    )
    raise OrderError(text, rank=rank, op=op.text())


def with_chunks(row: Iterable[Op | Pair], placement: Placement, m: int, rank: int) -> list[Op | Pair]:
    """Return the ops of a rank with their chunks. Raises OrderError as ``with_chunk`` does."""
    found = ([with_chunk(half, placement, m, rank) for half in halves(op)] for op in row)
    return [each[0] if len(each) == 1 else Pair(*each) for each in found]
