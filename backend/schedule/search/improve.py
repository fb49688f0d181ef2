"""Search for a better order: many starts, competing walks, the best order so far at any moment, and a lower bound.

Walks run in *generations*. A generation takes some orders, walks a little from each, keeps the better half, and walks
twice as long from these, until one is left. The next generation begins with the best orders so far and some that no
walk has started from, and takes twice as long. A long step is also searched as a short one and repeated (extend.py).

What is timed next never depends on the budget: the same instance, seed and number of evaluations give the same order,
and a longer search begins with the shorter one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, count
from typing import NamedTuple

import numpy as np

from backend.schedule import jit
from backend.schedule.order.order import Codes
from backend.schedule.search import building_block, extend, initial_orders
from backend.schedule.search.anneal import Heat, Walk, judged, starts
from backend.schedule.search.bounds import Bound, lower_bound
from backend.schedule.search.building_block import Block, Choice, Instance
from backend.schedule.search.certificate import Found, feasible, meets
from backend.schedule.search.initial_orders import span_of
from backend.schedule.search.passes import one_by_one

Tries = Sequence[tuple[Block, Choice]]

SECONDS = 5.0
EVERY = 0.1  # seconds between two reports without an improvement
# (first temperature, last temperature, weight of the mean window) of walks, in turn; temperatures in units of F. Far
# from the bound whole ramps still have to change, on all ranks at once, which takes a warm walk and the mean window;
# near the bound the last idle times take a cold walk.
FAR_HEATS = ((0.4, 0.01, 0.2), (0.3, 0.01, 0.3), (0.15, 0.01, 0.3))
NEAR_HEATS = ((0.1, 0.005, 0.1), (0.03, 0.002, 0.1), (0.06, 0.004, 0.1))
NEAR = 0.03  # part of the bound
FIELD = 12  # walks at the start of a generation
SHORTER = 200  # orders of the short step timed for each move of a first walk in the long one
SQUEEZED = 3  # mutated orders that take part in a generation
FIRST = 3_000_000  # ops to time in the first walk, about
MOST = 10_000  # most moves of the first walk
SLICE = 300_000  # ops to time between two clock readings: some milliseconds


class Step(NamedTuple):
    """An order that the search found, its span, and the number of orders timed for it."""

    span: float
    codes: Codes
    evaluations: int


@dataclass(frozen=True)
class Budget:
    """The limits of a search; None for no limit."""

    seconds: float | None = SECONDS
    evaluations: int | None = None


@dataclass(frozen=True, eq=False)
class Progress:
    """The state of a search; ``codes`` only if they are better than those of the last report."""

    span: float
    bound: Bound
    evaluations: int
    seconds: float
    codes: Codes | None


def search(
    instance: Instance,
    tries: Tries,
    handcrafted: Sequence[Codes] = (),
    seed: int = 1,
    budget: Budget | None = None,
    report: Callable[[Progress], None] = lambda progress: None,
    stop: Callable[[], bool] = lambda: False,
) -> Found:
    """Search until the budget is spent, ``stop()`` returns true, or the bound is met, and return the best order
    found.

    Orders are constructed from ``tries``; ``handcrafted`` orders (p, steps) take part if they keep the memory limit.
    Raises SpecError for a limit that no order keeps.
    """
    feasible(instance)
    jit.compile_all()  # takes seconds the first time, which must not count as budget
    began, limit = time.monotonic(), budget or Budget()
    bound, best, evaluations, reported = lower_bound(instance), None, 0, 0.0
    for step in orders(instance, tries, handcrafted, seed, bound):
        evaluations += step.evaluations
        seconds = time.monotonic() - began
        better = best is None or step.span < best.span * (1.0 - 1e-12)
        if best is None or better:
            best = step
        if better or seconds - reported >= EVERY:
            reported = seconds
            report(Progress(best.span, bound, evaluations, seconds, best.codes if better else None))
        spent = limit.evaluations is not None and evaluations >= limit.evaluations
        late = limit.seconds is not None and seconds >= limit.seconds
        if spent or late or meets(best.span, bound.value) or stop():
            break
    assert best is not None  # one micro-batch after the other always fits
    return Found(best.codes, best.span, bound.value, bound.name, evaluations, seed)


class Pool:
    """The orders to walk from: each new one once, the best ones again and again."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.fresh: dict[float, Codes] = {}
        self.walked: dict[float, Codes] = {}

    @property
    def best(self) -> float:
        """Return the smallest span of all."""
        return min((*self.fresh, *self.walked))

    def add(self, step: Step) -> None:
        """Add an order from which no walk has started, if one can; of orders with the same span the first is kept."""
        if step.span < float("inf") and starts(self.instance, step.codes) is not None:
            self.fresh.setdefault(step.span, step.codes)

    def pick(self, most: int) -> list[Codes]:
        """Return at most ``most`` orders: the best with earlier walks and, for at least half, the best without,
        which are marked as walked.
        """
        old, new = sorted(self.walked), sorted(self.fresh)
        old = old[: max(most // 2, most - len(new))]
        new = new[: most - len(old)]
        chosen = [self.walked[span] for span in old] + [self.fresh[span] for span in new]
        for span in new:
            self.walked[span] = self.fresh.pop(span)
        return chosen


def orders(instance: Instance, tries: Tries, handcrafted: Sequence[Codes], seed: int, bound: Bound) -> Iterator[Step]:
    """Yield every order that the search finds; endless unless nothing can be changed."""
    pool, parents, near = Pool(instance), [], bound.value * (1.0 + NEAR)
    if not instance.is_even:  # what is constructed for even micro-batches may not keep the limit
        handcrafted = [*handcrafted, one_by_one(instance)]
    for step in legal_handcrafted(instance, handcrafted):
        pool.add(step)
        yield step
    for each in initial_orders.laid(instance, tries):
        parents.append(each)
        pool.add(Step(each.span, each.codes, 1))
        yield Step(each.span, each.codes, 1)
    few = extend.short(instance) if instance.is_even else None
    short = Short(instance, few, tries, seed) if few is not None else None
    for generation in count():
        moves = max(100, min(MOST, FIRST // initial_orders.ops_of(instance)) << generation)
        children: dict[float, Codes] = {}
        for each in initial_orders.bred(instance, parents, (seed, generation), 1 << generation):
            children.setdefault(each.span, each.codes)
            if len(children) > SQUEEZED:
                del children[max(children)]
            yield Step(each.span, each.codes, 1)
        for step in chain(squeezed(instance, children), short.go(SHORTER * moves) if short is not None else ()):
            pool.add(step)
            yield step
        timed = 0
        heats = NEAR_HEATS if pool.best <= near else FAR_HEATS
        for step in generation_of(instance, pool, moves, heats, (seed, generation)):
            timed += step.evaluations
            yield step
        if timed == 0:
            return


def legal_handcrafted(instance: Instance, handcrafted: Sequence[Codes]) -> Iterator[Step]:
    """Yield the handcrafted orders that keep the memory limit."""
    for codes in handcrafted:
        if initial_orders.keeps(instance, codes):
            yield Step(span_of(instance, codes), codes, 1)


def squeezed(instance: Instance, children: dict[float, Codes]) -> Iterator[Step]:
    """Yield the orders after squeezing."""
    for span in sorted(children):
        even, codes = building_block.squeeze(instance.even, children[span])
        yield Step(judged(instance, even, codes), codes, 1)


def generation_of(
    instance: Instance, pool: Pool, moves: int, heats: tuple[tuple[float, float, float], ...], seed: tuple[int, ...]
) -> Iterator[Step]:
    """Run competing walks, which take their temperatures in turn, and add the results to the pool."""
    field = pool.pick(FIELD)
    for rung in count():
        ended: list[tuple[float, Codes]] = []
        for lane, codes in enumerate(field):
            warm, cold, mean = heats[(lane + rung + seed[-1]) % len(heats)]
            heat = Heat(warm, cold, moves << rung, mean)
            walk = Walk.of(instance, codes, random_state(*seed, rung, lane), heat)
            yield from steps_of(walk, moves << rung, instance)
            ended.append((walk.span, walk.codes))
            pool.walked.setdefault(walk.span, walk.codes)
        if len(ended) <= 1:
            return
        field = [codes for _, codes in sorted(ended, key=lambda each: each[0])[: len(ended) // 2]]


def steps_of(walk: Walk, moves: int, instance: Instance) -> Iterator[Step]:
    """Run a walk slice by slice and yield a step for each."""
    a_slice = max(10, SLICE // initial_orders.ops_of(instance))
    while moves > 0:
        timed = walk.go(min(a_slice, moves))
        yield Step(walk.span, walk.codes, timed)
        moves = moves - timed if timed > 0 else 0


class Short:
    """The search for an order of few micro-batches, which continues whenever the search for many yields to it."""

    def __init__(self, instance: Instance, few: Instance, tries: Tries, seed: int) -> None:
        self.instance, self.few, self.bound = instance, few, lower_bound(few)
        self.steps = orders(few, tries, [], seed, self.bound)
        self.best = Step(float("inf"), np.empty((0, 0), np.uint8), 0)

    def go(self, evaluations: int) -> Iterator[Step]:
        """Search for ``evaluations`` more, then make the best order longer if a better one was found."""
        before = self.best.span
        while evaluations > 0 and not meets(self.best.span, self.bound.value):
            step = next(self.steps, None)
            if step is None:
                break
            evaluations -= step.evaluations
            if step.span < self.best.span:
                self.best = step
            yield Step(float("inf"), step.codes, step.evaluations)
        if self.best.span < before:
            for codes in extend.longer(self.instance, self.few, self.best.codes):
                yield Step(span_of(self.instance, codes), codes, 1)


def random_state(*words: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return (2,) the state of a walk's random generators; different words give different states."""
    drawn = np.random.SeedSequence([abs(word) for word in words]).generate_state(2, np.uint32)
    return drawn.astype(np.int64) % 2147483398 + 1
