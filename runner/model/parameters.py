"""The definition of the model: its parameters by name, their initial values, and its data, all made from a seed.

Every process, every replica of a stage and the reference build the same ones. Defines no computation: a run computes
with stage.py, and the reference, which verifies it, with code of its own.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch
from torch import Tensor

from runner.model.config import Shape, Training
from runner.model.verdict import OUTPUT, UPDATED

EPSILON = 1e-5  # of layer norms
RATE = 0.05  # of gradient descent: large enough that a stale gradient taken for a fresh one shows in the weights


def stage_parameters(training: Training, index: int) -> dict[str, Tensor]:
    """Return the initial float32 parameters of a stage by name.

    First stage: tokens (vocabulary, hidden), positions (sequence, hidden). Last stage: norm and bias (hidden,), head
    (vocabulary, hidden). Every block: those of `_block` under `blocks.N.`. Where the vocabulary is sharded over the
    ranks, stages have neither tokens nor head.
    """
    shape = training.shape
    random = torch.Generator().manual_seed(training.seed * 100_003 + index)
    first, last = index == 0, index == training.stages - 1
    found: dict[str, Tensor] = {}
    if first and not training.sharded:
        found["tokens"] = embedding(training)
    if first:
        found["positions"] = _matrix(shape.sequence, shape.hidden, random)
    for number in range(training.blocks[index]):
        found |= {f"blocks.{number}.{name}": value for name, value in _block(shape, random).items()}
    if last:
        found |= {"norm": torch.ones(shape.hidden), "bias": torch.zeros(shape.hidden)}
    if last and not training.sharded:
        found["head"] = output_layer(training)
    return found


def _block(shape: Shape, random: torch.Generator) -> dict[str, Tensor]:
    """Return the parameters of one transformer block: matrices (out, in), norms and biases (out,).

    The query-key-value projection has no bias: a key bias has a gradient of exactly zero, which no relative error
    can measure.
    """
    hidden = shape.hidden
    return {
        "norm1": torch.ones(hidden),
        "bias1": torch.zeros(hidden),
        "qkv": _matrix(3 * hidden, hidden, random),
        "out": _matrix(hidden, hidden, random),
        "out_bias": torch.zeros(hidden),
        "norm2": torch.ones(hidden),
        "bias2": torch.zeros(hidden),
        "up": _matrix(4 * hidden, hidden, random),
        "up_bias": torch.zeros(4 * hidden),
        "down": _matrix(hidden, 4 * hidden, random),
        "down_bias": torch.zeros(hidden),
    }


def output_layer(training: Training) -> Tensor:
    """Return the initial weights (vocabulary, hidden) of the output layer."""
    random = torch.Generator().manual_seed(training.seed * 100_003 + training.stages)
    return _matrix(training.shape.vocabulary, training.shape.hidden, random)


def embedding(training: Training) -> Tensor:
    """Return the initial weights (vocabulary, hidden) of the embedding."""
    random = torch.Generator().manual_seed(training.seed * 100_003 + training.stages + 1)
    return _matrix(training.shape.vocabulary, training.shape.hidden, random)


def shard_rows(training: Training, rank: int, ranks: int) -> range:
    """Return the words, which are rows of the embedding and of the output layer, of a rank's shard."""
    words = training.shape.vocabulary
    return range(rank * words // ranks, (rank + 1) * words // ranks)


def dtype_of(training: Training) -> torch.dtype:
    """Return the type of activations, messages and arithmetic."""
    found: torch.dtype = getattr(torch, training.dtype)
    return found


class Data:
    """The tokens of every micro-batch of a training step, made from the seed."""

    def __init__(self, training: Training, device: torch.device, step: int = 0) -> None:
        self.device = device
        first = step * training.micros
        self.batches = [
            _tokens(training, first + micro, batch, sequence).to(device)
            for micro, (batch, sequence, _) in enumerate(training.activations)
        ]

    def inputs(self, micro: int) -> Tensor:
        """Return the first stage's input, tokens (batch, sequence)."""
        return self.batches[micro][:, :-1]

    def targets(self, micro: int) -> Tensor:
        """Return the tokens to predict (batch, sequence): the same ones, one later."""
        return self.batches[micro][:, 1:]


def named_results(
    gradients: Mapping[str, Tensor], index: int, weights: Mapping[str, Tensor] | None = None
) -> dict[str, Tensor]:
    """Return the results of a stage on the CPU, by names that are unique in the model: the gradient of every parameter
    (of its shape) and, where weights changed, these too."""
    results = {f"stage{index}.{name}": gradient.cpu() for name, gradient in gradients.items()}
    if weights is not None:
        results |= {f"{UPDATED}stage{index}.{name}": value.detach().cpu() for name, value in weights.items()}
    return results


def named_outputs(outputs: Mapping[int, Tensor]) -> dict[str, Tensor]:
    """Return the outputs of a forward-only run (batch, vocabulary), by micro-batch, on the CPU by unique names."""
    return {f"{OUTPUT}{micro}": output.cpu() for micro, output in outputs.items()}


def _tokens(training: Training, micro: int, batch: int, sequence: int) -> Tensor:
    """Return the tokens (batch, sequence + 1) of a micro-batch, counted over all steps."""
    random = torch.Generator().manual_seed(training.seed * 1_000_003 + 500_000_003 + micro)
    return torch.randint(training.shape.vocabulary, (batch, sequence + 1), generator=random)


def _matrix(rows: int, columns: int, random: torch.Generator) -> Tensor:
    return torch.randn(rows, columns, generator=random) / math.sqrt(columns)
