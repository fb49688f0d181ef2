"""A search problem: the task, and the orders that a search may begin with. Families describe their problems with it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from backend.schedule import jit
from backend.schedule.order.order import Codes
from backend.schedule.search import greedy, improve
from backend.schedule.search.building_block import Block, Choice, Task
from backend.schedule.search.certificate import Found, feasible
from backend.schedule.search.improve import Budget, Progress


@dataclass(frozen=True, eq=False)
class Problem:
    """A search problem: ``tries`` are constructed greedily; the ``fixed`` orders (p, steps) take part if they keep
    the limit. They are built when they are needed: most questions to a problem are about its task.
    """

    task: Task
    tries: Sequence[tuple[Block, Choice]]
    fixed: Callable[[], Sequence[Codes]] = tuple

    def quick(self) -> list[Codes]:
        """Return each rank's codes in the best of the constructed and the fixed orders: quick and deterministic."""
        return greedy.rows(self.task, self.tries, self.fixed())

    def search(
        self,
        seed: int,
        budget: Budget,
        report: Callable[[Progress], None] = lambda progress: None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Found:
        """Search within the budget; the result is never worse than the quick order, with which the search begins.

        The same seed and number of evaluations give the same order. The time to construct the quick order counts.
        """
        feasible(self.task)
        jit.compile_all()  # takes seconds the first time, which must not count
        began = time.monotonic()
        fixed = self.fixed()
        begin = [np.stack(greedy.rows(self.task, self.tries, fixed)), *fixed]
        spent = time.monotonic() - began
        if budget.seconds is not None:
            budget = replace(budget, seconds=budget.seconds - spent)

        def told(progress: Progress) -> None:
            report(replace(progress, seconds=progress.seconds + spent))

        return improve.search(self.task, self.tries, begin, seed, budget, told, stop)
