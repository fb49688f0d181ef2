"""The ranks of one placement: actors in the bundles of a placement group, each with a stream of reports.

Created by the cluster's thread, used by the main thread. All reports go into the main loop's inbox.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import ray
from ray.exceptions import GetTimeoutError, OutOfMemoryError, RayError
from ray.util.placement_group import placement_group, placement_group_table, remove_placement_group
from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

from backend.errors import Message, message
from runner.engines.base import RankRequest
from runner.engines.ray.clocks import SECRET_BYTES, ClockClient, HostClock, same_clock
from runner.engines.ray.hosts import GPU, Host, shortest_way, well_spread
from runner.engines.ray.rank_actor import ActorAddress, RankActor, RankReport
from runner.telemetry import clock

LEAVE_S = 0.5  # for actors to clean up
BEGIN_S = 300.0  # for an actor's process to start and to load torch, also where many of them do on one busy core
POLL_S = 0.03
SECOND = 1_000_000_000
FIRST_READINGS = 20  # of clocks, before the first job
GROUPS = {"reports": 1, "commands": 1, "bulk": 2}
Actor = Any


@dataclass(eq=False)
class Member:
    """A rank: its actor, its host, and the time of its last report."""

    actor: Actor
    host: Host
    address: ActorAddress
    clock_client: ClockClient
    reported: int = field(default_factory=clock.now)
    error: BaseException | None = None
    pid: int = 0  # of the rank's process, once it has reported
    stopped: bool = False
    ahead: int = 0  # by how many ns its clock was ahead when its step began

    @property
    def process(self) -> Message:
        """Return the description of its process for use inside a sentence."""
        return message("runner.process_on_host", "process {pid} on {host}", pid=self.pid, host=self.host.name)


class PoolError(RuntimeError):
    """Ranks cannot be started; `message` says why."""

    def __init__(self, message: Message) -> None:
        super().__init__(str(message))
        self.message = message


class Pool:
    """The ranks of one placement, in their order."""

    def __init__(self, request: RankRequest, group: Any) -> None:
        self.request, self.group = request, group
        self.actors: list[Actor] = []
        self.members: list[Member] = []
        self.spare: list[Member] = []  # ranks that only a larger run needs
        self.clocks: dict[str, HostClock] = {}
        self.secret = secrets.token_bytes(SECRET_BYTES)
        self.generation, self.version = 0, 0  # of the ranks' processes, and of their order
        self.store = ""  # in which its ranks find each other
        self.comparing = threading.Lock()
        self.broken = False
        self.incomplete = False  # a spare rank is gone: the present run goes on, the next needs others

    def start(self, hosts: Callable[[], list[Host]], wanted: Callable[[], bool], each: dict[str, float]) -> None:
        """Start actors in all bundles, order the ranks, and compare their clocks. Raises PoolError."""
        table = placement_group_table(self.group)["bundles_to_node_id"]
        known = {host.key: host for host in hosts()}
        try:
            sites = [known[table[number]] for number in range(self.request.ranks)]
        except KeyError:
            reason = message("runner.host_left", "a host left while ranks were given places")
            raise PoolError(reason) from None
        kind: Any = ray.remote(concurrency_groups=GROUPS, max_restarts=0, max_task_retries=0)(RankActor)
        for number in range(self.request.ranks):
            strategy = PlacementGroupSchedulingStrategy(self.group, number, placement_group_capture_child_tasks=False)
            options = {"num_cpus": each["CPU"], "num_gpus": each.get(GPU, 0), "scheduling_strategy": strategy}
            self.actors.append(kind.options(**options).remote())
        both = list(zip(self.actors, sites, strict=True))
        begun = [
            call(actor, "commands", "begin", site.address, self.secret, actor is self.actors[0]) for actor, site in both
        ]
        addresses = [_result(one, wanted, site) for one, site in zip(begun, sites, strict=True)]
        for actor, site, address in zip(self.actors, sites, addresses, strict=True):
            self.members.append(Member(actor, site, address, ClockClient(address.address, address.port, self.secret)))
        self.store = f"tcp://{addresses[0].address}:{addresses[0].store}"
        self.arrange(self.request, hosts(), wanted)
        ours = same_clock()
        for member in self.members:
            self.clocks.setdefault(member.host.key, HostClock(member.address.clock == ours))
        unknown = self.compare(FIRST_READINGS)
        if unknown:
            reason = message("runner.host_unreachable", "host {host} cannot be reached from here", host=unknown[0])
            raise PoolError(reason)

    def suits(self, request: RankRequest, hosts: Sequence[Host]) -> bool:
        """Return whether these ranks, or some of them, meet a request, on these hosts."""
        alike = replace(request, ranks=self.request.ranks, arrange=self.request.arrange) == self.request
        used = {member.host.key for member in self.members + self.spare}
        whole = not (self.broken or self.incomplete)
        return whole and alike and request.ranks <= len(self.actors) and well_spread(request, used, hosts)

    def arrange(self, request: RankRequest, hosts: list[Host], wanted: Callable[[], bool]) -> None:
        """Order the ranks host by host: as hosts are listed, or so that the latency between neighbours is low."""
        self.version += 1
        order = {host.key: number for number, host in enumerate(hosts)}
        every = sorted(self.members + self.spare, key=lambda member: order.get(member.host.key, len(order)))
        if request.spread == "spread":  # the first of each host, then the second of each
            seen: Counter[str] = Counter()
            turns: dict[Member, int] = {}
            for member in every:
                turns[member] = seen[member.host.key]
                seen[member.host.key] += 1
            every.sort(key=lambda member: turns[member])
        chosen = sorted(every[: request.ranks], key=lambda member: order.get(member.host.key, len(order)))
        if request.arrange == "latency":
            chosen = self._by_latency(chosen, wanted)
        self.members, self.spare, self.request = chosen, every[request.ranks :], request

    def _by_latency(self, members: list[Member], wanted: Callable[[], bool]) -> list[Member]:
        """Order ranks so that the latency between consecutive hosts is low."""
        first = {member.host.key: member for member in reversed(members)}
        actors = [(one.address.address, one.address.port) for one in first.values()]
        rows = [
            _result(call(one.actor, "bulk", "probe", actors, self.secret), wanted, one.host) for one in first.values()
        ]
        near = [[min(rows[one][other], rows[other][one]) for other in range(len(rows))] for one in range(len(rows))]
        keys = list(first)
        way = [keys[host] for host in shortest_way(near)]
        return sorted(members, key=lambda member: way.index(member.host.key))

    def compare(self, times: int) -> list[str]:
        """Compare the clocks of all hosts and send each its offset; return the hosts that do not answer, of which
        only the first process is asked.
        """
        silent: list[str] = []
        for member in self.members + self.spare:
            host = self.clocks[member.host.key]
            if host.ours or member.host.name in silent:
                continue
            try:
                with self.comparing:
                    ahead = host.at(clock.now()) if host.recent else None
                    host.add(member.clock_client.read(times, ahead))
                    if ahead is None:
                        member.clock_client.read(1, host.at(clock.now()))
            except (OSError, EOFError, ValueError):
                silent.append(member.host.name)
        return silent

    def listen(self, inbox: Callable[[Pool, Member, RankReport | BaseException], None]) -> None:
        """Put all reports of ranks into an inbox."""
        for member in self.members:
            member.reported = clock.now()
            reports = member.actor.serve.options(num_returns="streaming", concurrency_group="reports").remote()
            work = (member, reports, inbox)
            threading.Thread(target=self._follow, args=work, name="reports", daemon=True).start()

    def _follow(self, member: Member, reports: Iterator[Any], inbox: Callable[..., None]) -> None:
        try:
            for reference in reports:
                report = ray.get(reference)
                member.reported = clock.now()
                member.pid, member.stopped = report.pid, report.stopped
                inbox(self, member, report)
        except Exception as error:  # whatever it was, this rank will not report again
            member.error = error
            inbox(self, member, error)

    def renew(self) -> None:
        """Replace all processes by new ones; reports of an earlier generation are ignored."""
        self.generation += 1
        self.version += 1
        for actor in self.actors:
            call(actor, "commands", "renew", self.generation)

    def call(self, rank: int, group: str, method: str, *arguments: Any) -> Any:
        """Call a method of a rank's actor."""
        return call(self.members[rank].actor, group, method, *arguments)

    def end(self) -> None:
        """End all actors and free their places; may take as long as Ray takes to answer."""
        self.broken = True
        with suppress(Exception):
            left = [call(actor, "commands", "leave") for actor in self.actors]
            ray.wait(left, num_returns=len(left), timeout=LEAVE_S)
        for member in self.members + self.spare:
            member.clock_client.close()
        for actor in self.actors:
            with suppress(Exception):
                ray.kill(actor, no_restart=True)
        with suppress(Exception):
            remove_placement_group(self.group)


def request_placement(request: RankRequest, each: dict[str, float], without: Sequence[str]) -> Any:
    """Request a placement group, which may have to wait; never on the hosts `without`."""
    others = [{"ray.io/node-id": f"!in({','.join(without)})"}] * request.ranks if without else None
    return placement_group([each] * request.ranks, strategy=request.spread.upper(), bundle_label_selector=others)


def is_placed(group: Any) -> bool:
    """Return whether a placement group has its places."""
    return bool(placement_group_table(group).get("state") == "CREATED")


def keys_of_hosts(group: Any) -> set[str]:
    """Return the keys of the hosts that a placement group has places on."""
    return set(placement_group_table(group)["bundles_to_node_id"].values())


def call(actor: Actor, group: str, method: str, *arguments: Any) -> Any:
    """Call a method of an actor. Calls of different groups (reports, commands, results) do not wait for each other."""
    return getattr(actor, method).options(concurrency_group=group).remote(*arguments)


def _result(reference: Any, wanted: Callable[[], bool], host: Host) -> Any:
    """Wait for the result of an actor's method. Raises PoolError when it fails, takes too long, or is no longer
    wanted."""
    until = time.monotonic() + BEGIN_S
    while True:
        try:
            return ray.get(reference, timeout=POLL_S)
        except GetTimeoutError:
            if not wanted():
                raise PoolError(message("runner.not_wanted", "not wanted any more")) from None
            if time.monotonic() > until:
                reason = message(
                    "runner.rank_slow_to_start",
                    "a rank on {host} has not started in {seconds} s",
                    host=host.name,
                    seconds=f"{BEGIN_S:g}",
                )
                raise PoolError(reason) from None
        except OutOfMemoryError:
            reason = message("runner.host_memory", "{host} has too little memory for a rank", host=host.name)
            raise PoolError(reason) from None
        except RayError as error:
            reason = message(
                "runner.rank_not_started",
                "a rank on {host} has not started: {error}",
                host=host.name,
                error=last_line(error),
            )
            raise PoolError(reason) from None


def last_line(error: BaseException) -> str:
    """Return the last line of an error of Ray's, which is the most specific one."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines[-1] if lines else type(error).__name__)[:300]
