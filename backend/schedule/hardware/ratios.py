"""Compute two ratios: copies to compute (offload), and output layer to transformer layer (vocabulary).

Closed forms over models and machines; estimate.py derives the same step by step for one model on one machine. The
table that the vocabulary-parallelism authors print stays beside the presets as their claim.
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
class Printed:
    """A row of the vocabulary-parallelism table: activated ``millions`` of parameters in a layer, and ``ratio`` =
    hidden * vocabulary / parameters. Some are not the makers' own: Llama 3's vocabulary is 128,256, and the parameters
    of Mixtral's layers are about those of one expert.
    """

    title: str
    model: str  # the preset
    millions: float
    hidden: int
    vocabulary: int
    ratio: float


PRINTED = (
    Printed("Gemma2-9B", "gemma2-9b", 198, 3584, 256000, 4.63),
    Printed("Gemma2-27B", "gemma2-27b", 566, 4608, 256000, 2.08),
    Printed("DeepSeek-V3-671B", "deepseek-v3", 607, 7168, 129280, 1.53),
    Printed("Qwen2-7B", "qwen2-7b", 231, 3584, 152064, 2.36),
    Printed("Qwen2-72B", "qwen2-72b", 884, 8192, 152064, 1.41),
    Printed("Llama3-7B", "llama3-8b", 234, 4096, 128000, 2.24),
    Printed("Llama3-70B", "llama3-70b", 862, 8192, 128000, 1.22),
    Printed("Llama3-405B", "llama3.1-405b", 3198, 16384, 128000, 0.66),
    Printed("Mixtral-8x22B", "mixtral-8x22b", 355, 6144, 32768, 0.57),
    Printed("Mixtral-8x7B", "mixtral-8x7b", 212, 4096, 32768, 0.63),
)


@dataclass(frozen=True)
class OutputLayer:
    """A model's output layer compared with one of its transformer layers, in parameters and in FLOP of a
    micro-batch.

    ``share`` is its part of the model's FLOP; ``forward`` the ratio of its forward to that of all transformer layers;
    ``printed`` the row of the table for this model, if there is one.
    """

    model: Model
    parameters: float
    compute: float
    share: float
    forward: float
    printed: Printed | None


def output_layers(more: Model | None = None) -> list[OutputLayer]:
    """Return the known models' output layers, the most compute-intensive first; ``more`` replaces the model of the
    same name.
    """
    models = {name: model for name, model in MODELS.items() if name != "custom"}
    if more is not None:
        models[more.name] = more
    return sorted((_output_layer(model) for model in models.values()), key=lambda each: -each.compute)


def _output_layer(model: Model) -> OutputLayer:
    plain = Setting.read({"p": 1, "heads": True, "efficiency": 1.0})  # FLOP are compared, not what a machine reaches
    found = estimate(replace(plain, model=model, layers=(model.layers,)))
    pieces = found.pieces
    counts = [kind.count for kind in model.kinds]
    layers = [sum(n * each[k] for n, each in zip(counts, pieces.kinds, strict=True)) for k in range(3)]
    output = sum(pieces.last)
    share = output / (output + sum(layers))
    forward = pieces.last[0] / layers[0]
    row = next((each for each in PRINTED if each.model == model.name), None)
    return OutputLayer(model, found.vocabulary_ratio, output * model.layers / sum(layers), share, forward, row)
