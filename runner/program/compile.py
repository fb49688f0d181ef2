"""Turns a checked order into one program a rank, every message matched before anything runs, and, where ranks make
things together (the vocabulary is spread over them), every rank's parts in the same order.

Knows orders and placements, and no schedule by name: an imported order is treated as any other. Does not know
how a message travels or what an op computes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from backend.schedule.errors import OrderError
from backend.schedule.order.copy_lanes import LETTERS
from backend.schedule.order.ops import Op, Pair
from backend.schedule.order.order import Order
from runner.program.instructions import (
    EMBEDDED,
    EMBEDDING,
    GRADIENT,
    HIDDEN,
    STATISTICS,
    CollectiveInput,
    Copy,
    Link,
    Output,
    RankProgram,
    Step,
    Task,
)


@dataclass(frozen=True, slots=True)
class Program:
    """The programs of all ranks; `replicas` lists, for each stage held more than once, its (rank, chunk) places."""

    stages: int
    micros: int
    ranks: tuple[RankProgram, ...]
    replicas: tuple[tuple[tuple[int, int], ...], ...]

    @property
    def pairs(self) -> bool:
        """Whether any op is an overlapped pair."""
        return any(len(step.tasks) > 1 for rank in self.ranks for step in rank.steps)

    @property
    def ops(self) -> int:
        """Number of ops over all ranks."""
        return sum(len(rank.steps) for rank in self.ranks)


def build(order: Order, nominal: Sequence[float], copying: Sequence[float] = ()) -> Program:
    """The matched program of `order`; `nominal` has one duration an op, rank after rank, `copying` one a copy."""
    placement = order.placement
    ranks: list[RankProgram] = []
    durations, copy_durations = iter(nominal), iter(copying)
    for rank in range(order.p):
        steps = tuple(
            Step(index, entry.text(), _tasks(order, rank, entry), float(next(durations)))
            for index, entry in enumerate(order.row(rank))
        )
        stages = tuple(placement.stage(rank, chunk) for chunk in range(placement.chunks))
        copies = _copy_row(order, rank, copy_durations)
        ranks.append(RankProgram(rank, stages, steps, copies, _output(order)))
    program = Program(placement.stages, order.m, tuple(ranks), _replicas(ranks))
    match(program.ranks)
    if order.barriers:
        for program_of_rank in program.ranks:
            check_collective_turns(program_of_rank, order.m)
    return program


def check_collective_turns(program: RankProgram, micros: int) -> None:
    """Check that a rank gives its parts of each chain, and reads what the embedding's makes, for one micro-batch after
    the other: the chains go that way on all ranks. Raises OrderError naming the first op out of turn."""
    following: dict[tuple[str, int], int] = defaultdict(int)
    for step in program.steps:
        for task in step.tasks:
            turns = [("gives", task.collective_output)] if task.collective_output is not None else []
            if task.collective_input is not None and task.collective_input.what == EMBEDDED:
                turns.append(("reads", EMBEDDED))
            for turn in turns:
                if task.micro != following[turn]:
                    message = f"micro-batch {following[turn]} comes first: collectives take them in their order"
                    raise OrderError(message, rank=program.rank, op=step.text)
                following[turn] += 1
    short = [turn for turn, count in following.items() if count != micros]
    if short:
        raise OrderError(f"a collective of {micros} micro-batches has {following[short[0]]}", rank=program.rank)


def _copy_row(order: Order, rank: int, durations: Iterator[float]) -> tuple[Copy, ...]:
    if order.copies is None:
        return ()
    row, place = order.copies.row(rank, order.chunks), order.placement
    return tuple(
        Copy(LETTERS[kind], chunk, k + order.n * place.stream(rank, chunk), issued, float(next(durations)))
        for kind, chunk, k, issued in row
    )


def match(ranks: Sequence[RankProgram]) -> None:
    """Check that every send has exactly one receive and the reverse; raises OrderError naming the first loose end."""
    senders: dict[int, list[tuple[int, Step, Link]]] = defaultdict(list)
    receivers: dict[int, list[tuple[int, Step, Link]]] = defaultdict(list)
    for program in ranks:
        for step in program.steps:
            for task in step.tasks:
                if task.output_link is not None:
                    senders[task.output_link.tag].append((program.rank, step, task.output_link))
                if task.input_link is not None:
                    receivers[task.input_link.tag].append((program.rank, step, task.input_link))
    for tag, ends in senders.items():
        rank, step, link = ends[0]
        if len(ends) > 1:
            raise OrderError(f"the {link.text()} is sent {len(ends)} times", rank=ends[1][0], op=ends[1][1].text)
        if tag not in receivers:
            raise OrderError(f"the {link.text()} is sent but never received", rank=rank, op=step.text)
    for tag, ends in receivers.items():
        rank, step, link = ends[0]
        if len(ends) > 1:
            raise OrderError(f"the {link.text()} is received {len(ends)} times", rank=ends[1][0], op=ends[1][1].text)
        if tag not in senders:
            raise OrderError(f"the {link.text()} is awaited but never sent", rank=rank, op=step.text)
        _match_ends(senders[tag][0], ends[0])


def _match_ends(sender: tuple[int, Step, Link], receiver: tuple[int, Step, Link]) -> None:
    """Both ends of a link must mean the same ranks; a local one must be given before it is taken."""
    rank, step, link = receiver
    if (link.source, link.target) != (sender[0], rank) or sender[2] != link:
        raise OrderError(
            f"the {link.text()} is sent by rank {sender[0]} as {sender[2].text()}", rank=rank, op=step.text
        )
    if link.local and sender[1].index >= step.index:
        raise OrderError(f"the {link.text()} is taken before it is made", rank=rank, op=step.text)


def _tasks(order: Order, rank: int, entry: Op | Pair) -> tuple[Task, ...]:
    halves = (entry.forward, entry.backward) if isinstance(entry, Pair) else (entry,)
    return tuple(_task(order, rank, op) for op in halves)


def _task(order: Order, rank: int, op: Op) -> Task:
    """A forward takes the previous stage's output and feeds the next; a gradient goes the other way; W stays."""
    if op.kind in "ST":
        return _shard_task(order, rank, op)
    before = order.placement.prev(rank, op.chunk)
    after = order.placement.next(rank, op.chunk)
    if op.kind == "W":
        return Task(op.kind, op.stage, op.micro, op.chunk, None, None)
    if op.kind == "F":
        input_link = before and _link(order, "activation", op, op.stage, before[0], rank)
        output_link = after and _link(order, "activation", op, op.stage + 1, rank, after[0])
    else:
        input_link = after and _link(order, "gradient", op, op.stage, after[0], rank)
        output_link = before and _link(order, "gradient", op, op.stage - 1, rank, before[0])
    collective_input, collective_output = None, None
    if order.barriers:
        if op.kind == "F":
            collective_input = CollectiveInput(EMBEDDED, op.micro, False) if before is None else None
            collective_output = HIDDEN if after is None else None
        else:
            collective_input = CollectiveInput(GRADIENT, op.micro, order.p > 1) if after is None else None
            collective_output = EMBEDDING if before is None else None
    return Task(op.kind, op.stage, op.micro, op.chunk, input_link, output_link, collective_input, collective_output)


def _shard_task(order: Order, rank: int, op: Op) -> Task:
    """S makes of the last stage's output this rank's part of the statistics, T of these its part of the gradient."""
    output = _output(order)
    assert output is not None, "S and T come with barriers"
    if op.kind == "S":
        collective_input, collective_output = CollectiveInput(HIDDEN, op.micro, rank != output.root), STATISTICS
    else:
        collective_input, collective_output = CollectiveInput(STATISTICS, op.micro, order.p > 1), GRADIENT
    return Task(
        op.kind,
        op.stage,
        op.micro,
        op.chunk,
        None,
        None,
        collective_input,
        collective_output if collective_output in output.chains else None,
    )


def _output(order: Order) -> Output | None:
    if not order.barriers:
        return None
    first, last = (int(order.placement.slot_at[0, end]) // order.chunks for end in (0, -1))
    return Output(order.barriers, last, first)


def _link(order: Order, what: str, op: Op, into: int, source: int, target: int) -> Link:
    """The link into stage `into`. Stage and micro-batch name its stream too, so two numbers make a unique tag."""
    tag = (into * order.m + op.micro) * 2 + (what == "gradient")
    return Link(tag, what, into, op.micro, source, target)


def _replicas(ranks: Sequence[RankProgram]) -> tuple[tuple[tuple[int, int], ...], ...]:
    places: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for program in ranks:
        for chunk, stage in enumerate(program.stages):
            places[stage].append((program.rank, chunk))
    return tuple(tuple(found) for found in places.values() if len(found) > 1)
