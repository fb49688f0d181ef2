"""Building blocks: one micro-batch's ops, repeated at a constant pace, and the order that follows at the real costs.

A *block* defines when one micro-batch's F and I run on every device, in slots of one op, and after how many slots the
next micro-batch follows. Its memory follows directly: a device's activations live for a number of slots of every
period. The *order* takes the block's sequence at the given costs: every op as early as its inputs and the memory
allow, and W in time that would otherwise be idle or where only a W makes room for the next F. Then ops are squeezed
forward into the idle time of the warm-up and the cool-down wherever the peak does not rise.

Qi et al. 2024, Pipeline Parallelism with Controllable Memory, arXiv 2405.15362, sections 3 and 4.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from backend.schedule import jit
from backend.schedule.order.ops import F, I
from backend.schedule.order.order import Codes, Order
from backend.schedule.order.placement import Placement
from backend.schedule.search import construction
from backend.schedule.simulation.costs import Costs, SizedCosts, durations, per_stage
from backend.schedule.simulation.simulate import advance, raise_deadlock

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

ENDLESS = np.inf
SQUEEZED = 24  # best orders, of those by all choices and those given, that are squeezed
EFFORT = 5_600_000  # ops to construct over all tries, and to squeeze, about a second; large orders get fewer of both
SQUEEZE_OPS = 11  # ops that could be constructed in the time in which one is squeezed
PACES = (0.85, 1.1, 0.5)  # of micro-batches, in units of a device's work for one
CLOSE = 1e-9  # part of a span by which sums of float64 may differ
ROUNDS = 6  # most squeezes of one order; usually nothing moves after two or three


@dataclass(frozen=True, eq=False)
class Block:
    """A building block.

    ``due`` (p, chunks, 2) is the slot of F and of I of micro-batch 0 in each chunk of each device; micro-batch k
    follows ``k * period`` slots later. ``lag`` (p, chunks) is the number of micro-batches by which a family delays W.
    """

    due: Floats
    period: float
    lag: Floats | None = None

    @staticmethod
    def v(f0: Floats, f1: Floats, i1: Floats, i0: Floats) -> Block:
        """Build a block on the V placement from the slots (p,) of its four ops; with two W they fill a period of
        six.
        """
        return Block(np.stack((f0, i0, f1, i1), axis=1).reshape(-1, 2, 2), 6.0)

    def weights(self) -> Floats:
        """Return (p, chunks) the slot of each W: the first after its I that is free in every period (unit costs),
        plus ``lag`` periods.
        """
        p, chunks, _ = self.due.shape
        out = np.zeros((p, chunks))
        for r in range(p):
            taken = {slot % self.period for slot in self.due[r].ravel().tolist()}
            for c in np.argsort(self.due[r, :, 1], kind="stable").tolist():
                slot = self.due[r, c, 1] + 1.0
                while slot % self.period in taken:
                    slot += 1.0
                taken.add(slot % self.period)
                out[r, c] = slot
        return out if self.lag is None else out + self.period * self.lag

    def lifespan(self) -> Floats:
        """Return (p,) the number of slots for which a micro-batch's activations live on a device, summed over its
        chunks.

        An activation lives from the start of F to the end of W. Divided by the period this is the mean number of
        chunks in flight in the steady state: never above the peak, and less than one chunk below it for each chunk of
        the device (the paper's law of memory, section 3.1).
        """
        return np.asarray((self.weights() + 1.0 - self.due[:, :, 0]).sum(axis=1))

    def peaks(self) -> Ints:
        """Return (p,) the largest number of chunks in flight on each device in the steady state, counted slot by
        slot.
        """
        slot = np.arange(self.period)[:, None, None]
        begun, over = ((slot - at) // self.period for at in (self.due[:, :, 0], self.weights() + 1.0))
        return np.asarray((begun - over).sum(axis=2).max(axis=0), np.int64)

    def peak(self) -> int:
        """Return the largest number of chunks in flight on any device in the steady state."""
        return int(self.peaks().max())

    def as_dict(self) -> dict[str, Any]:
        """Return the block as the page draws it: for each device and chunk the slots of F, I, W."""
        slots = np.concatenate((self.due, self.weights()[:, :, None]), axis=2)
        return {"period": self.period, "slots": slots.tolist(), "lifespan": self.lifespan().tolist()}


class Choice(NamedTuple):
    """How to place ops where the block leaves a choice.

    How long a device waits for the next op rather than run a W (in units of W); rather than run an op that is less
    due (in units of F; ENDLESS: never leave the block's order); the same in the cool-down; by how many slots to move I
    of chunk 0, F and I of chunk 1; and how long after one micro-batch the next one may begin (in units of a device's
    work for one, 0: as soon as the memory allows).
    """

    hold_w: float = 0.0
    hold_op: float = ENDLESS
    hold_end: float = ENDLESS
    move: tuple[float, ...] = ()
    pace: float = 0.0


Try = tuple[Block, Choice]
Decided = tuple[Floats, npt.NDArray[np.int32]]  # see construction.fill: ``between`` and ``ahead``
Waits = tuple[float, float, float, float]  # of a device for the next op, three; and between micro-batches


@dataclass(frozen=True)
class Instance:
    """The problem instance for which an order is constructed.

    ``m`` counts the micro-batches of all streams; ``room`` is the memory limit in chunks; W needs the part ``share`` of
    a chunk after I. Stages that are ``untrained`` have no backwards (options/frozen.py): an order is constructed with
    some of no time, which are then left out.

    The k-th op of a stage is the k-th micro-batch's to enter. Where they differ (SizedCosts), or backwards begin before
    their gradient arrives, an order is constructed for the ``even`` instance and judged by its own times and memory.
    """

    placement: Placement
    m: int
    costs: Costs
    v: int
    room: float
    share: float = 1.0
    untrained: frozenset[int] = frozenset()

    @property
    def n(self) -> int:
        """Return the number of micro-batches through one slot."""
        return self.m // self.placement.streams

    @cached_property
    def even(self) -> Instance:
        """Return the instance with micro-batches of size 1, as much room for them as for the mean one here, and
        backwards that wait for their gradient.
        """
        if not self.is_sized and self.costs.lead == 0.0:
            return self
        costs = self.costs.of_size_one if isinstance(self.costs, SizedCosts) else self.costs
        room = max(self.placement.chunks / self.placement.streams, self.room / float(self.sizes.mean()))
        return replace(self, costs=replace(costs, lead=0.0), room=room)

    @property
    def is_even(self) -> bool:
        """Return whether the instance is the one that orders are constructed for."""
        return self.even is self

    @property
    def is_sized(self) -> bool:
        """Return whether micro-batches have sizes of their own."""
        return isinstance(self.costs, SizedCosts)

    @cached_property
    def sizes(self) -> Floats:
        """Return (streams, n or 1): the size of each micro-batch, by the order in which they enter; one 1 for all where
        they are equal.
        """
        sizes = self.costs.sizes if isinstance(self.costs, SizedCosts) else (1.0,) * self.placement.streams
        return np.array(sizes).reshape(self.placement.streams, -1)

    @cached_property
    def scale(self) -> Floats:
        """Return (streams, n or 1): how many times its cost an op of each micro-batch takes."""
        scale = self.costs.scale if isinstance(self.costs, SizedCosts) else (1.0,) * self.placement.streams
        return np.array(scale).reshape(self.placement.streams, -1)

    @property
    def least_room(self) -> float:
        """Return the chunks that one micro-batch fills on a device, the largest where they differ: the least room in
        which a step can run.
        """
        return self.placement.chunks / self.placement.streams * float(self.sizes.max())

    @cached_property
    def cost(self) -> Floats:
        """Return (slots, 3): time of F, I, W of a micro-batch of size 1 in each slot."""
        place = self.placement
        table = durations(place, self.even.costs, self.v)[:, : 3 * place.chunks].reshape(place.p, 3, place.chunks)
        return np.ascontiguousarray(table.transpose(0, 2, 1).reshape(-1, 3))

    @cached_property
    def busy(self) -> Floats:
        """Return (p,) the sum of the times of each rank's ops."""
        place = self.placement
        if not self.is_sized:
            return self.n * np.asarray(self.cost.reshape(place.p, -1).sum(axis=1))
        times = self.scale.sum(axis=1)[place.stream_of.ravel()]
        return np.asarray((self.cost.sum(axis=1) * times).reshape(place.p, -1).sum(axis=1))

    @cached_property
    def mean_f_and_w(self) -> tuple[float, float]:
        """Return the mean times of F and of W over all slots."""
        f, _, w = self.cost.mean(axis=0).tolist()
        return f, w

    @cached_property
    def work(self) -> float:
        """Return the most work of a device for one micro-batch."""
        return float(self.cost.reshape(self.placement.p, -1).sum(axis=1).max())

    @cached_property
    def feeds(self) -> Ints:
        """Return (3 * slots,) the row (3 * slot + kind) that waits for each row's result, -1 for none. An I's own W,
        which waits for nothing else, is left out.
        """
        place, slot = self.placement, np.arange(self.placement.p * self.placement.chunks)
        out = np.full(3 * len(slot), -1, np.int64)
        out[F::3] = np.where(place.after < 0, 3 * slot + I, 3 * place.after + F)
        out[I::3] = np.where(place.before < 0, -1, 3 * place.before + I)
        return out

    @cached_property
    def chains(self) -> tuple[Ints, Floats]:
        """Return what ``construction.chains`` fills: where results go, and the least time that remains from there."""
        rows = 2 * len(self.cost)
        to, way = np.zeros((rows, 3), np.int64), np.zeros((rows, 4))
        construction.chains(self.feeds, self.lag, self.cost, self.placement.p, to, way)
        return to, way

    @cached_property
    def lag(self) -> Floats:
        """Return (3 * slots,) the delay of each result until its consumer may begin; below 0 where it may before."""
        width = 3 * self.placement.chunks
        other = (self.feeds >= 0) & (self.feeds // width != np.arange(len(self.feeds)) // width)
        hops = np.where(other, np.float64(self.costs.comm), 0.0)
        return hops if self.costs.lead == 0.0 else hops - self.early

    @cached_property
    def early(self) -> Floats:
        """Return (3 * slots,): how long before each result arrives its consumer may begin."""
        place = self.placement
        lead = per_stage(self.costs.lead, place.stages, self.v)[place.stage_of.ravel()]
        return np.where((self.feeds >= 0) & (self.feeds % 3 == I), lead[self.feeds // 3], 0.0)


def lay(
    instance: Instance,
    block: Block,
    choice: Choice,
    room: float | None = None,
    share: float | None = None,
    most: float = ENDLESS,
) -> tuple[float, Codes] | None:
    """Construct the order of a block by one choice; return its span and its codes (p, steps).

    ``room`` and ``share`` replace the instance's: a lower limit, or an I that frees nothing. Returns None for a span
    longer than ``most``, with the waits for the pace, and for a deadlock, which is only possible for a block that is
    kept to its sequence under a limit that it was not made for.
    """
    limit = instance.room if room is None else room, instance.share if share is None else share
    due, waits, decided = _moved(instance, block, choice), _waits(instance, choice), Earlier(instance, 1).next()
    return _laid(instance, due, block.period, waits, limit, most, decided)


def _laid(
    instance: Instance,
    due: Floats,
    period: float,
    waits: Waits,
    limit: tuple[float, float],
    most: float,
    decided: Decided,
) -> tuple[float, Codes] | None:
    """Construct an order as ``lay`` does, with the block's slots as they are moved; fill ``decided``."""
    place, (to, way) = instance.placement, instance.chains
    codes = np.zeros((place.p, 3 * place.chunks * instance.n), np.uint8)
    window, room, wait = np.empty((place.p, 2)), np.array(limit, np.float64), np.array(waits, np.float64)
    given = construction.FillInput(due, period, to, way, instance.cost, room, wait, most)
    if construction.fill(tuple(given), tuple(construction.FillOutput(codes, window, *decided))) < codes.size:
        return None
    if waits[3] > 0.0:
        return timed(instance, codes)[0], codes  # the order itself makes no op wait for the pace
    return float((window[:, 1] - window[:, 0]).max()), codes


def _moved(instance: Instance, block: Block, choice: Choice) -> Floats:
    """Return (slots, 2) the slots of a block's F and I, as the choice moves them."""
    due = np.array(block.due, np.float64).reshape(-1, 2)
    for k, slots in enumerate(choice.move):
        due.ravel()[k + 1 :: 2 * instance.placement.chunks] += slots
    return due


def _waits(instance: Instance, choice: Choice) -> Waits:
    """Return a choice's waits, in time: three of a device, and that between micro-batches."""
    f, w = instance.mean_f_and_w
    return choice.hold_w * w, _time(choice.hold_op, f), _time(choice.hold_end, f), choice.pace * instance.work


def _time(hold: float, op: float) -> float:
    return hold if hold == ENDLESS else hold * op


def mixed(eager: Sequence[Try], paced: Sequence[Try]) -> list[Try]:
    """Mix two paced tries into every five eager ones: large orders get only the first tries."""
    out: list[Try] = []
    for k in range(max(-(-len(eager) // 5), -(-len(paced) // 2))):
        out += [*eager[5 * k : 5 * k + 5], *paced[2 * k : 2 * k + 2]]
    return out


def timed(instance: Instance, codes: Codes) -> tuple[float, Floats, Floats]:
    """Return the longest window of an order's ranks, and (p, steps) the start and the end of each op. Raises OrderError
    for a deadlock.
    """
    order = Order(instance.placement, instance.m, codes.ravel(), np.arange(instance.placement.p + 1) * codes.shape[1])
    timeline, at, _ = advance(order, instance.costs, instance.v)
    if (at < order.offsets[1:]).any():
        raise_deadlock(order, at)
    start, end = (each.reshape(codes.shape) for each in (timeline.start, timeline.end))
    return float((end[:, -1] - start[:, 0]).max()), start, end


def squeeze(instance: Instance, codes: Codes) -> tuple[float, Codes]:
    """Squeeze an order until nothing moves any more; return the best span and its codes."""
    best, kept, room = np.inf, codes, np.array([instance.room, instance.share], np.float64)
    for _ in range(ROUNDS):
        span, start, end = timed(instance, codes)
        if span < best:
            best, kept = span, codes
        codes = codes.copy()
        if not construction.squeeze(instance.feeds, instance.lag, instance.cost, room, codes, start, end):
            break
    return best, kept


class Earlier:
    """The decisions of earlier tries, by which another try is known to lay the same order as one of them.

    That saves most tries: many blocks and waits differ only where nothing has to be decided.
    """

    def __init__(self, instance: Instance, most: int) -> None:
        """Make room for the decisions of ``most`` tries; see ``construction.as_before``."""
        self.waits, self.between = np.empty((most, 3)), np.empty((most, 3, 2))
        self.ahead = np.empty((most, 2 * len(instance.cost), 2 * instance.placement.chunks), np.int32)
        self.near = CLOSE * instance.work * instance.n
        self.count = 0

    def has(self, due: Floats, period: float, waits: Waits) -> bool:
        """Return whether a try lays what an earlier one has laid, or fails as that did."""
        wait, exact = np.array(waits), period % 1.0 == 0.0 and bool((due % 1.0 == 0.0).all())
        known = self.waits[: self.count], self.between, self.ahead
        return bool(construction.as_before(due, period, wait, exact, self.near, *known))

    def next(self, waits: Waits = (0.0, 0.0, 0.0, 0.0)) -> Decided:
        """Return what is to be filled by a try with these waits."""
        self.waits[self.count] = waits[:3]
        self.count += 1
        return self.between[self.count - 1], self.ahead[self.count - 1]


def rows(instance: Instance, tries: Sequence[Try], others: Sequence[Codes] = ()) -> list[Codes]:
    """Return each device's codes in the order of least span among all tries and ``others``, which are given orders
    within the limit; of equal ones the first.
    """
    ops = 3 * instance.placement.chunks * instance.placement.p * instance.n
    tries = tries[: max(1, EFFORT // ops)]
    jit.compile_for(3 * ops * len(tries))  # constructing an op takes as long as simulating a few
    # Memory freed by I leads to delayed W: also construct as if I freed nothing, which keeps the limit as well.
    shares = (instance.share, 1.0) if instance.share < 1.0 else (instance.share,)
    few = max(1, min(SQUEEZED, EFFORT // (SQUEEZE_OPS * ops)))
    given = {codes.tobytes(): (timed(instance, codes)[0], codes) for codes in others}
    laid: dict[bytes, tuple[float, Codes]] = {}
    spans = sorted(span for span, _ in given.values())
    earlier: dict[tuple[float, float], Earlier] = {}
    for share, (block, choice) in product(shares, tries):
        due, waits = _moved(instance, block, choice), _waits(instance, choice)
        alike = share, waits[3]
        if alike not in earlier:
            earlier[alike] = Earlier(instance, len(tries))
        if earlier[alike].has(due, block.period, waits):
            continue
        most = spans[few - 1] if len(spans) >= few else ENDLESS  # of a longer one nothing is kept
        one = _laid(instance, due, block.period, waits, (instance.room, share), most, earlier[alike].next(waits))
        if one is not None and laid.setdefault(one[1].tobytes(), one) is one and one[1].tobytes() not in given:
            insort(spans, one[0])
    best = sorted((laid | given).values(), key=lambda each: each[0])[:few]
    return list(min((squeeze(instance, codes) for _, codes in best), key=lambda each: each[0])[1])
