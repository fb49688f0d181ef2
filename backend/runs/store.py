"""Runs on disk: SQLite, one table row per run with its request, order, events, measured rows, figures and verdict.

Its calls block: a program with an event loop makes them in a thread.
"""

from __future__ import annotations

import json
import logging
import sqlite3
import threading
import zlib
from collections.abc import Callable
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from backend.errors import from_codes, message, with_codes
from backend.runs.errors import RunFailure
from backend.runs.rows import FIELDS, KINDS, Row, with_copies_apart
from backend.runs.run import OVER, Run
from backend.runs.run_log import RunLog
from backend.sqlite_file import SqliteFile

logger = logging.getLogger(__name__)

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
ENDED = ",".join(f"'{status}'" for status in sorted(OVER))
STOPPED = RunFailure(
    "server", message("runs.server_stopped", "The server stopped while this run was in progress; start it again.")
)
AT_ONCE = 100  # runs that retention deletes in one call: other calls use the database in between
DAY_S = 86_400.0
MEGABYTE = 1_000_000
HEAD = ("id", "name", "spec", "asked_mode", "unit_ms", "options", "created", "status", "facts", "owner")


# What damaged rows raise when they are decoded.
DAMAGED = (ValueError, KeyError, TypeError, AttributeError, IndexError, zlib.error)


class StoreError(Exception):
    """The database cannot be used; the message says why."""


class UnreadableRunError(Exception):
    """A stored run that cannot be decoded. Every other run can still be used."""


class Store:
    """The database of runs; every method raises StoreError when the disk fails."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.unreadable: set[str] = set()  # ids of the damaged runs that were found so far
        self._lock = threading.Lock()
        self._file = SqliteFile(path, self._prepare)
        self._opened = False

    def open(self) -> int:
        """Open or create the file, end the runs that a stopped server left unfinished, and return their number."""
        self._opened = True
        return self._close_left_over()

    def close(self) -> None:
        """Close the file; safe to call twice."""
        with self._lock:
            self._file.close()
            self._opened = False

    def check(self) -> None:
        """Raise StoreError where nothing could be written."""
        with self._lock:
            try:
                self._file.check()
            except (sqlite3.Error, OSError) as error:
                raise self._unusable(error) from error

    def save(self, run: Run) -> None:
        """Write the run in its present state."""
        head = json.dumps(with_codes({key: getattr(run, key) for key in HEAD}))
        events = json.dumps(list(run.log.outline()))
        rows = (pack(run.log, kind) for kind in KINDS)
        row = (run.id, run.created, run.status, head, events, run.order, *rows)
        self._execute(SAVE, row)

    def load(self, run_id: str) -> Run | None:
        """Read the run of this id with all its rows; None where there is none. Raises UnreadableRunError."""
        found = self._execute(f"SELECT {HOLD} FROM runs WHERE id = ?", (run_id,))
        return self._read(run_id, _revive, *found[0]) if found else None

    def name_of(self, run_id: str) -> str | None:
        """Return the name of the run of this id, "" for one without; None where there is no such run."""
        found = self._execute("SELECT head FROM runs WHERE id = ?", (run_id,))
        return str(json.loads(found[0][0])["name"]) if found else None

    def remove(self, *run_ids: str) -> None:
        """Delete the runs of these ids."""
        self._execute(f"DELETE FROM runs WHERE id IN ({','.join('?' * len(run_ids))})", run_ids)

    def recent(self, limit: int, before: tuple[float, str] | None) -> list[dict[str, Any]]:
        """Return summaries, with `owner`, newest first, of runs older than the run (created, id); damaged ones are
        left out.
        """
        summaries: list[dict[str, Any]] = []
        at = before if before is not None else (float("inf"), "")
        while len(summaries) < limit:
            found = self._execute(
                "SELECT id, created, head, events FROM runs WHERE (created, id) < (?, ?) "
                "ORDER BY created DESC, id DESC LIMIT ?",
                (*at, limit - len(summaries)),
            )
            for run_id, created, head, events in found:
                with suppress(UnreadableRunError):
                    summaries.append(self._read(run_id, _summary, head, events))
                at = created, run_id
            if not found:
                break
        return summaries

    def older(self, before: float, limit: int) -> list[tuple[str, int]]:
        """Return the ids and the sizes in bytes of the oldest ended runs made before this time (in seconds), at most
        `limit`.
        """
        size = "+".join(f"ifnull(length(CAST({column} AS BLOB)),0)" for column in HOLD.split(","))
        sql = f"SELECT id, {size} FROM runs WHERE status IN ({ENDED}) AND created < ? ORDER BY created, id LIMIT ?"
        return self._execute(sql, (before, limit))

    def used(self) -> int:
        """Return the bytes of the file that hold data; those of deleted runs are used again."""
        pages, size, free = (
            self._execute(f"PRAGMA {name}", ())[0][0] for name in ("page_count", "page_size", "freelist_count")
        )
        return int((pages - free) * size)

    def _read(self, run_id: str, decode: Callable[..., Any], *stored: Any) -> Any:
        """Decode a row. Raises UnreadableRunError, and notes it once for the operator, where it is damaged."""
        try:
            return decode(*stored)
        except DAMAGED as error:
            if run_id not in self.unreadable:
                logger.error("run %s in %s cannot be read: %s: %s", run_id, self.path, type(error).__name__, error)
            self.unreadable.add(run_id)
            raise UnreadableRunError(run_id) from error

    def _execute(self, sql: str, values: tuple[Any, ...]) -> list[Any]:
        with self._lock:
            if not self._opened:
                raise StoreError(message("runs.database_closed", "{path} is not open", path=self.path.name))
            try:
                with self._file.connection() as connection:
                    return connection.execute(sql, values).fetchall()
            except (sqlite3.Error, OSError) as error:
                raise self._unusable(error) from error

    def _unusable(self, error: Exception) -> StoreError:
        # Not the whole path, which an OSError's own text has too: this is shown to everybody.
        name, why = self.path.name, (error.strerror if isinstance(error, OSError) else None) or str(error)
        return StoreError(message("runs.database_unusable", "{path} cannot be used: {error}", path=name, error=why))

    def _prepare(self, connection: sqlite3.Connection) -> None:
        """Create or update the tables. Raises StoreError for a file of a newer version."""
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version > SCHEMA:
            raise StoreError(
                message(
                    "runs.newer_schema",
                    "{path} was written by a newer Bubbleline (schema {version}, here {known})",
                    path=self.path.name,
                    version=version,
                    known=SCHEMA,
                )
            )
        connection.executescript(TABLE)
        self._add_columns(connection)
        connection.execute(f"PRAGMA user_version = {SCHEMA}")

    @staticmethod
    def _add_columns(connection: sqlite3.Connection) -> None:
        existing = {column[1] for column in connection.execute("PRAGMA table_info(runs)")}
        for column in ADDED:
            if column not in existing:
                connection.execute(f"ALTER TABLE runs ADD COLUMN {column} BLOB")

    def _close_left_over(self) -> int:
        ended = 0
        for run_id, *row in self._execute(f"SELECT id, {HOLD} FROM runs WHERE status NOT IN ({ENDED})", ()):
            with suppress(UnreadableRunError):
                run = self._read(run_id, _revive, *row)
                run.fail(STOPPED)
                self.save(run)
                ended += 1
        return ended


class Retention:
    """Deletes ended runs by their age and by the size of the database, the oldest first; short links are kept.

    `clock` returns seconds since 1970.
    """

    def __init__(self, keep_days: int, store_mb: int, clock: Callable[[], float]) -> None:
        self.keep_days, self.store_mb = keep_days, store_mb
        self._clock = clock

    @property
    def limited(self) -> bool:
        """Return whether there is a limit."""
        return bool(self.keep_days or self.store_mb)

    def expire(self, store: Store, live: frozenset[str]) -> list[str]:
        """Delete some of the runs that are over the limits, but none of the runs `live`.

        Returns the ids, none where all is within the limits. Raises StoreError.
        """
        found: list[str] = []
        if self.keep_days:
            found = [run_id for run_id, _ in store.older(self._clock() - self.keep_days * DAY_S, AT_ONCE)]
        if not found and self.store_mb:
            excess = store.used() - self.store_mb * MEGABYTE
            for run_id, size in store.older(float("inf"), AT_ONCE) if excess > 0 else []:
                if excess > 0 and run_id not in live:
                    found.append(run_id)
                    excess -= size
        gone = [each for each in found if each not in live]
        if gone:
            store.remove(*gone)
            logger.info("%d runs were deleted by the limits of age and size", len(gone))
        return gone


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
    return run.summary() | {"owner": run.owner, "seq": len(entries), "op_count": sum(map(_ops, entries))}
