"""Check the actions beside the ops of a lowered file: sends and receives, FSDP's gathers, gradient reduction.

torch writes these files as format "compute_comms" and executes them as they are. ``2SEND_F0`` sends the output of stage
2 to stage 3, ``3RECV_F0`` receives it there; ``3SEND_B0`` and ``2RECV_B0`` are the gradient's way back. A stage is
gathered by ``UNSHARD``, freed by ``RESHARD``, and ``REDUCE_GRAD`` reduces its gradients.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from backend.schedule.errors import Message, OrderError, message
from backend.schedule.order.messages import Messages, of_jobs
from backend.schedule.order.ops import Op, Pair, halves
from backend.schedule.order.order import Order
from backend.schedule.order.placement import Placement
from backend.schedule.simulation.deadlock import MOST_LISTED, deadlock

_ACTION = re.compile(r"(\d{1,6})(?:(SEND_F|RECV_F|SEND_B|RECV_B)(\d{1,8})|(UNSHARD|RESHARD|REDUCE_GRAD))")
_OTHER_END = {"SEND_F": ("RECV_F", 1), "RECV_F": ("SEND_F", -1), "SEND_B": ("RECV_B", -1), "RECV_B": ("SEND_B", 1)}


@dataclass(frozen=True, slots=True)
class Action:
    """One action: ``kind`` as torch spells it; ``micro`` is -1 where all micro-batches are meant."""

    kind: str
    stage: int
    micro: int

    def text(self) -> str:
        return f"{self.stage}{self.kind}{self.micro if self.micro >= 0 else ''}"

    def other_end(self) -> Action:
        """Return the receive of a send, and the reverse."""
        kind, step = _OTHER_END[self.kind]
        return Action(kind, self.stage + step, self.micro)


Edge = tuple[int, int, str]  # rank, other rank, kind
Cells = Sequence[Op | Pair | Action]  # of a rank, in order
Row = Sequence[Op | Action]  # the same, pairs as their halves


def parse_action(text: str) -> Action | None:
    """Read the text of an action that is no op; None for any other text."""
    found = _ACTION.fullmatch(text)
    if found is None:
        return None
    return Action(found[2] or found[4], int(found[1]), int(found[3]) if found[3] else -1)


def check_actions(rows: Sequence[Row], placement: Placement) -> None:
    """Check that every message has both ends, on the right ranks and on the right side of the op it belongs to, and
    that stages are gathered while they compute. Raises OrderError for the first violation.
    """
    home = [placement.rank_of(stage) for stage in range(placement.stages)]
    gathered = {each.stage for row in rows for each in row if each.kind == "UNSHARD"}
    everywhere = {each for row in rows for each in row if isinstance(each, Action)}
    for rank, row in enumerate(rows):
        seen: set[tuple[str, int, int]] = set()
        whole: dict[int, bool] = {}  # the stages that are gathered, and whether an op has used them since
        for each in row:
            wrong = _wrong(each, rank, seen, home)
            if wrong is None and isinstance(each, Op) and each.stage in gathered - set(whole):
                wrong = message(
                    "schedule.csv_sharded",
                    "rank {rank} does {op} while stage {stage} is sharded: no UNSHARD comes before it",
                    rank=rank,
                    op=each.text(),
                    stage=each.stage,
                )
            if wrong is None and each.kind in _OTHER_END and isinstance(each, Action):
                other = each.other_end()
                if other not in everywhere:
                    wrong = message(
                        "schedule.csv_one_end",
                        "rank {rank} does {op}, and rank {other} never does {needed}",
                        rank=rank,
                        op=each.text(),
                        other=home[other.stage],
                        needed=other.text(),
                    )
            if wrong is None and each.kind in ("UNSHARD", "RESHARD"):
                wrong = _wrongly_gathered(each, rank, whole)
            if wrong is not None:
                raise OrderError(wrong, rank=rank, op=each.text())
            if each.kind == "UNSHARD":
                whole[each.stage] = False
            elif each.kind == "RESHARD":
                del whole[each.stage]
            elif isinstance(each, Op) and each.stage in whole:
                whole[each.stage] = True
            seen.add((each.kind, each.stage, each.micro))


def _wrongly_gathered(each: Op | Action, rank: int, whole: dict[int, bool]) -> Message | None:
    """Return why torch would not gather a stage, or free it, None if it would."""
    stage = each.stage
    if each.kind == "UNSHARD" and stage in whole:
        return message(
            "schedule.csv_gathered_twice",
            "rank {rank} does {op} again without {stage}RESHARD between",
            rank=rank,
            op=each.text(),
            stage=stage,
        )
    if each.kind == "RESHARD" and not whole.get(stage):
        return message(
            "schedule.csv_freed_unused",
            "rank {rank} does {op}, but no op has used stage {stage} since it was gathered",
            rank=rank,
            op=each.text(),
            stage=stage,
        )
    return None


def _wrong(each: Op | Action, rank: int, seen: set[tuple[str, int, int]], home: list[int]) -> Message | None:
    """Return the reason why an action cannot follow those that its rank has done; None if it can."""
    stage, micro, last = each.stage, each.micro, len(home) - 1
    if stage > last or home[stage] != rank:
        return message(
            "schedule.csv_action_of_other_rank",
            "rank {rank} does {op}, but does not have stage {stage}",
            rank=rank,
            op=each.text(),
            stage=stage,
        )
    if each.kind == "REDUCE_GRAD" and (each.kind, stage, micro) in seen:
        return message("schedule.op_twice", "rank {rank} does {op} twice", rank=rank, op=each.text())
    if each.kind in _OTHER_END:
        peer = stage + (1 if each.kind in ("SEND_F", "RECV_B") else -1)
        if not 0 <= peer <= last or home[peer] == rank:
            return message(
                "schedule.csv_message_to_nobody",
                "rank {rank} does {op}, but no other rank has the stage at the other end",
                rank=rank,
                op=each.text(),
            )
        if (each.kind, stage, micro) in seen:
            return message("schedule.op_twice", "rank {rank} does {op} twice", rank=rank, op=each.text())
    needed: tuple[str, ...] = ()
    if each.kind == "F" and stage > 0 and home[stage - 1] != rank:
        needed = ("RECV_F",)
    elif each.kind in ("I", "B") and stage < last and home[stage + 1] != rank:
        needed = ("RECV_B",)
    elif each.kind == "SEND_F":
        needed = ("F",)
    elif each.kind == "SEND_B":
        needed = ("I", "B")
    if needed and not any((kind, stage, micro) in seen for kind in needed):
        return message(
            "schedule.op_before_its_input",
            "rank {rank} does {op} before {needed}, which it needs",
            rank=rank,
            op=each.text(),
            needed=f"{stage}{needed[0]}{micro}",
        )
    if each.kind in ("I", "W", "B") and ("REDUCE_GRAD", stage, -1) in seen:
        return message(
            "schedule.csv_after_reduction",
            "rank {rank} does {op} after {reduction}, which misses its gradient",
            rank=rank,
            op=each.text(),
            reduction=f"{stage}REDUCE_GRAD",
        )
    return None


def check_sequence(rows: Sequence[Row], placement: Placement) -> None:
    """Check that each rank receives from another what that one sends, in the same sequence: messages have no names.
    Activations and gradients may overtake each other: torch can give each a stream of its own.
    Raises OrderError for the first receive that meets another send.
    """
    sent: dict[Edge, list[tuple[Action, int]]] = defaultdict(list)
    received: dict[Edge, list[tuple[Action, int]]] = defaultdict(list)
    for rank, link in _links(rows):
        peer = placement.rank_of(link.other_end().stage)
        if link.kind.startswith("SEND"):
            sent[rank, peer, link.kind].append((link, rank))
        else:
            received[peer, rank, link.other_end().kind].append((link, rank))
    for edge, links in received.items():
        for (link, rank), (other, peer) in zip(links, sent[edge], strict=True):
            if link.other_end() != other:
                wrong = message(
                    "schedule.csv_messages_crossed",
                    "rank {rank} does {op} where rank {other} does {sent}: messages between two ranks arrive in the "
                    "sequence in which they are sent",
                    rank=rank,
                    op=link.text(),
                    other=peer,
                    sent=other.text(),
                )
                raise OrderError(wrong, rank=rank, op=link.text())


def check_streams(order: Order, found: Messages) -> Message | None:
    """Return a note if the messages of a checked file pass on a stream for each pair of ranks and direction, but not on
    one stream a rank; None if they pass on both. Raises OrderError if they pass on neither.
    """
    waits = deadlock(replace(order, messages=replace(found, streams="edge")))
    if waits:
        listed = [each.text() for each in waits[:MOST_LISTED]]
        raise OrderError(message("schedule.csv_deadlock", "the messages deadlock: {waits}", waits=listed))
    waits = deadlock(replace(order, messages=replace(found, streams="rank")))
    if not waits:
        return None
    return message(
        "schedule.csv_deadlock_on_one_stream",
        "on one stream of messages a rank, torch's default, messages larger than the library's buffer deadlock: "
        "{waits}; on a stream for each pair of ranks and direction they pass",
        waits=[each.text() for each in waits[:MOST_LISTED]],
    )


def posted(placement: Placement, rows: Sequence[Cells]) -> Messages:
    """Return the messages of checked rows as they stand there."""
    found: list[list[tuple[int, int, bool, int, int]]] = []
    for row in rows:
        ops, ends = 0, list[tuple[int, int, bool, int, int]]()
        for each in row:
            if not isinstance(each, Action):
                ops += 1
            elif each.kind in _OTHER_END:
                receive, gradient = each.kind.startswith("RECV"), each.kind.endswith("B")
                other = each.other_end()
                sender = other.stage if receive else each.stage
                result = 2 * int(placement.slot_at[0, sender]) + gradient
                ends.append((result, each.micro, receive, placement.rank_of(other.stage), ops))
        found.append(ends)
    return of_jobs([np.array(ends, np.int64).reshape(-1, 5).T for ends in found], "rank")


def cells_of(order: Order) -> list[list[str]]:
    """Return each rank's cells: its ops, the ends of its messages, and what torch adds for FSDP and for reducing
    gradients, without which its runtime neither gathers weights nor scales gradients.
    """
    found = order.messages
    assert found is not None
    out = []
    for rank in range(order.p):
        row, cells = order.row(rank), list[str]()
        ends = [
            (found.text(end, order.placement), int(found.issued[end]), bool(found.receive[end]))
            for end in range(int(found.offsets[rank]), int(found.offsets[rank + 1]))
        ]
        gathers, reduced, next_end = _gathers(row), _reduced(row), 0
        for at in range(len(row) + 1):
            behind = [f"{stage}REDUCE_GRAD" for stage in reduced.get(at - 1, ())]
            while next_end < len(ends) and ends[next_end][1] == at:
                if ends[next_end][2]:
                    cells, behind = cells + behind, []
                cells.append(ends[next_end][0])
                next_end += 1
            cells += behind + gathers[at] + [row[at].text() for _ in range(at < len(row))]
        out.append(cells)
    return out


def _gathers(row: Sequence[Op | Pair], most: int = 3) -> list[list[str]]:
    """Return the UNSHARD and RESHARD before each op and behind the last: the next ``most`` stages that compute are
    gathered, others freed (torch 2.14.1, ``_add_unshard_reshard``).
    """
    stages = [[half.stage for half in halves(each)] for each in row]
    upcoming: list[list[int]] = []  # the next different stages from each op on
    for each in reversed(stages):
        later = [stage for stage in upcoming[-1] if stage not in each] if upcoming else []
        upcoming.append([*dict.fromkeys(each), *later])
    active: set[int] = set()
    out = []
    for wanted in reversed(upcoming):
        some = wanted[:most]
        freed, gathered = [stage for stage in active if stage not in some], [s for s in some if s not in active]
        active = (active - set(freed)) | set(gathered)
        out.append([f"{stage}RESHARD" for stage in freed] + [f"{stage}UNSHARD" for stage in gathered])
    return [*out, [f"{stage}RESHARD" for stage in active]]


def _reduced(row: Sequence[Op | Pair]) -> dict[int, list[int]]:
    """Return the stages whose last weight gradient an op makes, by the op's position."""
    last = {half.stage: at for at, each in enumerate(row) for half in halves(each) if half.kind in "WB"}
    out: dict[int, list[int]] = {}
    for stage, at in last.items():
        out.setdefault(at, []).append(stage)
    return out


def _links(rows: Sequence[Row]) -> Iterator[tuple[int, Action]]:
    """Yield rank and action of every send and receive, rank after rank."""
    for rank, row in enumerate(rows):
        yield from ((rank, each) for each in row if isinstance(each, Action) and each.kind in _OTHER_END)
