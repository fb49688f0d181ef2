"""The interface of a database, and its errors.

SQL is written once for all databases: named parameters (`:id`), types and functions that both know, upserts by
`ON CONFLICT`. What differs is a method here. All calls block, and are for any thread.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any, Protocol

from backend.database.address import Location
from backend.errors import message

Values = Mapping[str, Any]
Row = tuple[Any, ...]
NONE: Values = {}


class DatabaseError(Exception):
    """A database that cannot be used. `why` is for everybody: it has no path, host or password."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


class NewerSchemaError(DatabaseError):
    """A database whose tables a newer Bubbleline has changed; `why` is the whole sentence."""

    def __init__(self, name: str, version: int, known: int) -> None:
        why = message(
            "runs.newer_schema",
            "{path} was written by a newer Bubbleline (schema {version}, here {known})",
            path=name,
            version=version,
            known=known,
        )
        super().__init__(why)


class SetupError(Exception):
    """A database that cannot be used with this installation or address; the text is a sentence for the operator."""


class Transaction(Protocol):
    """Statements that take effect together."""

    def execute(self, sql: str, values: Values = NONE) -> list[Row]:
        """Execute a statement and return its rows. Raises DatabaseError."""


class Database(ABC):
    """A database; every method but `close` raises DatabaseError. It is connected when it is first used."""

    name: str  # for messages to everybody
    location: Location  # for the log

    @abstractmethod
    def open(self) -> None:
        """Connect, and create or update the tables. Raises NewerSchemaError too."""

    @abstractmethod
    def execute(self, sql: str, values: Values = NONE) -> list[Row]:
        """Execute one statement in a transaction of its own and return its rows."""

    @abstractmethod
    def transaction(self) -> AbstractContextManager[Transaction]:
        """Return a context for statements that take effect together, or not at all where an exception leaves it.

        Only one is in progress in the whole database: what it reads does not change until it ends.
        """

    @abstractmethod
    def snapshot(self) -> AbstractContextManager[Transaction]:
        """Return a context for statements that only read, all of them the same moment."""

    @abstractmethod
    def tables(self) -> set[str]:
        """Return the names of the tables that are there, of other programs too, and change nothing."""

    @abstractmethod
    def check(self) -> None:
        """Raise DatabaseError where nothing could be written."""

    @abstractmethod
    def size(self) -> int:
        """Return the bytes that the database takes on its disk."""

    @abstractmethod
    def used(self) -> int:
        """Return the bytes that hold data; those of deleted rows do not count."""

    @abstractmethod
    def bytes_of(self, column: str) -> str:
        """Return SQL for the bytes of a column's value; 0 for null."""

    @abstractmethod
    def close(self) -> None:
        """Disconnect; safe to call twice. The next use connects again."""
