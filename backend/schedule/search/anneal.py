"""Simulated annealing on the strings of an order: a few ops move some places, and stay if that is not much worse.

Started cold, from a good order: at a temperature of a few hundredths of an F up to a tenth or so the walk crosses the
plateaus that single moves leave, where a hot start only forgets. Most moves are of ops on the longest path, which
alone decide the span. All choices come from the walk's own random numbers, so that a walk is the same wherever it is
interrupted. Knows no starts and no bounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .. import jit
from ..blocks import Task
from ..order import Codes
from .bounds import Alone
from .inner import inner
from .strings import GAME, STATE, TRIAL, draw, keep, note, replay, rewind, swap, undo

Strings = npt.NDArray[np.int32]

REACH = 12.0  # most places that ops move
LONGEST = 4.0  # most ops that move together: under a tight limit a W and the F that it lets in, or a whole turn
ON_PATH = 0.7  # the part of moves that are of ops on the longest path
MEAN = 0.1  # what the mean of the ranks' windows counts beside the longest
TRIES = 30  # moves looked at for each that is timed, at most: there may be none that is legal
EPSILON = 1e-9


@inner(f"int64({GAME}, {STATE}, int64[:, ::1])")
def longest_path(game: Any, state: Any, path: Any) -> int:
    """Fill ``path`` with (rank, place) from the last op of the rank with the longest window back to a first op."""
    (links, _, cost, _, head, _), (strings, before, _, place, end, _) = game, state
    p, steps = strings.shape
    width, r, longest, n = links.shape[0] // p, 0, -1.0, 0
    for q in range(p):
        if end[q, steps - 1] - head[q] > longest:
            longest, r = end[q, steps - 1] - head[q], q
    x = steps - 1
    while x >= 0 and n < path.shape[0]:
        path[n, 0], path[n, 1] = r, x
        n += 1
        row = r * width + strings[r, x]
        source = links[row, 1]
        if source >= 0 and (x == 0 or end[r, x - 1] < end[r, x] - cost[row] - EPSILON):
            k = before[r, x, strings[r, x]]
            r, x = source // width, place[source, k]
        else:
            x -= 1
    return n


@inner(f"float64({GAME}, {STATE}, {TRIAL}, float64[::1])")
def longest_window(game: Any, state: Any, trial: Any, plan: Any) -> float:
    """The longest window of a trial that ran to its end; what the walk wants least of goes to ``plan[1]``: this, and a
    little of the mean."""
    head, end, again, at = game[4], state[4], trial[0], trial[2]
    p, steps = end.shape
    longest, total = 0.0, 0.0
    for r in range(p):
        window = (again[r, steps - 1] if at[1, r] < steps else end[r, steps - 1]) - head[r]
        longest = max(longest, window)
        total += window
    plan[1] = longest + plan[8] * total / p
    return longest


@jit.kernel(f"float64({GAME}, {STATE}, {TRIAL}, float64[::1])")
def _load(game: Any, state: Any, trial: Any, plan: Any) -> float:
    """Time the strings from the start; their longest window, infinite if they come to a stop."""
    p, steps = state[0].shape
    state[1][:, 0, :] = 0
    state[2][:, 0] = 0.0
    for r in range(p):
        note(game, state, r, 0, steps - 1)
    rewind(game, state, trial, 0, 0)
    trial[5][:] = np.inf
    if not replay(game, state, trial):
        return np.inf
    longest = longest_window(game, state, trial, plan)
    keep(game, state, trial)
    return longest


@jit.kernel(f"int64({GAME}, {STATE}, {TRIAL}, int32[:, ::1], int64[:, ::1], int64[::1], float64[::1], int64)")
def _walk(game: Any, state: Any, trial: Any, best: Any, path: Any, seed: Any, plan: Any, more: int) -> int:
    """Walk on for so many moves that are timed; returns how many there were.

    ``plan``: the span of ``best``; what the walk stands at; the temperature and the factor by which a move cools it;
    the memory limit; the mean sum of ops; reach, part on the path, weight of the mean; the length of the path known.
    """
    (_, _, _, _, _, busy), strings = game, state[0]
    p, steps = strings.shape
    timed, tries = 0, 0
    while timed < more and tries < TRIES * more:
        tries += 1
        if draw(seed) < plan[7]:
            if plan[9] == 0.0:
                plan[9] = longest_path(game, state, path)
            j = int(draw(seed) * plan[9])
            r, x = path[j, 0], path[j, 1]
        else:
            r, x = int(draw(seed) * p), int(draw(seed) * steps)
        a, b = 1 + int(LONGEST * draw(seed) ** 3), 1 + int(plan[6] * draw(seed) ** 3)
        if draw(seed) < 0.5:
            a, b, x = b, a, x - b
        if x < 1 or x + a + b > steps or not swap(game, state, trial, plan[4], r, x, a, b):
            continue
        timed += 1
        plan[2] *= plan[3]
        now = plan[1]
        limit = now - plan[2] * np.log(draw(seed))
        rewind(game, state, trial, r, x)
        trial[5][:] = limit - plan[8] * plan[5] - busy
        if replay(game, state, trial):
            longest = longest_window(game, state, trial, plan)
            if plan[1] <= limit:
                keep(game, state, trial)
                note(game, state, r, x, x + a + b - 1)
                plan[9] = 0.0
                if longest < plan[0] - EPSILON:
                    plan[0] = longest
                    best[:] = strings
                continue
            plan[1] = now
        undo(game, state, trial, r, x, a + b)
    return timed


class Game(NamedTuple):
    """A task as the kernels read it: see strings.py."""

    links: npt.NDArray[np.int64]
    lag: npt.NDArray[np.float64]
    cost: npt.NDArray[np.float64]
    gain: npt.NDArray[np.float64]
    head: npt.NDArray[np.float64]
    busy: npt.NDArray[np.float64]

    @staticmethod
    def of(task: Task) -> Game:
        feeds, cost, alone = task.feeds, task.cost.ravel(), Alone.of(task)
        source = np.full_like(feeds, -1)
        source[feeds[feeds >= 0]] = np.flatnonzero(feeds >= 0)
        gain = np.tile(np.array([1.0, task.share - 1.0, -task.share]), task.placement.chunks)
        busy = task.m * cost.reshape(task.placement.p, -1).sum(axis=1)
        links = np.stack((feeds, source), axis=1)
        return Game(links, task.lag, cost, gain, alone.enter[alone.first], busy)


def to_strings(codes: Codes, chunks: int) -> Strings:
    """Types from an order's codes (p, steps)."""
    kind, chunk = np.divmod(codes.astype(np.int32), chunks)
    return np.ascontiguousarray(3 * chunk + kind)


def to_codes(strings: Strings, chunks: int) -> Codes:
    """The other way round."""
    chunk, kind = np.divmod(strings, 3)
    return (kind * chunks + chunk).astype(np.uint8)


@dataclass(frozen=True)
class Heat:
    """From which temperature to which a walk cools, in the mean F, over how many moves; and how it moves."""

    warm: float
    cold: float
    moves: int
    reach: float = REACH
    on_path: float = ON_PATH
    mean: float = MEAN


@dataclass(frozen=True, eq=False)
class Walk:
    """A walk under way; its arrays change with every move. ``seed`` (2,) is all that its choices come from."""

    chunks: int
    game: tuple[Any, ...]
    state: tuple[Any, ...]
    trial: tuple[Any, ...]
    best: Strings
    path: npt.NDArray[np.int64]
    seed: npt.NDArray[np.int64]
    plan: npt.NDArray[np.float64]

    @staticmethod
    def of(task: Task, codes: Codes, seed: npt.NDArray[np.int64], heat: Heat) -> Walk:
        """A walk from an order (p, steps) that can run and keeps the limit."""
        game, strings = Game.of(task), to_strings(codes, task.placement.chunks)
        (p, steps), (rows, width) = strings.shape, (len(game.cost), len(game.gain))
        ints, floats = np.int64, np.float64
        state = (
            strings, np.zeros((p, steps + 1, width), np.int32), np.zeros((p, steps + 1)),
            np.zeros((rows, task.m), np.int32), np.zeros((p, steps)), np.zeros((rows, task.m)),
        )  # fmt: skip
        trial = (
            np.zeros((p, steps)), np.zeros((rows, task.m)), np.zeros((2, p), ints), np.zeros((3, rows), ints),
            np.zeros((2, p)), np.full(p, np.inf), np.zeros(width + steps, np.int32),
        )  # fmt: skip
        f = float(task.cost[:, 0].mean())
        warm, cold = max(heat.warm * f, EPSILON), max(heat.cold * f, EPSILON)
        factor = (cold / warm) ** (1.0 / heat.moves)
        plan = np.array(
            [
                np.inf,
                0.0,
                warm,
                factor,
                task.room + EPSILON,
                game.busy.mean(),
                heat.reach,
                heat.on_path,
                heat.mean,
                0.0,
            ],
            floats,
        )
        plan[0] = _load(tuple(game), state, trial, plan)
        path = np.zeros((2 * steps + 4 * p, 2), ints)
        return Walk(task.placement.chunks, tuple(game), state, trial, strings.copy(), path, seed, plan)

    def go(self, moves: int) -> int:
        """Time so many more moves; fewer only if hardly any is legal. Returns how many."""
        return int(_walk(self.game, self.state, self.trial, self.best, self.path, self.seed, self.plan, moves))

    @property
    def span(self) -> float:
        """Of the best order so far."""
        return float(self.plan[0])

    @property
    def codes(self) -> Codes:
        """The best order so far."""
        return to_codes(self.best, self.chunks)
