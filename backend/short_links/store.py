"""Short links on disk: one row a link, in the same SQLite file as the runs, in a table of its own.

A link once made never changes and never goes: what stands on a slide still opens in ten years. Knows nothing of the
web. Plain blocking calls: whoever has an event loop calls from a thread.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from backend.short_links.codes import LONGEST_NAME, new_code
from backend.short_links.errors import LinkError

TABLE = """
CREATE TABLE IF NOT EXISTS links (
    code TEXT PRIMARY KEY, query TEXT NOT NULL, named INTEGER NOT NULL, created REAL NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS links_by_query ON links (query, named);
"""
MOST_TRIES = 1000


@dataclass(frozen=True)
class Link:
    """``code`` is what stands behind /s/: a code, or the name that somebody chose."""

    code: str
    query: str
    named: bool


class LinkStore:
    """The links of one server; every method raises LinkError ("disk") when the disk does not do its part."""

    def __init__(self, path: Path, most: int, code: Callable[[], str] = new_code) -> None:
        self.path, self.most = path, most
        self._code = code
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None

    def find(self, code: str) -> Link | None:
        """The link of this code or name."""
        with self._lock:
            try:
                found = self._open().execute("SELECT code, query, named FROM links WHERE code = ?", (code,)).fetchone()
            except (sqlite3.Error, OSError) as error:
                raise self._broken("Short links cannot be read at present", error) from error
        return Link(found[0], found[1], bool(found[2])) if found else None

    def known(self, query: str, name: str | None) -> Link | None:
        """The link that a query has already, under this name or, without one, under a code."""
        if name is not None:
            found = self.find(name)
            return found if found and found.query == query else None
        with self._lock:
            try:
                sql = "SELECT code FROM links WHERE query = ? AND named = 0"
                row = self._open().execute(sql, (query,)).fetchone()
            except (sqlite3.Error, OSError) as error:
                raise self._broken("Short links cannot be read at present", error) from error
        return Link(row[0], query, False) if row else None

    def make(self, query: str, name: str | None) -> Link:
        """A new link; LinkError if the name is another view's ("taken") or no more links are kept ("full")."""
        with self._lock:
            try:
                connection = self._open()
                with connection:
                    return self._insert(connection, query, name)
            except (sqlite3.Error, OSError) as error:
                raise self._broken("Short links cannot be kept at present", error) from error

    def close(self) -> None:
        """Close the file; safe to call twice."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
            self._connection = None

    def _insert(self, connection: sqlite3.Connection, query: str, name: str | None) -> Link:
        count = connection.execute("SELECT COUNT(*) FROM links").fetchone()[0]
        if count >= self.most:
            message = f"this server keeps {self.most} short links and has them all; the long link works as ever"
            raise LinkError("full", "links", count, message, limit=self.most)
        if name is not None and self._taken(connection, name):
            nearest = self._free_like(connection, name)
            raise LinkError("taken", "name", name, f"{name} is the name of another view", nearest=nearest)
        code = name if name is not None else next(c for c in iter(self._code, None) if not self._taken(connection, c))
        row = (code, query, int(name is not None), time.time())
        connection.execute("INSERT INTO links VALUES (?, ?, ?, ?)", row)
        return Link(code, query, name is not None)

    def _taken(self, connection: sqlite3.Connection, code: str) -> bool:
        return connection.execute("SELECT 1 FROM links WHERE code = ?", (code,)).fetchone() is not None

    def _free_like(self, connection: sqlite3.Connection, name: str) -> str | None:
        """gpipe-lesson -> gpipe-lesson-2, the first that is free."""
        for number in range(2, MOST_TRIES):
            tail = f"-{number}"
            free = name[: LONGEST_NAME - len(tail)].rstrip("-") + tail
            if not self._taken(connection, free):
                return free
        return None

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(self.path, check_same_thread=False, timeout=5)
            try:
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("PRAGMA synchronous = NORMAL")
                connection.executescript(TABLE)
            except sqlite3.Error:
                connection.close()
                raise
            self._connection = connection
        return self._connection

    def _broken(self, what: str, error: Exception) -> LinkError:
        why = error.strerror if isinstance(error, OSError) else error  # an OSError's text names the file
        return LinkError("disk", "store", None, f"{what}: {why}. The long link works as ever.")
