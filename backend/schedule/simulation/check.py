"""Is this order a schedule? Completeness, order on each rank, and no deadlock: the first violation, in a sentence.

Knows nothing of where the order came from; families, searches and imported files are judged alike.
"""

from __future__ import annotations

import numpy as np

from backend.schedule.errors import OrderError
from backend.schedule.order.copy_lanes import LETTERS as COPIES
from backend.schedule.order.copy_lanes import NAMES as COPY_NAMES
from backend.schedule.order.copy_lanes import O
from backend.schedule.order.dependencies import FORWARD, rules_of
from backend.schedule.order.ops import KIND_NAMES, KINDS, Op, Pair
from backend.schedule.order.order import Order, micro_numbers
from backend.schedule.order.placement import Placement
from backend.schedule.order.row_check import first_wrong
from backend.schedule.simulation.costs import Costs
from backend.schedule.simulation.simulate import Floats, advance

_UNIT = Costs()


def check(order: Order) -> None:
    """Raise OrderError for the first violation; return quietly for an order that can run to its end."""
    for rank in range(order.p):
        if order.offsets[rank] == order.offsets[rank + 1]:
            raise OrderError(f"rank {rank} has no ops", rank=rank)
    wrong = first_wrong(order)
    if wrong is not None:
        _check_rank(order, wrong)
        raise AssertionError("a rank that is wrong breaks a rule")
    if order.copies is not None:
        check_copies(order)
    _, at, done = advance(order, _UNIT, 1)
    stuck = np.flatnonzero(at < order.offsets[1:])
    if len(stuck):
        raise _deadlock(order, [int(rank) for rank in stuck], at.tolist(), done)


def _check_rank(order: Order, rank: int) -> None:
    """Each micro-batch of each chunk: F once, then I and W in that order or B once. Each micro-batch: S, then T, if
    the order has barriers."""
    seen: set[tuple[str, int, int]] = set()
    for op in _halves(order.row(rank)):
        _check_range(order, rank, op)
        key = (op.kind, op.chunk, op.micro)
        if key in seen:
            raise OrderError(f"rank {rank} does {op.text()} twice", rank=rank, op=op.text())
        wrong = _wrong_before(op, seen)
        if wrong:
            raise OrderError(f"rank {rank} does {op.text()} {wrong}", rank=rank, op=op.text())
        seen.add(key)
    _check_complete(order, rank, seen)


def _halves(row: list[Op | Pair]) -> list[Op]:
    return [half for op in row for half in ((op.forward, op.backward) if isinstance(op, Pair) else (op,))]


def _check_range(order: Order, rank: int, op: Op) -> None:
    if op.kind in "ST" and not order.barriers:
        message = f"rank {rank} does {op.text()}, but the order has no barriers, so the vocabulary is not sharded"
        raise OrderError(message, rank=rank, op=op.text())
    low = order.n * order.placement.stream(rank, op.chunk)
    if not low <= op.micro < low + order.n:
        message = (
            f"rank {rank} does {op.text()}, but stage {op.stage} there has micro-batches {low} to {low + order.n - 1}"
        )
        raise OrderError(message, rank=rank, op=op.text())


def _wrong_before(op: Op, seen: set[tuple[str, int, int]]) -> str:
    """What is wrong with what came before an op on its own rank; empty if nothing."""
    if op.kind in "FS":
        return ""
    other = {"I": "B", "B": "I"}.get(op.kind)
    if other and (other, op.chunk, op.micro) in seen:
        return f"after {op.stage}{other}{op.micro}, which has taken that gradient already"
    needed = {"W": "I", "T": "S"}.get(op.kind, "F")
    return "" if (needed, op.chunk, op.micro) in seen else f"before {op.stage}{needed}{op.micro}, which it needs"


def _check_complete(order: Order, rank: int, seen: set[tuple[str, int, int]]) -> None:
    for chunk in range(order.chunks):
        stage = order.placement.stage(rank, chunk)
        low = order.n * order.placement.stream(rank, chunk)
        for micro in range(low, low + order.n):
            have = {kind for kind in KINDS if (kind, chunk, micro) in seen}
            if have not in ({"F", "B"}, {"F", "I", "W"}):
                lacking = "F" if "F" not in have else "W" if "I" in have else "I" if "W" in have else "B"
                text, name = f"{stage}{lacking}{micro}", KIND_NAMES[KINDS.index(lacking)]
                message = f"rank {rank} never does {text}, the {name} of micro-batch {micro} in stage {stage}"
                raise OrderError(message, rank=rank, op=text)

    for micro in range(order.m if order.barriers else 0):
        for kind in "ST":
            if (kind, 0, micro) not in seen:
                text = f"{order.placement.stage(rank, 0)}{kind}{micro}"
                raise OrderError(f"rank {rank} never does {text}, its shard of micro-batch {micro}", rank=rank, op=text)


def check_copies(order: Order) -> None:
    """Raise OrderError unless every micro-batch of a chunk that has copies goes out after its F and comes back before
    its backward."""
    assert order.copies is not None
    for rank in range(order.p):
        at = {(op.kind, op.chunk, op.micro): k for k, each in enumerate(order.row(rank)) for op in _halves([each])}
        seen: dict[tuple[int, int], set[int]] = {}
        before = 0
        for kind, chunk, micro, issued in order.copies.row(rank, order.chunks):
            text = f"{order.placement.stage(rank, chunk)}{COPIES[kind]}{micro}"
            if not before <= issued <= len(at):
                raise OrderError(f"rank {rank} issues {text} out of turn", rank=rank, op=text)
            before = issued
            made = at.get(("F", chunk, micro), len(at))
            wanted = at.get(("I", chunk, micro), at.get(("B", chunk, micro), -1))
            if kind == O and issued <= made:
                raise OrderError(f"rank {rank} issues {text} before its forward", rank=rank, op=text)
            if kind != O and (issued > wanted or micro not in seen.get((O, chunk), ())):
                why = "after its backward" if issued > wanted else "before it is offloaded"
                raise OrderError(f"rank {rank} issues {text} {why}", rank=rank, op=text)
            seen.setdefault((kind, chunk), set()).add(micro)
        for (kind, chunk), done in seen.items():
            if len(done) != order.n or len(seen.get((1 - kind, chunk), ())) != order.n:
                message = f"rank {rank}: the {COPY_NAMES[kind]}s of chunk {chunk} are not one for each micro-batch"
                raise OrderError(message, rank=rank)


def _deadlock(order: Order, stuck: list[int], at: list[int], done: Floats) -> OrderError:
    """Follow who waits for whom from the first stuck rank until the chain closes, and tell it."""
    waits = {rank: _awaited(order, rank, at[rank], done) for rank in stuck}
    rank, chain = stuck[0], []
    while rank not in chain:
        chain.append(rank)
        rank = waits[rank][2]
    told = [f"rank {r} waits at {waits[r][0]} for {waits[r][1]} on rank {waits[r][2]}" for r in chain]
    first = waits[chain[0]]
    message = f"deadlock: {'; '.join(told[:4])}{'; and others' if len(told) > 4 else ''}; none of them can go on"
    return OrderError(message, rank=chain[0], op=first[0])


def _awaited(order: Order, rank: int, at: int, done: Floats) -> tuple[str, str, int]:
    """(the op a rank is stuck at, the producer it waits for, that producer's rank)."""
    place, rule, code = order.placement, rules_of(order), int(order.codes[at])
    index = at - int(order.offsets[rank])
    numbers = micro_numbers(order, rank)
    for half in (0, 1):
        row, k = int(rule.need[rank, code, half]), max(int(numbers[half][index]), int(numbers[0][index]))
        if row >= rule.joins and done[row, k] < 0:
            late = next(r for r in range(order.p) if done[rule.shards + 2 * r + row - rule.joins, k] < 0)
            text = f"{place.stage(late, 0)}{'ST'[row - rule.joins]}{k}"
            return order.row(rank)[index].text(), text, late
        if row >= 0 and done[row, k] < 0:
            slot, result = divmod(row, 2)
            owner, chunk = divmod(slot, order.chunks)
            letter = "F" if result == FORWARD else _gradient(order, place, owner, chunk, k)
            micro = k + order.n * place.stream(owner, chunk)
            return order.row(rank)[index].text(), f"{place.stage(owner, chunk)}{letter}{micro}", owner
    raise AssertionError("a stuck rank waits for something")


def _gradient(order: Order, place: Placement, rank: int, chunk: int, k: int) -> str:
    """Whether that rank makes this gradient by I or by B."""
    micro = k + order.n * place.stream(rank, chunk)
    split = any(op.kind == "I" and op.chunk == chunk and op.micro == micro for op in _halves(order.row(rank)))
    return "I" if split else "B"
