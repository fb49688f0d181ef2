"""Validate an order: completeness, per-rank order, freedom from deadlock.

The same rules apply to orders of families, of searches and of imported files.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from itertools import chain

from backend.schedule.errors import Message, OrderError, message
from backend.schedule.order.copy_lanes import LETTERS as COPIES
from backend.schedule.order.copy_lanes import O
from backend.schedule.order.ops import KIND_NAMES, KINDS, Op, halves
from backend.schedule.order.order import Order
from backend.schedule.order.row_check import first_wrong
from backend.schedule.simulation.deadlock import deadlock, in_words


def check(order: Order) -> None:
    """Check that an order can run to its end. Raises OrderError for the first violation."""
    for rank in range(order.p):
        if order.offsets[rank] == order.offsets[rank + 1]:
            raise OrderError(message("schedule.rank_has_no_ops", "rank {rank} has no ops", rank=rank), rank=rank)
    wrong = first_wrong(order)
    if wrong is not None:
        _check_rank(order, wrong)
        raise AssertionError("a rank that is wrong breaks a rule")
    if order.copies is not None:
        check_copies(order)
    waits = deadlock(order)
    if waits:
        raise OrderError(in_words(waits), rank=waits[0].rank, op=waits[0].op)


def _check_rank(order: Order, rank: int) -> None:
    """Raise OrderError unless each micro-batch of each chunk has F once, then I and W in that order or B once; with
    barriers also S, then T, of each micro-batch. An order in which no rank has a backward is forward-only,
    and its ``untrained`` stages have none.
    """
    seen: set[tuple[str, int, int]] = set()
    for op in _ops(order, rank):
        _check_range(order, rank, op)
        key = (op.kind, op.chunk, op.micro)
        if key in seen:
            twice = message("schedule.op_twice", "rank {rank} does {op} twice", rank=rank, op=op.text())
            raise OrderError(twice, rank=rank, op=op.text())
        wrong = wrong_before(rank, op, seen)
        if wrong is not None:
            raise OrderError(wrong, rank=rank, op=op.text())
        seen.add(key)
    _check_complete(order, rank, seen)


def _ops(order: Order, rank: int) -> Iterator[Op]:
    """Yield the single ops of a rank."""
    return chain.from_iterable(map(halves, order.row(rank)))


def _check_range(order: Order, rank: int, op: Op) -> None:
    if op.kind in "ST" and not order.barriers:
        problem = message(
            "schedule.shard_without_barriers",
            "rank {rank} does {op}, but the order has no barriers, so the vocabulary is not sharded",
            rank=rank,
            op=op.text(),
        )
        raise OrderError(problem, rank=rank, op=op.text())
    wrong = out_of_range(rank, op, order.n * order.placement.stream(rank, op.chunk), order.n)
    if wrong is not None:
        raise OrderError(wrong, rank=rank, op=op.text())


def out_of_range(rank: int, op: Op, low: int, n: int) -> Message | None:
    """Return the reason why an op's micro-batch is none of the ``n`` from ``low`` on, which its stage has there; None
    if it is one of them.
    """
    if low <= op.micro < low + n:
        return None
    return message(
        "schedule.micro_batch_out_of_range",
        "rank {rank} does {op}, but stage {stage} there has micro-batches {first} to {last}",
        rank=rank,
        op=op.text(),
        stage=op.stage,
        first=low,
        last=low + n - 1,
    )


def wrong_before(rank: int, op: Op, seen: Container[tuple[str, int, int]]) -> Message | None:
    """Return the reason why an op cannot follow the earlier ops of its rank; None if it can."""
    if op.kind in "FS":
        return None
    other = {"I": "B", "B": "I"}.get(op.kind)
    if other and (other, op.chunk, op.micro) in seen:
        return message(
            "schedule.gradient_already_taken",
            "rank {rank} does {op} after {other}, which has taken that gradient already",
            rank=rank,
            op=op.text(),
            other=f"{op.stage}{other}{op.micro}",
        )
    needed = {"W": "I", "T": "S"}.get(op.kind, "F")
    if (needed, op.chunk, op.micro) in seen:
        return None
    return message(
        "schedule.op_before_its_input",
        "rank {rank} does {op} before {needed}, which it needs",
        rank=rank,
        op=op.text(),
        needed=f"{op.stage}{needed}{op.micro}",
    )


def _check_complete(order: Order, rank: int, seen: set[tuple[str, int, int]]) -> None:
    for chunk, stage in enumerate(order.placement.stages_of(rank)):
        low = order.n * order.placement.stream(rank, chunk)
        for micro in range(low, low + order.n):
            have = {kind for kind in KINDS if (kind, chunk, micro) in seen}
            if have not in (({"F"},) if order.forward_slots[rank, chunk] else ({"F", "B"}, {"F", "I", "W"})):
                lacking = "F" if "F" not in have else "W" if "I" in have else "I" if "W" in have else "B"
                text, name = f"{stage}{lacking}{micro}", KIND_NAMES[KINDS.index(lacking)]
                problem = message(
                    "schedule.op_missing",
                    "rank {rank} never does {op}, the {kind} of micro-batch {micro} in stage {stage}",
                    rank=rank,
                    op=text,
                    kind=name,
                    micro=micro,
                    stage=stage,
                )
                raise OrderError(problem, rank=rank, op=text)

    for micro in range(order.m if order.barriers else 0):
        for kind in "ST":
            if (kind, 0, micro) not in seen:
                text = f"{order.placement.stage(rank, 0)}{kind}{micro}"
                problem = message(
                    "schedule.shard_missing",
                    "rank {rank} never does {op}, its shard of micro-batch {micro}",
                    rank=rank,
                    op=text,
                    micro=micro,
                )
                raise OrderError(problem, rank=rank, op=text)


def check_copies(order: Order) -> None:
    """Raise OrderError unless every micro-batch of a chunk with copies is offloaded after its F and reloaded before
    its backward.
    """
    assert order.copies is not None
    for rank in range(order.p):
        at = {(op.kind, op.chunk, op.micro): k for k, each in enumerate(order.row(rank)) for op in halves(each)}
        seen: dict[tuple[int, int], set[int]] = {}
        before = 0
        for kind, chunk, micro, issued in order.copies.row(rank, order.chunks):
            made = at.get(("F", chunk, micro), len(at))
            wanted = at.get(("I", chunk, micro), at.get(("B", chunk, micro), -1))
            text, problem = f"{order.placement.stage(rank, chunk)}{COPIES[kind]}{micro}", None
            if not before <= issued <= len(at):
                problem = message(
                    "schedule.copy_out_of_turn", "rank {rank} issues {copy} out of turn", rank=rank, copy=text
                )
            elif kind == O and issued <= made:
                problem = message(
                    "schedule.offload_too_early", "rank {rank} issues {copy} before its forward", rank=rank, copy=text
                )
            elif kind != O and issued > wanted:
                problem = message(
                    "schedule.reload_too_late", "rank {rank} issues {copy} after its backward", rank=rank, copy=text
                )
            elif kind != O and micro not in seen.get((O, chunk), ()):
                problem = message(
                    "schedule.reload_too_early",
                    "rank {rank} issues {copy} before it is offloaded",
                    rank=rank,
                    copy=text,
                )
            if problem is not None:
                raise OrderError(problem, rank=rank, op=text)
            before = issued
            seen.setdefault((kind, chunk), set()).add(micro)
        for (kind, chunk), done in seen.items():
            if len(done) != order.n or len(seen.get((1 - kind, chunk), ())) != order.n:
                problem = message(
                    "schedule.copies_incomplete",
                    "rank {rank}: the copies of chunk {chunk} are not one out and one back for each micro-batch",
                    rank=rank,
                    chunk=chunk,
                )
                raise OrderError(problem, rank=rank)
