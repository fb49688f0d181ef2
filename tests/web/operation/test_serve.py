"""`python app.py serve`: starting, stopping, and that no process remains."""

from __future__ import annotations

import os
import re
import signal
import socket
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import requests
from click.testing import CliRunner

from backend.config import Config, ConfigError, settings
from backend.web import processes
from tests.conftest import PATIENCE_S, until
from tests.support import within
from tests.support.hostile_bodies import COSTLY
from tests.support.processes import children_of, group_of, stat_of
from tests.support.servers.server import Server, launch, refusal


@pytest.fixture(scope="module")
def early(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server whose runner takes an hour to start."""
    with launch(tmp_path_factory.mktemp("early"), "--start", "3600") as started:
        yield started


def test_a_server_responds_long_before_its_runner_has_started(early: Server):
    assert early.get("/api/schedule").status_code == 200
    until(lambda: early.get("/healthz").json()["runner"]["state"] == "starting")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_server_loads_neither_torch_nor_numba_and_ends_within_five_seconds_of_a_signal_with_all_processes(
    start, number
):
    server = start("--worker", as_users_do=number == signal.SIGTERM)
    until(server.ready)
    if number == signal.SIGTERM:
        libraries = Path(f"/proc/{server.process.pid}/maps").read_text()
        assert "/numpy/" in libraries
        assert not [name for name in ("torch", "numba", "pandas") if f"/{name}/" in libraries]
    run_id = server.start_run(106)
    until(lambda: server.run(run_id)["ops"])
    runner = server.runner()
    assert len(group_of(runner)) == 2
    with within(5):  # about one
        assert server.stop(number) == 0
    until(lambda: group_of(runner) == [])


def test_a_server_that_is_killed_outright_takes_its_runner_and_its_workers_along_even_while_they_compute(start):
    server = start(BUBBLELINE_WORKERS_AFTER_S="0.05")
    until(server.ready)
    runner, forks = server.runner(), server.fork_server()
    until(lambda: len(children_of(forks)) == 3)  # one for quick work, two for long
    with server.connect() as asking:
        asking.sendall(f"GET {COSTLY} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        until(lambda: max(stat_of(each).own_s for each in children_of(forks)) > 0.3)
        server.stop(signal.SIGKILL)
    until(lambda: group_of(forks) == group_of(runner) == [])


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_after_a_restart_a_finished_run_is_the_same_and_one_that_was_under_way_has_failed(start, number):
    server = start()
    done = server.start_run(5)
    until(lambda: server.run(done)["status"] == "finished")
    before = server.run(done)
    run_id, waiting = server.start_run(106), server.start_run(2)
    until(lambda: server.run(run_id)["ops"])
    server.stop(number)
    again = start()
    assert again.run(done) == before
    assert {run["id"] for run in again.get("/api/runs").json()["runs"]} == {done, run_id, waiting}
    for each in (run_id, waiting):
        run = again.run(each)
        assert run["status"] == "failed"
        assert run["failure"]["message"].startswith("The server stopped")
        assert run["verified"] is None
    following = again.start_run(2)
    until(lambda: again.run(following)["status"] == "finished")


def test_a_new_schedule_on_an_open_connection_does_not_wait_for_more_to_send(early: Server):
    with requests.Session() as session:

        def body_s(comm: int) -> float:
            """The seconds from the head of an answer, whenever that comes, to the end of its body."""
            url = f"{early.url}/api/schedule?family=interleaved&p=16&m=128&v=4&comm={comm / 1000}"
            answer = session.get(url, timeout=PATIENCE_S, stream=True)
            begun = time.perf_counter()
            assert answer.content
            return time.perf_counter() - begun

        soon = any(body_s(comm) < 0.035 for comm in range(1000))
    assert soon, "small writes that wait for more cost every answer 40 ms"


def test_large_requests_do_not_hold_up_small_ones(early: Server):
    begun = time.monotonic()
    slow = subprocess.Popen(
        [sys.executable, "-c", f"import urllib.request as u; u.urlopen(u.Request('{early.url}/api/schedule"
         "?p=64&m=4096', headers={'Accept': 'application/json'})).read()"],
    )  # fmt: skip
    waits = []
    while slow.poll() is None:
        asked = time.monotonic()
        early.get("/api/schedule?p=4")
        waits.append(time.monotonic() - asked)
        time.sleep(0.01)
    assert slow.wait() == 0
    assert len(waits) > 5
    assert statistics.quantiles(waits, n=10)[-1] < (time.monotonic() - begun) / 4  # nine of ten


def test_a_port_in_use_is_reported_clearly_with_advice(tmp_path: Path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, said = refusal(tmp_path, "--port", str(port))
    assert code == 1
    assert f"Port {port} on 127.0.0.1 is taken" in said
    assert "--port" in said
    assert "Traceback" not in said


def test_an_address_of_another_machine_is_reported_clearly(tmp_path: Path):
    code, said = refusal(tmp_path, "--host", "203.0.113.7")
    assert code == 1
    assert re.search(r"Cannot listen on 203\.0\.113\.7:\d+: Cannot assign requested address\.\n", said)
    assert "Traceback" not in said


def test_the_program_without_a_command_serves(monkeypatch):
    import app
    import backend.web.serve

    served = []
    monkeypatch.setattr(backend.web.serve, "serve", lambda config: served.append(config) or 0)
    for variable_ in [name for name in os.environ if name.startswith("BUBBLELINE_")]:
        monkeypatch.delenv(variable_)
    for arguments in ([], ["serve"], ["serve", "--port", "8080", "--host", "::1"]):
        assert CliRunner().invoke(app.cli, arguments).exit_code == 0
    assert [(config.host, config.port) for config in served] == [("127.0.0.1", 5000)] * 2 + [("::1", 8080)]


def test_a_setting_that_cannot_be_used_is_named(monkeypatch):
    import app

    monkeypatch.setenv("BUBBLELINE_PORT", "http")
    done = CliRunner().invoke(app.cli, ["serve"])
    assert done.exit_code != 0
    assert "BUBBLELINE_PORT must be a whole number from 0 to 65535, not 'http'" in done.output


def test_settings_come_from_the_environment_and_empty_ones_count_as_absent():
    config = Config.from_env(
        {"BUBBLELINE_PORT": "8000", "BUBBLELINE_RUNNER": "a 'b c'", "BUBBLELINE_HOSTS": "x.org, y.org",
         "BUBBLELINE_QUEUE": " ", "OTHER": "1"}
    )  # fmt: skip
    assert (config.port, config.runner, config.hosts, config.queue) == (8000, ("a", "b c"), ("x.org", "y.org"), 32)
    assert config.trusted_hosts() == ("x.org", "y.org")
    shown = {each.variable: each.value for each in settings(config)}
    assert (shown["BUBBLELINE_HOSTS"], shown["BUBBLELINE_RUNNER"]) == ("x.org,y.org", "a 'b c'"), "as they are set"
    assert Config.from_env({}) == Config()
    assert Config(host="0.0.0.0").trusted_hosts() is None
    assert [Config(host="0.0.0.0").local, Config(proxies=1).local, Config(hosts=("x.org",)).local] == [False] * 3
    assert Config().local
    assert Config(host="::1", hosts=("localhost",)).local
    hosts = Config.from_env({"BUBBLELINE_HOSTS": "Lab.Example.org,2001:DB8::1,[::1],10.0.0.7"}).hosts
    assert hosts == ("lab.example.org", "[2001:db8::1]", "[::1]", "10.0.0.7"), "as requests have them"
    assert Config(host="[::1]").host == "::1"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("PORT", "-1"),
        ("PORT", "65536"),
        ("PORT", "5_000"),
        ("PORT", "\u0665"),
        ("PORT", "9" * 5000),
        ("QUEUE", "0"),
        ("SILENCE_S", "nan"),
        ("SILENCE_S", "inf"),
        ("SILENCE_S", "0"),
        ("SILENCE_S", "soon"),
        ("RUNNER", "a 'b"),
        ("CACHE_MB", "1e3"),
        ("LESSONS", "/there/is/no/such/folder"),
        ("HOSTS", "https://lab.example"),
        ("HOSTS", "lab.example:5000"),
        ("HOSTS", "*.example"),
        ("DATABASE", "~nobody-has-this-name/runs.sqlite3"),
        ("DATA_FOLDER", "~nobody-has-this-name"),
    ],
)
def test_a_bad_setting_is_refused_by_name(name, text):
    with pytest.raises(ConfigError, match="BUBBLELINE_" + name):
        Config.from_env({"BUBBLELINE_" + name: text})


def test_a_process_has_the_paths_of_the_folder_in_which_the_server_was_started(monkeypatch, tmp_path: Path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own" / "LESSONS.x").mkdir(parents=True)
    for name in ("DATABASE", "DATA_FOLDER", "LESSONS", "LOG_FILE"):
        monkeypatch.setenv(f"BUBBLELINE_{name}", f"own/{name}.x")
    config = Config.from_env()
    environ = processes.environment(config, "web-1")
    monkeypatch.chdir("/")
    there = Config.from_env(environ)
    assert there == replace(config, log_file=tmp_path / "own" / "LOG_FILE-web-1.x")


CHILD = """
import signal, sys
from pathlib import Path
from time import sleep
name, folder = sys.argv[1], Path(sys.argv[2])
signals = []
signal.signal(signal.SIGTERM, lambda *_: signals.append(1))
(folder / name).touch()
while not signals: sleep(0.01)
if name == "runs":
    while not (folder / "web asked").exists() or len(signals) < int(sys.argv[3]): sleep(0.01)
    (folder / "runs ended").touch()
else:
    (folder / "web asked").touch()
    while len(signals) < 2: sleep(0.01)
    sys.exit(0 if (folder / "runs ended").exists() or int(sys.argv[3]) == 2 else 1)
"""


@pytest.mark.parametrize("needed", [1, 2])
def test_of_several_processes_pages_are_served_until_the_runs_have_ended_or_a_second_signal_comes(
    tmp_path: Path, needed: int
):
    children = [
        processes.Child(name, [sys.executable, "-S", "-c", CHILD, name, str(tmp_path), str(needed)])
        for name in (processes.RUNS, "web")
    ]
    for child in children:
        child.start(dict(os.environ))
    until(lambda: all((tmp_path / child.name).exists() for child in children))
    again = threading.Event()
    if needed == 2:
        again.set()
    processes._stop(children, PATIENCE_S, again)
    assert [child.process.wait() for child in children] == [0, 0]


def test_a_store_that_cannot_be_opened_does_not_stop_the_server(start, tmp_path):
    (tmp_path / "file").write_text("")
    server = start(BUBBLELINE_DATABASE=str(tmp_path / "file" / "runs.sqlite3"))
    until(server.ready)
    store = server.get("/healthz").json()["store"]
    assert store["ok"] is False
    assert "runs.sqlite3" in store["why"]
    run_id = server.start_run(2)
    until(lambda: server.run(run_id)["status"] == "finished")
