"""The operations of which a run has its own way, as autograd does them; the reference training uses these.

Three have parameters; a layer and its attention core are what recomputation may run again. Arithmetic is in the type of
what goes in: parameters, which are float32, are rounded to it, and their gradients are added up in float32 again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import Tensor
from torch.nn import functional

EPSILON = 1e-5
Layer = Callable[[Tensor, Any], Tensor]  # of a tensor and an Arithmetic


class Arithmetic:
    """Gradients of inputs and parameters both left to autograd, all that it wants kept."""

    def linear(self, x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
        """x times weight transposed, plus bias."""
        return functional.linear(x, *alike(x, weight, bias))

    def norm(self, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        """Layer norm over the last dimension."""
        scale, shift = alike(x, weight, bias)
        return functional.layer_norm(x, weight.shape, scale, shift, EPSILON)

    def embed(self, tokens: Tensor, weight: Tensor) -> Tensor:
        """The rows of weight that tokens name."""
        return functional.embedding(tokens, weight)

    def layer(self, block: Layer, x: Tensor) -> Tensor:
        """A whole layer."""
        return block(x, self)

    def core(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """Causal attention of all heads."""
        return functional.scaled_dot_product_attention(q, k, v, is_causal=True)


def alike(x: Tensor, *parameters: Tensor | None) -> list[Any]:
    """Parameters in the type of x."""
    return [one if one is None else one.to(x.dtype) for one in parameters]
