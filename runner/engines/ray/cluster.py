"""The cluster as a thread sees it that does nothing else: it joins or starts it, asks it every so often what it has,
and gets ranks placed. Whatever takes long in Ray happens here, so that the main loop never waits for it.

Knows Ray; not what ranks do. Tells what happens by an inbox that wakes the main loop.
"""

from __future__ import annotations

import logging
import os
import queue
import signal
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import ray
from ray._private import state as ray_state

from runner import devices
from runner.engines.base import EngineError, RankRequest
from runner.engines.ray.hosts import Host, bundle, missing, read_hosts
from runner.engines.ray.pool import Pool, PoolError, is_placed, request_placement, said
from runner.engines.ray.reachability import silent_hosts
from runner.telemetry import clock

log = logging.getLogger("runner")
LOOK_S = 0.5  # between two looks at the hosts
CALL_S = 1.0  # between two calls at the hosts, while places are sought
KNOCK_S, JOIN_S = 20.0, 30.0  # for an answer at the cluster's address, and to join it
CLOSE_S = 1.2  # to leave; what is left of our own cluster then is ended by force
TRIES = 3  # to have ranks started on what is there
STORE_BYTES = 256 * 2**20  # of our own: results on their way to rank 0, which lie on a disk where there are more
KEEP_S = 900.0  # that ranks nobody uses keep their places: longer than a run may take
SYSTEM = {  # of a cluster of our own: how soon a host that is gone counts as gone
    "health_check_initial_delay_ms": 0,
    "health_check_period_ms": 1000,
    "health_check_timeout_ms": 1000,
    "health_check_failure_threshold": 3,
}


def join(address: str, scratch: str, code: str) -> tuple[str, list[Host]]:
    """Be part of the cluster at an address, or of a new one on this host; its address and hosts. Raises EngineError.
    Runs in a thread that stays: the processes of a cluster of our own end with the thread that started them."""
    if address:
        _knock(address)
    found: queue.SimpleQueue[list[Host] | BaseException] = queue.SimpleQueue()

    def work() -> None:
        quiet = {"log_to_driver": False, "logging_level": logging.ERROR, "runtime_env": {"working_dir": code}}
        own: dict[str, Any] = {"num_cpus": devices.cores(), "include_dashboard": False}
        own |= {"_temp_dir": f"{scratch}/ray", "_system_config": SYSTEM}
        own |= {"object_store_memory": STORE_BYTES}
        try:
            ray.init(**({"address": address} if address else own), **quiet)
            found.put(list_hosts())
            threading.Event().wait()
        except BaseException as error:  # SystemExit too, which Ray raises where a process of its does not start
            found.put(error)

    threading.Thread(target=work, name="join", daemon=True).start()
    where = f"the Ray cluster at {address}" if address else "a Ray cluster on this host"
    try:
        answer = found.get(timeout=JOIN_S)
    except queue.Empty:
        raise EngineError(f"{where} did not let this host in within {JOIN_S:g} s") from None
    if isinstance(answer, BaseException):
        hint = f"; is this host one of it? ray start --address={address} --num-cpus=0" if address else ""
        raise EngineError(f"{where} cannot be used: {said(answer)}{hint}")
    return str(ray.get_runtime_context().gcs_address), answer


def list_hosts() -> list[Host]:
    """The hosts as Ray has them now; waits for the head."""
    return read_hosts(ray.nodes(), ray_state.available_resources_per_node())


def _knock(address: str) -> None:
    """Wait until something listens there, but not long."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit():
        raise EngineError(f"the address of a Ray cluster is HOST:PORT such as 10.0.0.1:6379, not {address!r}")
    until, why = time.monotonic() + KNOCK_S, "no answer"
    while time.monotonic() < until:
        try:
            socket.create_connection((host.strip("[]"), int(port)), 2.0).close()
            return
        except OSError as error:
            why = str(error.strerror or error)
            time.sleep(0.5)
    raise EngineError(f"no Ray cluster answers at {address} ({why}); is its head running?")


class Cluster(threading.Thread):
    """Looks after placements; `changed` is called, on this thread, whenever there is something to see."""

    def __init__(self, hosts: list[Host], changed: Callable[[], None]) -> None:
        super().__init__(name="cluster", daemon=True)
        self.changed = changed
        self.condition = threading.Condition()
        self.wanted: RankRequest | None = None
        self.pool: Pool | None = None
        self.group: Any = None  # of places, the last that was asked for
        self.dropped: list[Any] = []
        self.hosts = hosts
        self.waiting, self.refused = "", ""
        self.looked = self.active = clock.now()  # when hosts were last seen, and ranks last used
        self.next_look = 0.0
        self.home = str(ray.get_runtime_context().get_node_id())
        self.closing = False

    @property
    def severed(self) -> bool:
        """Whether this host is no longer one of the cluster, which may be another one by now at the same address."""
        return not any(host.alive and host.key == self.home for host in self.hosts)

    def want(self, ask: RankRequest | None) -> None:
        """Have other ranks, or none; those that are there are kept if they are what is asked for."""
        with self.condition:
            pool, self.wanted, self.refused = self.pool, ask, ""
            if pool is not None and (ask is None or not pool.suits(ask, self.hosts)):
                self.pool = None
                pool.broken = True
                self.dropped.append(pool.end)
            self.waiting = "" if ask is None or self.pool is not None else self.waiting
            self.active = clock.now()
            self.condition.notify()

    def run(self) -> None:
        """For as long as the program lives."""
        while not self.closing:
            try:
                self.look()
                ask = self.wanted
                pool = self.pool
                if ask is not None and pool is None and not self.refused:
                    self._place(ask)
                elif ask is not None and pool is not None and pool.ask != ask:
                    self._arrange(pool, ask)
                elif self.pool is not None and clock.now() - self.active > KEEP_S * 1e9:
                    log.info("ranks that nobody used for %g s give their places back", KEEP_S)
                    self.want(None)
            except Exception as error:  # of Ray: the head may be gone, which `looked` tells in time
                log.warning("the cluster: %s", said(error))
                time.sleep(LOOK_S)
            with self.condition:
                self.condition.wait(LOOK_S / 2)

    def look(self) -> None:
        """Let go of what was dropped, and see what hosts there are, if it is time to."""
        while self.dropped:
            threading.Thread(target=self.dropped.pop(0), name="end", daemon=True).start()
        if time.monotonic() < self.next_look:
            return
        self.next_look = time.monotonic() + LOOK_S
        hosts = list_hosts()
        self.looked = clock.now()
        if hosts != self.hosts:
            self.hosts = hosts
            self.changed()

    def _place(self, ask: RankRequest) -> None:
        """Get places, then ranks in them."""
        for attempt in range(TRIES):
            each = self._places(ask)
            if each is None:
                return
            pool = Pool(ask, self.group)
            try:
                pool.start(lambda: self.hosts, lambda: self._wants(ask), each)
            except Exception as error:
                pool.end()
                if not self._wants(ask):
                    return
                why = str(error) if isinstance(error, PoolError) else said(error)
                log.warning("attempt %s to start ranks: %s", attempt + 1, why)
                time.sleep(LOOK_S)
                self.next_look = 0.0
                self.look()
                continue
            with self.condition:
                if self.wanted == ask:
                    self.pool, self.waiting = pool, ""
                else:
                    self.dropped.append(pool.end)
            self.changed()
            return
        self.refused = why
        self.changed()

    def _arrange(self, pool: Pool, ask: RankRequest) -> None:
        """The same ranks in another order."""
        try:
            pool.arrange(ask, self.hosts, lambda: self._wants(ask))
        except PoolError as error:
            log.warning("ranks could not be arranged anew: %s", error)
            pool.broken = True
            self.want(ask)
        self.changed()

    def _wants(self, ask: RankRequest) -> bool:
        self.look()
        return self.wanted == ask and not self.closing

    def _places(self, ask: RankRequest) -> dict[str, float] | None:
        """What each rank gets, once all have a place; None if nobody wants them any more."""
        asked: tuple[dict[str, float], list[str]] | None = None
        next_call = 0.0
        while True:
            if time.monotonic() > next_call:
                silent = silent_hosts(self.hosts)
                next_call = time.monotonic() + CALL_S
            there = [host for host in self.hosts if host.key not in {one.key for one in silent}]
            wish = bundle(ask, there), [host.key for host in silent]
            if wish != asked:  # at first, and when the cluster has grown or shrunk
                if asked is not None:
                    Pool(ask, self.group).end()
                asked = wish
                self.group = request_placement(ask, *wish)
            if is_placed(self.group):
                self.waiting = ""
                return wish[0]
            words = missing(ask, wish[0], there)
            if words != self.waiting:
                self.waiting = words
                self.changed()
            time.sleep(0.02)
            if not self._wants(ask):
                self.dropped.append(Pool(ask, self.group).end)
                return None

    def close(self, ours: bool) -> None:
        """Leave the cluster, and end it if it is our own. Ray may take its time, but not ours."""
        self.closing = True
        pool = self.pool

        def leave() -> None:
            with suppress(Exception):
                if pool is not None:
                    pool.end()
                ray.shutdown()

        family = descendants() if ours else []
        leaving = threading.Thread(target=leave, name="leave", daemon=True)
        leaving.start()
        leaving.join(CLOSE_S)
        for pid in family:
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)


def descendants() -> list[int]:
    """Every process that this one started, directly or not."""
    parents: dict[int, int] = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError), open(f"/proc/{name}/stat") as file:
            parents[int(name)] = int(file.read().rsplit(")", 1)[1].split()[1])
    family = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in family} - family:
        family |= more
    return sorted(family - {os.getpid()})
