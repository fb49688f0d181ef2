"""The engine whose ranks are actors on a Ray cluster: what the main loop sees of it.

Puts what ranks say onto the job's board, in the common clock; notices ranks that are not heard any more. Waits for
nothing: Ray's slow calls are another thread's (cluster.py).
"""

from __future__ import annotations

import logging
import os
import queue
import shutil
import tempfile
import threading
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from backend.schedule.errors import SpecError
from runner import devices
from runner.devices import Machine
from runner.engines.base import (
    EngineError,
    EngineEvent,
    EngineLost,
    EngineNotice,
    JobResources,
    RankLost,
    RankReply,
    RankRequest,
)
from runner.engines.ray import access, cluster_facts
from runner.engines.ray.cluster_facts import SILENCE_S, own_device
from runner.engines.ray.hosts import machine_of
from runner.engines.ray.op_entries import RemoteRows
from runner.job.plan import Plan
from runner.job.work import MAX_RANKS
from runner.messages import Command, Group, Hop, Ready, Setup, StartStep, Verify
from runner.protocol import Run
from runner.telemetry import clock
from runner.telemetry.op_board import Board

if TYPE_CHECKING:  # Ray reads its settings when it is imported, which is once they are made
    from runner.engines.ray.cluster import Cluster
    from runner.engines.ray.pool import Member, Pool
    from runner.engines.ray.rank_actor import Batch

log = logging.getLogger("runner")
SECOND = 1_000_000_000
DYING_S = 1.0  # one that says nothing for so long may be
TOLD_S = 0.5  # between two events about the cluster
COMPARE_S = 0.25  # between two comparisons of clocks
LONGEST = 25  # characters of the folder for temporary files
AFTER = 20  # exchanges after a run


class RayEngine:
    """Ranks on a cluster."""

    name = "ray"
    blame_ns = 1_500_000_000
    start_ns = 100_000_000

    def __init__(self, address: str) -> None:
        self.address = self.given = address
        short = None if len(tempfile.gettempdir()) < LONGEST else "/tmp"  # the names of sockets are at most so long
        self.scratch = tempfile.TemporaryDirectory(prefix="bubbleline-", dir=short, ignore_cleanup_errors=True)
        self.inbox: queue.SimpleQueue[tuple[Pool, Member, Batch | BaseException]] = queue.SimpleQueue()
        self.ear, self.bell = os.pipe()
        for end in (self.ear, self.bell):
            os.set_blocking(end, False)
        self.cluster: Cluster
        self.listening: Pool | None = None
        self.entries: RemoteRows | None = None
        self.hops: dict[int, tuple[Hop, ...]] = {}
        self.links: list[dict[str, Any]] = []  # once all ranks have measured theirs
        self.last: list[Member] = []  # of the present or the last placement
        self.shown: tuple[dict[str, Any], int] = ({}, 0)
        self.behind = False  # it has changed since, but not long ago
        self.closing = False

    @property
    def waiting(self) -> str:
        """As the cluster's thread has it."""
        return self.cluster.waiting

    def boot(self) -> None:
        """Nothing: what is slow comes with `open`."""

    def open(self) -> None:
        """Join the cluster, or start one."""
        access.grant(self.address, self.scratch.name)
        try:
            from runner.engines.ray import cluster
        except ModuleNotFoundError as error:
            raise EngineError(f"the engine ray needs {error.name}: pip install -r requirements-cluster.txt") from None
        code = access.gather_sources(self.scratch.name)
        self.address, hosts = cluster.join(self.address, self.scratch.name, code)
        self.cluster = cluster.Cluster(hosts, self.wake)
        self.cluster.start()
        threading.Thread(target=self._compare, name="clocks", daemon=True).start()

    def wake(self) -> None:
        """Have the main loop look."""
        with suppress(BlockingIOError, OSError):
            os.write(self.bell, b"!")

    def describe(self) -> dict[str, Any]:
        """The hosts that are there, as one machine."""
        rows = cluster_facts.device_rows(self.cluster.hosts)
        choices = devices.choices(MAX_RANKS, machine_of(self.cluster.hosts))
        return {"engine": self.name, "devices": rows, "choices": choices, "cluster": self._cluster()}

    def machine(self, run: Run) -> Machine:
        """All hosts together."""
        return machine_of(self.cluster.hosts)

    def waitables(self) -> Sequence[Any]:
        """A pipe that rings."""
        return [self.ear]

    def events(self, happened: Sequence[object]) -> Iterable[EngineEvent]:
        """What ranks said, who is lost, and how the cluster is."""
        if self.ear in happened:
            with suppress(BlockingIOError):
                os.read(self.ear, 65536)
        found: list[EngineEvent] = []
        with suppress(queue.Empty):
            while True:
                pool, member, word = self.inbox.get_nowait()
                if pool is not self.listening or pool.broken:
                    continue
                if member in pool.members:
                    found += self._hear(pool, pool.members.index(member), word)
                elif isinstance(word, BaseException):
                    pool.incomplete = True
        return found + self._silent() + self._tell()

    def _hear(self, pool: Pool, rank: int, word: Batch | BaseException) -> list[EngineEvent]:
        if isinstance(word, BaseException):
            return [cluster_facts.lost_of(pool, rank, self.cluster.hosts)]
        if word.life != pool.life:
            return []
        if self.entries is not None and self.entries.enter(pool, rank, word):
            self.cluster.active = clock.now()
        for _, reply in word.replies:
            if isinstance(reply, Ready):
                self.hops[rank] = reply.links
                if len(self.hops) == len(pool.members):
                    self.links = cluster_facts.links_of(pool, self.hops)
        found: list[EngineEvent] = [RankReply(number, reply) for number, reply in word.replies]
        if word.lost:
            found.append(RankLost(rank, f"rank {rank}'s {pool.members[rank].process} ended ({word.lost})"))
        return found

    def _silent(self) -> list[EngineEvent]:
        """Ranks, or the cluster's head, of which nothing is heard any more."""
        pool, time = self.listening, clock.now()
        why = ""
        if time - self.cluster.looked > SILENCE_S * SECOND:
            why = f"the head of the Ray cluster at {self.address} has not answered for {SILENCE_S:g} s"
        elif self.cluster.severed:
            why = f"this host is no longer one of the Ray cluster at {self.address}"
        if why:
            return [EngineNotice("cluster", self._cluster() | {"state": "lost", "why": why}), EngineLost(why)]
        if pool is None or pool.broken:
            return []
        late = [rank for rank, one in enumerate(pool.members) if time - one.heard > SILENCE_S * SECOND]
        return [cluster_facts.lost_of(pool, late[0], self.cluster.hosts)] if late else []

    def _tell(self) -> list[EngineEvent]:
        """The cluster, if it is another than was told, and not too often."""
        pool = self.cluster.pool
        if pool is not None and pool is not self.listening and not pool.broken:
            self.listening, self.last, self.links = pool, pool.members, []
            pool.listen(self._put)
        if self.listening is not None:
            self.last = list(self.listening.members)
        found, early = self._cluster(), clock.now() - self.shown[1] < TOLD_S * SECOND
        self.behind = early and found != self.shown[0]
        if early or found == self.shown[0]:
            return []
        self.shown = (found, clock.now())
        return [EngineNotice("cluster", found)]

    def _put(self, pool: Pool, member: Member, word: Batch | BaseException) -> None:
        self.inbox.put((pool, member, word))
        if isinstance(word, BaseException) or word.replies or word.lost or len(word.rows[0]):
            self.wake()

    def _cluster(self) -> dict[str, Any]:
        """As the protocol has it."""
        state = {"address": self.address, "state": "up", "why": "", "waiting": self.waiting}
        return state | {"hosts": cluster_facts.host_rows(self.cluster.hosts, self.last), "links": self.links}

    def place(self, ask: RankRequest) -> None:
        """The cluster's thread does it."""
        self.cluster.want(ask)
        if self.listening is not None and self.listening is not self.cluster.pool:
            self.listening = None

    def placed(self) -> bool:
        """Whether ranks are there and heard."""
        if self.cluster.refused:
            wanted = self.cluster.wanted.ranks if self.cluster.wanted is not None else 0
            message = f"ranks cannot be started on this cluster: {self.cluster.refused}"
            raise SpecError("p", wanted, message)
        pool = self.listening
        return pool is not None and pool is self.cluster.pool and not pool.broken and pool.ask == self.cluster.wanted

    def job_resources(self, plan: Plan) -> JobResources:
        """A folder for the board here; ranks have theirs on their hosts, and meet in rank 0's store."""
        assert self.listening is not None
        if self.entries is not None:
            shutil.rmtree(self.entries.folder, ignore_errors=True)
        folder = tempfile.mkdtemp(dir=self.scratch.name)
        pool, count = self.listening, len(self.listening.members)
        key = f"group-{pool.version}"
        self.entries, self.hops = RemoteRows(folder, count), {}
        for one in pool.clocks.values():
            one.restart()
        groups = tuple(
            Group(key, f"{pool.store}/{key}", rank, count, member.arrival.address)
            for rank, member in enumerate(pool.members)
        )
        return JobResources(folder, f"{pool.store}/{uuid4().hex[:12]}", groups)

    def watch(self, board: Board) -> None:
        """Where ranks' words go."""
        assert self.entries is not None
        self.entries.board = board

    def send(self, rank: int, command: Command) -> None:
        """To the rank's actor; a time in its own clock, a device by the name that it has there."""
        pool = self.listening
        if pool is None or pool.broken:
            return
        self.cluster.active = clock.now()
        member = pool.members[rank]
        if isinstance(command, Verify):
            results = [pool.call(one, "bulk", "results") for one in range(len(pool.members))]
            pool.call(rank, "bulk", "verify", replace(command, device=own_device(command.device)), *results)
            return
        if isinstance(command, Setup):
            command = replace(command, device=own_device(command.device))
        elif isinstance(command, StartStep):
            member.ahead = pool.clocks[member.host.key].at(clock.now())
            if self.entries is not None:
                self.entries.begin(rank)
            command = replace(command, zero=command.zero + member.ahead)
        pool.call(rank, "tell", "tell", rank, command)

    def halted(self, rank: int) -> str:
        """As its actor sees it."""
        pool = self.listening
        member = pool.members[rank] if pool is not None else None
        return f"its {member.process} is stopped" if member is not None and member.stopped else ""

    def dying(self) -> bool:
        """Whether a rank has been silent for longer than it should."""
        pool = self.listening
        return pool is not None and any(clock.now() - one.heard > DYING_S * SECOND for one in pool.members)

    def facts(self, over: bool) -> dict[str, Any]:
        """Where ranks are, and what their hosts' clocks are worth."""
        pool = self.listening
        if pool is None:
            return {}
        if over:
            pool.compare(AFTER)
        return cluster_facts.facts_of(pool) | {"links": self.links}

    def renew(self) -> None:
        """With what is left of the cluster."""
        ask = self.cluster.wanted
        self.clear()
        if ask is not None:
            self.place(ask)

    def clear(self) -> None:
        """Actors whose processes are replaced stay; those of a pool that has lost one end with it."""
        pool = self.listening
        if self.entries is not None:
            self.entries.board = None
        if pool is not None and pool is self.cluster.pool and not pool.broken:
            pool.renew()
            return
        self.listening = None
        self.cluster.want(None)

    def close(self) -> None:
        """Leave, and take a cluster of our own down."""
        self.closing = True
        if hasattr(self, "cluster"):
            self.cluster.close(ours=not self.given)
        self.scratch.cleanup()

    def _compare(self) -> None:
        """The thread of the clocks: ask hosts for their time now and then."""
        while not self.closing:
            time.sleep(COMPARE_S)
            pool = self.listening
            if pool is not None and not pool.broken:
                pool.compare(3)
            if self.behind or clock.now() - self.cluster.looked > SILENCE_S * SECOND:
                self.wake()  # without a run nothing else would
