"""The reference training: the same model on the same data in one process, with which a run is compared.

It shares with a run only the definitions in config.py and parameters.py (sizes, names, initial values, tokens). The
computation is written again here, as plain functions of a dictionary of parameters under ordinary autograd, one
micro-batch after the other: no stage, no deferred gradient, no recomputation, no message, no order. In
bfloat16 it rounds where a run does: parameters are float32, and cast to the activations' type where they are used.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor
from torch.nn import functional

from runner.model.config import Training
from runner.model.parameters import EPSILON, RATE, Data, dtype_of, named_outputs, named_results, stage_parameters

Parameters = dict[str, Tensor]  # of one stage, by name
Record = Callable[[int, Sequence[Parameters]], None]  # of a micro-batch, and the stages' sums of gradients with it


def no_beat() -> None:
    """Report nothing."""


def no_record(micro: int, sums: Sequence[Parameters]) -> None:
    """Take note of nothing."""


def train(
    training: Training,
    device: torch.device | None = None,
    beat: Callable[[], None] = no_beat,
    record: Record = no_record,
) -> tuple[list[list[float]], dict[str, Tensor]]:
    """Train all steps. Returns the loss of each micro-batch of each step, and the last step's gradient of every
    parameter, named `stage3.blocks.0.qkv`, accumulated in micro-batch order; of several steps also the weights with
    which the last one began. `beat` is called after each micro-batch, `record` after each of the last step."""
    device = device or torch.device("cpu")
    model = [_initial(training, index, device) for index in range(training.stages)]
    losses: list[list[float]] = []
    for step in range(training.steps):
        if step > 0:
            model = [_descend(stage, _gradients(stage)) for stage in model]
        last = step == training.steps - 1
        losses.append(_step(model, training, Data(training, device, step), beat, record if last else no_record))
    results: dict[str, Tensor] = {}
    for index, stage in enumerate(model):
        results |= named_results(_gradients(stage), index, stage if training.steps > 1 else None)
    return losses, results


def evaluate(
    training: Training, device: torch.device | None = None, beat: Callable[[], None] = no_beat
) -> tuple[list[float], dict[str, Tensor]]:
    """Run every micro-batch forward, with the initial weights. Returns the loss of each, and by name the logits (batch,
    vocabulary) of the token after each sequence. `beat` is called after each micro-batch."""
    device = device or torch.device("cpu")
    data, losses, outputs = Data(training, device), [], {}
    with torch.no_grad():
        model = [_initial(training, index, device) for index in range(training.stages)]
        for micro in range(training.micros):
            logits = _logits(model, training, data, micro)
            losses.append(float(_cross_entropy(logits, data.targets(micro))))
            outputs[micro] = logits[:, -1].clone()
            beat()
    return losses, named_outputs(outputs)


def train_stale(
    training: Training,
    used: Sequence[Sequence[int]],
    device: torch.device | None = None,
    beat: Callable[[], None] = no_beat,
    record: Record = no_record,
) -> tuple[list[float], dict[str, Tensor]]:
    """Train where every micro-batch is a step of its own, on stale weights. `used` has, for each stage and micro-batch,
    the number of updates of the weights that both its forward and its backward use. Returns the loss of each
    micro-batch, and the sum of all gradients and the weights after the last update, by name. One micro-batch runs after
    the other, however the schedule overlaps them. `beat` and `record` are called after each."""
    device = device or torch.device("cpu")
    versions = [{0: _initial(training, index, device)} for index in range(training.stages)]
    totals: list[Parameters] = [{} for _ in versions]
    data, losses = Data(training, device), []
    for micro in range(training.micros):
        model = [kept[used[index][micro]] for index, kept in enumerate(versions)]
        loss = _loss(model, training, data, micro)
        losses.append(float(loss.detach()))
        torch.autograd.backward(loss)
        for index, (stage, kept) in enumerate(zip(model, versions, strict=True)):
            gradients = _gradients(stage)
            for name, gradient in gradients.items():
                stage[name].grad = None
                totals[index][name] = totals[index].get(name, torch.zeros_like(gradient)) + gradient
            kept[micro + 1] = _descend(kept[micro], gradients)
            oldest = min(used[index][micro + 1 :], default=micro + 1)
            for version in [version for version in kept if version < oldest]:
                del kept[version]
        record(micro, totals)
        beat()
    results: dict[str, Tensor] = {}
    for index, (kept, total) in enumerate(zip(versions, totals, strict=True)):
        results |= named_results(total, index, kept[training.micros])
    return losses, results


def mean(losses: Sequence[float]) -> float:
    """Return the mean of losses, summed in their order."""
    return sum(losses) / len(losses) if losses else math.nan


def _initial(training: Training, index: int, device: torch.device) -> Parameters:
    """Return the parameters of a stage as leaves of the graph; only those of a trained stage get gradients."""
    values, trained = stage_parameters(training, index), index not in training.frozen
    return {name: value.to(device).requires_grad_(trained) for name, value in values.items()}


def _gradients(stage: Mapping[str, Tensor]) -> Parameters:
    return {name: value.grad for name, value in stage.items() if value.grad is not None}


def _descend(stage: Mapping[str, Tensor], gradients: Mapping[str, Tensor]) -> Parameters:
    """Return the parameters after one step of gradient descent, as new leaves; rounded once, as in a run: bfloat16
    would make more of another last bit with every step."""
    if not gradients:  # the stage is not trained
        return dict(stage)
    descended = {name: torch.sub(value.detach(), gradients[name], alpha=RATE) for name, value in stage.items()}
    return {name: value.requires_grad_() for name, value in descended.items()}


def _step(
    model: Sequence[Parameters], training: Training, data: Data, beat: Callable[[], None], record: Record
) -> list[float]:
    """Accumulate the gradients of one step; returns the loss of each micro-batch."""
    losses = []
    for micro in range(training.micros):
        loss = _loss(model, training, data, micro)
        torch.autograd.backward(loss * training.share)
        losses.append(float(loss.detach()))
        record(micro, [_gradients(stage) for stage in model])
        beat()
    return losses


def _loss(model: Sequence[Parameters], training: Training, data: Data, micro: int) -> Tensor:
    """Return the mean cross-entropy of one micro-batch."""
    return _cross_entropy(_logits(model, training, data, micro), data.targets(micro))


def _cross_entropy(logits: Tensor, targets: Tensor) -> Tensor:
    """Return the mean cross-entropy () in float32, of logits (batch, sequence, vocabulary)."""
    return functional.cross_entropy(logits.flatten(0, 1).float(), targets.flatten())


def _logits(model: Sequence[Parameters], training: Training, data: Data, micro: int) -> Tensor:
    """Return the logits (batch, sequence, vocabulary) of one micro-batch, rounded to the model's type."""
    dtype, heads, first, last = dtype_of(training), training.shape.heads, model[0], model[-1]
    x = functional.embedding(data.inputs(micro), first["tokens"]).to(dtype)  # (batch, sequence, hidden)
    x = x + first["positions"][: x.shape[1]].to(dtype)
    for index, stage in enumerate(model):
        for number in range(training.blocks[index]):
            x = _block(stage, f"blocks.{number}.", x, heads)
    x = _norm(x, last["norm"], last["bias"])
    return _early(x, last["head"]) if training.early else _linear(x, last["head"])


def _early(x: Tensor, weight: Tensor) -> Tensor:
    """Return the logits of `_linear` in float32; the gradient of x is made from theirs as it is, that of the weight
    from theirs rounded to the type of x, as shards do that make the former before they know the softmax."""
    exact = functional.linear(x.float(), weight.detach().to(x.dtype).float())
    return _linear(x.detach(), weight).float() + (exact - exact.detach())


def _block(stage: Mapping[str, Tensor], prefix: str, x: Tensor, heads: int) -> Tensor:
    """Return x (batch, sequence, hidden) plus causal attention plus MLP, each behind a layer norm."""
    batch, sequence, hidden = x.shape

    def weight(name: str) -> Tensor:
        return stage[prefix + name]

    projected = _linear(_norm(x, weight("norm1"), weight("bias1")), weight("qkv"))
    projected = projected.view(batch, sequence, 3, heads, hidden // heads)
    q, k, v = (projected[:, :, part].transpose(1, 2) for part in range(3))  # (batch, heads, sequence, hidden / heads)
    mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    mixed = mixed.transpose(1, 2).reshape(batch, sequence, hidden)
    x = x + _linear(mixed, weight("out"), weight("out_bias"))
    inner = _linear(_norm(x, weight("norm2"), weight("bias2")), weight("up"), weight("up_bias"))
    return x + _linear(functional.gelu(inner), weight("down"), weight("down_bias"))


def _linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Return x (..., in) times weight (out, in) transposed, plus bias (out,)."""
    return functional.linear(x, weight.to(x.dtype), None if bias is None else bias.to(x.dtype))


def _norm(x: Tensor, scale: Tensor, shift: Tensor) -> Tensor:
    """Return the layer norm over the last dimension of x (..., hidden)."""
    return functional.layer_norm(x, scale.shape, scale.to(x.dtype), shift.to(x.dtype), EPSILON)
