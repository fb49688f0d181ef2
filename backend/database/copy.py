"""Copies all rows of one database into another that is empty, in one transaction, between SQLite and PostgreSQL too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from backend.database.database import Database, Row, Transaction

SECRETS = "server_secrets"


class Table:
    """A table with its columns, the first of which is the primary key, and the number of rows to copy at once."""

    def __init__(self, name: str, columns: str, rows_at_once: int) -> None:
        self.name, self.columns, self.rows_at_once = name, columns.split(), rows_at_once


TABLES = (
    Table("runs", "id created status head events ops bytes messages copies packed", 8),
    Table("links", "code query named created", 500),
    Table("board_entries", "id task packed name makespan bubble peak messages simplicity submitted created", 200),
    Table("board_counts", "id task metric bin entries", 500),
    Table("classes", "code leader created expires settings scene last_member", 50),
    Table("class_members", "id class number secret name joined shown items", 500),
    Table("class_questions", "id class number body created", 200),
    Table("class_answers", "id class question round member value verdict created", 500),
    Table(SECRETS, "name value", 500),
)
OWN = {*(table.name for table in TABLES), "schema_version"}


class NotEmptyError(Exception):
    """A target that has rows already; `table` is the first such table."""

    def __init__(self, table: str) -> None:
        super().__init__(table)
        self.table = table


def copy_rows(source: Database, target: Database, secrets: Mapping[str, str]) -> dict[str, int]:
    """Copy every row as it was at one moment, and return the number of rows by table.

    `secrets` take the place of those in the source that have the same name. Raises NotEmptyError and DatabaseError;
    then the target has what it had before.
    """
    with target.transaction() as writing:
        for table in TABLES:
            if writing.execute(f"SELECT COUNT(*) FROM {table.name}") != [(0,)]:
                raise NotEmptyError(table.name)
        with source.snapshot() as reading:
            counts = {table.name: _copy(table, reading, writing, secrets) for table in TABLES}
        added = [row for row in secrets.items() if row[0] not in _names(writing)]
        if added:
            _insert(TABLES[-1], writing, added)
        return counts | {SECRETS: counts[SECRETS] + len(added)}


def _copy(table: Table, reading: Transaction, writing: Transaction, secrets: Mapping[str, str]) -> int:
    count = 0
    for rows in _batches(table, reading):
        if table.name == SECRETS:
            rows = [(name, secrets.get(str(name), value)) for name, value in rows]
        _insert(table, writing, rows)
        count += len(rows)
    return count


def _batches(table: Table, reading: Transaction) -> Iterator[list[Row]]:
    """Read a table in the order of its key, a few rows at a time."""
    key = table.columns[0]
    select = f"SELECT {', '.join(table.columns)} FROM {table.name}"
    rows = reading.execute(f"{select} ORDER BY {key} LIMIT {table.rows_at_once}")
    while rows:
        yield rows
        after = {"last": rows[-1][0]}
        rows = reading.execute(f"{select} WHERE {key} > :last ORDER BY {key} LIMIT {table.rows_at_once}", after)


def _insert(table: Table, writing: Transaction, rows: list[Row]) -> None:
    values = {f"{column}{number}": value for number, row in enumerate(rows) for column, value in zip(
        table.columns, row, strict=True
    )}  # fmt: skip
    places = (f"({', '.join(f':{column}{number}' for column in table.columns)})" for number in range(len(rows)))
    writing.execute(f"INSERT INTO {table.name} ({', '.join(table.columns)}) VALUES {', '.join(places)}", values)


def _names(transaction: Transaction) -> set[str]:
    return {str(name) for (name,) in transaction.execute(f"SELECT name FROM {SECRETS}")}
