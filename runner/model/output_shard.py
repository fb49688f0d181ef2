"""A rank's shard of the output layer: the rows of some words of the vocabulary (Yeung et al. 2024, arXiv 2411.05288).

S is the shard's logits with their maximum and sum; what all ranks make of these (collectives.py) tells T how much each
word weighs, and T is the gradients. Softmax is online: S takes the exponentials with its own maximum, T scales them to
the common one. With one barrier the products of the input gradient move into S. Knows nothing of messages.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from runner.model.activations import Memory
from runner.model.config import Training
from runner.model.deferred_ops import accumulate
from runner.model.stage import Data, dtype_of, output_layer, words_of
from runner.model.weights import RATE


@dataclass(frozen=True, slots=True)
class Local:
    """What a shard's S tells of each token: its largest logit, the sum of the exponentials relative to that, the
    target's logit (0 where the target is another shard's), and, with one barrier, the exponentials and the target by
    the weights."""

    largest: Tensor
    total: Tensor
    target: Tensor
    products: tuple[Tensor, Tensor] | None


@dataclass(frozen=True, slots=True)
class Kept:
    """What T needs of a micro-batch: its hidden states, the exponentials and what they are relative to, which targets
    are the shard's own and where."""

    hidden: Tensor
    exponentials: Tensor
    largest: Tensor
    own: Tensor
    place: Tensor

    @property
    def bytes(self) -> int:
        """Size of what floats."""
        return sum(one.untyped_storage().nbytes() for one in (self.hidden, self.exponentials, self.largest))


class Shard:
    """The words of one rank out of `ranks`; `early`: products of the input gradient are S's, not T's."""

    def __init__(self, training: Training, rank: int, ranks: int, data: Data, memory: Memory, early: bool) -> None:
        words = words_of(training, rank, ranks)
        self.first, self.end = words.start, words.stop
        rows = output_layer(training).detach()[self.first : self.end]
        self.weight = torch.nn.Parameter(rows.clone().to(data.device))
        self.training, self.data, self.memory, self.early = training, data, memory, early
        self.dtype = dtype_of(training)
        self.kept: dict[int, Kept] = {}
        self.losses: dict[int, Tensor] = {}

    @property
    def rounded(self) -> Tensor:
        """The weights as the model's type has them, in float32: shards' parts of a gradient are added up before the
        sum is rounded."""
        return self.weight.detach().to(self.dtype).float()

    @torch.no_grad()
    def logits(self, micro: int, hidden: Tensor) -> Local:
        """S of a micro-batch, from the last stage's output."""
        hidden = hidden.reshape(-1, hidden.shape[-1]).to(self.dtype)
        logits = (hidden @ self.weight.t().to(self.dtype)).float()
        largest = logits.amax(1)
        exponentials = torch.exp(logits - largest[:, None])
        targets = self.data.targets(micro).flatten()
        own = (targets >= self.first) & (targets < self.end)
        place = (targets - self.first).clamp(0, self.end - self.first - 1)
        target = logits.gather(1, place[:, None]).squeeze(1) * own
        products = (exponentials @ self.rounded, self.rounded[place] * own[:, None]) if self.early else None
        self.kept[micro] = Kept(hidden, exponentials, largest, own, place)
        self.memory.change(self.kept[micro].bytes)
        return Local(largest, exponentials.sum(1), target, products)

    @torch.no_grad()
    def gradients(self, micro: int, statistics: Tensor) -> Tensor | None:
        """T of a micro-batch: adds to the weights' gradient and, with two barriers, returns this shard's part of the
        input's. `statistics` (2, tokens): the logarithm of all shards' sums, and the target's logit."""
        kept = self.kept.pop(micro)
        scale = self.training.share / len(statistics[0])
        gradient = kept.exponentials * torch.exp(kept.largest - statistics[0])[:, None]
        gradient[torch.arange(len(gradient)), kept.place] -= kept.own.to(gradient.dtype)
        gradient *= scale
        gradient = gradient.to(self.dtype)
        accumulate(self.weight, gradient.t() @ kept.hidden)
        self.losses[micro] = (statistics[0] - statistics[1]).mean()
        self.memory.change(-kept.bytes)
        return None if self.early else gradient.float() @ self.rounded

    def advance(self, data: Data) -> None:
        """One step of gradient descent, and on to the next step's data."""
        assert self.weight.grad is not None
        with torch.no_grad():
            self.weight.sub_(self.weight.grad, alpha=RATE)
        self.data = data
        self.clear()

    def results(self) -> dict[str, Tensor]:
        """This shard's rows of the gradient and, after several steps, of the weights, named as the whole."""
        name, gradient = f"stage{self.training.stages - 1}.head", self.weight.grad
        assert gradient is not None
        found = {name: gradient.cpu()}
        return found if self.training.steps == 1 else found | {f"updated {name}": self.weight.detach().cpu()}

    def clear(self) -> None:
        """Leave no trace of what was done so far."""
        self.weight.grad = None
        self.losses.clear()
