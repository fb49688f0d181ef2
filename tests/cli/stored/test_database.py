"""`python app.py backup` and `restore`: online, checked, private, and nothing is lost on the way."""

from __future__ import annotations

import os
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from app import cli
from backend.address.short_links.store import LinkStore
from backend.cli.stored import database as database_module
from backend.database.migrations import SCHEMA
from backend.runs.store import Store
from tests.runs.stored import a_finished_run, a_run, opened


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "server" / "runs.sqlite3"


@pytest.fixture
def store(database: Path):
    """The database of a server that runs, with the runs r0 to r2 and a link."""
    links = LinkStore(database, 10)
    with opened(database) as made:
        for number in range(3):
            made.save(a_finished_run(f"r{number}", created=100.0 + number))
        links.make("family=gpipe", "lesson")
        links.close()
        yield made


def call(database: Path, *arguments: object):
    environ = {"BUBBLELINE_DATABASE": str(database)}
    return CliRunner(env=environ).invoke(cli, [str(each) for each in arguments])


def ids(store: Store) -> list[str]:
    return [row["id"] for row in store.recent(10, None)]


def test_a_backup_of_a_running_server_is_whole_private_and_can_be_restored_under_it(store, database, tmp_path):
    file = tmp_path / "copy.sqlite3"
    done = call(database, "backup", file)
    assert done.exit_code == 0, done.output
    assert "3 runs and 1 short links" in done.output
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    store.remove("r0")
    store.save(a_finished_run("later"))
    restored = call(database, "restore", file)
    assert restored.exit_code == 0, restored.output
    assert sorted(ids(store)) == ["r0", "r1", "r2"], "the open store reads the restored file"
    assert stat.S_IMODE(database.stat().st_mode) == 0o600
    (kept,) = database.parent.glob("*.before-*")
    with opened(kept) as old:
        assert sorted(ids(old)) == ["later", "r1", "r2"], "the file before is beside it"
    assert [path.name for path in database.parent.iterdir() if path.name.startswith(".")] == []


def test_a_backup_does_not_replace_a_file_unless_it_is_forced_to(store, database, tmp_path):
    file = tmp_path / "copy.sqlite3"
    file.write_text("precious")
    refused = call(database, "backup", file)
    assert refused.exit_code == 1
    assert "--force" in refused.output
    assert file.read_text() == "precious"
    assert call(database, "backup", "--force", file).exit_code == 0
    assert "itself" in call(database, "backup", "--force", database).output


def test_a_backup_goes_on_while_others_write(store, database, tmp_path, monkeypatch):
    monkeypatch.setattr(database_module, "PAGES", 1)
    monkeypatch.setattr(database_module, "MOST_RESTARTS", 3)
    monkeypatch.setattr(database_module, "PAUSE_S", 0.0)
    other = sqlite3.connect(database)
    writes = []

    class Busy(database_module._Copied):
        """Writes to the database after every page."""

        def watch(self, status: int, remaining: int, total: int) -> None:
            with other:
                other.execute("UPDATE runs SET created = created + 1")
            writes.append(remaining)
            super().watch(status, remaining, total)

    monkeypatch.setattr(database_module, "_Copied", Busy)
    file = tmp_path / "copy.sqlite3"
    assert call(database, "backup", file).exit_code == 0
    assert len(writes) > 4, "the copy began again until it took all at once"
    with closing(sqlite3.connect(file)) as copy:
        assert copy.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert copy.execute("SELECT COUNT(*) FROM runs").fetchone() == (3,)
    other.close()


def damaged(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[4096 + 8 : 4096 + 800] = os.urandom(792)
    file.write_bytes(data)


def of_a_newer_version(file: Path) -> None:
    with closing(sqlite3.connect(file)) as connection:
        connection.execute(f"PRAGMA user_version = {SCHEMA + 1}")


def of_another_program(file: Path) -> None:
    file.unlink()
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("CREATE TABLE runs (id TEXT)")


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (lambda file: file.write_text("not a database at all" * 100), "not a database"),
        (lambda file: file.write_bytes(file.read_bytes()[:4096]), "failed"),
        (damaged, "failed"),
        (of_a_newer_version, "newer Bubbleline"),
        (of_another_program, "no database of Bubbleline"),
    ],
    ids=["text", "cut off", "damaged", "newer", "another program's"],
)
def test_a_file_that_is_damaged_or_not_ours_is_not_restored(store, database, tmp_path, spoil, why):
    file = tmp_path / "copy.sqlite3"
    assert call(database, "backup", file).exit_code == 0
    spoil(file)
    before = database.read_bytes()
    refused = call(database, "restore", file)
    assert refused.exit_code == 1
    assert why in refused.output
    assert database.read_bytes() == before
    assert {path.name for path in database.parent.iterdir()} <= {"runs.sqlite3", "runs.sqlite3-journal"}


def test_a_damaged_database_can_be_replaced_and_a_missing_one_made(store, database, tmp_path):
    file = tmp_path / "copy.sqlite3"
    assert call(database, "backup", file).exit_code == 0
    store.close()
    database.write_text("zeros" * 1000)
    journal = database.with_name(database.name + "-journal")
    journal.write_bytes(b"of the damaged one")
    assert call(database, "restore", file).exit_code == 0
    assert not journal.exists(), "SQLite would play it into the restored file"
    database.unlink()
    assert call(database, "restore", file).exit_code == 0
    store.open()
    assert sorted(ids(store)) == ["r0", "r1", "r2"]


def test_a_run_that_was_in_progress_at_the_backup_is_failed_after_the_restoration(store, database, tmp_path):
    run = a_run("under way")
    run.apply({"event": "warming"})
    store.save(run)
    file = tmp_path / "copy.sqlite3"
    assert call(database, "backup", file).exit_code == 0
    assert call(database, "restore", file).exit_code == 0
    assert store.load("under way").status == "failed"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can restore the database of another user")
def test_root_restores_a_database_that_still_belongs_to_the_servers_user(store, database, tmp_path):
    file = tmp_path / "copy.sqlite3"
    assert call(database, "backup", file).exit_code == 0
    os.chown(database, 65534, 65534)
    assert call(database, "restore", file).exit_code == 0
    assert (database.stat().st_uid, stat.S_IMODE(database.stat().st_mode)) == (65534, 0o600)


def test_a_locked_database_is_not_replaced(store, database, tmp_path, monkeypatch):
    file = tmp_path / "copy.sqlite3"
    assert call(database, "backup", file).exit_code == 0
    monkeypatch.setattr(database_module, "BUSY_S", 0.01)
    with closing(sqlite3.connect(database)) as holder:
        holder.execute("BEGIN EXCLUSIVE")
        refused = call(database, "restore", file)
    assert refused.exit_code == 1
    assert "locked" in refused.output
    assert sorted(ids(store)) == ["r0", "r1", "r2"]


def test_a_database_in_a_folder_that_cannot_be_made_is_not_restored(store, database, tmp_path):
    file = tmp_path / "copy.sqlite3"
    assert call(database, "backup", file).exit_code == 0
    refused = call(file / "no" / "folder.sqlite3", "restore", file)
    assert refused.exit_code == 1
    assert "The restoration failed: [Errno 20] Not a directory" in refused.output
