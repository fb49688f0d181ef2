"""Makes the database of a location. The packages of PostgreSQL are imported only for one of its addresses."""

from __future__ import annotations

from pathlib import Path

from backend.database.address import Location
from backend.database.database import Database, SetupError
from backend.database.sqlite_file import SqliteFile

INSTALL = (
    "make run DATABASE=... installs them, and so does pip install -r requirements-scale.txt, "
    "or pip install 'bubbleline[scale]'"
)


def database_at(location: Location) -> Database:
    """Return the database of a location, not connected yet. Raises SetupError where it cannot be used from here."""
    if isinstance(location, Path):
        return SqliteFile(location)
    try:
        from backend.database.postgresql import PostgresqlDatabase
    except ImportError as error:
        raise SetupError(f"PostgreSQL needs Python packages that cannot be imported ({error}): {INSTALL}.") from None
    return PostgresqlDatabase(location)


def check_setup(location: Location) -> None:
    """Raise SetupError where the packages for a location are missing, or its address is illegal."""
    database_at(location).close()
