"""The command `copy-database`: all rows of one database into another that is empty, SQLite to PostgreSQL or back.

Exit codes: 0 copied, 1 a database that cannot be used, 2 a FROM or TO that does not fit. Nothing is half copied.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import click

from backend.access import keys
from backend.cli.options import config
from backend.database.address import Location, read_location
from backend.database.connect import database_at
from backend.database.copy import OWN, SECRETS, NotEmptyError, copy_rows
from backend.database.database import Database, DatabaseError, NewerSchemaError, SetupError

UNUSED = "name a database that is empty, or a file that is not there"


@click.command("copy-database")
@click.argument("source", metavar="FROM")
@click.argument("target", metavar="TO")
def copy_database(source: str, target: str) -> None:
    """Copy everything in the database FROM into the empty database TO: paths of SQLite files, or addresses
    postgresql://user:password@host:port/name. Stop the server before.
    """
    origin, goal = _location("FROM", source), _location("TO", target)
    if _same(origin, goal):
        raise _refused("TO", f"{goal} is FROM itself; {UNUSED}.")
    reading, writing = _database("FROM", origin), _database("TO", goal)
    with _undone(reading, writing):
        with _named("FROM", origin):
            if "runs" not in reading.tables():
                raise _refused("FROM", f"there is no database of Bubbleline at {origin}.")
            reading.open()
        with _named("TO", goal):
            others = sorted(writing.tables() - OWN)
            if others:
                raise _refused("TO", f"{goal} has tables of another program ({', '.join(others)}); {UNUSED}.")
            writing.open()
        kept = keys.kept_in(_folder(origin)) if isinstance(origin, Path) else None
        try:
            counts = copy_rows(reading, writing, kept or {})
        except NotEmptyError as error:
            raise _refused("TO", f"{goal} has rows in its table {error.table} already; {UNUSED}.") from None
        except DatabaseError as error:
            raise click.ClickException(f"The copy failed, and TO is as before: {error.why}.") from None
        lines = [f"{table}: {count} row{'' if count == 1 else 's'}" for table, count in counts.items()]
        if isinstance(goal, Path):
            lines += _keep_beside(goal, writing)
    click.echo("\n".join([*lines, f"{goal} has everything that {origin} has."]))


def _location(argument: str, text: str) -> Location:
    try:
        return read_location(text)
    except ValueError as error:
        raise _refused(argument, f"it {error}.") from None


def _same(one: Location, other: Location) -> bool:
    if isinstance(one, Path) and isinstance(other, Path) and one.exists() and other.exists():
        return one.samefile(other)
    return one == other


def _database(argument: str, location: Location) -> Database:
    try:
        return database_at(location)
    except SetupError as error:
        raise _refused(argument, str(error)) from None


@contextmanager
def _undone(reading: Database, writing: Database) -> Iterator[None]:
    """Close both databases at the end; after a failure, delete a file that was not there before."""
    path = writing.location
    made = isinstance(path, Path) and not path.exists()
    try:
        yield
    except BaseException:
        writing.close()
        if made and isinstance(path, Path):
            path.unlink(missing_ok=True)
        raise
    finally:
        reading.close()
        writing.close()


@contextmanager
def _named(argument: str, location: Location) -> Iterator[None]:
    """Turn errors of a database into sentences with the name of its argument."""
    try:
        yield
    except NewerSchemaError as error:
        raise _refused(argument, f"{error.why}; update this Bubbleline first.") from None
    except DatabaseError as error:
        raise click.ClickException(f"{argument}, {location}, cannot be used: {error.why}.") from None


def _folder(path: Path) -> Path:
    """Return the folder in which a server with this SQLite file keeps its tokens."""
    return replace(config(), database=path).folder


def _keep_beside(path: Path, database: Database) -> list[str]:
    """Write the secrets of a copied database where a server with SQLite reads them; return lines that say so."""
    kept = {str(name): str(value) for name, value in database.execute(f"SELECT name, value FROM {SECRETS}")}
    if not keys.usable(kept):
        return []
    file = _folder(path) / keys.FILE
    try:
        if keys.keep_in(file.parent, {name: kept[name] for name in keys.NAMES}):
            return [f"The tokens and the key of cookies are in {file}."]
        return [f"{file} has other tokens, which stay; to have those of FROM, delete it and TO, and copy again."]
    except OSError as error:
        return [f"The tokens and the key of cookies could not be written to {file}: {error.strerror}."]


def _refused(argument: str, why: str) -> click.ClickException:
    return click.BadParameter(why, param_hint=argument)
