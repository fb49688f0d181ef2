"""Compiles a checked order to one program per rank.

Every message is matched with its receive before anything runs, and, where the vocabulary is spread over the ranks,
every rank contributes to collectives in the same order. Knows orders and placements, and no schedule by name. Does not
know how a message travels or what an op computes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from backend.errors import Message, RequestError, message
from backend.schedule.order.copy_lanes import LETTERS
from backend.schedule.order.ops import Op, Pair, halves
from backend.schedule.order.order import Order
from runner.program.instructions import (
    EMBEDDED,
    EMBEDDING,
    GRADIENT,
    HIDDEN,
    STATISTICS,
    CollectiveInput,
    Copy,
    OpTask,
    Output,
    Post,
    RankProgram,
    Step,
    Transfer,
)


class ProgramError(RequestError):
    """An order whose messages or collectives do not match; `rank` and `op` name the first mismatch."""

    def __init__(self, message: Message, *, rank: int, op: str | None = None) -> None:
        super().__init__("order", op, message)
        self.rank, self.op = rank, op

    def as_dict(self) -> dict[str, Any]:
        """Return the error as JSON, with the rank as an extra field."""
        return super().as_dict() | {"rank": self.rank}


@dataclass(frozen=True, slots=True)
class Program:
    """The programs of all ranks; `replicas` lists, for each stage held more than once, its (rank, chunk) places."""

    stages: int
    micros: int
    ranks: tuple[RankProgram, ...]
    replicas: tuple[tuple[tuple[int, int], ...], ...]

    @property
    def pairs(self) -> bool:
        """Return whether any op is an overlapped pair."""
        return any(len(step.tasks) > 1 for rank in self.ranks for step in rank.steps)

    @property
    def ops(self) -> int:
        """Return the number of ops over all ranks."""
        return sum(len(rank.steps) for rank in self.ranks)


def build(
    order: Order,
    nominal: Sequence[float],
    copying: Sequence[float] = (),
    leading: Sequence[tuple[float, tuple[int, int] | None]] = (),
) -> Program:
    """Compile an order. `nominal` (ops,) are the durations of ops, rank after rank, `copying` (copies,) those of
    copies, `leading` (ops,) the part of ops that runs before their gradient is there, all in time units, with the chunk
    and the micro-batch of what runs again. Raises ProgramError."""
    placement = order.placement
    ranks: list[RankProgram] = []
    durations, copy_durations = iter(nominal), iter(copying)
    leads = iter(leading or [(0.0, None)] * len(order))
    for rank in range(order.p):
        steps = tuple(
            Step(index, entry.text(), _tasks(order, rank, entry), float(next(durations)), *next(leads))
            for index, entry in enumerate(order.row(rank))
        )
        stages = tuple(placement.stages_of(rank))
        copies = _copy_row(order, rank, copy_durations)
        posts = _posts(order, rank, steps)
        ranks.append(RankProgram(rank, stages, steps, copies, _output(order), posts))
    replicas = () if order.forward_only else _replicas(ranks)  # without gradients there is nothing to sum
    program = Program(placement.stages, order.m, tuple(ranks), replicas)
    check_messages(program.ranks)
    if order.barriers:
        for program_of_rank in program.ranks:
            check_collective_turns(program_of_rank, order.m)
    return program


def check_collective_turns(program: RankProgram, micros: int) -> None:
    """Check that a rank contributes to each chain of collectives, and reads embedded tokens, in the order of
    micro-batches, which is the order on all ranks. Raises ProgramError naming the first op out of turn."""
    following: dict[tuple[str, int], int] = defaultdict(int)
    for step in program.steps:
        for task in step.tasks:
            turns = [("gives", task.collective_output)] if task.collective_output is not None else []
            if task.collective_input is not None and task.collective_input.what == EMBEDDED:
                turns.append(("reads", EMBEDDED))
            for turn in turns:
                if task.micro != following[turn]:
                    reason = message(
                        "runner.collective_out_of_turn",
                        "micro-batch {micro} comes first: collectives take them in their order",
                        micro=following[turn],
                    )
                    raise ProgramError(reason, rank=program.rank, op=step.text)
                following[turn] += 1
    short = [turn for turn, count in following.items() if count != micros]
    if short:
        reason = message(
            "runner.collective_incomplete",
            "a collective of {micros} micro-batches has {given}",
            micros=micros,
            given=following[short[0]],
        )
        raise ProgramError(reason, rank=program.rank)


def _copy_row(order: Order, rank: int, durations: Iterator[float]) -> tuple[Copy, ...]:
    if order.copies is None:
        return ()
    row, place = order.copies.row(rank, order.chunks), order.placement
    return tuple(
        Copy(LETTERS[kind], chunk, k + order.n * place.stream(rank, chunk), issued, float(next(durations)))
        for kind, chunk, k, issued in row
    )


def _posts(order: Order, rank: int, steps: Sequence[Step]) -> tuple[Post, ...]:
    """Return the sends and receives of a rank in the order of its program, where they share streams."""
    found, place = order.messages, order.placement
    if found is None:
        return ()
    tasks = [task for step in steps for task in step.tasks]
    ends = {(False, task.output_transfer.tag): task.output_transfer for task in tasks if task.output_transfer}
    ends |= {(True, task.input_transfer.tag): task.input_transfer for task in tasks if task.input_transfer}
    posts = []
    for job in range(int(found.offsets[rank]), int(found.offsets[rank + 1])):
        slot, gradient = divmod(int(found.row[job]), 2)
        source, chunk = divmod(slot, order.chunks)
        into = place.stage(source, chunk) + (-1 if gradient else 1)
        micro = int(found.micro[job]) + order.n * place.stream(source, chunk)
        receive = bool(found.receive[job])
        transfer = ends[receive, _tag(order, into, micro, gradient > 0)]
        posts.append(Post(transfer, receive, int(found.stream[job]), int(found.issued[job])))
    return tuple(posts)


def check_messages(ranks: Sequence[RankProgram]) -> None:
    """Check that every send has exactly one receive and the reverse. Raises ProgramError naming the first mismatch."""
    senders: dict[int, list[tuple[int, Step, Transfer]]] = defaultdict(list)
    receivers: dict[int, list[tuple[int, Step, Transfer]]] = defaultdict(list)
    for program in ranks:
        for step in program.steps:
            for task in step.tasks:
                if task.output_transfer is not None:
                    senders[task.output_transfer.tag].append((program.rank, step, task.output_transfer))
                if task.input_transfer is not None:
                    receivers[task.input_transfer.tag].append((program.rank, step, task.input_transfer))
    for tag, ends in senders.items():
        rank, step, transfer = ends[0]
        if len(ends) > 1:
            reason = message(
                "runner.sent_repeatedly", "the {link} is sent {times} times", link=transfer.text(), times=len(ends)
            )
            raise ProgramError(reason, rank=ends[1][0], op=ends[1][1].text)
        if tag not in receivers:
            reason = message("runner.never_received", "the {link} is sent but never received", link=transfer.text())
            raise ProgramError(reason, rank=rank, op=step.text)
    for tag, ends in receivers.items():
        rank, step, transfer = ends[0]
        if len(ends) > 1:
            reason = message(
                "runner.received_repeatedly",
                "the {link} is received {times} times",
                link=transfer.text(),
                times=len(ends),
            )
            raise ProgramError(reason, rank=ends[1][0], op=ends[1][1].text)
        if tag not in senders:
            reason = message("runner.never_sent", "the {link} is awaited but never sent", link=transfer.text())
            raise ProgramError(reason, rank=rank, op=step.text)
        _match_ends(senders[tag][0], ends[0])


def _match_ends(sender: tuple[int, Step, Transfer], receiver: tuple[int, Step, Transfer]) -> None:
    """Check that both ends of a transfer name the same ranks, and that a local value is made before it is taken."""
    rank, step, transfer = receiver
    if (transfer.source, transfer.target) != (sender[0], rank) or sender[2] != transfer:
        reason = message(
            "runner.sent_as_other",
            "the {link} is sent by rank {rank} as {other}",
            link=transfer.text(),
            rank=sender[0],
            other=sender[2].text(),
        )
        raise ProgramError(reason, rank=rank, op=step.text)
    if transfer.local and sender[1].index >= step.index:
        reason = message("runner.taken_before_made", "the {link} is taken before it is made", link=transfer.text())
        raise ProgramError(reason, rank=rank, op=step.text)


def _tasks(order: Order, rank: int, entry: Op | Pair) -> tuple[OpTask, ...]:
    return tuple(_task(order, rank, op) for op in halves(entry))


def _task(order: Order, rank: int, op: Op) -> OpTask:
    """Return the task of an op: F takes the previous stage's output and feeds the next one, gradients go the other way,
    W has no messages."""
    if op.kind in "ST":
        return _shard_task(order, rank, op)
    output_transfer = None
    before = order.placement.prev(rank, op.chunk)
    after = order.placement.next(rank, op.chunk)
    if op.kind == "W":
        return OpTask(op.kind, op.stage, op.micro, op.chunk, None, None)
    if op.kind == "F":
        input_transfer = before and _transfer(order, "activation", op, op.stage, before[0], rank)
        output_transfer = after and _transfer(order, "activation", op, op.stage + 1, rank, after[0])
    else:
        input_transfer = after and _transfer(order, "gradient", op, op.stage, after[0], rank)
        if op.stage - 1 not in order.untrained:
            output_transfer = before and _transfer(order, "gradient", op, op.stage - 1, rank, before[0])
    collective_input, collective_output = None, None
    if order.barriers:
        if op.kind == "F":
            collective_input = CollectiveInput(EMBEDDED, op.micro, False) if before is None else None
            collective_output = HIDDEN if after is None else None
        else:
            collective_input = CollectiveInput(GRADIENT, op.micro, order.p > 1) if after is None else None
            collective_output = EMBEDDING if before is None else None
    return OpTask(
        op.kind, op.stage, op.micro, op.chunk, input_transfer, output_transfer, collective_input, collective_output
    )


def _shard_task(order: Order, rank: int, op: Op) -> OpTask:
    """Return the task of S, from the last stage's output to this rank's part of the statistics, or of T, from these to
    its part of the gradient."""
    output = _output(order)
    assert output is not None, "S and T come with barriers"
    if op.kind == "S":
        collective_input, collective_output = CollectiveInput(HIDDEN, op.micro, rank != output.root), STATISTICS
    else:
        collective_input, collective_output = CollectiveInput(STATISTICS, op.micro, order.p > 1), GRADIENT
    return OpTask(
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
    return Output(order.barriers, last, first, 0 not in order.untrained)


def _transfer(order: Order, what: str, op: Op, into: int, source: int, target: int) -> Transfer:
    """Return the transfer into stage `into`. Stage and micro-batch imply the stream, so its tag is unique."""
    return Transfer(_tag(order, into, op.micro, what == "gradient"), what, into, op.micro, source, target)


def _tag(order: Order, into: int, micro: int, gradient: bool) -> int:
    return (into * order.m + micro) * 2 + gradient


def _replicas(ranks: Sequence[RankProgram]) -> tuple[tuple[tuple[int, int], ...], ...]:
    places: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for program in ranks:
        for chunk, stage in enumerate(program.stages):
            places[stage].append((program.rank, chunk))
    return tuple(tuple(found) for found in places.values() if len(found) > 1)
