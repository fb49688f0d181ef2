"""The command `plan`: the fastest ways to train a model on a machine within its memory."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import click

from backend.cli.columns import columns
from backend.cli.options import built, failing, preset_data, preset_options
from backend.compute.parallel_map import in_processes
from backend.schedule.analysis.plans import TrainingSetup, best_of_each, frontier, needs_a_model, plans
from backend.schedule.families.registry import family_of
from backend.schedule.hardware.step_units import GB
from backend.schedule.options.per_chunk import Modes
from backend.schedule.spec import LIMITS, MAX_TIME, Spec, integer, number

HEAD = ["schedule", "v", "limit", "recompute", "offload", "step s", "tokens/s", "(span)", "MFU", "GB", "fits"]
LEFT = {0, 3, 4, 10}  # columns that are left-aligned


@click.command("plan")
@click.option("-p", type=int, default=Spec.p, show_default=True, help="devices of the pipeline")
@click.option("-m", type=int, default=Spec.m, show_default=True, help="micro-batches a step")
@preset_options
@click.option("--gb", type=float, help="memory of a device in GB (default: the machine's)")
@click.option(
    "--seconds",
    type=click.FloatRange(0, 3600),
    default=0.0,
    help="how long to search for each of the best (0: construct)",
)
@click.option("--rows", type=click.IntRange(1, 1000), default=12, show_default=True, help="plans to print")
@click.option("--json", "as_json", is_flag=True, help="all plans as JSON")
def plan_command(p: int, m: int, gb: float | None, seconds: float, rows: int, as_json: bool, **given: Any) -> None:
    """Find the fastest step of a model on a machine within a device's memory: schedule, chunks per device,
    recomputation and offload in one search.

    Printed are the best of each schedule, and below them the frontier: each of its plans is faster than every plan
    with less memory.
    """
    with failing({"p": p, "m": m}, as_json):
        asked = Spec(p=integer("p", p, 1, LIMITS["p"]), m=integer("m", m, 1, LIMITS["m"]))
        limit = None if gb is None else GB * number("gb", gb, 1e-3, MAX_TIME)
        preset = preset_data(given)
        if preset is None:
            raise needs_a_model()
        search = (lambda spec: built(spec, seconds)) if seconds > 0.0 else None
        found = plans(asked, preset, limit, search, in_processes)
    front = frontier(found)
    if as_json:
        click.echo(json.dumps({"plans": _described(found), "frontier": _described(front)}))
        return
    click.echo("\n".join([*_table(best_of_each(found)[:rows]), "", "frontier, from the least memory:", *_table(front)]))


def _described(found: Sequence[TrainingSetup]) -> list[dict[str, Any]]:
    return [{"spec": plan.spec.to_json(), "units": plan.units.as_dict()} for plan in found]


def _table(found: Sequence[TrainingSetup]) -> list[str]:
    """Format plans in columns, numbers right-aligned."""
    cells = [HEAD, *(_cells(plan) for plan in found)]
    return columns(cells, LEFT)


def _cells(plan: TrainingSetup) -> list[str]:
    spec, units = plan.spec, plan.units
    return [
        family_of(spec).title,
        str(spec.v),
        "-" if spec.memory is None else f"{spec.memory:g}",
        _words(spec.recompute),
        _words(spec.offload),
        f"{units.seconds:.3f}",
        f"{units.rate:,.0f}",
        f"{units.span['tokens_per_second']:,.0f}",
        f"{units.mfu:.1%}",
        f"{units.memory.most / GB:.4g}",
        "yes" if plan.fits else f"no, {units.memory.limit / GB:.4g} GB",
    ]


def _words(modes: Modes) -> str:
    """Return modes as the command line reads them."""
    return modes if isinstance(modes, str) else ",".join(modes)
