"""The command `diagnose`: why a measured step takes as long as it does, from the traces of any framework.

Exit codes: 0 a diagnosis, 1 files that hold no whole step, 2 an option that does not fit.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from backend.errors import RequestError
from backend.jobs.recordings import recording_of
from backend.schedule.diagnosis.diagnosis import diagnose
from backend.schedule.diagnosis.words import lines_of
from backend.schedule.errors import SpecError
from backend.schedule.interop.traces.events import UNITS
from backend.schedule.interop.traces.names import reader


@click.command("diagnose")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--step", type=int, help="diagnose this step alone; otherwise all, with their spread")
@click.option("--replica", type=int, help="diagnose this data-parallel replica alone")
@click.option("--names", metavar="PATTERN", help="how a trace names its ops: a regular expression with the groups "
              "(?P<kind>...) and, where the names have them, (?P<stage>...) and (?P<micro>...)")  # fmt: skip
@click.option("--unit", type=click.Choice(tuple(UNITS)), help="unit of the times; us in a trace, ms in a table")
@click.option("--layers", metavar="N[,N...]", help="the layers of a stage, or of each with commas, or as Megatron's "
              "layout: also say how to move them")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="everything, as one line of JSON")
def diagnose_command(
    files: tuple[Path, ...],
    step: int | None,
    replica: int | None,
    names: str | None,
    unit: str | None,
    layers: str | None,
    as_json: bool,
) -> None:
    """Say why the measured step in FILES takes as long as it does, and what each repair would save.

    FILES: a trace of torch's profiler or of this program, of all ranks or one a rank, a production timeline, Megatron's
    timers, OpenTelemetry spans, an SQLite export of Nsight Systems, or a table of ops as CSV or Parquet.
    """
    try:
        reader(names)
    except SpecError as error:
        raise click.BadParameter(str(error.message), param_hint="--names") from None
    try:
        found = diagnose(recording_of(files, names, unit), step, replica, layers)
    except SpecError as error:
        raise click.BadParameter(str(error.message), param_hint=f"--{error.field}") from None
    except RequestError as error:
        click.echo(json.dumps({"error": error.as_dict()}) if as_json else f"Error: {error.message}", err=not as_json)
        sys.exit(1)
    click.echo(json.dumps(found.as_dict()) if as_json else "\n".join(lines_of(found)))
