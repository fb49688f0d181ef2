"""Compute two ratios: copies to compute (offload), and output layer to transformer layer (vocabulary).

Closed forms over models and machines; estimate.py derives the same step by step for one model on one machine.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from backend.schedule.hardware.cost_model import Setting
from backend.schedule.hardware.estimate import estimate
from backend.schedule.hardware.models import MODELS, Model

Floats = npt.NDArray[np.float64]
# The rates at which PipeOffload's guide states its k (docs/decisions/13-activation-offload.md).
GUIDE_FLOPS, GUIDE_BYTES = 220e12, 15e9


def offload_ratio(hidden: Floats | float, sequence: Floats | float, flops: float, host_bytes: float) -> Floats:
    """Return PipeOffload's k (arXiv 2503.01328): the time of both copies of a layer's activations over its compute
    time.

    For the papers' layer, 10 / (3 (6h + s)) B_c / B_o with ``flops`` FLOP/s reached and ``host_bytes`` bytes/s to
    host memory.
    """
    return np.asarray(10.0 / (3.0 * (6.0 * np.asarray(hidden) + np.asarray(sequence))) * flops / host_bytes)


@dataclass(frozen=True)
class OutputLayer:
    """A model's output layer compared with one of its transformer layers, in parameters and in FLOP of a
    micro-batch.

    ``share`` is its part of the model's FLOP; ``forward`` the ratio of its forward to that of all transformer layers.
    """

    model: Model
    parameters: float
    compute: float
    share: float
    forward: float


def output_layers(more: Model | None = None) -> list[OutputLayer]:
    """Return the known models' output layers, the most compute-intensive first; ``more`` replaces the model of the
    same name.
    """
    models = {name: model for name, model in MODELS.items() if name != "custom"}
    if more is not None:
        models[more.name] = more
    return sorted((_output_layer(model) for model in models.values()), key=lambda each: -each.compute)


def _output_layer(model: Model) -> OutputLayer:
    plain = Setting.read({"p": 1, "heads": True})
    found = estimate(replace(plain, model=model, layers=(model.layers,)))
    pieces = found.pieces
    layer, output = sum(pieces.layer), sum(pieces.output)
    share = output / (output + model.layers * layer)
    forward = pieces.output[0] / (model.layers * pieces.layer[0])
    return OutputLayer(model, found.vocabulary_ratio, output / layer, share, forward)
