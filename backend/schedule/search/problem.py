"""A search problem: an instance, and the orders that a search may begin with. Families describe their problems so."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from backend.schedule import jit
from backend.schedule.order.order import Codes
from backend.schedule.search import bounds, greedy, improve
from backend.schedule.search.building_block import Block, Choice, Instance, timed
from backend.schedule.search.certificate import Found, feasible, meets
from backend.schedule.search.improve import Budget, Progress
from backend.schedule.search.initial_orders import keeps, span_of
from backend.schedule.search.passes import one_by_one


@dataclass(frozen=True, eq=False)
class Problem:
    """A search problem: ``tries`` are constructed greedily; the ``fixed`` orders (p, steps) take part if they keep
    the limit. They are built when needed, one after the other: most questions to a problem are about its instance.
    """

    instance: Instance
    tries: Sequence[tuple[Block, Choice]]
    fixed: Callable[[], Iterable[Codes]] = tuple

    def quick(self) -> list[Codes]:
        """Return each rank's codes in the best of the constructed and the fixed orders: quick and deterministic.

        Raises SpecError for a limit that no order keeps.
        """
        feasible(self.instance)
        return list(self._begin()[0])

    def _begin(self) -> list[Codes]:
        """Return the quick order and then the fixed ones; only a fixed order that none beats in span and makespan, if
        there is one: constructing others takes hundreds of times as long as testing it.
        """
        fixed = []
        least = max(bounds.work(self.instance), bounds.fill_and_drain(self.instance))
        for codes in self.fixed():
            span, _, end = timed(self.instance, codes)
            shortest = meets(span, least) and meets(end.max(), max(least, bounds.arrival_and_work(self.instance)))
            if shortest and keeps(self.instance, codes):
                return [codes]
            fixed.append(codes)
        if self.instance.is_even:
            return [np.stack(greedy.rows(self.instance, self.tries, fixed)), *fixed]
        return self._begin_uneven([*fixed, one_by_one(self.instance)])

    def _begin_uneven(self, fixed: list[Codes]) -> list[Codes]:
        """Return the same where the instance is not even: the quick order is the best of the fixed ones, and of those
        for even micro-batches as small as the smallest, as large as the largest, and between, that keeps the limit.
        """
        even, sizes = self.instance.even, self.instance.sizes
        rooms = {max(even.least_room, self.instance.room / size) for size in np.geomspace(sizes.min(), sizes.max(), 6)}
        found = [np.stack(greedy.rows(replace(even, room=room), self.tries, fixed)) for room in rooms]
        kept = [codes for codes in (*found, *fixed) if keeps(self.instance, codes)]
        return [min(kept, key=lambda codes: span_of(self.instance, codes)), *fixed]

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
        feasible(self.instance)
        jit.compile_all()  # takes seconds the first time, which must not count
        began = time.monotonic()
        begin = self._begin()
        spent = time.monotonic() - began
        if budget.seconds is not None:
            budget = replace(budget, seconds=budget.seconds - spent)

        def told(progress: Progress) -> None:
            report(replace(progress, seconds=progress.seconds + spent))

        return improve.search(self.instance, self.tries, begin, seed, budget, told, stop)
