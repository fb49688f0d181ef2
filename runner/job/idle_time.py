"""What the idle time of a run was spent on: every stretch between two ops of a rank, split by what it waited for.

Knows the times on a board and which ops await what; not how they were measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from runner.program.compile import Program
from runner.program.traffic import Traffic

Ints = npt.NDArray[np.int64]
Times = npt.NDArray[np.int64]
READY, START, END, WAIT = range(4)  # columns of a board's times of ops
TAKEN = 2  # column of its times of messages
KINDS = ("message", "copy", "late_wake_up", "instrumentation", "own", "over")


@dataclass(frozen=True, slots=True)
class Awaited:
    """(N,) when the last message of each op was there (-1: it takes none), and whether it waits for a reload."""

    taken: Ints
    reload: npt.NDArray[np.bool_]


def awaited(program: Program, traffic: Traffic, offsets: Ints, message_times: Times) -> Awaited:
    """What each op of a run awaited."""
    count = int(offsets[-1])
    taken, reload = np.full(count, -1, np.int64), np.zeros(count, np.bool_)
    index = [int(offsets[rank]) + at for rank, row in enumerate(traffic.messages) for at, _ in row]
    np.maximum.at(taken, np.array(index, np.int64), message_times[:, TAKEN])
    for rank in program.ranks:
        home = {(copy.chunk, copy.micro) for copy in rank.copies if copy.kind == "R"}
        for step in rank.steps if home else ():
            reload[int(offsets[rank.rank]) + step.index] = any(
                task.kind in "IB" and (task.chunk, task.micro) in home for task in step.tasks
            )
    return Awaited(taken, reload)


def idle(offsets: Ints, times: Times, waits: Awaited, paced: bool, note_ns: float) -> dict[str, list[int]]:
    """Nanoseconds of each rank by kind, which add up to the time in which it ran no op, from the run's start to the
    end of its last op anywhere:

    `message`   what it needs had not come: a message, a collective
    `copy`      activations were not back from host memory
    `late_wake_up`  paced: the message counted as there, and the rank's process still slept or had no core
    `instrumentation`  noting the op, by what that was measured to cost
    `own`       the rank itself between two ops: taking and sending messages, and whatever took its core away
    `over`      it had no op left
    """
    first, last = offsets[:-1], offsets[1:] - 1
    ready, start, end, waited = (times[:, column] for column in (READY, START, END, WAIT))
    before = np.concatenate(([0], end[:-1]))
    before[first] = 0
    gap = np.maximum(start - before, 0)
    pending = np.clip(ready - before, 0, gap)
    message = np.minimum(pending, waited)
    copy = np.where(waits.reload, pending - message, 0)
    after = gap - message - copy
    late = np.clip(np.where(paced, waits.taken - ready, 0), 0, after)  # it came later than its hop allows
    after = after - late
    asleep = np.where(paced & (message > 0), after, 0)
    own = after - asleep
    noting = np.minimum(own, round(note_ns))
    parts = (message + late, copy, asleep, noting, own - noting)
    sums = [np.add.reduceat(part, first).tolist() for part in parts]
    return dict(zip(KINDS, [*sums, (end.max() - end[last]).tolist()], strict=True))


def slowest(measured: Sequence[float], planned: Sequence[float]) -> int:
    """The rank whose ops took longest beside what they were meant to take; `measured` and `planned` (p,) busy times."""
    ratio = [of / max(plan, 1e-30) for of, plan in zip(measured, planned, strict=True)]
    return int(np.argmax(ratio))
