"""Linear, layer norm and embedding whose backward splits in two: the input gradient now, the weight gradient later.

Autograd computes only input gradients. Each function's backward appends to a list a closure with the inputs of its
weight gradient (its input and the gradient of its output); calling the closures adds the parameter gradients, and
dropping the list frees them. (Torch's own split of a backward fails on a stage whose output is a view, and leaves
nothing for the first stage's I.) With recomputation, a forward is run again with the input gradient, and its weight
gradients are deferred like any other. Knows nothing of stages, ranks or schedules.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from runner.model.operations import Arithmetic, Layer, cast_like
from runner.model.parameters import EPSILON

Deferred = list[Callable[[], None]]  # weight gradients that are still to be computed
Again = list[Callable[[], None]]  # what is to be run again, and may be before the gradient is there


class DeferredArithmetic(Arithmetic):
    """The same operations, with weight gradients deferred to `deferred`, the caller's list; None where there are none,
    and nothing is saved for them.

    `recompute` is the part that runs again instead of being saved: none, selective (attention) or full (a layer, of
    which only the input is saved); each part is added to `again`, the caller's list, unless that is None.
    """

    def __init__(self, deferred: Deferred | None, recompute: str = "none", again: Again | None = None) -> None:
        self.deferred, self.recompute, self.again = deferred, recompute, again

    def layer(self, block: Layer, x: Tensor) -> Tensor:
        """Return a whole layer of x (batch, sequence, hidden)."""
        if self.recompute != "full":
            return super().layer(block, x)
        return _apply(_Recomputed, partial(super().layer, block), self.again, x)

    def attention(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """Return the causal attention of all heads; all (batch, heads, sequence, hidden / heads)."""
        return (
            _apply(_Recomputed, super().attention, self.again, q, k, v)
            if self.recompute == "selective"
            else super().attention(q, k, v)
        )

    def linear(self, x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
        """Return x (..., in) times weight (out, in) transposed, plus bias (out,)."""
        return _apply(_Linear, x, weight, bias, self.deferred)

    def norm(self, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        """Return the layer norm over the last dimension of x (..., hidden); weight and bias (hidden,)."""
        return _apply(_Norm, x, weight, bias, self.deferred)

    def embed(self, tokens: Tensor, weight: Tensor) -> Tensor:
        """Return the rows of weight (vocabulary, hidden) for tokens (batch, sequence): (batch, sequence, hidden)."""
        return _apply(_Embedding, tokens, weight, self.deferred)


def _apply(function: Any, *arguments: object) -> Tensor:
    result: Tensor = function.apply(*arguments)
    return result


def leave(x: Tensor, given: list[Tensor]) -> Tensor:
    """Return an end () for the graph of x (any shape). A backward from it takes the gradient of x from `given`.

    With a gradient as an argument, torch's `backward` checks its shape with symbolic shapes: importing these takes each
    new process half a second; autograd's own check of what a function returns remains.
    """
    return _apply(_Leave, x, given)


class _Leave(torch.autograd.Function):
    """x (any shape) to () of any value; grad ()."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, given: list[Tensor]) -> Tensor:
        ctx.given = given
        return x.new_empty(())

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        return ctx.given.pop(), None


def accumulate(parameter: Tensor, gradient: Tensor) -> None:
    """Add a gradient of the parameter's shape to its gradient, in the parameter's type."""
    if parameter.grad is None:
        parameter.grad = gradient.to(parameter.dtype)
    else:
        parameter.grad.add_(gradient)


class _Recomputed(torch.autograd.Function):
    """A function of tensors of any shape that saves only its inputs; its backward first runs it again, unless that has
    been done."""

    @staticmethod
    def forward(ctx: Any, function: Callable[..., Tensor], again: Again | None, *inputs: Tensor) -> Tensor:
        ctx.save_for_backward(*inputs)
        ctx.function, ctx.made = function, None
        if again is not None:
            again.append(partial(_run_again, ctx))
        return function(*inputs)  # autograd saves nothing in here

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        if ctx.made is None:
            _run_again(ctx)
        inputs, given, end = ctx.made
        ctx.made = None
        given.append(grad)
        torch.autograd.backward(end)
        return None, None, *(x.grad for x in inputs)


def _run_again(ctx: Any) -> None:
    """Run a function again from its saved inputs, with a graph that takes the gradient of its result later."""
    inputs = [x.detach().requires_grad_() for x in ctx.saved_tensors]
    given: list[Tensor] = []
    with torch.enable_grad():
        ctx.made = inputs, given, leave(ctx.function(*inputs), given)


class _Linear(torch.autograd.Function):
    """x (..., in), weight (out, in), bias (out,); grad (..., out)."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None, deferred: Deferred | None) -> Tensor:
        if deferred is not None:
            ctx.save_for_backward(x)
        ctx.weight, ctx.bias, ctx.deferred = weight, bias, deferred
        return functional.linear(x, *cast_like(x, weight, bias))

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None, None]:
        if ctx.deferred is not None:
            (x,) = ctx.saved_tensors
            ctx.deferred.append(partial(_linear_weight, ctx.weight, ctx.bias, x.detach(), grad))
        return grad @ ctx.weight.detach().to(grad.dtype), None, None, None


def _linear_weight(weight: Tensor, bias: Tensor | None, x: Tensor, grad: Tensor) -> None:
    rows = grad.reshape(-1, grad.shape[-1])  # (tokens, out)
    accumulate(weight, rows.t() @ x.reshape(-1, x.shape[-1]))
    if bias is not None:
        accumulate(bias, rows.sum(0))


class _Norm(torch.autograd.Function):
    """x and grad (..., hidden), weight and bias (hidden,)."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor, deferred: Deferred | None) -> Tensor:
        gain, shift = cast_like(x, weight, bias)
        out, mean, scale = torch.native_layer_norm(x, weight.shape, gain, shift, EPSILON)
        ctx.save_for_backward(x, mean, scale)
        ctx.weight, ctx.bias, ctx.deferred = weight, bias, deferred
        return out

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None, None]:
        x, mean, scale = ctx.saved_tensors
        if ctx.deferred is not None:
            ctx.deferred.append(partial(_norm_weight, ctx.weight, ctx.bias, x.detach(), mean, scale, grad))
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
        grad, x, weight.shape, mean, scale, *cast_like(x, weight.detach(), bias.detach()), wanted
    )
    return grads


class _Embedding(torch.autograd.Function):
    """tokens (batch, sequence), weight (vocabulary, hidden), grad (batch, sequence, hidden)."""

    @staticmethod
    def forward(ctx: Any, tokens: Tensor, weight: Tensor, deferred: Deferred | None) -> Tensor:
        ctx.save_for_backward(tokens)
        ctx.weight, ctx.deferred = weight, deferred
        return functional.embedding(tokens, weight)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[None, None, None]:
        if ctx.deferred is not None:
            (tokens,) = ctx.saved_tensors
            ctx.deferred.append(partial(_embedding_weight, ctx.weight, tokens, grad))
        return None, None, None


def _embedding_weight(weight: Tensor, tokens: Tensor, grad: Tensor) -> None:
    rows = torch.zeros_like(weight)  # (vocabulary, hidden)
    accumulate(weight, rows.index_add_(0, tokens.reshape(-1), grad.reshape(-1, grad.shape[-1])))
