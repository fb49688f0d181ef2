"""The server's state of the runner's cluster: hosts and the ranks on them, by route and by socket; and runs on it.
The runner is a fake that sends the events of one on Ray."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from backend.runs import cluster_state
from backend.web.sockets.cluster_feed import ClusterFeed
from tests.conftest import MakeApp, Server, error_of, launch, until
from tests.runs.stored import a_run, opened
from tests.support.web_pages import Page

PLACED = ("hosts", "clocks", "links")
HOSTS = ["head", "worker-1", "worker-2"]


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server whose runner has a cluster."""
    with launch(tmp_path_factory.mktemp("hosts"), "--cluster", "--pause", "0.05") as made:
        until(made.ready)
        yield made


class ClusterPage(Page):
    """A page that watches the cluster."""

    def __init__(self, server: Server) -> None:
        super().__init__(server, transports=["websocket"])
        self.states: list[dict[str, Any]] = []
        self.io.on("cluster", self.states.append)


@pytest.fixture
def viewer(hosts: Server) -> Iterator[ClusterPage]:
    with ClusterPage(hosts) as page:
        yield page


def ask(server: Server, path: str) -> Any:
    return server.get(f"/api/{path}").json()


def over(server: Server, run_id: str) -> dict[str, Any]:
    until(lambda: ask(server, f"runs/{run_id}")["status"] in ("finished", "failed", "cancelled"))
    run: dict[str, Any] = ask(server, f"runs/{run_id}")
    return run


def free(states: dict[str, Any]) -> list[int]:
    return [host["cpus"]["free"] for host in states["hosts"]]


def test_a_local_engine_has_no_cluster_and_that_is_no_error(client: FlaskClient, server: Server) -> None:
    assert client.get("/api/cluster").get_json() == {"engine": "local"}
    assert ask(server, "cluster") == {"engine": "local"}


def test_the_cluster_route_lists_hosts_and_devices_name_their_host(hosts: Server) -> None:
    states = ask(hosts, "cluster")
    assert (states["engine"], states["state"], states["address"]) == ("ray", "up", "10.77.0.1:6379")
    assert [host["name"] for host in states["hosts"]] == HOSTS
    devices = ask(hosts, "devices")
    assert (devices["engine"], [each["host"] for each in devices["devices"]]) == ("ray", HOSTS)


def test_a_viewer_of_the_cluster_receives_its_state_and_every_change(hosts: Server, viewer: ClusterPage) -> None:
    assert viewer.ask("watch_cluster") == {"ok": True}
    until(lambda: viewer.states)
    assert viewer.states[0] == ask(hosts, "cluster")
    over(hosts, hosts.start_run(p=2, m=2, spread="spread"))
    until(lambda: len(viewer.states) > 2)
    assert [free(states) for states in viewer.states] == [[0, 4, 4], [0, 3, 3], [0, 4, 4]]
    assert [host["ranks"] for host in viewer.states[1]["hosts"]] == [[], [0], [1]]
    assert viewer.ask("unwatch_cluster") == {"ok": True}
    before = len(viewer.states)
    over(hosts, hosts.start_run(p=2, m=1, spread="spread"))
    assert len(viewer.states) == before


def test_a_run_keeps_its_hosts_clocks_and_links_also_on_disk(hosts: Server, tmp_path: Path) -> None:
    run = over(hosts, hosts.start_run(p=2, m=1, spread="spread", hops="measured"))
    assert run["hosts"] == ["worker-1", "worker-2"]
    assert [clock["host"] for clock in run["clocks"]] == run["hosts"]
    assert run["links"] == [{"from": 0, "to": 1, "hosts": run["hosts"], "latency_ns": 182_000, "uncertainty_ns": 9_000}]
    assert (run["asked"]["spread"], run["asked"]["hops"]) == ("spread", "measured")
    assert "arrange" not in run["asked"], "default options are not listed"
    kept = a_run()
    kept.apply({"event": "finished"} | run)
    with opened(tmp_path / "runs.sqlite3") as store:
        store.save(kept)
        again = store.load(kept.id)
    assert again is not None
    assert {key: again.summary()[key] for key in PLACED} == {key: run[key] for key in PLACED}


def test_a_run_that_waits_for_resources_names_them(hosts: Server) -> None:
    run_id = hosts.start_run(p=2, m=109)
    until(lambda: ask(hosts, f"runs/{run_id}").get("waiting"))
    run = ask(hosts, f"runs/{run_id}")
    assert (run["status"], run["waiting"][:27]) == ("warming", "2 of 4 ranks have a place; ")
    assert ask(hosts, "cluster")["waiting"] == run["waiting"]
    hosts.post(f"/api/runs/{run_id}/cancel", {})
    assert "waiting" not in over(hosts, run_id)
    until(lambda: ask(hosts, "cluster")["waiting"] == "")


def test_a_lost_host_is_named_and_its_devices_are_removed(start: Callable[..., Server]) -> None:
    server = start("--cluster")
    run = over(server, server.start_run(p=2, m=110, spread="spread"))
    assert (run["status"], run["failure"]["kind"], run["failure"]["rank"]) == ("failed", "host_lost", 1)
    assert "worker-2" in run["failure"]["message"]
    assert [host["alive"] for host in ask(server, "cluster")["hosts"]] == [True, True, False]
    until(lambda: [each["host"] for each in ask(server, "devices")["devices"]] == HOSTS[:2])


def test_when_a_runner_dies_the_cluster_is_lost_until_the_next_runner_connects(
    start: Callable[..., Server],
) -> None:
    server = start("--cluster", "--start", "0.3")
    page = ClusterPage(server)
    page.ask("watch_cluster")
    over(server, server.start_run(p=2, m=101))
    until(lambda: [states.get("state") for states in page.states][-2:] == ["lost", "up"])
    assert "exit code 3" in page.states[-2]["why"]["message"]
    page.io.disconnect()


def test_a_run_on_a_cluster_that_refuses_connections_fails_with_the_reason(start: Callable[..., Server]) -> None:
    server = start("--cluster", "--never")
    run = over(server, server.start_run(p=2, m=1))
    assert (run["status"], run["failure"]["message"]) == ("failed", "no Ray cluster answers at 10.77.0.1:6379")
    states = ask(server, "cluster")
    assert (states["engine"], states["state"], states["why"]) == ("ray", "lost", run["failure"]["message"])


@pytest.mark.parametrize(
    ("key", "value", "usual"),
    [("spread", "spread", "pack"), ("arrange", "latency", "given"), ("hops", "measured", "given")],
)
def test_options_of_a_cluster_are_refused_by_a_local_engine_with_advice(
    app: Flask, client: FlaskClient, key: str, value: str, usual: str
) -> None:
    asked = {"spec": {"p": 2}, key: value}
    assert client.post("/api/runs", json=asked).status_code == 202, (
        "a runner that has not reported its engine checks itself"
    )
    app.extensions["bubbleline"].runs.client.engine = "local"
    assert client.post("/api/runs", json=asked | {key: usual}).status_code == 202
    error = error_of(client.post("/api/runs", json=asked))
    assert (error["field"], error["value"], error["nearest"]) == (key, value, usual)
    assert "ENGINE=ray" in error["message"]
    assert error_of(client.post("/api/runs", json=asked | {key: "far"}))["field"] == key


def test_a_server_for_a_cluster_shows_this_before_its_runner_has_started(make_app: MakeApp) -> None:
    asked = make_app(engine="ray").test_client()
    assert asked.get("/api/cluster").get_json() == {"engine": "ray"}
    assert asked.get("/api/devices").get_json()["engine"] == "ray"


def test_measured_hops_need_a_pace(client: FlaskClient) -> None:
    error = error_of(client.post("/api/runs", json={"hops": "measured", "mode": "free"}))
    assert (error["field"], error["nearest"]) == ("hops", "given")


def test_an_unreadable_cluster_state_is_refused_and_missing_texts_are_empty() -> None:
    assert cluster_state.read({}) == {"address": "", "state": "", "why": "", "hosts": [], "links": [], "waiting": ""}
    for states in ({"hosts": {}}, {"hosts": [1]}, {"links": [None]}, {"why": None}):
        with pytest.raises(ValueError, match="cannot be read"):
            cluster_state.read(states)


class Slow:
    """A transport whose viewers are free when a test sets them free."""

    def __init__(self) -> None:
        self.free: set[str] = set()
        self.sent: list[tuple[list[str], Any]] = []

    def idle(self, viewer: str) -> bool:
        return viewer in self.free

    def emit(self, viewers: list[str], event: str, text: str) -> None:
        assert event == "cluster"
        self.sent.append((viewers, json.loads(text)))


def test_a_slow_viewer_gets_only_the_latest_state_and_once() -> None:
    slow, state = Slow(), {"n": 0}
    feed = ClusterFeed(slow, lambda: state)
    slow.free = {"a"}
    feed.watch("a")
    feed.watch("b")
    for state["n"] in (1, 2, 3):
        feed.notify()
    slow.free = {"b"}
    feed._again()
    feed._again()
    assert slow.sent == [(["a"], {"n": n}) for n in range(4)] + [(["b"], {"n": 3})]
    feed.drop("b")
    feed.notify()
    assert len(slow.sent) == 5
