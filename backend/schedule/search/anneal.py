"""Simulated annealing on the strings of an order: move a few ops by some positions, and accept if not much worse.

The walk starts cold, from a good order. At temperatures from a few hundredths to about a tenth of an F it crosses the
plateaus where single moves end; a hot start would only lose the good order. Most moves are of ops on the longest
path, which alone determine the span. All choices come from the walk's own random numbers, so that a walk is the same
wherever it is interrupted.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from backend.schedule.order.order import Codes
from backend.schedule.search.alone import Alone
from backend.schedule.search.building_block import Instance
from backend.schedule.search.moves import EPSILON, load, walk

Strings = npt.NDArray[np.int32]

REACH = 12.0  # most positions by which ops move
ON_PATH = 0.7  # share of the moves whose ops are on the longest path


class Game(NamedTuple):
    """An instance in the form that the kernels read: see moves.py."""

    links: npt.NDArray[np.int64]
    lag: npt.NDArray[np.float64]
    cost: npt.NDArray[np.float64]
    gain: npt.NDArray[np.float64]
    head: npt.NDArray[np.float64]
    busy: npt.NDArray[np.float64]
    own: npt.NDArray[np.float64]
    spent: npt.NDArray[np.float64]
    taken: npt.NDArray[np.float64]
    late: npt.NDArray[np.float64]

    @staticmethod
    @lru_cache(maxsize=2)  # an order of micro-batches that differ is judged by its game, thousands of orders in turn
    def of(instance: Instance) -> Game:
        """Return the game of an instance; when each rank starts depends on the order."""
        feeds, place = instance.feeds, instance.placement
        source = np.full_like(feeds, -1)
        source[feeds[feeds >= 0]] = np.flatnonzero(feeds >= 0)
        links, cost = np.stack((feeds, source), axis=1), instance.cost.ravel()
        gain = np.tile(np.array([1.0, instance.share - 1.0, -instance.share]), place.chunks)
        busy, head = instance.busy, np.zeros(place.p)
        if not instance.is_sized:
            return Game(links, instance.lag, cost, gain, head, busy, *[np.empty((0, 0))] * 4)
        stream = np.repeat(place.stream_of.ravel(), 3)
        own = cost[:, None] * instance.scale[stream]
        spent = np.hstack((np.zeros((len(own), 1)), np.cumsum(own, axis=1)))
        taken = gain[:, None] * instance.sizes[stream[: len(gain)]]
        late = (instance.lag + instance.early)[:, None] - instance.early[:, None] * instance.scale[stream]
        return Game(links, instance.lag, cost, gain, head, busy, own, spent, taken, late)


def starts(instance: Instance, codes: Codes) -> npt.NDArray[np.float64] | None:
    """Return (p,) when each rank starts its first op, which no walk changes; None if that depends on other ops.

    A rank's first op is the F of some stage. It starts as soon as the first micro-batch arrives on its own, if that
    stage is also the first op of the rank before it. With one stream that is so in every order, with two streams in
    all that make sense.
    """
    place = instance.placement
    first = np.arange(place.p) * place.chunks + codes[:, 0] % place.chunks
    before = place.before[first]
    fixed = (before < 0) | (first[before // place.chunks] == before)
    return _entered(instance)[first] if bool(fixed.all()) else None


@lru_cache(maxsize=2)  # as a game's
def _entered(instance: Instance) -> npt.NDArray[np.float64]:
    """Return (slots,) when the first micro-batch of each slot's stream would enter it on its own."""
    place = instance.placement
    enter = np.stack([Alone.of(instance, stream=stream).enter for stream in range(place.streams)])
    return enter[place.stream_of.ravel(), place.stage_of.ravel()]


def to_strings(codes: Codes, chunks: int) -> Strings:
    """Convert an order's codes (p, steps) to types (p, steps)."""
    kind, chunk = np.divmod(codes.astype(np.int32), chunks)
    return np.ascontiguousarray(3 * chunk + kind)


def to_codes(strings: Strings, chunks: int) -> Codes:
    """Convert types (p, steps) to an order's codes (p, steps)."""
    chunk, kind = np.divmod(strings, 3)
    return (kind * chunks + chunk).astype(np.uint8)


@dataclass(frozen=True)
class Heat:
    """A temperature schedule: cool from ``warm`` to ``cold``, in units of the mean F, over ``moves`` moves. ``mean``
    is the weight of the mean of the ranks' windows beside the longest.
    """

    warm: float
    cold: float
    moves: int
    mean: float = 0.1


@dataclass(frozen=True, eq=False)
class Walk:
    """A walk in progress; its arrays change with every move. All its choices come from ``seed`` (2,)."""

    chunks: int
    game: tuple[Any, ...]
    state: tuple[Any, ...]
    trial: tuple[Any, ...]
    best: Strings
    path: npt.NDArray[np.int64]
    seed: npt.NDArray[np.int64]
    plan: npt.NDArray[np.float64]

    @staticmethod
    def of(instance: Instance, codes: Codes, seed: npt.NDArray[np.int64], heat: Heat) -> Walk:
        """Start a walk from an order (p, steps) that is legal, keeps the limit and has fixed starts."""
        head = starts(instance, codes)
        assert head is not None
        game, strings = Game.of(instance)._replace(head=head), to_strings(codes, instance.placement.chunks)
        (p, steps), (rows, width) = strings.shape, (len(game.cost), len(game.gain))
        ints, floats = np.int64, np.float64
        state = (
            strings, np.zeros((p, steps + 1, width), np.int32), np.zeros((p, steps + 1)),
            np.zeros((rows, instance.n), np.int32), np.zeros((p, steps)), np.zeros((rows, instance.n)),
        )  # fmt: skip
        trial = (
            np.zeros((p, steps)), np.zeros((rows, instance.n)), np.zeros((2, p), ints), np.zeros((3, rows), ints),
            np.zeros((2, p)), np.full(p, np.inf), np.zeros(width + steps, np.int32),
        )  # fmt: skip
        f = float(instance.cost[:, 0].mean())
        warm, cold = max(heat.warm * f, EPSILON), max(heat.cold * f, EPSILON)
        factor = (cold / warm) ** (1.0 / heat.moves)
        plan = np.array(
            [
                np.inf,
                0.0,
                warm,
                factor,
                instance.room + EPSILON,
                game.busy.mean(),
                REACH,
                ON_PATH,
                heat.mean,
                0.0,
            ],
            floats,
        )
        plan[0] = load(tuple(game), state, trial, plan)
        path = np.zeros((2 * steps + 4 * p, 2), ints)
        return Walk(instance.placement.chunks, tuple(game), state, trial, strings.copy(), path, seed, plan)

    def go(self, moves: int) -> int:
        """Time ``moves`` more moves; fewer only if hardly any is legal. Returns the number timed."""
        return int(walk(self.game, self.state, self.trial, self.best, self.path, self.seed, self.plan, moves))

    @property
    def span(self) -> float:
        """Return the span of the best order so far."""
        return float(self.plan[0])

    @property
    def codes(self) -> Codes:
        """Return the codes (p, steps) of the best order so far."""
        return to_codes(self.best, self.chunks)


def judged(instance: Instance, span: float, codes: Codes) -> float:
    """Return the span of an order that was constructed for even micro-batches, where it has another ``span``; infinite
    if it does not keep the limit with their sizes, or no walk can start from it.
    """
    if instance.is_even:
        return span
    if starts(instance, codes) is None:
        return float("inf")
    walk = Walk.of(instance, codes, np.ones(2, np.int64), Heat(0.0, 0.0, 1))
    level = walk.state[2]
    return walk.span if float(level.max()) <= instance.room + EPSILON else float("inf")
