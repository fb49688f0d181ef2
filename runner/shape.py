"""The size of the model that a run trains: a stack of transformer blocks, the same number on every stage.

Knows the default sizes of both modes and the limits of each field. Knows no tensors: the main process, which
never loads torch, reads it too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from backend.schedule.errors import SpecError
from backend.schedule.spec import integer, reject_unknown

LIMITS = {"hidden": 4096, "heads": 64, "sequence": 4096, "batch": 64, "vocabulary": 65536, "layers": 16}


@dataclass(frozen=True, slots=True)
class Shape:
    """Sizes of one stage; `layers` blocks a stage, `batch` sequences a micro-batch."""

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
