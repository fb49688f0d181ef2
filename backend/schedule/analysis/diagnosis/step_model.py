"""A measured step as a model whose parts can be repaired: what ops take, what messages take, and what ranks wait for.

An op takes the mean of its kind in its stage, times how slow its worker is, times the size of its micro-batch, times
what is left: jitter. Before it may begin, its inputs have come, over links that have each their own time, and its rank
has spent what it spends before every op (launch overhead) or before this one alone (a pause).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from backend.schedule.analysis.diagnosis.instances import Instances
from backend.schedule.order.op_columns import op_columns
from backend.schedule.order.ops import PAIR
from backend.schedule.simulation.costs import Costs
from backend.schedule.simulation.simulate import NOTHING, replay

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

SURE = 4.0  # a factor counts where it varies by as many times what chance gives, in variance
RARE = 5.0  # deviations beyond which a gap before an op is a pause of its own
LEAST_PAUSE = 0.2  # of a usual op
COSTS = Costs()


@dataclass(frozen=True, eq=False)
class StepModel:
    """The parts of I instances of N ops, in ms: ``mean`` (N,) of each op's kind over all stages and ``stage`` (N,) in
    its own, ``worker`` (I, N) and ``micro`` (I, N) factors, ``jitter`` (I, N) the factor that is left; ``hop`` the
    usual time of a message and ``link`` (p, p) that of each pair of ranks; ``overhead`` (N,) before an op, ``pause``
    (I, N) beyond it.
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

    @cached_property
    def rank(self) -> Ints:
        """Return (N,) the rank of each op."""
        return op_columns(self.of.order).rank

    @property
    def spent(self) -> Floats:
        """Return (I, N) the time of each op, with what its rank spends before it."""
        times: Floats = self.stage * self.worker * self.micro * self.jitter + self.overhead + self.pause
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
        spent, lags = self.spent, self.lags
        unique, of = np.unique(spent, axis=0, return_inverse=True)
        timelines = [replay(self.of.order, each, COSTS, NOTHING, 1, lags) for each in unique]
        start, end = (np.array([getattr(each, name) for each in timelines]) for name in ("start", "end"))
        return start[of.ravel()], end[of.ravel()]

    def makespan(self) -> Floats:
        """Return (I,) the time of each instance."""
        end: Floats = self.ends()[1].max(axis=1)
        return end

    # What is repaired: each returns the model without one cause.

    def balanced(self) -> StepModel:
        """Return the model with every stage like the mean one."""
        return replace(self, stage=self.mean)

    def with_equal_workers(self) -> StepModel:
        """Return the model with workers of one speed."""
        return replace(self, worker=np.ones_like(self.worker))

    def with_equal_micro_batches(self) -> StepModel:
        """Return the model with micro-batches of one size."""
        return replace(self, micro=np.ones_like(self.micro))

    def without_jitter(self) -> StepModel:
        """Return the model with ops that always take as long."""
        return replace(self, jitter=np.ones_like(self.jitter))

    def with_equal_links(self) -> StepModel:
        """Return the model with all links as quick as the usual one."""
        return replace(self, link=np.minimum(self.link, self.hop))

    def without_hops(self) -> StepModel:
        """Return the model with messages that take no time."""
        return replace(self, link=np.zeros_like(self.link))

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
    "overhead": StepModel.without_overhead,
    "pause": StepModel.without_pauses,
}


def ideal(model: StepModel) -> StepModel:
    """Return the model with every cause repaired: what is left is the schedule's own."""
    for repair in REPAIRS.values():
        model = repair(model)
    return model


def step_model(of: Instances) -> StepModel:
    """Fit the model to measured instances."""
    spent = of.spent
    link, hop, gap = _waits(of)
    overhead, pause = _overhead(of, gap)
    stage = _by(of.group, spent)
    mean = _over_stages(of, stage)
    ratio = spent / np.where(stage > 0.0, stage, 1.0)
    worker, stage = _workers(of, ratio, stage, mean)
    ratio = spent / np.where(stage > 0.0, stage * worker, 1.0)
    micro = _micro_batches(of, ratio)
    known = stage * worker * micro
    jitter = np.where(known > 0.0, spent / np.where(known > 0.0, known, 1.0), 1.0)
    return StepModel(of, mean, stage, worker, micro, jitter, hop, link, overhead, pause)


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


def _workers(of: Instances, ratio: Floats, stage: Floats, mean: Floats) -> tuple[Floats, Floats]:
    """Return (I, N) how slow each op's worker is, and (N,) the times of stages without it.

    A worker is a rank of a replica. With several replicas it is slower than the others of its rank; with one, where a
    rank has several stages, it is as slow as the least slow of them.
    """
    rank, p = op_columns(of.order).rank, of.order.p
    replicas = of.replicas
    names = np.unique(replicas)
    factor = np.ones(ratio.shape)
    if len(names) > 1:
        for each in range(p):
            mine = rank == each
            by = np.array([ratio[np.ix_(replicas == name, mine)].mean() for name in names])
            noise = np.array([ratio[np.ix_(replicas == name, mine)].mean(axis=1).std() for name in names])
            count = np.array([(replicas == name).sum() for name in names])
            usual = float(np.median(by))
            if usual > 0.0 and by.var() > SURE * float((noise**2 / count).mean()):
                for name, slow in zip(names, by / usual, strict=True):
                    factor[np.ix_(replicas == name, mine)] = slow
        return factor, stage
    if of.order.chunks < 2:
        return factor, stage
    slow = stage / np.where(mean > 0.0, mean, 1.0)
    least = np.array([slow[rank == each].min(initial=np.inf) for each in range(p)])
    usual = float(np.median(least))
    by_rank = np.maximum(1.0, least / usual if usual > 0.0 else np.ones(p))
    factor *= by_rank[rank]
    return factor, stage / by_rank[rank]


def _micro_batches(of: Instances, ratio: Floats) -> Floats:
    """Return (I, N) how large each op's micro-batch is: what its ops on all ranks have in common, where that is more
    than chance.
    """
    _, _, kind, _, micro, _, _ = op_columns(of.order)
    single = kind != PAIR
    out = np.ones(ratio.shape)
    m = of.order.m
    if not single.any() or m < 2:
        return out
    ops = [np.flatnonzero(single & (micro == each)) for each in range(m)]
    if not all(len(each) > 1 for each in ops):
        return out
    size = np.stack([np.median(ratio[:, each], axis=1) for each in ops], axis=1)  # (I, m), 1 on average
    left = np.stack([(ratio[:, each] - size[:, [at]]).var(axis=1) for at, each in enumerate(ops)], axis=1)
    chance = 1.57 * left.mean(axis=1) / len(ops[0])  # the variance of a median
    sure = size.var(axis=1) > SURE * chance
    for at, each in enumerate(ops):
        out[np.ix_(sure, each)] = size[sure, at][:, None]
    paired = np.flatnonzero(~single)
    if paired.size:
        second = op_columns(of.order).second[paired]
        out[:, paired] = np.where(sure[:, None], (size[:, micro[paired]] + size[:, second]) / 2, 1.0)
    return out


def _waits(of: Instances) -> tuple[Floats, float, Floats]:
    """Return (p, p) the time of a message from one rank to another, the usual one, and (I, N) how long after its rank
    was free and its inputs had come each op began.

    A message's time shows where a rank waited for it: the median of the ops that began after their input was made, and
    after their rank had been free for a while.
    """
    rank, p = op_columns(of.order).rank, of.order.p
    free = np.concatenate((np.full((len(of.places), 1), -np.inf), of.end[:, :-1]), axis=1)
    free[:, of.order.offsets[:-1]] = -np.inf
    made = np.where(of.made_by >= 0, of.end[:, of.made_by], -np.inf)  # (I, N, 2)
    link = np.full((p, p), np.nan)
    crossing = of.crosses & (of.made_by >= 0)
    since = of.start[:, :, None] - made
    waited = (made > free[:, :, None]) & crossing & (made >= made.max(axis=2, keepdims=True))
    taker, half = np.nonzero(crossing)
    for source, target in {*zip(rank[of.made_by[taker, half]].tolist(), rank[taker].tolist(), strict=True)}:
        mine = waited & ((rank[of.made_by] == source) & (rank == target)[:, None])
        if mine.any():
            link[source, target] = max(0.0, float(np.median(since[mine])))
    hop = float(np.nanmedian(link)) if not np.isnan(link).all() else 0.0
    link = np.where(np.isnan(link), hop, link)
    arrived = np.where(crossing, made + link[rank[of.made_by], rank[:, None]], made).max(axis=2)
    begin = np.maximum(free, arrived)
    return link, hop, np.where(np.isfinite(begin), np.maximum(of.start - begin, 0.0), 0.0)


def _overhead(of: Instances, gap: Floats) -> tuple[Floats, Floats]:
    """Return (N,) what ranks spend before every op, by kind and stage, and (I, N) what is more than chance beyond."""
    usual = np.zeros(gap.shape[1])
    pause = np.zeros(gap.shape)
    least = LEAST_PAUSE * float(np.median(of.spent))
    for each in np.unique(of.group):
        mine = of.group == each
        middle = float(np.median(gap[:, mine]))
        spread = 1.4826 * float(np.median(np.abs(gap[:, mine] - middle)))
        usual[mine] = middle
        beyond = gap[:, mine] - middle
        pause[:, mine] = np.where(beyond > max(RARE * spread, least), beyond, 0.0)
    return usual, pause
