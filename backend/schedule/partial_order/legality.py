"""Which ops may come next in a position, and why another may not.

The page has the same rules (static/js/core/workbench), and tests/js/workbench/server_rules.test.ts compares both. An op
is legal if it may follow its rank's earlier ops, its input is placed, and the memory limit admits it. So no legal
position deadlocks.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from backend.schedule.errors import Message, OrderError, message
from backend.schedule.order.ops import Op, Pair, halves
from backend.schedule.partial_order.position import Position
from backend.schedule.simulation.check import out_of_range, wrong_before

KINDS = "FBIW"  # of the candidates, in their order
GRADIENTS = "IB"
OVER = 1e-9  # by which a sum of parts may exceed a limit


@dataclass
class _Rank:
    """What a rank has done: its ops as (kind, chunk, micro-batch), and the micro-batches' activations in memory."""

    seen: dict[tuple[str, int, int], None] = field(default_factory=dict)  # in the order of the row
    level: float = 0.0


class Board:
    """The state of a position: answers which op may come next on each rank, and takes ops one at a time."""

    def __init__(self, position: Position) -> None:
        """Take over a position's rows as they are, legal or not."""
        self.position = position
        self._ranks = [_Rank() for _ in range(position.p)]
        for rank, row in enumerate(position.rows):
            for op in row:
                self.place(rank, op)

    def place(self, rank: int, op: Op | Pair) -> None:
        """Add an op to the end of a rank's row, without a check."""
        state, share, v = self._ranks[rank], self.position.w_share, self.position.v
        freed = {"F": 0.0, "I": 1.0 - share, "W": share, "B": 1.0}
        for half in halves(op):
            state.seen[half.kind, half.chunk, half.micro] = None
            state.level += ((1.0 if half.kind == "F" else 0.0) - freed[half.kind]) / v

    def candidates(self, rank: int) -> list[Op]:
        """Return the next op of each kind of each chunk: at most four a chunk, in the order F, B, I, W."""
        place, n, found = self.position.placement, self.position.n, []
        seen = self._ranks[rank].seen
        for chunk in range(place.chunks):
            low = n * place.stream(rank, chunk)
            micros = range(low, low + n)
            done = {kind: {micro for micro in micros if (kind, chunk, micro) in seen} for kind in KINDS}
            taken = done["I"] | done["B"]
            forward = next((micro for micro in micros if micro not in done["F"]), None)
            gradient = next((micro for micro in micros if micro in done["F"] and micro not in taken), None)
            if gradient is None:
                gradient = next((micro for micro in micros if micro not in taken), None)
            weight = self._first_split(rank, chunk)
            for kind, micro in (("F", forward), ("B", gradient), ("I", gradient), ("W", weight)):
                if micro is not None:
                    found.append(Op(kind, place.stage(rank, chunk), micro, chunk))
        return found

    def why_not(self, rank: int, op: Op | Pair) -> Message | None:
        """Return the reason why an op may not come next on a rank, None if it may."""
        state = self._ranks[rank]
        before, level = dict(state.seen), state.level
        try:
            for half in halves(op):
                why = self._why_not(rank, half)
                if why is not None:
                    return why
                if len(halves(op)) > 1:
                    self.place(rank, half)
            return None
        finally:
            state.seen, state.level = before, level

    def legal(self) -> list[list[tuple[Op, Message | None]]]:
        """Return the candidates of each rank, each with the reason why it may not come next, None if it may."""
        return [[(op, self._why_not(rank, op)) for op in self.candidates(rank)] for rank in range(self.position.p)]

    def _first_split(self, rank: int, chunk: int) -> int | None:
        """Return the micro-batch whose I was the first of those that still have no W; None if there is none."""
        seen = self._ranks[rank].seen
        split = (micro for kind, at, micro in seen if kind == "I" and at == chunk)
        return next((micro for micro in split if ("W", chunk, micro) not in seen), None)

    def _why_not(self, rank: int, op: Op) -> Message | None:
        state, position = self._ranks[rank], self.position
        wrong = out_of_range(rank, op, position.n * position.placement.stream(rank, op.chunk), position.n)
        if wrong is not None:
            return wrong
        if (op.kind, op.chunk, op.micro) in state.seen:
            return message("schedule.op_twice", "rank {rank} does {op} twice", rank=rank, op=op.text())
        return wrong_before(rank, op, state.seen) or self._missing_input(rank, op) or self._over_memory(rank, op)

    def _missing_input(self, rank: int, op: Op) -> Message | None:
        """Return the sentence for an input from another slot that is not placed yet, None if there is none."""
        place = self.position.placement
        found = None if op.kind == "W" else place.prev(rank, op.chunk) if op.kind == "F" else place.next(rank, op.chunk)
        if found is None:
            return None
        other, chunk = found
        kinds = "F" if op.kind == "F" else GRADIENTS
        if any((kind, chunk, op.micro) in self._ranks[other].seen for kind in kinds):
            return None
        needed = f"{place.stage(other, chunk)}{op.kind}{op.micro}"
        if other == rank:
            return message(
                "schedule.op_before_its_input",
                "rank {rank} does {op} before {needed}, which it needs",
                rank=rank,
                op=op.text(),
                needed=needed,
            )
        return message(
            "workbench.input_not_placed",
            "rank {rank} cannot do {op} yet: its input {needed} on rank {other} is not placed",
            rank=rank,
            op=op.text(),
            needed=needed,
            other=other,
        )

    def _over_memory(self, rank: int, op: Op) -> Message | None:
        limit = self.position.memory
        level = self._ranks[rank].level + 1.0 / self.position.v
        if op.kind != "F" or limit is None or level <= limit + OVER:
            return None
        return message(
            "workbench.over_memory",
            "rank {rank} cannot do {op}: {level} micro-batches would be in memory, the limit is {limit}",
            rank=rank,
            op=op.text(),
            level=f"{level:g}",
            limit=f"{limit:g}",
        )


def first_illegal(position: Position) -> OrderError | None:
    """Play a position from its beginning, and return the error for an op that no sequence of legal ops reaches; None
    if there is a sequence that places them all.

    The ranks take turns, each as far as it can. What is legal stays legal whatever the other ranks do, so the turns do
    not matter.
    """
    board, at = Board(position.with_rows([()] * position.p)), [0] * position.p
    why: dict[int, Message] = {}
    moved = True
    while moved:
        moved, why = False, {}
        for rank, row in enumerate(position.rows):
            while at[rank] < len(row):
                reason = board.why_not(rank, row[at[rank]])
                if reason is not None:
                    why[rank] = reason
                    break
                board.place(rank, row[at[rank]])
                at[rank] += 1
                moved = True
    if not why:
        return None
    # A rank that waits for an input may do so because another one broke a rule.
    rank = next((rank for rank, each in why.items() if each.code != "workbench.input_not_placed"), min(why))
    return OrderError(why[rank], rank=rank, op=position.rows[rank][at[rank]].text())
