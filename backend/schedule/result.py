"""Build the Result of a spec: order, figures, memory and laws, as the command line and the API return it."""

from __future__ import annotations

from typing import Any

from backend.errors import RequestError
from backend.schedule import jit
from backend.schedule.families.registry import family_of, order, validate
from backend.schedule.families.searched import certificate
from backend.schedule.laws.law import names
from backend.schedule.options.sizes import dealt
from backend.schedule.order.order import Order
from backend.schedule.order.weight_versions import weight_versions
from backend.schedule.simulation.memory import peak_memory, peaks
from backend.schedule.simulation.metrics import figures
from backend.schedule.simulation.simulate import Timeline, simulate
from backend.schedule.spec import Spec


def result(spec: Spec, times: bool = False) -> dict[str, Any]:
    """Return the Result of a spec. Raises SpecError if it is illegal."""
    spec = validate(spec)
    built = order(spec)
    return describe(spec, built, simulate(built, spec.timing, spec.v), times)


def describe(spec: Spec, built: Order, timeline: Timeline, times: bool = False) -> dict[str, Any]:
    """Return the Result of an order that is already timed."""
    in_flight, _ = peaks(built)
    laws, family = law_values(spec), family_of(spec)
    shape: dict[str, Any] = {"spec": spec.to_json(), "order": built.text()}
    if times:
        ranks = [timeline.rank(rank) for rank in range(built.p)]
        shape["start"] = [start.tolist() for start, _ in ranks]
        shape["end"] = [end.tolist() for _, end in ranks]
    shape |= figures(timeline).as_dict()
    shape["peak_in_flight"] = in_flight.tolist()
    shape["peak_memory"] = memory_of(spec, timeline)
    if family.asynchronous:
        shape["weight_versions"] = weight_versions(built).held.tolist()
    if spec.replicas > 1:
        shape["replicas"] = replicas_of(spec, built)
    if family.problem is not None:
        shape["certificate"] = certificate(spec, family, shape["longest_stage"])
    shape["law"] = next((law for law in laws if law["exact"]), laws[0]) if laws else None
    shape["laws"] = laws
    return shape


def replicas_of(spec: Spec, built: Order) -> dict[str, Any]:
    """Return when each data-parallel replica ends, and what the others lose by waiting for the slowest, whose time is
    that of the step; ``dealt``: the step if the longest micro-batches were dealt first and entered as a mountain.
    """
    jit.compile_for(spec.replicas * len(built))
    ends = _ends(spec, built)
    step, mean = max(ends), sum(ends) / len(ends)
    figures = {"step": step, "slowest": ends.index(step), "over_mean": step / mean, "waiting": 1.0 - mean / step}
    longest = max(_ends(spec.with_(deal="longest", injection="mountain"), built))
    return {"ends": ends, **figures, "dealt": longest}


def _ends(spec: Spec, built: Order) -> list[float]:
    """Return when each replica ends; messages that are placed by the times are those of the replica that is shown."""
    assert spec.sizes is not None
    shares = dealt(spec.sizes, spec.m, spec.replicas, spec.deal)
    return [float(simulate(built, spec.timing_with(sizes), spec.v).end.max()) for sizes in shares]


def memory_of(spec: Spec, timeline: Timeline) -> list[float]:
    """Return the peak memory of each rank, in one micro-batch's activations on a device."""
    held = peak_memory(timeline, spec.w_share, spec.v, spec.kept, spec.weights or 0.0)
    return [float(each) for each in held]


def law_values(spec: Spec) -> list[dict[str, Any]]:
    """Return every law of the spec's family that applies to it, with its numbers substituted."""
    values = law_names(spec)
    return [law.evaluate(values) for law in family_of(spec).laws if law.speaks(values)]


def law_names(spec: Spec) -> dict[str, float]:
    """Return the names that formulas use, at one spec: sizes and costs (law.py), then the options: barriers per
    micro-batch, and six conditions as 0 or 1.
    """
    truths = {"lifo": spec.lifo, "interlaced": spec.vocabulary == "interlaced", "copies": spec.offload != "none"}
    truths["forward_only"] = spec.forward_only
    truths |= {"frozen": spec.frozen is not None, "streams": spec.streams != "none"}
    sizes = names(spec.p, spec.m, spec.v, spec.group_size, family_of(spec).stages(spec), spec.timing)
    return sizes | {"barriers": float(spec.barriers)} | {name: float(truth) for name, truth in truths.items()}


def failure(data: Any, error: RequestError) -> dict[str, Any]:
    """Return the JSON in place of a Result for a spec that is not legal."""
    return {"spec": data, "error": error.as_dict()}
