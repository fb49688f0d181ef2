"""The engine whose ranks are actors on a Ray cluster, as the main loop uses it.

Writes the rows of ranks to the job's board, in the common clock, and detects ranks that no longer report. Never
blocks: another thread makes slow calls to Ray (cluster.py).
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

from backend.errors import Message, message
from runner import devices
from runner.devices import Machine
from runner.engines.base import (
    EngineError,
    EngineEvent,
    EngineLost,
    EngineNotice,
    JobResources,
    PlacementError,
    RankLost,
    RankReply,
    RankRequest,
)
from runner.engines.ray import access, cluster_facts
from runner.engines.ray.cluster_facts import SILENCE_S, own_device
from runner.engines.ray.hosts import machine_of
from runner.engines.ray.remote_rows import RemoteRows
from runner.engines.scratch import Scratch
from runner.messages import Command, Group, Hop, Ready, Setup, StartStep, Verify
from runner.protocol import Run
from runner.telemetry import clock
from runner.telemetry.op_board import Board
from runner.transport.mailbox import MailboxNeeds

if TYPE_CHECKING:  # Ray reads its settings when it is imported, which is after `access.grant`
    from runner.engines.ray.cluster import Cluster
    from runner.engines.ray.pool import Member, Pool
    from runner.engines.ray.rank_actor import RankReport

log = logging.getLogger("runner")
SECOND = 1_000_000_000
DYING_S = 1.0  # after which a rank that reports nothing may be gone
NOTICE_S = 0.5  # between two events about the cluster
COMPARE_S = 0.25  # between two comparisons of clocks
LONGEST = 25  # characters of the folder for temporary files
FINAL_READINGS = 20  # of clocks, after a run


class RayEngine:
    """Runs ranks on a cluster."""

    name = "ray"
    blame_ns = 1_500_000_000
    start_ns = 100_000_000

    def __init__(self, address: str) -> None:
        self.address = self.given = address
        short = None if len(tempfile.gettempdir()) < LONGEST else "/tmp"  # the names of sockets are of limited length
        self.scratch = Scratch(short)
        self.inbox: queue.SimpleQueue[tuple[Pool, Member, RankReport | BaseException]] = queue.SimpleQueue()
        self.wake_reader, self.waker = os.pipe()
        for end in (self.wake_reader, self.waker):
            os.set_blocking(end, False)
        self.cluster: Cluster
        self.listening: Pool | None = None
        self.rows: RemoteRows | None = None
        self.hops: dict[int, tuple[Hop, ...]] = {}
        self.links: list[dict[str, Any]] = []  # once all ranks have measured theirs
        self.last: list[Member] = []  # of the present or the last placement
        self.shown: tuple[dict[str, Any], int] = ({}, 0)
        self.behind = False  # the cluster has changed since it was last shown
        self.closing = False

    @property
    def waiting(self) -> str:
        """Return the sentence of the cluster's thread."""
        return self.cluster.waiting

    def boot(self) -> None:
        """Do nothing: the slow part is `open`."""

    def open(self) -> None:
        """Join a cluster, or start one. Raises EngineError on failure."""
        access.grant(self.address, self.scratch.name)
        try:
            from runner.engines.ray import cluster
        except ModuleNotFoundError as error:
            reason = message(
                "runner.ray_missing",
                "the engine ray needs {module}: pip install -r requirements-cluster.txt, "
                "or pip install 'bubbleline[cluster]'",
                module=error.name,
            )
            raise EngineError(reason) from None
        code = access.gather_sources(self.scratch.name)
        self.address, hosts = cluster.join(self.address, self.scratch.name, code)
        self.cluster = cluster.Cluster(hosts, self.wake)
        self.cluster.start()
        threading.Thread(target=self._compare, name="clocks", daemon=True).start()

    def wake(self) -> None:
        """Wake the main loop."""
        with suppress(BlockingIOError, OSError):
            os.write(self.waker, b"!")

    def describe(self) -> dict[str, Any]:
        """Return the hosts that are alive, as one machine, and the cluster."""
        rows = cluster_facts.device_rows(self.cluster.hosts)
        choices = devices.choices(machine_of(self.cluster.hosts))
        return {"engine": self.name, "devices": rows, "choices": choices, "cluster": self._cluster()}

    def machine(self, run: Run) -> Machine:
        """Return all hosts together as one machine."""
        return machine_of(self.cluster.hosts)

    def waitables(self) -> Sequence[Any]:
        """Return the pipe that wakes the main loop."""
        return [self.wake_reader]

    def events(self, happened: Sequence[object]) -> Iterable[EngineEvent]:
        """Return replies, losses, and changes of the cluster."""
        if self.wake_reader in happened:
            with suppress(BlockingIOError):
                os.read(self.wake_reader, 65536)
        found: list[EngineEvent] = []
        with suppress(queue.Empty):
            while True:
                pool, member, report = self.inbox.get_nowait()
                if pool is not self.listening or pool.broken:
                    continue
                if member in pool.members:
                    found += self._take(pool, pool.members.index(member), report)
                elif isinstance(report, BaseException):
                    pool.incomplete = True
        return found + self._silent() + self._notices()

    def _take(self, pool: Pool, rank: int, report: RankReport | BaseException) -> list[EngineEvent]:
        if isinstance(report, BaseException):
            return [cluster_facts.lost_of(pool, rank, self.cluster.hosts)]
        if report.generation != pool.generation:
            return []
        if self.rows is not None and self.rows.write(pool, rank, report):
            self.cluster.active = clock.now()
        for _, reply in report.replies:
            if isinstance(reply, Ready):
                self.hops[rank] = reply.hops
                if len(self.hops) == len(pool.members):
                    self.links = cluster_facts.links_of(pool, self.hops)
        found: list[EngineEvent] = [RankReply(number, reply) for number, reply in report.replies]
        if report.lost:
            what = message(
                "runner.remote_process_ended_by",
                "rank {rank}'s {process} ended ({cause})",
                rank=rank,
                process=pool.members[rank].process,
                cause=report.lost,
            )
            found.append(RankLost(rank, what, cause=report.lost))
        return found

    def _silent(self) -> list[EngineEvent]:
        """Return the loss of ranks, or of the cluster's head, that no longer report."""
        pool, time = self.listening, clock.now()
        why: Message | None = None
        if time - self.cluster.looked > SILENCE_S * SECOND:
            why = message(
                "runner.head_silent",
                "the head of the Ray cluster at {address} has not answered for {seconds} s",
                address=self.address,
                seconds=f"{SILENCE_S:g}",
            )
        elif self.cluster.severed:
            why = message(
                "runner.host_severed",
                "this host is no longer one of the Ray cluster at {address}",
                address=self.address,
            )
        if why is not None:
            return [EngineNotice("cluster", self._cluster() | {"state": "lost", "why": why}), EngineLost(why)]
        if pool is None or pool.broken:
            return []
        late = [rank for rank, one in enumerate(pool.members) if time - one.reported > SILENCE_S * SECOND]
        return [cluster_facts.lost_of(pool, late[0], self.cluster.hosts)] if late else []

    def _notices(self) -> list[EngineEvent]:
        """Return the state of the cluster if it has changed, at most once every NOTICE_S."""
        pool = self.cluster.pool
        if pool is not None and pool is not self.listening and not pool.broken:
            self.listening, self.last, self.links = pool, pool.members, []
            pool.listen(self._put)
        if self.listening is not None:
            self.last = list(self.listening.members)
        found, early = self._cluster(), clock.now() - self.shown[1] < NOTICE_S * SECOND
        self.behind = early and found != self.shown[0]
        if early or found == self.shown[0]:
            return []
        self.shown = (found, clock.now())
        return [EngineNotice("cluster", found)]

    def _put(self, pool: Pool, member: Member, report: RankReport | BaseException) -> None:
        self.inbox.put((pool, member, report))
        if isinstance(report, BaseException) or report.replies or report.lost or len(report.rows.ops):
            self.wake()

    def _cluster(self) -> dict[str, Any]:
        """Return the state of the cluster as the protocol has it."""
        state = {"address": self.address, "state": "up", "why": "", "waiting": self.waiting}
        return state | {"hosts": cluster_facts.host_rows(self.cluster.hosts, self.last), "links": self.links}

    def place(self, request: RankRequest) -> None:
        """Pass the request to the cluster's thread."""
        self.cluster.want(request)
        if self.listening is not None and self.listening is not self.cluster.pool:
            self.listening = None

    def placed(self) -> bool:
        """Return whether ranks run and report."""
        if self.cluster.refused:
            reason = message(
                "runner.ranks_refused", "ranks cannot be started on this cluster: {why}", why=self.cluster.refused
            )
            raise PlacementError(reason)
        pool = self.listening
        return (
            pool is not None and pool is self.cluster.pool and not pool.broken and pool.request == self.cluster.wanted
        )

    def job_resources(self, needs: MailboxNeeds | None) -> JobResources:
        """Create a local folder for the board; ranks have theirs on their hosts, and meet in rank 0's store. Memory
        is never shared.
        """
        assert self.listening is not None
        if self.rows is not None:
            shutil.rmtree(self.rows.folder, ignore_errors=True)
        folder = tempfile.mkdtemp(dir=self.scratch.name)
        pool, count = self.listening, len(self.listening.members)
        key = f"group-{pool.version}"
        self.rows, self.hops = RemoteRows(folder, count), {}
        for one in pool.clocks.values():
            one.restart()
        groups = tuple(
            Group(key, f"{pool.store}/{key}", rank, count, member.address.address)
            for rank, member in enumerate(pool.members)
        )
        return JobResources(folder, f"{pool.store}/{uuid4().hex[:12]}", groups)

    def watch(self, board: Board) -> None:
        """Set the board to which the rows of ranks are written."""
        assert self.rows is not None
        self.rows.board = board

    def send(self, rank: int, command: Command) -> None:
        """Send a command to the rank's actor, with times in its clock and the name of its device there."""
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
            if self.rows is not None:
                self.rows.begin_step(rank)
            command = replace(command, zero=command.zero + member.ahead)
        pool.call(rank, "commands", "command", rank, command)

    def halted(self, rank: int) -> str:
        """Return the state of a rank's process as its actor reported it."""
        pool = self.listening
        member = pool.members[rank] if pool is not None else None
        if member is None or not member.stopped:
            return ""
        return message("runner.remote_process_stopped", "its {process} is stopped", process=member.process)

    def dying(self) -> bool:
        """Return whether a rank has not reported for DYING_S."""
        pool = self.listening
        return pool is not None and any(clock.now() - one.reported > DYING_S * SECOND for one in pool.members)

    def facts(self, over: bool) -> dict[str, Any]:
        """Return the hosts of ranks, the uncertainty of their clocks, and the latencies between them."""
        pool = self.listening
        if pool is None:
            return {}
        if over:
            pool.compare(FINAL_READINGS)
        return cluster_facts.facts_of(pool) | {"links": self.links}

    def renew(self) -> None:
        """End all ranks and place new ones on the hosts that are left."""
        request = self.cluster.wanted
        self.clear()
        if request is not None:
            self.place(request)

    def clear(self) -> None:
        """Replace the processes of all actors; the actors of a pool that has lost one end."""
        pool = self.listening
        if self.rows is not None:
            self.rows.board = None
        if pool is not None and pool is self.cluster.pool and not pool.broken:
            pool.renew()
            return
        self.listening = None
        self.cluster.want(None)

    def close(self) -> None:
        """Leave the cluster, and end it if this engine started it."""
        self.closing = True
        if hasattr(self, "cluster"):
            self.cluster.close(ours=not self.given)
        self.scratch.cleanup()

    def _compare(self) -> None:
        """Compare the clocks of hosts every COMPARE_S, in a thread."""
        while not self.closing:
            time.sleep(COMPARE_S)
            pool = self.listening
            if pool is not None and not pool.broken:
                pool.compare(3)
            if self.behind or clock.now() - self.cluster.looked > SILENCE_S * SECOND:
                self.wake()  # without a run nothing else does
