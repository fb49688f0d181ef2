"""A time that no order of a position's sizes, costs and memory limit can beat."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from backend.schedule.errors import message
from backend.schedule.order.ops import W
from backend.schedule.partial_order.position import Position
from backend.schedule.search.alone import Alone
from backend.schedule.search.bounds import BOUNDS, Bound, lower_bound, work
from backend.schedule.search.building_block import Instance
from backend.schedule.simulation.costs import Cost, per_stage


def instance_of(position: Position, full: bool) -> Instance | None:
    """Return the search problem of a position: its sizes, costs and memory limit, without its ops; None for two
    directions.

    ``full``: the backward is one op. It is an I that takes the time of both and frees everything, with a W that takes
    none.
    """
    place, v, share = position.placement, position.v, position.w_share
    if place.streams > 1:
        return None
    costs = position.timing
    if full:
        both = per_stage(costs.I, place.stages, v) + per_stage(costs.W, place.stages, v)
        whole: Cost = tuple(both.tolist())
        forward: Cost = tuple(per_stage(costs.F, place.stages, v).tolist())
        costs, share = replace(costs, F=forward, I=whole, W=tuple([0.0] * place.stages)), 0.0
    most = position.m if position.sizes is None else sum(position.sizes)
    room = float(most * place.chunks if position.memory is None else position.memory * v)
    return Instance(place, position.m, costs, v, room, share)


def makespan_bound(position: Position, full: bool) -> Bound | None:
    """Return a lower bound on the makespan of any order; None for two directions. ``full`` as in `instance_of`.

    The bounds on a rank's own window (search/bounds.py) hold for the makespan too. Another one: a rank cannot start
    before the first micro-batch arrives, then has all its ops to do, and after its last gradient that one still has to
    pass to the first stage and end there. Where micro-batches differ, any may be the first and any the last, and only
    this bound and that of the work hold.
    """
    instance = instance_of(position, full)
    if instance is None:
        return None
    span = Bound(work(instance), BOUNDS[0][0]) if instance.is_sized else lower_bound(instance)
    alone = Alone.of(instance, int(instance.sizes[0].argmin()))
    first = alone.first
    last = alone.leave[0] + alone.w[0]  # when one micro-batch alone is over
    # Of the rank's ops only its W may come after its last gradient; the gradient is in its lowest stage.
    weights = instance.cost[:, W].reshape(instance.placement.p, -1).sum(axis=1)
    spare = weights * (instance.scale.sum() if instance.is_sized else instance.m)
    tail = np.maximum(0.0, last - alone.leave[first] - spare)
    whole = float((alone.enter[first] + instance.busy + tail).max())
    name = message("workbench.bound_path", "arrival, own work and the way back")
    return Bound(whole, name) if whole > span.value * (1.0 + 1e-9) else Bound(float(span.value), span.name)
