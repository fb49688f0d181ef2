"""Split the time in which each rank does not compute by its cause.

The step is simulated with every cause repaired, then with one more of them each time, in the order of REPAIRS: what a
rank's idle time grows by is due to the cause that came in. The idle time of the first simulation is the schedule's own,
what remains between the last and the measurement is unexplained. All parts sum to the measured idle time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from backend.schedule.diagnosis.step_model import REPAIRS, StepModel
from backend.schedule.diagnosis.what_if import by_step

Floats = npt.NDArray[np.float64]
CAUSES = ("fill_and_drain", "dependency", *REPAIRS, "replicas", "tail", "unexplained")


@dataclass(frozen=True, eq=False)
class Idle:
    """(p,) ms of each rank, the mean of all instances: ``work``, and the parts of its idle time by cause; ``step`` is
    their sum, the same for all ranks. A part is below 0 where a cause fills waits that were there without it.
    """

    work: Floats
    parts: dict[str, Floats]
    step: float

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
    return Idle(work, parts, float(by_step(model, measured).mean()) + tail)


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
