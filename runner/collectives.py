"""What all ranks make together where the output layer is spread over them: one chain of collectives for each barrier.

C0 broadcasts the last stage's output; C1 reduces the shards' maxima and sums (online softmax); C2 reduces the input
gradient, which with one barrier is C1's too. Each chain has a thread and a process group of its own, and takes the
micro-batches in their order on every rank. A thread waits for its own rank's part and for the other ranks' threads,
never for an op or a message, so that collectives can neither overtake each other nor block what travels between two
ranks. Everything carries a time, as messages do. Knows nothing of ops.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor

from runner.output import Local
from runner.steps import GRADIENT, HIDDEN, STATISTICS, Join, Output
from runner.transport import HEADER

Part = tuple[Any, int]


class Collectives:
    """The chains of one rank; `groups` one process group a chain, `scale` the part of a step's loss a token is."""

    def __init__(
        self,
        groups: Sequence[Any],
        output: Output,
        rank: int,
        micros: int,
        shape: Sequence[int],
        scale: float,
        device: torch.device,
    ) -> None:
        self.output, self.rank, self.micros, self.scale, self.device = output, rank, micros, scale, device
        self.shape, self.tokens = tuple(shape), torch.Size(shape[:-1]).numel()
        self.groups = dict(zip(output.chains, groups, strict=True))
        self.parts: dict[int, queue.SimpleQueue[Part]] = {chain: queue.SimpleQueue() for chain in output.chains}
        self.made: dict[tuple[int, int], Part] = {}
        self.changed = threading.Condition()
        self.error: BaseException | None = None
        links = {HIDDEN: self._broadcast, STATISTICS: self._statistics, GRADIENT: self._gradient}
        self.threads = [
            threading.Thread(target=self._run, args=(chain, links[chain]), name=f"C{chain}", daemon=True)
            for chain in output.chains
        ]

    def start(self) -> None:
        """Meet the other ranks in every chain, then let the chains run."""
        for group in self.groups.values():
            size = torch.zeros(HEADER)
            group.broadcast(size, self.output.root).wait()
            group.allreduce(size).wait()
            group.reduce(size, self.output.root).wait()
        for thread in self.threads:
            thread.start()

    def give(self, chain: int, micro: int, part: Any, stamp: int) -> None:
        """This rank's part of a chain's next micro-batch; never waits."""
        if chain == HIDDEN:
            self._publish(HIDDEN, micro, part, stamp)
        self.parts[chain].put((part, stamp))

    def take(self, join: Join) -> tuple[Tensor, int]:
        """Wait for what was made together: it, and the time at which the last part of it was due."""
        with self.changed:
            self.changed.wait_for(lambda: (join.what, join.micro) in self.made or self.error is not None)
            if self.error is not None:
                raise self.error
            value, stamp = self.made.pop((join.what, join.micro))
        return value.to(self.device), stamp

    def close(self) -> None:
        """Wait until all chains are through; raises what went wrong in any."""
        for thread in self.threads:
            thread.join()
        if self.error is not None:
            raise self.error

    def _run(self, chain: int, link: Callable[[Any, int], None]) -> None:
        try:
            for micro in range(self.micros):
                link(self.groups[chain], micro)
        except Exception as error:  # raised again in whoever waits
            with self.changed:
                self.error = error
                self.changed.notify_all()

    def _publish(self, what: int, micro: int, value: Tensor, stamp: int) -> None:
        with self.changed:
            self.made[what, micro] = (value, stamp)
            self.changed.notify_all()

    def _broadcast(self, group: Any, micro: int) -> None:
        """C0: from the last stage's rank, which has it already, to all others."""
        buffer = torch.empty(HEADER + self.tokens * self.shape[-1])
        if self.rank == self.output.root:
            hidden, stamp = self.parts[HIDDEN].get()
            buffer.numpy()[:2].view(np.int64)[0] = stamp
            buffer[HEADER:].view(self.shape).copy_(hidden)
        group.broadcast(buffer, self.output.root).wait()
        if self.rank != self.output.root:
            stamp = int(buffer.numpy()[:2].view(np.int64)[0])
            self._publish(HIDDEN, micro, buffer[HEADER:].view(self.shape), stamp)

    def _statistics(self, group: Any, micro: int) -> None:
        """C1: each token's largest logit over all shards, the sum relative to it, and the target's logit."""
        part, stamp = self.parts[STATISTICS].get()
        local: Local = part
        largest = local.largest.cpu().clone()
        group.allreduce(largest, dist.ReduceOp.MAX).wait()
        weight = torch.exp(local.largest.cpu() - largest)
        sums = torch.stack([local.total.cpu() * weight, local.target.cpu()])
        group.allreduce(sums, dist.ReduceOp.SUM).wait()
        latest = _latest(group, stamp)
        if local.products is not None:
            exponentials, target = (product.cpu() for product in local.products)
            gradient = (exponentials * (weight / sums[0])[:, None] - target) * self.scale
            self._reduce(group, micro, gradient, latest)
        self._publish(STATISTICS, micro, torch.stack([largest + torch.log(sums[0]), sums[1]]), latest)

    def _gradient(self, group: Any, micro: int) -> None:
        """C2: the gradient of the last stage's output, which its rank gets."""
        gradient, stamp = self.parts[GRADIENT].get()
        self._reduce(group, micro, gradient.cpu(), _latest(group, stamp))

    def _reduce(self, group: Any, micro: int, gradient: Tensor, stamp: int) -> None:
        group.reduce(gradient, self.output.root).wait()
        if self.rank == self.output.root:
            self._publish(GRADIENT, micro, gradient.view(self.shape), stamp)


def _latest(group: Any, stamp: int) -> int:
    """The latest of all ranks' times."""
    latest = torch.tensor([stamp])
    group.allreduce(latest, dist.ReduceOp.MAX).wait()
    return int(latest)
