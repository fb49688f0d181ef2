"""Lower an order to sends and receives as torch.distributed.pipelining does (2.14.1).

``_add_send_recv`` posts a receive where its sender's op is lowered, rank by rank in turns, whether the receiver needs
it soon or not; ``_defer_recv_ops`` holds receives back until the op that needs them, or until a send to the same rank
where that has a higher number. A test calls both live.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from backend.schedule.order.dependencies import rules
from backend.schedule.order.messages import Messages, of_jobs
from backend.schedule.order.ops import PAIR
from backend.schedule.order.order import Order, code_table, micro_numbers

Ints = npt.NDArray[np.int64]
Job = tuple[int, int, bool, int, int]  # row, micro, receive, peer, issued, as in Messages


def takers(order: Order) -> Ints:
    """Return (rows,) the rank to which each result of a slot is sent, -1 where none is: a stage before the first
    trained one needs no gradient.
    """
    placement, untrained = order.placement, order.forward_slots.ravel()
    out = np.full(2 * placement.p * placement.chunks, -1)
    for result, receiver in enumerate((placement.after, np.where(untrained[placement.before], -1, placement.before))):
        home = np.arange(len(receiver)) // placement.chunks
        out[result::2] = np.where((receiver >= 0) & (receiver // placement.chunks != home),
                                  receiver // placement.chunks, -1)  # fmt: skip
    return out


def lowered(order: Order, streams: str) -> Messages:
    """Return the messages of a legal order as torch's ``_add_send_recv`` places them.

    Rank by rank in turns, each does its next op if the inputs of that have been made; its results are sent at once, and
    their receives are appended to the programs of the ranks that need them.
    """
    rule, to = _Inputs(order), takers(order)
    jobs: list[list[Job]] = [[] for _ in range(order.p)]
    made: set[tuple[int, int]] = set()
    at, length = [0] * order.p, np.diff(order.offsets).tolist()
    moved = True
    while moved:
        moved = False
        for rank in range(order.p):
            if at[rank] == length[rank] or not made.issuperset(rule.inputs[rank][at[rank]]):
                continue
            for row, micro in rule.results[rank][at[rank]]:
                made.add((row, micro))
                if to[row] >= 0:
                    jobs[rank].append((row, micro, False, int(to[row]), at[rank] + 1))
                    jobs[to[row]].append((row, micro, True, rank, at[to[row]]))
            at[rank] += 1
            moved = True
    return of_jobs([_columns(each) for each in jobs], streams)


class _Inputs:
    """(row, micro-batch) of what each op of each rank needs, and of what it makes, without S and T."""

    def __init__(self, order: Order) -> None:
        rule = rules(order.placement)
        self.inputs: list[list[list[tuple[int, int]]]] = []
        self.results: list[list[list[tuple[int, int]]]] = []
        for rank in range(order.p):
            codes = order.codes[order.offsets[rank] : order.offsets[rank + 1]]
            numbers = np.stack(micro_numbers(order, rank), 1)
            numbers[:, 1] = np.where(code_table(order.chunks)[codes, 0] == PAIR, numbers[:, 1], numbers[:, 0])
            self.inputs.append(_listed(rule.need[rank, codes], numbers))
            self.results.append(_listed(rule.give[rank, codes], numbers))


def _listed(rows: npt.NDArray[np.int32], numbers: npt.NDArray[np.int32]) -> list[list[tuple[int, int]]]:
    """Return the (row, micro-batch) of each op's halves, without those that have no row."""
    return [
        [(row, micro) for row, micro in zip(some, each, strict=True) if row >= 0]
        for some, each in zip(rows.tolist(), numbers.tolist(), strict=True)
    ]


def deferred(order: Order, found: Messages) -> Messages:
    """Return the messages with receives held back as torch's ``_defer_recv_ops`` does: until the op that needs them, or
    until a send to the same rank where that has the higher number.
    """
    rule, jobs = _Inputs(order), list[list[Job]]()
    for rank in range(order.p):
        program: list[Job] = []
        held: dict[tuple[int, int], int] = {}  # receives and the ranks that send
        job, last = int(found.offsets[rank]), int(found.offsets[rank + 1])
        for at, inputs in enumerate([*rule.inputs[rank], []]):
            while job < last and found.issued[job] <= at:
                row, micro, peer = int(found.row[job]), int(found.micro[job]), int(found.peer[job])
                if found.receive[job]:
                    held[row, micro] = peer
                else:
                    first = [each for each, sender in held.items() if rank < peer and sender == peer]
                    program += [(*each, True, held.pop(each), at) for each in first]
                    program.append((row, micro, False, peer, at))
                job += 1
            program += [(*each, True, held.pop(each), at) for each in inputs if each in held]
        jobs.append(program)
    return of_jobs([_columns(each) for each in jobs], found.streams)


def _columns(jobs: list[Job]) -> Ints:
    """Return (5, J)."""
    return np.array(jobs, np.int64).reshape(-1, 5).T
