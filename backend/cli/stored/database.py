"""Commands for the server's database: `backup` copies it while the server runs, `restore` puts a copy in its place."""

from __future__ import annotations

import os
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import click

from backend.cli.options import config
from backend.database.migrations import SCHEMA
from backend.database.sqlite_file import BUSY_S
from backend.runs.store import Store, StoreError

PAGES = 1000  # copied at once; the server can write in between
PAUSE_S = 0.005
MOST_RESTARTS = 20  # a server that writes in between restarts the copy; then all is copied at once
TABLES = {"runs": {"id", "created", "status", "head", "events", "ops"}}  # and links, in a file that has had some


@click.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--force", is_flag=True, help="Replace FILE if it exists.")
def backup(file: Path, force: bool) -> None:
    """Copy the database of runs and short links, an SQLite file, to FILE, also while the server runs."""
    database = _database("pg_dump --format=custom --file=FILE {}")
    if file.exists() and not force:
        raise click.ClickException(f"{file} exists; add --force to replace it.")
    if not database.is_file():
        raise click.ClickException(f"There is no database at {database}.")
    if file.exists() and file.samefile(database):
        raise click.ClickException(f"{file} is the database itself.")
    with _failures("The backup"):
        _through_a_new_file(file, lambda new: _copy(database, new), replace=force)
    click.echo(f"{file}: {_contents(file)}")


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def restore(file: Path) -> None:
    """Put the backup FILE in the place of the database, which is kept beside it, also while the server runs."""
    database = _database("pg_restore --clean --if-exists --single-transaction --dbname={} FILE")
    with _failures("The restoration"):
        database.parent.mkdir(parents=True, exist_ok=True)
    if database.exists() and file.samefile(database):
        raise click.ClickException(f"{file} is the database itself.")

    def make(new: Path) -> None:
        _copy(file, new)
        _check_ours(new, file)
        _end_left_over(new)

    with _failures("The restoration"):
        kept = _through_a_new_file(database, make, replace=True, keep_old=True)
    click.echo(f"{database}: {_contents(database)}")
    if kept is not None:
        click.echo(f"The database before is {kept}.")


@contextmanager
def _failures(what: str) -> Iterator[None]:
    """Turn errors of the disk and of SQLite into one sentence for the terminal."""
    try:
        yield
    except (sqlite3.Error, OSError, StoreError) as error:
        raise click.ClickException(f"{what} failed: {error}.") from None


class _OtherDatabaseError(click.ClickException):
    """A command that is for SQLite only, called with another database."""

    exit_code = 2


def _database(instead: str) -> Path:
    """Return the path of the SQLite file; `instead` is PostgreSQL's own command for the same."""
    location = config().database
    if not isinstance(location, Path):
        raise _OtherDatabaseError(f"{location} is copied by PostgreSQL's own programs: {instead.format(location)}")
    return location


def _through_a_new_file(
    target: Path, make: Callable[[Path], None], *, replace: bool, keep_old: bool = False
) -> Path | None:
    """Write a new file beside the target and move it there when it is whole; return where the old one was kept.

    Nothing remains of a copy that fails. Raises what `make` raises, and FileExistsError.
    """
    number, name = tempfile.mkstemp(prefix=f".{target.name}-", dir=target.parent)  # only its owner can read it
    os.close(number)
    new, kept = Path(name), None
    try:
        make(new)
        _write_through(new)
        if keep_old and target.exists():
            kept = target.with_name(f"{target.name}.before-{time.strftime('%Y%m%d-%H%M%S')}")
            _swap(new, target, kept)
        elif replace:
            os.replace(new, target)
        else:
            os.link(new, target)  # fails where somebody has made the file meanwhile
    finally:
        for path in (new, new.with_name(new.name + "-journal")):
            path.unlink(missing_ok=True)
    _write_through(target.parent)
    return kept


def _swap(new: Path, database: Path, kept: Path) -> None:
    """Put a new database in the place of one that a server may be writing to.

    Its lock is held meanwhile, so that no transaction is under way. What a crashed server has left in its journal is
    rolled back first: SQLite would otherwise roll it back in the new file.
    """
    with closing(sqlite3.connect(database, timeout=10 * BUSY_S, isolation_level=None)) as old:
        try:
            old.execute("BEGIN EXCLUSIVE")
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError):  # locked, or the disk fails
                raise
            journal = database.with_name(database.name + "-journal")  # of a damaged file: it belongs to that
            with suppress(FileNotFoundError):
                os.replace(journal, kept.with_name(kept.name + "-journal"))
        found = database.stat()
        with suppress(PermissionError):  # root restores the database of the server's user
            os.chown(new, found.st_uid, found.st_gid)
        os.link(database, kept)
        os.replace(new, database)
        if old.in_transaction:
            old.execute("ROLLBACK")


def _copy(source: Path, target: Path) -> None:
    """Copy a database page by page and check the copy. Raises sqlite3.Error."""
    with (
        closing(sqlite3.connect(f"{source.resolve().as_uri()}?mode=rw", uri=True, timeout=10 * BUSY_S)) as reading,
        closing(sqlite3.connect(target)) as writing,
    ):
        copied = _Copied()
        try:
            reading.backup(writing, pages=PAGES, progress=copied.watch, sleep=PAUSE_S)
        except _TooBusyError:
            reading.backup(writing, pages=-1)
        found = writing.execute("PRAGMA integrity_check").fetchone()[0]
        if found != "ok":
            raise sqlite3.DatabaseError(f"{source} is damaged: {found.splitlines()[0]}")


class _TooBusyError(Exception):
    """The database changed during the copy, too often."""


class _Copied:
    """Counts how often a copy had to begin again."""

    def __init__(self) -> None:
        self.remaining, self.restarts = -1, 0

    def watch(self, _: int, remaining: int, total: int) -> None:
        """Take the pages that remain. Raises _TooBusyError where the copy begins again too often."""
        self.restarts += 0 <= self.remaining <= remaining
        self.remaining = remaining
        if self.restarts > MOST_RESTARTS:
            raise _TooBusyError


def _check_ours(copy: Path, file: Path) -> None:
    """Check that a database has the tables of this program, of no newer version. Raises ClickException."""
    with closing(sqlite3.connect(copy)) as connection:
        schema = connection.execute("PRAGMA user_version").fetchone()[0]
        for table, columns in TABLES.items():
            found = {row[1] for row in connection.execute(f"PRAGMA table_info({table})")}
            if not columns <= found:
                raise click.ClickException(
                    f"{file} is no database of Bubbleline: it has no table {table} of its shape."
                )
        if schema > SCHEMA:
            raise click.ClickException(f"{file} was written by a newer Bubbleline (schema {schema}, here {SCHEMA}).")


def _end_left_over(database: Path) -> None:
    """End the runs that were in progress at the time of the backup, bring the tables up to date, free unused space."""
    store = Store(database)
    store.open()
    store.close_left_over()
    store.close()
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("VACUUM")


def _contents(database: Path) -> str:
    with closing(sqlite3.connect(f"{database.resolve().as_uri()}?mode=ro", uri=True)) as connection:
        tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        counts = {
            name: connection.execute(f"SELECT COUNT(*) FROM {name}").fetchone()[0] if name in tables else 0
            for name in ("runs", "links")
        }
    return f"{counts['runs']} runs and {counts['links']} short links, {database.stat().st_size / 1e6:.1f} MB"


def _write_through(path: Path) -> None:
    """Have the disk write what the system still holds of a file or a folder."""
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
