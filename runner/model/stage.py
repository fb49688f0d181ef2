"""One stage of the model: transformer blocks, the embedding on the first stage, the head and the loss on the last.

Where the vocabulary is sharded over the ranks, the first stage is given embedded tokens, and the last one ends with its
layer norm. The arithmetic (autograd's own or the deferred one) is an argument of each call. Knows nothing of ranks,
messages or schedules.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.nn import functional

from runner.model.config import Training
from runner.model.operations import Arithmetic
from runner.model.parameters import dtype_of, stage_parameters


class Block(nn.Module):
    """Causal self-attention and an MLP, each behind a layer norm."""

    norm1: Tensor
    bias1: Tensor
    qkv: Tensor
    out: Tensor
    out_bias: Tensor
    norm2: Tensor
    bias2: Tensor
    up: Tensor
    up_bias: Tensor
    down: Tensor
    down_bias: Tensor

    def __init__(self, heads: int, parameters: Mapping[str, Tensor]) -> None:
        super().__init__()
        self.heads = heads
        for name, value in parameters.items():
            self.register_parameter(name, nn.Parameter(value))

    def forward(self, x: Tensor, ops: Arithmetic) -> Tensor:
        """Return x (batch, sequence, hidden) plus attention plus MLP."""
        x = x + ops.linear(self.attention(ops.norm(x, self.norm1, self.bias1), ops), self.out, self.out_bias)
        inner = functional.gelu(
            ops.linear(ops.norm(x, self.norm2, self.bias2), self.up, self.up_bias)
        )  # (.., 4 hidden)
        return x + ops.linear(inner, self.down, self.down_bias)

    def attention(self, x: Tensor, ops: Arithmetic) -> Tensor:
        """Return causal self-attention over all heads; x and result (batch, sequence, hidden)."""
        batch, sequence, hidden = x.shape
        qkv = ops.linear(x, self.qkv).view(batch, sequence, 3, self.heads, hidden // self.heads)
        q, k, v = qkv.permute(2, 0, 3, 1, 4).unbind(0)  # (batch, heads, sequence, hidden / heads)
        mixed = ops.attention(q, k, v)
        return mixed.transpose(1, 2).reshape(batch, sequence, hidden)


class Stage(nn.Module):
    """Stage `index` of the model. `forward` takes tokens on the first stage; `loss` ends the last one."""

    tokens: Tensor
    positions: Tensor
    norm: Tensor
    bias: Tensor
    head: Tensor

    def __init__(self, training: Training, index: int) -> None:
        super().__init__()
        shape = training.shape
        self.dtype = dtype_of(training)
        self.first, self.last = index == 0, index == training.stages - 1
        self.begins, self.ends = self.first and not training.sharded, self.last and not training.sharded
        blocks: list[dict[str, Tensor]] = [{} for _ in range(training.blocks[index])]
        for name, value in stage_parameters(training, index).items():
            if name.startswith("blocks."):
                _, number, own = name.split(".")
                blocks[int(number)][own] = value
            else:
                self.register_parameter(name, nn.Parameter(value))
        if self.first:
            self.register_buffer("range", torch.arange(shape.sequence), persistent=False)
        self.blocks = nn.ModuleList(Block(shape.heads, parameters) for parameters in blocks)

    def gradients(self) -> dict[str, Tensor]:
        """Return the gradients that exist, by the names of their parameters."""
        return {name: one.grad for name, one in self.named_parameters() if one.grad is not None}

    def forward(self, x: Tensor, ops: Arithmetic) -> Tensor:
        """Return hidden states (batch, sequence, hidden), from tokens (batch, sequence) where the model begins, from
        hidden states elsewhere."""
        if self.begins:
            x = ops.embed(x, self.tokens)
        x = x.to(self.dtype)
        if self.first:
            x = x + ops.embed(self.get_buffer("range")[: x.shape[1]], self.positions).to(self.dtype)
        for block in self.blocks:
            x = ops.layer(block, x)
        return x if self.ends or not self.last else ops.norm(x, self.norm, self.bias)

    def logits(self, x: Tensor, ops: Arithmetic) -> Tensor:
        """Return the logits of the next token (batch, sequence, vocabulary) in the model's type, from the last stage's
        hidden states (batch, sequence, hidden)."""
        return ops.linear(ops.norm(x, self.norm, self.bias), self.head)

    def loss(self, x: Tensor, targets: Tensor, ops: Arithmetic) -> Tensor:
        """Return the mean cross-entropy of the next token, from the last stage's hidden states (batch, sequence,
        hidden) and targets (batch, sequence)."""
        return cross_entropy(self.logits(x, ops), targets)


def cross_entropy(logits: Tensor, targets: Tensor) -> Tensor:
    """Return the mean cross-entropy () in float32, of logits (batch, sequence, vocabulary) and targets (batch,
    sequence)."""
    return functional.cross_entropy(logits.flatten(0, 1).float(), targets.flatten())
