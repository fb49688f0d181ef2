"""The operations that a run can compute in its own way, as autograd does them.

Three have parameters; a layer and its attention are what recomputation may run again. Arithmetic is in the type of the
input: parameters, which are float32, are rounded to it, and their gradients are added up in float32 again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import Tensor
from torch.nn import functional

from runner.model.parameters import EPSILON

Layer = Callable[[Tensor, Any], Tensor]  # of a tensor and an Arithmetic


class Arithmetic:
    """Leaves the gradients of inputs and parameters to autograd, and saves all that it needs."""

    def linear(self, x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
        """Return x (..., in) times weight (out, in) transposed, plus bias (out,)."""
        return functional.linear(x, *cast_like(x, weight, bias))

    def norm(self, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        """Return the layer norm over the last dimension of x (..., hidden); weight and bias (hidden,)."""
        scale, shift = cast_like(x, weight, bias)
        return functional.layer_norm(x, weight.shape, scale, shift, EPSILON)

    def embed(self, tokens: Tensor, weight: Tensor) -> Tensor:
        """Return the rows of weight (vocabulary, hidden) for tokens (batch, sequence): (batch, sequence, hidden)."""
        return functional.embedding(tokens, weight)

    def layer(self, block: Layer, x: Tensor) -> Tensor:
        """Return a whole layer of x (batch, sequence, hidden)."""
        return block(x, self)

    def attention(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """Return the causal attention of all heads; all (batch, heads, sequence, hidden / heads)."""
        return functional.scaled_dot_product_attention(q, k, v, is_causal=True)


def cast_like(x: Tensor, *parameters: Tensor | None) -> list[Any]:
    """Return parameters in the type of x."""
    return [one if one is None else one.to(x.dtype) for one in parameters]
