"""A measured step as a model whose parts can be repaired: what ops take, what messages take, and what ranks wait for.

An op takes the mean of its kind in its stage, times how slow its worker is, times the size of its micro-batch, times
what is left: jitter. Before it may begin, its inputs have come, over links that have each their own time, and its rank,
meanwhile, has spent what it spends before every op (launch overhead) or before this one alone (a pause). Where that
tells clearly better when ops began, messages share streams, on which one holds up those behind it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from backend.schedule.diagnosis.head_of_line import Blocking, ways
from backend.schedule.diagnosis.instances import Instances
from backend.schedule.order.op_columns import op_columns
from backend.schedule.order.ops import PAIR, B, F
from backend.schedule.simulation.costs import Costs
from backend.schedule.simulation.simulate import NOTHING, replay

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

ROUNDS = 6  # of fitting stages, workers and micro-batches in turn
SURE = 4.0  # a factor counts where it varies by as many times what chance gives, in variance
RARE = 5.0  # deviations beyond which a gap before an op is a pause of its own
LEAST_PAUSE = 0.2  # of a usual op
LEAST_SIZE = 0.01  # of the mean micro-batch
RIDGE = 0.03  # how firmly a micro-batch of which nothing is known has size 1
LEAST_OFF = 0.05  # of an op: what fits better tells of its micro-batch
LEAST_OPS = 2.0  # that tell of a micro-batch
LEAST_SLOW = 1.05  # times the others: less is no slow worker
LEAST_SLOW_ALONE = 1.15  # where one replica alone tells
BETTER = 0.5  # of the error without streams
LEAST_BETTER = 0.005  # of a usual op, on the mean of all
COSTS = Costs()


@dataclass(frozen=True, eq=False)
class StepModel:
    """The parts of I instances of N ops, in ms: ``mean`` (N,) of each op's kind over all stages and ``stage`` (N,) in
    its own, ``worker`` (I, N) and ``micro`` (I, N) factors, ``jitter`` (I, N) the ms that are left; ``hop`` the
    usual time of a message and ``link`` (p, p) that of each pair of ranks; ``overhead`` (N,) before an op, ``pause``
    (I, N) beyond it; ``blocking`` the streams of messages, None where each passes alone.
    """

    of: Instances
    mean: Floats
    stage: Floats
    worker: Floats
    micro: Floats
    jitter: Floats
    hop: float
    link: Floats
    overhead: Floats
    pause: Floats
    blocking: Blocking | None = None

    @cached_property
    def rank(self) -> Ints:
        """Return (N,) the rank of each op."""
        return op_columns(self.of.order).rank

    @cached_property
    def busy(self) -> Floats:
        """Return (I, N) the time of each op."""
        times: Floats = np.maximum(self.stage * self.worker * self.micro + self.jitter, 0.0)
        return times

    @property
    def lags(self) -> Floats:
        """Return (N, 2) until the input of each half arrives."""
        made_by, crosses = self.of.made_by, self.of.crosses
        return np.where(crosses & (made_by >= 0), self.link[self.rank[made_by], self.rank[:, None]], 0.0)

    def ends(self) -> tuple[Floats, Floats]:
        """Return (I, N) start and end of each op, the first op of each instance at 0. Instances whose ops take the same
        times are simulated once.
        """
        before, lags = np.broadcast_to(self.overhead + self.pause, self.busy.shape), self.lags
        order = replace(self.of.order, messages=None if self.blocking is None else self.blocking.messages)
        start, end = np.empty_like(self.busy), np.empty_like(self.busy)
        timed: dict[bytes, int] = {}
        for at, (busy, wait) in enumerate(zip(self.busy, before, strict=True)):
            same = timed.setdefault(busy.tobytes() + wait.tobytes(), at)
            if same == at:
                # an op with what its rank spends before it, for which that much of its input's way is there already
                timeline = replay(order, busy + wait, COSTS, NOTHING, 1, lags - wait[:, None])
                start[at], end[at] = timeline.start + wait, timeline.end
            else:
                start[at], end[at] = start[same], end[same]
        return start, end

    def makespan(self) -> Floats:
        """Return (I,) the time of each instance."""
        end: Floats = self.ends()[1].max(axis=1)
        return end

    # What is repaired: each returns the model without one cause.

    def balanced(self) -> StepModel:
        """Return the model with as much work in every stage as in the mean one."""
        work = stage_work(self.of, self.stage)
        return replace(self, stage=self.stage * over_stages(self.of, work.mean() / np.where(work > 0.0, work, 1.0)))

    def with_equal_workers(self) -> StepModel:
        """Return the model with workers of one speed."""
        return replace(self, worker=np.ones_like(self.worker))

    def with_equal_micro_batches(self) -> StepModel:
        """Return the model with micro-batches of one size."""
        return replace(self, micro=np.ones_like(self.micro))

    def without_jitter(self) -> StepModel:
        """Return the model with ops that always take as long."""
        return replace(self, jitter=np.zeros_like(self.jitter))

    def with_equal_links(self) -> StepModel:
        """Return the model with all links as quick as the usual one."""
        return replace(self, link=np.minimum(self.link, self.hop))

    def without_hops(self) -> StepModel:
        """Return the model without the usual time of a message; what a slow link takes more stays."""
        return replace(self, link=np.maximum(self.link - self.hop, 0.0), hop=0.0)

    def without_blocking(self) -> StepModel:
        """Return the model in which no message holds up another."""
        return replace(self, blocking=None)

    def without_overhead(self) -> StepModel:
        """Return the model without what ranks spend before every op."""
        return replace(self, overhead=np.zeros_like(self.overhead))

    def without_pauses(self) -> StepModel:
        """Return the model without pauses."""
        return replace(self, pause=np.zeros_like(self.pause))


REPAIRS: dict[str, Callable[[StepModel], StepModel]] = {
    "imbalance": StepModel.balanced,
    "worker": StepModel.with_equal_workers,
    "micro_batches": StepModel.with_equal_micro_batches,
    "jitter": StepModel.without_jitter,
    "link": StepModel.with_equal_links,
    "transfer": StepModel.without_hops,
    "head_of_line": StepModel.without_blocking,
    "overhead": StepModel.without_overhead,
    "pause": StepModel.without_pauses,
}


def repaired(model: StepModel) -> StepModel:
    """Return the model with every cause repaired: what is left is the schedule's own."""
    for repair in REPAIRS.values():
        model = repair(model)
    return model


def ideal(model: StepModel) -> StepModel:
    """Return the repaired model with every op at the mean of its kind over all stages."""
    return replace(repaired(model), stage=model.mean)


def stage_work(of: Instances, stage: Floats) -> Floats:
    """Return (stages,) the time of each stage's ops (N,), a pair's divided between the stages of its halves."""
    first, second, part = _halves(of, stage)
    count = of.order.placement.stages
    work = np.bincount(first, stage * part, count) + np.bincount(second, stage * (1.0 - part), count)
    return np.asarray(work, np.float64)


def over_stages(of: Instances, factor: Floats) -> Floats:
    """Return (N,) the factor (stages,) of each op, of a pair that of both stages."""
    first, second, part = _halves(of, np.ones(len(of.group)))
    found: Floats = factor[first] * part + factor[second] * (1.0 - part)
    return found


def _halves(of: Instances, stage: Floats) -> tuple[Ints, Ints, Floats]:
    """Return (N,) the stage of each op, of a pair those of both halves, and the share of the first in its time: as
    where the halves run alone, and where these do not tell, a third.
    """
    rank, _, kind, chunk, _, back, _ = op_columns(of.order)
    first, second = (of.order.placement.stage_of[rank, each] for each in (chunk, back))
    part = np.ones(len(kind))
    pair = kind == PAIR
    if pair.any():
        count = of.order.placement.stages
        rows = np.zeros((len(kind), 2 * count))
        here = np.arange(len(kind))
        rows[here, np.where(kind == B, count, 0) + first] = np.isin(kind, (F, B, PAIR))
        rows[here[pair], count + second[pair]] = 1.0
        like = float(stage[pair].mean())
        usual = np.repeat((like / 3.0, like * 2.0 / 3.0), count)
        left = np.concatenate((rows, RIDGE * np.eye(2 * count)))
        right = np.append((stage - rows @ usual) * np.isin(kind, (F, B, PAIR)), np.zeros(2 * count))
        alone = np.maximum(usual + np.linalg.lstsq(left, right, rcond=None)[0], 1e-9)
        forward, backward = alone[first[pair]], alone[count + second[pair]]
        part[pair] = forward / (forward + backward)
    return first, np.where(pair, second, first), part


def step_model(of: Instances, waits_inside: bool = False) -> StepModel:
    """Fit the model to measured instances; where the recorder had ``waits_inside`` ops, what was left of them is not
    sure enough to tell of streams.
    """
    spent = of.spent
    waits, blocking = _waits(of), None
    most = min(BETTER * waits.error, waits.error - LEAST_BETTER)
    if most > 0.0 and not waits_inside:
        for way in ways(of.order, of.end):
            found = _waits(of, way)
            if found.error < min(most, waits.error):
                waits, blocking = found, way
    worker = micro = np.ones(spent.shape)
    for _ in range(ROUNDS):
        stage = _by(of.group, spent / (worker * micro))
        ratio = spent / np.where(stage > 0.0, stage, 1.0)
        micro = _micro_batches(of, ratio / worker, stage)
        worker = _workers(of, ratio, micro, stage)
    stage = _by(of.group, spent / (worker * micro))
    mean = _over_stages(of, stage)
    jitter = spent - stage * worker * micro
    return StepModel(of, mean, stage, worker, micro, jitter, waits.hop, waits.link, waits.overhead,
                     _pauses(of, waits.gap), blocking)  # fmt: skip


def _by(group: Ints, spent: Floats) -> Floats:
    """Return (N,) the mean time of each op's group over all instances."""
    count = np.bincount(group)
    total = np.bincount(group, spent.mean(axis=0))
    mean: Floats = (total / count)[group]
    return mean


def _over_stages(of: Instances, stage: Floats) -> Floats:
    """Return (N,) the mean of each op's kind over the stages, of each alike."""
    kind = op_columns(of.order).kind
    out = np.empty_like(stage)
    for each in np.unique(kind):
        mine = kind == each
        _, first = np.unique(of.group[mine], return_index=True)
        out[mine] = stage[mine][first].mean()
    return out


def _workers(of: Instances, ratio: Floats, micro: Floats, stage: Floats) -> Floats:
    """Return (I, N) how slow each op's worker is.

    A worker is a rank of a replica. With several replicas it is slower than the others of its rank, and by more than
    all ranks of its replica, whose micro-batches may be larger; with one, where a rank has several stages, it is as
    slow as the least slow of them.
    """
    rank, p = op_columns(of.order).rank, of.order.p
    names, which = np.unique(of.replicas, return_inverse=True)
    if len(names) < 2 and of.order.chunks < 2:
        return np.ones(ratio.shape)
    if len(names) < 2:
        here = of.order.placement.stage_of[rank, op_columns(of.order).chunk]
        work = stage_work(of, (ratio / micro).mean(axis=0) * stage)
        least = np.array([work[np.unique(here[rank == each])].min() for each in range(p)])
        typical = _lower_median(least)
        slow = np.maximum(1.0, least / typical) if typical > 0.0 else np.ones(p)
        return np.broadcast_to(np.where(slow >= LEAST_SLOW_ALONE, slow, 1.0)[rank], ratio.shape).copy()
    ops = [np.flatnonzero(rank == each) for each in range(p)]
    by_rank = np.stack([ratio[:, each].mean(axis=1) for each in ops], axis=1)  # (I, p)
    noise = np.stack([(ratio / micro)[:, each].std(axis=1) / np.sqrt(len(each)) for each in ops], axis=1)
    usual = [
        _lower_median(np.array([column[which == name].mean() for name in range(len(names))])) for column in by_rank.T
    ]
    by_rank = by_rank / np.array(usual)
    own = by_rank / np.sort(by_rank, axis=1)[:, [(p - 1) // 2]]
    slow = np.array([own[which == name].mean(axis=0) for name in range(len(names))])  # (replicas, p)
    chance = np.array(
        [noise[which == name].mean(axis=0) / np.sqrt((which == name).sum()) for name in range(len(names))]
    )
    return np.where((slow >= LEAST_SLOW) & (slow - 1.0 > SURE * chance), slow, 1.0)[which][:, rank]


def _lower_median(values: Floats) -> float:
    """Return the median, of an even number the lower of the two in the middle: more than half are usual."""
    return float(np.sort(values)[(len(values) - 1) // 2])


def _micro_batches(of: Instances, ratio: Floats, stage: Floats) -> Floats:
    """Return (I, N) how large each op's micro-batch is: what its ops on all ranks have in common, where that is more
    than chance. Of a pair each half has its own, in the proportion of their usual times.
    """
    share = _shares(of, stage)  # (N, m): how much of an op is due to each micro-batch
    long = stage / stage.mean()  # short ops tell little
    sizes = np.ones((len(ratio), of.order.m))
    if of.order.m < 2 or (share.sum(axis=0) < LEAST_OPS).any():
        return np.ones(ratio.shape)
    ridge, whole, none = RIDGE * np.eye(of.order.m), share.sum(axis=1), np.zeros(of.order.m)
    for at, row in enumerate(ratio):
        weight = long
        for _ in range(3):  # without the ops that do not fit: a pause in an op is no property of its micro-batch
            left = np.concatenate((share * weight[:, None], ridge))
            right = np.concatenate(((row - whole) * weight, none))
            size = 1.0 + np.linalg.lstsq(left, right, rcond=None)[0]
            off = np.abs(row - share @ size)
            weight = np.where(off <= max(3.0 * float(np.median(off)) * 1.4826, LEAST_OFF), long, 0.0)
        noise = float(np.square((row - share @ size) * weight).sum() / max(1.0, (weight > 0.0).sum() - of.order.m))
        chance = noise / float((share.sum(axis=0)).mean())
        if size.var() > SURE * chance:
            sizes[at] = size
    factor: Floats = np.maximum(sizes / sizes.mean(), LEAST_SIZE) @ share.T
    return factor


def _shares(of: Instances, stage: Floats) -> Floats:
    """Return (N, m) the share of each op's usual time that is due to each micro-batch."""
    _, _, kind, _, micro, _, second = op_columns(of.order)
    share = np.zeros((len(kind), of.order.m))
    here = np.arange(len(kind))
    pair = kind == PAIR
    part = _halves(of, stage)[2]
    share[here, np.clip(micro, 0, of.order.m - 1)] = np.where(pair, part, 1.0)
    share[here[pair], second[pair]] += 1.0 - part[pair]
    return share


@dataclass(frozen=True, eq=False)
class _Waits:
    """``overhead`` (N,), ``link`` (p, p) and ``hop`` as in StepModel; ``gap`` (I, N) how much later each op began than
    they say, and ``error`` its mean size, in usual ops, of which a gap counts as one at most.
    """

    overhead: Floats
    link: Floats
    hop: float
    gap: Floats
    error: float


def _waits(of: Instances, blocking: Blocking | None = None) -> _Waits:
    """Return what ranks wait for before ops, with the messages on streams or each alone.

    A message's time shows where a rank waited for it: the median of the ops whose input was made after that.
    """
    rank, p = op_columns(of.order).rank, of.order.p
    free = np.concatenate((np.full((len(of.places), 1), -np.inf), of.end[:, :-1]), axis=1)
    free[:, of.order.offsets[:-1]] = -np.inf
    made = np.where(of.made_by >= 0, of.end[:, of.made_by], -np.inf)
    if blocking is not None:
        made = made + blocking.held(of.order, made)
    overhead = _overhead(of, free, made)
    link = np.full((p, p), np.nan)
    crossing = of.crosses & (of.made_by >= 0)
    since = of.start[:, :, None] - made
    waited = (made > (free + overhead)[:, :, None]) & crossing & (made >= made.max(axis=2, keepdims=True))
    taker, half = np.nonzero(crossing)
    for source, target in {*zip(rank[of.made_by[taker, half]].tolist(), rank[taker].tolist(), strict=True)}:
        mine = waited & ((rank[of.made_by] == source) & (rank == target)[:, None])
        if mine.any():
            link[source, target] = max(0.0, float(np.median(since[mine])))
    known = link[~np.isnan(link)]
    hop = _lower_median(known) if known.size else 0.0
    link = np.where(np.isnan(link), hop, link)
    arrived = np.where(crossing, made + link[rank[of.made_by], rank[:, None]], made).max(axis=2)
    begin = np.maximum(free + overhead, arrived)
    gap = np.where(np.isfinite(begin), of.start - np.where(np.isfinite(begin), begin, 0.0), 0.0)
    usual = float(np.median(of.spent))
    error = float(np.minimum(np.abs(gap) / usual, 1.0).mean()) if usual > 0.0 else 0.0
    return _Waits(overhead, link, hop, np.maximum(gap, 0.0), error)


def _overhead(of: Instances, free: Floats, made: Floats) -> Floats:
    """Return (N,) what ranks spend before every op, by kind and stage: between two ops where the input of the second
    had been there for as long as a usual op takes; ``free`` (I, N) when its rank, ``made`` (I, N, 2) when its inputs.
    """
    long_since = made.max(axis=2) < free - float(np.median(of.spent))
    gap = of.start - free
    out = np.zeros(gap.shape[1])
    known = long_since & np.isfinite(free)
    usual = max(0.0, float(np.median(gap[known]))) if known.any() else 0.0
    for each in np.unique(of.group):
        mine = known & (of.group == each)
        out[of.group == each] = max(0.0, float(np.median(gap[mine]))) if mine.any() else usual
    return out


def _pauses(of: Instances, gap: Floats) -> Floats:
    """Return (I, N) the gaps before ops that are more than chance, given how long the usual ones are."""
    pause = np.zeros(gap.shape)
    least = LEAST_PAUSE * float(np.median(of.spent))
    for each in np.unique(of.group):
        mine = of.group == each
        spread = 1.4826 * float(np.median(np.abs(gap[:, mine] - np.median(gap[:, mine]))))
        pause[:, mine] = np.where(gap[:, mine] > max(RARE * spread, least), gap[:, mine], 0.0)
    return pause
