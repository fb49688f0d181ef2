"""Linear, layer norm and embedding whose backward splits in two: the input gradient now, the weight gradient later.

Autograd runs only the way of the input gradient. Each function's backward leaves what its weight gradient needs (its
input and the gradient of its output) in a list; running the list's entries adds the parameter gradients, and dropping
it frees them. (Torch's own split of a backward fails on a stage whose output is a view, and leaves nothing for the
first stage's I.) What recomputation does not keep is run again with the input gradient, and leaves its weight gradients
for later as any other. Knows nothing of stages, ranks or schedules.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from runner.model.operations import EPSILON, Arithmetic, Layer, alike

Later = list[Callable[[], None]]


class DeferredArithmetic(Arithmetic):
    """The same operations, their weight gradients left in `later`, a list of the caller's. `recompute` is what is not
    kept: none, selective (the attention core) or full (all of a layer but its input)."""

    def __init__(self, later: Later, recompute: str = "none") -> None:
        self.later, self.recompute = later, recompute

    def layer(self, block: Layer, x: Tensor) -> Tensor:
        """A whole layer."""
        if self.recompute != "full":
            return super().layer(block, x)
        return _apply(_Again, partial(super().layer, block), x)

    def core(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """Causal attention of all heads."""
        return _apply(_Again, super().core, q, k, v) if self.recompute == "selective" else super().core(q, k, v)

    def linear(self, x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
        """x times weight transposed, plus bias."""
        return _apply(_Linear, x, weight, bias, self.later)

    def norm(self, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        """Layer norm over the last dimension."""
        return _apply(_Norm, x, weight, bias, self.later)

    def embed(self, tokens: Tensor, weight: Tensor) -> Tensor:
        """The rows of weight that tokens name."""
        return _apply(_Embedding, tokens, weight, self.later)


def _apply(function: Any, *arguments: object) -> Tensor:
    result: Tensor = function.apply(*arguments)
    return result


def accumulate(parameter: Tensor, gradient: Tensor) -> None:
    """Add to the parameter's gradient, in the parameter's type."""
    if parameter.grad is None:
        parameter.grad = gradient.to(parameter.dtype)
    else:
        parameter.grad.add_(gradient)


class _Again(torch.autograd.Function):
    """A function of tensors of which only the inputs are kept; its gradient runs it again first."""

    @staticmethod
    def forward(ctx: Any, function: Callable[..., Tensor], *inputs: Tensor) -> Tensor:
        ctx.save_for_backward(*inputs)
        ctx.function = function
        return function(*inputs)  # autograd saves nothing in here

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        inputs = [x.detach().requires_grad_() for x in ctx.saved_tensors]
        with torch.enable_grad():
            out = ctx.function(*inputs)
        torch.autograd.backward(out, grad)
        return None, *(x.grad for x in inputs)


class _Linear(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None, later: Later) -> Tensor:
        ctx.save_for_backward(x)
        ctx.weight, ctx.bias, ctx.later = weight, bias, later
        return functional.linear(x, *alike(x, weight, bias))

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None, None]:
        (x,) = ctx.saved_tensors
        ctx.later.append(partial(_linear_weight, ctx.weight, ctx.bias, x.detach(), grad))
        return grad @ ctx.weight.detach().to(grad.dtype), None, None, None


def _linear_weight(weight: Tensor, bias: Tensor | None, x: Tensor, grad: Tensor) -> None:
    rows = grad.reshape(-1, grad.shape[-1])
    accumulate(weight, rows.t() @ x.reshape(-1, x.shape[-1]))
    if bias is not None:
        accumulate(bias, rows.sum(0))


class _Norm(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor, later: Later) -> Tensor:
        gain, shift = alike(x, weight, bias)
        out, mean, scale = torch.native_layer_norm(x, weight.shape, gain, shift, EPSILON)
        ctx.save_for_backward(x, mean, scale)
        ctx.weight, ctx.bias, ctx.later = weight, bias, later
        return out

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None, None]:
        x, mean, scale = ctx.saved_tensors
        ctx.later.append(partial(_norm_weight, ctx.weight, ctx.bias, x.detach(), mean, scale, grad))
        return _norm_backward(grad, x, mean, scale, ctx.weight, ctx.bias, [True, False, False])[0], None, None, None


def _norm_weight(weight: Tensor, bias: Tensor, x: Tensor, mean: Tensor, scale: Tensor, grad: Tensor) -> None:
    _, weight_grad, bias_grad = _norm_backward(grad, x, mean, scale, weight, bias, [False, True, True])
    accumulate(weight, weight_grad)
    accumulate(bias, bias_grad)


def _norm_backward(
    grad: Tensor, x: Tensor, mean: Tensor, scale: Tensor, weight: Tensor, bias: Tensor, wanted: list[bool]
) -> tuple[Tensor, Tensor, Tensor]:
    backward = torch.ops.aten.native_layer_norm_backward.default
    grads: tuple[Tensor, Tensor, Tensor] = backward(
        grad, x, weight.shape, mean, scale, *alike(x, weight.detach(), bias.detach()), wanted
    )
    return grads


class _Embedding(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, tokens: Tensor, weight: Tensor, later: Later) -> Tensor:
        ctx.save_for_backward(tokens)
        ctx.weight, ctx.later = weight, later
        return functional.embedding(tokens, weight)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[None, None, None]:
        (tokens,) = ctx.saved_tensors
        ctx.later.append(partial(_embedding_weight, ctx.weight, tokens, grad))
        return None, None, None


def _embedding_weight(weight: Tensor, tokens: Tensor, grad: Tensor) -> None:
    rows = torch.zeros_like(weight)
    accumulate(weight, rows.index_add_(0, tokens.reshape(-1), grad.reshape(-1, grad.shape[-1])))
