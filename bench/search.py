"""Measure the search for orders on one core: quality, lower bounds, and time until the best order was found.

    .venv/bin/python bench/search.py             # all cases with 5 s each at most, beside published figures
    .venv/bin/python bench/search.py --sweep     # the table for the docs: memory from a third of 1F1B's to twice
    .venv/bin/python bench/search.py --documented  # run every row of docs/search.md again, with its effort
    .venv/bin/python bench/search.py --seconds 20 --only third

Bubbles are idle time of total in the longest of the devices' own windows. ``bound`` is the bubble that no order of the
case is below, ``gap`` by how much the span is above the bound's, ``best at`` when the order was found. ``family`` is
the best family of a fixed order on the same placement within the same memory. Published: the Zero Bubble paper's tables
9 and 5, Sea AI Lab's generators (tests/golden/spans.json), and what a prototype of this search came to.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from backend.schedule import jit
from backend.schedule.errors import SpecError
from backend.schedule.families.registry import FAMILIES
from backend.schedule.families.v_shape.v_auto import V_AUTO
from backend.schedule.families.zero_bubble.zb_auto import ZB_AUTO
from backend.schedule.order.placement import place
from backend.schedule.search import greedy
from backend.schedule.search.building_block import Instance
from backend.schedule.search.certificate import Found
from backend.schedule.search.improve import Budget, Progress, search
from backend.schedule.simulation.check import check
from backend.schedule.simulation.costs import Costs
from backend.schedule.simulation.memory import peaks
from backend.schedule.simulation.metrics import figures
from backend.schedule.simulation.simulate import simulate
from backend.schedule.spec import Spec

ROOT = Path(__file__).resolve().parent.parent
SPANS = json.loads((ROOT / "tests" / "golden" / "spans.json").read_text())
# Zero Bubble (arXiv 2401.10241), p = 8: f, i, w, hop in ms, M_W / M_B; published ZB-1p and ZB-2p; a prototype's 2p.
PAPER = {
    ("1.5B", 24): ((18.522, 18.086, 9.337, 0.601), 0.3664, 0.1585, 0.0433, 0.0433),
    ("1.5B", 32): ((18.513, 18.086, 9.331, 0.626), 0.3664, 0.1242, 0.0039, 0.0026),
    ("1.5B", 64): ((18.546, 18.097, 9.321, 0.762), 0.3664, 0.0674, 0.0026, 0.0013),
    ("6.2B", 24): ((29.718, 29.444, 19.927, 0.527), 0.4324, 0.1323, 0.0029, 0.0016),
    ("6.2B", 32): ((29.802, 29.428, 19.530, 0.577), 0.4324, 0.1045, 0.0022, 0.0012),
    ("6.2B", 64): ((29.935, 29.621, 19.388, 0.535), 0.4324, 0.0554, 0.0010, 0.0006),
}
HALF, THIRD = {"1.5B": 0.1671, "6.2B": 0.1431}, {"1.5B": 0.2441, "6.2B": 0.2127}
# 6.2B, one chunk per device below 1F1B's memory: the bubble of the public heuristic.
BELOW = {0.9: 0.415, 0.75: 0.590, 0.5: 0.744}
MANY_CHUNKS = (("looped", 2), ("looped", 4), ("v", 3), ("v", 4))
SWEEP_MEMORY = (0.34, 0.5, 0.75, 1.0, 1.5, 2.0)
SWEEP_COSTS = (Costs(), Costs(1.0, 0.98, 0.6, 0.03))


@dataclass(frozen=True)
class Case:
    """``target`` is the bubble to reach, ``source`` names its publication."""

    name: str
    instance: Instance
    target: float | None = None
    source: str = ""


@dataclass(frozen=True)
class Outcome:
    found: Found
    first: float
    best_at: float
    seconds: float


def instance_of(
    kind: str, p: int, m: int, costs: Costs, room: float, share: float = 1.0, chunks: int | None = None
) -> Instance:
    """Build an instance; ``room`` is the memory limit in chunks, ``chunks`` per device, by default 1, on a V 2."""
    v = chunks or (2 if kind == "v" else 1)
    return Instance(place("v" if kind == "v" else "looped", p, v), m, costs, v, room, share)


def cases() -> Iterator[Case]:
    for (model, m), (costs, share, one, two, better) in PAPER.items():
        yield Case(f"ZB-1p {model}", instance_of("linear", 8, m, Costs(*costs), 8.0), one, "published")
        yield Case(f"ZB-2p {model}", instance_of("linear", 8, m, Costs(*costs), 16.0, share), two, "published")
        yield Case(f"ZB-2p {model}", instance_of("linear", 8, m, Costs(*costs), 16.0, share), better, "prototype")
    for model in HALF:
        costs = Costs(*PAPER[model, 24][0])
        yield Case(f"half memory {model}", instance_of("v", 8, 24, costs, 10.0), HALF[model], "prototype")
        yield Case(f"third memory {model}", instance_of("v", 8, 24, costs, 8.0), THIRD[model], "prototype")
        for p, m in ((16, 64), (32, 256)):
            yield Case(f"ZB-1p {model}", instance_of("linear", p, m, costs, float(p)))
    costs = Costs(*PAPER["6.2B", 24][0])
    for part, public in BELOW.items():
        yield Case(
            f"one chunk at {part:g}x", instance_of("linear", 8, 24, costs, float(int(8 * part))), public, "public"
        )
    for kind, room in (("linear", 16.0), ("linear", 12.0), ("v", 32.0), ("v", 18.0), ("v", 12.0)):
        yield Case(f"{kind} p=16 at {room / 16 / (2 if kind == 'v' else 1):g}x", instance_of(kind, 16, 64, costs, room))
    for (kind, v), part in product(MANY_CHUNKS, (0.5, 1.0, 1.5)):
        costs = Costs(*PAPER["1.5B", 24][0])
        yield Case(f"{kind} {v} chunks at {part:g}x", instance_of(kind, 8, 24, costs, 8.0 * v * part, chunks=v))
    for each in (*SPANS["blocks"], *SPANS["searched"]):
        share, chunks = each.get("w_share", 1.0), each["v"]
        room = each["memory"] * chunks if "memory" in each else float(each["peak"])
        kind = "v" if chunks == 2 else "linear"
        instance = instance_of(kind, each["p"], each["m"], Costs(**each["costs"]), room, share)
        target = 1.0 - ideal(instance) / each["span"]
        yield Case(f"{each['family']} {room / chunks:g} F={each['costs']['F']:g}", instance, target, "generator")


def ideal(instance: Instance) -> float:
    """The mean of the devices' sums of ops."""
    return float(instance.m * instance.cost.sum() / instance.placement.p)


def solve(instance: Instance, seconds: float) -> Outcome:
    """Search as `show` does for the family of the instance's placement, at its costs and memory."""
    family = V_AUTO if instance.placement.kind == "v" else ZB_AUTO
    limit = {"memory": instance.room / instance.v, "w_share": instance.share}
    spec = Spec(family.name, instance.placement.p, instance.m, instance.v, costs=instance.costs, **limit)
    assert family.problem is not None
    problem = family.problem(spec)
    times: list[float] = []

    def report(progress: Progress) -> None:
        if progress.codes is not None:
            times.append(time.perf_counter() - start)

    start = time.perf_counter()
    found = problem.search(spec.seed, Budget(seconds), report)
    outcome = Outcome(found, times[0], times[-1], time.perf_counter() - start)
    check_found(instance, found)
    return outcome


def best_family(instance: Instance) -> str:
    """Return title and bubble of the best family with a fixed order on the instance's placement within its memory."""
    place, found = instance.placement, []
    for family in FAMILIES.values():
        if family.problem is not None or family.placement != place.kind or not family.v[0] <= instance.v <= family.v[2]:
            continue
        spec = Spec(family.name, place.p, instance.m, instance.v, costs=instance.costs, w_share=instance.share)
        with contextlib.suppress(SpecError):
            family.validate(spec)
            order = family.order(spec)
            if peaks(order, instance.share)[1].max() <= instance.room + 1e-9:
                found.append((figures(simulate(order, instance.costs, instance.v)).span_bubble.of_total, family.title))
    return "{1} {0:.4f}".format(*min(found)) if found else "none"


def check_found(instance: Instance, found: Found) -> None:
    """Check that the order is legal, within the limit, and timed correctly by the simulator."""
    order = found.order(instance)
    check(order)
    assert peaks(order, instance.share)[1].max() <= instance.room + 1e-9
    assert abs(figures(simulate(order, instance.costs, instance.v)).longest_stage - found.span) < 1e-9 * found.span


def show(case: Case, outcome: Outcome) -> None:
    instance, found = case.instance, outcome.found
    bubble, bound = (1.0 - ideal(instance) / span for span in (found.span, found.lower_bound))
    placement, m = instance.placement, instance.m
    size = f"p={placement.p:<2} m={m:<3} {3 * placement.chunks * placement.p * m:>6,} ops"
    sure = "optimal" if found.optimal else f"gap {100 * found.gap:.2f} %"
    against = ""
    if case.target is not None:
        word = "met" if bubble <= case.target + 5e-5 else "MISSED"
        against = f"{case.source} {case.target:.4f} {'better' if bubble < case.target - 5e-5 else word}"
    when = f"first {outcome.first:5.3f} best at {outcome.best_at:5.2f} of {outcome.seconds:5.2f} s"
    line = f"{case.name:24} {size}  span {found.span:12,.3f}  bubble {bubble:.4f}  bound {bound:.4f}  {sure:13}"
    family = f"family {best_family(instance):14}"
    print(f"{line} {when}  {found.evaluations:>9,} evaluations  {family}  {against}", flush=True)


def infeasible() -> None:
    instance = instance_of("linear", 16, 64, Costs(), 0.5)
    start = time.perf_counter()
    try:
        search(instance, greedy.looped(16))
    except SpecError as error:
        print(f"a limit of 0.5: refused after {time.perf_counter() - start:.3f} s: {error.message}")


def sweep(seconds: float) -> None:
    """Print the table of both placements within each limit; m = 4p."""
    print("| `python app.py show` ... | of 1F1B's memory | lower bound | found | gap | effort |")
    print("|---|--:|--:|--:|--:|--:|")
    for costs, p, part, (kind, v) in product(SWEEP_COSTS, (4, 8, 16), SWEEP_MEMORY, (("linear", 1), ("v", 2))):
        instance = instance_of(kind, p, 4 * p, costs, max(float(int(part * p * v + 1e-9)), float(v)))
        found = solve(instance, seconds).found
        bubble, bound = (short(1.0 - ideal(instance) / span) for span in (found.span, found.lower_bound))
        gap = "optimal" if found.optimal else f"{100 * found.gap:.1f} %"
        command = f"{'v-auto' if kind == 'v' else 'zb-auto'} -p {p} -m {4 * p} --memory {instance.room / v:g}"
        if costs != Costs():
            command += f" --f {costs.F:g} --i {costs.I:g} --w {costs.W:g} --comm {costs.comm:g}"
        cells = (f"`{command}`", f"{part:g}", bound, bubble, gap, f"{found.evaluations:,}")
        print(f"| {' | '.join(cells)} |", flush=True)


def short(bubble: float) -> str:
    """Return a bubble as the tables of docs/search.md have it: .0433, or 0."""
    return "0" if abs(bubble) < 5e-5 else f"{bubble:.4f}".removeprefix("0")


def documented(only: str) -> None:
    """Run the command of each row in the tables of docs/search.md with the row's effort, and compare what it finds with
    the row: bubble, lower bound and gap, as far as the row has them.

    A row holds its whole command, or fills the capitals of the command above its table. Commands without the text
    ``only`` are left out.
    """
    text, command, head, same, rows = (ROOT / "docs" / "search.md").read_text(), "", [""], 0, 0
    for line in re.sub(r"`([^`]*)`", lambda code: code[0].replace("\n", " "), text).splitlines():
        whole = re.search(r"`python app.py show ([^`]*)`", line)
        if whole and not line.startswith("|"):
            command = whole[1]
        if not line.startswith("|"):
            head = [""]
            continue
        cells = [each.strip().strip("`") for each in line.strip("|").split("|")]
        if head == [""]:
            head = cells
        row = dict(zip(head, cells, strict=True))
        if not row.get("effort", "").replace(",", "").isdigit():
            continue
        given = cells[0] if "app.py show" in head[0] else command
        for name, key in (("FAMILY", "family"), ("LIMIT", "limit"), ("-v V", "v")):
            given = given.replace(name, f"-v {row.get(key)}" if key == "v" else row.get(key, name))
        given = re.sub(r" --seconds \d+", "", given)
        if only in given:
            rows += 1
            same += run_again(given, row)
    print(f"{same} of {rows} rows are as documented")


def run_again(command: str, row: dict[str, str]) -> bool:
    """Run one row's command and print what it gives; return whether that is what the row says."""
    effort = row["effort"].replace(",", "")
    words = [sys.executable, "app.py", "show", *shlex.split(command), "--effort", effort, "--json"]
    result = json.loads(subprocess.run(words, cwd=ROOT, check=True, capture_output=True, text=True).stdout)
    found, certificate = result["bubble"]["span"]["of_total"], result["certificate"]
    bound = 1.0 - (1.0 - found) * result["longest_stage"] / certificate["lower_bound"]
    percent = "0" if certificate["optimal"] else f"{100 * certificate['gap']:.4f}"
    says = {"found": (f"{found:.4f}", 5e-5), "lower bound": (f"{abs(bound):.4f}", 5e-5), "gap": (percent, 0.051)}
    written = {key: row[key].replace("optimal", "0").rstrip(" %") for key in says if key in row}
    differ = [
        f"{key} {text}, now {says[key][0]}"
        for key, text in written.items()
        if abs(float(text) - float(says[key][0])) > says[key][1] or (text == "0") != (says[key][0] in ("0", "0.0000"))
    ]
    print(f"{'; '.join(differ) or 'as documented'}: {command} --effort {effort}", flush=True)
    return not differ


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--seconds", type=float, default=5.0)
    options.add_argument("--sweep", action="store_true")
    options.add_argument("--documented", action="store_true")
    options.add_argument("--only", default="", help="cases with this in their name (documented: command)")
    chosen = options.parse_args()
    jit.compile_all()
    if chosen.documented:
        documented(chosen.only)
        return
    if chosen.sweep:
        sweep(chosen.seconds)
        return
    done: dict[Instance, Outcome] = {}  # an instance with two targets is searched once
    for case in cases():
        if chosen.only in case.name:
            if case.instance not in done:
                done[case.instance] = solve(case.instance, chosen.seconds)
            show(case, done[case.instance])
    infeasible()


if __name__ == "__main__":
    main()
