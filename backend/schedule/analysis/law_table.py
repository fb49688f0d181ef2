"""Test every law of every family against the simulation over a grid of random specs, inside and outside its region.

The grid comes from each family's own seed, so the table is the same on every machine. Costs are whole numbers, so
sums in float64 are exact.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from backend.schedule import jit
from backend.schedule.analysis.nearest_spec import fit
from backend.schedule.errors import SpecError
from backend.schedule.families import forward_only
from backend.schedule.families.registry import FAMILIES, Family, order
from backend.schedule.laws.formula import parse, text
from backend.schedule.laws.law import AHEAD, Law
from backend.schedule.result import law_names
from backend.schedule.simulation.costs import Cost, Costs
from backend.schedule.simulation.memory import peaks
from backend.schedule.simulation.metrics import figures
from backend.schedule.simulation.simulate import simulate
from backend.schedule.spec import Spec

CELLS = 240  # specs per family
UNIT = 12.0  # divides by 1, 2, 3 and 4 chunks
MOST_P, MOST_M, MOST_V = 8, 28, 4
GRID = f"""{CELLS} specs a family, drawn at random, seed fixed: p 2 to {MOST_P}, m 1 to {MOST_M}, v up to {MOST_V};
F, I and W whole multiples of {UNIT:g} (half of the time with F = I, a quarter with F = I = W); a hop of 1, 5 or 40 in
half of them; uneven stages in one of six; where the family can, the output layer spread over the ranks in a third and
activations offloaded in a sixth. What a family cannot be built with is replaced by the nearest legal value.
Forward-only laws take the same specs without their backwards."""


@dataclass
class Tally:
    """How often a formula's value equalled the simulated one, was more, or was less."""

    equal: int = 0
    above: int = 0
    below: int = 0

    @property
    def cells(self) -> int:
        return self.equal + self.above + self.below

    def verdict(self) -> str:
        if not self.cells:
            return "not met in the grid"
        if self.equal == self.cells:
            return "equal"
        if not self.below:
            return "an upper bound"
        return "fails" if self.above else "a lower bound"


UNTRIED = ("streams == 0", "lead == 0")  # of every law of time


@dataclass
class Trial:
    """One law's tallies: inside its region, and outside by the sentence of the first condition that fails."""

    law: Law
    inside: Tally = field(default_factory=Tally)
    outside: dict[str, Tally] = field(default_factory=dict)


def trials(family: Family, cells: int = CELLS) -> list[Trial]:
    """Test a family's laws against the simulation over its grid."""
    jit.compile_for(jit.COMPILE_FROM_OPS)
    found = [Trial(law, outside={why: Tally() for _, why in conditions_of(law)}) for law in family.laws]
    for spec in grid(family, cells):
        simulated = _simulated(spec)
        values = law_names(spec)
        for trial in found:
            if trial.law.speaks(values):
                broken = trial.law.broken(values)
                tally = trial.inside if broken is None else trial.outside.get(broken)
                if tally is not None:
                    _count(tally, trial.law.value(values), simulated[trial.law.quantity, trial.law.window])
    return found


def conditions_of(law: Law) -> list[tuple[str, str]]:
    """Return a law's own conditions."""
    return [each for each in law.where if each[0] not in UNTRIED]


def grid(family: Family, cells: int) -> list[Spec]:
    """Draw legal specs from the family's own seed; return them, after them their forward-only ones, and where a law is
    about micro-batches that differ or recomputation ahead of the gradient, those with such ones.
    """
    draw = random.Random(f"laws of {family.name}")
    found: list[Spec] = []
    while len(found) < cells:
        try:
            found.append(fit(_draw(draw, family), family.name, draw.randint(family.v[0], min(family.v[2], MOST_V)))[0])
        except SpecError:
            continue  # no legal spec is near this draw
    alone = [_without_backwards(spec) for spec in found if forward_only.FIELD in family.fields]
    differ = any(law.sized for law in family.laws)
    ahead = any(law.when == AHEAD for law in family.laws)
    return [
        *found,
        *alone,
        *(_with_sizes(draw, spec) for spec in alone if differ),
        *(_ahead(spec) for spec in found if ahead),
    ]


def _ahead(spec: Spec) -> Spec:
    """Return the spec with all of its forwards run again, ahead of the gradients."""
    return spec.with_(recompute="full", recompute_at="ahead", offload="none", shared_link=False)


def _without_backwards(spec: Spec) -> Spec:
    return spec.with_(forward_only=True, lifo=False, offload="none", shared_link=False, vocabulary="plain")


def _with_sizes(draw: random.Random, spec: Spec) -> Spec:
    """Draw sizes and a fixed part in quarters, so that their products are exact."""
    sizes = tuple(draw.randint(1, 8) / 4 for _ in range(spec.m))
    return spec.with_(sizes=sizes, fixed=draw.choice((0.0, 0.25)), injection=draw.choice(("given", "mountain")))


def _draw(draw: random.Random, family: Family) -> Spec:
    p, m = draw.randint(2, MOST_P), draw.randint(1, MOST_M)
    f, i, w = (UNIT * draw.randint(1, 9) for _ in range(3))
    alike = draw.choice(("all", "f = i", "f = i", "none"))
    i = f if alike != "none" else i
    w = f if alike == "all" else w
    uneven = draw.randrange(6) == 0
    each = [_uneven(draw, p) if uneven else cost for cost in (f, i, w)]
    pair = f + w if "FB" in family.fields and draw.randrange(6) == 0 else None
    group = draw.randint(1, MOST_M) if "group" in family.fields and draw.random() < 0.5 else None
    lifo = "lifo" in family.fields and draw.random() < 0.5
    hop = draw.choice((0.0, 0.0, 0.0, 0.0, 1.0, 5.0, 5.0, 40.0))
    costs = Costs(each[0], each[1], each[2], hop, pair)
    spec = Spec(family.name, p, m, group=group, lifo=lifo, costs=costs)
    if family.vocabulary and not lifo and draw.randrange(3) == 0:
        costs = replace(costs, S=float(draw.randint(0, 30)), T=float(draw.randint(0, 30)))
        return spec.with_(vocabulary=draw.choice(family.vocabulary), costs=costs)
    return spec.with_(offload="full") if "offload" in family.fields and draw.randrange(6) == 0 else spec


def _uneven(draw: random.Random, p: int) -> Cost:
    """Draw a list of layers, each device with as many as UNIT has parts, so that every number of chunks divides it
    evenly.
    """
    layers = int(UNIT)
    return tuple(cost for _ in range(p) for cost in [float(draw.randint(1, 9))] * layers)


def _simulated(spec: Spec) -> dict[tuple[str, str], float]:
    built = order(spec)
    shown = figures(simulate(built, spec.timing, spec.v))
    windows = {"global": shown.makespan, "span": shown.longest_stage}
    peak = float(peaks(built)[0].max())
    return (
        {("makespan", window): whole for window, whole in windows.items()}
        | {("bubble", window): whole - shown.busy for window, whole in windows.items()}
        | {("share", window): 1 - shown.busy / whole for window, whole in windows.items()}
        | {("peak", window): peak for window in windows}
    )


def _count(tally: Tally, value: float, simulated: float) -> None:
    if abs(value - simulated) <= 1e-9 * max(1.0, abs(simulated)):
        tally.equal += 1
    elif value > simulated:
        tally.above += 1
    else:
        tally.below += 1


HEADER = "| law | where | specs | equal | law above | law below | there it is |"
QUANTITIES = {
    "bubble": "idle time of a device",
    "share": "idle share of the step",
    "makespan": "makespan",
    "peak": "peak, chunks in flight",
}


@cache  # some seconds of simulation, the same each time
def table(cells: int = CELLS) -> tuple[str, bool]:
    """Return the page of laws in Markdown, and whether every law was exact in every cell inside its region."""
    lines = [HEAD.format(grid=GRID)]
    kept = True
    for family in FAMILIES.values():
        lines.append(f"## {family.title} (`{family.name}`)\n")
        if not family.laws:
            lines.append("No closed form is known; the simulation is the law.\n")
            continue
        found = trials(family, cells)
        kept = kept and all(trial.inside.equal == trial.inside.cells for trial in found)
        lines += [HEADER, "|---|---|--:|--:|--:|--:|---|"]
        for trial in found:
            lines += _rows(trial)
        lines.append("")
        lines += [f"- `{text(trial.law.tree)}`: {trial.law.source}" for trial in found if trial.law.source]
        lines.append("")
    return "\n".join(lines), kept


def _rows(trial: Trial) -> list[str]:
    law = trial.law
    window = "" if law.quantity in ("peak", "share") else f", {law.window}"
    name = f"**{QUANTITIES[law.quantity]}{window}** = `{text(law.tree)}`"
    conditions = ["forward_only == 1"] if law.forward else [law.when] if law.when else []
    conditions += ["sized == 1"] if law.sized else []
    region = " and ".join(map(_condition, [*conditions, *(each for each, _ in conditions_of(law))])) or "always"
    verdict = "exact" if trial.inside.verdict() == "equal" else trial.inside.verdict()
    rows = [_row(name, region, trial.inside, verdict)]
    return rows + [_row("", f"else: {why}", tally, tally.verdict()) for why, tally in trial.outside.items()]


def _condition(source: str) -> str:
    plain = {
        "uniform == 1": "equal stages",
        "fb_full == 1": "FB = F + B",
        "barriers == 0": "no sharded output layer",
        "barriers > 0": "a sharded output layer",
        "barriers > 0 and interlaced == 0": "a sharded output layer, not interlaced",
        "interlaced == 1": "a sharded output layer, interlaced",
        "copies == 0": "no offload",
        "forward_only == 1": "forward only",
        "sized == 1": "micro-batches that differ",
        "p > 1 or c == 0": "several devices, or no hops",
    }
    return plain.get(source) or f"`{text(parse(source)).replace('==', '=')}`"


def _row(*cells: Any) -> str:
    name, where, tally, verdict = cells
    shown = (name, where, tally.cells, tally.equal, tally.above, tally.below, verdict)
    return f"| {' | '.join(str(cell) for cell in shown)} |"


HEAD = """# Laws

Written by `python app.py laws` from the laws in the code; a test fails when this page is not what the code says.

Each law is a formula and the conditions under which it is exact. Here every law is compared with the simulation:
{grid}

The first line of a law counts the specs where all its conditions hold; there it must be equal in every one. The lines
below it take the others, by the first condition that fails: *law above* are the specs where the formula gives more than
the simulation, *law below* where it gives less. Where it is never below it is an upper bound, where it is never above a
lower bound; where both happen it fails, and only the simulation says what is so.

p devices, m micro-batches, v chunks per device, S stages, g the group of an interleaved schedule; f, i, w and b = i + w
the times of a device's share, c a hop, FB an overlapped pair, sum_x and max_x the sum and the largest of what sizes of
micro-batches make of a time. Idle time is the window less the mean work of a device:
*global* from the first start to the last end, *span* the longest device's own window. What papers claim asymptotically
is in the comparison (`python app.py compare`), not here. No law of time counts messages that share streams, and but
for those with `lead` none counts recomputation that runs ahead of the gradient: the part lead of i.
"""
