"""Solve small instances exactly: OR-tools' CP-SAT improves an order or proves that no better one exists.

An optional extra (``pip install bubbleline[search]``), imported only when requested. Suitable up to about 200 ops,
always with the best known span as horizon. Times are whole numbers for the solver: costs that are whole at some power
of ten stay as they are, others are rounded down, so that the proved bound holds for the instance in any case.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt

from backend.schedule.errors import message
from backend.schedule.order.ops import F, I, W
from backend.schedule.order.order import Codes
from backend.schedule.search.alone import Alone
from backend.schedule.search.building_block import Instance
from backend.schedule.search.certificate import Found
from backend.schedule.search.initial_orders import keeps, ops_of, span_of

MOST_OPS = 200
EFFORT = 10.0  # the solver's deterministic time, the same on every machine; roughly seconds
SCALES = tuple(10**k for k in range(5))
NAME = message("schedule.bound_exhaustive_search", "exhaustive search")


def available() -> bool:
    """Return whether the solver is installed."""
    return find_spec("ortools") is not None


def fits(instance: Instance) -> bool:
    """Return whether the instance is small enough for the solver."""
    return ops_of(instance) <= MOST_OPS


def prove(instance: Instance, found: Found, effort: float = EFFORT) -> Found:
    """Return the same order with a higher lower bound, or a better order, as far as the effort allows. Returns
    ``found`` unchanged if the instance is too large or the solver is not installed.
    """
    if found.optimal or not fits(instance) or not available():
        return found
    bound, codes = _solve(instance, found.span, effort)
    if bound > found.lower_bound:
        found = replace(found, lower_bound=min(bound, found.span), bound_name=NAME)
    if codes is not None and keeps(instance, codes):
        span = span_of(instance, codes)
        if span < found.span:
            found = replace(found, codes=codes, span=span, lower_bound=min(found.lower_bound, span))
    return found


@dataclass(frozen=True)
class Grid:
    """An instance in whole numbers: ``cost`` (slots, 3), ``hop``, ``head`` (p,); ``scale`` of them are a unit of time.

    Rounded down, ends are no later and starts are at most ``late`` earlier, so that no window is longer by more than
    that.
    """

    cost: npt.NDArray[np.int64]
    hop: int
    head: npt.NDArray[np.int64]
    scale: int
    late: int

    @staticmethod
    def of(instance: Instance) -> Grid:
        times = np.append(instance.cost.ravel(), instance.costs.comm)
        whole_at = [s for s in SCALES if np.allclose(times * s, np.round(times * s), rtol=0, atol=1e-7)]
        scale, late = (whole_at[0], 0) if whole_at else (SCALES[-1], 2 * instance.placement.p)
        whole = np.floor(times * scale + 1e-7).astype(np.int64)
        alone = Alone.of(instance)
        slot = instance.placement.slot_at[0]
        cost = whole[:-1].reshape(-1, 3)
        hops = np.where(np.diff(alone.rank) != 0, whole[-1], 0)
        enter = np.concatenate(([0], np.cumsum(cost[slot[:-1], F] + hops)))
        return Grid(cost, int(whole[-1]), enter[alone.first], scale, late)


def _solve(instance: Instance, span: float, effort: float) -> tuple[float, Codes | None]:
    """Return the lower bound that the solver reaches, and an order if it finds one."""
    from ortools.sat.python import cp_model

    grid, model = Grid.of(instance), cp_model.CpModel()
    horizon = int(np.ceil(span * grid.scale)) + grid.late
    starts = _ops(instance, grid, model, horizon)
    _memory(instance, grid, model, starts)
    heads = _heads(instance, grid, model, starts)
    longest = model.new_int_var(0, horizon, "span")
    for (slot, kind, _), start in starts.items():
        if kind == W:
            rank = slot // instance.placement.chunks
            model.add(longest >= start + int(grid.cost[slot, W]) - heads[rank])
    model.minimize(longest)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.max_deterministic_time = effort
    status = solver.solve(model)
    if status == cp_model.INFEASIBLE:  # the rounded horizon excludes it: no shorter order exists
        return span, None
    codes = None
    if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        codes = _codes(instance, grid, {op: solver.value(start) for op, start in starts.items()})
    return (solver.best_objective_bound - grid.late) / grid.scale, codes


def _ops(instance: Instance, grid: Grid, model: Any, horizon: int) -> dict[tuple[int, int, int], Any]:
    """Create a start for each (slot, kind, micro-batch): one op at a time on a rank, inputs first, first in, first
    out.
    """
    place, starts = instance.placement, {}
    lanes: list[list[Any]] = [[] for _ in range(place.p)]
    for slot in range(place.p * place.chunks):
        for kind in (F, I, W):
            for k in range(instance.n):
                latest = horizon + (horizon if place.streams == 2 else int(grid.head[slot // place.chunks]))
                start = model.new_int_var(0, latest, "")
                length = int(grid.cost[slot, kind])
                lanes[slot // place.chunks].append(model.new_fixed_size_interval_var(start, length, ""))
                starts[slot, kind, k] = start
                if k > 0:
                    model.add(start >= starts[slot, kind, k - 1] + length)
                if kind > F:
                    model.add(start >= starts[slot, kind - 1, k] + int(grid.cost[slot, kind - 1]))
    for lane in lanes:
        model.add_no_overlap(lane)
    for slot, after in enumerate(place.after.tolist()):
        if after >= 0:
            hop = grid.hop if after // place.chunks != slot // place.chunks else 0
            for k in range(instance.n):
                model.add(starts[after, F, k] >= starts[slot, F, k] + int(grid.cost[slot, F]) + hop)
                model.add(starts[slot, I, k] >= starts[after, I, k] + int(grid.cost[after, I]) + hop)
    return starts


def _heads(instance: Instance, grid: Grid, model: Any, starts: dict[tuple[int, int, int], Any]) -> list[Any]:
    """Return each rank's first start, where its window begins: as early as possible. With two streams it may be the F
    of either, which starts as soon as its first micro-batch arrives. The first rank of one of the streams begins at
    once, and by the end of its window all F of the other stream have reached it: no rank begins later than that.
    """
    place = instance.placement
    heads: list[Any] = []
    if place.streams == 1:
        heads = grid.head.tolist()
        for rank, head in enumerate(heads):
            model.add(starts[rank * place.chunks, F, 0] == head)
        return heads
    for rank in range(place.p):
        slots = [rank * place.chunks + chunk for chunk in range(place.chunks)]
        head, begins = model.new_int_var(0, 1 << 40, ""), model.new_bool_var("")
        for slot, chosen in zip(slots, (begins, begins.negated()), strict=True):
            source = int(place.before[slot])
            arrival = 0 if source < 0 else starts[source, F, 0] + int(grid.cost[source, F]) + grid.hop
            model.add(starts[slot, F, 0] == arrival).only_enforce_if(chosen)
            model.add(head == starts[slot, F, 0]).only_enforce_if(chosen)
            model.add(head <= starts[slot, F, 0])
        heads.append(head)
    return heads


def _memory(instance: Instance, grid: Grid, model: Any, starts: dict[tuple[int, int, int], Any]) -> None:
    """Constrain each rank's memory: the activations alive from F to the end of I and of W stay under the limit."""
    place, unit = instance.placement, 1 if instance.share in (0.0, 1.0) else 10_000
    kept = round(instance.share * unit)
    parts = [(kind, weight) for kind, weight in ((I, unit - kept), (W, kept)) if weight > 0]
    for rank in range(place.p):
        lives, weights = [], []
        for slot in range(rank * place.chunks, (rank + 1) * place.chunks):
            for k in range(instance.n):
                for kind, weight in parts:
                    begin, over = starts[slot, F, k], starts[slot, kind, k] + int(grid.cost[slot, kind])
                    lives.append(model.new_interval_var(begin, model.new_int_var(0, 1 << 40, ""), over, ""))
                    weights.append(weight)
        spare = (
            0 if abs(instance.share * unit - kept) < 1e-9 else len(lives)
        )  # the most that rounding the weights may add
        model.add_cumulative(lives, weights, int(np.floor(instance.room * unit + 1e-6)) + spare)


def _codes(instance: Instance, grid: Grid, start: dict[tuple[int, int, int], int]) -> Codes:
    """Sort each rank's ops by their starts; of two with the same start the one that takes no time is first."""
    chunks, rows = instance.placement.chunks, []
    for rank in range(instance.placement.p):
        mine = [(at, int(grid.cost[op[0], op[1]]), op[2], op) for op, at in start.items() if op[0] // chunks == rank]
        rows.append([kind * chunks + slot % chunks for _, _, _, (slot, kind, _) in sorted(mine)])
    return np.array(rows, np.uint8)
