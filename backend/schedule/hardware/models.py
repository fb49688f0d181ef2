"""Language models as the cost model needs them: the presets, and free entry of any other shape.

The presets are named and sized as their makers do, from the published configurations; ``note`` states the assumptions.
ratios.py has the table of the vocabulary-parallelism paper beside them.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from typing import Any, TypeVar

from backend.schedule.errors import Message, SpecError, message
from backend.schedule.spec import boolean, integer, number, optional

T = TypeVar("T")


@dataclass(frozen=True)
class Kind:
    """A kind of layer in a model: dense or with experts; ``count`` layers are of it, and ``suffix`` ends the names of
    its figures.
    """

    experts: bool
    count: int
    suffix: str = ""

    def named(self, name: Message) -> Message:
        """Return the name of a figure of a layer of this kind."""
        return message("hardware.of_dense_layers", "{name}, dense layers", name=name) if self.suffix else name


@dataclass(frozen=True)
class Model:
    """A transformer.

    ``kv_heads`` None is the number of heads, ``ffn`` None is 4 * hidden, ``head_width`` None is hidden /
    attention_heads; ``gated`` is a feed-forward of three matrices instead of two (SwiGLU).

    With ``experts``, all layers but the first ``dense_layers`` route each token to ``experts_per_token`` of them, of
    width ``expert_ffn`` (None: ``ffn``), and to ``shared_experts`` of the same width; ``capacity`` is the room for
    tokens that is filled, over their number. ``mtp`` modules predict further tokens after the last layer (DeepSeek-V3,
    arXiv 2412.19437, section 2.2): a projection of 2h to h, a layer, and the output layer again.

    With ``kv_rank`` the attention is multi-head latent (DeepSeek-V2, arXiv 2405.04434): keys and values from a latent
    of that size, queries from one of ``query_rank``; ``head_width`` is then that of keys without position,
    ``rope_width`` that of the part with, ``value_width`` that of values.

    ``dropout`` behind attention, scores and MLP keeps its masks; ``post_norms`` are norms of the outputs of attention
    and MLP (Gemma 2), ``qk_norms`` of each head's queries and keys (Qwen3, Gemma 3). A ``causal`` core of flash
    attention computes half of the scores. Where ``tied``, the output layer is the embedding. ``note`` says where the
    numbers are from, ``assumed`` names the fields that are not from there and that nobody has chosen.
    """

    name: str
    title: str
    layers: int
    hidden: int
    attention_heads: int
    vocabulary: int
    sequence: int = 4096
    micro_batch: int = 1
    kv_heads: int | None = None
    ffn: int | None = None
    head_width: int | None = None
    gated: bool = False
    experts: int | None = None
    experts_per_token: int = 1
    shared_experts: int = 0
    expert_ffn: int | None = None
    dense_layers: int = 0
    capacity: float = 1.0
    mtp: int = 0
    query_rank: int | None = None
    kv_rank: int | None = None
    rope_width: int = 0
    value_width: int | None = None
    dropout: bool = True
    post_norms: bool = False
    qk_norms: bool = False
    flash: bool = True
    causal: bool = True
    tied: bool = False
    note: str = ""
    assumed: tuple[str, ...] = ()

    @property
    def as_in_papers(self) -> bool:
        """Return whether a layer is the papers' own: as many key heads as heads, ffn = 4 * hidden, two matrices, 12
        h^2.
        """
        own = (self.ffn, self.kv_heads, self.head_width, self.experts, self.kv_rank)
        return own == (None,) * 5 and not self.gated

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """Return the kinds of layers, in reverse of their order in the model: those with experts before dense ones."""
        if self.experts is None:
            return (Kind(False, self.layers),)
        dense = min(self.dense_layers, self.layers)
        return (Kind(True, self.layers - dense), *((Kind(False, dense, "d"),) if dense else ()))

    @property
    def half_scores(self) -> bool:
        """Return whether only the scores below the diagonal are computed."""
        return self.flash and self.causal

    @property
    def value_name(self) -> str:
        """Return the name of the width of a head's values in formulas."""
        return "g" if self.kv_rank is None else "gv"

    @property
    def normed_heads(self) -> str:
        """Return the elements of a token's queries and keys as a formula."""
        return "(a*g + k*g)" if self.kv_rank is None else "(2*a*(g + gr))"

    @property
    def names(self) -> dict[str, float]:
        """Return the names that formulas use for a model's sizes."""
        found: dict[str, float] = {
            "s": self.sequence, "b": self.micro_batch, "h": self.hidden, "a": self.attention_heads,
            "V": self.vocabulary, "L": self.layers, "k": self.kv_heads or self.attention_heads,
            "d": self.ffn or 4 * self.hidden, "g": self.head_width or self.hidden / self.attention_heads,
        }  # fmt: skip
        if self.experts is not None:
            found |= {"R": self.experts, "E": self.experts_per_token * self.capacity, "j": self.shared_experts,
                      "de": self.expert_ffn or found["d"]}  # fmt: skip
        if self.kv_rank is not None:
            found |= {"rk": self.kv_rank, "gr": self.rope_width, "gv": self.value_width or found["g"]}
            found |= {} if self.query_rank is None else {"rq": self.query_rank}
        return found

    @property
    def changed(self) -> tuple[str, ...]:
        """Return the fields of a published model that have other values than published."""
        preset = MODELS[self.name]
        if not preset.assumed:
            return ()
        own = (field for field in MODEL_FIELDS if field not in (*preset.assumed, *BATCH))
        return tuple(field for field in own if getattr(self, field) != getattr(preset, field))

    @property
    def whole_note(self) -> str:
        """Return the note, with what of the values used is assumed and what is changed."""
        note = self.note
        if self.assumed:
            values = [f"{field} {getattr(self, field)}" for field in self.assumed]
            note = message("hardware.with_assumed", "{note} Assumed: {fields}.", note=note, fields=values)
        if self.changed:
            values = [f"{field} {getattr(self, field)}" for field in self.changed]
            note = message("hardware.with_changed", "{note} Changed: {fields}.", note=note, fields=values)
        return note

    def as_dict(self) -> dict[str, Any]:
        """Return every field, as needed by the page's form, with the whole note."""
        shape = asdict(self) | {"note": self.whole_note}
        del shape["assumed"]
        return shape


BATCH = ("sequence", "micro_batch")
PAPER = message(
    "hardware.zero_bubble_shape",
    "Zero Bubble's shape, in the paper with a sequence of 1024. The vocabulary is GPT-2's, padded.",
)

GPT3 = message(
    "hardware.gpt3_shape", "Shape of Brown et al. 2020 (arXiv 2005.14165). The vocabulary is GPT-2's, padded."
)


def _published(
    name: str, title: str, billions: float, layers: int, hidden: int, heads: tuple[int, int], ffn: int,
    vocabulary: int, **more: Any,
) -> Model:  # fmt: skip
    """Return a model of a published configuration with ``billions`` of parameters, by its makers; ``heads`` are (all
    heads, key and value heads).
    """
    note = message("hardware.published", "Published configuration, {billions}B parameters.", billions=billions)
    return Model(
        name, title, layers, hidden, heads[0], vocabulary, kv_heads=heads[1], ffn=ffn, gated=True, dropout=False,
        note=note, assumed=BATCH, **more,
    )  # fmt: skip


def _controllable(name: str, title: str, layers: int, heads: int, hidden: int, devices: int) -> Model:
    """Return a model of the paper on V-shaped building blocks."""
    note = message(
        "hardware.controllable_memory_shape",
        "Shape of Qi et al. 2024 (arXiv 2405.15362), on {devices} devices there. Its table gives layers, heads and "
        "hidden size; the vocabulary is GPT-2's, padded.",
        devices=devices,
    )
    return Model(name, title, layers, hidden, heads, 51200, 1024, causal=False, tied=True, note=note,
                 assumed=("micro_batch", "vocabulary"))  # fmt: skip


YOUR_OWN = message("hardware.your_own", "Your own")
YOURS_TO_SET = message("hardware.yours_to_set", "Every field is yours to set.")
MODELS: dict[str, Model] = {
    model.name: model
    for model in (
        _published("llama3-8b", "Llama 3 8B", 8.03, 32, 4096, (32, 8), 14336, 128256, sequence=8192),
        _published("llama3-70b", "Llama 3 70B", 70.6, 80, 8192, (64, 8), 28672, 128256, sequence=8192),
        _published("llama3.1-405b", "Llama 3.1 405B", 405, 126, 16384, (128, 8), 53248, 128256, sequence=8192),
        _published("gemma2-9b", "Gemma 2 9B", 9.24, 42, 3584, (16, 8), 14336, 256000, head_width=256, tied=True,
                   post_norms=True),
        _published("gemma2-27b", "Gemma 2 27B", 27.2, 46, 4608, (32, 16), 36864, 256000, head_width=128, tied=True,
                   post_norms=True),
        _published("qwen2-7b", "Qwen2 7B", 7.62, 28, 3584, (28, 4), 18944, 152064),
        _published("qwen2-72b", "Qwen2 72B", 72.7, 80, 8192, (64, 8), 29568, 152064),
        _published("deepseek-v3", "DeepSeek-V3", 671, 61, 7168, (128, 128), 18432, 129280, head_width=128,
                   query_rank=1536, kv_rank=512, rope_width=64, value_width=128, dense_layers=3, experts=256,
                   experts_per_token=8, shared_experts=1, expert_ffn=2048),
        _published("mixtral-8x7b", "Mixtral 8x7B", 46.7, 32, 4096, (32, 8), 14336, 32000, experts=8,
                   experts_per_token=2),
        _published("mixtral-8x22b", "Mixtral 8x22B", 141, 56, 6144, (48, 8), 16384, 32768, experts=8,
                   experts_per_token=2),
        Model("gpt3-175b", "GPT-3 175B", 96, 12288, 96, 51200, 2048, flash=False, tied=True, note=GPT3,
              assumed=("micro_batch", "vocabulary")),
        Model("zb-1.5b", "Zero Bubble 1.5B", 24, 2304, 24, 51200, 1024, 6, flash=False, tied=True, note=PAPER,
              assumed=("micro_batch", "vocabulary")),
        Model("zb-6.2b", "Zero Bubble 6.2B", 32, 4096, 32, 51200, 1024, 3, flash=False, tied=True, note=PAPER,
              assumed=("micro_batch", "vocabulary")),
        _controllable("cm-9.6b", "Controllable Memory 9.6B", 30, 40, 5120, 16),
        _controllable("cm-21b", "Controllable Memory 21B", 46, 48, 6144, 24),
        _controllable("cm-38.5b", "Controllable Memory 38.5B", 62, 56, 7168, 32),
        Model("custom", YOUR_OWN, 32, 4096, 32, 50304, note=YOURS_TO_SET),
    )
}  # fmt: skip
ALIASES = {"llama3-7b": "llama3-8b", "llama3-405b": "llama3.1-405b", "deepseek-v3-671b": "deepseek-v3"}
"""Names that presets had before, which old links have."""

WHOLE = {  # field: the least and the greatest legal value
    "layers": (1, 4096), "hidden": (1, 2**20), "attention_heads": (1, 2**16), "kv_heads": (1, 2**16),
    "ffn": (1, 2**24), "head_width": (1, 2**16), "vocabulary": (1, 2**24),
    "sequence": (1, 2**24), "micro_batch": (1, 2**16), "experts": (1, 2**16), "experts_per_token": (1, 2**16),
    "shared_experts": (0, 2**10), "expert_ffn": (1, 2**24), "dense_layers": (0, 4096), "mtp": (0, 16),
    "query_rank": (1, 2**20), "kv_rank": (1, 2**20), "rope_width": (0, 2**16), "value_width": (1, 2**16),
}  # fmt: skip
NUMBERS = {"capacity": (0.01, 100.0)}
TRUTHS = ("gated", "dropout", "post_norms", "qk_norms", "flash", "causal")
MAY_LACK = (  # None: derived from the other fields, or not there
    "kv_heads", "ffn", "head_width", "experts", "expert_ffn", "query_rank", "kv_rank", "value_width",
)  # fmt: skip
NEEDS = {  # a field: the one without which it means nothing
    **dict.fromkeys(("experts_per_token", "shared_experts", "expert_ffn", "dense_layers", "capacity"), "experts"),
    **dict.fromkeys(("query_rank", "rope_width", "value_width"), "kv_rank"),
}
MODEL_FIELDS = (*WHOLE, *NUMBERS, *TRUTHS)
assert set(MODEL_FIELDS) | {"name", "title", "tied", "note", "assumed"} == {each.name for each in fields(Model)}


def model_of(name: Any, changes: Mapping[str, Any]) -> Model:
    """Return a preset with some fields changed. Raises SpecError for an unknown name and for a field out of range."""
    read: dict[str, Any] = {}
    for field, value in changes.items():
        if field in TRUTHS:
            read[field] = boolean(field, value)
        elif field in WHOLE:
            may_lack = partial(optional, integer) if field in MAY_LACK else integer
            read[field] = may_lack(field, value, *WHOLE[field])
        else:
            read[field] = number(field, value, *NUMBERS[field])
    preset = pick("model", name, MODELS)
    made = replace(preset, assumed=tuple(field for field in preset.assumed if field not in read), **read)
    for field in read:
        _validate_effect(made, field)
    _validate(made)
    return made


def _validate_effect(model: Model, field: str) -> None:
    """Raise SpecError for a field that means nothing without another one."""
    plain = next(each.default for each in fields(Model) if each.name == field)
    if field in NEEDS and getattr(model, NEEDS[field]) is None and getattr(model, field) != plain:
        text = message("hardware.needs_field", "{field} means nothing without {other}", field=field, other=NEEDS[field])
        raise SpecError(field, getattr(model, field), text, nearest=plain)


def _validate(model: Model) -> None:
    """Raise SpecError for fields that are legal on their own but not together."""
    heads, keys = model.attention_heads, model.kv_heads
    if keys is not None and (keys > heads or heads % keys):
        nearest = max(each for each in range(1, min(keys, heads) + 1) if heads % each == 0)
        text = message(
            "hardware.kv_heads_must_divide", "kv_heads must divide attention_heads, {heads} here", heads=heads
        )
        raise SpecError("kv_heads", keys, text, limit=heads, nearest=nearest)
    if model.experts is not None and model.experts_per_token > model.experts:
        text = message("hardware.more_chosen_than_experts", "a token cannot pass through more experts than there are")
        raise SpecError("experts_per_token", model.experts_per_token, text, limit=model.experts, nearest=model.experts)


def bounds() -> dict[str, tuple[float, float]]:
    """Return the smallest and the largest legal value of each numeric field."""
    return {**WHOLE, **NUMBERS}


def pick(field: str, name: Any, shelf: Mapping[str, T]) -> T:
    """Return the preset of a name; upper and lower case are the same."""
    if isinstance(name, str):
        known = ALIASES.get(name.lower(), name.lower()) if field == "model" else name.lower()
        if known in shelf:
            return shelf[known]
    close = difflib.get_close_matches(str(name)[:40].lower(), list(shelf), 1, 0.5)
    text = message("hardware.no_such_model", "there is no model of that name; there are {names}", names=list(shelf))
    if field == "machine":
        text = message(
            "hardware.no_such_machine", "there is no machine of that name; there are {names}", names=list(shelf)
        )
    raise SpecError(field, name, text, nearest=close[0] if close else next(iter(shelf)))
