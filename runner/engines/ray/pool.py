"""The ranks of one placement: actors that sit in the bundles of a placement group, each with a stream of its words.

Made by the cluster's thread, used by the main one. Whatever is heard goes into the main loop's inbox.
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

from runner.engines.base import RankRequest
from runner.engines.ray.clocks import SECRET_BYTES, ClockClient, HostClock, same_clock
from runner.engines.ray.hosts import GPU, Host, shortest_way, well_spread
from runner.engines.ray.rank_actor import Arrival, Batch, RankActor
from runner.telemetry import clock

LEAVE_S = 0.5  # for actors to clean up after themselves
BEGIN_S = 90.0  # for an actor's process to start and to load torch
POLL_S = 0.03
SECOND = 1_000_000_000
ASKED_FIRST = 20  # exchanges before the first job
GROUPS = {"words": 1, "tell": 1, "bulk": 2}
Actor = Any


@dataclass(eq=False)
class Member:
    """A rank: its actor, its host, and when it was last heard."""

    actor: Actor
    host: Host
    arrival: Arrival
    asker: ClockClient
    heard: int = field(default_factory=clock.now)
    error: BaseException | None = None
    pid: int = 0  # of the rank's process, once it is heard
    stopped: bool = False
    ahead: int = 0  # of its clock when its step was begun

    @property
    def process(self) -> str:
        """Its process in words."""
        return f"process {self.pid} on {self.host.name}"


class PoolError(RuntimeError):
    """Ranks could not be had: in words."""


class Pool:
    """The ranks of one placement, in their order."""

    def __init__(self, ask: RankRequest, group: Any) -> None:
        self.ask, self.group = ask, group
        self.actors: list[Actor] = []
        self.members: list[Member] = []
        self.spare: list[Member] = []  # that a larger run had before
        self.clocks: dict[str, HostClock] = {}
        self.secret = secrets.token_bytes(SECRET_BYTES)
        self.life, self.version = 0, 0  # of the ranks' processes, and of who is which rank
        self.store = ""  # where its ranks meet
        self.comparing = threading.Lock()
        self.broken = False
        self.incomplete = False  # a spare one is gone: the present run goes on, the next needs others

    def start(self, hosts: Callable[[], list[Host]], wanted: Callable[[], bool], each: dict[str, float]) -> None:
        """Have actors in all bundles, ranks in their order, and their clocks compared. Raises PoolError."""
        table = placement_group_table(self.group)["bundles_to_node_id"]
        known = {host.key: host for host in hosts()}
        try:
            sites = [known[table[number]] for number in range(self.ask.ranks)]
        except KeyError:
            raise PoolError("a host went while ranks were given places") from None
        kind: Any = ray.remote(concurrency_groups=GROUPS, max_restarts=0, max_task_retries=0)(RankActor)
        for number in range(self.ask.ranks):
            strategy = PlacementGroupSchedulingStrategy(self.group, number, placement_group_capture_child_tasks=False)
            options = {"num_cpus": each["CPU"], "num_gpus": each.get(GPU, 0), "scheduling_strategy": strategy}
            self.actors.append(kind.options(**options).remote())
        both = list(zip(self.actors, sites, strict=True))
        begun = [
            call(actor, "tell", "begin", site.address, self.secret, actor is self.actors[0]) for actor, site in both
        ]
        arrivals = [_patiently(one, wanted, site) for one, site in zip(begun, sites, strict=True)]
        for actor, site, arrival in zip(self.actors, sites, arrivals, strict=True):
            self.members.append(Member(actor, site, arrival, ClockClient(arrival.address, arrival.port, self.secret)))
        self.store = f"tcp://{arrivals[0].address}:{arrivals[0].store}"
        self.arrange(self.ask, hosts(), wanted)
        ours = same_clock()
        for member in self.members:
            self.clocks.setdefault(member.host.key, HostClock(member.arrival.clock == ours))
        unknown = self.compare(ASKED_FIRST)
        if unknown:
            raise PoolError(f"host {unknown[0]} cannot be reached from here")

    def suits(self, ask: RankRequest, hosts: Sequence[Host]) -> bool:
        """Whether these ranks, or some of them, are what is asked for, on these hosts."""
        alike = replace(ask, ranks=self.ask.ranks, arrange=self.ask.arrange) == self.ask
        used = {member.host.key for member in self.members + self.spare}
        whole = not (self.broken or self.incomplete)
        return whole and alike and ask.ranks <= len(self.actors) and well_spread(ask, used, hosts)

    def arrange(self, ask: RankRequest, hosts: list[Host], wanted: Callable[[], bool]) -> None:
        """Ranks host by host: in the order in which hosts are listed, or so that neighbours are near."""
        self.version += 1
        order = {host.key: number for number, host in enumerate(hosts)}
        every = sorted(self.members + self.spare, key=lambda member: order.get(member.host.key, len(order)))
        if ask.spread == "spread":  # the first of each host, then the second of each
            seen: Counter[str] = Counter()
            turns: dict[Member, int] = {}
            for member in every:
                turns[member] = seen[member.host.key]
                seen[member.host.key] += 1
            every.sort(key=lambda member: turns[member])
        chosen = sorted(every[: ask.ranks], key=lambda member: order.get(member.host.key, len(order)))
        if ask.arrange == "latency":
            chosen = self._draw_near(chosen, wanted)
        self.members, self.spare, self.ask = chosen, every[ask.ranks :], ask

    def _draw_near(self, members: list[Member], wanted: Callable[[], bool]) -> list[Member]:
        """Have hosts follow each other whose latency is least."""
        first = {member.host.key: member for member in reversed(members)}
        places = [(one.arrival.address, one.arrival.port) for one in first.values()]
        rows = [
            _patiently(call(one.actor, "bulk", "probe", places, self.secret), wanted, one.host)
            for one in first.values()
        ]
        near = [[min(rows[one][other], rows[other][one]) for other in range(len(rows))] for one in range(len(rows))]
        keys = list(first)
        way = [keys[host] for host in shortest_way(near)]
        return sorted(members, key=lambda member: way.index(member.host.key))

    def compare(self, times: int) -> list[str]:
        """Compare the clocks of all hosts and send each its offset; returns the hosts that do not
        answer (of these only the first process is asked)."""
        silent: list[str] = []
        for member in self.members + self.spare:
            host = self.clocks[member.host.key]
            if host.ours or member.host.name in silent:
                continue
            try:
                with self.comparing:
                    ahead = host.at(clock.now()) if host.recent else None
                    host.add(member.asker.ask(times, ahead))
                    if ahead is None:
                        member.asker.ask(1, host.at(clock.now()))
            except (OSError, EOFError, ValueError):
                silent.append(member.host.name)
        return silent

    def listen(self, inbox: Callable[[Pool, Member, Batch | BaseException], None]) -> None:
        """Have everything that ranks say put into an inbox."""
        for member in self.members:
            member.heard = clock.now()
            words = member.actor.serve.options(num_returns="streaming", concurrency_group="words").remote()
            work = (member, words, inbox)
            threading.Thread(target=self._follow, args=work, name="words", daemon=True).start()

    def _follow(self, member: Member, words: Iterator[Any], inbox: Callable[..., None]) -> None:
        try:
            for word in words:
                batch = ray.get(word)
                member.heard = clock.now()
                member.pid, member.stopped = batch.pid, batch.stopped
                inbox(self, member, batch)
        except Exception as error:  # whatever it was, this rank is not heard any more
            member.error = error
            inbox(self, member, error)

    def renew(self) -> None:
        """Have new processes where the old ones are; what those still say is of a former life."""
        self.life += 1
        self.version += 1
        for actor in self.actors:
            call(actor, "tell", "renew", self.life)

    def call(self, rank: int, group: str, method: str, *arguments: Any) -> Any:
        """Have a rank's actor do something."""
        return call(self.members[rank].actor, group, method, *arguments)

    def end(self) -> None:
        """Let go of everything; may take as long as Ray takes to answer."""
        self.broken = True
        with suppress(Exception):
            left = [call(actor, "tell", "leave") for actor in self.actors]
            ray.wait(left, num_returns=len(left), timeout=LEAVE_S)
        for member in self.members + self.spare:
            member.asker.close()
        for actor in self.actors:
            with suppress(Exception):
                ray.kill(actor, no_restart=True)
        with suppress(Exception):
            remove_placement_group(self.group)


def request_placement(ask: RankRequest, each: dict[str, float], without: Sequence[str]) -> Any:
    """A placement group, which may have to wait; never on some hosts."""
    others = [{"ray.io/node-id": f"!in({','.join(without)})"}] * ask.ranks if without else None
    return placement_group([each] * ask.ranks, strategy=ask.spread.upper(), bundle_label_selector=others)


def is_placed(group: Any) -> bool:
    """Whether it waits no more."""
    return bool(placement_group_table(group).get("state") == "CREATED")


def call(actor: Actor, group: str, method: str, *arguments: Any) -> Any:
    """Have an actor do something; who talks, who listens and who carries results do not wait for each other."""
    return getattr(actor, method).options(concurrency_group=group).remote(*arguments)


def _patiently(reference: Any, wanted: Callable[[], bool], host: Host) -> Any:
    """What an actor answers, unless nobody wants it any more."""
    until = time.monotonic() + BEGIN_S
    while True:
        try:
            return ray.get(reference, timeout=POLL_S)
        except GetTimeoutError:
            if not wanted():
                raise PoolError("not wanted any more") from None
            if time.monotonic() > until:
                raise PoolError(f"a rank on {host.name} has not started in {BEGIN_S:g} s") from None
        except OutOfMemoryError:
            raise PoolError(f"{host.name} has too little memory for a rank") from None
        except RayError as error:
            raise PoolError(f"a rank on {host.name} has not started: {said(error)}") from None


def said(error: BaseException) -> str:
    """The line of an error of Ray's that says most."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines[-1] if lines else type(error).__name__)[:300]
