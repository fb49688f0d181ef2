"""The command `pareto`: memory against throughput, every family and the best searched orders at memory limits."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import click

from backend.cli.options import (
    COSTS,
    UNIT_HEAD,
    built,
    failing,
    over_limit,
    preset_data,
    preset_options,
    spec_data,
    spec_options,
    unit_cells,
)
from backend.compute.parallel_map import in_processes
from backend.schedule import jit
from backend.schedule.analysis import pareto
from backend.schedule.analysis.map_each import one_by_one
from backend.schedule.families import registry
from backend.schedule.interop.ascii import columns
from backend.schedule.spec import MAX_TIME, number

HEAD = ["schedule", "p", "m", "v", "memory", "of p", "throughput", "bubble (span)", "(global)", "weights", "better"]


@click.command("pareto")
@spec_options(optional=True)
@preset_options
@click.option("--limits", type=COSTS, help="memory limits to search within (default: parts of p from 1/3 to 2)")
@click.option(
    "--seconds", type=click.FloatRange(0, 3600), default=0.0, help="how long to search within each limit (0: construct)"
)
@click.option("--json", "as_json", is_flag=True, help="the points as JSON")
def pareto_command(limits: float | list[float] | None, seconds: float, as_json: bool, **given: Any) -> None:
    """Put activation memory against throughput at one p, m and costs: every family, and the best searched order within
    each memory limit, for one chunk per device (ZB-auto), for the V (V-auto) and for two directions (Chimera-auto).

    FAMILY, if named, keeps its own v and options; the others take their natural ones. In the
    column "better" a dash is the frontier: nothing holds less and is as fast.
    """
    data: dict[str, Any] = {}
    with failing(data, as_json):
        preset = preset_data(given)
        data |= spec_data(given)
        asked = registry.read(data)
        if seconds > 0.0:
            jit.compile_all()
        given_limits = limits if isinstance(limits, list) else [limits]
        memory_limits = None if limits is None else [number("limits", each, 1e-3, MAX_TIME) for each in given_limits]
        points = pareto.points(asked, None, preset, in_processes)
        points += pareto.frontier(
            asked,
            memory_limits,
            lambda spec: built(spec, seconds),
            preset,
            one_by_one if seconds > 0.0 else in_processes,
        )
        shown = asked if preset is None else preset.asked(asked)
    rows = pareto.described(points, asked)
    shape = {"spec": shown.to_json(), "points": rows}
    click.echo(json.dumps(shape) if as_json else "\n".join(_table(rows, preset is not None)))


def _table(rows: Sequence[dict[str, Any]], with_units: bool) -> list[str]:
    """Format the rows in columns, numbers right-aligned, and the adjustments under them."""
    cells = [HEAD, *(_cells(row, rows) for row in rows)]
    if with_units:  # before the last column
        units = [UNIT_HEAD, *(unit_cells(row["units"]) for row in rows)]
        cells = [[*line[:-1], *more, line[-1]] for line, more in zip(cells, units, strict=True)]
    lines = columns(cells, (0, len(cells[0]) - 1))
    notes = [f"* {row['label']}: {row['adjusted']}" for row in rows if row["adjusted"]]
    notes += [line for row in rows for line in over_limit(row["label"], row["spec"]["memory"], row["memory"])]
    return lines + (["", *notes] if notes else [])


def _cells(row: dict[str, Any], rows: Sequence[dict[str, Any]]) -> list[str]:
    spec, bubble = row["spec"], row["bubble"]
    better = "-" if row["dominated_by"] is None else rows[row["dominated_by"]]["label"]
    better = "(other p or m)" if row["moved"] else better
    return [
        row["label"] + ("*" if row["adjusted"] else ""), *(str(spec[key]) for key in "pmv"), f"{row['memory']:.4g}",
        f"{row['of_p']:.2f}", f"{row['throughput']:.1%}", f"{bubble['span']['of_total']:.1%}",
        f"{bubble['global']['of_total']:.1%}", f"{row['weights']}x", better,
    ]  # fmt: skip
