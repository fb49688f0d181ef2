"""Runs on disk: SQLite, one row a run, whole (request, events, ops, figures, verdict).

Knows nothing of queues, processes or the web. Plain blocking calls: whoever has an event loop calls from a thread.
"""

from __future__ import annotations

import json
import sqlite3
import threading
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from backend.runs.errors import failure
from backend.runs.run import OVER, Run

SCHEMA = 2  # since 2 a run may have a name
TABLE = """
CREATE TABLE IF NOT EXISTS runs (
    id TEXT PRIMARY KEY, created REAL NOT NULL, status TEXT NOT NULL,
    head TEXT NOT NULL, events TEXT NOT NULL, ops BLOB NOT NULL
);
CREATE INDEX IF NOT EXISTS runs_by_age ON runs (created DESC, id DESC);
"""
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
        events = [
            entry if entry["event"] != "op_batch" else {"event": "op_batch", "n": len(entry["ops"])}
            for entry in run.log.entries()
        ]
        row = (run.id, run.created, run.status, head, json.dumps(events), pack(run.log.rows()))
        self._execute("INSERT OR REPLACE INTO runs VALUES (?, ?, ?, ?, ?, ?)", row)

    def load(self, run_id: str) -> Run | None:
        """The run of this id, whole, or None."""
        found = self._execute("SELECT head, events, ops FROM runs WHERE id = ?", (run_id,))
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

    def _close_left_over(self) -> int:
        over = ",".join(f"'{status}'" for status in sorted(OVER))
        left = self._execute(f"SELECT head, events, ops FROM runs WHERE status NOT IN ({over})", ())
        for row in left:
            run = _revive(*row)
            run.apply({"event": "failed", "error": STOPPED})
            self.save(run)
        return len(left)


def pack(rows: list[list[int]]) -> bytes:
    """Ops as bytes: six columns of differences, deflated (about 8 bytes an op)."""
    table = np.array(rows, np.int64).reshape(-1, 6).T
    return zlib.compress(np.diff(table, axis=1, prepend=0).astype("<i8").tobytes(), 6)


def unpack(blob: bytes) -> list[list[int]]:
    """The ops that `pack` packed."""
    table = np.frombuffer(zlib.decompress(blob), "<i8").reshape(6, -1)
    rows: list[list[int]] = np.cumsum(table, axis=1).T.tolist()
    return rows


def _revive(head: str, events: str, ops: bytes) -> Run:
    fields = json.loads(head)
    status, facts = fields.pop("status"), fields.pop("facts")
    run = Run(**fields)
    rows, at = unpack(ops), 0
    for entry in json.loads(events):
        if entry["event"] == "op_batch":
            entry = {"event": "op_batch", "ops": rows[at : at + entry["n"]]}
            at += len(entry["ops"])
        run.log.append(**entry)
    run.status, run.facts = status, facts
    return run


def _summary(head: str, events: str) -> dict[str, Any]:
    """What the list shows of a stored run, without unpacking its ops."""
    fields, entries = json.loads(head), json.loads(events)
    status, facts = fields.pop("status"), fields.pop("facts")
    run = Run(**fields, status=status, facts=facts)
    return run.summary() | {"seq": len(entries), "op_count": sum(entry.get("n", 0) for entry in entries)}
