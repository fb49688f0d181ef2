"""The command `plan`: the fastest ways to train a model on machines within a device's memory."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Sequence
from typing import Any

import click

from backend.cli.options import built, command_line, failing, preset_data, preset_options, with_changes
from backend.cli.schedule import export
from backend.compute.parallel_map import in_processes
from backend.config import COMMAND
from backend.schedule.analysis import plan_question
from backend.schedule.analysis.plans import TrainingSetup, best_of_each, frontier, plans, standings
from backend.schedule.analysis.would_fit import Remedy, remedies
from backend.schedule.families.registry import family_of
from backend.schedule.hardware.step_units import GB
from backend.schedule.interop.ascii import columns
from backend.schedule.interop.configurations.frameworks import FRAMEWORKS
from backend.schedule.interop.configurations.write import CONFIGURED
from backend.schedule.options.per_chunk import Modes
from backend.schedule.spec import Spec

FIGURES = ["step s", "tokens/s", "(span)", "MFU", "GB", "fits", "runs on"]
SIZES = ["PP", "VP", "TP", "CP", "EP", "DP", "b", "m"]  # beside the schedule, where layouts are asked for
TEXT = {"schedule", "recompute", "offload", "fits", "runs on"}  # columns that are left-aligned
OPTION_OF = {"gpus": "--gpus", "p": "-p", "tp": "--tp", "zero": "--zero", "context": "--cp"}


@click.command("plan")
@click.argument("named", metavar="[MODEL]", required=False)
@click.option("-p", type=int, help=f"devices of the pipeline (default {Spec.p}; with --gpus any that divides them)")
@click.option("-m", type=int, help=f"micro-batches a step (default {Spec.m}; with --gpus it follows from --batch)")
@click.option("--gpus", type=int, help="devices in all: also find their layout, with --batch")
@click.option("--batch", type=int, help="sequences a step on all devices, with --gpus")
@preset_options
@click.option("--gb", type=float, help="memory of a device in GB (default: the machine's)")
@click.option("--framework", type=click.Choice(list(FRAMEWORKS)), help="only what this framework runs")
@click.option("--families", help="only these schedules, such as 1f1b,interleaved")
@click.option("--no-recompute", "recompute", flag_value=False, is_flag=True, default=None, help="no recomputation")
@click.option("--no-offload", "offload", flag_value=False, is_flag=True, default=None, help="no offload")
@click.option(
    "--seconds",
    type=click.FloatRange(0, 3600),
    default=0.0,
    help="how long to search for each of the best (0: construct)",
)
@click.option("--rows", type=click.IntRange(1, 1000), default=12, show_default=True, help="plans to print")
@click.option(
    "--commands",
    is_flag=True,
    help="below the plans, the command that writes the order of each; with --framework, its configuration",
)
@click.option("--json", "as_json", is_flag=True, help="all plans as JSON, each with its command")
def plan_command(named: str | None, seconds: float, rows: int, commands: bool, as_json: bool, **given: Any) -> None:
    """Find the fastest step of a model (MODEL, or --model) on machines within a device's memory: schedule, chunks per
    device, recomputation and offload in one search; with --gpus and --batch also the sizes of pipeline, tensor,
    context, expert and data parallelism, and the micro-batch.

    Printed are the best of each schedule, or of each layout, and below them the frontier: each of its plans is faster
    than every plan with less memory. Plans within 1 % share a place (=): estimates are no more exact. The exit code is
    1 if none fits.
    """
    data: dict[str, Any] = {}
    with failing(data, as_json):
        if named is not None:
            one = [("model", value) for value in (named, given["model"]) if value is not None]
            given |= with_changes({}, one)
        data |= {key: given.pop(key) for key in plan_question.KEYS}
        data = {key: value for key, value in data.items() if value is not None}
        asked = plan_question.read(data, preset_data(given))
        search = (lambda spec: built(spec, seconds)) if seconds > 0.0 else None
        found = plans(asked, search, in_processes)
    front, fits = frontier(found), found[0].fits
    others = [] if fits else remedies(found[0], asked, data.get("gpus"), data.get("batch"))
    if as_json:
        more = {} if fits else {"would_fit": [each.as_dict() for each in others]}
        click.echo(json.dumps({"plans": _described(found), "frontier": _described(front)} | more))
    else:
        best = best_of_each(found)[:rows]
        places = [["", *map(_place, standings(best))], [""] * (len(front) + 1)]
        head = ["schedule", *(SIZES if "gpus" in data else ["v"]), "limit", "recompute", "offload", *FIGURES]
        tables = [[head, *(_cells(plan, "gpus" in data) for plan in those)] for those in (best, front)]
        first, second = (
            columns([[place, *row] for place, row in zip(*both, strict=True)], {1 + head.index(name) for name in TEXT})
            for both in zip(places, tables, strict=True)
        )
        lines = [*first, "", "frontier, from the least memory:", *second, "", *_assumptions(found[0])]
        click.echo("\n".join(lines))
        if commands:
            click.echo("\n".join(["", *(command_of(plan, data.get("framework")) for plan in best)]))
        if not fits:
            click.echo(_none_fits(found[0], others), err=True)
    sys.exit(0 if fits else 1)


def _described(found: Sequence[TrainingSetup]) -> list[dict[str, Any]]:
    places = standings(found)
    return [
        plan.as_dict() | {"place": place and place[0], "command": command_of(plan)}
        for plan, place in zip(found, places, strict=True)
    ]


def command_of(plan: TrainingSetup, framework: str | None = None) -> str:
    """Return the command that writes the configuration of a framework for a plan, without one its order, or its times
    where torch's CSV cannot have it.
    """
    spec = plan.spec
    chosen = {"family": spec.family, "p": spec.p, "m": spec.m, "v": spec.v, "memory": spec.memory,
              "effort": spec.effort}  # fmt: skip
    modes = {key: _words(getattr(spec, key)) for key in ("recompute", "offload") if getattr(spec, key) != "none"}
    searched = family_of(spec).problem is not None and spec.effort is None
    form = "torch-csv" if family_of(spec).placement != "bidirectional" else "json"
    form = framework if framework in CONFIGURED else form
    end = ({"seconds": 0} if searched else {}) | {"form": form}
    return shlex.join([*COMMAND.split(), *command_line(export, chosen | modes | dict(plan.layout.preset.fields) | end)])


def _assumptions(plan: TrainingSetup) -> list[str]:
    """Return what the figures rest on: the model's numbers, rates and links of the machine, bytes of a parameter."""
    made = plan.layout.preset.estimate(plan.spec).setting
    machine = made.machine
    rate = f"{made.peak / 1e12:.4g} TFLOP/s at most"
    reached = "as the shapes of its products reach it" if made.efficiency is None else f"of which {made.efficiency:.0%}"
    links = [(machine.intra_bandwidth, "inside a node"), (machine.node_bandwidth, "a device between nodes")]
    speeds = " and ".join(f"{bandwidth / GB:.4g} GB/s {where}" for bandwidth, where in links)
    parameter = " + ".join(f"{each:g}" for each in (made.weight_bytes, made.gradient_bytes, made.optimizer_bytes))
    return [
        f"assumed: {made.model.whole_note}",
        f"  {machine.title}: {rate}, {reached}; {speeds}; nodes of {machine.per_node}",
        f"  {parameter} bytes a parameter (weights, gradients, optimizer), {made.reserve / GB:g} GB reserved, ZeRO as "
        "each row's command says",
    ]


def _none_fits(plan: TrainingSetup, others: Sequence[Remedy]) -> str:
    """Return that no plan fits, which needs the least, and with what it would fit."""
    memory = plan.units.memory
    least = f"{family_of(plan.spec).title}, v {plan.spec.v}, needs the least: {memory.most / GB:.4g} GB"
    ways = [f"{OPTION_OF[each.field]} {each.value} ({each.memory / GB:.4g} GB)" for each in others]
    would = f"; it would fit with {', or '.join(ways)}" if ways else ""
    return f"Nothing fits in {memory.limit / GB:.4g} GB. {least}{would}."


def _place(place: tuple[int, bool] | None) -> str:
    return "-" if place is None else f"{place[0]}{'=' if place[1] else ''}"


def _cells(plan: TrainingSetup, with_sizes: bool) -> list[str]:
    spec, units = plan.spec, plan.units
    return [
        family_of(spec).title,
        *(map(str, plan.layout.sizes(spec.v).values()) if with_sizes else [str(spec.v)]),
        "-" if spec.memory is None else f"{spec.memory:g}",
        _words(spec.recompute),
        _words(spec.offload),
        f"{plan.seconds:.3f}",
        f"{units.rate:,.0f}",
        f"{units.span['tokens_per_second']:,.0f}",
        f"{units.mfu:.1%}",
        f"{units.memory.most / GB:.4g}",
        "yes" if plan.fits else f"no, {units.memory.limit / GB:.4g} GB",
        " ".join(plan.frameworks) or "-",
    ]


def _words(modes: Modes) -> str:
    """Return modes as the command line reads them."""
    return modes if isinstance(modes, str) else ",".join(modes)
