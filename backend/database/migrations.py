"""The tables, as numbered migrations that are applied in order, the same for SQLite and PostgreSQL.

A migration that has been released never changes; a new one is added at the end. TEXT, BIGINT, DOUBLE PRECISION and
BYTEA are legal type names in both databases, and hold the same values.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Literal

Kind = Literal["sqlite", "postgresql"]


@dataclass(frozen=True)
class AddColumn:
    """A column that is added where the table lacks it: earlier versions of the server could stop in between."""

    table: str
    column: str
    type: str


@dataclass(frozen=True)
class ByKind:
    """A statement that the databases write differently."""

    sqlite: str
    postgresql: str


Statement = str | AddColumn | ByKind

MIGRATIONS: tuple[tuple[Statement, ...], ...] = (
    (  # 1: runs
        "CREATE TABLE IF NOT EXISTS runs (id TEXT PRIMARY KEY, created DOUBLE PRECISION NOT NULL, "
        "status TEXT NOT NULL, head TEXT NOT NULL, events TEXT NOT NULL, ops BYTEA NOT NULL)",
        "CREATE INDEX IF NOT EXISTS runs_by_age ON runs (created DESC, id DESC)",
    ),
    (),  # 2: a run may have a name, which is in its head
    (AddColumn("runs", "bytes", "BYTEA"), AddColumn("runs", "messages", "BYTEA")),  # 3
    (AddColumn("runs", "copies", "BYTEA"), AddColumn("runs", "packed", "TEXT")),  # 4: copies were among the ops before
    (  # 5: short links, which SQLite files have had without a number, and the secrets that servers share
        "CREATE TABLE IF NOT EXISTS links (code TEXT PRIMARY KEY, query TEXT NOT NULL, named BIGINT NOT NULL, "
        "created DOUBLE PRECISION NOT NULL)",
        ByKind(
            sqlite="CREATE INDEX IF NOT EXISTS links_by_query ON links (query, named)",
            # A B-tree of PostgreSQL takes 2,700 bytes, and a query has up to 8,000.
            postgresql="CREATE INDEX IF NOT EXISTS links_by_query ON links USING hash (query) WHERE named = 0",
        ),
        "CREATE TABLE IF NOT EXISTS server_secrets (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    ),
    (  # 6: boards of the workbench's tasks: the best entries, and how many there have been by metric and bin
        "CREATE TABLE IF NOT EXISTS board_entries (id TEXT PRIMARY KEY, task TEXT NOT NULL, packed TEXT NOT NULL, "
        "name TEXT, makespan DOUBLE PRECISION NOT NULL, bubble DOUBLE PRECISION NOT NULL, "
        "peak DOUBLE PRECISION NOT NULL, messages BIGINT NOT NULL, simplicity BIGINT NOT NULL, "
        "submitted BIGINT NOT NULL, created DOUBLE PRECISION NOT NULL)",
        "CREATE INDEX IF NOT EXISTS board_entries_by_place "
        "ON board_entries (task, makespan, peak, messages, simplicity, created, id)",
        "CREATE TABLE IF NOT EXISTS board_counts (id TEXT PRIMARY KEY, task TEXT NOT NULL, metric TEXT NOT NULL, "
        "bin BIGINT NOT NULL, entries BIGINT NOT NULL)",
        "CREATE INDEX IF NOT EXISTS board_counts_by_task ON board_counts (task)",
    ),
    (  # 7: classes, their members, questions and answers, which are deleted after a day
        "CREATE TABLE IF NOT EXISTS classes (code TEXT PRIMARY KEY, leader TEXT NOT NULL, "
        "created DOUBLE PRECISION NOT NULL, expires DOUBLE PRECISION NOT NULL, settings TEXT NOT NULL, scene TEXT, "
        "last_member BIGINT NOT NULL DEFAULT 0)",
        "CREATE TABLE IF NOT EXISTS class_members (id TEXT PRIMARY KEY, class TEXT NOT NULL, number BIGINT NOT NULL, "
        "secret TEXT NOT NULL, name TEXT, joined DOUBLE PRECISION NOT NULL, shown TEXT, items TEXT NOT NULL)",
        "CREATE INDEX IF NOT EXISTS class_members_by_class ON class_members (class)",
        "CREATE TABLE IF NOT EXISTS class_questions (id TEXT PRIMARY KEY, class TEXT NOT NULL, "
        "number BIGINT NOT NULL, body TEXT NOT NULL, created DOUBLE PRECISION NOT NULL)",
        "CREATE INDEX IF NOT EXISTS class_questions_by_class ON class_questions (class)",
        "CREATE TABLE IF NOT EXISTS class_answers (id TEXT PRIMARY KEY, class TEXT NOT NULL, "
        "question BIGINT NOT NULL, round BIGINT NOT NULL, member BIGINT NOT NULL, value TEXT NOT NULL, "
        "verdict BIGINT, created DOUBLE PRECISION NOT NULL)",
        "CREATE INDEX IF NOT EXISTS class_answers_by_round ON class_answers (class, question, round)",
        "CREATE INDEX IF NOT EXISTS class_answers_by_member ON class_answers (class, member)",
    ),
)
SCHEMA = len(MIGRATIONS)


def migrate(
    version: int, kind: Kind, execute: Callable[[str], object], columns: Callable[[str], Collection[str]]
) -> None:
    """Apply the migrations after `version`. `columns` returns the names of a table's columns.

    The caller has begun a transaction, and notes SCHEMA in it.
    """
    for statements in MIGRATIONS[version:]:
        for statement in statements:
            if isinstance(statement, AddColumn):
                if statement.column in columns(statement.table):
                    continue
                statement = f"ALTER TABLE {statement.table} ADD COLUMN {statement.column} {statement.type}"
            elif isinstance(statement, ByKind):
                statement = statement.sqlite if kind == "sqlite" else statement.postgresql
            execute(statement)
