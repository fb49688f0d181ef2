"""Compare the papers' claims on a family's bubble and memory with the simulated figures, and explain differences.

The claims are asymptotic: bubble rates relative to 1F1B's R, activation memory relative to M, the memory of 1F1B (p
micro-batches). If a simulated figure differs, the reason is found by changing one thing after the other: no hops,
equal stages, F = I = W, many micro-batches, more devices. The changes that moved the figure are named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from backend.schedule.analysis.nearest_spec import fit
from backend.schedule.errors import Message, SpecError, message
from backend.schedule.families.registry import op_count, order
from backend.schedule.laws.formula import evaluate, parse, text
from backend.schedule.options.per_chunk import Modes
from backend.schedule.simulation.costs import Cost, Costs
from backend.schedule.simulation.memory import peak_memory
from backend.schedule.simulation.metrics import figures
from backend.schedule.simulation.simulate import simulate
from backend.schedule.spec import Spec

SOURCE = message(
    "analysis.source_of_claims",
    "asymptotic claims of the zero-bubble papers' authors: rates relative to 1F1B's R, memory relative to its M",
)
PIPEOFFLOAD = message(
    "analysis.pipeoffload_claims",
    "GIS, GIS-H and offload: peak activation memory relative to 1F1B's M, as PipeOffload (arXiv 2503.01328) gives it; "
    "of their bubbles it claims no rate.",
)


@dataclass(frozen=True)
class Claim:
    """A bubble rate (None: none is claimed) and a memory as formulas of R, M, v and p; ``factor``: the memory is
    claimed up to a constant factor.
    """

    bubble: str | None
    memory: str
    factor: bool = False


CLAIMS = {
    "1f1b": Claim("R", "M"),
    "interleaved": Claim("R/v", "M*(1+1/v)"),
    "zb-h1": Claim("R/3", "M"),
    "zb-h2": Claim("0", "2*M"),
    "v-min": Claim("2*R/3", "M/3"),
    "v-half": Claim("R/2", "M/2"),
    "v-zb": Claim("0", "M"),
    "gis": Claim(None, "M"),
    "gis-h": Claim(None, "M*(1+1/v)/2"),
}
OFFLOADING: dict[tuple[str, Modes], Claim] = {
    ("gis-h", "selective"): Claim(None, "M*(1+2/v)/8"),
    ("gis", "full"): Claim(None, "M/(v*p)", factor=True),
    ("gis-h", "full"): Claim(None, "M/(v*p)", factor=True),
}
"""What is claimed where activations are offloaded, as the memory of the others is not theirs then."""

OPTIONS: tuple[tuple[Message, dict[str, Any], dict[str, Any]], ...] = (
    (
        message("analysis.without_recomputation", "without recomputation"),
        {"recompute": "none", "recompute_at": "backward", "spared": 0},
        {},
    ),
    (
        message("analysis.on_no_streams", "with messages that wait for no other"),
        {"streams": "none", "receives": "torch"},
        {"wire": 0.0},
    ),
    (
        message("analysis.with_equal_micro_batches", "with micro-batches of one size"),
        {"sizes": None, "fixed": 0.0, "injection": "given", "replicas": 1, "deal": "given", "replica": 0},
        {},
    ),
    (message("analysis.with_all_trained", "with all stages trained"), {"frozen": None}, {}),
    (message("analysis.without_output_layer", "without an output layer"), {"vocabulary": "plain"},
     {"S": None, "T": None}),
)  # fmt: skip
"""What no claim is about: how a change without it is called, and the fields of spec and costs that leave it out."""
MANY = 32  # micro-batches per device that count as many
MOST_OPS = 200_000  # most ops of a case that is built only for an explanation
NEAR = 0.01  # a difference below this part of 1F1B's figure counts as none
Ratio = Callable[[Spec], float]
Steps = Iterator[tuple[Message, Spec]]


@lru_cache(maxsize=1024)
def simulated(spec: Spec) -> tuple[float, float]:
    """Return (bubble rate, peak memory): the idle share of the longest device's own window, as the papers count it,
    and the worst rank's activations in micro-batches.
    """
    built = order(spec)
    timeline = simulate(built, spec.timing, spec.v)
    memory = peak_memory(timeline, spec.w_share, spec.v, spec.kept, spec.weights or 0.0)
    return figures(timeline).span_bubble.of_total, float(memory.max())


def baseline(spec: Spec) -> Spec:
    """Return 1F1B at the sizes and costs of another spec."""
    return fit(spec, "1f1b")[0]


def claim_of(spec: Spec, rate: float, memory: float) -> dict[str, Any] | None:
    """Return the claims for a spec's family, ``bubble`` where there is one and ``memory``, with their values here; None
    if the papers claim nothing, as for a forward-only schedule.

    ``rate`` and ``memory`` are what ``simulated`` returns for the spec.
    """
    claim = CLAIMS.get(spec.family) if spec.offload == "none" else OFFLOADING.get((spec.family, spec.offload))
    if claim is None or spec.forward_only:
        return None
    try:
        base = simulated(baseline(spec))[0]
    except SpecError:  # 1F1B cannot run so: its receives deadlock
        return None
    names = {"R": base, "M": float(spec.p), "v": float(spec.v), "p": float(spec.p)}
    cells = {}
    if claim.bubble is not None:
        formula = claim.bubble
        cells["bubble"] = _cell(formula, names, rate, lambda: _why(spec, formula, _rate_ratio, _rate_steps))
    if claim.factor:
        cells["memory"] = _cell_up_to_a_factor(claim.memory, memory, spec)
    else:
        cells["memory"] = _cell(claim.memory, names, memory, lambda: _why_memory(spec, claim.memory))
    return cells


def _cell(formula: str, names: dict[str, float], here: float, why: Callable[[], Message]) -> dict[str, Any]:
    value = evaluate(parse(formula), names)
    scale = max(names["M"] if "M" in formula else names["R"], here, 1e-9)
    same = abs(here - value) <= 1e-6 * scale
    return {"text": text(parse(formula)), "value": value, "simulated": here, "differs": None if same else why()}


def _cell_up_to_a_factor(formula: str, here: float, spec: Spec) -> dict[str, Any]:
    """Return the cell of a claim that says only how memory grows: with M/(vp), a device holds as many chunks however
    many devices there are."""
    wide = _legal(spec.with_(p=2 * spec.p, m=2 * spec.m))
    there = here if wide is None else simulated(wide)[1]
    differs = None
    if wide is not None and abs(there - here) > NEAR:
        instant = simulated(spec.with_(costs=Costs(O=0.0)))[1]
        differs = message(
            "analysis.grows_with_devices",
            "Claimed as many chunks for any number of devices, simulated {here} with p = {p} and {there} with "
            "p = {wide}: copies take too long to keep up; it is {instant} with copies that take no time",
            here=f"{here * spec.v:g}",
            p=spec.p,
            there=f"{there * spec.v:g}",
            wide=wide.p,
            instant=f"{instant * spec.v:g}",
        )
    return {"text": f"O({text(parse(formula))})", "value": None, "simulated": here, "differs": differs}


def _why_memory(spec: Spec, formula: str) -> Message:
    """Explain a memory; of offload, by what a group of GIS-H holds where copies take no time."""
    if spec.offload == "none":
        return _why(spec, formula, _memory_ratio, _memory_steps)
    group, chunks = (spec.p + 1) // 2, spec.v // 2
    claimed = evaluate(parse(formula), {"M": 1.0, "v": float(spec.v)})
    claimed_text, here = _apart(claimed, _memory_ratio(spec))
    return message(
        "analysis.group_stays",
        "Claimed {claimed} of p micro-batches, simulated {simulated}; it is {instant} with copies that take no time. "
        "At the end of a group the {chunks} chunks that are not offloaded are held for each of its {group} "
        "micro-batches, {held} of p, with up to two chunks more that are being copied",
        claimed=claimed_text,
        simulated=here,
        instant=f"{_memory_ratio(spec.with_(costs=Costs(O=0.0))):.3g}",
        chunks=chunks,
        group=group,
        held=f"{chunks * group / (spec.v * spec.p):.3g}",
    )


def _rate_ratio(spec: Spec) -> float:
    base = simulated(baseline(spec))[0]
    return simulated(spec)[0] / base if base > 0 else 0.0


def _memory_ratio(spec: Spec) -> float:
    return simulated(spec)[1] / spec.p


def _why(spec: Spec, formula: str, ratio: Ratio, steps: Callable[[Spec], Steps]) -> Message:
    """Change one thing after the other until the figure is the claim; name the changes that moved it."""
    target = evaluate(parse(formula), {"R": 1.0, "M": 1.0, "v": float(spec.v)})
    unit = message("analysis.of_p_micro_batches", "p micro-batches")
    if ratio is _rate_ratio:
        unit = message("analysis.of_the_rate_of_1f1b", "1F1B's rate")
    now = ratio(spec)
    changes: list[Message] = []
    values: list[float] = []
    for label, changed in steps(spec):
        if abs(now - target) <= NEAR:
            break
        after = ratio(changed)
        if abs(after - now) > 1e-3:
            changes.append(_change(after, label, first=not changes))
            values.append(after)
        now = after
    claimed, here = _apart(target, ratio(spec))
    if not changes:
        return message(
            "analysis.claim_leaves_out",
            "Claimed {claimed} of {unit}, simulated {simulated}; what the claim leaves out is small beside many "
            "micro-batches and devices",
            claimed=claimed,
            unit=unit,
            simulated=here,
        )
    if abs(now - target) > NEAR and _nears(values, target):
        return message(
            "analysis.claim_is_the_limit",
            "Claimed {claimed} of {unit}, simulated {simulated}: {changes}; the claim is what that goes to",
            claimed=claimed,
            unit=unit,
            simulated=here,
            changes=changes,
        )
    return message(
        "analysis.claim_differs",
        "Claimed {claimed} of {unit}, simulated {simulated}: {changes}",
        claimed=claimed,
        unit=unit,
        simulated=here,
        changes=changes,
    )


def _change(value: float, label: Message, first: bool) -> Message:
    """Describe one of the changes and the figure after it."""
    if first:
        return message("analysis.it_is", "it is {value} {change}", value=f"{value:.3g}", change=label)
    return message("analysis.then_it_is", "then {value} {change}", value=f"{value:.3g}", change=label)


def _apart(one: float, other: float) -> tuple[str, str]:
    """Format two numbers with three digits, or with as many as are needed for them to differ."""
    for digits in range(3, 10):
        texts = f"{one:.{digits}g}", f"{other:.{digits}g}"
        if texts[0] != texts[1]:
            break
    return texts


def _nears(values: list[float], target: float) -> bool:
    """Return whether the last change moved the figure towards the claim."""
    return len(values) == 1 or abs(values[-1] - target) < abs(values[-2] - target)


def _rate_steps(spec: Spec) -> Steps:
    """Yield cases that approach the assumptions of a claimed rate, each built on the one before."""
    for label, changed in _without_options(spec):
        spec = changed
        yield label, spec
    costs = spec.costs
    if costs.comm:
        costs = replace(costs, comm=0.0)
        spec = spec.with_(costs=costs)
        yield message("analysis.without_hops", "without hops"), spec
    if spec.layers is not None or not costs.uniform:
        costs = Costs(_mean(costs.F, spec.v), _mean(costs.I, spec.v), _mean(costs.W, spec.v), costs.comm, costs.FB)
        spec = spec.with_(layers=None, costs=costs)
        yield message("analysis.with_equal_stages", "with equal stages"), spec
    if not costs.F == costs.I == costs.W:
        spec = spec.with_(costs=Costs(1.0, 1.0, 1.0))
        yield message("analysis.with_equal_ops", "with F = I = W"), spec
    yield from _larger(spec)


def _memory_steps(spec: Spec) -> Steps:
    """Yield the same for memory, which does not depend on times."""
    spec = spec.with_(costs=Costs(), layers=None, streams="none", receives="torch")
    for label, changed in _without_options(spec):
        spec = changed
        yield label, spec
    if spec.w_share != 1.0:
        spec = spec.with_(w_share=1.0)
        yield message("analysis.held_until_w", "with all activations held until W"), spec
    if spec.group is not None and spec.group_size != spec.p:
        grouped = _legal(spec.with_(group=spec.p))
        if grouped is not None:
            spec = grouped
            yield message("analysis.in_groups_of_p", "in groups of p = {p}", p=spec.p), spec
    yield from _larger(spec)


def _without_options(spec: Spec) -> Steps:
    """Yield the spec without one after the other of the options that no claim is about."""
    for label, fields, costs in OPTIONS:
        changed = spec.with_(**fields, costs=replace(spec.costs, **costs))
        if changed != spec:
            spec = changed
            yield label, spec


def _larger(spec: Spec) -> Steps:
    """Yield many micro-batches, then two and four times the devices."""
    many = _legal(spec.with_(m=max(1, -(-MANY * spec.p // spec.m)) * spec.m))
    if many is not None and many.m > spec.m:
        spec = many
        yield message("analysis.with_m", "with m = {m}", m=spec.m), spec
    for times in (2, 4):
        wide = _legal(spec.with_(p=times * spec.p, m=times * spec.m, group=None))
        if wide is not None:
            yield message("analysis.with_p_and_m", "with p = {p} and m = {m}", p=wide.p, m=wide.m), wide


def _legal(spec: Spec) -> Spec | None:
    """Return the spec if it can be built and is not too large for an explanation, else None."""
    try:
        fitted, _ = fit(spec, spec.family, spec.v)
        if op_count(fitted) > MOST_OPS:
            return None
        if fitted.receives == "deferred":
            order(fitted)  # which may deadlock
    except SpecError:
        return None
    return fitted


def _mean(cost: Cost, v: int) -> Cost:
    """Return the cost of a device's share if all stages of a list had their mean cost."""
    return v * sum(cost) / len(cost) if isinstance(cost, tuple) else cost
