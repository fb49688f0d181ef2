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

import numpy as np

from backend.schedule.errors import SpecError
from runner import clock, devices
from runner.board import Board
from runner.control import Command, Go, Group, Hop, Ready, Setup, Verify
from runner.devices import Machine
from runner.engines.engine import Ask, EngineError, Gone, Ground, Heard, Lost, News, Told
from runner.engines.ray import access
from runner.engines.ray.hosts import CPU, GPU, MEMORY, machine_of
from runner.plan import Plan
from runner.protocol import Run
from runner.work import MAX_RANKS

if TYPE_CHECKING:  # Ray reads its settings when it is imported, which is once they are made
    from runner.engines.ray.cluster import Cluster
    from runner.engines.ray.pool import Member, Pool
    from runner.engines.ray.seat import Batch

log = logging.getLogger("runner")
SECOND = 1_000_000_000
SILENCE_S = 5.0  # a rank, or the cluster's head, that says nothing for so long is lost
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
        self.board: Board | None = None
        self.folder = ""
        self.ends: list[int] = []
        self.hops: dict[int, tuple[Hop, ...]] = {}
        self.links: list[dict[str, Any]] = []  # once all ranks have measured theirs
        self.last: list[Member] = []  # of the present or the last placement
        self.told: tuple[dict[str, Any], int] = ({}, 0)
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
        rows: list[dict[str, Any]] = []
        for host in self.cluster.hosts:
            memory = int(host.total.get(MEMORY, 0))
            if host.alive and host.total.get(CPU):
                cores = int(host.total[CPU])
                rows.append({"kind": "cpu", "name": "CPU", "cores": cores, "memory": memory, "host": host.name})
            for index in range(int(host.total.get(GPU, 0))):
                row = {"kind": "cuda", "index": index, "name": "GPU", "memory": None, "capability": None}
                rows.append(row | {"host": host.name})
        choices = devices.choices(MAX_RANKS, machine_of(self.cluster.hosts))
        return {"engine": self.name, "devices": rows, "choices": choices, "cluster": self._cluster()}

    def machine(self, run: Run) -> Machine:
        """All hosts together."""
        return machine_of(self.cluster.hosts)

    def waitables(self) -> Sequence[Any]:
        """A pipe that rings."""
        return [self.ear]

    def news(self, happened: Sequence[object]) -> Iterable[News]:
        """What ranks said, who is lost, and how the cluster is."""
        if self.ear in happened:
            with suppress(BlockingIOError):
                os.read(self.ear, 65536)
        found: list[News] = []
        with suppress(queue.Empty):
            while True:
                pool, member, word = self.inbox.get_nowait()
                if pool is not self.listening or pool.broken:
                    continue
                if member in pool.members:
                    found += self._hear(pool, pool.members.index(member), word)
                elif isinstance(word, BaseException):  # the next run needs others, the present one does not
                    pool.broken = True
        return found + self._silent() + self._tell()

    def _hear(self, pool: Pool, rank: int, word: Batch | BaseException) -> list[News]:
        if isinstance(word, BaseException):
            return [self._lost(pool, rank)]
        if word.life != pool.life:
            return []
        self._enter(pool, rank, word)
        for _, reply in word.replies:
            if isinstance(reply, Ready):
                self.hops[rank] = reply.links
                if len(self.hops) == len(pool.members):
                    self.links = self._links(pool)
        found: list[News] = [Heard(number, reply) for number, reply in word.replies]
        if word.lost:
            found.append(Lost(rank, f"rank {rank}'s {pool.members[rank].process} ended ({word.lost})"))
        return found

    def _enter(self, pool: Pool, rank: int, batch: Batch) -> None:
        """Put what is new onto the job's board. Times are relative to a begin that both clocks know."""
        if self.board is None or batch.job != self.folder:
            return
        self.cluster.active = clock.now()
        member = pool.members[rank]
        drift = member.ahead - pool.clocks[member.host.key].at(clock.now())
        found = [np.array(rows) for rows in batch.rows]  # Ray gives them read-only
        for rows in found:
            rows[:, :3] += drift
        ops = found[0]
        if len(ops):
            ops[:, :3] = np.maximum(ops[:, :3], self.ends[rank] if batch.since[0] else 0)
            self.ends[rank] = int(ops[-1, 2])
        self.board.enter(rank, batch.state, batch.since, found)

    def _silent(self) -> list[News]:
        """Ranks, or the cluster's head, of which nothing is heard any more."""
        pool, time = self.listening, clock.now()
        why = ""
        if time - self.cluster.looked > SILENCE_S * SECOND:
            why = f"the head of the Ray cluster at {self.address} has not answered for {SILENCE_S:g} s"
        elif self.cluster.severed:
            why = f"this host is no longer one of the Ray cluster at {self.address}"
        if why:
            return [Told("cluster", self._cluster() | {"state": "lost", "why": why}), Gone(why)]
        if pool is None or pool.broken:
            return []
        late = [rank for rank, one in enumerate(pool.members) if time - one.heard > SILENCE_S * SECOND]
        return [self._lost(pool, late[0])] if late else []

    def _lost(self, pool: Pool, rank: int) -> Lost:
        """In words. Of a host that is gone, its first rank stands for all."""
        pool.broken = True
        member = pool.members[rank]
        host = next((one for one in self.cluster.hosts if one.key == member.host.key), member.host)
        if not host.alive:
            return Lost(rank, f"rank {rank} on {host.name} was lost", f"host {host.name} ({host.address}) is gone")
        if member.error is None:
            why = f"nothing has come from host {host.name} ({host.address}) for {SILENCE_S:g} s"
            return Lost(rank, f"rank {rank}'s {member.process} was lost", why)
        return Lost(rank, f"rank {rank}'s {member.process} ended")

    def _tell(self) -> list[News]:
        """The cluster, if it is another than was told, and not too often."""
        pool = self.cluster.pool
        if pool is not None and pool is not self.listening and not pool.broken:
            self.listening, self.last, self.links = pool, pool.members, []
            pool.listen(self._put)
        if self.listening is not None:
            self.last = list(self.listening.members)
        found = self._cluster()
        if found == self.told[0] or clock.now() - self.told[1] < TOLD_S * SECOND:
            return []
        self.told = (found, clock.now())
        return [Told("cluster", found)]

    def _put(self, pool: Pool, member: Member, word: Batch | BaseException) -> None:
        self.inbox.put((pool, member, word))
        if isinstance(word, BaseException) or word.replies or word.lost or len(word.rows[0]):
            self.wake()

    def _cluster(self) -> dict[str, Any]:
        """As the protocol has it."""
        seats: dict[str, list[int]] = {}
        for rank, member in enumerate(self.last):
            seats.setdefault(member.host.name, []).append(rank)
        hosts = [host.as_dict(seats.get(host.name, [])) for host in self.cluster.hosts]
        state = {"address": self.address, "state": "up", "why": "", "waiting": self.waiting}
        return state | {"hosts": hosts, "links": self.links}

    def _links(self, pool: Pool) -> list[dict[str, Any]]:
        """What ranks measured to neighbours, with the names of their hosts."""
        names = [member.host.name for member in pool.members]
        return [
            {
                "from": rank, "to": hop.peer, "hosts": [names[rank], names[hop.peer]],
                "latency_ns": hop.latency, "uncertainty_ns": hop.uncertainty,
            }
            for rank, hops in sorted(self.hops.items())
            for hop in hops
        ]  # fmt: skip

    def place(self, ask: Ask) -> None:
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

    def ground(self, plan: Plan) -> Ground:
        """A folder for the board here; ranks have theirs on their hosts, and meet in rank 0's store."""
        assert self.listening is not None
        if self.folder:
            shutil.rmtree(self.folder, ignore_errors=True)
        self.folder = tempfile.mkdtemp(dir=self.scratch.name)
        pool, count = self.listening, len(self.listening.members)
        key = f"group-{pool.version}"
        self.ends, self.board, self.hops = [0] * count, None, {}
        for one in pool.clocks.values():
            one.restart()
        groups = tuple(
            Group(key, f"{pool.store}/{key}", rank, count, member.arrival.address)
            for rank, member in enumerate(pool.members)
        )
        return Ground(self.folder, f"{pool.store}/{uuid4().hex[:12]}", groups)

    def watch(self, board: Board) -> None:
        """Where ranks' words go."""
        self.board = board

    def send(self, rank: int, command: Command) -> None:
        """To the rank's actor; a time in its own clock, a device by the name that it has there."""
        pool = self.listening
        if pool is None or pool.broken:
            return
        self.cluster.active = clock.now()
        member = pool.members[rank]
        if isinstance(command, Verify):
            results = [pool.call(one, "bulk", "results") for one in range(len(pool.members))]
            pool.call(rank, "bulk", "verify", replace(command, device=_device(command.device)), *results)
            return
        if isinstance(command, Setup):
            command = replace(command, device=_device(command.device))
        elif isinstance(command, Go):
            member.ahead = pool.clocks[member.host.key].at(clock.now())
            self.ends[rank] = 0
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
        names = {member.host.key: member.host.name for member in pool.members}
        clocks = [one.facts(names[key]) for key, one in pool.clocks.items()]
        worst = max(clock.uncertainty(), *(int(str(one["uncertainty_ns"])) for one in clocks))
        hosts = [member.host.name for member in pool.members]
        return {"hosts": hosts, "clocks": clocks, "clock_ns": worst, "links": self.links}

    def renew(self) -> None:
        """With what is left of the cluster."""
        ask = self.cluster.wanted
        self.clear()
        if ask is not None:
            self.place(ask)

    def clear(self) -> None:
        """Actors whose processes are replaced stay; those of a pool that has lost one end with it."""
        self.board, pool = None, self.listening
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
        """Ask hosts for their time now and then: the thread of the clocks."""
        while not self.closing:
            time.sleep(COMPARE_S)
            pool = self.listening
            if pool is not None and not pool.broken:
                pool.compare(3)
            if clock.now() - self.cluster.looked > SILENCE_S * SECOND:
                self.wake()  # without a run nothing else would


def _device(name: str) -> str:
    """An actor sees no GPU but its own."""
    return "cuda:0" if name.startswith("cuda") else name
