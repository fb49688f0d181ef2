"""Short links on disk: one row per link, in a table of the runs' SQLite file.

A link never changes and is never deleted: a link on a slide still opens in ten years. All calls block: a program with
an event loop calls them from a thread.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from backend.errors import Message, message
from backend.short_links.codes import LONGEST_NAME, new_code
from backend.short_links.errors import LinkError
from backend.sqlite_file import SqliteFile

TABLE = """
CREATE TABLE IF NOT EXISTS links (
    code TEXT PRIMARY KEY, query TEXT NOT NULL, named INTEGER NOT NULL, created REAL NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS links_by_query ON links (query, named);
"""
MOST_TRIES = 1000
CANNOT_READ = message("links.cannot_read", "Short links cannot be read at present")
CANNOT_KEEP = message("links.cannot_keep", "Short links cannot be kept at present")


@dataclass(frozen=True)
class Link:
    """``code`` follows /s/ in the address: a random code, or a chosen name (``named``)."""

    code: str
    query: str
    named: bool


class LinkStore:
    """The links of one server; every method raises LinkError (kind "disk") when the disk fails."""

    def __init__(self, path: Path, most: int, code: Callable[[], str] = new_code) -> None:
        self.path, self.most = path, most
        self._code = code
        self._lock = threading.Lock()
        self._file = SqliteFile(path, _prepare)

    def find(self, code: str) -> Link | None:
        """Return the link of this code or name."""
        with self._lock:
            try:
                sql = "SELECT code, query, named FROM links WHERE code = ?"
                row = self._file.connection().execute(sql, (code,)).fetchone()
            except (sqlite3.Error, OSError) as error:
                raise _disk_error(CANNOT_READ, error) from error
        return Link(row[0], row[1], bool(row[2])) if row else None

    def known(self, query: str, name: str | None) -> Link | None:
        """Return the existing link of a query, under this name or, without a name, under a code."""
        if name is not None:
            link = self.find(name)
            return link if link and link.query == query else None
        with self._lock:
            try:
                sql = "SELECT code FROM links WHERE query = ? AND named = 0"
                row = self._file.connection().execute(sql, (query,)).fetchone()
            except (sqlite3.Error, OSError) as error:
                raise _disk_error(CANNOT_READ, error) from error
        return Link(row[0], query, False) if row else None

    def make(self, query: str, name: str | None) -> Link:
        """Make a link. Raises LinkError if the name is another view's ("taken") or the store is full ("full")."""
        with self._lock:
            try:
                connection = self._file.connection()
                with connection:
                    return self._insert(connection, query, name)
            except (sqlite3.Error, OSError) as error:
                raise _disk_error(CANNOT_KEEP, error) from error

    def check(self) -> None:
        """Raise LinkError where nothing could be written."""
        with self._lock:
            try:
                self._file.check()
            except (sqlite3.Error, OSError) as error:
                raise _disk_error(CANNOT_KEEP, error) from error

    def close(self) -> None:
        """Close the file; safe to call twice."""
        with self._lock:
            self._file.close()

    def _insert(self, connection: sqlite3.Connection, query: str, name: str | None) -> Link:
        count = connection.execute("SELECT COUNT(*) FROM links").fetchone()[0]
        if count >= self.most:
            why = message(
                "links.full",
                "this server keeps {most} short links and has them all; the long link works as ever",
                most=self.most,
            )
            raise LinkError("links", count, why, limit=self.most, kind="full")
        if name is not None and self._taken(connection, name):
            nearest = self._free_like(connection, name)
            why = message("links.taken", "{name} is the name of another view", name=name)
            raise LinkError("name", name, why, nearest=nearest, kind="taken")
        code = name if name is not None else next(c for c in iter(self._code, None) if not self._taken(connection, c))
        row = (code, query, int(name is not None), time.time())
        connection.execute("INSERT INTO links VALUES (?, ?, ?, ?)", row)
        return Link(code, query, name is not None)

    def _taken(self, connection: sqlite3.Connection, code: str) -> bool:
        return connection.execute("SELECT 1 FROM links WHERE code = ?", (code,)).fetchone() is not None

    def _free_like(self, connection: sqlite3.Connection, name: str) -> str | None:
        """Return the first free name like this one: gpipe-lesson -> gpipe-lesson-2."""
        for number in range(2, MOST_TRIES):
            tail = f"-{number}"
            free = name[: LONGEST_NAME - len(tail)].rstrip("-") + tail
            if not self._taken(connection, free):
                return free
        return None


def _prepare(connection: sqlite3.Connection) -> None:
    connection.executescript(TABLE)


def _disk_error(what: Message, error: Exception) -> LinkError:
    why = error.strerror if isinstance(error, OSError) else str(error)  # an OSError's own text names the file
    text = message("links.disk", "{what}: {why}. The long link works as ever.", what=what, why=why)
    return LinkError("store", None, text, kind="disk")
