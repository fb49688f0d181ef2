"""Lower bounds on the span of any order of a task, each with its argument.

The *span* is the longest of the ranks' own windows, from a rank's first start to its last end, with every op as early
as its order and its inputs allow. Each bound looks at one rank, or at one rank and the way from it to another, and
forgets what the others do. They hold for any order on the placement (one stream: looped or V), any costs, and any
memory limit; micro-batches are alike, so that a k-th op may stand for any.

"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from backend.schedule.errors import message
from backend.schedule.search.building_block import Task

Floats = npt.NDArray[np.float64]
EPSILON = 1e-9


@dataclass(frozen=True)
class Bound:
    """``value`` that no span is below, and the ``name`` of the argument."""

    value: float
    name: str


@dataclass(frozen=True)
class Alone:
    """One micro-batch on its own through all stages. ``rank``, ``f``, ``i``, ``w`` (S,) by stage; ``enter`` when its F
    starts in each stage, ``leave`` when its I ends. Every micro-batch takes at least as long between any two."""

    rank: npt.NDArray[np.int64]
    f: Floats
    i: Floats
    w: Floats
    enter: Floats
    leave: Floats

    @staticmethod
    def of(task: Task) -> Alone:
        place = task.placement
        slot = place.slot_at[0]
        rank = slot // place.chunks
        f, i, w = task.cost[slot].T
        hop = np.where(np.diff(rank) != 0, task.costs.comm, 0.0)
        enter = np.concatenate(([0.0], np.cumsum(f[:-1] + hop)))
        back = np.concatenate(([0.0], np.cumsum(i[:0:-1] + hop[::-1])))[::-1]
        return Alone(rank, f, i, w, enter, enter[-1] + f[-1] + back + i)

    @cached_property
    def first(self) -> npt.NDArray[np.int64]:
        """(p,) the lowest stage of each rank: where its first op and its last gradient are."""
        return np.array([np.flatnonzero(self.rank == r)[0] for r in range(self.rank.max() + 1)])

    @cached_property
    def top(self) -> npt.NDArray[np.int64]:
        """(p,) the highest stage of each rank: where its first gradient is, and its last F."""
        return np.array([np.flatnonzero(self.rank == r)[-1] for r in range(self.rank.max() + 1)])


@dataclass(frozen=True)
class Drain:
    """What may be left of a rank after its last F: ``gradients`` I and ``weights`` W ops."""

    gradients: int
    weights: int


def work(task: Task) -> float:
    """A rank does one op at a time, so its window is at least the sum of its ops."""
    return float(_work(task).max())


def _work(task: Task) -> Floats:
    """(p,)."""
    return task.m * np.asarray(task.cost.reshape(task.placement.p, -1).sum(axis=1))


def fill_and_drain(task: Task) -> float:
    """Idle before the first gradient and after the last F, under the memory limit.

    *Fill.* A rank starts with F of its lowest stage, as soon as the first micro-batch gets there. Its first I is that
    of its highest stage, no earlier than a micro-batch alone takes to get there. Until then it has done F only, and no
    more of them than the limit holds: the rest of the time it is idle.

    *Drain.* The last F of a rank q is that of its highest stage, because every F of a lower one has one of a higher
    one still to come. When it starts, what is left of earlier micro-batches is still in memory: x more I and y more W
    with (1 - share) x + share y <= room (``drains``). Everything else q has done by then. From this F its micro-batch
    alone takes its time through all later stages and back to the lowest stage of any rank r; and the last I of q comes
    after all x of them, from where another gradient walks on to every r before q. Then r does at least one W. The
    least over (x, y) of the longer of both ways is what r's window cannot be shorter than.

    If all F fit into memory at once, the idle time of the fill may be the same as that of the drain; only one counts.
    """
    alone, total = Alone.of(task), _work(task)
    start, deep = alone.enter[alone.first], task.placement.chunks * task.m > int(task.room + EPSILON)
    done = alone.leave[alone.first]
    best = 0.0
    for q, (first, top) in enumerate(zip(alone.first.tolist(), alone.top.tolist(), strict=True)):
        mine = alone.rank == q
        idle = max(0.0, alone.leave[top] - alone.i[top] - start[q] - _longest(task, alone.f[mine]))
        best = max(best, total[q] + idle)
        ready = total[q] + (idle if deep else 0.0)
        way = done - (alone.enter[top] + alone.f[top])
        walk = np.where(alone.first <= first, done - alone.leave[first], -np.inf)
        i_min, i_max, w_max = alone.i[mine].min(), alone.i[mine].max(), alone.w[mine].max()
        least = np.full(len(total), np.inf)
        for left in drains(task):
            ended = ready - left.gradients * i_max - left.weights * w_max
            least = np.minimum(least, ended + np.maximum(way, left.gradients * i_min + walk))
        best = max(best, float((start[q] - start + least + alone.w[alone.first]).max()))
    return best


def _longest(task: Task, f: Floats) -> float:
    """The most time that as many F can take as the limit holds at once."""
    left, total = int(task.room + EPSILON), 0.0
    for each in sorted(f.tolist(), reverse=True):
        total += min(left, task.m) * each
        left -= min(left, task.m)
    return total


def drains(task: Task) -> list[Drain]:
    """For every number of I that can be left when the last F starts, the most W that can: together within the room."""
    ops, share = task.placement.chunks * task.m, task.share
    out = []
    for x in range(1, min(ops, int(task.room + EPSILON)) + 1):
        spare = task.room + EPSILON - (1.0 - share) * x
        y = ops if share * ops <= spare else int(spare / share)
        out.append(Drain(x, min(max(x, y), ops)))
    return out


def lifetimes(task: Task) -> float:
    """Little's law: memory times window is at least micro-batches times the least time that each holds memory.

    In a stage an activation is held from the start of F until I ends, at least as long as a micro-batch alone takes
    for the way there and back, and W's share of it for one W more. Summed over a rank's stages and m micro-batches
    this is an area that must fit under the limit times the window; less what the limit leaves empty at both ends
    (``Ends``): ``plain`` counts the rank's own ops, ``queued`` the wait for all others at the last stage.
    """
    alone = Alone.of(task)
    held = alone.leave - alone.enter + task.share * alone.w
    best = work(task)  # below which no area is worth measuring
    for r in range(task.placement.p):
        area = task.m * float(held[alone.rank == r].sum())
        for ends in (plain(task, alone, r), queued(task, alone, r)):
            best = max(best, ends.window(area, best))
    return best


def plain(task: Task, alone: Alone, r: int) -> Ends:
    """The (j+1)-th F starts at least j F after the first; and after the j-th I from the end, the last one being the
    first, there are still j - 1 I and j W to do."""
    f, i, w = (float(cost[alone.rank == r].min()) for cost in (alone.f, alone.i, alone.w))
    j = np.arange(task.placement.chunks * _depth(task), dtype=np.float64)
    return Ends.of(task, j * f, j * i + (j + 1.0) * w, j * (i + w), True)


def queued(task: Task, alone: Alone, r: int) -> Ends:
    """The last stage has an F and an I to do for every micro-batch, a *pace* apart.

    The I of micro-batch j of any stage ends no earlier than j paces after that of micro-batch 0 alone. Of the time
    that the early half is held count only the last part, as long as it must be: then j enters j paces after 0.
    After the F of micro-batch m - 1 - j of any stage the last stage does those of j more before the last one comes
    back, down to the rank's lowest stage and its W. Of the late half count only the first part: it ends j paces before
    that of the last. Both halves must be long enough that neither reaches into the other's ramp: since a stage cannot
    hold more than the limit, micro-batch j + limit starts after j came back.
    """
    pace, held, half = alone.f[-1] + alone.i[-1], int(task.room + EPSILON), task.m // 2
    mine, first = np.flatnonzero(alone.rank == r), alone.first[r]
    j = np.arange(_depth(task), dtype=np.float64)[:, None]
    enter = alone.enter[mine] - alone.enter[first] + j * np.maximum(pace, alone.f[mine])
    gone = alone.leave[first] - alone.leave[mine] + alone.w[first] + j * pace
    ends = Ends.of(task, enter.ravel(), gone.ravel(), (gone - alone.w[mine]).ravel(), False)
    apart = float((alone.leave - alone.enter - alone.w)[mine].min()) + min(half, task.m - half) * pace - held * pace
    return ends if min(half, task.m - half) >= held and apart >= max(ends.rise.length, ends.fall.length) else NONE


def _depth(task: Task) -> int:
    """Enough of a stage's micro-batches to fill the limit by their least share, or all."""
    least = min((each for each in (task.share, 1.0 - task.share) if each > 0.0), default=1.0)
    return int(min(np.ceil(task.room / least) + 2, task.m))


@dataclass(frozen=True)
class Ends:
    """What the limit leaves empty at both ends of a window: a ramp up from the start and a ramp down to the end;
    ``meet`` whether they hold where they overlap too."""

    room: float
    rise: Ramp
    fall: Ramp
    meet: bool

    @staticmethod
    def of(task: Task, enter: Floats, gone: Floats, paid: Floats, meet: bool) -> Ends:
        """From the times at which activations enter, and, back from the end, at which what I and what W gives back is
        gone."""
        parts = np.repeat([1.0 - task.share, task.share], len(gone))
        rise = Ramp.of(enter, np.ones(len(enter)), task.room)
        return Ends(task.room, rise, Ramp.of(np.concatenate((gone, paid)), parts, task.room), meet)

    def window(self, area: float, enough: float) -> float:
        """The shortest window that the area fits into, if it may be longer than ``enough``; else 0."""
        least = (area + self.rise.missing + self.fall.missing) / self.room
        both = self.rise.length + self.fall.length
        if least <= enough:
            return 0.0
        if least >= both:
            return least
        if not self.meet:
            return 0.0
        low, high = 0.0, max(least, both)
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (low, middle) if self._under(middle) >= area else (middle, high)
        return low

    def _under(self, window: float) -> float:
        """The area under the limit and both ramps."""
        starts, ends = self.rise.at[self.rise.at < window], window - self.fall.at[self.fall.at < window]
        edges = np.unique(np.concatenate((starts, ends, [0.0, window])))
        middle = (edges[1:] + edges[:-1]) / 2
        level = np.minimum(self.room, np.minimum(self.rise(middle), self.fall(window - middle)))
        return float((level * np.diff(edges)).sum())


@dataclass(frozen=True)
class Ramp:
    """A level that rises by ``step`` at each time ``at`` until it reaches the limit after ``length``; ``missing`` the
    area between it and the limit."""

    at: Floats
    level: Floats
    length: float
    missing: float

    @staticmethod
    def of(at: Floats, step: Floats, room: float) -> Ramp:
        order = np.argsort(at, kind="stable")
        at, level = at[order], np.minimum(np.cumsum(step[order]), room)
        level[-1] = room  # where all together hold less, it is no lower than they do
        full = int(np.argmax(level >= room - EPSILON))
        gaps = (room - level[:full]) * np.diff(at[: full + 1])
        return Ramp(at, level, float(at[full]), float(gaps.sum() + room * at[0]))

    def __call__(self, t: Floats) -> Floats:
        return np.concatenate(([0.0], self.level))[np.searchsorted(self.at, t, side="right")]


NOTHING = np.zeros(1)
NONE = Ends(np.inf, Ramp(NOTHING, NOTHING, 0.0, 0.0), Ramp(NOTHING, NOTHING, 0.0, 0.0), False)


BOUNDS = (
    (message("schedule.bound_work", "work"), work),
    (message("schedule.bound_fill_and_drain", "fill and drain"), fill_and_drain),
    (message("schedule.bound_lifetimes", "lifetimes"), lifetimes),
)


def lower_bound(task: Task) -> Bound:
    """The best of all bounds; of equal ones the simplest."""
    best = Bound(0.0, "")
    for name, bound in BOUNDS:
        value = bound(task)
        if value > best.value * (1.0 + EPSILON):
            best = Bound(value, name)
    return best
