"""Measure how long a small message takes between neighbouring ranks, over the group that carries their messages."""

from __future__ import annotations

from typing import Any

import torch

from runner.messages import Hop
from runner.program.instructions import RankProgram
from runner.telemetry import clock

TRIPS = 25  # of a message to a neighbour and back, to measure the hop;
TRIPS_NS, FEWEST_TRIPS = 50_000_000, 5  # fewer where they take longer than this


class HopProbe:
    """The probes of one rank; `tag` must be free in the group."""

    def __init__(self, group: Any, program: RankProgram, tag: int) -> None:
        self.group, self.program, self.tag = group, program, tag

    def connect(self) -> None:
        """Exchange one message with each peer, so that connections exist before the clock runs."""
        works = [self.group.recv([torch.empty(1)], peer, self.tag) for peer in sorted(self._sources())]
        works += [self.group.send([torch.ones(1)], peer, self.tag) for peer in sorted(self._targets())]
        for work in works:
            work.wait()

    def measure(self) -> tuple[Hop, ...]:
        """Return the hop to each neighbour that comes after this rank: half of the quickest of some round trips, and
        as its uncertainty how much longer half of the median one took.

        All ranks take their pairs in one order, so that no two wait for each other.
        """
        hops = []
        rank, peers = self.program.rank, self._sources() | self._targets()
        for first, last in sorted((min(rank, peer), max(rank, peer)) for peer in peers):
            if rank == last:
                self._answer(first)
                continue
            times = sorted(self._trips(last))
            hops.append(Hop(last, times[0] // 2, (times[len(times) // 2] - times[0]) // 2))
        return tuple(hops)

    def _sources(self) -> set[int]:
        return {transfer.source for transfer in self.program.receives()}

    def _targets(self) -> set[int]:
        return {transfer.target for transfer in self.program.sends()}

    def _trips(self, peer: int) -> list[int]:
        """Time small messages to another rank and back, in ns."""
        times: list[int] = []
        since, more = clock.now(), True
        while more:
            begin = clock.now()
            more = len(times) + 1 < (TRIPS if begin - since < TRIPS_NS else FEWEST_TRIPS)
            back = self.group.recv([torch.empty(1)], peer, self.tag)
            self._send(peer, more)
            back.wait()
            times.append(clock.now() - begin)
        return times

    def _answer(self, peer: int) -> None:
        """Answer the trips of a peer: each message says whether another follows."""
        more = torch.ones(1)
        while more:
            self.group.recv([more], peer, self.tag).wait()
            self._send(peer, bool(more))

    def _send(self, peer: int, more: bool) -> None:
        """Send one message of a trip; the peer waits for it already, or will before anything else."""
        self.group.send([torch.tensor([float(more)])], peer, self.tag).wait()
