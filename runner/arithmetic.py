"""The three operations that have parameters, as autograd does them; the reference training uses these."""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional

EPSILON = 1e-5


class Arithmetic:
    """The operations with parameters, gradients of inputs and parameters both left to autograd."""

    def linear(self, x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
        """x times weight transposed, plus bias."""
        return functional.linear(x, weight, bias)

    def norm(self, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        """Layer norm over the last dimension."""
        return functional.layer_norm(x, weight.shape, weight, bias, EPSILON)

    def embed(self, tokens: Tensor, weight: Tensor) -> Tensor:
        """The rows of weight that tokens name."""
        return functional.embedding(tokens, weight)
