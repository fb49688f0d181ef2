"""Split the idle time of a run by cause: every gap between two ops of a rank, by what the rank waited for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from runner.program.compile import Program
from runner.program.traffic import Traffic
from runner.telemetry.rows import MESSAGE, OP

Ints = npt.NDArray[np.int64]
KINDS = ("message", "copy", "late_wake_up", "instrumentation", "own", "over")


@dataclass(frozen=True, slots=True)
class Awaited:
    """The inputs of ops: (ops,) when the last message of each was received (-1: it has none), and whether it waits
    for a reload of activations.
    """

    taken: Ints
    reload: npt.NDArray[np.bool_]


def awaited(program: Program, traffic: Traffic, offsets: Ints, message_times: Ints) -> Awaited:
    """Collect what each op of a run awaited; `message_times` (messages, 5) as `MessageTimes`."""
    count = int(offsets[-1])
    taken, reload = np.full(count, -1, np.int64), np.zeros(count, np.bool_)
    index = [int(offsets[rank]) + at for rank, row in enumerate(traffic.messages) for at, _ in row]
    np.maximum.at(taken, np.array(index, np.int64), message_times[:, MESSAGE.taken])
    for rank in program.ranks:
        home = {(copy.chunk, copy.micro) for copy in rank.copies if copy.kind == "R"}
        for step in rank.steps if home else ():
            reload[int(offsets[rank.rank]) + step.index] = any(
                task.kind in "IB" and (task.chunk, task.micro) in home for task in step.tasks
            )
    return Awaited(taken, reload)


def idle(offsets: Ints, times: Ints, waits: Awaited, paced: bool, record_ns: float) -> dict[str, list[int]]:
    """Split the idle time of each rank, in ns, by cause. The causes add up to the time in which the rank ran no op,
    from the start of the run to the end of the last op on any rank:

    `message`   a message or a collective that the op needs had not arrived
    `copy`      activations were not back from host memory
    `late_wake_up`  paced: the message counted as arrived, and the rank's process still slept or had no core
    `instrumentation`  recording the op, by the measured cost of that
    `own`       the rank itself between two ops: taking and sending messages, and losses of its core
    `over`      the rank had no op left
    """
    first, last = offsets[:-1], offsets[1:] - 1
    ready, start, end, waited = (times[:, column] for column in OP[:4])
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
    noting = np.minimum(own, round(record_ns))
    parts = (message + late, copy, asleep, noting, own - noting)
    sums = [np.add.reduceat(part, first).tolist() for part in parts]
    return dict(zip(KINDS, [*sums, (end.max() - end[last]).tolist()], strict=True))


def slowest(measured: Sequence[float], planned: Sequence[float]) -> int:
    """Return the rank whose ops took longest relative to the plan; `measured` and `planned` (p,) busy times."""
    ratio = [busy / max(plan, 1e-30) for busy, plan in zip(measured, planned, strict=True)]
    return int(np.argmax(ratio))
