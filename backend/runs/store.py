"""Runs on disk: one table row per run with its request, order, events, measured rows, figures and verdict.

Its calls block: a program with an event loop makes them in a thread.
"""

from __future__ import annotations

import json
import logging
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from typing import Any

import numpy as np

from backend.database.address import Location
from backend.database.connect import database_at
from backend.database.database import NONE, DatabaseError, NewerSchemaError, Values
from backend.database.database import Row as Stored
from backend.errors import from_codes, message, with_codes
from backend.runs.errors import RunFailure
from backend.runs.run import OVER, Run
from backend.runs.run_log import RunLog
from backend.schedule.interop.measured_rows import FIELDS, KINDS, Row

logger = logging.getLogger(__name__)

HOLD = ",".join(("head", "events", "packed", *KINDS))  # the columns that hold a run
COLUMNS = ("id", "created", "status", *HOLD.split(","))
SAVE = (
    f"INSERT INTO runs ({','.join(COLUMNS)}) VALUES ({','.join(f':{name}' for name in COLUMNS)}) "
    f"ON CONFLICT (id) DO UPDATE SET {','.join(f'{name} = excluded.{name}' for name in COLUMNS[1:])}"
)
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
    """The runs in a database; every method raises StoreError when that cannot be used."""

    def __init__(self, location: Location) -> None:
        self.database = database_at(location)
        self.unreadable: set[str] = set()  # ids of the damaged runs that were found so far
        self._opened = False

    def open(self) -> None:
        """Open or create the database."""
        self._opened = True
        with self._errors():
            self.database.open()

    def close(self) -> None:
        """Close the database; safe to call twice."""
        self._opened = False
        self.database.close()

    def check(self) -> None:
        """Raise StoreError where nothing could be written."""
        with self._errors():
            self.database.check()

    def close_left_over(self, before: float = float("inf")) -> int:
        """End the runs made before this time (in seconds) that a stopped server left unfinished, and return their
        number. Only the process that executes the runs of a database may do that.
        """
        ended = 0
        sql = f"SELECT id,{HOLD} FROM runs WHERE status NOT IN ({ENDED}) AND created < :before"
        for run_id, *row in self._execute(sql, {"before": before}):
            with suppress(UnreadableRunError):
                run = self._read(run_id, _revive, *row)
                run.fail(STOPPED)
                self.save(run)
                ended += 1
        return ended

    def save(self, run: Run) -> None:
        """Write the run in its present state."""
        row = {kind: pack(run.log, kind) for kind in KINDS}
        head = json.dumps(with_codes({key: getattr(run, key) for key in HEAD}))
        events = json.dumps(list(run.log.outline()))
        request = {"id": run.id, "created": run.created, "status": run.status, "packed": run.order}
        self._execute(SAVE, row | request | {"head": head, "events": events})

    def load(self, run_id: str) -> Run | None:
        """Read the run of this id with all its rows; None where there is none. Raises UnreadableRunError."""
        if "\0" in run_id:  # which PostgreSQL's texts cannot have
            return None
        found = self._execute(f"SELECT {HOLD} FROM runs WHERE id = :id", {"id": run_id})
        return self._read(run_id, _revive, *found[0]) if found else None

    def name_of(self, run_id: str) -> str | None:
        """Return the name of the run of this id, "" for one without; None where there is no such run."""
        found = self._execute("SELECT head FROM runs WHERE id = :id", {"id": run_id})
        return str(json.loads(found[0][0])["name"]) if found else None

    def remove(self, *run_ids: str) -> None:
        """Delete the runs of these ids."""
        ids = {f"id{number}": run_id for number, run_id in enumerate(run_ids)}
        self._execute(f"DELETE FROM runs WHERE id IN ({','.join(f':{name}' for name in ids)})", ids)

    def recent(self, limit: int, before: tuple[float, str] | None) -> list[dict[str, Any]]:
        """Return summaries, with `owner`, newest first, of runs older than the run (created, id); damaged ones are
        left out.
        """
        summaries: list[dict[str, Any]] = []
        at = before if before is not None else (float("inf"), "")
        while len(summaries) < limit:
            found = self._execute(
                "SELECT id, created, head, events FROM runs WHERE (created, id) < (:created, :id) "
                "ORDER BY created DESC, id DESC LIMIT :limit",
                {"created": at[0], "id": at[1], "limit": limit - len(summaries)},
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
        size = "+".join(self.database.bytes_of(column) for column in HOLD.split(","))
        sql = (
            f"SELECT id, {size} FROM runs WHERE status IN ({ENDED}) AND created < :before "
            "ORDER BY created, id LIMIT :limit"
        )
        return [(run_id, int(size)) for run_id, size in self._execute(sql, {"before": before, "limit": limit})]

    def used(self) -> int:
        """Return the bytes of the database that hold data; those of deleted runs are used again."""
        with self._errors():
            return self.database.used()

    def _read(self, run_id: str, decode: Callable[..., Any], *stored: Any) -> Any:
        """Decode a row. Raises UnreadableRunError, and notes it once for the operator, where it is damaged."""
        try:
            return decode(*stored)
        except DAMAGED as error:
            if run_id not in self.unreadable:
                logger.error(
                    "run %s in %s cannot be read: %s: %s", run_id, self.database.location, type(error).__name__, error
                )
            self.unreadable.add(run_id)
            raise UnreadableRunError(run_id) from error

    def _execute(self, sql: str, values: Values = NONE) -> list[Stored]:
        if not self._opened:
            raise StoreError(message("runs.database_closed", "{path} is not open", path=self.database.name))
        with self._errors():
            return self.database.execute(sql, values)

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Turn a DatabaseError into a StoreError."""
        try:
            yield
        except NewerSchemaError as error:
            raise StoreError(error.why) from error
        except DatabaseError as error:
            name, why = self.database.name, error.why
            text = message("runs.database_unusable", "{path} cannot be used: {error}", path=name, error=why)
            raise StoreError(text) from error


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
    return rest | {
        "failure": None if data["error"] is None else RunFailure.of_error("unknown", data["error"]).as_dict()
    }


def _ops(entry: dict[str, Any]) -> int:
    """Count the ops of a batch; before schema 3 the count was under `n`."""
    return int(entry.get("ops", entry.get("n", 0)))


def _summary(head: str, events: str) -> dict[str, Any]:
    """Summarize a stored run without decoding its rows."""
    run, entries = _without_log(head), json.loads(events)
    return run.summary() | {"owner": run.owner, "seq": len(entries), "op_count": sum(map(_ops, entries))}


def with_copies_apart(rows: Iterable[Row]) -> tuple[list[Row], list[Row]]:
    """Separate ops and copies of runs that were stored before copies had rows of their own.

    There the k-th copy of a rank was among the ops with the index -1 - k, and its bytes were in the column recv_wait.
    """
    ops: list[Row] = []
    copies: list[Row] = []
    for row in rows:
        if row[1] < 0:
            copies.append([row[0], -1 - row[1], *row[2:]])
        else:
            ops.append(row)
    return ops, copies
