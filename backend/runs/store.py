"""Runs on disk: SQLite, one table row per run with its request, order, events, measured rows, figures and verdict.

Its calls block: a program with an event loop makes them in a thread.
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

from backend.errors import from_codes, message, with_codes
from backend.runs.errors import RunFailure
from backend.runs.rows import FIELDS, KINDS, Row, with_copies_apart
from backend.runs.run import OVER, Run
from backend.runs.run_log import RunLog

SCHEMA = 4  # since 2 a run may have a name, since 3 bytes and messages, since 4 its order, and copies apart from ops
TABLE = """
CREATE TABLE IF NOT EXISTS runs (
    id TEXT PRIMARY KEY, created REAL NOT NULL, status TEXT NOT NULL,
    head TEXT NOT NULL, events TEXT NOT NULL, ops BLOB NOT NULL, bytes BLOB, messages BLOB, copies BLOB, packed TEXT
);
CREATE INDEX IF NOT EXISTS runs_by_age ON runs (created DESC, id DESC);
"""
ADDED = ("bytes", "messages", "copies", "packed")  # columns that tables of older schemas lack, null in their runs
HOLD = ",".join(("head", "events", "packed", *KINDS))  # the columns that hold a run
SAVE = f"INSERT OR REPLACE INTO runs (id,created,status,{HOLD}) VALUES (?,?,?,?,?,?,?,?,?,?)"
STOPPED = RunFailure(
    "server", message("runs.server_stopped", "The server stopped while this run was in progress; start it again.")
)
HEAD = ("id", "name", "spec", "asked_mode", "unit_ms", "options", "created", "status", "facts")


class StoreError(Exception):
    """The database cannot be used; the message says why."""


class Store:
    """The database of runs; every method raises StoreError when the disk fails."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None

    def open(self) -> int:
        """Open or create the file, end the runs that a stopped server left unfinished, and return their number."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(self.path, check_same_thread=False, timeout=5)
            version = self._connection.execute("PRAGMA user_version").fetchone()[0]
            if version > SCHEMA:
                raise StoreError(
                    message(
                        "runs.newer_schema",
                        "{path} was written by a newer Bubbleline (schema {version}, here {known})",
                        path=str(self.path),
                        version=version,
                        known=SCHEMA,
                    )
                )
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = NORMAL")
            self._connection.executescript(TABLE)
            self._add_columns(self._connection)
            self._connection.execute(f"PRAGMA user_version = {SCHEMA}")
            return self._close_left_over()
        except (sqlite3.Error, OSError) as error:
            self.close()
            text = message(
                "runs.database_unusable", "{path} cannot be used: {error}", path=str(self.path), error=str(error)
            )
            raise StoreError(text) from error
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
        """Write the run in its present state."""
        head = json.dumps(with_codes({key: getattr(run, key) for key in HEAD}))
        events = json.dumps(list(run.log.outline()))
        rows = (pack(run.log, kind) for kind in KINDS)
        row = (run.id, run.created, run.status, head, events, run.order, *rows)
        self._execute(SAVE, row)

    def load(self, run_id: str) -> Run | None:
        """Read the run of this id with all its rows; None where there is none."""
        found = self._execute(f"SELECT {HOLD} FROM runs WHERE id = ?", (run_id,))
        return _revive(*found[0]) if found else None

    def remove(self, run_id: str) -> None:
        """Delete the run of this id."""
        self._execute("DELETE FROM runs WHERE id = ?", (run_id,))

    def recent(self, limit: int, before: tuple[float, str] | None) -> list[dict[str, Any]]:
        """Return summaries, newest first, of runs older than the run (created, id)."""
        start = before if before is not None else (float("inf"), "")
        found = self._execute(
            "SELECT head, events FROM runs WHERE (created, id) < (?, ?) ORDER BY created DESC, id DESC LIMIT ?",
            (*start, limit),
        )
        return [_summary(head, events) for head, events in found]

    def _execute(self, sql: str, values: tuple[Any, ...]) -> list[Any]:
        with self._lock:
            if self._connection is None:
                raise StoreError(message("runs.database_closed", "{path} is not open", path=str(self.path)))
            try:
                with self._connection:
                    return self._connection.execute(sql, values).fetchall()
            except sqlite3.Error as error:
                raise StoreError(f"{self.path}: {error}") from error

    @staticmethod
    def _add_columns(connection: sqlite3.Connection) -> None:
        existing = {column[1] for column in connection.execute("PRAGMA table_info(runs)")}
        for column in ADDED:
            if column not in existing:
                connection.execute(f"ALTER TABLE runs ADD COLUMN {column} BLOB")

    def _close_left_over(self) -> int:
        over = ",".join(f"'{status}'" for status in sorted(OVER))
        left = self._execute(f"SELECT {HOLD} FROM runs WHERE status NOT IN ({over})", ())
        for row in left:
            run = _revive(*row)
            run.fail(STOPPED)
            self.save(run)
        return len(left)


def pack(log: RunLog, kind: str) -> bytes:
    """Encode the rows of a kind: columns of differences, deflated (about 8 bytes per op)."""
    batches = [np.array(batch[kind].read(), np.int64) for batch in log.batches(log.seq) if kind in batch]
    table = np.concatenate([np.empty((0, len(FIELDS[kind])), np.int64), *batches]).T
    return zlib.compress(np.diff(table, axis=1, prepend=0).astype("<i8").tobytes(), 6)


def unpack(blob: bytes | None, kind: str) -> list[Row]:
    """Decode the rows that `pack` encoded; none where there is no blob."""
    if blob is None:
        return []
    table = np.frombuffer(zlib.decompress(blob), "<i8").reshape(len(FIELDS[kind]), -1)
    rows: list[Row] = np.cumsum(table, axis=1).T.tolist()
    return rows


def _revive(head: str, events: str, order: str | None, *blobs: bytes | None) -> Run:
    """Return the run stored in one table row."""
    run = _without_log(head)
    run.order = order or ""
    stored = dict(zip(KINDS, blobs, strict=True))
    rows = {kind: iter(unpack(blob, kind)) for kind, blob in stored.items()}
    for entry in json.loads(events):
        if entry["event"] == "op_batch":
            counts = {"ops": _ops(entry)} | entry
            batch: dict[str, Any] = {kind: list(islice(rows[kind], counts.get(kind, 0))) for kind in KINDS}
            if stored["copies"] is None:  # before schema 4 copies were among the ops
                batch["ops"], batch["copies"] = with_copies_apart(batch["ops"])
            entry = {"event": "op_batch"} | batch
        elif "error" in entry:
            entry = _with_failure(entry)
        run.log.append(**entry)
    return run


def _without_log(head: str) -> Run:
    """Return the run of a stored head, its log still empty."""
    fields = json.loads(head)
    status, facts = fields.pop("status"), from_codes(_with_failure(fields.pop("facts")))
    return Run(**fields, status=status, facts=facts)


def _with_failure(data: dict[str, Any]) -> dict[str, Any]:
    """Return `data` with a `failure` in place of the `error` that runs had before schema 4."""
    if "error" not in data:
        return data
    rest = {key: value for key, value in data.items() if key != "error"}
    return rest | {"failure": None if data["error"] is None else RunFailure.stored(data["error"]).as_dict()}


def _ops(entry: dict[str, Any]) -> int:
    """Count the ops of a batch; before schema 3 the count was under `n`."""
    return int(entry.get("ops", entry.get("n", 0)))


def _summary(head: str, events: str) -> dict[str, Any]:
    """Summarize a stored run without decoding its rows."""
    run, entries = _without_log(head), json.loads(events)
    return run.summary() | {"seq": len(entries), "op_count": sum(map(_ops, entries))}
