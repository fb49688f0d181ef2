"""The cluster engine across three hosts: real schedules with verified gradients, clocks that differ by hours, code
distributed by the cluster; then hosts that die, links that are cut, and a head that is restarted.

The hosts are namespaces on this machine (tests/support/cluster/hosts.py), one set for the whole file. The tests run
in order; those that break something come last.
"""

from __future__ import annotations

import importlib.util
import secrets
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support import PATIENCE_S, slowness, within
from tests.support.cluster.client import Runners, actors, await_hosts, tenant, together, under_way, verified
from tests.support.cluster.hosts import AHEAD_S, NAMES, Hosts, can_make_hosts
from tests.support.runner.client import LAST, TINY, Event, RunnerProgram

MISSING = (
    "Ray is not installed: pip install -r requirements-cluster.txt"
    if importlib.util.find_spec("ray") is None
    else can_make_hosts()
)
pytestmark = pytest.mark.skipif(MISSING is not None, reason=f"{MISSING}")

ENDS_WITHIN_S = 8.0  # a run from the failure of a host to the error that names it
SECOND = 1_000_000_000
FAR_S = 0.01  # one way to a host that is far away
THREE = {"spec": {"family": "1f1b", "p": 3, "m": 6}, "model": TINY, "spread": "spread"}
TWO = {**THREE, "spec": {"family": "1f1b", "p": 2, "m": 6}}
LONG = {"mode": "paced", "unit_ms": 100}


@pytest.fixture(scope="module")
def hosts() -> Iterator[Hosts]:
    with Hosts() as made:
        made.give_token(secrets.token_hex(32))
        together(*(lambda name=name: made.ray(name) for name in NAMES))  # type: ignore[misc]
        yield made


@pytest.fixture(scope="module")
def runners(hosts: Hosts) -> Iterator[Runners]:
    made = Runners(hosts)
    yield made
    made.end()


@pytest.fixture
def runner(runners: Runners) -> RunnerProgram:
    return runners()


@pytest.fixture(scope="module")
def intruder(hosts: Hosts) -> Iterator[subprocess.Popen[str]]:
    """A process on a host of the cluster with another token: Ray tries for 20 s, beside the other tests."""
    hosts.check("head", "sh", "-c", "umask 077; echo ffffffffffffffffffffffffffffffff > /tmp/wrong")
    before = hosts.enter("head", {"RAY_AUTH_TOKEN_PATH": "/tmp/wrong"})
    program = ("-c", "import ray, sys; ray.init(address=sys.argv[1])", hosts.address)
    process = subprocess.Popen(
        [*before, sys.executable, *program], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    yield process
    process.kill()
    process.communicate()


@pytest.mark.usefixtures("intruder")
def test_the_runner_names_three_hosts_and_their_free_resources(runner: RunnerProgram) -> None:
    assert runner.ready["engine"] == "ray"
    cluster = runner.ready["cluster"]
    assert cluster["state"] == "up"
    assert {host["name"] for host in cluster["hosts"] if host["alive"]} == set(NAMES)
    assert [host["name"] for host in cluster["hosts"] if host["head"]] == ["head"]
    assert {host["address"] for host in cluster["hosts"]} == {"10.77.0.1", "10.77.0.2", "10.77.0.3"}
    assert all(host["cpus"]["total"] == 2 for host in cluster["hosts"])


@pytest.mark.parametrize(
    "spec",
    [
        {"family": "1f1b", "p": 3, "m": 6},
        {"family": "zb-h1", "p": 3, "m": 6},
        {"family": "interleaved", "p": 3, "m": 6, "v": 2},
        {"family": "v-half", "p": 3, "m": 6},
        {"family": "1f1b", "p": 3, "m": 6, "vocabulary": "parallel-1"},
    ],
    ids=lambda spec: "-".join(str(part) for part in spec.values()),
)
def test_a_schedule_across_three_hosts_has_the_gradients_of_a_single_process(
    runner: RunnerProgram, spec: dict[str, Any]
) -> None:
    last = verified(runner.run(spec=spec, model=TINY, mode="paced", unit_ms=2, spread="spread"))
    assert set(last["hosts"]) == set(NAMES)


def test_clocks_hours_apart_are_aligned_within_the_stated_uncertainty(runner: RunnerProgram) -> None:
    events = runner.run(**THREE, mode="paced", unit_ms=20)
    last = verified(events)
    clocks = {clock["host"]: clock for clock in last["clocks"]}
    assert set(clocks) == set(NAMES)
    for name, clock in clocks.items():
        ahead = AHEAD_S[name] * SECOND
        assert abs(abs(clock["offset_ns"]) - ahead) <= clock["uncertainty_ns"], clock
        assert clock["uncertainty_ns"] < 20_000_000 * slowness()
    assert last["clock_ns"] >= max(clock["uncertainty_ns"] for clock in last["clocks"])
    rows = [row for event in events if event["event"] == "op_batch" for row in event["ops"]]
    begin, end = min(row[2] for row in rows), max(row[4] for row in rows)
    assert 0 < end - begin < 20 * SECOND


def test_neighbours_report_the_latency_of_their_link(runner: RunnerProgram) -> None:
    last = verified(runner.run(**THREE, mode="paced", unit_ms=2))
    assert [(link["from"], link["to"]) for link in last["links"]] == [(0, 1), (1, 2)]
    for link in last["links"]:
        assert link["hosts"] == [last["hosts"][link["from"]], last["hosts"][link["to"]]]
        assert 0 < link["latency_ns"] < 100_000_000 * slowness()
        assert link["uncertainty_ns"] >= 0


@pytest.mark.skipif(not Path("/dev/net/tun").exists(), reason="no /dev/net/tun here, which long cables are made of")
def test_a_distant_host_is_placed_last_on_request_and_the_plan_uses_its_latency(
    hosts: Hosts, runner: RunnerProgram
) -> None:
    run = {**THREE, "mode": "paced", "unit_ms": 20}
    hosts.lengthen("worker-1", FAR_S)
    try:
        given = verified(runner.run(**run))
        near = verified(runner.run(**run, arrange="latency", hops="measured"))
    finally:
        hosts.shorten("worker-1")
    assert given["hosts"] == ["head", "worker-1", "worker-2"]
    assert all(link["latency_ns"] >= FAR_S * SECOND for link in given["links"])
    assert near["hosts"].index("worker-1") != 1
    within, across = sorted(link["latency_ns"] for link in near["links"])
    assert within < FAR_S * SECOND / 2 < FAR_S * SECOND <= across
    assert near["hop_ms"] == pytest.approx(across / 1e6)
    hops = 4  # that a step of 1F1B on three ranks waits for: two on its way down, two on its way back
    assert near["predicted"]["makespan"] - given["predicted"]["makespan"] >= hops * near["hop_ms"] / 20 * 0.99


def test_the_code_reaches_the_other_hosts_by_the_cluster_alone(hosts: Hosts, runner: RunnerProgram) -> None:
    verified(runner.run(**THREE, mode="paced", unit_ms=2))
    for name in NAMES[1:]:
        assert hosts.check(name, "ls", "runner", "backend").split() == ["backend:", "runner:"]
        found = hosts.check(name, "find", "/tmp", "-path", "*/runner/model/stage.py").split()
        assert found
        assert all(path.startswith("/tmp/ray/") for path in found)


def test_a_second_run_finds_its_actors_warm(hosts: Hosts, runner: RunnerProgram) -> None:
    verified(runner.run(**THREE, mode="paced", unit_ms=2))
    before = actors(hosts)
    with within(3):
        runner.start(**THREE, mode="paced", unit_ms=2)
        runner.until("running")
    verified(runner.until(*LAST))
    assert actors(hosts) == before


def test_a_run_survives_a_short_loss_of_a_link(hosts: Hosts, runner: RunnerProgram) -> None:
    under_way(runner, **THREE, **LONG)
    hosts.cut("worker-1")
    runner.await_silence(0.5)  # every rank waits for one behind the cut
    hosts.mend("worker-1")
    verified(runner.until(*LAST))


def failing(runner: RunnerProgram, fail: Callable[[], object], host: str, **run: Any) -> list[Event]:
    """The events from a host's failure to the end of its run, which comes in time and names the host."""
    running = under_way(runner, **(run or THREE), **LONG)
    assert host in running["hosts"]
    with within(ENDS_WITHIN_S):
        fail()
        events = runner.until(*LAST)
    assert events[-1]["event"] == "failed", events[-1]
    assert host in events[-1]["failure"]["message"]
    return events


def test_a_cut_link_ends_the_run_naming_the_host_behind_it_and_the_next_run_uses_the_other_hosts(
    hosts: Hosts, runner: RunnerProgram
) -> None:
    try:
        failing(runner, lambda: hosts.cut("worker-2"), "worker-2")
        last = verified(runner.run(**TWO, mode="paced", unit_ms=2))
    finally:
        hosts.mend("worker-2")
    assert set(last["hosts"]) == {"head", "worker-1"}


def test_a_host_that_dies_ends_the_run_with_its_name_and_one_that_has_rejoined_is_used_again(
    hosts: Hosts, runner: RunnerProgram
) -> None:
    hosts.stop_ray("worker-2")  # as a service manager does; it ends by itself once it hears that it was given up
    hosts.ray("worker-2")
    await_hosts(runner, *NAMES)
    failing(runner, lambda: hosts.kill("worker-1"), "worker-1", **TWO)
    last = verified(runner.run(**TWO, mode="paced", unit_ms=2))
    assert set(last["hosts"]) == {"head", "worker-2"}


def test_nobody_joins_without_the_token(intruder: subprocess.Popen[str]) -> None:
    _, error = intruder.communicate(timeout=PATIENCE_S)
    assert intruder.returncode != 0
    assert "token" in error.lower()


def test_a_restarted_head_ends_the_runner_with_a_message_and_a_new_runner_connects(
    hosts: Hosts, runners: Runners
) -> None:
    runner = runners()
    events = failing(runner, lambda: hosts.stop_ray("head"), "head", **TWO)
    while not (lost := [event for event in events if event.get("state") == "lost"]):  # before the run's end, or after
        events = runner.until("cluster")
    assert f"head of the Ray cluster at {hosts.address}" in lost[0]["why"]["message"]
    assert runner.process.wait(PATIENCE_S) != 0
    runners.end()
    hosts.stop_ray("worker-2")  # a worker of the old head cannot join the new one
    hosts.ray("head")
    again = runners()
    assert {host["name"] for host in again.ready["cluster"]["hosts"] if host["alive"]} == {"head"}


def test_a_run_without_enough_resources_names_the_missing_ones(hosts: Hosts, runner: RunnerProgram) -> None:
    with tenant(hosts):
        run = runner.start(**TWO)
        waiting = ""
        while not waiting.startswith("1 of 2 ranks have a place"):
            event = runner.until("waiting", *LAST)[-1]
            assert event["event"] == "waiting", event
            waiting = event["message"]["message"]
        assert "each needs 1 CPU; free: head " in waiting
        runner.send(cmd="cancel", id=run)
        assert runner.until(*LAST)[-1]["event"] == "cancelled"


def test_a_run_on_a_restarted_cluster_has_the_gradients_of_a_single_process(runner: RunnerProgram) -> None:
    last = verified(runner.run(**TWO, mode="paced", unit_ms=2))
    assert last["hosts"] == ["head", "head"]
