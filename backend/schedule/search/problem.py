"""A search problem: the task, and the orders that a search may begin with. Families describe their problems with it."""

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
    """A search problem: ``tries`` are constructed greedily; ``handcrafted`` orders, each rank's codes, take part if
    they keep the limit.
    """

    task: Task
    tries: Sequence[tuple[Block, Choice]]
    handcrafted: Sequence[Sequence[Codes]] = field(default=())

    def quick(self) -> list[Codes]:
        """Return each rank's codes in the best order of a greedy construction: quick and deterministic."""
        return greedy.rows(self.task, self.tries, self.handcrafted)

    def search(
        self,
        seed: int,
        budget: Budget,
        report: Callable[[Progress], None] = lambda progress: None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Found:
        """Search within the budget; the result is never worse than the quick order, with which the search begins.

        The same seed and number of evaluations give the same order.
        """
        feasible(self.task)
        begin = [np.stack(rows) for rows in (self.quick(), *self.handcrafted)]
        return improve.search(self.task, self.tries, begin, seed, budget, report, stop)
