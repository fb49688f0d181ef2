"""The command `check`: validate orders in torch's CSV, and hold them to limits, for people and in CI.

Exit codes: 0 all is well, 1 an order cannot run or exceeds a limit, 2 an option that is not legal.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import click

from backend.cli.options import (
    failing,
    preset_data,
    preset_options,
    spec_data,
    spec_options,
    unit_lines,
    write_file,
)  # fmt: skip
from backend.schedule import result
from backend.schedule.errors import OrderError
from backend.schedule.families import registry
from backend.schedule.families.apply_options import on_streams
from backend.schedule.hardware.preset_costs import Preset, priced
from backend.schedule.interop import ascii, torch_csv
from backend.schedule.interop.csv_table import lines_of, text_of
from backend.schedule.interop.order_limits import SHAPING, Finding, Limits, findings, read_limits
from backend.schedule.simulation.memory import peaks
from backend.schedule.simulation.metrics import figures
from backend.schedule.simulation.simulate import simulate
from backend.schedule.spec import Spec

SUITE = "bubbleline check"


@dataclass(frozen=True)
class Report:
    """What was found in a file: lines for people, notes, and what is wrong with the line of each finding."""

    file: Path
    lines: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    found: tuple[tuple[Finding, int | None], ...] = ()


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...",
                type=click.Path(path_type=Path, exists=True, dir_okay=False))  # fmt: skip
@click.option(
    "--placement", type=click.Choice(["looped", "v"]), help="where stages live (default: what the file shows)"
)
@click.option("--max-bubble", metavar="SHARE", help="the largest idle share of the step: 12% or 0.12")
@click.option("--max-gb", type=float, help="the most memory of a device in GB, with --model")
@click.option("--family", help="the schedule whose order it must be, op by op")
@click.option("--junit", type=click.Path(path_type=Path, dir_okay=False), help="write the outcome as JUnit XML")
@click.option("--github", is_flag=True, help="print what is wrong as annotations of GitHub Actions")
@preset_options
@spec_options(family=False)
def check(
    files: Sequence[Path],
    placement: str | None,
    max_bubble: str | None,
    max_gb: float | None,
    family: str | None,
    junit: Path | None,
    github: bool,
    **given: Any,
) -> None:
    """Validate orders in torch's CSV: print the first violation, or figures and what the rows show: sizes, placement,
    the file's dialect, and whether its messages can deadlock. The figures are those at the costs and with the options
    given, which are 1 and none by default; sizes that are given must be those of the files.

    The exit code is 1 if an order cannot run, or exceeds a limit that is given.
    """
    data: dict[str, Any] = {}
    reports = []
    with failing(data, as_json=False):
        preset = preset_data(given)
        data |= spec_data(given)
        limits = read_limits(max_bubble, max_gb, family, preset)
        for file in files:
            reports.append(_checked(file, placement, data, preset, limits))
            _print(reports[-1], github)
    if junit is not None:
        write_file(junit, _junit(reports, limits))
    sys.exit(1 if any(report.found for report in reports) else 0)


def _checked(
    file: Path, placement: str | None, data: Mapping[str, Any], preset: Preset | None, limits: Limits
) -> Report:
    """Read and check a file. Raises RequestError for options that do not go with it."""
    text = ""
    try:
        text = text_of(file.read_bytes())
        read = torch_csv.read_file(text, placement)
    except OrderError as error:
        wrong = Finding("order", error.message, error.rank, error.op)
        return Report(file, found=((wrong, error.params.get("line")),))
    order = read.order
    kept = data if limits.family is None else {name: value for name, value in data.items() if name not in SHAPING}
    spec = priced(registry.read_of_file(kept, order), preset, data, order)
    if read.messages is not None and spec.streams != "none" and spec.receives == "torch":
        order = replace(order, messages=replace(read.messages, streams=spec.streams))
    else:
        order = on_streams(spec, order)
    timeline = simulate(order, spec.timing, spec.v)
    shown, place = figures(timeline), order.placement
    lines = (
        f"{file.name}: {read.title}: a schedule of {len(order)} ops; it shows p {order.p}, m {order.m}, "
        f"v {place.chunks}, placement {place.text()}",
        f"at {'unit' if spec.timing == Spec().timing else 'these'} costs: makespan {shown.makespan:g}, "
        f"bubble {shown.global_bubble.of_total:.2%} of total (global), "
        f"{shown.span_bubble.of_total:.2%} (span), peak in flight {max(peaks(order)[0].tolist())}",
        *ascii.memory_lines(result.memory_of(spec, timeline), spec.memory),
        *unit_lines(None if preset is None else preset.units(spec, timeline)),
    )
    rows = [number for number, cells in lines_of(text) if cells]
    found = findings(limits, spec, timeline, preset, data)
    where = tuple((each, None if each.rank is None else rows[each.rank]) for each in found)
    return Report(file, lines, tuple(map(str, read.notes)), where)


def _print(report: Report, github: bool) -> None:
    for line in report.lines:
        click.echo(line)
    for note in report.notes:
        click.echo(f"{report.file.name}: {note}", err=True)
    for finding, place in report.found:
        if github:
            click.echo(_annotation(report.file, finding, place))
        else:
            click.echo(f"{report.file.name}: {finding.message}", err=True)


def _annotation(file: Path, finding: Finding, line: int | None) -> str:
    """Return the command of GitHub Actions that marks a line of a file, the first where all of it is meant."""
    place = _escaped(file.as_posix()).replace(":", "%3A").replace(",", "%2C")
    return f"::error file={place},line={line or 1},title={SUITE}::{_escaped(finding.message)}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _junit(reports: Sequence[Report], limits: Limits) -> str:
    """Return the outcome as JUnit XML: a test case for each file and check."""
    checks = ["order"] + [name for name, limit in
                          (("bubble", limits.bubble), ("memory", limits.gb), ("family", limits.family))
                          if limit is not None]  # fmt: skip
    suite = ElementTree.Element("testsuite", name=SUITE)
    for report in reports:
        wrong = {finding.check: (finding, line) for finding, line in report.found}
        for name in checks:
            case = ElementTree.SubElement(suite, "testcase", classname=report.file.as_posix(), name=name)
            if name in wrong:
                finding, line = wrong[name]
                where = f"{report.file.as_posix()}:{line or 1}"
                ElementTree.SubElement(case, "failure", message=finding.message).text = f"{where}: {finding.message}"
            elif "order" in wrong:
                ElementTree.SubElement(case, "skipped", message="the order cannot run")
    for name, kind in (("tests", "testcase"), ("failures", "failure"), ("skipped", "skipped")):
        suite.set(name, str(sum(1 for _ in suite.iter(kind))))
    text: str = ElementTree.tostring(suite, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'
