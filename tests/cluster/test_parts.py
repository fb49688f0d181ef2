"""The parts of the cluster engine, without a cluster: hosts as Ray lists them, access tokens, clocks."""

from __future__ import annotations

import socket
import stat
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from backend.config import Config, ConfigError
from runner.engines.base import EngineError, RankRequest
from runner.engines.ray import access, clocks
from runner.engines.ray.clocks import ClockClient, ClockServer, HostClock, same_clock
from runner.engines.ray.hosts import (
    Host,
    bundle,
    machine_of,
    missing,
    read_hosts,
    shortest_way,
    silent_hosts,
    well_spread,
)
from runner.telemetry import clock
from runner.telemetry.clock_sync import Exchange

SECOND = 1_000_000_000


def node(key: str, name: str, address: str, alive: bool = True, **resources: float) -> dict[str, object]:
    """A host as Ray lists it."""
    found = {"NodeID": key, "NodeManagerHostname": name, "NodeManagerAddress": address, "Alive": alive}
    return found | {"Resources": resources, "DeathReasonMessage": "" if alive else "it went"}


HEAD = node("a", "head", "10.0.0.1", **{"CPU": 0.0, "memory": 100, "node:__internal_head__": 1})
NODES = [node("c", "two", "10.0.0.3", CPU=2, memory=300), HEAD, node("b", "one", "10.0.0.2", CPU=2, GPU=1, memory=200)]


def test_hosts_are_listed_head_first_with_free_resources_and_their_ranks() -> None:
    hosts = read_hosts(NODES, {"b": {"CPU": 0.5, "GPU": 1, "memory": 150.0}})
    assert [host.name for host in hosts] == ["head", "one", "two"]
    assert hosts[1].as_dict([0, 1]) == {
        "name": "one", "address": "10.0.0.2", "alive": True, "head": False,
        "cpus": {"total": 2, "free": 0.5}, "gpus": {"total": 1, "free": 1}, "memory": {"total": 200, "free": 150},
        "ranks": [0, 1],
    }  # fmt: skip
    machine = machine_of(hosts)
    assert (machine.cores, machine.gpus, machine.memory, machine.shares) == (4, 1, 600, False)


def test_a_lost_host_is_listed_until_it_rejoins() -> None:
    gone = node("old", "two", "10.0.0.3", alive=False)
    assert [(host.name, host.alive) for host in read_hosts([HEAD, gone], {})] == [("head", True), ("two", False)]
    assert read_hosts([HEAD, gone], {})[1].as_dict([])["why"] == "it went"
    assert [host.alive for host in read_hosts([*NODES, gone], {})] == [True, True, True]


def test_hosts_with_the_same_name_are_distinguished() -> None:
    same = [node("a", "vm", "10.0.0.1"), node("b", "vm", "10.0.0.2"), node("c", "vm", "10.0.0.2")]
    assert [host.name for host in read_hosts(same, {})] == ["vm (10.0.0.1)", "vm (10.0.0.2)", "vm (10.0.0.2) #2"]


def test_ranks_request_a_core_each_or_a_fraction_where_there_are_more_ranks_than_cores() -> None:
    hosts = read_hosts(NODES, {})
    assert bundle(RankRequest(4), hosts) == {"CPU": 1.0}
    assert bundle(RankRequest(5), hosts) == {"CPU": 0.5}
    assert bundle(RankRequest(12), hosts) == {"CPU": 0.333}
    assert bundle(RankRequest(1, device="cuda"), hosts) == {"CPU": 1.0, "GPU": 1.0}


def test_a_waiting_run_names_the_free_resources_of_each_host() -> None:
    hosts = read_hosts(NODES, {"b": {"CPU": 1.0}, "c": {"CPU": 0.5}})
    words = "1 of 3 ranks have a place; each needs 1 CPU; free: one 1/2 CPU, two 0.5/2 CPU"
    assert missing(RankRequest(3), {"CPU": 1.0}, hosts) == words
    assert missing(RankRequest(1), {"CPU": 1.0}, hosts) == ""
    assert missing(RankRequest(1), {"CPU": 1.0}, hosts[:1]).endswith("each needs 1 CPU; no host has any")


@pytest.mark.parametrize("count", [5, 11])
def test_hosts_are_ordered_so_that_neighbours_are_near(count: int) -> None:
    places = [(7 * host) % count for host in range(count)]  # along a line, listed out of order
    way = shortest_way([[abs(one - other) for other in places] for one in places])
    along = [places[host] for host in way]
    assert along in (sorted(along), sorted(along, reverse=True))


def test_ranks_to_be_spread_are_misplaced_once_another_host_has_room() -> None:
    hosts = [Host(key, key, "", True, False, {"CPU": 2.0}, {"CPU": free}) for key, free in (("a", 0.0), ("b", 2.0))]
    assert not well_spread(RankRequest(2, spread="spread"), {"a"}, hosts)
    assert well_spread(RankRequest(2, spread="spread"), {"a", "b"}, hosts)
    assert well_spread(RankRequest(2, spread="pack"), {"a"}, hosts)
    assert well_spread(RankRequest(2, spread="spread"), {"a"}, hosts[:1])
    assert not well_spread(RankRequest(2, spread="spread"), {"b"}, hosts, emptying=True)


def test_ranks_to_be_spread_share_a_host_only_once_the_places_of_ended_ranks_had_time_to_be_free(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("ray")
    from runner.engines.ray import cluster

    hosts = [Host(key, key, "", True, False, {"CPU": 2.0}, {"CPU": 0.0}) for key in "ab"]
    ended: list[set[str]] = []  # groups of places that were given back, as the hosts that they are on
    given = iter([{"b"}, {"b"}, {"a", "b"}, {"b"}])
    clock_s = [100.0]
    monkeypatch.setattr(cluster, "request_placement", lambda *_: next(given))
    monkeypatch.setattr(cluster, "is_placed", lambda group: True)
    monkeypatch.setattr(cluster, "keys_of_hosts", lambda group: group)
    monkeypatch.setattr(cluster, "silent_hosts", lambda hosts: [])
    monkeypatch.setattr(cluster, "Pool", lambda request, group: SimpleNamespace(end=lambda: ended.append(group)))
    fake = SimpleNamespace(monotonic=lambda: clock_s[0], sleep=lambda s: clock_s.__setitem__(0, clock_s[0] + s))
    monkeypatch.setattr(cluster, "time", fake)
    at = SimpleNamespace(hosts=hosts, ended=clock_s[0], waiting="", changed=lambda: None, _wants=lambda request: True)
    request = RankRequest(2, spread="spread")
    assert cluster.Cluster._places(at, request) == {"CPU": 1.0}  # type: ignore[arg-type]
    assert (at.group, ended) == ({"a", "b"}, [{"b"}, {"b"}])
    at.ended = clock_s[0] - cluster.EMPTY_S  # somebody else has the other host
    assert cluster.Cluster._places(at, request) == {"CPU": 1.0}  # type: ignore[arg-type]
    assert at.group == {"b"}


def test_a_host_that_ray_lists_but_that_refuses_connections_is_silent() -> None:
    with socket.create_server(("127.0.0.1", 0)) as there, socket.create_server(("127.0.0.1", 0)) as closed:
        ports = {"there": there.getsockname()[1], "gone": closed.getsockname()[1]}
        closed.close()
        hosts = [Host(name, name, "127.0.0.1", True, False, {}, {}, port=port) for name, port in ports.items()]
        assert [host.name for host in silent_hosts(hosts)] == ["gone"]


def test_a_created_token_is_readable_by_its_owner_only(tmp_path: Path) -> None:
    path = Path(access.make_token(str(tmp_path)))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert len(path.read_text()) == 64
    access.check_token(str(path))


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660])
def test_a_token_that_others_can_read_is_refused_with_advice(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "token"
    path.write_text("secret")
    path.chmod(mode)
    with pytest.raises(EngineError, match=f"others may read {path} .* chmod 600"):
        access.check_token(str(path))


def test_a_missing_token_is_refused_with_advice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access.os, "environ", {access.TOKEN_FILE: str(tmp_path / "none")})
    with pytest.raises(EngineError, match=r"BUBBLELINE_RAY_TOKEN_FILE: .*none cannot be read .*RAY_AUTH_MODE=disabled"):
        access.grant("10.0.0.1:6379", str(tmp_path))


def test_the_token_of_a_cluster_is_passed_to_ray_as_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = access.make_token(str(tmp_path))
    environ = {access.TOKEN_FILE: path, access.RAYS_TOKEN: "another"}
    monkeypatch.setattr(access.os, "environ", environ)
    access.grant("10.0.0.1:6379", str(tmp_path))
    assert (environ["RAY_AUTH_MODE"], environ["RAY_AUTH_TOKEN_PATH"]) == ("token", path)
    assert access.RAYS_TOKEN not in environ
    assert path.startswith(str(tmp_path))


def test_hosts_get_the_sources_of_ranks_and_nothing_else(tmp_path: Path) -> None:
    code = Path(access.gather_sources(str(tmp_path)))
    found = {path.relative_to(code).parts[0] for path in code.rglob("*")}
    assert found == {"runner", "backend"}
    assert {path.name for path in (code / "backend").iterdir()} == {"__init__.py", "errors.py", "schedule"}
    assert sum(path.stat().st_size for path in code.rglob("*.py")) < 13 * 2**17
    assert not list(code.rglob("*.pyc"))


def test_a_clock_is_read_over_a_connection_that_needs_the_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clocks, "ANSWER_S", 0.2)
    server = ClockServer("127.0.0.1", b"s" * clocks.SECRET_BYTES)
    client = ClockClient("127.0.0.1", server.port, server.secret)
    before = clock.common.ahead
    try:
        found = HostClock(ours=False)
        found.add(client.read(20, 12345))
        assert clock.common.ahead == 12345
        assert abs(found.at(clock.now())) <= found.facts("x")["uncertainty_ns"]  # type: ignore[operator]
    finally:
        clock.common.ahead = before
        client.close()
    stranger = ClockClient("127.0.0.1", server.port, b"x" * clocks.SECRET_BYTES)
    with pytest.raises((OSError, EOFError)):
        stranger.read(1)


def test_of_many_clock_comparisons_the_one_most_precise_now_is_used() -> None:
    host, lead, begin = HostClock(ours=False), 3_600 * SECOND, clock.now()
    for at, way in ((0, 1_000), (SECOND, 400_000)):  # a quick one, then a slow one a second later
        there = begin + at + way + lead
        host.add([Exchange(begin + at, there, there, begin + at + 2 * way)])
    assert abs(host.at(begin + SECOND) - lead) <= 1
    assert 200_000 < host.worst < 210_000  # of 200 ppm over a second, rather than 400 us
    host.restart()
    host.at(begin)
    assert host.worst < 3_000


def test_this_hosts_own_clock_is_known_and_has_no_offset() -> None:
    assert same_clock() == same_clock()
    ours = HostClock(ours=True)
    assert ours.at(0) == 0
    assert ours.facts("here")["drift_ppm"] == 0.0


def test_the_lead_of_a_host_is_shared_by_its_processes(tmp_path: Path) -> None:
    one, other = clock.Common(), clock.Common()
    one.share(str(tmp_path / "lead"))
    other.share(str(tmp_path / "lead"))
    one.ahead = -5
    assert other.ahead == -5
    assert clock.Common().ahead == 0


def test_settings_name_the_engine_and_its_address_to_the_runner() -> None:
    python = sys.executable
    assert Config.from_env({}).runner == (python, "-m", "runner")
    ray = {"BUBBLELINE_ENGINE": "ray"}
    assert Config.from_env(ray).runner == (python, "-m", "runner", "--engine", "ray")
    there = ray | {"BUBBLELINE_RAY_ADDRESS": "10.0.0.1:6379"}
    assert Config.from_env(there).runner[-2:] == ("--address", "10.0.0.1:6379")
    assert Config.from_env(there | {"BUBBLELINE_RUNNER": "a b"}).runner == ("a", "b")
    for wrong in ({"BUBBLELINE_ENGINE": "slurm"}, {"BUBBLELINE_RAY_ADDRESS": "10.0.0.1"}):
        with pytest.raises(ConfigError, match=next(iter(wrong))):
            Config.from_env(wrong)


def test_a_cluster_of_our_own_that_does_not_start_in_rays_time_is_started_again_with_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    node = pytest.importorskip("ray._private.node")
    from runner.engines.ray import cluster

    given: list[int] = []

    def init(**options: object) -> None:
        assert options == {"num_cpus": 2}
        before = time.monotonic()
        given.append(round(before / node.time.monotonic()))
        if len(given) < len(cluster.SLOWER):
            raise Exception("The current node timed out during startup. This could happen because ...")

    monkeypatch.setattr(node, "time", node.time)  # to be put back
    monkeypatch.setattr(node.Node, "start_raylet", node.Node.start_raylet)
    monkeypatch.setattr(cluster.ray, "init", init)
    monkeypatch.setattr(cluster.ray, "shutdown", lambda: None)
    cluster._init({"num_cpus": 2}, {})
    assert given == [*cluster.SLOWER]
    assert node.time.sleep is time.sleep


def test_a_stream_of_errors_without_a_head_is_not_asked_again_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ray")
    from runner.engines.ray import cluster

    slept: list[float] = []
    monkeypatch.setattr(cluster.time, "sleep", slept.append)
    found = iter([(b"key", {"error_message": "lost"}), (None, None)])
    errors = cluster.Errors(SimpleNamespace(poll=lambda: next(found), close=lambda: "closed"))
    assert errors.poll() == (b"key", {"error_message": "lost"})
    assert slept == []
    assert errors.poll() == (None, None)
    assert slept == [cluster.ERRORS_S]
    assert errors.close() == "closed"
