"""The thread that joins or starts a Ray cluster, polls its hosts, and places ranks.

Every slow call to Ray is made here, so that the main loop never waits for one. Wakes the main loop on changes.
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
from ray._private import node as ray_node
from ray._private import state as ray_state
from ray._private import worker as ray_worker

from backend.errors import Message, message
from runner import devices
from runner.engines.base import EngineError, RankRequest
from runner.engines.ray.hosts import Host, bundle, missing, read_hosts, silent_hosts, well_spread
from runner.engines.ray.pool import Pool, PoolError, is_placed, keys_of_hosts, last_line, request_placement
from runner.telemetry import clock

log = logging.getLogger("runner")
LOOK_S = 0.5  # between two polls of the hosts
EMPTY_S = 10.0  # until the places of ended ranks are free again, as far as Ray knows
ERRORS_S = 0.1  # between two attempts to hear of errors, where the head is gone
PING_S = 1.0  # between two pings of the hosts, while places are requested
KNOCK_S, JOIN_S = 20.0, 120.0  # for an answer at the cluster's address, and to join it, also on a busy host
START_S = 300.0  # to start one of our own
SLOWER = (3, 6)  # how many times as long Ray gives each start of it, one after the other
UNUSED = -1  # in place of the port of a service that does not run
CLOSE_S = 1.2  # to leave; the rest of our own cluster is then ended by force
TRIES = 3  # to start ranks on the hosts that there are
STORE_BYTES = 256 * 2**20  # of our own: results on their way to rank 0, which go to a disk where there are more
KEEP_S = 900.0  # for which unused ranks keep their places: longer than a run may take
SYSTEM = {  # of a cluster of our own: how soon a dead host counts as dead, and no workers that no rank uses
    "health_check_initial_delay_ms": 0,
    "health_check_period_ms": 1000,
    "health_check_timeout_ms": 1000,
    "health_check_failure_threshold": 3,
    "prestart_worker_first_driver": False,
    "agent_register_timeout_ms": 240_000,  # on a busy machine, as the next
    "worker_register_timeout_seconds": 600,
}
_RAYS_START = ray_node.Node.start_raylet


class _RaysClock:
    """The clock of Ray's own waits, on which time passes more slowly: it gives the start of a node 30 s, a number in
    its code that nothing sets, and on a busy machine that is too little.
    """

    def __init__(self, slower: int) -> None:
        self.slower = slower

    def __getattr__(self, name: str) -> Any:
        return getattr(time, name)

    def monotonic(self) -> float:
        return time.monotonic() / self.slower


class Errors:
    """Ray's stream of errors, of which Ray's thread asks for the next one: without a head there is none, at once and
    again, which would keep a core busy.
    """

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def poll(self) -> Any:
        found = self.inner.poll()
        if found[1] is None:
            time.sleep(ERRORS_S)
        return found


def join(address: str, scratch: str, code: str) -> tuple[str, list[Host]]:
    """Join the cluster at an address, or start one on this host; return its address and hosts. Raises EngineError.

    Must run in a thread that stays: the processes of a cluster of our own end with the thread that started them.
    """
    if address:
        _knock(address)
    found: queue.SimpleQueue[list[Host] | BaseException] = queue.SimpleQueue()

    def work() -> None:
        quiet = {"log_to_driver": False, "logging_level": logging.ERROR, "runtime_env": {"working_dir": code}}
        own: dict[str, Any] = {"num_cpus": max(2, devices.cores()), "include_dashboard": False}
        own |= {"_temp_dir": f"{scratch}/ray", "_system_config": SYSTEM}
        own |= {"object_store_memory": STORE_BYTES}
        try:
            _init(own if not address else {"address": address}, quiet)
            worker: Any = ray_worker.global_worker
            worker.gcs_error_subscriber = Errors(worker.gcs_error_subscriber)
            found.put(list_hosts())
            threading.Event().wait()
        except BaseException as error:  # SystemExit too, which Ray raises where a process of its does not start
            found.put(error)

    threading.Thread(target=work, name="join", daemon=True).start()
    if address:
        where = message("runner.cluster_at", "the Ray cluster at {address}", address=address)
    else:
        where = message("runner.cluster_here", "a Ray cluster on this host")
    most = JOIN_S if address else START_S
    try:
        answer = found.get(timeout=most)
    except queue.Empty:
        reason = message(
            "runner.cluster_slow",
            "{cluster} did not let this host in within {seconds} s",
            cluster=where,
            seconds=f"{most:g}",
        )
        raise EngineError(reason) from None
    if isinstance(answer, BaseException):
        if address:
            reason = message(
                "runner.cluster_not_joined",
                "{cluster} cannot be used: {error}; is this host one of it? ray start --address={address} --num-cpus=0",
                cluster=where,
                error=last_line(answer),
                address=address,
            )
        else:
            reason = message(
                "runner.cluster_unusable", "{cluster} cannot be used: {error}", cluster=where, error=last_line(answer)
            )
        raise EngineError(reason)
    return str(ray.get_runtime_context().gcs_address), answer


def _init(where: dict[str, Any], quiet: dict[str, Any]) -> None:
    """Initialize Ray, again where it does not come up in the time that it has."""
    for tried, slower in enumerate(SLOWER, 1):
        try:
            ray_node.time = _RaysClock(slower)
            ray_node.Node.start_raylet = _start_raylet
            ray.init(**where, **quiet)
            return
        except Exception as error:
            if tried == len(SLOWER) or "timed out during startup" not in str(error):
                raise
            ray.shutdown()


def _start_raylet(node: Any, *sizes: Any) -> None:
    """Start the raylet of a node. It ends where its agents have not written within 15 s which ports they took, however
    busy the machine is (ray-project/ray#65983), so this is written for them.
    """
    with socket.socket() as free:
        free.bind(("", 0))
        port = free.getsockname()[1]
    node._ray_params.runtime_env_agent_port = port
    inner: Any = ray._raylet
    ports = {inner.RUNTIME_ENV_AGENT_PORT_NAME: port, inner.DASHBOARD_AGENT_LISTEN_PORT_NAME: UNUSED}
    ports |= {inner.METRICS_AGENT_PORT_NAME: UNUSED, inner.METRICS_EXPORT_PORT_NAME: UNUSED}
    for name, number in ports.items():
        inner.persist_port(node._session_dir, node._node_id, name, number)
    _RAYS_START(node, *sizes)


def list_hosts() -> list[Host]:
    """List the hosts as Ray knows them now; waits for the head node."""
    return read_hosts(ray.nodes(), ray_state.available_resources_per_node())


def _knock(address: str) -> None:
    """Wait a short time until a server listens at the address."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit():
        reason = message(
            "runner.bad_cluster_address",
            "the address of a Ray cluster is HOST:PORT such as 10.0.0.1:6379, not {address}",
            address=repr(address),
        )
        raise EngineError(reason)
    until, why = time.monotonic() + KNOCK_S, ""
    while time.monotonic() < until:
        try:
            socket.create_connection((host.strip("[]"), int(port)), 2.0).close()
            return
        except OSError as error:
            why = str(error.strerror or error)
            time.sleep(0.5)
    reason = message(
        "runner.no_cluster",
        "no Ray cluster answers at {address} ({why}); is its head running?",
        address=address,
        why=why,
    )
    raise EngineError(reason)


class Cluster(threading.Thread):
    """Manages placements; calls `changed`, on this thread, on every change."""

    def __init__(self, hosts: list[Host], changed: Callable[[], None]) -> None:
        super().__init__(name="cluster", daemon=True)
        self.changed = changed
        self.condition = threading.Condition()
        self.wanted: RankRequest | None = None
        self.pool: Pool | None = None
        self.group: Any = None  # of places, the last that was requested
        self.dropped: list[Any] = []
        self.ended = -EMPTY_S  # when ranks were last ended, by time.monotonic
        self.hosts = hosts
        self.waiting = ""  # a sentence: what has no place yet
        self.refused: Message | None = None  # a sentence: why ranks cannot be started
        self.looked = self.active = clock.now()  # when hosts were last listed, and ranks last used
        self.next_look = 0.0
        self.home = str(ray.get_runtime_context().get_node_id())
        self.closing = False

    @property
    def severed(self) -> bool:
        """Return whether this host no longer belongs to the cluster; by now there may be another cluster at the same
        address.
        """
        return not any(host.alive and host.key == self.home for host in self.hosts)

    def want(self, request: RankRequest | None) -> None:
        """Request ranks, or None to free them; existing ones are kept if they meet the request."""
        with self.condition:
            pool, self.wanted, self.refused = self.pool, request, None
            if pool is not None and (request is None or not pool.suits(request, self.hosts)):
                self.pool = None
                pool.broken = True
                self.ended = time.monotonic()
                self.dropped.append(pool.end)
            self.waiting = "" if request is None or self.pool is not None else self.waiting
            self.active = clock.now()
            self.condition.notify()

    def run(self) -> None:
        """Run until the engine closes."""
        while not self.closing:
            try:
                self.look()
                request = self.wanted
                pool = self.pool
                if request is not None and pool is None and not self.refused:
                    self._place(request)
                elif request is not None and pool is not None and pool.request != request:
                    self._arrange(pool, request)
                elif self.pool is not None and clock.now() - self.active > KEEP_S * 1e9:
                    log.info("ranks unused for %g s free their places", KEEP_S)
                    self.want(None)
            except Exception as error:  # of Ray: the head may be gone, which shows in `looked`
                log.warning("the cluster: %s", last_line(error))
                time.sleep(LOOK_S)
            with self.condition:
                self.condition.wait(LOOK_S / 2)

    def look(self) -> None:
        """End dropped pools, and list the hosts if it is time to."""
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

    def _place(self, request: RankRequest) -> None:
        """Request a placement, then start the ranks in it."""
        for attempt in range(TRIES):
            each = self._places(request)
            if each is None:
                return
            pool = Pool(request, self.group)
            try:
                pool.start(lambda: self.hosts, lambda: self._wants(request), each)
            except Exception as error:
                pool.end()
                self.ended = time.monotonic()
                if not self._wants(request):
                    return
                why = error.message if isinstance(error, PoolError) else _unknown(error)
                log.warning("attempt %s to start ranks: %s", attempt + 1, why)
                time.sleep(LOOK_S)
                self.next_look = 0.0
                self.look()
                continue
            with self.condition:
                if self.wanted == request:
                    self.pool, self.waiting = pool, ""
                else:
                    self.dropped.append(pool.end)
            self.changed()
            return
        self.refused = why
        self.changed()

    def _arrange(self, pool: Pool, request: RankRequest) -> None:
        """Change the order of the same ranks."""
        try:
            pool.arrange(request, self.hosts, lambda: self._wants(request))
        except PoolError as error:
            log.warning("ranks could not be rearranged: %s", error)
            pool.broken = True
            self.want(request)
        self.changed()

    def _wants(self, request: RankRequest) -> bool:
        self.look()
        return self.wanted == request and not self.closing

    def _places(self, request: RankRequest) -> dict[str, float] | None:
        """Wait until all ranks have a place; returns the resources of each, or None if they are no longer wanted."""
        requested: tuple[dict[str, float], list[str]] | None = None
        next_ping = 0.0
        while True:
            if time.monotonic() > next_ping:
                silent = silent_hosts(self.hosts)
                next_ping = time.monotonic() + PING_S
            answering = [host for host in self.hosts if host.key not in {one.key for one in silent}]
            needed = bundle(request, answering), [host.key for host in silent]
            if needed != requested:  # at first, and when the cluster has grown or shrunk
                if requested is not None:
                    Pool(request, self.group).end()
                requested = needed
                self.group = request_placement(request, *needed)
            if is_placed(self.group):
                emptying = time.monotonic() < self.ended + EMPTY_S
                if not emptying or well_spread(request, keys_of_hosts(self.group), answering, emptying=True):
                    self.waiting = ""
                    return needed[0]
                Pool(request, self.group).end()
                requested = None
                time.sleep(LOOK_S)
            waiting = missing(request, needed[0], answering)
            if waiting != self.waiting:
                self.waiting = waiting
                self.changed()
            time.sleep(0.02)
            if not self._wants(request):
                self.dropped.append(Pool(request, self.group).end)
                return None

    def close(self, ours: bool) -> None:
        """Leave the cluster, and end it if it is our own, without waiting for Ray longer than CLOSE_S."""
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


def _unknown(error: Exception) -> Message:
    """Return a sentence for an error of Ray's."""
    return message("runner.ray_error", "Ray: {error}", error=last_line(error))


def descendants() -> list[int]:
    """Return the ids of all processes that this one started, directly or not."""
    parents: dict[int, int] = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError), open(f"/proc/{name}/stat") as file:
            parents[int(name)] = int(file.read().rsplit(")", 1)[1].split()[1])
    family = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in family} - family:
        family |= more
    return sorted(family - {os.getpid()})
