"""Calibrate costs from a measured run, and simulate its order again at these costs.

The cost of an op is the median of its kind in its stage; the time of a hop is the median of the hops that a rank
waited for. If the simulation at these costs agrees with the measured times, the schedule explains the run; an op that
ends much later was disturbed. Medians hide how an op's time varies, and in every cycle ranks wait for the one that is
slower at that moment, so the order is also replayed with each op's own time: that part is due to the ops, the rest to
messages and wake-ups between them. Only the start and end of each op are needed, so imported traces can be calibrated
too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from backend.schedule.order.dependencies import rules_of
from backend.schedule.order.op_columns import op_columns
from backend.schedule.order.ops import PAIR, B, F, I, S, T, W
from backend.schedule.order.order import Order, code_table
from backend.schedule.simulation.costs import Cost, Costs, SizedCosts, durations, leads, own_times, per_stage
from backend.schedule.simulation.message_flow import producers
from backend.schedule.simulation.metrics import figures
from backend.schedule.simulation.simulate import Floats, Timeline, replay, simulate
from backend.schedule.spec import Spec

Middle = Callable[[Floats], Any]
Truths = npt.NDArray[np.bool_]
_EVEN = Costs(S=1.0, T=1.0)


@dataclass(frozen=True, eq=False)
class Calibration:
    """A measured run, its costs in its own unit, and two simulations of its order.

    ``predicted``: the order at these costs, begun when the run began; ``replayed``: the same with each op's own time,
    hops and pauses still at their medians.
    """

    measured: Timeline
    costs: Costs
    predicted: Timeline
    replayed: Timeline

    @property
    def error(self) -> float:
        """Return the relative error of the predicted makespan: positive if it is longer than the measured one."""
        return self._off(self.predicted)

    @property
    def replay_error(self) -> float:
        """Return the relative error of the replayed makespan."""
        return self._off(self.replayed)

    @property
    def residual(self) -> Floats:
        """Return (N,) how much later than predicted each op ended."""
        return self.measured.end - self.predicted.end

    def measured_costs(self) -> dict[str, Any]:
        """Return the costs that the run shows, as JSON; for how long a message was on the wire is not among them."""
        found = self.costs.to_json()
        return {key: value for key, value in found.items() if value is not None and key != "wire"}

    def as_dict(self) -> dict[str, Any]:
        """Return costs, predicted figures and their errors as JSON, in the unit of the run."""
        return {
            "costs": self.measured_costs(),
            **({"fixed": self.costs.fixed} if isinstance(self.costs, SizedCosts) else {}),
            "predicted": figures(self.predicted).as_dict(),
            "error": self.error,
            "replayed": {"makespan": self._makespan(self.replayed), "error": self.replay_error},
        }

    def _off(self, timeline: Timeline) -> float:
        return self._makespan(timeline) / self._makespan(self.measured) - 1.0

    @staticmethod
    def _makespan(timeline: Timeline) -> float:
        return float(timeline.end.max() - timeline.start.min())


def mean_costs(measured: Timeline, comm: float = 0.0, v: int = 1) -> Costs:
    """Return the mean time of each kind of op in each stage, without what is idle between ops; ``v`` as in
    ``simulate``.
    """
    return _costs(measured, measured.end - measured.start, comm, v, np.mean)


def calibrate(measured: Timeline, v: int = 1, planned: Costs = _EVEN) -> Calibration:
    """Derive the costs of a legal order from its measured times; ``v`` as in ``simulate``. ``planned`` are the
    effective costs of its plan: they say how micro-batches differ, and how much of a backward runs ahead of its
    gradient.
    """
    again = _again(measured, planned, v)
    some = {"spared": planned.spared, "within": planned.within}
    early: Costs = Costs(again=again, lead=0.0 if planned.lead == 0.0 else again, **some)
    if isinstance(planned, SizedCosts):
        early = early.sized(planned.sizes, planned.fixed)
    begin, comm = _begun(measured, early, v)
    spent = np.maximum(measured.end - begin, 0.0)
    if isinstance(planned, SizedCosts):
        costs = _sized_costs(measured, spent, comm, v, planned)
    else:
        costs = _costs(measured, spent, comm, v)
    costs = replace(costs, again=early.again, lead=early.lead, **some)
    copying = measured.copy_end - measured.copy_start
    own = replay(measured.order, _own(measured, begin), replace(early, comm=comm), copying, v)
    zero = float(measured.start.min())
    return Calibration(measured, costs, *(_begun_at(each, zero) for each in (simulate(measured.order, costs, v), own)))


def _sized_costs(measured: Timeline, spent: Floats, comm: float, v: int, planned: SizedCosts) -> Costs:
    """Return the costs of a micro-batch of size 1; the op of each takes ``spent`` (N,), in proportion as planned."""
    order, fixed = measured.order, _fixed(measured, spent, planned.sizes)
    usual = durations(order.placement, planned.of_size_one, v)[_ranks(order), order.codes]
    own = own_times(order, replace(planned, fixed=fixed), v)
    times = np.where((usual > 0.0) & (own > 0.0), own / np.where(usual > 0.0, usual, 1.0), 1.0)
    return _costs(measured, spent / times, comm, v).sized(planned.sizes, fixed)


def _fixed(measured: Timeline, spent: Floats, sizes: Sequence[float]) -> float:
    """Return the share of an op that does not depend on the size of its micro-batch: where the line through the times
    of micro-batches by their size begins. The time of one is the median, over its ops, of their time by the mean of
    their kind in their stage; pairs, which are of two, do not count.
    """
    order = measured.order
    rank, _, kind, chunk, micro, *_ = op_columns(order)
    group = kind * order.placement.stages + order.placement.stage_of[rank, chunk]
    one = np.isin(kind, (F, I, W, B))
    if not one.any() or len(set(sizes)) == 1:
        return 0.0
    means = _medians(spent[one], group[one], int(group.max()) + 1, np.mean)[group[one]]
    times = _medians(spent[one] / np.where(means > 0.0, means, 1.0), micro[one], len(sizes))
    known = ~np.isnan(times)
    slope, begins = np.polyfit(np.array(sizes)[known], times[known], 1)
    share = float(begins / (begins + slope)) if begins + slope > 0.0 else 0.0
    return min(1.0, max(0.0, round(share, 3)))


def _again(measured: Timeline, planned: Costs, v: int) -> Cost:
    """Return how much of the backwards of each stage runs the forward again, where that matters, else 0: of a measured
    op the part that is planned.
    """
    if planned.lead == 0.0 and not planned.recomputes_some:
        return 0.0
    order = measured.order
    kind, chunk, back = code_table(order.chunks)[order.codes].T
    stage = order.placement.stage_of[_ranks(order), np.where(kind == PAIR, back, chunk)]
    if isinstance(planned, SizedCosts):
        plan = own_times(order, planned, v)
    else:
        plan = durations(order.placement, planned, v)[_ranks(order), order.codes]
    again = per_stage(planned.again, order.placement.stages, v)
    early = np.isin(kind, (I, B, PAIR)) & (again[stage] > 0.0) & (plan > 0.0)
    took = (measured.end - measured.start)[early] / plan[early]
    ratio = np.nan_to_num(_medians(took, stage[early], order.placement.stages))
    found: list[float] = (again * ratio).tolist()
    return tuple(found)


def _ranks(order: Order) -> npt.NDArray[np.int64]:
    """Return (N,) the rank of each op."""
    return np.repeat(np.arange(order.p), np.diff(order.offsets))


def _own(measured: Timeline, begin: Floats) -> Floats:
    """Return (N,) the time of each op, including the median pause before ops of its kind on its rank."""
    order = measured.order
    kinds = order.codes.astype(np.int64) + _ranks(order) * 256
    pauses: Floats = _medians(measured.start - begin, kinds, 256 * order.p)[kinds]
    return measured.end - measured.start + pauses


def _begun_at(timeline: Timeline, zero: float) -> Timeline:
    """Shift a timeline by ``zero``."""
    times = (timeline.start, timeline.end, timeline.copy_start, timeline.copy_end)
    return Timeline(timeline.order, *(each + zero for each in times))


def neutral(spec: Spec, calibration: Calibration, unit: float = 1.0) -> Spec:
    """Return the spec with measured costs in place of its own, in units of ``unit``.

    The measurement already includes the effect of options on costs: layers, recomputation and the last stage's output
    layer must not count twice; what runs ahead of its gradient stays apart from I, and
    is as long in every stage that has it.
    """
    costs: dict[str, Any] = {
        key: [each / unit for each in cost] if isinstance(cost, list) else cost / unit
        for key, cost in calibration.costs.to_json().items()
        if cost is not None
    }
    if isinstance(costs.get("O"), list):  # a spec gives a device's whole share, which a shared link doubles
        costs["O"] = sum(costs["O"]) / len(costs["O"]) * spec.v / (2 if spec.shared_link else 1)
    place = spec.vocabulary if calibration.measured.order.barriers else "plain"
    data = spec.to_json() | {"costs": costs, "layers": None, "vocabulary": place}
    found = calibration.costs
    if isinstance(found.again, tuple):
        early = [each for each in found.again if each > 0.0]
        again = sum(early) / max(1, len(early)) / unit
        costs["R"] = again * spec.v
        parts = zip(costs["I"], found.again, strict=True)
        costs["I"] = [max(0.0, each - again) if part > 0.0 else each for each, part in parts]
    else:
        data |= {"recompute": "none", "recompute_at": "backward", "spared": 0}
    if spec.frozen is not None:
        _with_frozen(costs, spec)
    if spec.sizes is not None and isinstance(found, SizedCosts):
        data["fixed"] = found.fixed
    return Spec.from_json(data)


def _with_frozen(costs: dict[str, Any], spec: Spec) -> None:
    """Make measured costs those of a spec whose frozen stages leave a part of them out: all that their backwards took
    is I, and T is twice the half that was measured.
    """
    for stage in spec.frozen or ():
        costs["I"][stage] += costs["W"][stage]
    if "T" in costs and spec.with_(frozen=None).timing.T != spec.timing.T:
        costs["T"] *= 2.0


def _begun(measured: Timeline, early: Costs, v: int) -> tuple[Floats, float]:
    """Return (N,) when each op could begin, with the lead of ``early``, and the time of a hop.

    An op could begin once its rank was free and its inputs had come. The time between then and the reported start
    (receiving a message, recording) is part of its cost: the rank can do nothing else meanwhile.
    """
    order = measured.order
    made_by, crosses = producers(order)
    needs = rules_of(order).need[_ranks(order), order.codes] >= 0
    free = np.concatenate(([-np.inf], measured.end[:-1]))
    free[order.offsets[:-1]] = -np.inf
    # what is not needed at once counts as made
    made = np.where(made_by >= 0, measured.end[made_by], -np.inf) - leads(order, early, v)
    waited = made >= free[:, None] if order.messages is None else np.zeros_like(crosses)  # or behind other messages
    comm = _hop(measured.start[:, None] - made, crosses & (made_by >= 0), made, waited)
    arrived = (made + comm * crosses).max(axis=1)
    begin = np.maximum(free, arrived)
    unknown = (needs & (made_by < 0)).any(axis=1) | ~np.isfinite(
        begin
    )  # inputs from a barrier or a reload; a rank's first op
    return np.where(unknown, measured.start, np.minimum(begin, measured.start)), comm


def _hop(took: Floats, came: Truths, made: Floats, waited: Truths) -> float:
    """Return the time of a hop, from the delay between the end of a message's producer and its use.

    A message that was not even made when its rank was free was ``waited`` for: the median of these delays. Without any,
    the smallest of all delays, which is an upper bound.
    """
    waited = came & waited & (made == made.max(axis=1, keepdims=True))
    if waited.any():
        return max(0.0, float(np.median(took[waited])))
    return max(0.0, float(took[came].min())) if came.any() else 0.0


def _costs(measured: Timeline, spent: Floats, comm: float, v: int, middle: Middle = np.median) -> Costs:
    """Return medians, or another middle, by kind and stage. B is I and W together: half of it each, unless there are
    ops of their own.
    """
    order, stages = measured.order, measured.order.placement.stages
    rank = _ranks(order)
    kind, chunk, other = code_table(order.chunks)[order.codes].T
    stage = order.placement.stage_of[rank, chunk]
    f, i, w, b = (_medians(spent[kind == of], stage[kind == of], stages, middle) for of in (F, I, W, B))
    half = b / 2
    i, w = _first(i, half), _first(w, half)
    pairs = spent[kind == PAIR]
    mean = float(middle(pairs)) / 3 if pairs.size else 0.0
    costs = Costs(_filled(f, mean), _filled(i, mean), _filled(w, mean), comm)
    s, t = (float(middle(spent[kind == of])) if (kind == of).any() else None for of in (S, T))
    both = np.stack((stage, order.placement.stage_of[rank, other]), 1)[kind == PAIR]
    return replace(costs, FB=_pair(pairs, both, costs, v, middle), S=s, T=t, O=_copying(measured))


def _pair(spent: Floats, stages: npt.NDArray[np.int64], costs: Costs, v: int, middle: Middle) -> float | None:
    """Return the time of an overlapped pair of stages (forward, backward); None if F + I + W describes it better."""
    if not spent.size:
        return None
    f, i, w = (np.array(cost) for cost in (costs.F, costs.I, costs.W))
    one, sums = float(middle(spent)), f[stages[:, 0]] + i[stages[:, 1]] + w[stages[:, 1]]
    return one * v if np.abs(spent - one).sum() < np.abs(spent - sums).sum() else None


def _medians(values: Floats, groups: npt.NDArray[np.int64], count: int, middle: Middle = np.median) -> Floats:
    """Return (count,) the median, or another middle, of each group, NaN for an empty one."""
    found = np.full(count, np.nan)
    by = np.argsort(groups, kind="stable")
    numbers, first = np.unique(groups[by], return_index=True)
    for number, members in zip(numbers.tolist(), np.split(values[by], first[1:]), strict=len(numbers) > 0):
        found[number] = middle(members)
    return found


def _first(one: Floats, other: Floats) -> Floats:
    return np.where(np.isnan(one), other, one)


def _filled(found: Floats, otherwise: float) -> tuple[float, ...]:
    """Return one value per stage, as in a spec; a stage without such an op, whose cost is never used, gets the mean
    of the others.
    """
    known = found[~np.isnan(found)]
    mean = float(known.mean()) if known.size else otherwise
    return tuple(np.where(np.isnan(found), mean, found).tolist())


def _copying(measured: Timeline) -> Cost | None:
    """Return the times of copies out and back by stage; None without copies."""
    order, copies = measured.order, measured.order.copies
    if copies is None or not measured.copy_end.size:
        return None
    rank = np.repeat(np.arange(order.p), np.diff(copies.offsets))
    stage = order.placement.stage_of[rank, copies.codes % order.chunks]
    spent = measured.copy_end - measured.copy_start
    return _filled(_medians(spent, stage, order.placement.stages), 0.0)
