"""The boards in the database: the best entries of each task, and counts by metric and bin of all there have been.

Bounded: of each task the best `most` entries stay, and those of its Pareto front; the counts have a fixed number of
bins. An order that was dropped counts as new when it comes again. All calls block: a program with an event loop calls
them from a thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from backend.database.address import Location
from backend.database.connect import database_at
from backend.database.database import DatabaseError, Row, Transaction
from backend.errors import Message, RequestError, message
from backend.schedule.partial_order.score import METRICS, Score

COLUMNS = "id, packed, name, makespan, bubble, peak, messages, simplicity, submitted, created"
PLACE = "makespan, peak, messages, simplicity, created, id"  # entries are in this order
SUBMITTED = "submitted"  # the metric under which all accepted submissions are counted
SLACK = 10  # entries over the limit, as a part of it, until the worst are dropped: 1/SLACK
CANNOT_READ = message("boards.cannot_read", "Boards cannot be read at present")
CANNOT_KEEP = message("boards.cannot_keep", "Entries cannot be kept at present")


@dataclass(frozen=True)
class Entry:
    """An order on a board; ``submitted`` is how often it came."""

    id: str
    packed: str
    name: str | None
    score: Score
    submitted: int
    created: float

    @staticmethod
    def of(row: Row) -> Entry:
        """Make an entry of a row with COLUMNS."""
        key, packed, name, *score, submitted, created = row
        return Entry(key, packed, name, Score(*score), submitted, created)


@dataclass(frozen=True)
class Submitted:
    """What became of a submission: its entry, whether it is new, and its place among those kept, from 1."""

    entry: Entry
    new: bool
    place: int


@dataclass(frozen=True)
class Board:
    """A task's board: how many entries are kept, how many submissions there were, counts by metric and bin, the best
    entries, and the Pareto front of makespan and peak, from the least peak.
    """

    kept: int
    submissions: int
    counts: Mapping[str, Mapping[int, int]]
    best: Sequence[Entry]
    front: Sequence[Entry]


class BoardStore:
    """The boards of one server; every method raises RequestError (kind "disk") when the database fails."""

    def __init__(self, location: Location, most: int) -> None:
        self.most = most
        self.database = database_at(location)

    def submit(self, task: str, entry: Entry, bins: Mapping[str, int]) -> Submitted:
        """Keep an entry, or count it if its order is there already, and give it its name if it has none.

        ``bins`` has the bin of each metric.
        """
        with _errors(CANNOT_KEEP), self.database.transaction() as transaction:
            known = _find(transaction, task, entry.id)
            _count(transaction, task, {SUBMITTED: 0}, 1)
            if known is None:
                _insert(transaction, task, entry)
                _count(transaction, task, bins, 1)
                self._drop_worst(transaction, task)
            else:
                transaction.execute(
                    "UPDATE board_entries SET submitted = submitted + 1, name = :name WHERE id = :id",
                    {"id": entry.id, "name": known.name if known.name is not None else entry.name},
                )
            now = _find(transaction, task, entry.id) or entry
            return Submitted(now, known is None, _place(transaction, task, now))

    def board(self, task: str, best: int) -> Board:
        """Return a task's board with its `best` entries."""
        with _errors(CANNOT_READ), self.database.snapshot() as transaction:
            counts: dict[str, dict[int, int]] = {}
            sql = "SELECT metric, bin, entries FROM board_counts WHERE task = :task"
            for metric, number, entries in transaction.execute(sql, {"task": task}):
                counts.setdefault(metric, {})[number] = entries
            submissions = counts.pop(SUBMITTED, {}).get(0, 0)
            rows = transaction.execute(
                f"SELECT {COLUMNS} FROM board_entries WHERE task = :task ORDER BY {PLACE} LIMIT {best}", {"task": task}
            )
            return Board(
                _kept(transaction, task), submissions, counts, [Entry.of(row) for row in rows],
                [Entry.of(row) for row in _front(transaction, task)],
            )  # fmt: skip

    def delete(self, task: str, key: str, bins_of: Callable[[Score], Mapping[str, int]]) -> bool:
        """Delete an entry and take it out of the counts; return whether it was there. ``bins_of`` gives the bin of
        each metric of a score.
        """
        with _errors(CANNOT_KEEP), self.database.transaction() as transaction:
            entry = _find(transaction, task, key)
            if entry is None:
                return False
            transaction.execute("DELETE FROM board_entries WHERE id = :id", {"id": key})
            _count(transaction, task, bins_of(entry.score), -1)
            return True

    def unname(self, task: str, key: str) -> bool:
        """Remove the name of an entry; return whether the entry was there."""
        with _errors(CANNOT_KEEP), self.database.transaction() as transaction:
            if _find(transaction, task, key) is None:
                return False
            transaction.execute("UPDATE board_entries SET name = NULL WHERE id = :id", {"id": key})
            return True

    def close(self) -> None:
        """Close the database; safe to call twice."""
        self.database.close()

    def _drop_worst(self, transaction: Transaction, task: str) -> None:
        """Delete the worst entries if there are too many; those of the Pareto front stay."""
        if _kept(transaction, task) <= self.most + self.most // SLACK:
            return
        front = {f"front{number}": row[0] for number, row in enumerate(_front(transaction, task))}
        transaction.execute(
            "DELETE FROM board_entries WHERE task = :task AND id NOT IN (SELECT id FROM board_entries "
            f"WHERE task = :task ORDER BY {PLACE} LIMIT {self.most}) "
            f"AND id NOT IN ({', '.join(f':{name}' for name in front)})",
            {"task": task} | front,
        )


def _find(transaction: Transaction, task: str, key: str) -> Entry | None:
    sql = f"SELECT {COLUMNS} FROM board_entries WHERE id = :id AND task = :task"
    found = transaction.execute(sql, {"id": key, "task": task})
    return Entry.of(found[0]) if found else None


def _insert(transaction: Transaction, task: str, entry: Entry) -> None:
    values = {"id": entry.id, "task": task, "packed": entry.packed, "name": entry.name, "created": entry.created}
    names = [*values, *METRICS]
    transaction.execute(
        f"INSERT INTO board_entries ({', '.join(names)}, submitted) VALUES ({', '.join(f':{n}' for n in names)}, 1)",
        values | entry.score.as_dict(),
    )


def _count(transaction: Transaction, task: str, bins: Mapping[str, int], change: int) -> None:
    for metric, number in bins.items():
        transaction.execute(
            "INSERT INTO board_counts (id, task, metric, bin, entries) VALUES (:id, :task, :metric, :bin, :change) "
            "ON CONFLICT (id) DO UPDATE SET entries = board_counts.entries + :change",
            {"id": f"{task} {metric} {number}", "task": task, "metric": metric, "bin": number, "change": change},
        )


def _kept(transaction: Transaction, task: str) -> int:
    return int(transaction.execute("SELECT COUNT(*) FROM board_entries WHERE task = :task", {"task": task})[0][0])


def _place(transaction: Transaction, task: str, entry: Entry) -> int:
    values = {"task": task, "id": entry.id, "created": entry.created} | entry.score.as_dict()
    del values["bubble"]
    before = transaction.execute(
        f"SELECT COUNT(*) FROM board_entries WHERE task = :task AND ({PLACE}) < (:makespan, :peak, :messages, "
        ":simplicity, :created, :id)",
        values,
    )
    return 1 + int(before[0][0])


def _front(transaction: Transaction, task: str) -> list[Row]:
    """Return the first entry of each point of the Pareto front: none is as short with less memory."""
    rows, shortest = [], float("inf")
    points = transaction.execute(
        "SELECT peak, MIN(makespan) FROM board_entries WHERE task = :task GROUP BY peak ORDER BY peak", {"task": task}
    )
    for peak, makespan in points:
        if makespan < shortest:
            shortest = makespan
            rows += transaction.execute(
                f"SELECT {COLUMNS} FROM board_entries WHERE task = :task AND makespan = :makespan AND peak = :peak "
                f"ORDER BY {PLACE} LIMIT 1",
                {"task": task, "makespan": makespan, "peak": peak},
            )
    return rows


@contextmanager
def _errors(what: Message) -> Iterator[None]:
    """Turn a DatabaseError into a RequestError; `what` says what cannot be done."""
    try:
        yield
    except DatabaseError as error:
        text = message("boards.disk", "{what}: {why}.", what=what, why=error.why)
        raise RequestError("store", None, text, kind="disk") from error
