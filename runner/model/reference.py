"""Trains the same model on the same data in one process, and judges a run's gradients by it.

Plain autograd, micro-batch after micro-batch: independent of the deferred gradients, of messages and of schedules.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from runner.messages import TOLERANCE, Verdict
from runner.model.config import Training
from runner.model.operations import Arithmetic
from runner.model.stage import Data, Stage
from runner.model.weights import descended


def train(training: Training, device: torch.device | None = None) -> tuple[list[float], dict[str, Tensor]]:
    """The mean loss of each step, and the last step's gradient of every parameter, named `stage3.blocks.0.qkv`,
    accumulated in micro-batch order; of several steps also the weights with which the last one began."""
    device = device or torch.device("cpu")
    model = [Stage(training, index).to(device) for index in range(training.stages)]
    losses = [_step(model, training, Data(training, device))]
    for step in range(1, training.steps):
        model = [descended(stage, stage.gradients()) for stage in model]
        losses.append(_step(model, training, Data(training, device, step)))
    results: dict[str, Tensor] = {}
    for index, stage in enumerate(model):
        gradients = stage.gradients()
        results |= named(gradients, index) if training.steps == 1 else named_results(stage, gradients, index)
    return losses, results


def _step(model: Sequence[Stage], training: Training, data: Data) -> float:
    """The gradients of one step, and its mean loss."""
    do, losses = Arithmetic(), []
    for micro in range(training.micros):
        x = data.inputs(micro)
        for stage in model:
            x = stage(x, do)
        loss = model[-1].loss(x, data.targets(micro), do)
        torch.autograd.backward(loss * training.share)
        losses.append(float(loss.detach()))
    return mean(losses)


def train_stale(
    training: Training, used: Sequence[Sequence[int]], device: torch.device | None = None
) -> tuple[list[float], dict[str, Tensor]]:
    """The loss of each micro-batch, the sum of all gradients and the weights after the last update, where every
    micro-batch is a step of its own: `used` says, for each stage and micro-batch, how many updates the weights had had
    that both its forward and its backward use. One micro-batch after the other, whatever the schedule had overlap."""
    device = device or torch.device("cpu")
    kept = [{0: Stage(training, index).to(device)} for index in range(training.stages)]
    totals: list[dict[str, Tensor]] = [{} for _ in kept]
    data, do, losses = Data(training, device), Arithmetic(), []
    for micro in range(training.micros):
        model = [versions[used[index][micro]] for index, versions in enumerate(kept)]
        x = data.inputs(micro)
        for stage in model:
            x = stage(x, do)
        loss = model[-1].loss(x, data.targets(micro), do)
        losses.append(float(loss.detach()))
        torch.autograd.backward(loss)
        for index, (stage, versions) in enumerate(zip(model, kept, strict=True)):
            gradients = stage.gradients()
            stage.zero_grad(set_to_none=True)
            for name, gradient in gradients.items():
                totals[index][name] = totals[index].get(name, torch.zeros_like(gradient)) + gradient
            versions[micro + 1] = descended(versions[micro], gradients)
            oldest = min(used[index][micro + 1 :], default=micro + 1)
            for version in [version for version in versions if version < oldest]:
                del versions[version]
    results: dict[str, Tensor] = {}
    for index, (versions, total) in enumerate(zip(kept, totals, strict=True)):
        results |= named_results(versions[training.micros], total, index)
    return losses, results


def named_results(stage: Stage, gradients: Mapping[str, Tensor], index: int) -> dict[str, Tensor]:
    """Gradients and, where these were not all of the same ones, the weights."""
    weights = {f"updated stage{index}.{name}": one.detach().cpu() for name, one in stage.named_parameters()}
    return named(gradients, index) | weights


def named(gradients: Mapping[str, Tensor], index: int) -> dict[str, Tensor]:
    """Gradients of a stage's parameters on the CPU, by names that are unique in the model."""
    return {f"stage{index}.{name}": gradient.cpu() for name, gradient in gradients.items()}


def mean(losses: Sequence[float]) -> float:
    """Mean of losses, summed in their order."""
    return sum(losses) / len(losses) if losses else math.nan


def judge(
    loss: float,
    copies: list[dict[str, Tensor]],
    reference_loss: float,
    reference: Mapping[str, Tensor],
    dtype: str = "float32",
) -> Verdict:
    """Compare a run with its reference; `copies` holds one dictionary a rank, so replicas are judged one by one."""
    tolerance = TOLERANCE[dtype]
    worst, largest = "", -1.0
    for gradients in copies:
        for name, gradient in gradients.items():
            error = relative_error(gradient, reference[name])
            if error > largest:
                worst, largest = name, error
    missing = reference.keys() - {name for gradients in copies for name in gradients}
    if missing:
        return Verdict(False, loss, reference_loss, None, min(missing))
    close = abs(loss - reference_loss) <= tolerance * abs(reference_loss)
    shown = largest if largest < math.inf else None
    return Verdict(close and largest <= tolerance, loss, reference_loss, shown, worst)


def relative_error(gradient: Tensor, reference: Tensor) -> float:
    """|g - reference| / |reference|, both norms over the whole parameter, in float64; infinity for NaN."""
    if gradient.shape != reference.shape:
        return math.inf
    difference = float(torch.linalg.vector_norm(gradient.double() - reference.double()))
    norm = float(torch.linalg.vector_norm(reference.double()))
    error = difference / norm if norm > 0 else (math.inf if difference > 0 else 0.0)
    return error if math.isfinite(error) else math.inf
