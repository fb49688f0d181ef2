"""One stage of the model: transformer blocks, the embedding on the first stage, the head and the loss on the last.

Where the vocabulary is sharded over the ranks, the first stage is given embedded tokens, and the last one ends with its
layer norm.

Weights and tokens come from the seed alone, so that every process, replica and the reference build the same ones.
Which arithmetic the stage uses (autograd's own or the deferred one) is given at each call. Knows nothing of ranks,
messages or schedules.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

from runner.model.config import Shape, Training
from runner.model.operations import Arithmetic


class Block(nn.Module):
    """Causal self-attention and an MLP, each behind a layer norm.

    The query-key-value projection has no bias: a key bias has a gradient of exactly zero, which no relative error
    could judge.
    """

    def __init__(self, shape: Shape, random: torch.Generator) -> None:
        super().__init__()
        hidden, self.heads = shape.hidden, shape.heads
        self.norm1, self.bias1 = _scale(hidden), _shift(hidden)
        self.qkv = _matrix(3 * hidden, hidden, random)
        self.out, self.out_bias = _matrix(hidden, hidden, random), _shift(hidden)
        self.norm2, self.bias2 = _scale(hidden), _shift(hidden)
        self.up, self.up_bias = _matrix(4 * hidden, hidden, random), _shift(4 * hidden)
        self.down, self.down_bias = _matrix(hidden, 4 * hidden, random), _shift(hidden)

    def forward(self, x: Tensor, do: Arithmetic) -> Tensor:
        """x plus attention plus MLP."""
        x = x + do.linear(self.attention(do.norm(x, self.norm1, self.bias1), do), self.out, self.out_bias)
        inner = functional.gelu(do.linear(do.norm(x, self.norm2, self.bias2), self.up, self.up_bias))
        return x + do.linear(inner, self.down, self.down_bias)

    def attention(self, x: Tensor, do: Arithmetic) -> Tensor:
        """Causal self-attention over all heads."""
        batch, sequence, hidden = x.shape
        qkv = do.linear(x, self.qkv).view(batch, sequence, 3, self.heads, hidden // self.heads)
        q, k, v = qkv.permute(2, 0, 3, 1, 4).unbind(0)
        mixed = do.core(q, k, v)
        return mixed.transpose(1, 2).reshape(batch, sequence, hidden)


class Stage(nn.Module):
    """Stage `index` of the model. `forward` takes tokens on the first stage; `loss` ends the last one."""

    def __init__(self, training: Training, index: int) -> None:
        super().__init__()
        shape, stages = training.shape, training.stages
        random = torch.Generator().manual_seed(training.seed * 100_003 + index)
        self.dtype = dtype_of(training)
        self.first, self.last = index == 0, index == stages - 1
        self.begins, self.ends = self.first and not training.sharded, self.last and not training.sharded
        if self.begins:
            self.tokens = embedding(training)
        if self.first:
            self.positions = _matrix(shape.sequence, shape.hidden, random)
            self.register_buffer("range", torch.arange(shape.sequence), persistent=False)
        self.blocks = nn.ModuleList(Block(shape, random) for _ in range(training.blocks[index]))
        if self.last:
            self.norm, self.bias = _scale(shape.hidden), _shift(shape.hidden)
        if self.ends:
            self.head = output_layer(training)

    def gradients(self) -> dict[str, Tensor]:
        """The gradients there are, by the names of their parameters."""
        return {name: one.grad for name, one in self.named_parameters() if one.grad is not None}

    def forward(self, x: Tensor, do: Arithmetic) -> Tensor:
        """Hidden states out; of tokens where the model begins, of hidden states elsewhere."""
        if self.begins:
            x = do.embed(x, self.tokens)
        x = x.to(self.dtype)
        if self.first:
            x = x + do.embed(self.get_buffer("range"), self.positions).to(self.dtype)
        for block in self.blocks:
            x = do.layer(block, x)
        return x if self.ends or not self.last else do.norm(x, self.norm, self.bias)

    def loss(self, x: Tensor, targets: Tensor, do: Arithmetic) -> Tensor:
        """Mean cross-entropy of the next token, from the last stage's hidden states: in float32, of logits in the
        model's type."""
        logits = do.linear(do.norm(x, self.norm, self.bias), self.head)
        return functional.cross_entropy(logits.flatten(0, 1).float(), targets.flatten())


def dtype_of(training: Training) -> torch.dtype:
    """The type of activations, messages and arithmetic."""
    found: torch.dtype = getattr(torch, training.dtype)
    return found


def output_layer(training: Training) -> nn.Parameter:
    """The weights that turn the last hidden states into logits, one row a word."""
    random = torch.Generator().manual_seed(training.seed * 100_003 + training.stages)
    return _matrix(training.shape.vocabulary, training.shape.hidden, random)


def embedding(training: Training) -> nn.Parameter:
    """The weights that turn tokens into hidden states, one row a word."""
    random = torch.Generator().manual_seed(training.seed * 100_003 + training.stages + 1)
    return _matrix(training.shape.vocabulary, training.shape.hidden, random)


def words_of(training: Training, rank: int, ranks: int) -> range:
    """The words of a rank's shard of both."""
    words = training.shape.vocabulary
    return range(rank * words // ranks, (rank + 1) * words // ranks)


class Data:
    """The tokens of every micro-batch of a training step, made from the seed."""

    def __init__(self, training: Training, device: torch.device, step: int = 0) -> None:
        self.device = device
        micros = range(step * training.micros, (step + 1) * training.micros)
        self.batches = [_tokens(training.shape, micro, training.seed).to(device) for micro in micros]

    def inputs(self, micro: int) -> Tensor:
        """What the first stage reads."""
        return self.batches[micro][:, :-1]

    def targets(self, micro: int) -> Tensor:
        """What the last stage should say: the same tokens, one later."""
        return self.batches[micro][:, 1:]


def _tokens(shape: Shape, micro: int, seed: int) -> Tensor:
    random = torch.Generator().manual_seed(seed * 1_000_003 + 500_000_003 + micro)
    return torch.randint(shape.vocabulary, (shape.batch, shape.sequence + 1), generator=random)


def _matrix(rows: int, columns: int, random: torch.Generator) -> nn.Parameter:
    return nn.Parameter(torch.randn(rows, columns, generator=random) / math.sqrt(columns))


def _scale(size: int) -> nn.Parameter:
    return nn.Parameter(torch.ones(size))


def _shift(size: int) -> nn.Parameter:
    return nn.Parameter(torch.zeros(size))
