"""A rank's shard of the embedding when the vocabulary is spread over all ranks: the rows of some words.

The first stage's input is the sum of every shard's lookup, of which one is nonzero; its gradient goes back to all
shards. This is not an op of the schedule: it runs beside the ops (collectives.py). Knows no messages.
"""

from __future__ import annotations

import torch
from torch import Tensor

from runner.model.config import Training
from runner.model.deferred_ops import accumulate
from runner.model.parameters import RATE, Data, embedding, named_results, shard_rows


class EmbeddingShard:
    """The words of one rank out of `ranks`."""

    def __init__(self, training: Training, rank: int, ranks: int, data: Data) -> None:
        words = shard_rows(training, rank, ranks)
        self.first, self.size = words.start, len(words)
        rows = embedding(training)[words.start : words.stop]  # (words, hidden)
        self.weight = torch.nn.Parameter(rows.clone().to(data.device))
        self.training, self.data = training, data

    @torch.no_grad()
    def lookup(self, micro: int) -> Tensor:
        """Return the rows (tokens, hidden) of a micro-batch's tokens; zero where the word is another shard's."""
        row, own = self._rows(micro)
        return self.weight[row] * own[:, None]

    @torch.no_grad()
    def add(self, micro: int, gradient: Tensor) -> None:
        """Add the gradient of the first stage's input (batch, sequence, hidden) to the rows that were read."""
        row, own = self._rows(micro)
        rows = torch.zeros_like(self.weight)
        accumulate(self.weight, rows.index_add_(0, row, gradient.reshape(-1, gradient.shape[-1]) * own[:, None]))

    def _rows(self, micro: int) -> tuple[Tensor, Tensor]:
        """Return, per token (tokens,), its row in this shard, and whether its word is in this shard."""
        row = self.data.inputs(micro).flatten() - self.first
        return row.clamp(0, self.size - 1), (row >= 0) & (row < self.size)

    def advance(self, data: Data) -> None:
        """Do one step of gradient descent, and go on to the next step's data."""
        if self.weight.grad is not None:  # else it is not trained
            with torch.no_grad():
                self.weight.sub_(self.weight.grad, alpha=RATE)
        self.data = data
        self.reset()

    def reset(self) -> None:
        """Undo all effects of the ops so far."""
        self.weight.grad = None

    def results(self) -> dict[str, Tensor]:
        """Return this shard's rows (words, hidden) of the gradient and, of several steps, of the weights, by name."""
        weights = {"tokens": self.weight} if self.training.steps > 1 else None
        gradient = {} if self.weight.grad is None else {"tokens": self.weight.grad}
        return named_results(gradient, 0, weights)
