"""A damaged or locked database, or one that is replaced: what cannot be read or written is reported, all else works."""

from __future__ import annotations

import sqlite3
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from backend.config import Config
from backend.database import sqlite_file
from backend.database.address import Location
from backend.database.connect import database_at
from backend.runs.store import Store, StoreError, UnreadableRunError
from tests.conftest import error_of
from tests.runs.stored import a_finished_run, a_run, opened

DAMAGES = {
    "head is not JSON": ("head", "{"),
    "head lacks a field": ("head", "{}"),
    "head is a number": ("head", "7"),
    "events are not JSON": ("events", "[{"),
    "ops are not deflated": ("ops", b"no"),
}


def damage(location: Location, run_id: str, column: str, value: str | bytes) -> None:
    database = database_at(location)
    database.execute(f"UPDATE runs SET {column} = :value WHERE id = :id", {"value": value, "id": run_id})
    database.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "runs.sqlite3"


@pytest.fixture
def in_file(path: Path) -> Iterator[Store]:
    """A store in an SQLite file."""
    with opened(path) as made:
        yield made


@pytest.mark.parametrize(("column", "value"), DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_run_is_counted_and_all_others_can_be_read(store: Store, column: str, value: str | bytes):
    for number in range(3):
        store.save(a_finished_run(f"r{number}", created=100.0 + number))
    damage(store.database.location, "r1", column, value)
    with pytest.raises(UnreadableRunError):
        store.load("r1")
    assert store.unreadable == {"r1"}
    assert store.load("r0").id == "r0"
    listed = [row["id"] for row in store.recent(2, None)]
    assert listed == (["r2", "r1"] if column == "ops" else ["r2", "r0"]), "the list does not decode ops"


def test_a_damaged_run_that_was_under_way_does_not_keep_the_others_from_being_ended(store: Store):
    for run_id in ("whole", "damaged"):
        run = a_run(run_id)
        run.apply({"event": "warming"})
        store.save(run)
    damage(store.database.location, "damaged", "head", "{")
    store.close()
    with opened(store.database.location) as again:
        assert again.close_left_over() == 1
        assert again.load("whole").status == "failed"
        assert again.unreadable == {"damaged"}


def test_a_database_is_readable_by_its_owner_only(in_file: Store, path: Path):
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_database_that_everybody_could_read_is_made_private(in_file: Store, path: Path):
    in_file.close()
    path.chmod(0o644)
    in_file.open()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("replacement", ["nothing", "another database"])
def test_a_database_that_is_deleted_or_replaced_while_open_is_opened_again(
    in_file: Store, path: Path, replacement: str
):
    in_file.save(a_finished_run("before"))
    path.unlink()
    if replacement == "another database":
        with opened(path.with_name("other.sqlite3")) as other:
            other.save(a_finished_run("theirs"))
        path.with_name("other.sqlite3").rename(path)
    in_file.save(a_finished_run("after"))
    expected = {"after"} | ({"theirs"} if replacement == "another database" else set())
    with opened(path) as again:
        assert {row["id"] for row in again.recent(5, None)} == expected


def test_a_database_that_another_program_has_locked_is_reported_and_works_again_afterwards(in_file: Store, path: Path):
    holder = sqlite3.connect(path)
    holder.execute("BEGIN EXCLUSIVE")
    with pytest.raises(StoreError, match="locked"):
        in_file.check()
    holder.rollback()
    holder.close()
    in_file.check()


@pytest.fixture
def listed(client: FlaskClient, config: Config) -> Path:
    """The database of the client's server, with the runs "whole" and "damaged"."""
    with opened(config.database) as store:
        for run_id in ("whole", "damaged"):
            store.save(a_finished_run(run_id))
    damage(config.database, "damaged", "head", "{")
    return config.database


def test_the_list_leaves_a_damaged_run_out_and_health_and_metrics_count_it(client: FlaskClient, listed: Path):
    assert [run["id"] for run in client.get("/api/runs").get_json()["runs"]] == ["whole"]
    assert client.get("/healthz").get_json()["store"]["unreadable"] == 1
    assert "bubbleline_store_unreadable_runs 1.0\n" in client.get("/metrics").text


def test_a_damaged_run_is_refused_with_the_way_out_and_can_be_deleted(client: FlaskClient, listed: Path):
    response = client.get("/api/runs/damaged")
    assert response.status_code == 404
    assert "damaged" in error_of(response)["message"]
    assert client.delete("/api/runs/damaged").status_code == 204
    assert error_of(client.get("/api/runs/damaged"))["code"] == "runs.unknown"


def test_a_damaged_run_can_be_deleted_before_anybody_has_asked_for_it(client: FlaskClient, listed: Path):
    assert client.delete("/api/runs/damaged").status_code == 204
    assert client.delete("/api/runs/damaged").status_code == 404


def test_a_run_that_cannot_be_deleted_on_disk_is_not_said_to_be_deleted(
    client: FlaskClient, listed: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(sqlite_file, "BUSY_S", 0.1)
    holder = sqlite3.connect(listed)
    holder.execute("BEGIN EXCLUSIVE")
    response = client.delete("/api/runs/whole")
    assert (response.status_code, error_of(response)["code"]) in ((503, "runs.not_deleted"), (503, "runs.not_loaded"))
    ready = client.get("/readyz")
    assert ready.status_code == 503
    assert "locked" in ready.get_json()["store"]["why"]
    holder.rollback()
    holder.close()
    assert client.get("/api/runs/whole").status_code == 200
    assert client.get("/readyz").get_json()["store"] == {"ok": True, "why": None}
