"""A search problem: the task, and the orders a search may begin with. Families state their problems in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from backend.schedule.order.order import Codes
from backend.schedule.search import greedy, improve
from backend.schedule.search.building_block import Block, Choice, Task
from backend.schedule.search.certificate import Found, feasible
from backend.schedule.search.improve import Budget, Progress


@dataclass(frozen=True, eq=False)
class Problem:
    """``tries`` are laid greedily; ``handcrafted`` orders, each rank's codes, take part where they keep the limit."""

    task: Task
    tries: Sequence[tuple[Block, Choice]]
    handcrafted: Sequence[Sequence[Codes]] = field(default=())

    def quick(self) -> list[Codes]:
        """Each rank's codes in the best order of a greedy construction: at once, and the same every time."""
        return greedy.rows(self.task, self.tries, self.handcrafted)

    def search(
        self,
        seed: int,
        budget: Budget,
        report: Callable[[Progress], None] = lambda progress: None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Found:
        """The best order that a search finds within the budget, never worse than the quick one, with which it begins.
        The same seed and number of evaluations give the same order."""
        feasible(self.task)
        begin = [np.stack(rows) for rows in (self.quick(), *self.handcrafted)]
        return improve.search(self.task, self.tries, begin, seed, budget, report, stop)
