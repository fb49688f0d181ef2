"""Split the idle time of a run by cause: every gap between two ops of a rank, by what the rank waited for."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from backend.schedule.order.order import Order
from backend.schedule.simulation.message_flow import producers
from runner.program.compile import Program
from runner.telemetry.rows import OP

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
KINDS = ("input", "message", "copy", "late_start", "instrumentation", "own", "over")


def awaits_reload(program: Program, offsets: Ints) -> Flags:
    """Return (ops,) whether each op of a run waits for a reload of activations."""
    reload = np.zeros(int(offsets[-1]), np.bool_)
    for rank in program.ranks:
        home = {(copy.chunk, copy.micro) for copy in rank.copies if copy.kind == "R"}
        for step in rank.steps if home else ():
            reload[int(offsets[rank.rank]) + step.index] = any(
                task.kind in "IB" and (task.chunk, task.micro) in home for task in step.tasks
            )
    return reload


def made(order: Order, end: Ints) -> Ints:
    """Return (ops,) when the last op ended whose result each op needs, 0 for none; `end` (ops,)."""
    made_by, _ = producers(order)
    times: Ints = np.where(made_by >= 0, end[made_by], 0).max(axis=1)
    return times


def idle(offsets: Ints, times: Ints, made: Ints, reload: Flags, paced: bool, record_ns: float) -> dict[str, list[int]]:
    """Split the idle time of each rank, in ns, by cause. The causes add up to the time in which the rank ran no op,
    from the start of the run to the end of the last op on any rank:

    `input`     an op on another rank, whose result the op needs, had not ended (`made`)
    `message`   it had ended, and its message, or a collective that the op needs, had not arrived
    `copy`      activations were not back from host memory
    `late_start`  paced: the op could have started, as its rank was free and its inputs counted as arrived; but the
                rank still slept, had no core, or passed on messages, or a message took longer than its hop
    `instrumentation`  recording the op, by the measured cost of that
    `own`       free: the rank itself between two ops: taking and sending messages, and losses of its core
    `over`      the rank had no op left
    """
    first, last = offsets[:-1], offsets[1:] - 1
    ready, start, end, waited = (times[:, column] for column in OP[:4])
    before = np.concatenate(([0], end[:-1]))
    before[first] = 0
    gap = np.maximum(start - before, 0)
    pending = np.clip(ready - before, 0, gap)
    waiting = np.where(paced & ~reload, pending, np.minimum(pending, waited))
    needed = np.clip(made - before, 0, waiting)
    copy = np.where(reload, pending - waiting, 0)
    after = gap - waiting - copy
    noting = np.minimum(after, round(record_ns))
    late = np.where(paced, after - noting, 0)
    parts = (needed, waiting - needed, copy, late, noting, after - noting - late)
    sums = [np.add.reduceat(part, first).tolist() for part in parts]
    return dict(zip(KINDS, [*sums, (end.max() - end[last]).tolist()], strict=True))


def slowest(measured: Sequence[float], planned: Sequence[float]) -> int:
    """Return the rank with the longest ops relative to the plan; `measured` and `planned` (p,) busy times."""
    ratio = [busy / max(plan, 1e-30) for busy, plan in zip(measured, planned, strict=True)]
    return int(np.argmax(ratio))
