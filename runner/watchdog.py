"""Notices a run in which no op finishes any more, and says which rank holds it up, in which op, for want of what.

Reads the board and the state of processes only; ends nothing itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from runner.board import FINISHED, WAITING, Board
from runner.clock import now
from runner.plan import Plan
from runner.steps import Link, Step

SECOND = 1_000_000_000
FLOOR_NS = 3 * SECOND  # shorter pauses happen on a busy machine
PACED_OPS = 10  # paced: a run may pause for so many of its longest ops
FREE_OPS = 20  # free: for so many of the longest ops seen so far


class Watchdog:
    """Watches one run; `look` at any interval."""

    def __init__(self, plan: Plan, board: Board, pids: Sequence[int]) -> None:
        self.plan, self.board, self.pids = plan, board, pids
        self.finished = -1
        self.since = now()
        self.senders = {
            task.given.tag: step
            for program in plan.program.ranks
            for step in program.steps
            for task in step.tasks
            if task.given is not None
        }

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
        stuck = [rank for rank in ranks if _stopped(self.pids[rank])]
        stuck += [rank for rank in ranks if not self._awaited(rank) and not self._over(rank)]
        if stuck:
            return stuck[0]
        rank = next((rank for rank in ranks if self._awaited(rank)), 0)
        for _ in range(self.plan.ranks):
            link = self._awaited(rank)
            if link is None or self._sent(link):
                break
            rank = link.source
        return rank

    def describe(self, rank: int) -> str:
        """What a rank is doing, in words."""
        step, link = self.step(rank), self._awaited(rank)
        halted = f" (its process, {self.pids[rank]}, is stopped)" if _stopped(self.pids[rank]) else ""
        if link is None:
            return f"rank {rank} is in op {step.text}{halted}"
        sent = ", which was sent" if self._sent(link) else ""
        return f"rank {rank} waits in op {step.text} for the {link.text()}{sent}{halted}"

    def step(self, rank: int) -> Step:
        """The op in which a rank is, or the last one it finished if it finished all."""
        steps = self.plan.program.ranks[rank].steps
        done = int(self.board.done()[rank])
        return steps[min(done, len(steps) - 1)]

    def _awaited(self, rank: int) -> Link | None:
        phase, _, tag = self.board.state(rank)
        if phase != WAITING:
            return None
        links = (task.taken for task in self.step(rank).tasks)
        return next((link for link in links if link is not None and link.tag == tag), None)

    def _sent(self, link: Link) -> bool:
        return int(self.board.done()[link.source]) > self.senders[link.tag].index

    def _over(self, rank: int) -> bool:
        return self.board.state(rank)[0] == FINISHED


def _stopped(pid: int) -> bool:
    """Whether a process is stopped by a signal (state T of the process table)."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] in "tT"
    except OSError:
        return False
