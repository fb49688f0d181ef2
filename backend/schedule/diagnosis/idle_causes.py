"""Split the time in which each rank does not compute by its cause.

The step is simulated with every cause repaired, then with one more of them each time, in the order of REPAIRS: what a
rank's idle time grows by is due to the cause that came in. The idle time of the first simulation is the schedule's own,
what remains between the last and the measurement is unexplained. All parts sum to the measured idle time.

Each wait of one step is split in the same way, by what it grows by itself. It may have shrunk with a cause that another
one grew with, so there the parts are in proportion to what has grown.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from backend.schedule.diagnosis.step_model import REPAIRS, StepModel
from backend.schedule.diagnosis.what_if import by_step

Floats = npt.NDArray[np.float64]
LEAST_WAIT = 0.001  # of the step: shorter waits are not listed
LEAST_PART = 0.01  # of a wait
MOST_WAITS = 2000  # that are listed, the longest
CAUSES = ("fill_and_drain", "dependency", *REPAIRS, "replicas", "tail", "unexplained")


@dataclass(frozen=True)
class Wait:
    """A time in ms in which a rank does not compute: before ``op``, None: after its last; ``causes`` has its parts."""

    rank: int
    op: str | None
    start: float
    end: float
    causes: dict[str, float]


@dataclass(frozen=True, eq=False)
class Idle:
    """(p,) ms of each rank, the mean of all instances: ``work``, and the parts of its idle time by cause; ``step`` is
    their sum, the same for all ranks. A part is below 0 where a cause fills waits that were there without it. ``waits``
    are those of the instance ``at``, the one of median length.
    """

    work: Floats
    parts: dict[str, Floats]
    step: float
    at: int
    waits: tuple[Wait, ...]

    def as_dict(self) -> list[dict[str, float]]:
        """Return the parts of each rank as JSON."""
        return [
            {"rank": rank, "work": float(self.work[rank])} | {cause: float(self.parts[cause][rank]) for cause in CAUSES}
            for rank in range(len(self.work))
        ]


def idle_causes(model: StepModel, tail: float) -> Idle:
    """Return each rank's idle time by cause; ``tail`` in ms follows the last op of a step."""
    p = model.of.order.p
    levels = [_level(model, list(REPAIRS)[at:]) for at in range(len(REPAIRS) + 1)]
    (start, end), idle = levels[0][1], levels[0][0]
    first, last = model.of.order.offsets[:-1], model.of.order.offsets[1:] - 1
    fill = start[:, first].mean(axis=0) + (end.max(axis=1, keepdims=True) - end[:, last]).mean(axis=0)
    parts = {"fill_and_drain": fill, "dependency": idle - fill}
    for at, name in enumerate(REPAIRS, 1):
        parts[name] = levels[at][0] - levels[at - 1][0]
    work = _busy(model)
    spans, measured = levels[-1][1][1].max(axis=1), model.of.span
    waiting = float(by_step(model, measured).mean() - measured.mean())
    # Ranks that begin or end apart from the others have the same step: what is measured counts.
    unexplained = float(measured.mean() - spans.mean())
    parts |= {"replicas": np.full(p, waiting), "tail": np.full(p, tail), "unexplained": np.full(p, unexplained)}
    at = int(np.argsort(measured, kind="stable")[len(measured) // 2])
    waits = _waits(model, at, [(start[at], end[at]) for _, (start, end) in levels])
    return Idle(work, parts, float(by_step(model, measured).mean()) + tail, at, waits)


def _waits(model: StepModel, at: int, levels: list[tuple[Floats, Floats]]) -> tuple[Wait, ...]:
    """Return the waits of one instance by cause; ``levels`` has start and end (N,) of ops, each with one cause more."""
    order, zero = model.of.order, float(model.of.start[at].min())
    count, first = len(order), order.offsets[:-1]
    measured = model.of.start[at] - zero, model.of.end[at] - zero
    # (levels + 1, N + p) before each op, and after the last of each rank
    lengths = np.array([np.append(*_gaps(order.offsets, *times)) for times in (*levels, measured)])
    grown = np.maximum(np.diff(lengths, axis=0, prepend=0.0), 0.0)
    causes = ("", *REPAIRS, "unexplained")
    span = float(measured[1].max())
    listed = np.flatnonzero(lengths[-1] >= LEAST_WAIT * span)
    longest = np.sort(listed[np.argsort(-lengths[-1][listed], kind="stable")[:MOST_WAITS]])
    found = []
    for each in longest.tolist():
        rank = int(model.rank[each]) if each < count else each - count
        end = float(measured[0][each]) if each < count else span
        length = float(lengths[-1][each])
        own = "fill_and_drain" if each >= count or each in first else "dependency"
        total = float(grown[:, each].sum())
        parts = {
            name or own: length * float(part) / total
            for name, part in zip(causes, grown[:, each], strict=True)
            if part > LEAST_PART * total
        }
        op = order.row(rank)[each - int(order.offsets[rank])].text() if each < count else None
        found.append(Wait(rank, op, end - length, end, parts))
    return tuple(sorted(found, key=lambda wait: (wait.rank, wait.start)))


def _gaps(offsets: npt.NDArray[np.int64], start: Floats, end: Floats) -> tuple[Floats, Floats]:
    """Return (N,) the time before each op in which its rank does nothing, and (p,) that after its last one."""
    before = np.concatenate(([0.0], end[:-1]))
    before[offsets[:-1]] = 0.0
    return np.maximum(start - before, 0.0), end.max() - end[offsets[1:] - 1]


def _level(model: StepModel, repaired: list[str]) -> tuple[Floats, tuple[Floats, Floats]]:
    """Return (p,) the mean idle time of each rank with some causes repaired, and (I, N) start and end of ops."""
    for name in repaired:
        model = REPAIRS[name](model)
    start, end = model.ends()
    idle: Floats = end.max(axis=1).mean() - _busy(model)
    return idle, (start, end)


def _busy(model: StepModel) -> Floats:
    """Return (p,) the mean time of each rank in ops, without what it spends before them."""
    return np.asarray(np.bincount(model.rank, model.busy.mean(axis=0), model.of.order.p), np.float64)
