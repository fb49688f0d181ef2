"""`python app.py copy-database`: every row arrives as it was, in one transaction, and only where there is room."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from app import cli
from backend.access import keys
from backend.address.short_links.store import LinkStore
from backend.database import copy as copy_module
from backend.database.address import Location, PostgresqlAddress
from backend.database.connect import database_at
from backend.database.copy import TABLES
from backend.database.database import DatabaseError, Row
from backend.database.migrations import SCHEMA
from tests.runs.stored import a_finished_run, opened

ODD_ROWS: dict[str, list[Row]] = {
    "runs": [
        ("é'\"%s:x\\", 1763863932.123456, "failed", "{" * 70_000, "[]", bytes(range(256)), None, b"", None, None),
        ("2", 0.1 + 0.2, "queued", "🦜\n\t", "", b"\0" * 999, b"\xff", None, b"\0", ""),
        *((f"run{n}", 1e300 / 3**n, "finished", "{}", "[]", b"x" * n, None, None, None, "p") for n in range(20)),
    ],
    "links": [("a", "?x=%25&y=:z", 1, 5e-324), ("B", "é" * 4000, 0, 2.0**53 - 1), ("ä", "", 2**62, 1.0)],
    "board_entries": [
        ("0a", "finish-1f1b", "lAB", None, 18.0, 1 / 3, 3.0, 16, 14, 2**40, 0.1 + 0.2),
        ("0b", "memory-two", "v", "Zoë 🦜", 1e300, 0.0, 5e-324, 0, 0, 1, 1.0),
    ],
    "board_counts": [("finish-1f1b makespan 3", "finish-1f1b", "makespan", 3, 2**40)],
    "classes": [
        ("BCDFGH", "0f" * 32, 0.1 + 0.2, 1e300, '{"title": "\\ud83e\\udd9c"}', None, 2**40),
        ("XXXXXX", "", 0.0, 5e-324, "{}", '{"seq": 1}', 0),
    ],
    "class_members": [
        ("BCDFGH:1", "BCDFGH", 1, "ab" * 32, "Zoë 🦜", 1.5, None, "{}"),
        ("BCDFGH:2", "BCDFGH", 2**40, "", None, 2.5, '{"page": "/"}', '{"q1": "done"}'),
    ],
    "class_questions": [("BCDFGH:1", "BCDFGH", 1, '{"kind": "choose"}', 1 / 3)],
    "class_answers": [
        ("BCDFGH:1:1:1", "BCDFGH", 1, 1, 1, "27.3", None, 3.5),
        ("BCDFGH:1:2:1", "BCDFGH", 1, 2, 1, "2@6-9", 0, 4.5),
    ],
    "server_secrets": [(name, name * 20) for name in keys.NAMES],
}


def call(*places: Location | str) -> Result:
    texts = [each.uri if isinstance(each, PostgresqlAddress) else str(each) for each in places]
    return CliRunner().invoke(cli, ["copy-database", *texts])


def rows_of(location: Location) -> dict[str, list[Row]]:
    """Every row of every table, each value with its type."""
    database = database_at(location)
    found = {}
    for table in TABLES:
        rows = database.execute(f"SELECT {', '.join(table.columns)} FROM {table.name}")
        found[table.name] = sorted([tuple((type(value).__name__, value) for value in row) for row in rows])
    database.close()
    return found


def fill(location: Location, rows: dict[str, list[Row]]) -> None:
    database = database_at(location)
    with database.transaction() as transaction:
        for table in TABLES:
            for row in rows[table.name]:
                places = ", ".join(f":{column}" for column in table.columns)
                values = dict(zip(table.columns, row, strict=True))
                transaction.execute(f"INSERT INTO {table.name} ({', '.join(table.columns)}) VALUES ({places})", values)
    database.close()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """An SQLite file with two runs and a link."""
    made = tmp_path / "server" / "runs.sqlite3"
    links = LinkStore(made, 10)
    with opened(made) as store:
        for number in range(2):
            store.save(a_finished_run(f"r{number}", created=100.0 + number))
        links.make("family=gpipe", "lesson")
    links.close()
    return made


def test_all_rows_come_back_from_postgresql_as_they_were(tmp_path: Path, address: PostgresqlAddress):
    first, last = tmp_path / "first.sqlite3", tmp_path / "new" / "last.sqlite3"
    fill(first, ODD_ROWS)
    there = call(first, address)
    assert there.exit_code == 0, there.output
    assert there.output.splitlines()[:9] == [
        *("runs: 22 rows", "links: 3 rows", "board_entries: 2 rows", "board_counts: 1 row", "classes: 2 rows"),
        *("class_members: 2 rows", "class_questions: 1 row", "class_answers: 2 rows", "server_secrets: 3 rows"),
    ]
    assert rows_of(address) == rows_of(first)
    back = call(address, last)
    assert back.exit_code == 0, back.output
    assert rows_of(last) == rows_of(first)
    assert len(rows_of(first)["runs"]) == 22
    assert keys.kept_in(last.parent) == dict(ODD_ROWS["server_secrets"])


def test_a_copied_server_has_its_runs_links_tokens_and_cookies(file: Path, tmp_path: Path, address: PostgresqlAddress):
    tokens = keys.load(file.parent)
    done = call(file, address)
    assert "server_secrets: 3 rows" in done.output
    assert tokens.token not in done.output
    assert call(address, tmp_path / "copy.sqlite3").exit_code == 0
    assert keys.load(tmp_path) == tokens
    with opened(tmp_path / "copy.sqlite3") as store:
        assert store.load("r1").status == "finished"
    other = tmp_path / "elsewhere" / "copy.sqlite3"
    keys.load(other.parent)
    assert "has other tokens, which stay" in call(address, other).output
    assert keys.load(other.parent) != tokens


def test_the_tables_that_are_copied_are_all_with_all_columns(file: Path):
    with closing(sqlite3.connect(file)) as connection:
        names = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        assert names == {table.name for table in TABLES}
        for table in TABLES:
            columns = {row[1]: row[5] for row in connection.execute(f"PRAGMA table_info({table.name})")}
            assert set(columns) == set(table.columns)
            assert [name for name, of_key in columns.items() if of_key] == [table.columns[0]]


def refused(done: Result, argument: str, why: str) -> None:
    assert done.exit_code == 2, done.output
    assert f"Invalid value for {argument}: " in done.output
    assert why in done.output


def test_a_target_that_has_rows_or_is_the_source_or_another_programs_is_refused(file: Path, tmp_path: Path):
    empty, other = tmp_path / "empty.sqlite3", tmp_path / "other.sqlite3"
    database_at(empty).open()
    assert call(file, empty).exit_code == 0
    before = rows_of(empty)
    refused(call(file, empty), "TO", "has rows in its table runs already; name a database that is empty")
    assert rows_of(empty) == before
    (tmp_path / "link.sqlite3").symlink_to(file)
    for same in (file, tmp_path / "link.sqlite3"):
        refused(call(file, same), "TO", "is FROM itself")
    with closing(sqlite3.connect(other)) as connection:
        connection.execute("CREATE TABLE notes (id TEXT)")
    refused(call(file, other), "TO", "has tables of another program (notes)")
    refused(call(other, tmp_path / "new.sqlite3"), "FROM", "there is no database of Bubbleline at")
    with closing(sqlite3.connect(other)) as connection:
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("notes",)]
    assert not (tmp_path / "new.sqlite3").exists()


def test_a_source_that_is_not_there_or_newer_or_no_database_is_refused(file: Path, tmp_path: Path):
    missing, target = tmp_path / "missing.sqlite3", tmp_path / "copy.sqlite3"
    refused(call(missing, target), "FROM", f"there is no database of Bubbleline at {missing}")
    assert not missing.exists()
    refused(call("mysql://bob:hidden@h/n", target), "FROM", "mysql: is not supported")
    newer = call(file, "postgresql://bob:hidden@h/n?colour=red")
    refused(newer, "TO", "that PostgreSQL does not know")
    assert "hidden" not in newer.output
    with closing(sqlite3.connect(file)) as connection:
        connection.execute(f"PRAGMA user_version = {SCHEMA + 1}")
    refused(call(file, target), "FROM", "newer Bubbleline")
    text = tmp_path / "text"
    text.write_text("not a database at all" * 100)
    done = call(text, target)
    assert done.exit_code == 1
    assert f"FROM, {text}, cannot be used: file is not a database" in done.output
    assert not target.exists()


def test_postgresql_that_has_no_tables_or_cannot_be_reached_is_named(address: PostgresqlAddress, tmp_path: Path):
    target = tmp_path / "copy.sqlite3"
    refused(call(address, target), "FROM", f"there is no database of Bubbleline at {address}")
    assert database_at(address).tables() == set(), "none was made"
    done = call("postgresql://bob:hidden@127.0.0.1:1/n", target)
    assert done.exit_code == 1
    assert "FROM, postgresql://bob@127.0.0.1:1/n, cannot be used: its server cannot be reached" in done.output
    assert "hidden" not in done.output


def test_nothing_of_a_copy_that_fails_remains(file: Path, tmp_path: Path, location: Location, monkeypatch):
    read = copy_module._batches

    def read_and_fail(table, reading):
        if table.name == "links":
            raise DatabaseError("its disk is full")
        return read(table, reading)

    monkeypatch.setattr(copy_module, "_batches", read_and_fail)
    done = call(file, location)
    assert (done.exit_code, done.output) == (1, "Error: The copy failed, and TO is as before: its disk is full.\n")
    if isinstance(location, Path):
        assert not location.exists()
    assert not any(rows_of(location).values())


def test_a_database_in_use_is_copied_as_it_was_at_one_moment(address: PostgresqlAddress, tmp_path: Path, monkeypatch):
    fill(address, ODD_ROWS)
    read, other = copy_module._batches, database_at(address)

    def read_while_others_write(table, reading):
        for rows in read(table, reading):
            other.execute("DELETE FROM links")
            other.execute("UPDATE runs SET status = 'changed'")
            yield rows

    monkeypatch.setattr(copy_module, "_batches", read_while_others_write)
    done = call(address, tmp_path / "copy.sqlite3")
    other.close()
    assert done.output.splitlines()[:2] == ["runs: 22 rows", "links: 3 rows"]
    with closing(sqlite3.connect(tmp_path / "copy.sqlite3")) as copy:
        assert copy.execute("SELECT COUNT(*) FROM runs WHERE status = 'changed'").fetchone() == (0,)
