"""The sizes of the trained model, a stack of transformer blocks, and the number of blocks of each stage.

Has the default sizes of both modes, the limits of each field, and the reduction of a real model's layers to a few
blocks. Holds no tensors: the main process, which never loads torch, reads it too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from backend.errors import RequestError, message
from backend.schedule.options.blocks import MOST_BLOCKS
from backend.schedule.options.frozen import untrained
from backend.schedule.options.per_chunk import Modes, of_stages
from backend.schedule.spec import integer, reject_unknown

LIMITS = {"hidden": 4096, "heads": 64, "sequence": 4096, "batch": 64, "vocabulary": 65536, "layers": 16}
ITEM_BYTES = {"float32": 4, "bfloat16": 2}


@dataclass(frozen=True, slots=True)
class Shape:
    """Sizes of one stage: `layers` blocks per stage if all are alike, `batch` sequences per micro-batch, of `sequence`
    tokens each in the longest one."""

    hidden: int = 32
    heads: int = 2
    sequence: int = 16
    batch: int = 2
    vocabulary: int = 64
    layers: int = 1


TINY = Shape()
SMALL = Shape(hidden=128, heads=4, sequence=64, batch=4, vocabulary=512, layers=1)


def shape_from_json(data: Mapping[str, Any], default: Shape) -> Shape:
    """Return `default` with the keys of `data` changed. Raises RequestError for a key or value out of bounds."""
    reject_unknown(data, LIMITS, "model")
    given = {name: integer(f"model.{name}", value, 1, LIMITS[name]) for name, value in data.items()}
    shape = Shape(**{**asdict(default), **given})
    if shape.hidden % shape.heads:
        nearest = max(shape.heads, shape.hidden // shape.heads * shape.heads)
        reason = message(
            "runner.hidden_multiple_of_heads",
            "hidden must be a multiple of heads ({heads}); {nearest} is near",
            heads=shape.heads,
            nearest=nearest,
        )
        raise RequestError("model.hidden", shape.hidden, reason, nearest=nearest)
    return shape


@dataclass(frozen=True, slots=True)
class Training:
    """All parameters that determine the numbers of a run: ranks and the reference build the same model from it.

    `blocks` has one entry per stage; weights and data depend on `seed` only. `recompute` names what ranks compute again
    instead of saving it, everywhere or in each chunk; the reference saves all. `asynchronous`: every backward is a
    training step of its own, followed by an update of its stage's weights; otherwise gradients are summed over the
    micro-batches. `sharded`: the first stage has no embedding and the last no output layer; every rank has shards of
    them instead; `early`: they make the gradient of the output layer's input before the softmax is known, and so do not
    round the gradient of the logits for it. Of several `steps`, each after the first begins with weights one step of
    gradient descent further on. `dtype` is the type of activations, of messages and of the arithmetic; weights and sums
    of their gradients are always float32. `forward_only`: inference, in which nothing is trained; its results are
    outputs and losses. `frozen` stages are not trained: embedding and output layer with the first and the last of them,
    also where they are sharded. `ahead`: what is computed again is so before the gradient is there. `spared`: the
    stages and micro-batches that save all. `sequences` has the tokens of a sequence of each micro-batch of a step where
    they differ.
    """

    shape: Shape
    blocks: tuple[int, ...]
    micros: int
    seed: int
    recompute: Modes = "none"
    asynchronous: bool = False
    sharded: bool = False
    steps: int = 1
    dtype: str = "float32"
    forward_only: bool = False
    frozen: tuple[int, ...] = ()
    ahead: bool = False
    spared: frozenset[tuple[int, int]] = frozenset()
    sequences: tuple[int, ...] = ()
    early: bool = False

    @property
    def activations(self) -> list[tuple[int, int, int]]:
        """Return the shape (batch, sequence, hidden) of each micro-batch's messages between two stages."""
        lengths = self.sequences or (self.shape.sequence,) * self.micros
        return [(self.shape.batch, length, self.shape.hidden) for length in lengths]

    @property
    def message_bytes(self) -> list[int]:
        """Return the bytes of the payload of each micro-batch's messages, in whole 64-bit words."""
        return [-(-math.prod(each) * ITEM_BYTES[self.dtype] // 8) * 8 for each in self.activations]

    @property
    def longest(self) -> int:
        """Return the micro-batch with the longest sequences."""
        return self.sequences.index(max(self.sequences)) if self.sequences else 0

    @property
    def tags(self) -> int:
        """Return the number of tags of links: an activation and a gradient for each stage and micro-batch."""
        return 2 * self.stages * self.micros

    @property
    def stages(self) -> int:
        """Return the number of stages."""
        return len(self.blocks)

    def keeps_nothing(self, stage: int) -> bool:
        """Return whether a stage has forwards alone: in inference, and before the first stage that is trained."""
        return self.forward_only or stage in untrained(self.frozen)

    def recompute_of(self, stage: int, micro: int) -> str:
        """Return what a stage computes again of a micro-batch instead of saving it."""
        return "none" if (stage, micro) in self.spared else of_stages(self.recompute, self.stages)[stage]

    @property
    def share(self) -> float:
        """Return the share of a micro-batch in the step's loss."""
        return 1.0 if self.asynchronous else 1.0 / self.micros


def sequences_of(sizes: Sequence[float], shape: Shape) -> tuple[int, ...]:
    """Return the tokens of a sequence of each micro-batch: in the ratios of their sizes, and at least one."""
    return tuple(max(1, round(shape.sequence * size / max(sizes))) for size in sizes)


def blocks_of(layers: Sequence[int] | None, stages: int, shape: Shape) -> tuple[int, ...]:
    """Return the blocks of each stage, in the ratios of `layers`: divided by their common divisor and, if a stage still
    had more than MOST_BLOCKS, reduced in proportion, but to no less than one for a stage that has layers. Each is then
    `shape.layers` blocks; without `layers`, every stage has that many."""
    if layers is None:
        return (shape.layers,) * stages
    common = math.gcd(*layers)
    few = [each // common for each in layers]
    shrunk = min(1.0, MOST_BLOCKS / max(few))
    return tuple(shape.layers * (max(1, round(each * shrunk)) if each else 0) for each in few)
