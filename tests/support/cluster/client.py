"""A client of a runner and its cluster for tests on several hosts: whole runs, runs under way, the hosts."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from tests.support import PATIENCE_S
from tests.support.cluster.hosts import NAMES, Hosts
from tests.support.runner.client import LAST, Event, RunnerProgram


class Runners:
    """The runner on the head, started again after it has ended, as the web server does it."""

    def __init__(self, hosts: Hosts) -> None:
        self.hosts = hosts
        self.program: RunnerProgram | None = None

    def __call__(self) -> RunnerProgram:
        if self.program is None:
            before = self.hosts.enter("head")
            self.program = RunnerProgram("runner", "--engine", "ray", "--address", self.hosts.address, before=before)
        return self.program

    def end(self) -> None:
        if self.program is not None:
            self.program.close()
            self.program = None


def together(*each: Callable[[], object]) -> None:
    """Do things at the same time."""
    with ThreadPoolExecutor(len(each)) as threads:
        list(threads.map(lambda one: one(), each))


def await_hosts(runner: RunnerProgram, *names: str, within: float = PATIENCE_S) -> Event:
    """Wait for the first state of the cluster with exactly these hosts alive."""
    until = time.monotonic() + within
    while True:
        event = runner.until("cluster", timeout=max(0.1, until - time.monotonic()))[-1]
        if sorted(host["name"] for host in event["hosts"] if host["alive"]) == sorted(names):
            return event


def verified(events: list[Event]) -> Event:
    last = events[-1]
    assert (last["event"], last.get("verified")) == ("finished", True), last
    assert last["max_grad_error"] < 1e-5
    return last


def under_way(runner: RunnerProgram, **run: Any) -> Event:
    """Start a long run and wait until its ops come in; its `running` event."""
    runner.start(**run)
    events = runner.until("op_batch", *LAST)
    assert events[-1]["event"] == "op_batch", events[-1]
    return next(event for event in events if event["event"] == "running")


def actors(hosts: Hosts) -> dict[str, list[str]]:
    """Process ids of the actors on the hosts."""
    return {name: hosts.check(name, "sh", "-c", "pgrep -f '^ray::[^I]' || true").split() for name in NAMES[1:]}


@contextmanager
def tenant(hosts: Hosts) -> Iterator[None]:
    """Another user of the cluster that has taken one CPU."""
    program = (
        "import ray, sys; ray.init(address=sys.argv[1], log_to_driver=False); "
        "taken = ray.util.placement_group([{'CPU': 1}]).wait(30); print(taken, flush=True); sys.stdin.read()"
    )
    command = [*hosts.enter("head"), sys.executable, "-c", program, hosts.address]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "True\n"
        yield
