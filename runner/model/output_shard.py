"""A rank's shard of the output layer: the rows of some words of the vocabulary (Yeung et al. 2024, arXiv 2411.05288).

S computes the shard's logits with their maximum and sum; from those of all ranks, which collectives.py combines, T
computes the gradients. Softmax is online: S takes the exponentials with its own maximum, T scales them to the common
one. With one barrier the products of the input gradient move into S. Knows nothing of messages.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from runner.model.activations import ActivationMemory
from runner.model.config import Training
from runner.model.deferred_ops import accumulate
from runner.model.parameters import RATE, Data, dtype_of, named_results, output_layer, shard_rows


@dataclass(frozen=True, slots=True)
class ShardStatistics:
    """The result of a shard's S. Per token (tokens,): its largest logit, the sum of the exponentials relative to that,
    and the target's logit (0 where the target is another shard's); with one barrier also `products` of the exponentials
    and of the target with the weights, both (tokens, hidden)."""

    largest: Tensor
    total: Tensor
    target: Tensor
    products: tuple[Tensor, Tensor] | None


@dataclass(frozen=True, slots=True)
class ShardActivations:
    """The tensors of a micro-batch that T needs: `hidden` (tokens, hidden), `exponentials` (tokens, words) relative to
    `largest` (tokens,), whether each target is the shard's `own`, and its `row` in the shard, both (tokens,)."""

    hidden: Tensor
    exponentials: Tensor
    largest: Tensor
    own: Tensor
    row: Tensor

    @property
    def bytes(self) -> int:
        """Return the size of the floating point tensors."""
        return sum(one.untyped_storage().nbytes() for one in (self.hidden, self.exponentials, self.largest))


class OutputShard:
    """The words of one rank out of `ranks`; `early`: S, not T, computes the products of the input gradient."""

    def __init__(
        self, training: Training, rank: int, ranks: int, data: Data, memory: ActivationMemory, early: bool
    ) -> None:
        words = shard_rows(training, rank, ranks)
        self.first, self.end = words.start, words.stop
        rows = output_layer(training)[self.first : self.end]  # (words, hidden)
        self.weight = torch.nn.Parameter(rows.clone().to(data.device))
        self.training, self.data, self.memory, self.early = training, data, memory, early
        self.dtype = dtype_of(training)
        self.saved: dict[int, ShardActivations] = {}
        self.losses: dict[int, Tensor] = {}

    @property
    def rounded(self) -> Tensor:
        """Return the weights (words, hidden) rounded to the model's type, in float32: shards' parts of a gradient
        are added up before the sum is rounded.
        """
        return self.weight.detach().to(self.dtype).float()

    @torch.no_grad()
    def logits(self, micro: int, hidden: Tensor) -> ShardStatistics:
        """Run S of a micro-batch, from the last stage's output (batch, sequence, hidden)."""
        hidden = hidden.reshape(-1, hidden.shape[-1]).to(self.dtype)
        logits = (hidden @ self.weight.t().to(self.dtype)).float()  # (tokens, words)
        largest = logits.amax(1)
        exponentials = torch.exp(logits - largest[:, None])
        targets = self.data.targets(micro).flatten()
        own = (targets >= self.first) & (targets < self.end)
        row = (targets - self.first).clamp(0, self.end - self.first - 1)
        target = logits.gather(1, row[:, None]).squeeze(1) * own
        products = (exponentials @ self.rounded, self.rounded[row] * own[:, None]) if self.early else None
        self.saved[micro] = ShardActivations(hidden, exponentials, largest, own, row)
        self.memory.change(self.saved[micro].bytes)
        return ShardStatistics(largest, exponentials.sum(1), target, products)

    @torch.no_grad()
    def gradients(self, micro: int, statistics: Tensor) -> Tensor | None:
        """Run T of a micro-batch: adds to the weights' gradient and, with two barriers, returns this shard's part of
        the input's (tokens, hidden). `statistics` (2, tokens): the logarithm of all shards' sums, and the target's
        logit."""
        saved = self.saved.pop(micro)
        scale = self.training.share / len(statistics[0])
        gradient = saved.exponentials * torch.exp(saved.largest - statistics[0])[:, None]
        gradient[torch.arange(len(gradient)), saved.row] -= saved.own.to(gradient.dtype)
        gradient *= scale
        gradient = gradient.to(self.dtype)
        if self.training.stages - 1 not in self.training.frozen:
            accumulate(self.weight, gradient.t() @ saved.hidden)
        self.losses[micro] = (statistics[0] - statistics[1]).mean()
        self.memory.change(-saved.bytes)
        return None if self.early else gradient.float() @ self.rounded

    def advance(self, data: Data) -> None:
        """Do one step of gradient descent, and go on to the next step's data."""
        if self.weight.grad is not None:  # else it is not trained
            with torch.no_grad():
                self.weight.sub_(self.weight.grad, alpha=RATE)
        self.data = data
        self.reset()

    def results(self) -> dict[str, Tensor]:
        """Return this shard's rows (words, hidden) of the gradient and, of several steps, of the weights, by name."""
        weights = {"head": self.weight} if self.training.steps > 1 else None
        gradient = {} if self.weight.grad is None else {"head": self.weight.grad}
        return named_results(gradient, self.training.stages - 1, weights)

    def reset(self) -> None:
        """Undo all effects of the ops so far."""
        self.weight.grad = None
        self.losses.clear()
