"""The command `laws`: write docs/laws.md, where each law is checked against the simulation."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from backend.config import PROJECT
from backend.schedule.analysis.law_table import table

PAGE = PROJECT / "docs" / "laws.md"


@click.command()
@click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), default=PAGE, help="docs/laws.md")
@click.option("--check", is_flag=True, help="write nothing; leave with 1 when the page is stale")
def laws(output: Path, check: bool) -> None:
    """Write docs/laws.md: where each law is exact, where it is a bound, and where it fails."""
    page, kept = table()
    stale = not output.exists() or output.read_text() != page
    if not check:
        output.write_text(page)
    click.echo(f"{output.name} {'is stale' if check and stale else 'is up to date' if check else 'written'}")
    if not kept:
        click.echo("a law is not exact inside its region: see the page", err=True)
    sys.exit(1 if not kept or (check and stale) else 0)
