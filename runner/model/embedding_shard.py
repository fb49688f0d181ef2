"""A rank's shard of the embedding, where the vocabulary is spread over all ranks: the rows of some words.

What the first stage reads is every shard's lookup added up, of which one is not zero; the gradient of that goes back to
all shards. No op of a schedule is for this: it is done beside the ops (collectives.py). Knows nothing of messages.
"""

from __future__ import annotations

import torch
from torch import Tensor

from runner.model.config import Training
from runner.model.deferred_ops import accumulate
from runner.model.stage import Data, embedding, words_of
from runner.model.weights import RATE


class EmbeddingShard:
    """The words of one rank out of `ranks`."""

    def __init__(self, training: Training, rank: int, ranks: int, data: Data) -> None:
        words = words_of(training, rank, ranks)
        self.first, self.size = words.start, len(words)
        self.weight = torch.nn.Parameter(embedding(training).detach()[words.start : words.stop].clone().to(data.device))
        self.training, self.data = training, data

    @torch.no_grad()
    def lookup(self, micro: int) -> Tensor:
        """The rows of a micro-batch's tokens; zero where the word is another shard's."""
        place, own = self._places(micro)
        return self.weight[place] * own[:, None]

    @torch.no_grad()
    def add(self, micro: int, gradient: Tensor) -> None:
        """The gradient of what the first stage read, to the rows that were read from here."""
        place, own = self._places(micro)
        rows = torch.zeros_like(self.weight)
        accumulate(self.weight, rows.index_add_(0, place, gradient.reshape(-1, gradient.shape[-1]) * own[:, None]))

    def _places(self, micro: int) -> tuple[Tensor, Tensor]:
        place = self.data.inputs(micro).flatten() - self.first
        return place.clamp(0, self.size - 1), (place >= 0) & (place < self.size)

    def advance(self, data: Data) -> None:
        """One step of gradient descent, and on to the next step's data."""
        assert self.weight.grad is not None
        with torch.no_grad():
            self.weight.sub_(self.weight.grad, alpha=RATE)
        self.data = data
        self.clear()

    def clear(self) -> None:
        """Leave no trace of what was done so far."""
        self.weight.grad = None

    def results(self) -> dict[str, Tensor]:
        """This shard's rows of the gradient and, after several steps, of the weights, named as the whole."""
        gradient = self.weight.grad
        assert gradient is not None
        found = {"stage0.tokens": gradient.cpu()}
        return found if self.training.steps == 1 else found | {"updated stage0.tokens": self.weight.detach().cpu()}
