"""Check the actions beside the ops of a lowered file: sends and receives, FSDP's gathers, gradient reduction.

torch writes these files as format "compute_comms" and executes them as they are. ``2SEND_F0`` sends the output of stage
2 to stage 3, ``3RECV_F0`` receives it there; ``3SEND_B0`` and ``2RECV_B0`` are the gradient's way back. A stage is
gathered by ``UNSHARD``, freed by ``RESHARD``, and ``REDUCE_GRAD`` reduces its gradients.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from backend.schedule.errors import Message, OrderError, message
from backend.schedule.order.ops import Op
from backend.schedule.order.placement import Placement

_ACTION = re.compile(r"(\d{1,6})(?:(SEND_F|RECV_F|SEND_B|RECV_B)(\d{1,8})|(UNSHARD|RESHARD|REDUCE_GRAD))")
_OTHER_END = {"SEND_F": ("RECV_F", 1), "RECV_F": ("SEND_F", -1), "SEND_B": ("RECV_B", -1), "RECV_B": ("SEND_B", 1)}
MOST_LISTED = 4  # ranks of a deadlock that its note names


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


Stream = tuple[int, int, str]  # rank, other rank, kind; of a stream for all messages of a rank: rank, rank, ""
Row = Sequence[Op | Action]  # a rank's cells, in order, pairs as their halves


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
    sent: dict[Stream, list[tuple[Action, int]]] = defaultdict(list)
    received: dict[Stream, list[tuple[Action, int]]] = defaultdict(list)
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


def check_streams(rows: Sequence[Row], placement: Placement) -> Message | None:
    """Return a note if the messages of checked rows pass on streams of their own for activations and gradients between
    each two ranks, but not on one stream a rank; None if they pass on both. Raises OrderError if they pass on neither.
    """
    waits = _Run(rows, placement, by_edge=True).waits()
    if waits:
        raise OrderError(message("schedule.csv_deadlock", "the messages deadlock: {waits}", waits=waits))
    waits = _Run(rows, placement, by_edge=False).waits()
    if not waits:
        return None
    return message(
        "schedule.csv_deadlock_on_one_stream",
        "on one stream of messages a rank, torch's default, messages larger than the library's buffer deadlock: "
        "{waits}; on a stream for each pair of ranks and direction they pass",
        waits=waits,
    )


def _links(rows: Sequence[Row]) -> Iterator[tuple[int, Action]]:
    """Yield rank and action of every send and receive, rank after rank."""
    for rank, row in enumerate(rows):
        yield from ((rank, each) for each in row if isinstance(each, Action) and each.kind in _OTHER_END)


class _Run:
    """A run of rows in which a send and its receive wait for each other, and a stream's messages pass one by one."""

    def __init__(self, rows: Sequence[Row], placement: Placement, *, by_edge: bool) -> None:
        self.placement, self.by_edge = placement, by_edge
        self.ops = [[each for each in row if isinstance(each, Op)] for row in rows]
        self.streams: dict[Stream, list[Action]] = defaultdict(list)
        for _, link in _links(rows):
            self.streams[self._stream_of(link)].append(link)
        self.done: set[tuple[str, int, int]] = set()
        self.ops_done, self.passed = [0] * len(rows), dict.fromkeys(self.streams, 0)
        self._run()

    def _run(self) -> None:
        awake = deque(range(len(self.ops)))
        of_rank = [[stream for stream in self.streams if stream[0] == rank] for rank in range(len(self.ops))]
        while awake:
            rank = awake.popleft()
            row = self.ops[rank]
            while self.ops_done[rank] < len(row) and self._has_input(op := row[self.ops_done[rank]]):
                self.done.add(("G" if op.kind in "IB" else op.kind, op.stage, op.micro))
                self.ops_done[rank] += 1
            for stream in of_rank[rank]:
                link = self._next(stream)
                if link is None:
                    continue
                other = link.other_end()
                if self._next(self._stream_of(other)) == other and self._is_made(link) and self._is_made(other):
                    for each in (link, other):
                        self.done.add((each.kind, each.stage, each.micro))
                        self.passed[self._stream_of(each)] += 1
                        awake.append(self.placement.rank_of(each.stage))

    def waits(self) -> list[Message]:
        """Return who waits for whom, from the first stream that has not ended; [] if all have."""
        stream = next((each for each in self.streams if self._next(each) is not None), None)
        named: list[Stream] = []
        waits = []
        while stream is not None and stream not in named and len(named) < MOST_LISTED:
            named.append(stream)
            link = self._next(stream)
            assert link is not None
            made = self._is_made(link)
            needed = link.other_end() if made else self.ops[stream[0]][self.ops_done[stream[0]]]
            waits.append(
                message(
                    "schedule.rank_waits",
                    "rank {rank} waits at {op} for {needed} on rank {other}",
                    rank=stream[0],
                    op=link.text(),
                    needed=needed.text(),
                    other=self.placement.rank_of(needed.stage),
                )
            )
            arriving = Action("RECV_F" if needed.kind == "F" else "RECV_B", needed.stage, needed.micro)
            stream = self._stream_of(link.other_end() if made else arriving)
        return waits

    def _stream_of(self, link: Action) -> Stream:
        rank, other = (self.placement.rank_of(each.stage) for each in (link, link.other_end()))
        return (rank, other, link.kind) if self.by_edge else (rank, rank, "")

    def _next(self, stream: Stream) -> Action | None:
        links = self.streams[stream]
        return links[self.passed[stream]] if self.passed[stream] < len(links) else None

    def _has_input(self, op: Op) -> bool:
        source = op.stage + (-1 if op.kind == "F" else 1)
        if op.kind == "W" or not 0 <= source < self.placement.stages:
            return True
        if self.placement.rank_of(source) == self.placement.rank_of(op.stage):
            return ("F" if op.kind == "F" else "G", source, op.micro) in self.done
        return ("RECV_F" if op.kind == "F" else "RECV_B", op.stage, op.micro) in self.done

    def _is_made(self, link: Action) -> bool:
        kind = {"SEND_F": "F", "SEND_B": "G"}.get(link.kind)
        return kind is None or (kind, link.stage, link.micro) in self.done
