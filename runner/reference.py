"""Trains the same model on the same data in one process, and judges a run's gradients by it.

Plain autograd, micro-batch after micro-batch: independent of the deferred gradients, of messages and of schedules.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch
from torch import Tensor

from runner.arithmetic import Arithmetic
from runner.control import Verdict
from runner.shape import Training
from runner.stage import Data, Stage

TOLERANCE = 1e-5


def train(training: Training, device: torch.device | None = None) -> tuple[float, dict[str, Tensor]]:
    """Mean loss and the gradient of every parameter, named `stage3.blocks.0.qkv`, accumulated in micro-batch order."""
    device = device or torch.device("cpu")
    model = [Stage(training, index).to(device) for index in range(training.stages)]
    data, do = Data(training, device), Arithmetic()
    losses: list[Tensor] = []
    for micro in range(training.micros):
        x = data.inputs(micro)
        for stage in model:
            x = stage(x, do)
        loss = model[-1].loss(x, data.targets(micro), do)
        torch.autograd.backward(loss / training.micros)
        losses.append(loss.detach())
    grads: dict[str, Tensor] = {}
    for index, stage in enumerate(model):
        grads |= named_gradients(stage, index)
    return mean(losses), grads


def named_gradients(stage: Stage, index: int) -> dict[str, Tensor]:
    """The gradients of a stage's parameters on the CPU; a parameter that received none is left out."""
    named = stage.named_parameters()
    return {f"stage{index}.{name}": one.grad.cpu() for name, one in named if one.grad is not None}


def mean(losses: list[Tensor]) -> float:
    """Mean of the micro-batches' losses, summed in their order."""
    return float(torch.stack(losses).double().mean()) if losses else float("nan")


def judge(
    loss: float, copies: list[dict[str, Tensor]], reference_loss: float, reference: Mapping[str, Tensor]
) -> Verdict:
    """Compare a run with its reference; `copies` holds one dictionary a rank, so replicas are judged one by one."""
    worst, largest = "", -1.0
    for gradients in copies:
        for name, gradient in gradients.items():
            error = relative_error(gradient, reference[name])
            if error > largest:
                worst, largest = name, error
    missing = reference.keys() - {name for gradients in copies for name in gradients}
    if missing:
        return Verdict(False, loss, reference_loss, None, min(missing))
    close = abs(loss - reference_loss) <= TOLERANCE * abs(reference_loss)
    shown = largest if largest < math.inf else None
    return Verdict(close and largest <= TOLERANCE, loss, reference_loss, shown, worst)


def relative_error(gradient: Tensor, reference: Tensor) -> float:
    """|g - reference| / |reference|, both norms over the whole parameter, in float64; infinity for NaN."""
    if gradient.shape != reference.shape:
        return math.inf
    difference = float(torch.linalg.vector_norm(gradient.double() - reference.double()))
    norm = float(torch.linalg.vector_norm(reference.double()))
    error = difference / norm if norm > 0 else (math.inf if difference > 0 else 0.0)
    return error if math.isfinite(error) else math.inf
