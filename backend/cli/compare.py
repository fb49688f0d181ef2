"""The command `compare`: families side by side at one setting, with the claims of papers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import click

from backend.cli.options import (
    UNIT_HEAD,
    failing,
    over_limit,
    preset_data,
    preset_options,
    spec_data,
    spec_options,
    unit_cells,
)
from backend.compute.parallel_map import in_processes
from backend.schedule.analysis.compare import compare as compare_families
from backend.schedule.interop.ascii import columns
from backend.schedule.options.family_names import canonical
from backend.schedule.spec import Spec

HEAD = ["schedule", "p", "m", "v", "makespan", "global", "of ideal", "span", "of ideal", "in flight", "memory",
        "weights", "messages", "backward", "claimed rate", "claimed memory"]  # fmt: skip
TEXT = {0, 13, 14, 15}  # columns that are left-aligned
UNITS_AT = 5  # the column after the makespan


@click.command()
@spec_options(optional=True)
@preset_options
@click.argument("more", nargs=-1, metavar="[FAMILY]...")
@click.option("--json", "as_json", is_flag=True, help="the rows and notes as JSON")
def compare(more: Sequence[str], as_json: bool, **given: Any) -> None:
    """Put families side by side at one p, m, v and costs (all of them, or those named).

    A family that cannot be built there takes the nearest legal values, and the table says so. With a
    model and a machine times are milliseconds, and tokens, FLOP utilisation and memory are shown.
    """
    data: dict[str, Any] = {}
    with failing(data, as_json):
        preset = preset_data(given)
        data |= spec_data(given)
        first = data.pop("family", None)
        names = [*([first] if first else []), *map(canonical, more)]
        shape = compare_families(
            Spec.from_json({**data, "v": data.get("v", 1)}), names, data.get("v"), preset, in_processes
        )
    click.echo(json.dumps(shape) if as_json else "\n".join(_table(shape["rows"], preset is not None) + _remarks(shape)))


def _table(rows: Sequence[dict[str, Any]], with_units: bool) -> list[str]:
    """Format the rows in columns, numbers right-aligned, a star at adjusted families."""
    cells = [HEAD, *(_cells(row) for row in rows)]
    if with_units:  # after the times
        units = [UNIT_HEAD, *(unit_cells(row["units"]) for row in rows)]
        cells = [[*line[:UNITS_AT], *more, *line[UNITS_AT:]] for line, more in zip(cells, units, strict=True)]
    text = {at + len(UNIT_HEAD) * (with_units and at >= UNITS_AT) for at in TEXT}
    return columns(cells, text)


def _cells(row: dict[str, Any]) -> list[str]:
    spec, bubble, claim = row["spec"], row["bubble"], row["claim"]
    shares = [f"{bubble[window][whole]:.1%}" for window in ("global", "span") for whole in ("of_total", "of_ideal")]
    claimed = ["-", "-"]
    if claim:
        claimed = [_claimed(claim.get("bubble"), ".1%"), _claimed(claim["memory"], ".4g")]
    return [
        row["title"] + ("*" if row["adjusted"] else ""), *(str(spec[key]) for key in "pmv"), f"{row['makespan']:.6g}",
        *shares, str(row["peak_in_flight"]), f"{row['peak_memory']['max']:.4g}", f"{row['parameters']['max']}x",
        str(row["messages"]), row["backward"], *claimed,
    ]  # fmt: skip


def _claimed(cell: dict[str, Any] | None, form: str) -> str:
    """Return a claim with its value, if it has one."""
    if cell is None:
        return "-"
    text: str = cell["text"]
    return text if text == "0" or cell["value"] is None else f"{text} = {cell['value']:{form}}"


def _remarks(shape: dict[str, Any]) -> list[str]:
    """Return the lines under the table: adjustments, reasons why claims differ, and the notes."""
    lines = []
    for row in shape["rows"]:
        if row["adjusted"]:
            lines.append(f"* {row['title']}: {row['adjusted']}")
        lines += over_limit(row["title"], row["spec"]["memory"], row["peak_memory"]["max"])
        for name, cell in (row["claim"] or {}).items():
            if cell["differs"]:
                lines.append(f"{row['title']}, {name}: {cell['differs']}.")
        if row["parameters"]["max"] > 1:
            lines.append(f"{row['title']}, weights: {row['parameters']['why']}.")
    return ["", *lines, *shape["notes"]]
