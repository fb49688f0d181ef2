"""The store of runs: runs are loaded as written, from current and older files, and a bad disk is reported."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.runs.errors import RunFailure
from backend.runs.run_log import RunLog
from backend.runs.run_order import order_of
from backend.runs.store import HEAD, STOPPED, Store, StoreError, pack, unpack
from backend.schedule.families import registry
from backend.schedule.interop.measured_rows import FIELDS, KINDS
from backend.schedule.order import wire
from backend.schedule.spec import Spec
from tests.runs.stored import DETAILS, a_finished_run, a_run, opened


@pytest.mark.parametrize("kind", KINDS)
@given(st.data())
def test_packed_rows_are_unpacked_exactly(kind, data):
    width = len(FIELDS[kind])
    number = st.integers(-(2**62), 2**62)
    log = RunLog("r")
    for rows in data.draw(st.lists(st.lists(st.lists(number, min_size=width, max_size=width), max_size=9), max_size=5)):
        log.extend({kind: rows})
    assert unpack(pack(log, kind), kind) == [list(row) for row in log.rows(kind)]


def test_rows_pack_small():
    log = RunLog("r")
    span = range(10_000)
    log.extend(
        {
            "ops": [[k % 8, k // 8, 10**6 * k, 10**6 * k + 300, 10**6 * (k + 1), 0] for k in span],
            "copies": [[k % 8, k // 8, 10**6 * k, 10**6 * k + 300, 10**6 * (k + 1), 4096] for k in span],
            "bytes": [[k % 8, k // 8, 8192, 8192, 10**6 + 8192 * (k % 5)] for k in span],
            "messages": [[k % 8, k % 8 + 1, 0, 1, k // 8, 10**6 * k, 10**6 * k + 1, 10**6 * k + 9, 8192] for k in span],
        }
    )
    assert [len(pack(log, kind)) < 10 * len(span) for kind in KINDS] == [True] * 4


def test_a_run_is_loaded_completely_after_a_restart(store):
    run = a_finished_run()
    store.save(run)
    store.close()
    with opened(store.database.location) as again:
        assert again.close_left_over() == 0
        back = again.load(run.id)
    assert back.as_dict() == run.as_dict()
    assert back.log.parts(0, 1) == run.log.parts(0, 1)


def old_database(path: Path, schema: int, status: str, facts: dict, events: list[dict], ops: bytes) -> Path:
    """Make a database of schema 2 or 3 with one run, "old"."""
    head = {key: getattr(a_run("old"), key) for key in HEAD} | {"status": status, "facts": facts}
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(
            "CREATE TABLE runs (id TEXT PRIMARY KEY, created REAL NOT NULL, status TEXT NOT NULL, head TEXT NOT NULL, "
            "events TEXT NOT NULL, ops BLOB NOT NULL" + (", bytes BLOB, messages BLOB)" if schema > 2 else ")")
        )
        row = ("old", 100.0, status, json.dumps(head), json.dumps(events), ops)
        connection.execute("INSERT INTO runs (id, created, status, head, events, ops) VALUES (?, ?, ?, ?, ?, ?)", row)
        connection.execute(f"PRAGMA user_version = {schema}")
    return path


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "old.sqlite3"


def test_runs_of_an_older_database_are_loaded_without_bytes_and_messages(file: Path):
    log = RunLog("old")
    log.extend({"ops": a_finished_run().log.rows()})
    events = [{"event": "op_batch", "n": 3}, {"event": "finished"}]
    with opened(old_database(file, 2, "finished", {}, events, pack(log, "ops"))) as store:
        assert store.close_left_over() == 0
        back = store.load("old")
        assert (back.log.rows(), back.log.rows("bytes"), back.log.rows("messages")) == (log.rows(), [], [])
        assert store.recent(5, None)[0]["op_count"] == 3
        store.save(a_finished_run("new"))
        assert store.load("new").as_dict() == a_finished_run("new").as_dict()
    with opened(file) as again:
        assert [list(row) for row in again.load("new").log.rows("messages")] == DETAILS["messages"]


def test_copies_among_the_ops_of_an_older_database_get_rows_of_their_own(file: Path):
    log = RunLog("old")
    log.extend({"ops": [[0, 3, 1, 2, 9, 0], [0, -1, 9, 10, 14, 4096], [1, -6, 7, 8, 9, 64]]})
    events = [{"event": "op_batch", "ops": 3}]
    with opened(old_database(file, 3, "finished", {}, events, pack(log, "ops"))) as store:
        back = store.load("old")
        assert back.log.rows("ops") == [(0, 3, 1, 2, 9, 0)]
        assert back.log.rows("copies") == [(0, 0, 9, 10, 14, 4096), (1, 5, 7, 8, 9, 64)]
        store.save(back)
        assert store.load("old").as_dict() == back.as_dict()


def test_the_error_of_a_failed_run_of_an_older_database_is_a_failure_of_unknown_kind(file: Path):
    error = {"field": "rank", "value": 1, "message": "rank 1 ran out of memory"}
    events = [{"event": "warming"}, {"event": "failed", "error": error}]
    failure = RunFailure("unknown", "rank 1 ran out of memory").as_dict()
    with opened(old_database(file, 3, "failed", {"error": error}, events, pack(RunLog("old"), "ops"))) as store:
        back = store.load("old")
        assert (back.facts, store.recent(1, None)[0]["failure"]) == ({"failure": failure}, failure)
    assert list(back.log.entries())[-1] == {"event": "failed", "failure": failure}


def test_the_order_of_a_run_that_was_stored_without_one_is_built_from_its_spec(file: Path):
    with opened(old_database(file, 3, "finished", {}, [], pack(RunLog("old"), "ops"))) as store:
        back = store.load("old")
    assert back.order == ""
    assert order_of(back).text() == registry.order(Spec()).text()
    assert wire.from_text(back.order).text() == registry.order(Spec()).text()


def test_a_run_is_stored_with_its_order(store):
    run = a_run()
    run.order = wire.to_text(registry.order(Spec()))
    store.save(run)
    assert store.load(run.id).order == run.order


def test_a_run_under_way_when_the_server_stopped_is_failed_at_the_next_start_and_never_finished(store):
    run = a_run()
    run.apply({"event": "warming"})
    store.save(run)
    store.close()
    with opened(store.database.location) as again:
        assert again.load(run.id).status == "warming", "another process may execute it"
        assert again.close_left_over(run.created) == 0, "it is not from before that time"
        assert again.close_left_over() == 1
        back = again.load(run.id)
    assert back.status == "failed"
    assert back.facts["failure"] == STOPPED.as_dict()
    assert [entry["event"] for entry in back.log.entries()] == ["warming", "failed"]


def test_the_list_pages_from_the_newest_and_knows_sizes_without_the_ops(store):
    for k in range(5):
        store.save(a_finished_run(f"r{k}", created=100.0 + k // 2, rows=k))  # pairs share a time
    first = store.recent(2, None)
    second = store.recent(10, (first[-1]["created"], first[-1]["id"]))
    assert [row["id"] for row in first + second] == ["r4", "r3", "r2", "r1", "r0"]
    assert [row["op_count"] for row in first + second] == [4, 3, 2, 1, 0]
    assert first[0]["seq"] == a_finished_run(rows=4).log.seq


def test_an_unknown_id_is_none(store):
    assert store.load("'; DROP TABLE runs; --") is None
    assert store.load("a\0b") is None


@pytest.mark.parametrize("make", [lambda p: p.write_text("not a database, " * 100), lambda p: p.mkdir()])
def test_a_file_that_is_not_a_database_is_reported_with_its_name(tmp_path, make):
    path = tmp_path / "runs.sqlite3"
    make(path)
    with pytest.raises(StoreError, match=r"runs\.sqlite3"):
        Store(path).open()


def test_a_full_disk_is_reported_and_stored_runs_are_kept(tmp_path):
    with opened(tmp_path / "runs.sqlite3") as store:
        store.save(a_finished_run("small"))
        store.database.connection().execute("PRAGMA max_page_count = 1")
        with pytest.raises(StoreError, match="full"):
            store.save(a_finished_run("large", rows=20_000))
        assert store.load("small").status == "finished"
