"""Detect a run in which no op finishes any more, and find the rank that blocks it, its op, and what it waits for.

Reads the board and the states of processes; ends no process itself.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence

from backend.errors import Message, message
from runner.failure import RunFailure
from runner.job.plan import JobPlan
from runner.program.instructions import GRADIENT, STATISTICS, CollectiveInput, RankProgram, Step, Transfer
from runner.telemetry.clock import now
from runner.telemetry.op_board import FINISHED, WAITING, Board

SECOND = 1_000_000_000
FLOOR_NS = 3 * SECOND  # shorter pauses happen on a busy machine
PACED_OPS = 10  # paced: a run may pause for as long as this many of its longest ops
FREE_OPS = 20  # for as long as this many of the longest ops in the warm-up; free: or seen so far


def patience_ns(plan: JobPlan, warmed_ns: int = 0) -> int:
    """Return how long a run may pause without an op that ends: in paced mode an op may be planned to be long, and one
    of a large model is; `warmed_ns` is the longest in the warm-up."""
    return max(FLOOR_NS, int(PACED_OPS * plan.longest_op_ms * 1e6), FREE_OPS * warmed_ns)


class Watchdog:
    """Watches one run; call `look` at any interval. `halted` returns a sentence if a rank's process is stopped;
    `warmed_ns` as in `patience_ns`."""

    def __init__(self, plan: JobPlan, board: Board, halted: Callable[[int], str], warmed_ns: int = 0) -> None:
        self.plan, self.board, self.halted = plan, board, halted
        self.patience = patience_ns(plan, warmed_ns)
        self.finished = -1
        self.since = now()
        self.makers = _makers(plan.program.ranks)

    def look(self, longest_ns: int) -> RunFailure | None:
        """Return None while ops finish, else the failure. `longest_ns` is the longest op measured so far."""
        finished = int(self.board.done().sum())
        if finished != self.finished:
            self.finished, self.since = finished, now()
            return None
        stalled = now() - self.since
        free = 0 if self.plan.longest_op_ms else FREE_OPS * longest_ns
        if stalled <= max(self.patience, free):
            return None
        rank = self.culprit()
        seconds, culprit = f"{stalled / SECOND:.1f}", self.describe(rank)
        waiting = [self.describe(other) for other in range(self.plan.ranks) if other != rank and self._awaited(other)]
        if len(waiting) > 1:
            text = message(
                "runner.stalled_many_wait",
                "no op has finished for {seconds} s: {culprit}; {waiting}, and {more} more ranks wait",
                seconds=seconds,
                culprit=culprit,
                waiting=waiting[0],
                more=len(waiting) - 1,
            )
        elif waiting:
            text = message(
                "runner.stalled_one_waits",
                "no op has finished for {seconds} s: {culprit}; {waiting}",
                seconds=seconds,
                culprit=culprit,
                waiting=waiting[0],
            )
        else:
            text = message(
                "runner.stalled", "no op has finished for {seconds} s: {culprit}", seconds=seconds, culprit=culprit
            )
        return RunFailure("stalled", rank, self.step(rank).text, text)

    def culprit(self) -> int:
        """Return the rank that the others wait for: a stopped one, else one that waits for nothing, else the end of the
        chain of who waits for whom.

        A rank whose message was sent long ago but that does not go on is itself the culprit.
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

    def describe(self, rank: int) -> Message:
        """Return the activity of a rank as a clause."""
        step, awaited = self.step(rank), self._awaited(rank)
        stopped = self.halted(rank)
        state = message("runner.stopped_note", " ({stopped})", stopped=stopped) if stopped else ""
        if awaited is None:
            return message(
                "runner.rank_in_op", "rank {rank} is in op {op}{state}", rank=rank, op=step.text, state=state
            )
        late = self._late(awaited)
        progress = "" if late else message("runner.was_sent", ", which was sent")
        if isinstance(awaited, CollectiveInput) and late:
            progress = message("runner.part_missing", ", of which rank {rank}'s part is missing", rank=late[0])
        return message(
            "runner.rank_waits",
            "rank {rank} waits in op {op} for the {awaited}{progress}{state}",
            rank=rank,
            op=step.text,
            awaited=awaited.text(),
            progress=progress,
            state=state,
        )

    def step(self, rank: int) -> Step:
        """Return the op in which a rank is, or its last op if it has finished all."""
        steps = self.plan.program.ranks[rank].steps
        done = int(self.board.done()[rank])
        return steps[min(done, len(steps) - 1)]

    def _awaited(self, rank: int) -> Transfer | CollectiveInput | None:
        phase, _, tag, _ = self.board.state(rank)
        if phase != WAITING:
            return None
        found = (task.collective_input or task.input_transfer for task in self.step(rank).tasks)
        return next((one for one in found if one is not None and one.tag == tag), None)

    def _late(self, awaited: Transfer | CollectiveInput) -> list[int]:
        """Return the ranks that have not yet done the op that produces their part of this."""
        done = self.board.done()
        key = awaited.tag if isinstance(awaited, Transfer) else (awaited.what, awaited.micro)
        return [rank for rank, index in self.makers[key] if int(done[rank]) <= index]

    def _over(self, rank: int) -> bool:
        return self.board.state(rank)[0] == FINISHED


def _makers(programs: Sequence[RankProgram]) -> dict[int | tuple[int, int], list[tuple[int, int]]]:
    """Map messages (by tag) and collectives (by what they produce and micro-batch) to the ops that produce their parts,
    as (rank, index of its op)."""
    makers: dict[int | tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    for program in programs:
        for step in program.steps:
            for task in step.tasks:
                place = (program.rank, step.index)
                if task.output_transfer is not None:
                    makers[task.output_transfer.tag].append(place)
                if task.collective_output is not None:
                    makers[task.collective_output, task.micro].append(place)
                if task.collective_output == STATISTICS and program.output is not None and program.output.barriers == 1:
                    makers[GRADIENT, task.micro].append(place)
    return makers
