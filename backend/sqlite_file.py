"""An SQLite file: private to its owner, and opened again after it has been deleted or replaced.

Its calls block and are for one thread at a time.
"""

from __future__ import annotations

import logging
import os
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

logger = logging.getLogger(__name__)
BUSY_S = 2.0  # how long a call waits for another program that has locked the file
PRIVATE = 0o600


class SqliteFile:
    """The connection to a file; `prepare` creates the tables of a file that has just been opened."""

    def __init__(self, path: Path, prepare: Callable[[sqlite3.Connection], None]) -> None:
        self.path = path
        self._prepare = prepare
        self._connection: sqlite3.Connection | None = None
        self._identity: tuple[int, int] | None = None  # of the file that the connection writes to

    def connection(self) -> sqlite3.Connection:
        """Return the connection to the file that is at the path now. Raises sqlite3.Error, OSError.

        A connection to a deleted file would still take everything and keep nothing.
        """
        if self._connection is not None and self._identity != self._present():
            logger.warning("%s was deleted or replaced; it is opened again", self.path)
            self.close()
        if self._connection is None:
            self._open()
        assert self._connection is not None
        return self._connection

    def check(self) -> None:
        """Take the lock for writing and release it. Raises sqlite3.Error, OSError where nothing could be written."""
        connection = self.connection()
        connection.execute("BEGIN IMMEDIATE")
        connection.rollback()

    def close(self) -> None:
        """Close the connection; safe to call twice."""
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
            self._prepare(connection)
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
