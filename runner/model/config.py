"""What a run trains: the size of the model, a stack of transformer blocks, and how many of them each stage has.

Knows the default sizes of both modes, the limits of each field, and how a real model's layers become a few blocks.
Knows no tensors: the main process, which never loads torch, reads it too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from backend.schedule.errors import SpecError
from backend.schedule.spec import integer, reject_unknown

LIMITS = {"hidden": 4096, "heads": 64, "sequence": 4096, "batch": 64, "vocabulary": 65536, "layers": 16}
ITEM_BYTES = {"float32": 4, "bfloat16": 2}
MOST_BLOCKS = 8  # of one stage, times model.layers: the ratios of real layers, not their number


@dataclass(frozen=True, slots=True)
class Shape:
    """Sizes of one stage; `layers` blocks a stage if all are alike, `batch` sequences a micro-batch."""

    hidden: int = 32
    heads: int = 2
    sequence: int = 16
    batch: int = 2
    vocabulary: int = 64
    layers: int = 1

    @property
    def activation(self) -> tuple[int, int, int]:
        """Dimensions of what travels between two stages."""
        return (self.batch, self.sequence, self.hidden)


TINY = Shape()
SMALL = Shape(hidden=128, heads=4, sequence=64, batch=4, vocabulary=512, layers=1)


def shape_from_json(data: Mapping[str, Any], default: Shape) -> Shape:
    """`default` with the keys of `data` put in its place; raises SpecError for a key or value out of bounds."""
    reject_unknown(data, LIMITS, "model")
    given = {name: integer(f"model.{name}", value, 1, LIMITS[name]) for name, value in data.items()}
    shape = Shape(**{**asdict(default), **given})
    if shape.hidden % shape.heads:
        nearest = max(shape.heads, shape.hidden // shape.heads * shape.heads)
        message = f"hidden must be a multiple of heads ({shape.heads}); {nearest} is near"
        raise SpecError("model.hidden", shape.hidden, message, nearest=nearest)
    return shape


@dataclass(frozen=True, slots=True)
class Training:
    """All that decides the numbers of a run: ranks and the reference build the same model from it.

    `blocks` has one entry a stage; weights and data come from `seed` alone. `recompute` is what ranks do not keep from
    their forwards; the reference keeps all. `asynchronous`: every backward is a training step of its own, followed by
    an update of its stage's weights; else gradients are summed up over the micro-batches. `sharded`: the first stage
    has no embedding and the last no output layer, of which every rank has shards instead. Of several `steps`, each but
    the first begins with weights one step of gradient descent further on. `dtype` is the type of activations, of
    messages and of the arithmetic; weights and what adds up their gradients are float32 with any.
    """

    shape: Shape
    blocks: tuple[int, ...]
    micros: int
    seed: int
    recompute: str = "none"
    asynchronous: bool = False
    sharded: bool = False
    steps: int = 1
    dtype: str = "float32"

    @property
    def message_bytes(self) -> int:
        """Size of what travels between two stages, in whole 64-bit words."""
        return -(-math.prod(self.shape.activation) * ITEM_BYTES[self.dtype] // 8) * 8

    @property
    def tags(self) -> int:
        """How many tags links may have: an activation and a gradient for each stage and micro-batch."""
        return 2 * self.stages * self.micros

    @property
    def stages(self) -> int:
        """Number of stages."""
        return len(self.blocks)

    @property
    def share(self) -> float:
        """The part of a step's loss that a micro-batch is."""
        return 1.0 if self.asynchronous else 1.0 / self.micros


def blocks_of(layers: Sequence[int] | None, stages: int, shape: Shape) -> tuple[int, ...]:
    """Blocks of each stage, in the ratios of `layers`: divided by what they all have in common and, if one stage still
    had more than MOST_BLOCKS, made smaller in proportion, none that has a layer going without. `shape.layers` blocks
    stand for each that is left, and are a stage's if no layers are given."""
    if layers is None:
        return (shape.layers,) * stages
    common = math.gcd(*layers)
    few = [each // common for each in layers]
    shrunk = min(1.0, MOST_BLOCKS / max(few))
    return tuple(shape.layers * (max(1, round(each * shrunk)) if each else 0) for each in few)
