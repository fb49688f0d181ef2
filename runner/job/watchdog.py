"""Notices a run in which no op finishes any more, and says which rank holds it up, in which op, for want of what.

Reads the board and asks which processes are stopped; ends nothing itself.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

from runner.job.plan import Plan
from runner.program.instructions import GRADIENT, STATISTICS, CollectiveInput, Link, RankProgram, Step
from runner.telemetry.clock import now
from runner.telemetry.op_board import FINISHED, WAITING, Board

SECOND = 1_000_000_000
FLOOR_NS = 3 * SECOND  # shorter pauses happen on a busy machine
PACED_OPS = 10  # paced: a run may pause for so many of its longest ops
FREE_OPS = 20  # free: for so many of the longest ops seen so far


class Watchdog:
    """Watches one run; `look` at any interval. `halted`: that a rank's process is stopped, in words, else nothing."""

    def __init__(self, plan: Plan, board: Board, halted: Callable[[int], str]) -> None:
        self.plan, self.board, self.halted = plan, board, halted
        self.finished = -1
        self.since = now()
        self.makers = _makers(plan.program.ranks)

    def look(self, longest_ns: int) -> dict[str, Any] | None:
        """None while ops finish; else the error. `longest_ns` is the longest op measured so far."""
        finished = int(self.board.done().sum())
        if finished != self.finished:
            self.finished, self.since = finished, now()
            return None
        stalled = now() - self.since
        paced = int(PACED_OPS * self.plan.longest_op_ms * 1e6)
        if stalled <= max(FLOOR_NS, paced or FREE_OPS * longest_ns):
            return None
        rank = self.culprit()
        message = f"no op has finished for {stalled / SECOND:.1f} s: {self.describe(rank)}"
        waiting = [self.describe(other) for other in range(self.plan.ranks) if other != rank and self._awaited(other)]
        if waiting:
            message += f"; {waiting[0]}" + (f", and {len(waiting) - 1} more ranks wait" if len(waiting) > 1 else "")
        return {"field": "rank", "value": rank, "message": message, "op": self.step(rank).text}

    def culprit(self) -> int:
        """The rank that the others wait for: a stopped one, else one in no wait, else follow who waits for whom.

        A rank whose message was sent long ago but that does not go on is itself to blame.
        """
        ranks = range(self.plan.ranks)
        stuck = [rank for rank in ranks if self.halted(rank)]
        stuck += [rank for rank in ranks if not self._awaited(rank) and not self._over(rank)]
        if stuck:
            return stuck[0]
        rank = next((rank for rank in ranks if self._awaited(rank)), 0)
        for _ in range(self.plan.ranks):
            awaited = self._awaited(rank)
            late = [] if awaited is None else self._late(awaited)
            if not late:
                break
            rank = late[0]
        return rank

    def describe(self, rank: int) -> str:
        """What a rank is doing, in words."""
        step, awaited = self.step(rank), self._awaited(rank)
        words = self.halted(rank)
        halted = f" ({words})" if words else ""
        if awaited is None:
            return f"rank {rank} is in op {step.text}{halted}"
        late = self._late(awaited)
        sent = ", which was sent" if not late else ""
        if isinstance(awaited, CollectiveInput) and late:
            sent = f", of which rank {late[0]}'s part is missing"
        return f"rank {rank} waits in op {step.text} for the {awaited.text()}{sent}{halted}"

    def step(self, rank: int) -> Step:
        """The op in which a rank is, or the last one it finished if it finished all."""
        steps = self.plan.program.ranks[rank].steps
        done = int(self.board.done()[rank])
        return steps[min(done, len(steps) - 1)]

    def _awaited(self, rank: int) -> Link | CollectiveInput | None:
        phase, _, tag = self.board.state(rank)
        if phase != WAITING:
            return None
        found = (task.collective_input or task.input_link for task in self.step(rank).tasks)
        return next((one for one in found if one is not None and one.tag == tag), None)

    def _late(self, awaited: Link | CollectiveInput) -> list[int]:
        """The ranks that have not done the op yet in which they make their part of this."""
        done = self.board.done()
        key = awaited.tag if isinstance(awaited, Link) else (awaited.what, awaited.micro)
        return [rank for rank, index in self.makers[key] if int(done[rank]) <= index]

    def _over(self, rank: int) -> bool:
        return self.board.state(rank)[0] == FINISHED


def _makers(programs: Sequence[RankProgram]) -> dict[int | tuple[int, int], list[tuple[int, int]]]:
    """Who makes what, as (rank, index of its op): messages by their tags, joins by what they are and micro-batch."""
    makers: dict[int | tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    for program in programs:
        for step in program.steps:
            for task in step.tasks:
                place = (program.rank, step.index)
                if task.output_link is not None:
                    makers[task.output_link.tag].append(place)
                if task.collective_output is not None:
                    makers[task.collective_output, task.micro].append(place)
                if task.collective_output == STATISTICS and program.output is not None and program.output.barriers == 1:
                    makers[GRADIENT, task.micro].append(place)
    return makers
