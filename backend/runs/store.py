"""Runs on disk: SQLite, one row a run, whole (request, events, everything measured, figures, verdict).

Knows nothing of queues, processes or the web. Plain blocking calls: whoever has an event loop calls from a thread.
"""

from __future__ import annotations

import json
import sqlite3
import threading
import zlib
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from backend.runs.errors import failure
from backend.runs.run import OVER, Run
from backend.runs.run_log import KINDS, WIDTHS, Row, RunLog

SCHEMA = 3  # since 2 a run may have a name, since 3 bytes and messages
TABLE = """
CREATE TABLE IF NOT EXISTS runs (
    id TEXT PRIMARY KEY, created REAL NOT NULL, status TEXT NOT NULL,
    head TEXT NOT NULL, events TEXT NOT NULL, ops BLOB NOT NULL, bytes BLOB, messages BLOB
);
CREATE INDEX IF NOT EXISTS runs_by_age ON runs (created DESC, id DESC);
"""
ADDED = ("bytes", "messages")  # columns that a table of schema 2 lacks; runs of that time have none
HOLD = ",".join(("head", "events", *KINDS))  # the columns from which a run comes back
SAVE = f"INSERT OR REPLACE INTO runs (id,created,status,{HOLD}) VALUES (?,?,?,?,?,?,?,?)"
STOPPED = failure("server", None, "The server stopped while this run was under way; start it again.")
HEAD = ("id", "name", "spec", "asked_mode", "unit_ms", "options", "created", "status", "facts")


class StoreError(Exception):
    """The database cannot be used; the message says why."""


class Store:
    """The database of runs; every method raises StoreError when the disk does not do its part."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None

    def open(self) -> int:
        """Open or create the file; marks runs that a stopped server left behind, and gives their number."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(self.path, check_same_thread=False, timeout=5)
            version = self._connection.execute("PRAGMA user_version").fetchone()[0]
            if version > SCHEMA:
                raise StoreError(f"{self.path} was written by a newer Bubbleline (schema {version}, here {SCHEMA})")
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = NORMAL")
            self._connection.executescript(TABLE)
            self._add_columns(self._connection)
            self._connection.execute(f"PRAGMA user_version = {SCHEMA}")
            return self._close_left_over()
        except (sqlite3.Error, OSError) as error:
            self.close()
            raise StoreError(f"{self.path} cannot be used: {error}") from error
        except StoreError:
            self.close()
            raise

    def close(self) -> None:
        """Close the file; safe to call twice."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
            self._connection = None

    def save(self, run: Run) -> None:
        """Write the run as it is now."""
        head = json.dumps({key: getattr(run, key) for key in HEAD})
        events = json.dumps(list(run.log.outline()))
        row = (run.id, run.created, run.status, head, events, *(pack(run.log, kind) for kind in KINDS))
        self._execute(SAVE, row)

    def load(self, run_id: str) -> Run | None:
        """The run of this id, whole, or None."""
        found = self._execute(f"SELECT {HOLD} FROM runs WHERE id = ?", (run_id,))
        return _revive(*found[0]) if found else None

    def remove(self, run_id: str) -> None:
        """Forget the run of this id."""
        self._execute("DELETE FROM runs WHERE id = ?", (run_id,))

    def recent(self, limit: int, before: tuple[float, str] | None) -> list[dict[str, Any]]:
        """Summaries, newest first, from behind the run (created, id)."""
        start = before if before is not None else (float("inf"), "")
        found = self._execute(
            "SELECT head, events FROM runs WHERE (created, id) < (?, ?) ORDER BY created DESC, id DESC LIMIT ?",
            (*start, limit),
        )
        return [_summary(head, events) for head, events in found]

    def _execute(self, sql: str, values: tuple[Any, ...]) -> list[Any]:
        with self._lock:
            if self._connection is None:
                raise StoreError(f"{self.path} is not open")
            try:
                with self._connection:
                    return self._connection.execute(sql, values).fetchall()
            except sqlite3.Error as error:
                raise StoreError(f"{self.path}: {error}") from error

    @staticmethod
    def _add_columns(connection: sqlite3.Connection) -> None:
        there = {column[1] for column in connection.execute("PRAGMA table_info(runs)")}
        for column in ADDED:
            if column not in there:
                connection.execute(f"ALTER TABLE runs ADD COLUMN {column} BLOB")

    def _close_left_over(self) -> int:
        over = ",".join(f"'{status}'" for status in sorted(OVER))
        left = self._execute(f"SELECT {HOLD} FROM runs WHERE status NOT IN ({over})", ())
        for row in left:
            run = _revive(*row)
            run.apply({"event": "failed", "error": STOPPED})
            self.save(run)
        return len(left)


def pack(log: RunLog, kind: str) -> bytes:
    """The rows of a kind as bytes: columns of differences, deflated (about 8 bytes an op)."""
    batches = [np.array(batch[kind].read(), np.int64) for batch in log.batches(log.seq) if kind in batch]
    table = np.concatenate([np.empty((0, WIDTHS[kind]), np.int64), *batches]).T
    return zlib.compress(np.diff(table, axis=1, prepend=0).astype("<i8").tobytes(), 6)


def unpack(blob: bytes | None, kind: str) -> list[Row]:
    """The rows that `pack` packed; none where there is nothing."""
    if blob is None:
        return []
    table = np.frombuffer(zlib.decompress(blob), "<i8").reshape(WIDTHS[kind], -1)
    rows: list[Row] = np.cumsum(table, axis=1).T.tolist()
    return rows


def _revive(head: str, events: str, *blobs: bytes | None) -> Run:
    fields = json.loads(head)
    status, facts = fields.pop("status"), fields.pop("facts")
    run = Run(**fields)
    rows = {kind: iter(unpack(blob, kind)) for kind, blob in zip(KINDS, blobs, strict=True)}
    for entry in json.loads(events):
        if entry["event"] == "op_batch":
            counts = {"ops": _ops(entry)} | entry
            entry = {"event": "op_batch"} | {kind: list(islice(rows[kind], counts.get(kind, 0))) for kind in KINDS}
        run.log.append(**entry)
    run.status, run.facts = status, facts
    return run


def _ops(entry: dict[str, Any]) -> int:
    """How many ops a batch has; before schema 3 it said nothing else, under `n`."""
    return int(entry.get("ops", entry.get("n", 0)))


def _summary(head: str, events: str) -> dict[str, Any]:
    """What the list shows of a stored run, without unpacking its ops."""
    fields, entries = json.loads(head), json.loads(events)
    status, facts = fields.pop("status"), fields.pop("facts")
    run = Run(**fields, status=status, facts=facts)
    return run.summary() | {"seq": len(entries), "op_count": sum(map(_ops, entries))}
