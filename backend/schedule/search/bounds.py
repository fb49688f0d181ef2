"""Compute lower bounds on the span of any order of an instance; each function states the argument of its bound.

The *span* is the longest of the ranks' own windows, from a rank's first start to its last end, when every op runs as
early as its order and its inputs allow. Each bound considers one rank, or one rank and the path from it to another,
and ignores all other ranks. The bounds hold for any order on the placement, any costs and any memory limit.
Micro-batches of a stream are alike, so the k-th op of a kind may belong to any of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from backend.schedule.errors import message
from backend.schedule.search.alone import Alone
from backend.schedule.search.building_block import Instance
from backend.schedule.search.device_relaxation import shortest
from backend.schedule.simulation.costs import SizedCosts

Floats = npt.NDArray[np.float64]
EPSILON = 1e-9
NEAR = 0.97  # part of the best bound, below which a group of devices does not grow


@dataclass(frozen=True)
class Bound:
    """A lower bound: no span is below ``value``; ``name`` names the argument."""

    value: float
    name: str


@dataclass(frozen=True)
class Drain:
    """The ops that may be left on a rank after its last F: ``gradients`` I and ``weights`` W."""

    gradients: int
    weights: int


def work(instance: Instance) -> float:
    """Bound the span by the sum of a rank's ops: a rank runs one op at a time."""
    return float(instance.busy.max())


def arrival_and_work(instance: Instance) -> float:
    """Bound the makespan, not the span: a rank's ops begin no earlier than a micro-batch arrives there on its own."""
    alone = Alone.of(instance)
    arrival = np.array([alone.enter[alone.stages_of(r)].min() for r in range(instance.placement.p)])
    return float((arrival + instance.busy).max())


def fill_and_drain(instance: Instance) -> float:
    """Bound the span by the idle time before the first gradient and after the last F, under the memory limit.

    *Fill.* A rank starts with F of its lowest stage, as soon as the first micro-batch arrives. Its first I is in its
    highest stage, no earlier than a micro-batch alone takes to get there. Until then the rank has run only F, at most
    as many as the limit allows; for the rest of the time it is idle.

    *Drain.* The last F of a rank q is in its highest stage, because every F of a lower stage is followed by one of a
    higher stage. When it starts, the rest of earlier micro-batches is still in memory: x more I and y more W with (1
    - share) x + share y <= room (``drains``). All other ops of q are done by then. From this F on, its micro-batch
    alone takes its time through all later stages and back to the lowest stage of any rank r. The last I of q comes
    after all x of them; from there another gradient passes to every r before q. Then r runs at least one W. The
    window of r is at least the minimum over (x, y) of the longer of these two paths.

    If all F fit into memory at once, the idle time of the fill may be the same as that of the drain; only one of them
    counts.
    """
    if instance.is_sized:
        return _of_sizes(instance)
    if instance.placement.streams == 2:
        return _of_two_streams(instance)
    alone, total = Alone.of(instance), instance.busy
    start, deep = alone.enter[alone.first], _deep(instance)
    done = alone.leave[alone.first]
    lefts = np.array([(left.gradients, left.weights) for left in drains(instance)], np.float64)
    best = 0.0
    for q, (first, top) in enumerate(zip(alone.first.tolist(), alone.top.tolist(), strict=True)):
        mine = alone.rank == q
        idle = max(0.0, alone.leave[top] - alone.i[top] - start[q] - _longest(instance, alone.f[mine]))
        best = max(best, total[q] + idle)
        ready = total[q] + (idle if deep else 0.0)
        way = done - (alone.enter[top] + alone.f[top])
        walk = np.where(alone.first <= first, done - alone.leave[first], -np.inf)
        i_min, i_max, w_max = alone.i[mine].min(), alone.i[mine].max(), alone.w[mine].max()
        least = np.full(len(total), np.inf)
        for gradients, weights in fullest(lefts, i_min, i_max, w_max).tolist():
            ended = ready - gradients * i_max - weights * w_max
            least = np.minimum(least, ended + np.maximum(way, gradients * i_min + walk))
        best = max(best, float((start[q] - start + least + alone.w[alone.first]).max()))
    return best


def _of_two_streams(instance: Instance) -> float:
    """Bound the span by the same idle times with two streams, where a rank may begin with either of its two stages.

    *Fill.* From the start of an F to that of its I every micro-batch takes at least its *stay*, the time it takes
    alone. A rank's first op is an F; until its first I it is idle for the part of the shorter stay in which it cannot
    run F under the limit. At least one of the ranks at the ends begins with stage 0, when the step begins: if both
    began with stage p-1, each would wait for the other. If the first I of that rank is in stage p-1, its micro-batch
    arrives no earlier than one alone does, and until then the rank leaves room for it. Otherwise it waits for the stay
    in stage 0.

    *Drain.* From the start of a rank's last F its stay passes, then at least its I and a W run. The rest of this time
    the rank is idle except for this F and what is left of earlier micro-batches (``drains``).
    """
    alone, total = Alone.of(instance), instance.busy
    stay = alone.leave - alone.i - alone.enter
    best = 0.0
    for r in range(instance.placement.p // 2):
        mine = alone.stages_of(r)
        fill = max(0.0, float(stay[mine].min()) - _longest(instance, alone.f[mine]))
        if r == 0:
            room = alone.enter[-1] - _longest(instance, alone.f[:1], spare=1)
            fill = max(fill, min(room, stay[0] - _longest(instance, alone.f[mine])))
        i_max, w_max = alone.i[mine].max(), alone.w[mine].max()
        rest = max(left.gradients * i_max + left.weights * w_max for left in drains(instance))
        drain = max(0.0, float((stay - alone.f + alone.i + alone.w)[mine].min() - rest))
        best = max(best, float(total[r]) + (fill + drain if _deep(instance) else max(fill, drain)))
    return best


def _of_sizes(instance: Instance) -> float:
    """Bound the span by the same idle times where micro-batches differ: the first one alone fills, the last one alone
    drains, and the ops that run meanwhile are as many and as long as the limit allows (``_most``). One stream only.
    """
    total = instance.busy
    if instance.placement.streams == 2:
        return float(total.max())
    first, last = Alone.of(instance), Alone.of(instance, -1)
    best, deep = 0.0, _deep(instance)
    for q, (low, top) in enumerate(zip(first.first.tolist(), first.top.tolist(), strict=True)):
        f, i, w = instance.cost[instance.placement.slot_at[0][first.rank == q]].max(axis=0).tolist()
        fill = max(0.0, first.leave[top] - first.i[top] - first.enter[low] - f * _most(instance, instance.room))
        later = instance.room / instance.share if instance.share > 0.0 else np.inf
        rest = last.f[top] + i * _most(instance, instance.room) + w * _most(instance, later)
        drain = max(0.0, last.leave[low] - last.enter[top] + last.w[low] - rest)
        best = max(best, float(total[q]) + (fill + drain if deep else max(fill, drain)))
    return best


def _most(instance: Instance, room: float) -> float:
    """Return how many times its cost ops take together, at most, whose micro-batches fit into ``room`` on a device:
    the part that depends on sizes fills the room, the other is that of as many as fit, the smallest ones.
    """
    assert isinstance(instance.costs, SizedCosts)
    sizes, fixed = np.sort(np.repeat(instance.sizes[0], instance.placement.chunks)), instance.costs.fixed
    count = int(np.searchsorted(np.cumsum(sizes), room + EPSILON, "right"))
    return fixed * count + (1.0 - fixed) * min(room, float(sizes.sum()))


def _deep(instance: Instance) -> bool:
    """Return whether not all F of a rank fit into memory at once."""
    if instance.is_sized:
        return float(instance.sizes[0].sum()) * instance.placement.chunks > instance.room + EPSILON
    return instance.placement.chunks * instance.n > int(instance.room + EPSILON)


def _longest(instance: Instance, f: Floats, spare: int = 0) -> float:
    """Return the longest time of as many F as the limit allows in memory at once, ``spare`` fewer."""
    left, total = int(instance.room + EPSILON) - spare, 0.0
    for each in sorted(f.tolist(), reverse=True):
        total += min(left, instance.n) * each
        left -= min(left, instance.n)
    return total


def drains(instance: Instance) -> list[Drain]:
    """List, for each number of I that can be left when the last F starts, the largest number of W within the room."""
    ops, share = instance.placement.chunks * instance.n, instance.share
    out = []
    for x in range(1, min(ops, int(instance.room + EPSILON)) + 1):
        spare = instance.room + EPSILON - (1.0 - share) * x
        y = ops if share * ops <= spare else int(spare / share)
        out.append(Drain(x, min(max(x, y), ops)))
    return out


def fullest(lefts: Floats, i_min: float, i_max: float, w_max: float) -> Floats:
    """Leave out what may be left on a rank, rows of numbers of I and W, if more may be left both with the time of its
    I and without it: usually all but one, where W needs the whole activation.
    """
    ops = lefts @ np.array([i_max, w_max])
    lefts = lefts[np.argsort(-ops, kind="stable")]
    rest = lefts @ np.array([i_max - i_min, w_max])
    more = np.append(True, rest[1:] > np.maximum.accumulate(rest)[:-1])
    return np.asarray(lefts[more])


def lifetimes(instance: Instance) -> float:
    """Bound the span by Little's law: memory times window is at least micro-batches times the least lifetime of
    each.

    A stage holds an activation from the start of F to the end of I, at least as long as a micro-batch alone takes
    from there to the last stage and back; it holds the share of W for one W longer. The sum over a rank's stages and
    m micro-batches is an area that must fit under the limit times the window, less the area under the limit that
    stays empty at both ends (``Ends``). ``plain`` counts the rank's own ops there, ``queued`` the wait for all other
    micro-batches at the last stage.
    """
    alone = Alone.of(instance)
    held = alone.leave - alone.enter + instance.share * alone.w
    best = work(instance)  # an area that gives less is not measured
    for r in range(instance.placement.p):
        area = instance.n * float(held[alone.stages_of(r)].sum())
        for ends in (plain(instance, alone, r), queued(instance, alone, r)):
            best = max(best, ends.window(area, best))
    return best


def plain(instance: Instance, alone: Alone, r: int) -> Ends:
    """Return the empty ends that follow from the rank's own ops.

    The (j+1)-th F starts at least j F after the first. After the j-th I from the end, counting the last one as the
    first, j - 1 I and j W are still to run.
    """
    f, i, w = (float(cost[alone.stages_of(r)].min()) for cost in (alone.f, alone.i, alone.w))
    j = np.arange(instance.placement.chunks * _depth(instance), dtype=np.float64)
    return Ends.of(instance, j * f, j * i + (j + 1.0) * w, j * (i + w), True)


def queued(instance: Instance, alone: Alone, r: int) -> Ends:
    """Return the empty ends that follow from the last stage, which runs an F and an I for every micro-batch: one
    *pace*.

    The I of micro-batch j in any stage ends no earlier than j paces after that of micro-batch 0 alone. Of the time
    that the first half of the micro-batches is in memory, count only the last part, of the least possible length:
    then j enters j paces after 0. After the F of micro-batch m - 1 - j in any stage, the last stage runs those of j
    more micro-batches before the last one comes back, down to the rank's lowest stage and its W. Of the second half
    count only the first part: it ends j paces before that of the last. Both halves must be long enough that neither
    reaches into the other's ramp: since a stage cannot hold more than the limit, micro-batch j + limit starts after j
    came back. Not for two streams, whose last stages are on different ranks.
    """
    if instance.placement.streams == 2:
        return NONE
    pace, held, half = alone.f[-1] + alone.i[-1], int(instance.room + EPSILON), instance.m // 2
    mine, first = np.flatnonzero(alone.rank == r), alone.first[r]
    j = np.arange(_depth(instance), dtype=np.float64)[:, None]
    enter = alone.enter[mine] - alone.enter[first] + j * np.maximum(pace, alone.f[mine])
    gone = alone.leave[first] - alone.leave[mine] + alone.w[first] + j * pace
    ends = Ends.of(instance, enter.ravel(), gone.ravel(), (gone - alone.w[mine]).ravel(), False)
    apart = float((alone.leave - alone.enter - alone.w)[mine].min()) + min(half, instance.m - half) * pace - held * pace
    return ends if min(half, instance.m - half) >= held and apart >= max(ends.rise.length, ends.fall.length) else NONE


def _depth(instance: Instance) -> int:
    """Return how many of a stage's micro-batches fill the limit by their smaller share; at most all of them."""
    least = min((each for each in (instance.share, 1.0 - instance.share) if each > 0.0), default=1.0)
    return int(min(np.ceil(instance.room / least) + 2, instance.n))


@dataclass(frozen=True)
class Ends:
    """The parts under the memory limit that stay empty at both ends of a window: a ramp up and a ramp down.

    ``meet`` is true if both ramps hold where they overlap, too.
    """

    room: float
    rise: Ramp
    fall: Ramp
    meet: bool

    @staticmethod
    def of(instance: Instance, enter: Floats, gone: Floats, paid: Floats, meet: bool) -> Ends:
        """Build the ends from the times ``enter`` at which activations enter and, counted back from the end, the
        times ``gone`` and ``paid`` at which the part freed by I and the part freed by W is gone.
        """
        parts = np.repeat([1.0 - instance.share, instance.share], len(gone))
        rise = Ramp.of(enter, np.ones(len(enter)), instance.room)
        return Ends(instance.room, rise, Ramp.of(np.concatenate((gone, paid)), parts, instance.room), meet)

    def window(self, area: float, enough: float) -> float:
        """Return the shortest window that the area fits into; 0 if it cannot be longer than ``enough``."""
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
        """Return the area under the limit and both ramps."""
        starts, ends = self.rise.at[self.rise.at < window], window - self.fall.at[self.fall.at < window]
        edges = np.unique(np.concatenate((starts, ends, [0.0, window])))
        middle = (edges[1:] + edges[:-1]) / 2
        level = np.minimum(self.room, np.minimum(self.rise(middle), self.fall(window - middle)))
        return float((level * np.diff(edges)).sum())


@dataclass(frozen=True)
class Ramp:
    """A level that rises at the times ``at`` until it reaches the limit after ``length``.

    ``missing`` is the area between the level and the limit.
    """

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


def devices_alone(instance: Instance) -> float:
    """Bound the span by the shortest schedule of a few devices, with all others never busy (device_relaxation.py).

    The first devices hold micro-batches longest, the last ones of a V hold all chunks of each at once. From either
    end a group grows by one device at a time while it is near the best and not too large to solve. Micro-batches of one
    stream only.
    """
    if instance.placement.streams == 2:
        return 0.0
    alone, p = Alone.of(instance), instance.placement.p
    best = 0.0
    for end in sorted({0, p - 1}):
        ranks = [end]
        value = shortest(instance, alone, ranks)
        best = max(best, value)
        while value >= NEAR * best > 0.0 and len(ranks) < p:
            ranks = [*ranks, len(ranks)] if end == 0 else [ranks[0] - 1, *ranks]
            value = shortest(instance, alone, ranks)
            best = max(best, value)
    return best


BOUNDS = (
    (message("schedule.bound_work", "work"), work),
    (message("schedule.bound_fill_and_drain", "fill and drain"), fill_and_drain),
    (message("schedule.bound_lifetimes", "lifetimes"), lifetimes),
    (message("schedule.bound_devices_alone", "a few devices alone"), devices_alone),
)


def lower_bound(instance: Instance) -> Bound:
    """Return the largest of all bounds; of equal ones the simplest. Of an instance with untrained stages that of the
    work: the others count on a backward in every stage. The last two know no bound where micro-batches differ, the last
    where backwards begin before their gradient arrives.
    """
    if instance.share in (0.0, 1.0) and not instance.is_sized:  # only whole chunks count
        instance = replace(instance, room=float(int(instance.room + EPSILON)))
    best = Bound(0.0, "")
    known = 1 if instance.untrained else 2 if instance.is_sized else 4 if instance.is_even else 3
    for name, bound in BOUNDS[:known]:
        value = bound(instance)
        if value > best.value * (1.0 + EPSILON):
            best = Bound(value, name)
    return best
