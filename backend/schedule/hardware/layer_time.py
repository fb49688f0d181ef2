"""The time of a transformer layer on one rank: matrix products, the attention core, memory traffic, collectives.

A product of (m, k) by (k, n) takes 2(m + o)(k + o)(n + o) FLOP at a share mu of the peak rate: o stands for the tiles
that are not filled and the start and end of the kernel. The attention core runs at a share of its own; flash attention
computes the scores again in its backward (5 products instead of 4). Norms, dropout, the activation function, the
softmax without flash attention and the routing of tokens move bytes.

Collectives of tensor parallelism are counted in F and I and are not overlapped there; those of W run beside its
products. The exchange of keys and values in context parallelism runs beside the attention core, and what is longer than
the core is counted. Tokens are sent to their experts and back without overlap.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from backend.schedule.errors import Message, message
from backend.schedule.hardware.cost_model import Setting
from backend.schedule.hardware.layer_tensors import tokens_of
from backend.schedule.hardware.models import Kind


@dataclass(frozen=True)
class Product:
    """``times`` matrix products of (rows, inner) by (inner, columns) on one rank; all are formulas."""

    name: Message
    rows: str
    inner: str
    columns: str
    times: str = ""

    @property
    def flop(self) -> str:
        """Return the formula of the FLOP that the product takes the time of."""
        times = f"{self.times}*" if self.times else ""
        return f"{times}2*({self.rows} + o)*({self.inner} + o)*({self.columns} + o)"


def products(setting: Setting, kind: Kind) -> Iterator[Product]:
    """Yield the matrix products of a layer's forward without the attention core.

    I and W have the same ones with two of the three dimensions exchanged, and hence the same time.
    """
    model, tokens = setting.model, tokens_of(setting)
    if model.kv_rank is None:
        yield Product(message("product.qkv", "queries, keys and values"), tokens, "h", "(a*g + 2*k*g)/t")
    else:
        if model.query_rank is not None:
            yield Product(message("product.query_latent", "latent of the queries"), tokens, "h", "rq")
        inner = "h" if model.query_rank is None else "rq"
        yield Product(message("product.queries", "queries"), tokens, inner, "a*(g + gr)/t")
        yield Product(message("product.kv_latent", "latent of keys and values"), tokens, "h", "rk + gr")
        yield Product(message("product.keys_and_values", "keys and values"), tokens, "rk", "a*(g + gv)/t")
    yield Product(message("product.projection", "projection of the attention"), tokens, f"a*{model.value_name}/t", "h")
    halves = "2*" if model.gated else ""
    first, second = (
        message("product.mlp_first", "first product of the MLP"),
        message("product.mlp_second", "second product of the MLP"),
    )
    if not kind.experts:
        yield Product(first, tokens, "h", f"{halves}d/t")
        yield Product(second, tokens, "d/t", "h")
        return
    # Experts have devices of their own, or tensor parallelism splits their matrices as it does a dense layer's.
    apart = setting.expert > 1
    rows = f"{tokens}*E*G/(R*u)" if apart else f"{tokens}*E/R"
    width = "de" if apart and setting.sequence_parallel else "de/t"
    yield Product(
        message("product.experts_first", "first products of the experts"), rows, "h", f"{halves}{width}", "R/G"
    )
    yield Product(message("product.experts_second", "second products of the experts"), rows, width, "h", "R/G")
    if model.shared_experts:
        yield Product(first, tokens, "h", f"{halves}de*j/t")
        yield Product(second, tokens, "de*j/t", "h")


def score_flop(setting: Setting) -> str:
    """Return the formula of the FLOP of the attention core's forward on all ranks of a stage, which has two products;
    a causal core of flash attention computes half of each.
    """
    width = "2*g" if setting.model.kv_rank is None else "(g + gr + gv)"
    return f"{'s' if setting.model.half_scores else '2*s'}*s*b*a*{width}"


def traffic(setting: Setting, kind: Kind) -> tuple[str, str]:
    """Return the formulas of the bytes that F and I read and write on one rank beside the matrix products."""
    model, tokens = setting.model, tokens_of(setting)
    norms = 4 if model.post_norms else 2
    mask = 2 if model.dropout else 0
    # A norm reads and writes its rows, its backward also the gradients; a residual addition reads two and writes one.
    forward = [f"{4 * norms + 12 + mask}*{tokens}*h/u"]
    backward = [f"{8 * norms + 8 + mask}*{tokens}*h/u"]
    if model.qk_norms:
        forward.append(f"4*{tokens}*{model.normed_heads}/t")
        backward.append(f"8*{tokens}*{model.normed_heads}/t")
    wide = "d"
    if kind.experts:
        wide = "de*(E + j)" if model.shared_experts else "de*E"
        forward.append(f"8*{tokens}*h*E/u")  # to the order of the experts and back
        backward.append(f"8*{tokens}*h*E/u")
    forward.append(f"{6 if model.gated else 4}*{tokens}*{wide}/t")
    backward.append(f"{10 if model.gated else 6}*{tokens}*{wide}/t")
    if not model.flash:
        forward.append(f"{13 if model.dropout else 8}*a*s*{tokens}/t")
        backward.append(f"{17 if model.dropout else 12}*a*s*{tokens}/t")
    return " + ".join(forward), " + ".join(backward)


def remade_traffic(setting: Setting, kind: Kind) -> str:
    """Return the formula of the bytes that selective recomputation moves to have its tensors again, per layer."""
    model, tokens = setting.model, tokens_of(setting)
    if not model.flash:
        return f"{13 if model.dropout else 8}*a*s*{tokens}/t"
    wide = "d"
    if kind.experts:
        wide = "de*(E + j)" if model.shared_experts else "de*E"
    return f"8*{tokens}*h/u + {6 if model.gated else 4}*{tokens}*{wide}/t"


def collectives(setting: Setting, kind: Kind) -> list[tuple[Message, str]]:
    """Return (name, formula of its milliseconds) of each collective of F; I has the same ones."""
    tokens, found = tokens_of(setting), []
    if setting.tp > 1:
        # Gather before and scatter behind the attention and the MLP, or the all-reduces that they replace.
        count = 2 if kind.experts and setting.expert > 1 and not setting.model.shared_experts else 4
        name = message("hardware.tensor_parallel_time", "collectives of tensor parallelism")
        found.append((name, f"1000*{count}*(2*{tokens}*h*(t - 1)/(t*Xt) + yt)"))
    if kind.experts and setting.expert > 1:
        name = message("hardware.expert_parallel_time", "tokens to their experts and back")
        found.append((name, f"1000*2*(2*{tokens}*h*E*(G - 1)/(u*G*Xe) + ye)"))
    return found


def context_exchange(setting: Setting) -> str:
    """Return the formula of the milliseconds in which keys and values go around the ranks of context parallelism."""
    width = "2*k*g" if setting.model.kv_rank is None else "a*(g + gr + gv)"
    return f"1000*2*S*b*{width}*(C - 1)/(t*Xc)"
