"""A PostgreSQL database, shared by several servers: SQLAlchemy's pool of psycopg connections.

A connection is tried before it is used, so that a server of PostgreSQL that was restarted is not noticed.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache, partial
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict
from sqlalchemy import Connection, create_engine, text
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from backend.database.address import PostgresqlAddress
from backend.database.database import (
    NONE,
    Database,
    DatabaseError,
    NewerSchemaError,
    Row,
    SetupError,
    Transaction,
    Values,
)
from backend.database.migrations import SCHEMA, migrate
from backend.errors import message

logger = logging.getLogger(__name__)
CONNECTIONS, MORE_CONNECTIONS = 2, 8  # that stay open, and for a rush; for runs and for links each
WAIT_S = 5  # for a free connection of the pool
# Of libpq; an address may have others behind its "?". The server's limits (ms) end what would hold up everybody.
DEFAULTS: dict[str, Any] = {
    "application_name": "bubbleline",
    "client_encoding": "UTF8",
    "connect_timeout": 5,
    "keepalives_idle": 30,
    "tcp_user_timeout": 10_000,  # ms without an answer of the network until a connection counts as lost
    "options": "-c statement_timeout=30000 -c lock_timeout=5000 -c idle_in_transaction_session_timeout=60000",
}
MIGRATING, WRITING = 0x42756262_0001, 0x42756262_0002  # keys of advisory locks, any numbers
NO_TABLE = "42P01"

UNREACHABLE = message("database.unreachable", "its server cannot be reached, or refuses the connection")
REFUSED = message("database.refused", "its server refuses the user or the password")
READ_ONLY = message("database.read_only", "it is read-only at present")
FULL = message("database.full", "its disk or its memory is full")
STOPPING = message("database.stopping", "its server is stopping or starting")
BUSY = message("database.busy", "it is locked, or took too long to answer")
# By the beginning of SQLSTATE; the longest that fits counts.
REASONS = {
    "08": UNREACHABLE, "28": REFUSED, "25006": READ_ONLY, "53": FULL, "53300": UNREACHABLE, "55P03": BUSY,
    "57": STOPPING, "57014": BUSY, "40P01": BUSY,
}  # fmt: skip


class PostgresqlDatabase(Database):
    """A database of PostgreSQL. What went wrong is logged with the address, never with the password."""

    def __init__(self, address: PostgresqlAddress) -> None:
        """Take an address. Raises SetupError where libpq cannot read it."""
        self.location = address
        self.name = f"{address.name} (PostgreSQL)"
        try:
            settings = DEFAULTS | conninfo_to_dict(address.uri)
        except psycopg.Error:  # its text may have the password
            raise SetupError(f"The address {address} has parts behind it that PostgreSQL does not know.") from None
        # prepare_threshold: statements prepared by one connection fail behind a pooler such as PgBouncer.
        connect = partial(psycopg.connect, **settings, prepare_threshold=None)
        self._engine = create_engine(
            "postgresql+psycopg://", creator=connect, pool_pre_ping=True, pool_size=CONNECTIONS,
            max_overflow=MORE_CONNECTIONS, pool_timeout=WAIT_S, pool_use_lifo=True, hide_parameters=True,
        )  # fmt: skip
        self._migrated = False

    def open(self) -> None:
        with self._begun():
            pass

    def execute(self, sql: str, values: Values = NONE) -> list[Row]:
        with self._begun() as transaction:
            return transaction.execute(sql, values)

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """Hold a lock of the database until the context ends."""
        with self._begun() as transaction:
            transaction.execute("SELECT pg_advisory_xact_lock(:key)", {"key": WRITING})
            yield transaction

    @contextmanager
    def snapshot(self) -> Iterator[Transaction]:
        """Read what was there when the context began; others go on writing."""
        with self._begun() as transaction:
            transaction.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            yield transaction

    def tables(self) -> set[str]:
        """Read the names from the schema in which the server makes its tables."""
        sql = "SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema()"
        with self._errors(), self._engine.begin() as connection:
            return {str(name) for (name,) in _Transaction(connection).execute(sql)}

    def check(self) -> None:
        """Lock a row, which a database that cannot be written refuses, and release it."""
        self.execute("SELECT version FROM schema_version FOR UPDATE")

    def size(self) -> int:
        """Return the size of the database with its indexes and free space."""
        return int(self.execute("SELECT pg_database_size(current_database())")[0][0])

    def used(self) -> int:
        """Return the bytes of the values before PostgreSQL compresses them; their lengths are known without reading
        them.
        """
        runs = "+".join(self.bytes_of(column) for column in ("id", "head", "events", "packed", "ops", "bytes"))
        rest = "+".join(self.bytes_of(column) for column in ("messages", "copies"))
        links = f"(SELECT coalesce(sum({self.bytes_of('query')}), 0) FROM links)"
        boards = f"(SELECT coalesce(sum({self.bytes_of('packed')}), 0) FROM board_entries)"
        return int(self.execute(f"SELECT coalesce(sum({runs}+{rest}), 0) + {links} + {boards} FROM runs")[0][0])

    def bytes_of(self, column: str) -> str:
        return f"coalesce(octet_length({column}), 0)"

    def close(self) -> None:
        self._engine.dispose()

    @contextmanager
    def _begun(self) -> Iterator[_Transaction]:
        """Begin a transaction; it is committed at the end, or rolled back where an exception leaves the context."""
        with self._errors():
            if not self._migrated:
                with self._engine.begin() as connection:
                    self._migrate(connection)
                self._migrated = True
            with self._engine.begin() as connection:
                yield _Transaction(connection)

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Log what went wrong and turn it into DatabaseError."""
        try:
            yield
        except SQLAlchemyError as error:
            if _state(error) == NO_TABLE:  # the database was made anew; the next call makes the tables
                self._migrated = False
            logger.error("%s: %s", self.location, error.orig if isinstance(error, DBAPIError) else error)
            raise DatabaseError(_reason(error)) from error

    def _migrate(self, connection: Connection) -> None:
        """Create or update the tables. Raises NewerSchemaError."""
        transaction = _Transaction(connection)
        if self._version(transaction) == SCHEMA:
            return
        # Servers that start at once come here together: all but the first wait, and then find the tables.
        transaction.execute("SET LOCAL statement_timeout = 0")
        transaction.execute("SET LOCAL lock_timeout = 0")
        transaction.execute("SELECT pg_advisory_xact_lock(:key)", {"key": MIGRATING})
        transaction.execute("CREATE TABLE IF NOT EXISTS schema_version (version BIGINT NOT NULL)")
        version = self._version(transaction)
        if version == SCHEMA:
            return

        def columns(table: str) -> set[str]:
            sql = (
                "SELECT column_name FROM information_schema.columns "
                "WHERE table_schema = current_schema() AND table_name = :name"
            )
            return {str(name) for (name,) in transaction.execute(sql, {"name": table})}

        migrate(version, "postgresql", transaction.execute, columns)
        transaction.execute("DELETE FROM schema_version")
        transaction.execute("INSERT INTO schema_version (version) VALUES (:version)", {"version": SCHEMA})

    def _version(self, transaction: Transaction) -> int:
        if transaction.execute("SELECT to_regclass('schema_version')")[0][0] is None:
            return 0
        found = transaction.execute("SELECT version FROM schema_version")
        version = int(found[0][0]) if found else 0
        if version > SCHEMA:
            raise NewerSchemaError(self.name, version, SCHEMA)
        return version


class _Transaction:
    """The transaction that a connection has begun."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def execute(self, sql: str, values: Values = NONE) -> list[Row]:
        result = self._connection.execute(_statement(sql), dict(values))
        return [tuple(row) for row in result] if result.returns_rows else []


_statement = lru_cache(maxsize=256)(text)


def _state(error: Exception) -> str:
    """Return the SQLSTATE of an error, "" where the server did not send one."""
    original = error.orig if isinstance(error, DBAPIError) else error
    return str(getattr(original, "sqlstate", None) or "")


def _reason(error: Exception) -> str:
    """Return why a statement failed, in a sentence without host, user, SQL or values."""
    state = _state(error)
    fitting = [start for start in REASONS if state.startswith(start)]
    if fitting:
        return REASONS[max(fitting, key=len)]
    if isinstance(error, PoolTimeoutError):
        return BUSY
    original = error.orig if isinstance(error, DBAPIError) else None
    if state and isinstance(original, psycopg.Error) and original.diag.message_primary:
        return original.diag.message_primary
    # libpq hands on the text only of what ends an attempt to connect.
    return REFUSED if "password" in str(original) else UNREACHABLE
