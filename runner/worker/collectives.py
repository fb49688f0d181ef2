"""The collectives of all ranks where the vocabulary is spread over them: one chain for each barrier.

C0 broadcasts the last stage's output; C1 reduces the shards' maxima and sums (online softmax); C2 reduces the input
gradient, which with one barrier is part of C1. Two more serve the embedding: its lookups are added up for the first
stage, some micro-batches ahead, and the gradient of that stage's input is broadcast to the shards.

Each chain has a thread and a process group of its own, and takes the micro-batches in their order on every rank. A
thread waits for its own rank's part and for the other ranks' threads, never for an op or a message, so that collectives
can neither overtake each other nor block messages between two ranks. (The first stage's lookups wait for their reader,
for which no other thread waits.) Every part carries the time at which it was due, as messages do. Knows nothing of ops.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.distributed import ReduceOp

from runner.model.embedding_shard import EmbeddingShard
from runner.model.output_shard import ShardStatistics
from runner.program.instructions import EMBEDDED, EMBEDDING, GRADIENT, HIDDEN, STATISTICS, CollectiveInput, Output
from runner.telemetry.clock import common
from runner.transport.base import Shapes
from runner.transport.gloo import Parcel

AHEAD = 8  # micro-batches whose embedded tokens wait for the first stage
Part = tuple[Any, int]


class Collectives:
    """The chains of one rank. `groups` has one process group per chain, `shapes` are (batch, sequence, hidden) of each
    micro-batch, `share` its share in the step's loss, `embedding` the rank's shard of it."""

    def __init__(
        self,
        groups: Sequence[Any],
        output: Output,
        *,
        rank: int,
        ranks: int,
        shapes: Shapes,
        share: float,
        embedding: EmbeddingShard,
        device: torch.device,
    ) -> None:
        self.output, self.rank, self.ranks = output, rank, ranks
        self.device = device
        self.embedding, self.ahead = embedding, threading.Semaphore(AHEAD)
        self.shapes, self.share = shapes, share
        self.tokens = [torch.Size(each[:-1]).numel() for each in shapes]
        self.groups = dict(zip(output.chains, groups, strict=True))
        self.parts: dict[int, queue.SimpleQueue[Part]] = {chain: queue.SimpleQueue() for chain in output.chains}
        self.results: dict[tuple[int, int], Part] = {}
        self.changed = threading.Condition()
        self.error: BaseException | None = None
        links = {
            HIDDEN: self._broadcast,
            STATISTICS: self._statistics,
            GRADIENT: self._gradient,
            EMBEDDED: self._embedded,
            EMBEDDING: self._embedding,
        }
        self.threads = [
            threading.Thread(target=self._run, args=(chain, links[chain]), name=f"C{chain}", daemon=True)
            for chain in output.chains
        ]

    def start(self) -> None:
        """Run the collectives of every chain once with all ranks, which connects those that need a connection; then
        start the threads."""
        for chain, group in self.groups.items():
            empty = torch.zeros(1)
            root = self.output.first if chain in (EMBEDDED, EMBEDDING) else self.output.root
            if chain in (HIDDEN, EMBEDDING):
                group.broadcast(empty, root).wait()
            if chain == STATISTICS:
                group.allgather([[torch.empty_like(empty) for _ in range(self.ranks)]], [empty]).wait()
            if chain in (STATISTICS, GRADIENT, EMBEDDED):
                group.reduce(empty, root).wait()
        for thread in self.threads:
            thread.start()

    def contribute(self, chain: int, micro: int, part: Any, due: int) -> None:
        """Add this rank's part of a chain's next micro-batch, and when it was due; never waits."""
        if chain == HIDDEN:
            self._publish(HIDDEN, micro, part, due)
        self.parts[chain].put((part, due))

    def wait_for(self, awaited: CollectiveInput) -> tuple[Tensor, int]:
        """Wait for a result, (batch, sequence, hidden) or statistics (2, tokens), and when its last part was due.
        Raises the error of any chain."""
        with self.changed:
            self.changed.wait_for(lambda: (awaited.what, awaited.micro) in self.results or self.error is not None)
            if self.error is not None:
                raise self.error
            value, due = self.results.pop((awaited.what, awaited.micro))
        if awaited.what == EMBEDDED:
            self.ahead.release()
        return value.to(self.device), due

    def close(self) -> None:
        """Wait until all chains have finished. Raises the error of any."""
        for thread in self.threads:
            thread.join()
        if self.error is not None:
            raise self.error

    def _run(self, chain: int, link: Callable[[Any, int], None]) -> None:
        torch.set_num_threads(1)  # libraries would give a new thread all cores, and spin on them
        try:
            for micro in range(len(self.shapes)):
                link(self.groups[chain], micro)
        except Exception as error:  # raised again in the thread that waits
            with self.changed:
                self.error = error
                self.changed.notify_all()

    def _publish(self, what: int, micro: int, value: Tensor, due: int) -> None:
        with self.changed:
            self.results[what, micro] = (value, due)
            self.changed.notify_all()

    def _broadcast(self, group: Any, micro: int) -> None:
        """Run C0: broadcast the last stage's output (batch, sequence, hidden) to all other ranks."""
        parcel = Parcel(self.shapes[micro], torch.float32)
        if self.rank == self.output.root:
            hidden, due = self.parts[HIDDEN].get()
            parcel.times[0] = due - common.ahead
            parcel.payload.copy_(hidden)
        group.broadcast(parcel.buffer, self.output.root).wait()
        if self.rank != self.output.root:
            self._publish(HIDDEN, micro, parcel.payload, int(parcel.times[0]) + common.ahead)

    def _statistics(self, group: Any, micro: int) -> None:
        """Run C1: reduce the statistics (2, tokens): the logarithm of the sum of exponentials over all shards, and
        the target's logit.

        An all-reduce of a maximum and of sums that depend on it: all ranks get all parts, which are few numbers, and
        reduce them in the same order, so that all have the same bits after one collective.
        """
        part, due = self.parts[STATISTICS].get()
        tokens = self.tokens[micro]
        local: ShardStatistics = part
        own, *parcels = (Parcel((3, tokens), torch.float32) for _ in range(1 + self.ranks))
        own.times[0] = due - common.ahead
        own.payload.copy_(torch.stack([local.largest, local.total, local.target]))
        group.allgather([[each.buffer for each in parcels]], [own.buffer]).wait()
        latest = max(int(each.times[0]) for each in parcels) + common.ahead
        maxima, totals, targets = torch.stack([each.payload for each in parcels], dim=1)
        largest = maxima.amax(0)
        weights = torch.exp(maxima - largest)
        total = (totals * weights).sum(0)
        if local.products is not None:
            exponentials, target = (product.cpu() for product in local.products)
            gradient = (exponentials * (weights[self.rank] / total)[:, None] - target) * (self.share / tokens)
            self._reduce(group, micro, gradient, latest)
        self._publish(STATISTICS, micro, torch.stack([largest + torch.log(total), targets.sum(0)]), latest)

    def _gradient(self, group: Any, micro: int) -> None:
        """Run C2: sum the gradient of the last stage's output (batch, sequence, hidden), for its rank."""
        gradient, due = self.parts[GRADIENT].get()
        self._reduce(group, micro, gradient.cpu(), due)

    def _reduce(self, group: Any, micro: int, gradient: Tensor, due: int) -> None:
        """Add up the ranks' gradients (tokens, hidden) for the last stage's rank, and tell it when the last was due."""
        root, latest, total = self.output.root, torch.tensor([due - common.ahead]), gradient.clone()
        for work in (group.reduce(latest, root, ReduceOp.MAX), group.reduce(total, root)):
            work.wait()
        if self.rank == root:
            self._publish(GRADIENT, micro, total.view(self.shapes[micro]), int(latest) + common.ahead)

    def _embedded(self, group: Any, micro: int) -> None:
        """Sum the first stage's input (batch, sequence, hidden), for its rank; due before the step began."""
        rows = self.embedding.lookup(micro).cpu()
        group.reduce(rows, self.output.first).wait()
        if self.rank == self.output.first:
            self.ahead.acquire()
            self._publish(EMBEDDED, micro, rows.view(self.shapes[micro]), 0)

    def _embedding(self, group: Any, micro: int) -> None:
        """Broadcast the gradient of the first stage's input (batch, sequence, hidden) to all shards."""
        if self.rank == self.output.first:
            gradient = self.parts[EMBEDDING].get()[0].cpu().clone()
        else:
            gradient = torch.empty(self.shapes[micro])
        group.broadcast(gradient, self.output.first).wait()
        self.embedding.add(micro, gradient.to(self.device))
