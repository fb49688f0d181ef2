"""What a run command asks to be executed: an order with its costs, from a spec or from torch's CSV, and what each op of
it stands for in the model. Knows orders and specs; neither tensors nor this machine.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from backend.schedule.errors import SpecError
from backend.schedule.families import registry
from backend.schedule.interop import torch_csv
from backend.schedule.options.effective_costs import Options, fewer_on_the_last
from backend.schedule.order.order import Order
from backend.schedule.simulation.costs import Costs
from backend.schedule.spec import Spec
from runner.protocol import Run

MAX_RANKS = 64


@dataclass(frozen=True, slots=True)
class Work:
    """An order, the costs that its ops really have, the layers of each stage (None: as many each), what is run again
    before the backward, and whether weights change after every backward."""

    order: Order
    costs: Costs
    v: int
    layers: tuple[int, ...] | None
    recompute: str
    asynchronous: bool = False


def work_of(run: Run) -> Work:
    """The work of a run command; raises SpecError or OrderError."""
    return _imported(run, run.csv) if run.csv is not None else _built(run)


def _built(run: Run) -> Work:
    spec = registry.read(run.spec or {})
    _limit_ranks(spec.p)
    asynchronous = registry.family_of(spec).asynchronous
    return Work(registry.order(spec), spec.timing, spec.v, layers_of(spec), spec.recompute, asynchronous)


def _imported(run: Run, csv: str) -> Work:
    """An imported order, one line a rank; costs and layers, if a spec goes with it, are its."""
    order = torch_csv.load(csv, run.placement)
    if run.p is not None and run.p != order.p:
        raise SpecError("p", run.p, f"the csv has {order.p} lines, one a rank", limit=order.p, nearest=order.p)
    _limit_ranks(order.p)
    spec, stages = Spec.from_json(run.spec or {}), order.placement.stages
    lists = {"F": spec.costs.F, "I": spec.costs.I, "W": spec.costs.W, "layers": spec.layers}
    for name, given in lists.items():
        if isinstance(given, tuple) and len(given) != stages:
            message = f"{name} as a list has one entry a stage: {stages} here, not {len(given)}"
            raise SpecError(name, len(given), message, limit=stages, nearest=stages)
    for name, value, none in (("vocabulary", spec.barriers, "plain"), ("offload", spec.offload != "none", "none")):
        if value:
            message = f"a csv holds neither S and T nor copies; run it with {name} {none}"
            raise SpecError(name, getattr(spec, name), message, nearest=none)
    spec = spec.with_(p=order.p, v=order.chunks)
    return Work(order, spec.timing, order.chunks, layers_of(spec), spec.recompute)


def layers_of(spec: Spec) -> tuple[int, ...] | None:
    """The layers of each stage: as given, or with fewer on the last, whose output layer takes time too."""
    given, real = spec.costs, spec.timing
    costs = [cost for cost in (given.F, given.I, given.W) if not isinstance(cost, tuple)]
    if spec.vocabulary != "redistribute" or len(costs) < 3:
        return spec.layers
    options = Options(**{each.name: getattr(spec, each.name) for each in fields(Options)})
    return fewer_on_the_last(options, sum(costs) / spec.v, spec.p * ((real.S or 0.0) + (real.T or 0.0)))


def _limit_ranks(ranks: int) -> None:
    if ranks > MAX_RANKS:
        message = f"a run has at most {MAX_RANKS} ranks"
        raise SpecError("p", ranks, message, limit=MAX_RANKS, nearest=MAX_RANKS)
