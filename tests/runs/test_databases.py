"""What both databases promise: one schema, one writer at a time, and a refusal to touch what is newer."""

from __future__ import annotations

import secrets
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import pytest

from backend.address.short_links.store import LinkStore
from backend.database.address import Location
from backend.database.connect import database_at
from backend.database.database import Database, NewerSchemaError
from backend.database.migrations import MIGRATIONS, SCHEMA, ByKind
from backend.errors import RequestError
from backend.runs.store import Store, StoreError
from tests.runs.stored import a_finished_run

T = TypeVar("T")
AT_ONCE = 4


def at_once(*calls: Callable[[], T]) -> list[T | Exception]:
    """Call all in threads that begin together; return what each returned or raised."""
    barrier = threading.Barrier(len(calls))

    def call(each: Callable[[], T]) -> T:
        barrier.wait()
        return each()

    with ThreadPoolExecutor(len(calls)) as threads:
        called = [threads.submit(call, each) for each in calls]
    return [each.exception() or each.result() for each in called]


@pytest.fixture
def database(location: Location):
    made = database_at(location)
    yield made
    made.close()


def test_servers_that_start_at_once_on_an_empty_database_all_find_its_tables(location: Location):
    databases = [database_at(location) for _ in range(AT_ONCE)]
    assert at_once(*[each.open for each in databases]) == [None] * AT_ONCE
    for each in databases:
        assert each.execute("SELECT COUNT(*) FROM runs") == [(0,)]
        each.close()


def test_a_transaction_that_an_exception_leaves_has_no_effect(database: Database):
    def leave() -> None:
        with database.transaction() as transaction:
            transaction.execute("INSERT INTO server_secrets (name, value) VALUES (:name, 'x')", {"name": "a"})
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        leave()
    assert database.execute("SELECT name FROM server_secrets") == []


def test_values_come_back_as_they_were_written(database: Database):
    values = {"id": "é'\"%s:x\\", "created": 1763863932.123456, "ops": bytes(range(256)), "head": "{" * 200_000}
    columns = ", ".join(values)
    database.execute(
        f"INSERT INTO runs ({columns}, status, events) VALUES (:id, :created, :ops, :head, 'failed', '[]')", values
    )
    assert database.execute(f"SELECT {columns} FROM runs") == [tuple(values.values())]
    (size,) = database.execute(f"SELECT {database.bytes_of('ops')} + {database.bytes_of('packed')} FROM runs")[0]
    assert size == 256
    assert database.used() > 200_000
    assert database.size() > 4096
    database.check()


def test_a_database_of_a_newer_version_is_refused_by_runs_and_by_links(location: Location, database: Database):
    database.open()
    if isinstance(location, Path):
        database.execute(f"PRAGMA user_version = {SCHEMA + 1}")
    else:
        database.execute("UPDATE schema_version SET version = :version", {"version": SCHEMA + 1})
    store, links = Store(location), LinkStore(location, 10)
    with pytest.raises(StoreError, match="newer Bubbleline"):
        store.open()
    with pytest.raises(RequestError, match="newer Bubbleline"):
        links.find("lesson")
    with pytest.raises(NewerSchemaError):
        database_at(location).check()
    store.close()
    links.close()


@pytest.mark.parametrize("version", range(SCHEMA))
def test_a_file_of_any_version_whose_migration_was_cut_off_gets_all_tables(tmp_path: Path, version: int):
    path = tmp_path / "old.sqlite3"
    with sqlite3.connect(path) as old:
        for statement in [each for after in (1, 5, 6) if version >= after for each in MIGRATIONS[after - 1]]:
            old.execute(statement.sqlite if isinstance(statement, ByKind) else statement)
        # Those of its version, and of version 3 one of the next: a server of that time could stop in a migration.
        three = ("bytes", "messages", "copies")
        for column in () if version < 3 else three if version == 3 else (*three, "packed"):
            old.execute(f"ALTER TABLE runs ADD COLUMN {column} BLOB")
        old.execute(f"PRAGMA user_version = {version}")
    old.close()
    store, links = Store(path), LinkStore(path, 10)
    store.open()
    store.save(a_finished_run("new"))
    assert store.load("new").as_dict() == a_finished_run("new").as_dict()
    assert links.make("?p=4", "lesson").code == "lesson"
    tables = "board_entries, board_counts, classes, class_members, class_questions, class_answers"
    assert links.database.execute(f"SELECT COUNT(*) FROM {tables}") == [(0,)]
    store.close()
    links.close()


def test_links_are_found_by_code_name_and_query_however_long_that_is(location: Location):
    links = LinkStore(location, 3)
    longest = "?p=" + secrets.token_hex(3998)[:7997]
    code = links.make(longest, None).code
    assert links.find(code).query == longest
    assert links.known(longest, None).code == code
    assert links.known("?p=4", None) is None
    assert links.make("?p=4", "lesson").named
    assert links.known("?p=4", "lesson").code == "lesson"
    assert links.known("?p=4", None) is None, "a name is a link of its own"
    with pytest.raises(RequestError, match="another view") as taken:
        links.make("?p=5", "lesson")
    assert (taken.value.kind, taken.value.nearest) == ("taken", "lesson-2")
    links.make("?p=5", "lesson-2")
    with pytest.raises(RequestError) as full:
        links.make("?p=6", None)
    assert full.value.kind == "full"
    links.check()
    links.close()


def test_servers_that_get_one_view_at_once_give_it_one_link_and_keep_to_the_limit(location: Location):
    servers = [LinkStore(location, 2) for _ in range(AT_ONCE)]
    servers[0].check()  # makes the tables
    same = at_once(*[lambda each=each: each.make("?p=4", None).code for each in servers])
    assert len(set(same)) == 1
    assert all(isinstance(code, str) for code in same)
    others = at_once(*[lambda n=n, each=each: each.make(f"?p={n}", "lesson") for n, each in enumerate(servers)])
    kinds = [getattr(each, "kind", "made") for each in others]
    assert sorted(kinds) == ["full"] * (AT_ONCE - 1) + ["made"]
    for each in servers:
        each.close()
