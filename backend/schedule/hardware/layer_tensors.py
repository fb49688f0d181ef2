"""A transformer layer as a list of tensors: what a micro-batch leaves in memory, and until when.

Every size is a formula over the names of a model and a setting, so that each can be read, checked and summed. A tensor
is kept until the layer's input gradient I has run, or until its weight gradient W, which needs the input of every
matrix product and the gradient of its output. For the papers' layer the list adds up to sbh(34 + 5as/h) bytes
(Korthikanti et al. 2022, arXiv 2205.05198, section 4) and to 32sbh until W (Qi et al. 2023, arXiv 2401.10241, Table 1).

Left out: the log-sum-exp of flash attention (4sba bytes), the gains and statistics of norms, the router's scores.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from backend.schedule.errors import Message, message
from backend.schedule.hardware.cost_model import Setting
from backend.schedule.hardware.models import Kind, Model

Until = Literal["I", "W", "gradient"]
Shard = Literal["t", "u"]
GRADIENT: Until = "gradient"


@dataclass(frozen=True)
class Tensor:
    """A tensor of one micro-batch and layer; ``elements`` is a formula, each of ``width`` bytes.

    ``until``: an activation is kept until I or until W; a gradient is made by I and kept until W. ``shard``: split over
    the tensor-parallel ranks (t), or along the sequence (u), which only sequence parallelism splits over them.
    ``remade``: the part of the layer that selective recomputation runs again to have it, "" if it is always kept.
    """

    name: Message
    elements: str
    shard: Shard
    until: Until
    width: int = 2
    remade: Literal["", "core", "elementwise"] = ""

    @property
    def size(self) -> str:
        """Return the formula of the bytes on one rank."""
        return f"{self.width}*{self.elements}/{self.shard}" if self.width > 1 else f"{self.elements}/{self.shard}"


def parameters(model: Model, kind: Kind) -> tuple[str, str]:
    """Return formulas of a layer's parameters: (those that every token passes through, all routed experts)."""
    attention = "2*h*a*g + 2*h*k*g"
    if model.kv_rank is not None:
        queries = "h*a*(g + gr)" if model.query_rank is None else "h*rq + rq*a*(g + gr)"
        attention = f"{queries} + h*(rk + gr) + rk*a*(g + gv) + h*a*gv"
    matrices = 3 if model.gated else 2
    if not kind.experts:
        return ("12*h*h" if model.as_in_papers else f"{attention} + {matrices}*h*d"), "0"
    shared = f" + {matrices}*h*de*j" if model.shared_experts else ""
    return f"{attention} + h*R{shared}", f"{matrices}*h*de*R"


def tensors(setting: Setting, kind: Kind) -> tuple[Tensor, ...]:
    """Return the tensors of a layer, in the order in which the forward and then the backward makes them."""
    found = (*_attention(setting), *_mlp(setting, kind))
    return tuple(sorted(found, key=lambda tensor: tensor.until == GRADIENT))


def output_tensors(setting: Setting) -> tuple[Tensor, ...]:
    """Return the tensors of the output layer, whose loss is computed in float32: the logits' gradient replaces them."""
    tokens = tokens_of(setting)
    return (
        Tensor(message("tensor.final_norm_input", "input of the last norm"), f"{tokens}*h", "u", "I"),
        Tensor(message("tensor.output_input", "input of the output layer"), f"{tokens}*h", "u", "W"),
        Tensor(message("tensor.logits", "logits in float32, then their gradient"), f"{tokens}*V", "t", "W", 4),
    )


def without_weights(setting: Setting, those: Sequence[Tensor]) -> list[Tensor]:
    """Return the tensors that a layer keeps which is not trained: what its input gradient needs, to which the output of
    flash attention belongs.
    """
    needed = message("tensor.attention_output", "output of the attention, input of its projection")
    return [each for each in those if each.until == "I" or (setting.model.flash and each.name == needed)]


def total(sizes: Sequence[Tensor]) -> str:
    """Return the formula of the sum of the tensors' bytes."""
    return " + ".join(tensor.size for tensor in sizes) or "0"


def tokens_of(setting: Setting) -> str:
    """Return the formula of a rank's tokens of a micro-batch; context parallelism divides the sequence: S = s/C."""
    return "s*b" if setting.context == 1 else "S*b"


def _attention(setting: Setting) -> Iterator[Tensor]:
    model, tokens, input_width = setting.model, tokens_of(setting), 1 if setting.fp8 else 2
    yield Tensor(message("tensor.attention_norm_input", "input of the attention's norm"), f"{tokens}*h", "u", "I")
    yield Tensor(
        message("tensor.attention_input", "input of the attention's first products"),
        f"{tokens}*h", "u", "W", input_width, "elementwise",
    )  # fmt: skip
    if model.kv_rank is None:
        queries, keys_and_values = "a*g", "2*k*g"
        gradients: list[tuple[str, Shard]] = [("a*g + 2*k*g", "t")]
    else:
        latents = "rk" if model.query_rank is None else "(rq + rk)"
        queries, keys_and_values = "a*(g + gr)", "a*(g + gr + gv)"
        gradients = [(f"{latents} + gr", "u"), ("a*(2*g + 2*gr + gv)", "t")]
        yield Tensor(message("tensor.latents", "latents, before their norms"), f"{tokens}*{latents}", "u", "I")
        yield Tensor(
            message("tensor.latents_normed", "latents, inputs of the next products"),
            f"{tokens}*{latents}", "u", "W", input_width, "elementwise",
        )  # fmt: skip
    if model.qk_norms:
        name = message("tensor.qk_norm_inputs", "queries and keys, before their norms")
        yield Tensor(name, f"{tokens}*{model.normed_heads}", "t", "I")
    yield Tensor(message("tensor.queries", "queries"), f"{tokens}*{queries}", "t", "I")
    yield Tensor(message("tensor.keys_and_values", "keys and values"), f"{tokens}*{keys_and_values}", "t", "I")
    if not model.flash:
        scores = f"a*s*{tokens}"
        yield Tensor(message("tensor.scores", "scores after the softmax"), scores, "t", "I", 2, "core")
        if model.dropout:
            yield Tensor(message("tensor.scores_mask", "mask of the scores' dropout"), scores, "t", "I", 1, "core")
            yield Tensor(message("tensor.scores_dropped", "scores after dropout"), scores, "t", "I", 2, "core")
    yield Tensor(
        message("tensor.attention_output", "output of the attention, input of its projection"),
        f"{tokens}*a*{model.value_name}", "t", "W",
    )  # fmt: skip
    yield from _behind(model, tokens, message("tensor.attention_mask", "mask of the dropout behind the attention"))
    for elements, shard in gradients:
        name = message("tensor.attention_gradients", "gradients of the attention's first products")
        yield Tensor(name, f"{tokens}*({elements})", shard, GRADIENT, input_width)
    yield Tensor(
        message("tensor.projection_gradient", "gradient of the attention's projection"),
        f"{tokens}*h", "u", GRADIENT, input_width,
    )  # fmt: skip


def _mlp(setting: Setting, kind: Kind) -> Iterator[Tensor]:
    model, tokens, input_width = setting.model, tokens_of(setting), 1 if setting.fp8 else 2
    yield Tensor(message("tensor.mlp_norm_input", "input of the MLP's norm"), f"{tokens}*h", "u", "I")
    hidden, outputs = f"{tokens}*d", f"{tokens}*h"
    if kind.experts:
        chosen = "(E + j)" if model.shared_experts else "E"
        hidden, outputs = f"{tokens}*de*{chosen}", f"{tokens}*h*{chosen.replace('j', '1')}"
        router = message("tensor.router_input", "input of the router and of the shared experts")
        yield Tensor(router, f"{tokens}*h", "u", "W", 2, "elementwise")
        yield Tensor(message("tensor.routed_tokens", "tokens at their experts"), f"{tokens}*h*E", "u", "W", input_width)
    else:
        yield Tensor(
            message("tensor.mlp_input", "input of the MLP's first product"),
            f"{tokens}*h", "u", "W", input_width, "elementwise",
        )  # fmt: skip
    made = f"2*{hidden}" if model.gated else hidden
    yield Tensor(message("tensor.mlp_first_output", "output of the MLP's first product"), made, "t", "I")
    yield Tensor(
        message("tensor.mlp_second_input", "input of the MLP's second product"),
        hidden, "t", "W", input_width, "elementwise",
    )  # fmt: skip
    yield from _behind(model, tokens, message("tensor.mlp_mask", "mask of the dropout behind the MLP"))
    yield Tensor(
        message("tensor.mlp_first_gradient", "gradient of the MLP's first product"), made, "t", GRADIENT, input_width
    )
    yield Tensor(
        message("tensor.mlp_second_gradient", "gradient of the MLP's second product"),
        outputs, "u", GRADIENT, input_width,
    )  # fmt: skip


def _behind(model: Model, tokens: str, mask: Message) -> Iterator[Tensor]:
    """Yield what follows the attention and the MLP alike: a dropout, a norm of the output (Gemma 2), or neither."""
    if model.dropout:
        yield Tensor(mask, f"{tokens}*h", "u", "I", 1)
    if model.post_norms:
        yield Tensor(message("tensor.post_norm_input", "input of the norm behind it"), f"{tokens}*h", "u", "I")
