"""Whole runs on a Ray cluster of this host alone: the same schedules, verified; lost ranks; a head that stops.

One cluster for the whole file; the last test ends it.
"""

from __future__ import annotations

import importlib.util
import os
import re
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from backend.schedule.families import registry
from tests.runner.engines.test_local_engine import assert_every_op_reported_once_and_in_order
from tests.support import PATIENCE_S, slowness, within
from tests.support.processes import alive, command_of, gone, stat_of
from tests.support.processes import processes as running
from tests.support.runner.client import LAST, TINY, Event, RunnerProgram

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("ray") is None, reason="Ray is not installed: pip install -r requirements-cluster.txt"
)
RANKS = 2
LONG: dict[str, Any] = {"spec": {"family": "1f1b", "p": RANKS, "m": 200}, "mode": "paced", "unit_ms": 20, "model": TINY}
SHORT: dict[str, Any] = {"spec": {"family": "1f1b", "p": RANKS, "m": 3}, "mode": "paced", "unit_ms": 1, "model": TINY}


@pytest.fixture(scope="module")
def runner() -> Iterator[RunnerProgram]:
    program = RunnerProgram("runner", "--engine", "ray")
    yield program
    program.close()


def processes(runner: RunnerProgram, part: str) -> list[int]:
    """Ids of the processes that the runner started, directly or not, with a word in their command line."""
    return [pid for pid in runner.descendants() if part in command_of(pid)]


def forked(runner: RunnerProgram) -> list[int]:
    """The server of this host that forks ranks, and all that it has forked; it is no descendant of the runner."""
    (raylet,) = processes(runner, "raylet/raylet")
    found = []
    for pid in (each.pid for each in running() if "ray.fork_server" in command_of(each.pid)):
        with suppress(OSError):
            if f"RAY_RAYLET_PID={raylet}" in Path(f"/proc/{pid}/environ").read_text().split("\0"):
                found.append(pid)
    return sorted(found)


def server(runner: RunnerProgram) -> int:
    """The server that forks ranks, which is the only one."""
    family = forked(runner)
    (first,) = [pid for pid in family if stat_of(pid).parent not in family]
    return first


def actor(runner: RunnerProgram, board: str) -> int:
    """The actor of the rank with a board, which holds the file of its folder's owner open."""
    owner = str(Path(board).parents[1] / "owner")
    for pid in processes(runner, "ray::RankActor"):
        with suppress(OSError):
            if any(os.readlink(handle) == owner for handle in Path(f"/proc/{pid}/fd").iterdir()):
                return pid
    raise AssertionError(f"no actor owns {owner}")


def finished(events: list[Event]) -> Event:
    last = events[-1]
    assert last["event"] == "finished", str(last.get("failure", last))
    assert last["verified"]
    return last


def failed(runner: RunnerProgram, victim: int, number: signal.Signals = signal.SIGKILL) -> str:
    """The failure message of a long run when one of its processes gets a signal."""
    with within(8):
        os.kill(victim, number)
        last = runner.until(*LAST)[-1]
    assert last["event"] == "failed", last
    return last["failure"]["message"]


def start_long(runner: RunnerProgram) -> list[int]:
    """Start a long run and wait until it is under way; returns the processes of its ranks, in no order."""
    runner.start(**LONG)
    runner.until("op_batch")
    return list(boards(runner))


def boards(runner: RunnerProgram) -> dict[int, str]:
    """The board of each rank's process; a process unused by a smaller run keeps its old one."""
    maps = {pid: Path(f"/proc/{pid}/maps").read_text() for pid in forked(runner) if alive(pid)}
    return {pid: found[1] for pid, text in maps.items() if (found := re.search(r" (/\S+/board)", text))}


def test_the_cluster_describes_itself(runner: RunnerProgram) -> None:
    ready = runner.ready
    assert ready["engine"] == "ray"
    (host,) = ready["cluster"]["hosts"]
    assert (ready["cluster"]["state"], host["alive"], host["head"]) == ("up", True, True)
    assert host["cpus"]["total"] == max(2, len(os.sched_getaffinity(0)))
    assert ready["devices"][0]["host"] == host["name"]
    assert processes(runner, "gcs_server")
    assert processes(runner, "dashboard/dashboard.py") == processes(runner, "--disable-frontend")


@pytest.mark.parametrize(
    "spec",
    [
        {"family": "1f1b"},
        {"family": "zb-h1"},
        {"family": "dualpipe", "p": 2, "m": 4},
        {"family": "1f1b", "vocabulary": "parallel-1"},
        {"family": "gis", "v": 2, "offload": "full"},
    ],
    ids=str,
)
def test_schedules_run_with_the_gradients_of_a_single_process(runner: RunnerProgram, spec: dict[str, object]) -> None:
    whole = {"p": RANKS, "m": 6} | spec
    events = runner.run(spec=whole, mode="paced", unit_ms=1, model=TINY)
    last = finished(events)
    name = runner.ready["cluster"]["hosts"][0]["name"]
    assert last["hosts"] == [name] * int(str(whole["p"]))
    assert [clock["host"] for clock in last["clocks"]] == [name]
    assert last["clock_ns"] < 1_000_000 * slowness()
    assert {(link["from"], link["to"]) for link in last["links"]} >= {(0, 1)}
    assert all(0 < link["latency_ns"] < 50_000_000 * slowness() for link in last["links"])
    running = next(event for event in events if event["event"] == "running")
    assert running["hosts"] == last["hosts"]
    only = [event for event in events if event["event"] != "cluster"]
    assert_every_op_reported_once_and_in_order(registry.order(registry.read(whole)), only)


def test_a_cluster_run_of_several_steps_trains(runner: RunnerProgram) -> None:
    last = finished(runner.run(**SHORT, steps=3))
    assert len(last["losses"]) == 3
    assert finished(runner.run(spec=SHORT["spec"], mode="free", model=TINY))["mode"] == "free"


def test_the_next_run_is_in_the_same_processes(runner: RunnerProgram) -> None:
    finished(runner.run(**SHORT))
    before = forked(runner)
    with within(3):
        finished(runner.run(**SHORT))
    assert forked(runner) == before
    assert len(before) == 2 + RANKS, "the server that loads torch, the store, the ranks"


def test_hops_are_the_measured_ones_on_request(runner: RunnerProgram) -> None:
    events = runner.run(**SHORT, hops="measured", arrange="latency")
    last = finished(events)
    longest = max(link["latency_ns"] for link in last["links"])
    assert last["hop_ms"] == pytest.approx(longest / 1e6)
    spec = registry.read(dict(SHORT["spec"]))
    assert last["predicted"]["makespan"] > 2 * (RANKS + 2)
    assert spec.costs.comm == 0
    refused = runner.run(spec=SHORT["spec"], mode="free", hops="measured")[-1]
    assert (refused["event"], refused["error"]["field"]) == ("error", "hops")


def test_gpus_that_the_cluster_lacks_are_refused(runner: RunnerProgram) -> None:
    last = runner.run(**SHORT, device="cuda")[-1]
    assert (last["event"], last["error"]["field"], last["error"]["nearest"]) == ("error", "device", "cpu")


def test_a_cancelled_cluster_run_ends_at_once_and_the_next_one_works(runner: RunnerProgram) -> None:
    start_long(runner)
    with within(1):
        runner.send(cmd="cancel", id=f"run-{runner.number}")
        assert runner.until(*LAST)[-1]["event"] == "cancelled"
    finished(runner.run(**SHORT))


def test_a_process_that_is_killed_or_stopped_is_named_with_its_host_and_replaced(runner: RunnerProgram) -> None:
    name = runner.ready["cluster"]["hosts"][0]["name"]
    victim = start_long(runner)[1]
    message = failed(runner, victim)
    assert f"'s process {victim} on {name} ended (SIGKILL) in op" in message
    finished(runner.run(**SHORT))
    victim = start_long(runner)[1]
    assert f"(its process {victim} on {name} is stopped)" in failed(runner, victim, signal.SIGSTOP)
    assert gone([victim])
    finished(runner.run(**SHORT))


def test_a_run_continues_when_a_rank_that_it_does_not_use_is_lost(runner: RunnerProgram) -> None:
    finished(runner.run(**SHORT))
    before = boards(runner)
    runner.start(spec=SHORT["spec"] | {"p": RANKS - 1, "m": 12}, mode="paced", unit_ms=50, model=TINY)
    runner.until("op_batch")
    (spare,) = [pid for pid, board in boards(runner).items() if before[pid] == board]
    os.kill(actor(runner, before[spare]), signal.SIGKILL)
    finished(runner.until(*LAST))
    finished(runner.run(**SHORT))


def test_an_actor_that_is_killed_is_named_with_its_host_and_replaced(runner: RunnerProgram) -> None:
    start_long(runner)
    board = next(iter(boards(runner).values()))
    message = failed(runner, actor(runner, board))
    assert f" on {runner.ready['cluster']['hosts'][0]['name']} ended in op" in message
    finished(runner.run(**SHORT))


def test_a_killed_server_of_ranks_ends_the_run_naming_the_host_and_the_next_run_starts_another(
    runner: RunnerProgram,
) -> None:
    start_long(runner)
    before, family = server(runner), forked(runner)
    assert f" on {runner.ready['cluster']['hosts'][0]['name']} ended" in failed(runner, before)
    assert gone(family)
    finished(runner.run(**SHORT))
    assert server(runner) != before


def test_a_head_that_stops_ends_the_run_the_runner_and_every_process_it_started(runner: RunnerProgram) -> None:
    start_long(runner)
    family = runner.descendants() + forked(runner)
    (head,) = processes(runner, "gcs_server")
    address = runner.ready["cluster"]["address"]
    with within(8):
        os.kill(head, signal.SIGKILL)
        events = runner.until(*LAST)
    message = f"the head of the Ray cluster at {address} has not answered for 5 s"
    assert (events[-1]["event"], events[-1]["failure"]["message"]) == ("failed", message)
    assert events[-1]["failure"]["kind"] == "engine"
    lost = [event for event in events if event["event"] == "cluster"][-1]
    assert (lost["state"], lost["why"]["message"]) == ("lost", message)
    assert runner.process.wait(PATIENCE_S) == 3
    assert gone(family), [pid for pid in family if alive(pid)]
