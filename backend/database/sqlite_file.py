"""A database in an SQLite file: private to its owner, and opened again after it has been deleted or replaced."""

from __future__ import annotations

import logging
import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from backend.database.database import NONE, Database, DatabaseError, NewerSchemaError, Row, Transaction, Values
from backend.database.migrations import SCHEMA, migrate

logger = logging.getLogger(__name__)
BUSY_S = 2.0  # how long a call waits for another program that has locked the file
LOOK_S = 0.002  # between two looks whether it has
PRIVATE = 0o600


class SqliteFile(Database):
    """A file with one connection, which its callers use one after the other."""

    def __init__(self, path: Path) -> None:
        self.path = self.location = path
        self.name = path.name
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._identity: tuple[int, int] | None = None  # of the file that the connection writes to

    def open(self) -> None:
        """Create the file where there is none, open it, and create or update the tables."""
        with self._usable():
            pass

    def execute(self, sql: str, values: Values = NONE) -> list[Row]:
        with self._usable() as connection, connection:
            return connection.execute(sql, values).fetchall()

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """Hold the lock for writing until the context ends."""
        with self._usable() as connection:
            _begin(connection)
            with connection:
                yield _Transaction(connection)

    @contextmanager
    def snapshot(self) -> Iterator[Transaction]:
        """Hold the lock for reading until the context ends; others cannot write meanwhile."""
        with self._usable() as connection:
            connection.execute("BEGIN")
            try:
                yield _Transaction(connection)
            finally:
                connection.rollback()

    def tables(self) -> set[str]:
        """Read the names from the file, none where there is no file."""
        with _errors():
            if not self.path.exists():
                return set()
            with closing(sqlite3.connect(f"{self.path.as_uri()}?mode=rw", uri=True, timeout=BUSY_S)) as connection:
                sql = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
                return {str(name) for (name,) in connection.execute(sql)}

    def check(self) -> None:
        """Take the lock for writing and release it."""
        with self._usable() as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.rollback()

    def size(self) -> int:
        """Return the size of the file."""
        with _errors():
            return self.path.stat().st_size

    def used(self) -> int:
        """Return the bytes of the file that hold data; those of deleted rows are used again."""
        pages, size, free = (
            self.execute(f"PRAGMA {name}")[0][0] for name in ("page_count", "page_size", "freelist_count")
        )
        return int((pages - free) * size)

    def bytes_of(self, column: str) -> str:
        """Return SQL for the bytes of a column's value; octet_length is missing before SQLite 3.43."""
        return f"coalesce(length(CAST({column} AS BLOB)), 0)"

    def close(self) -> None:
        with self._lock:
            self._close()

    def connection(self) -> sqlite3.Connection:
        """Return the connection to the file that is at the path now. Raises sqlite3.Error, OSError.

        A connection to a deleted file would still take everything and keep nothing.
        """
        if self._connection is not None and self._identity != self._present():
            logger.warning("%s was deleted or replaced; it is opened again", self.path)
            self._close()
        if self._connection is None:
            self._open()
        assert self._connection is not None
        return self._connection

    @contextmanager
    def _usable(self) -> Iterator[sqlite3.Connection]:
        with self._lock, _errors():
            yield self.connection()

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = self._identity = None

    def _open(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, PRIVATE))
        with suppress(PermissionError):  # a file of an earlier version, which everybody could read
            os.chmod(self.path, PRIVATE)
        connection = sqlite3.connect(self.path, check_same_thread=False, timeout=BUSY_S)
        try:
            # Not WAL: its log stays beside a database that is replaced, by a restored backup say, and SQLite would
            # then write the pages of the old one into the new one.
            connection.execute("PRAGMA journal_mode = TRUNCATE")
            self._migrate(connection)
        except BaseException:
            connection.close()
            raise
        self._connection, self._identity = connection, self._present()

    def _present(self) -> tuple[int, int] | None:
        try:
            found = self.path.stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def _migrate(self, connection: sqlite3.Connection) -> None:
        """Create or update the tables. Raises NewerSchemaError."""
        if self._version(connection) == SCHEMA:
            return
        connection.execute("BEGIN IMMEDIATE")  # another process may do the same at this moment
        with connection:
            migrate(
                self._version(connection),
                "sqlite",
                connection.execute,
                lambda table: {row[1] for row in connection.execute(f"PRAGMA table_info({table})")},
            )
            connection.execute(f"PRAGMA user_version = {SCHEMA}")

    def _version(self, connection: sqlite3.Connection) -> int:
        version: int = connection.execute("PRAGMA user_version").fetchone()[0]
        if version > SCHEMA:
            raise NewerSchemaError(self.name, version, SCHEMA)
        return version


def _begin(connection: sqlite3.Connection) -> None:
    """Take the lock for writing. SQLite itself looks for it at intervals that grow to 0.1 s, so that of two
    processes that write much one keeps the other waiting.
    """
    end = time.monotonic() + BUSY_S
    connection.execute("PRAGMA busy_timeout = 0")
    try:
        while True:
            try:
                connection.execute("BEGIN IMMEDIATE")
                return
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                    raise
                time.sleep(LOOK_S)
    finally:
        connection.execute(f"PRAGMA busy_timeout = {round(BUSY_S * 1000)}")


class _Transaction:
    """The transaction that a connection has begun."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def execute(self, sql: str, values: Values = NONE) -> list[Row]:
        return self._connection.execute(sql, values).fetchall()


@contextmanager
def _errors() -> Iterator[None]:
    """Turn the errors of SQLite and of the disk into DatabaseError."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:  # an OSError's own text has the path
        raise DatabaseError((error.strerror if isinstance(error, OSError) else None) or str(error)) from error
