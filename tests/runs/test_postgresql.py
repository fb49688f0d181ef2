"""A server with PostgreSQL: its failures, its address, and what several servers share."""

from __future__ import annotations

import json
import logging
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import gevent
import pytest
from click.testing import CliRunner

from app import cli
from backend.access import keys
from backend.access.policy import Policy
from backend.access.roles import Role
from backend.access.shared_keys import RETRY_S, SharedKeys
from backend.config import PROJECT, Config, ConfigError
from backend.database.address import PostgresqlAddress, read_location
from backend.database.connect import check_setup, database_at
from backend.database.database import DatabaseError, SetupError
from backend.runs import manager as manager_module
from backend.runs.manager import Manager
from backend.runs.runs import RunRequest
from backend.runs.store import Store, StoreError
from tests.conftest import PATIENCE_S, error_of, until
from tests.runs.stored import a_finished_run, a_run
from tests.runs.test_databases import at_once
from tests.support.servers.postgresql import LOCKED, Cluster

PASSWORD = "s3cret%2Fword"


@pytest.fixture
def stopped(postgresql: Cluster) -> Iterator[Callable[[], None]]:
    """Stop PostgreSQL; it is started again after the test if the test does not."""
    yield postgresql.stop
    if postgresql._process is None:
        postgresql.start()


def test_a_server_outlives_a_restart_of_postgresql(address, postgresql: Cluster, stopped, make_app):
    app = make_app(database=address)
    client, runs = app.test_client(), app.extensions["bubbleline"].runs
    runs.keep(a_finished_run())
    link = client.post("/api/links", json={"query": "?p=4"}).get_json()["url"]
    assert client.get("/readyz").get_json()["ready"]
    assert "bubbleline_store_bytes 0" not in client.get("/metrics").text
    stopped()
    ready = client.get("/readyz")
    assert (ready.status_code, ready.get_json()["links"]["ok"]) == (503, False)
    assert "cannot be reached" in ready.get_json()["store"]["why"]
    assert client.get(link, headers={"Accept": "application/json"}).status_code == 503
    assert error_of(client.post("/api/links", json={"query": "?p=5"}))["code"] == "links.disk"
    assert client.get("/api/runs/0123456789").status_code == 503
    lost = runs.keep(a_finished_run())
    assert lost.unkept is not None
    for text in (ready.text, client.get("/healthz").text, client.get("/metrics").text):
        assert not re.search(rf"(:|port ){postgresql.port}\b", text), "everybody may read it"
        assert "127.0.0.1" not in text
    postgresql.start()
    assert client.get("/readyz").status_code == 200, "at the next call"
    assert client.get(link).status_code == 302
    assert client.post("/api/links", json={"query": "?p=5"}).status_code == 201
    runs.rename(lost.id, "kept after all")
    assert lost.unkept is None
    assert len(client.get("/api/runs").get_json()["runs"]) == 2


def test_a_connection_that_is_cut_during_a_statement_is_an_error_and_the_next_call_works(address, postgresql: Cluster):
    database = database_at(address)
    database.open()
    sleeping = "query LIKE '%pg_sleep(60)%' AND pid <> pg_backend_pid()"
    cut = at_once(
        lambda: database.execute("SELECT pg_sleep(60)"),
        lambda: until(
            lambda: database.execute(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {sleeping}")
        ),
    )
    assert isinstance(cut[0], DatabaseError)
    assert database.execute("SELECT 1") == [(1,)]
    database.close()


def test_a_server_that_starts_before_its_database_ends_the_runs_of_the_last_one_later(
    address, postgresql: Cluster, stopped, make_app, monkeypatch
):
    store = Store(address)
    store.open()
    run = a_run("left")
    run.apply({"event": "warming"})
    store.save(run)
    store.close()
    monkeypatch.setattr(manager_module, "REOPEN_S", 0.05)
    stopped()
    runs = make_app(database=address).extensions["bubbleline"].runs
    runs.open()
    assert "cannot be reached" in runs.store_error
    postgresql.start()
    until(lambda: runs.store_error is None, sleep=gevent.sleep)
    assert runs.get("left").status == "failed"


def test_a_run_submitted_while_the_database_is_being_opened_is_not_taken_for_one_left_over(location, config: Config):
    manager = Manager(replace(config, database=location))
    may_open, open_store = threading.Event(), manager.store.open

    def open_slowly() -> None:
        assert may_open.wait(10)
        open_store()

    manager.store.open = open_slowly
    opening = gevent.spawn(manager.open)
    gevent.sleep(0)
    submitting = gevent.spawn(manager.submit, RunRequest("a", {"m": 1}, "order"))
    gevent.sleep(0)
    may_open.set()
    gevent.joinall([opening, submitting], raise_error=True)
    run = submitting.value
    assert manager.store.load(run.id).status == "queued"
    manager.stop()


def test_a_wrong_password_is_named_at_the_start_and_never_shown(address, postgresql: Cluster, start, tmp_path: Path):
    uri = postgresql.uri(address.name, f"{LOCKED}:{PASSWORD}")
    server = start(BUBBLELINE_DATABASE=uri, BUBBLELINE_DATA_FOLDER=str(tmp_path / "data"))
    ready = server.get("/readyz")
    assert ready.status_code == 503
    assert (
        ready.json()["store"]["why"]
        == f"{address.name} (PostgreSQL) cannot be used: its server refuses the user or the password"
    )
    server.stop()
    log = (tmp_path / "server.log").read_text()
    assert f"postgresql://{LOCKED}@127.0.0.1:{postgresql.port}/{address.name}" in log
    assert "password authentication failed" in log
    assert "Traceback" not in log
    for secret in (PASSWORD, "s3cret/word"):
        assert secret not in log
        assert secret not in ready.text
    wanted = postgresql.uri(address.name, f"{LOCKED}:right")
    with pytest.raises(DatabaseError, match="permission denied"):  # it does not own the database
        database_at(PostgresqlAddress(wanted)).open()


def test_a_database_that_is_read_only_or_locked_is_not_ready(address, postgresql: Cluster):
    store = Store(address)
    store.open()
    store.save(a_finished_run("r0"))
    database = database_at(PostgresqlAddress(f"{address.uri}?options=-c%20lock_timeout%3D50"))
    with store.database.transaction(), pytest.raises(DatabaseError, match="locked"), database.transaction():
        pass
    database.close()
    store.close()
    postgresql.execute(f"ALTER DATABASE {address.name} SET default_transaction_read_only = on")
    with pytest.raises(StoreError, match="read-only"):
        store.check()
    store.open()
    assert store.load("r0").status == "finished", "it can still be read"
    store.close()


def test_a_database_that_is_made_anew_while_open_gets_its_tables_again(address, caplog):
    store = Store(address)
    store.open()
    for table in ("runs", "links", "server_secrets", "schema_version"):
        store.database.execute(f"DROP TABLE {table}")
    with pytest.raises(StoreError):
        store.save(a_finished_run("r0"))
    store.save(a_finished_run("r0"))
    assert store.load("r0").id == "r0"
    store.close()


def test_servers_that_share_a_database_take_each_others_tokens_and_cookies(address):
    config = Config(host="0.0.0.0", database=address)
    policies = at_once(*[lambda: Policy(config)] * 4)
    assert len({each.keys for each in policies}) == 1
    one, other = policies[:2]
    cookie = one.cookie_for(one.identify("10.0.0.1"), one.keys.token)
    assert other.identify("10.0.0.2", cookie).role == Role.RUN
    given = Policy(replace(config, token="another-token-of-the-class"))
    assert given.keys == replace(one.keys, token="another-token-of-the-class", made=frozenset({Role.ADMIN}))


def test_without_its_database_a_server_gives_out_no_cookies_and_later_finds_its_tokens(
    address, postgresql: Cluster, stopped, make_app
):
    kept = Policy(Config(host="0.0.0.0", database=address)).keys
    stopped()
    app = make_app(database=address, host="0.0.0.0", hosts=("localhost",))
    assert "Set-Cookie" not in app.test_client().get("/", headers={"Host": "localhost"}).headers
    now = 0.0
    shared = SharedKeys(database_at(address), "", "", lambda: now)
    assert (shared.lasting, shared.get() == kept) == (False, False)
    postgresql.start()
    assert not shared.lasting, "it is too soon to ask again"
    now = RETRY_S
    shared.get()
    until(lambda: shared.lasting)
    assert shared.get() == kept


def test_links_with_tokens_are_printed_once_the_database_is_there(address, postgresql: Cluster, stopped, start):
    kept = Policy(Config(host="0.0.0.0", database=address)).keys
    stopped()
    shared = {"BUBBLELINE_DATABASE": address.uri, "BUBBLELINE_HOSTS": "schedules.example,127.0.0.1"}
    server = start(**shared, BUBBLELINE_PROXIES="1")
    assert server.printed().endswith("the links follow.\n")
    postgresql.start()
    root = "https://schedules.example/?token="
    assert server.printed() == f"To start runs: {root}{kept.token}\n"
    assert server.printed() == f"To administrate: {root}{kept.admin_token}\n"
    server.stop()
    assert server.process.stdout.read() == ""


def test_secrets_in_a_damaged_table_are_not_used(address, caplog):
    database = database_at(address)
    database.execute("INSERT INTO server_secrets (name, value) VALUES ('token', '')")
    shared = SharedKeys(database, "", "")
    assert not shared.lasting
    assert len(shared.get().token) >= 16
    assert "is damaged" in caplog.text


def test_servers_that_start_at_once_in_one_folder_have_the_same_secrets(tmp_path: Path):
    made = at_once(*[lambda: keys.load(tmp_path / "var")] * 4)
    assert len(set(made)) == 1
    (tmp_path / "var" / keys.FILE).write_text("damaged")
    assert len(set(at_once(*[lambda: keys.load(tmp_path / "var")] * 4)) - set(made)) == 1


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("mysql://u:hidden@h/n", "mysql: is not supported"),
        ("postgresql+psycopg://u:hidden@h/n", "not supported"),
        ("sqlite:///hidden.sqlite3", "path of a file"),
        ("postgresql:/u:hidden@h/n", "must be postgresql://user"),
        ("postgresql://u:hidden@h", "must be postgresql://user"),
        ("postgresql://u:hidden@h/n/m", "must be postgresql://user"),
        ("postgresql://u:hid/den@h:5432/n", "%2F"),
        ("postgresql://u:hidden@h/n#x", "must be postgresql://user"),
        ("postgresql://u:hidden@h:port/n", "port from 1"),
        ("postgresql://u:hidden@h:0/n", "port from 1"),
        ("postgresql://u:hidden%@h/n", "%25"),
        ("postgresql://u:hid den@h/n", "%20"),
    ],
)
def test_an_address_that_is_illegal_is_refused_without_being_repeated(text: str, why: str):
    with pytest.raises(ConfigError, match="BUBBLELINE_DATABASE must be") as refused:
        Config.from_env({"BUBBLELINE_DATABASE": text})
    assert why in str(refused.value)
    assert "hid" not in str(refused.value).replace("hidden.sqlite3", "")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"postgresql://bob:{PASSWORD}@db.example:5432/runs?sslmode=require", "postgresql://bob@db.example:5432/runs"),
        (f"postgres://db.example/runs?user=bob&password={PASSWORD}", "postgresql://db.example/runs"),
        (f"postgresql://bob:{PASSWORD}@[::1]:5432,h2:5433/runs", "postgresql://bob@[::1]:5432,h2:5433/runs"),
        ("postgresql:///runs?host=/var/run/postgresql", "postgresql:///runs"),
    ],
)
def test_the_password_of_an_address_is_printed_nowhere(text: str, shown: str):
    config = Config.from_env({"BUBBLELINE_DATABASE": text})
    assert (str(config.database), config.database.name) == (shown, "runs")
    assert config.folder == PROJECT / "var"
    printed = CliRunner(env={"BUBBLELINE_DATABASE": text}).invoke(cli, ["settings"]).output
    assert f"BUBBLELINE_DATABASE={shown}\n" in printed
    for each in (printed, repr(config), f"{config.database}"):
        assert "s3cret" not in each
    check_setup(config.database)  # libpq reads it


def test_a_path_is_an_sqlite_file_as_ever(tmp_path: Path):
    for text in ("runs.sqlite3", "~/runs.sqlite3", "/var/lib/a:b/runs.sqlite3", "./postgresql"):
        assert read_location(text) == Path(text).expanduser().resolve()
    config = Config(database=tmp_path / "runs.sqlite3")
    assert config.folder == tmp_path
    assert replace(config, data_folder=tmp_path / "else").folder == tmp_path / "else"


def test_options_that_postgresql_does_not_know_are_refused_without_the_password():
    with pytest.raises(SetupError) as refused:
        check_setup(PostgresqlAddress(f"postgresql://bob:{PASSWORD}@h/n?colour=red"))
    assert "postgresql://bob@h/n" in str(refused.value)


def test_missing_packages_are_named_with_the_command_that_installs_them(monkeypatch):
    for name in ("psycopg", "backend.database.postgresql"):
        monkeypatch.setitem(sys.modules, name, None)
    environ = {"BUBBLELINE_DATABASE": f"postgresql://bob:{PASSWORD}@127.0.0.1:1/n"}
    refused = CliRunner(env=environ).invoke(cli, ["serve", "--port", "0"])
    assert refused.exit_code == 1
    assert refused.output.startswith("Error: PostgreSQL needs Python packages")
    assert "pip install -r requirements-scale.txt" in refused.output
    assert "Traceback" not in refused.output


@pytest.mark.parametrize(("command", "other"), [("backup", "pg_dump"), ("restore", "pg_restore")])
def test_backup_and_restore_name_the_programs_of_postgresql(tmp_path: Path, command: str, other: str):
    file = tmp_path / "copy"
    file.write_text("")
    environ = {"BUBBLELINE_DATABASE": f"postgresql://bob:{PASSWORD}@127.0.0.1:1/runs"}
    refused = CliRunner(env=environ).invoke(cli, [command, str(file)])
    assert refused.exit_code == 2
    assert f"{other} " in refused.output
    assert "postgresql://bob@127.0.0.1:1/runs" in refused.output
    assert "s3cret" not in refused.output


def test_a_server_with_sqlite_imports_nothing_of_postgresql(tmp_path: Path):
    program = """
import json, sys
from pathlib import Path
sys.modules["redis"] = None  # as where it is not installed: where it is, python-socketio imports it
from backend.config import Config
from backend.web.factory import create_app
app = create_app(Config(port=0, database=Path(sys.argv[1]) / "runs.sqlite3"))
client = app.test_client()
answers = [client.get(path).status_code for path in ("/", "/api/runs", "/readyz", "/s/nobody", "/metrics")]
app.extensions["bubbleline"].runs.stop()
print(json.dumps([answers, [each for each in sys.modules if sys.modules[each] is not None]]))
"""
    done = subprocess.run(
        [sys.executable, "-c", program, tmp_path],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE_S,
    )
    answers, modules = json.loads(done.stdout)
    assert answers == [200, 200, 200, 404, 200]
    assert {"sqlite3", "flask"} <= set(modules)
    roots = {each.partition(".")[0] for each in modules}
    assert not {"sqlalchemy", "psycopg", "psycopg_binary", "redis"} & roots
    assert "backend.database.postgresql" not in modules
    assert {"runs.sqlite3", "access.json"} <= {each.name for each in tmp_path.iterdir()}


def test_nothing_of_the_log_has_a_password(address, caplog):
    database = database_at(PostgresqlAddress(f"postgresql://bob:{PASSWORD}@127.0.0.1:1/runs"))
    with caplog.at_level(logging.DEBUG), pytest.raises(DatabaseError, match="cannot be reached"):
        database.open()
    assert "postgresql://bob@127.0.0.1:1/runs" in caplog.text
    assert "s3cret" not in caplog.text
