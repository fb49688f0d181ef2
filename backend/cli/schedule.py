"""The commands that need only the schedule core: show, sweep, export, laws.

Exit codes: 0 done, 1 a page of laws that is stale, 2 a spec or an option that is not legal.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from backend.cli.options import (
    built,
    failing,
    preset_data,
    preset_options,
    reported,
    seconds_option,
    spec_data,
    spec_options,
    unit_lines,
    without,
    write_file,
)  # fmt: skip
from backend.config import PACKAGE, PROJECT
from backend.errors import Message, RequestError, json_reason, message
from backend.schedule import result
from backend.schedule.analysis.law_table import table
from backend.schedule.families import registry
from backend.schedule.families.searched import proved
from backend.schedule.hardware.preset_costs import asked_spec
from backend.schedule.interop import ascii
from backend.schedule.interop.configurations.write import CONFIGURED, configuration
from backend.schedule.interop.export import FORMATS, PICTURES, render
from backend.schedule.simulation.simulate import simulate
from backend.schedule.spec import Spec

CONFIGURATIONS = tuple(name for name in CONFIGURED if name not in FORMATS)  # torch-csv is the order itself
LAWS_PAGE = Path("laws.md") if PACKAGE else PROJECT / "docs" / "laws.md"


@click.command()
@spec_options()
@preset_options
@click.option("--json", "as_json", is_flag=True, help="the Result as JSON instead of a picture")
@click.option("--times", is_flag=True, help="with --json: start and end of every op")
@click.option("--columns", type=click.IntRange(10, 10_000), help="width of the picture")
@seconds_option
@click.option("--prove", is_flag=True, help="go through all orders of a small searched schedule (needs ortools)")
def show(as_json: bool, times: bool, columns: int | None, seconds: float, prove: bool, **given: Any) -> None:
    """Print the timeline of FAMILY, its figures and its law."""
    data: dict[str, Any] = {}
    with failing(data, as_json):
        if times and not as_json:
            raise RequestError("times", True, without("times", "json"))
        preset = preset_data(given)
        data |= spec_data(given)
        spec, order = built(asked_spec(data, preset), seconds)
        proof = {}
        if prove:
            spec, order, certificate = proved(spec, registry.family_of(spec), order)
            proof = {"certificate": certificate}
        timeline = simulate(order, spec.timing, spec.v)
    units = None if preset is None else preset.units(spec, timeline)
    shape = (
        result.describe(spec, order, timeline, times) | proof | ({} if units is None else {"units": units.as_dict()})
    )
    if as_json:
        click.echo(json.dumps(shape))
        return
    click.echo(f"{registry.family_of(spec).title}   p {spec.p}   m {spec.m}   v {spec.v}")
    click.echo("\n".join(ascii.draw(timeline, columns) + ascii.summary(shape) + unit_lines(units)))


@click.command()
@click.option("--times", is_flag=True, help="start and end of every op too")
@seconds_option
def sweep(times: bool, seconds: float) -> None:
    """Read one spec a line (JSON) and print one Result a line, in order; an illegal spec gives an error line."""
    illegal = False
    for number, line in enumerate(sys.stdin):
        line = line.removeprefix("\ufeff") if number == 0 else line
        if line.strip():
            shape = _answer(line, times, seconds)
            illegal = illegal or "error" in shape
            click.echo(json.dumps(shape))
    sys.exit(2 if illegal else 0)


def _answer(line: str, times: bool, seconds: float) -> dict[str, Any]:
    data: Any = None
    try:
        data = json.loads(line)
        spec, order = built(registry.read(data), seconds)
        return result.describe(spec, order, simulate(order, spec.timing, spec.v), times)
    except RequestError as error:
        return result.failure(_printable(data), error)
    except (ValueError, RecursionError) as error:
        shown = line.strip()[:80]
        why = message("web.line_is_not_json", "this line is not JSON: {reason}", reason=json_reason(error))
        return result.failure(None, RequestError("spec", shown, why))


def _printable(data: Any) -> Any:
    """Return data as strict JSON allows it: with NaN or infinity, which Python's reader accepts, as text."""
    try:
        return json.loads(json.dumps(data, allow_nan=False))
    except ValueError:
        return repr(data)[:200]


@click.command()
@spec_options()
@preset_options
@click.option("--format", "form", type=click.Choice([*FORMATS, *PICTURES, *CONFIGURATIONS]), required=True)
@click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="file instead of standard output")
@seconds_option
def export(form: str, output: Path | None, seconds: float, **given: Any) -> None:
    """Write FAMILY's schedule for another program, as a picture (SVG, PNG, or a page that plays without a server), or
    as what makes a training framework train so: its flags or its configuration.
    """
    data: dict[str, Any] = {}
    with failing(data, form == "json"):
        preset = preset_data(given)
        data |= spec_data(given)
        spec = asked_spec(data, preset)
        notes: tuple[Message, ...] = ()
        if form in CONFIGURATIONS:
            made = configuration(form, spec, preset)
            drawn, notes = made.text.encode(), made.notes
        else:
            spec, order = built(spec, seconds)
            drawn = _picture(spec, form, preset is not None) if form in PICTURES else render(spec, order, form).encode()
    if output is not None:
        write_file(output, drawn)
    else:
        click.echo(drawn, nl=False)
    if form == "torch-csv" and spec.recompute != "none":
        click.echo(_without_recomputation(spec), err=True)
    for note in notes:
        click.echo(f"# {note}", err=True)


def _without_recomputation(spec: Spec) -> str:
    """Say what torch's CSV leaves out of a schedule that recomputes."""
    lost = [] if spec.recompute_at == "backward" else ["recomputation before the gradient arrives is not in it"]
    lost += ["which micro-batches recompute is for the modules to choose"] if spec.timing.recomputes_some else []
    whole = "torch's CSV names no recomputation: a backward includes it where your stage modules checkpoint"
    return "; ".join([whole, *lost])


def _picture(spec: Spec, form: str, in_ms: bool) -> bytes:
    """Draw a schedule, or leave with the reason why it cannot be drawn."""
    from backend.jobs.pictures import draw  # what draws takes longer to load than `show` to run
    from backend.lessons.values import LessonError

    with reported(LessonError):  # no bundle
        return draw(spec, form, in_ms)


@click.command()
@click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), default=LAWS_PAGE, help="docs/laws.md")
@click.option("--check", is_flag=True, help="write nothing; leave with 1 when the page is stale")
def laws(output: Path, check: bool) -> None:
    """Write docs/laws.md: where each law is exact, where it is a bound, and where it fails."""
    page, kept = table()
    stale = not output.is_file() or output.read_bytes() != page.encode()
    if not check:
        write_file(output, page)
    click.echo(f"{output.name} {'is stale' if check and stale else 'is up to date' if check else 'written'}")
    if not kept:
        click.echo("a law is not exact inside its region: see the page", err=True)
    sys.exit(1 if not kept or (check and stale) else 0)
