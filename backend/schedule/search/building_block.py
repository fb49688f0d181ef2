"""Building blocks: one micro-batch's ops, repeated at a constant pace, and the order that follows at the real costs.

A *block* defines when one micro-batch's F and I run on every device, in slots of one op, and after how many slots the
next micro-batch follows. Its memory follows directly: a device's activations live for a number of slots of every
period. The *order* takes the block's sequence at the given costs: every op as early as its inputs and the memory
allow, and W in time that would otherwise be idle or where only a W makes room for the next F. Then ops are squeezed
forward into the idle time of the warm-up and the cool-down wherever the peak does not rise.

Qi et al. 2024, Pipeline Parallelism with Controllable Memory, arXiv 2405.15362, sections 3 and 4.
"""

from __future__ import annotations

import math
from bisect import insort
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from backend.schedule import jit
from backend.schedule.order.ops import F, I
from backend.schedule.order.order import Codes, from_rows
from backend.schedule.order.placement import Placement
from backend.schedule.simulation.costs import Costs, durations
from backend.schedule.simulation.simulate import simulate

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

ENDLESS = np.inf
SQUEEZED = 24  # best orders, of those by all choices and those given, that are squeezed
EFFORT = 5_600_000  # ops to construct over all tries, and to squeeze, about a second; large orders get fewer of both
SQUEEZE_OPS = 11  # ops that could be constructed in the time in which one is squeezed
PACES = (0.85, 1.1, 0.5)  # of micro-batches, in units of a device's work for one
PARTS = 64  # costs in whole multiples of a 64th add up without rounding
EXACT = 2.0**52  # up to which float64 has every whole number
CLEAR = 1e-3  # units between a wait and a whole number of them, so that no rounding matters
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


@dataclass(frozen=True)
class Task:
    """The task for which an order is constructed. ``m`` counts the micro-batches of all streams; ``room`` is the memory
    limit in chunks; W needs the part ``share`` of a chunk after I.
    """

    placement: Placement
    m: int
    costs: Costs
    v: int
    room: float
    share: float = 1.0

    @property
    def n(self) -> int:
        """Return the number of micro-batches through one slot."""
        return self.m // self.placement.streams

    @property
    def least_room(self) -> float:
        """Return the chunks that one micro-batch fills on a device: the least room in which a step can run."""
        return self.placement.chunks / self.placement.streams

    @cached_property
    def cost(self) -> Floats:
        """Return (slots, 3): time of F, I, W in each slot."""
        place = self.placement
        table = durations(place, self.costs, self.v)[:, : 3 * place.chunks].reshape(place.p, 3, place.chunks)
        return np.ascontiguousarray(table.transpose(0, 2, 1).reshape(-1, 3))

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
    def unit(self) -> float | None:
        """Return the greatest time that all costs and the hop are multiples of; None where sums of them may round."""
        times = np.append(self.cost.ravel(), self.costs.comm) * PARTS
        if not bool((times == np.floor(times)).all()) or times.sum() * times.size * self.m > EXACT:
            return None  # no moment of an order is later than all ops and hops one after the other
        unit = int(np.gcd.reduce(times.astype(np.int64)))
        return unit / PARTS if unit else None

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
    def lag(self) -> Floats:
        """Return (3 * slots,) the delay of each result until it arrives at its consumer."""
        width = 3 * self.placement.chunks
        other = (self.feeds >= 0) & (self.feeds // width != np.arange(len(self.feeds)) // width)
        return np.where(other, np.float64(self.costs.comm), 0.0)


@jit.inner("Tuple((int64[::1], float64[::1]))(int64)")
def _tournament(p: int) -> Any:
    """Return a tournament of ``p`` ranks: who wins below each node, 2n and 2n + 1 being below node n and the leaves the
    second half, and when each rank wakes (leaves,), at first 0. The earliest wins, of equal ones the first; node 1 is
    the root.
    """
    leaves = 1
    while leaves < p:
        leaves *= 2
    winner = np.arange(-leaves, leaves)
    for node in range(leaves - 1, 0, -1):
        winner[node] = winner[2 * node]
    return winner, np.where(np.arange(leaves) < p, 0.0, np.inf)


@jit.inner("void(int64[::1], float64[::1], int64)")
def _replay(winner: Any, wake: Any, r: int) -> None:
    """Play the matches of rank r again after ``wake[r]`` (leaves,) has changed: the earlier one wins."""
    node = (wake.shape[0] + r) // 2
    while node > 0:
        left, right = winner[2 * node], winner[2 * node + 1]
        best = left if wake[left] <= wake[right] else right
        if best == winner[node] and best != r:
            return
        winner[node] = best
        node //= 2


@jit.inner("int64(int64[::1], float64, float64[:, ::1])")
def _enter(feeds: Any, pace: Any, came: Any) -> int:
    """Fill ``came`` (rows, m), when inputs arrive: at first only those of the F that no op feeds, one of each stream,
    ``pace`` after one another. Returns the number of streams.
    """
    came[:, :] = 0.0
    for row in range(feeds.shape[0]):
        if feeds[row] >= 0:
            came[feeds[row], :] = np.inf
    streams = 0
    for row in range(0, feeds.shape[0], 3):
        if came[row, 0] == 0.0:
            streams += 1
            came[row, :] = pace * np.arange(came.shape[1])
    return streams


@jit.inner("boolean(int64[:, ::1], int64[::1], int64, int64, int64)")
def _reserved(opened: Any, turn: Any, r: int, row: int, m: int) -> bool:
    """Return whether the last room on rank r is not for the F of ``row``: a stream with more F to come has none in its
    last chunk there, which alone leads to an I and so to room. With one stream that is the rank's last chunk, with two
    each chunk is the last of its own.
    """
    chunks, streams = turn.shape[0] // (3 * opened.shape[0]), opened.shape[1]
    for stream in range(streams):
        last = 3 * (r * chunks + (chunks - 1 if streams == 1 else stream))
        if row != last and opened[r, stream] == 0 and turn[last] < m:
            return True
    return False


@jit.inner("void(float64[:, ::1], float64, float64[:, ::1], int64[::1], float64[:, :, ::1], int64)")
def _come_up(due: Any, period: float, came: Any, turn: Any, coming: Any, row: int) -> None:
    """Note when the next op of a row of F or I arrives and is due in ``coming`` (slots, 2, 2), infinite after the last
    one.
    """
    slot, kind, k = row // 3, row % 3, turn[row]
    coming[slot, kind, 0] = came[row, k] if k < came.shape[1] else np.inf
    coming[slot, kind, 1] = due[slot, kind] + period * k if k < came.shape[1] else np.inf


@jit.inner(
    "float64[::1](float64[:, ::1], float64, float64[:, ::1], int64[::1], float64[:, :, ::1], float64[:, ::1], float64,"
    " int64)"
)
def _begin(due: Any, period: float, came: Any, turn: Any, coming: Any, cost: Any, most: float, p: int) -> Any:
    """Fill ``coming`` before the first op; return (p,) the idle time that a rank may have in a window of ``most``."""
    width, m = turn.shape[0] // p, came.shape[1]
    spare = np.full(p, most * (1.0 + CLOSE))
    for row in range(turn.shape[0]):
        spare[row // width] -= m * cost[row // 3, row % 3]
        if row % 3 < 2:
            _come_up(due, period, came, turn, coming, row)
    return spare


@jit.inner(
    "Tuple((int64, float64))(float64[:, :, ::1], int64[::1], int64[:, ::1], int64, int64, int64, float64, float64,"
    " float64, boolean)"
)
def _most_due(
    coming: Any, turn: Any, opened: Any, m: int, chunks: int, r: int, now: float, wait: float, left: float, tight: Any
) -> Any:
    """Return the row of the F or I to run next on rank r, -1 for none, and when it can begin: the most overdue of those
    whose input arrives within ``wait``, or else the first to arrive.

    ``left`` is the room after one more F; if ``tight``, only an F for which it is not reserved may take it.
    """
    pick, pick_late, pick_due, begin = -1, np.inf, np.inf, np.inf
    for slot in range(r * chunks, r * chunks + chunks):
        for kind in range(2):
            arrival, when = coming[slot, kind, 0], coming[slot, kind, 1]
            if kind == 0 and (left < 0.0 or (tight and _reserved(opened, turn, r, 3 * slot, m))):
                arrival = np.inf
            late = arrival if arrival > now + wait else 0.0
            if late < pick_late or (late == pick_late and when < pick_due):
                pick, pick_late, pick_due, begin = 3 * slot + kind, late, when, max(arrival, now)
    return pick, begin


@jit.kernel(
    "int64(float64[:, ::1], float64, int64[::1], float64[::1], float64[:, ::1], float64[::1], float64[::1],"
    " float64, uint8[:, ::1], float64[:, ::1])"
)
def _fill(
    due: Any, period: float, feeds: Any, lag: Any, cost: Any, room: Any, wait: Any, most: float, codes: Any, window: Any
) -> int:
    """Let the device that is free first run the most overdue op that it can run, repeatedly; return how many ops ran:
    fewer than all in a deadlock, or once a device's window would be longer than ``most``.

    ``due`` (slots, 2); ``room`` the limit in chunks and W's share of a chunk; ``wait`` a Choice's waits, in time:
    three of a device, and that between micro-batches. Fills ``codes`` (p, steps) and ``window`` (p, 2), each device's
    first start and last end.
    """
    p, width, at = codes.shape[0], feeds.shape[0] // codes.shape[0], 0
    m, chunks = codes.shape[1] // width, width // 3
    came, turn, coming = np.empty((p * width, m)), np.zeros(p * width, np.int64), np.empty((p * chunks, 2, 2))
    streams = _enter(feeds, wait[3], came)
    owed, made, paid = np.zeros((p, chunks * m), np.int64), np.zeros(p, np.int64), np.zeros(p, np.int64)
    clock, level, opened, step = np.zeros(p), np.zeros(p), np.zeros((p, streams), np.int64), np.zeros(p, np.int64)
    winner, wake = _tournament(p)
    spare = _begin(due, period, came, turn, coming, cost, most, p)
    while True:
        r = winner[1]
        now, waiting, patience = wake[r], made[r] - paid[r], wait[2 if turn[r * width] == m else 1]
        if now == np.inf:
            return at
        left = room[0] - level[r] - 1.0 + 1e-9
        tight = left + room[1] * waiting < 1.0 and patience < np.inf
        pick, begin = _most_due(coming, turn, opened, m, chunks, r, now, patience, left, tight)
        if waiting > 0 and begin > now + wait[0]:
            pick, begin, paid[r] = 3 * owed[r, paid[r]] + 2, now, paid[r] + 1
        elif begin > now + patience or begin == np.inf:
            wake[r] = begin
            _replay(winner, wake, r)
            continue
        slot, kind, k = pick // 3, pick % 3, turn[pick]
        chunk, end = slot - r * chunks, begin + cost[slot, kind]
        stream, last = chunk if streams == 2 else 0, streams == 2 or chunk == chunks - 1
        if kind == 0:
            level[r], opened[r, stream] = level[r] + 1.0, opened[r, stream] + last
        elif kind == 1:
            level[r], opened[r, stream] = level[r] - (1.0 - room[1]), opened[r, stream] - last
            owed[r, made[r]] = slot
            made[r] += 1
        else:
            level[r] -= room[1]
        if step[r] > 0:
            spare[r] -= begin - clock[r]
            if spare[r] < 0.0:
                return at
        turn[pick] += 1
        if kind < 2:
            _come_up(due, period, came, turn, coming, pick)
        if feeds[pick] >= 0:
            came[feeds[pick], k] = end + lag[pick]
            if turn[feeds[pick]] == k:
                coming[feeds[pick] // 3, feeds[pick] % 3, 0] = end + lag[pick]
            other = feeds[pick] // width
            wake[other] = min(wake[other], max(clock[other], end + lag[pick]))
            _replay(winner, wake, other)
        codes[r, step[r]], clock[r], wake[r], window[r, 1] = kind * chunks + chunk, end, end, end
        _replay(winner, wake, r)
        window[r, 0], step[r], at = min(window[r, 0], begin), step[r] + 1, at + 1


@jit.kernel(
    "int64(int64[::1], float64[::1], float64[:, ::1], float64[::1], uint8[:, ::1], float64[:, ::1], float64[:, ::1])"
)
def _squeeze(feeds: Any, lag: Any, cost: Any, room: Any, codes: Any, start: Any, end: Any) -> int:
    """Move ops forward into idle time, from the last rank to the first; returns how many. No other op gets later, no F
    goes where the level would pass the limit. Changes ``codes``, ``start``, ``end`` (p, steps) in place."""
    p, width, moved = codes.shape[0], feeds.shape[0] // codes.shape[0], 0
    chunks, steps, m = width // 3, codes.shape[1], codes.shape[1] // width
    came, turn, level = np.zeros((p * width, m)), np.zeros(p * width, np.int64), np.zeros(steps + 1)
    gain = np.array([1.0, room[1] - 1.0, -room[1]])
    for sweep in range(3):  # the first sweep only records arrival times
        turn[:] = 0
        for each in range(p):
            r = p - 1 - each
            for x in range(steps):
                code = codes[r, x]
                kind, row = code // chunks, 3 * (r * chunks + code % chunks) + code // chunks
                k, span, level[x + 1] = turn[row], cost[row // 3, kind], level[x] + gain[kind]
                turn[row] += 1
                arrival, y, best, free = came[row, k], x, x, start[r, x]
                while sweep > 0 and span > 0.0 and y > 0 and codes[r, y - 1] != code:
                    y -= 1
                    if start[r, y] < arrival + span or (kind == 0 and level[y + 1] + 1.0 > room[0] + 1e-9):
                        break
                    early = max(arrival, end[r, y - 1]) if y > 0 else arrival
                    if early + span <= start[r, y] and (kind > 0 or level[y] + 1.0 <= room[0] + 1e-9):
                        best, free = y, early
                if best < x:
                    moved += 1
                    for z in range(x, best, -1):
                        codes[r, z], start[r, z], end[r, z] = codes[r, z - 1], start[r, z - 1], end[r, z - 1]
                    codes[r, best], start[r, best], end[r, best] = code, free, free + span
                    for z in range(best, x + 1):
                        level[z + 1] = level[z] + gain[codes[r, z] // chunks]
                if kind == 1:
                    came[row + 1, k] = free + span
                if feeds[row] >= 0:
                    came[feeds[row], k] = free + span + lag[row]
    return moved


def lay(
    task: Task,
    block: Block,
    choice: Choice,
    room: float | None = None,
    share: float | None = None,
    most: float = ENDLESS,
) -> tuple[float, Codes] | None:
    """Construct the order of a block by one choice; return its span and its codes (p, steps).

    ``room`` and ``share`` replace the task's: a lower limit, or an I that frees nothing. Returns None for a span longer
    than ``most``, with the waits for the pace, and for a deadlock, which is only possible for a block that is kept to
    its sequence under a limit that it was not made for.
    """
    place = task.placement
    due = np.array(block.due, np.float64).reshape(-1, 2)
    for k, slots in enumerate(choice.move):
        due.ravel()[k + 1 :: 2 * place.chunks] += slots
    wait = np.array(_waits(task, choice))
    codes = np.zeros((place.p, 3 * place.chunks * task.n), np.uint8)
    window = np.full((place.p, 2), np.inf)
    limit = np.array([task.room if room is None else room, task.share if share is None else share], np.float64)
    if _fill(due, block.period, task.feeds, task.lag, task.cost, limit, wait, most, codes, window) < codes.size:
        return None
    if choice.pace > 0.0:
        return timed(task, codes)[0], codes  # the order itself makes no op wait for the pace
    return float((window[:, 1] - window[:, 0]).max()), codes


def _waits(task: Task, choice: Choice) -> tuple[float, float, float, float]:
    """Return a choice's waits, in time: three of a device, and that between micro-batches."""
    f, w = task.mean_f_and_w
    return choice.hold_w * w, _time(choice.hold_op, f), _time(choice.hold_end, f), choice.pace * task.work


def _time(hold: float, op: float) -> float:
    return hold if hold == ENDLESS else hold * op


def mixed(eager: Sequence[Try], paced: Sequence[Try]) -> list[Try]:
    """Mix two paced tries into every five eager ones: large orders get only the first tries."""
    out: list[Try] = []
    for k in range(max(-(-len(eager) // 5), -(-len(paced) // 2))):
        out += [*eager[5 * k : 5 * k + 5], *paced[2 * k : 2 * k + 2]]
    return out


def different(task: Task, tries: Sequence[Try]) -> list[Try]:
    """Leave out each try that lays the same order as an earlier one, which saves most of them at equal costs.

    Every moment of an order is a multiple of the time that all costs are multiples of, so two waits with the same
    number of whole units keep a device waiting for the same ops.
    """
    unit = task.unit
    if unit is None:
        return list(tries)
    first: dict[tuple[object, ...], Try] = {}
    for block, choice in tries:
        *waits, pace = _waits(task, choice)
        key = waits if pace > 0.0 else [_whole_units(each / unit) for each in waits]  # paces are no whole units
        first.setdefault((id(block), choice.move, pace, *key), (block, choice))
    return list(first.values())


def _whole_units(wait: float) -> float:
    """Return how many units a wait has whole; the wait itself where a sum of float64 might round it to the next."""
    whole = math.floor(wait) if wait < ENDLESS else wait
    return whole if wait == whole or CLEAR < wait - whole < 1.0 - CLEAR else wait


def timed(task: Task, codes: Codes) -> tuple[float, Floats, Floats]:
    """Return the longest window of an order's ranks, and (p, steps) the start and the end of each op. Raises OrderError
    for a deadlock.
    """
    timeline = simulate(from_rows(task.placement, task.m, list(codes)), task.costs, task.v)
    start, end = (each.reshape(codes.shape) for each in (timeline.start, timeline.end))
    return float((end[:, -1] - start[:, 0]).max()), start, end


def squeeze(task: Task, codes: Codes) -> tuple[float, Codes]:
    """Squeeze an order until nothing moves any more; return the best span and its codes."""
    best, kept, room = np.inf, codes, np.array([task.room, task.share], np.float64)
    for _ in range(ROUNDS):
        span, start, end = timed(task, codes)
        if span < best:
            best, kept = span, codes
        codes = codes.copy()
        if not _squeeze(task.feeds, task.lag, task.cost, room, codes, start, end):
            break
    return best, kept


def rows(task: Task, tries: Sequence[Try], others: Sequence[Codes] = ()) -> list[Codes]:
    """Return each device's codes in the order of least span among all tries and ``others``, which are given orders
    within the limit; of equal ones the first.
    """
    ops = 3 * task.placement.chunks * task.placement.p * task.n
    tries = tries[: max(1, EFFORT // ops)]
    jit.compile_for(3 * ops * len(tries))  # constructing an op takes as long as simulating a few
    tries = different(task, tries)
    # Memory freed by I leads to delayed W: also construct as if I freed nothing, which keeps the limit as well.
    shares = (task.share, 1.0) if task.share < 1.0 else (task.share,)
    few = max(1, min(SQUEEZED, EFFORT // (SQUEEZE_OPS * ops)))
    given = {codes.tobytes(): (timed(task, codes)[0], codes) for codes in others}
    laid: dict[bytes, tuple[float, Codes]] = {}
    spans = sorted(span for span, _ in given.values())
    for share, (block, choice) in product(shares, tries):
        most = spans[few - 1] if len(spans) >= few else ENDLESS  # of a longer one nothing is kept
        one = lay(task, block, choice, task.room, share, most)
        if one is not None and laid.setdefault(one[1].tobytes(), one) is one and one[1].tobytes() not in given:
            insort(spans, one[0])
    best = sorted((laid | given).values(), key=lambda each: each[0])[:few]
    return list(min((squeeze(task, codes) for _, codes in best), key=lambda each: each[0])[1])
