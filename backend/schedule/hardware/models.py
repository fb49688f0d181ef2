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
class Model:
    """A transformer.

    ``parameters`` of a layer that one token passes through (None: from the shape); ``stored``, all parameters of a
    layer, including experts that are not chosen (None: the same). ``kv_heads`` None is the number of heads, ``ffn``
    None is 4 * hidden (of all experts that a token passes through), ``head_width`` None is hidden / attention_heads;
    ``gated`` is a feed-forward of three matrices instead of two (SwiGLU). Where ``tied``, the output layer is the
    embedding.
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
    parameters: float | None = None
    stored: float | None = None
    flash: bool = True
    tied: bool = False
    note: str = ""

    @property
    def as_in_papers(self) -> bool:
        """Return whether a layer is the papers' own: as many key heads as heads, ffn = 4 * hidden, two matrices, 12
        h^2.
        """
        own = (self.parameters, self.ffn, self.kv_heads, self.head_width)
        return own == (None, None, None, None) and not self.gated

    @property
    def names(self) -> dict[str, float]:
        """Return the names that formulas use for a model's sizes."""
        width: dict[str, float] = {} if self.head_width is None else {"g": self.head_width}
        return {
            "s": self.sequence, "b": self.micro_batch, "h": self.hidden, "a": self.attention_heads,
            "V": self.vocabulary, "L": self.layers, "k": self.kv_heads or self.attention_heads,
            "d": self.ffn or 4 * self.hidden,
        } | width  # fmt: skip

    def as_dict(self) -> dict[str, Any]:
        """Return every field, as needed by the page's form."""
        return asdict(self)


PAPER = message(
    "hardware.zero_bubble_shape",
    "Zero Bubble's shape, s = 1024. The micro-batch size and the vocabulary (GPT-2's, padded) are assumed.",
)


def _published(
    name: str, title: str, billions: float, layers: int, hidden: int, heads: tuple[int, int], ffn: int,
    vocabulary: int, *, note: Message | None = None, **more: Any,
) -> Model:  # fmt: skip
    """Return a model of a published configuration with ``billions`` of parameters, by its makers; ``heads`` are (all
    heads, key and value heads).
    """
    sequence = more.setdefault("sequence", 4096)
    source = message(
        "hardware.published",
        "Published configuration, {billions}B parameters. Sequence {sequence} and micro-batch 1 are assumed.",
        billions=billions,
        sequence=sequence,
    )
    if note is not None:
        source = message("hardware.with_note", "{source} {note}", source=source, note=note)
    return Model(
        name, title, layers, hidden, heads[0], vocabulary, kv_heads=heads[1], ffn=ffn, gated=True, note=source, **more
    )


def _controllable(name: str, title: str, layers: int, heads: int, hidden: int, devices: int) -> Model:
    """Return a model of the paper on V-shaped building blocks."""
    note = message(
        "hardware.controllable_memory_shape",
        "Shape of Qi et al. 2024 (arXiv 2405.15362), on {devices} devices there. Its table gives layers, heads and "
        "hidden size; micro-batch 1 and the vocabulary (GPT-2's, padded) are assumed.",
        devices=devices,
    )
    return Model(name, title, layers, hidden, heads, 51200, 1024, tied=True, note=note)


YOUR_OWN = message("hardware.your_own", "Your own")
YOURS_TO_SET = message("hardware.yours_to_set", "Every field is yours to set.")
TWO_EXPERTS = message("hardware.two_experts", "A token passes through two of the eight experts.")
WIDE_HEADS = message("hardware.wide_heads", "Its heads are 256 wide; activations are counted with the hidden size.")
LATENT = message(
    "hardware.latent_attention",
    "Parameters are the mean of its 3 dense and 58 MoE layers (8 + 1 of 256 + 1 experts). The attention core is "
    "counted with heads 160 wide: 192 for scores, 128 for values.",
)
MODELS: dict[str, Model] = {
    model.name: model
    for model in (
        _published("llama3-8b", "Llama 3 8B", 8.03, 32, 4096, (32, 8), 14336, 128256, sequence=8192),
        _published("llama3-70b", "Llama 3 70B", 70.6, 80, 8192, (64, 8), 28672, 128256, sequence=8192),
        _published("llama3.1-405b", "Llama 3.1 405B", 405, 126, 16384, (128, 8), 53248, 128256, sequence=8192),
        _published("gemma2-9b", "Gemma 2 9B", 9.24, 42, 3584, (16, 8), 14336, 256000, head_width=256, tied=True,
                   note=WIDE_HEADS),
        _published("gemma2-27b", "Gemma 2 27B", 27.2, 46, 4608, (32, 16), 36864, 256000, head_width=128, tied=True),
        _published("qwen2-7b", "Qwen2 7B", 7.62, 28, 3584, (28, 4), 18944, 152064),
        _published("qwen2-72b", "Qwen2 72B", 72.7, 80, 8192, (64, 8), 29568, 152064),
        _published("deepseek-v3", "DeepSeek-V3", 671, 61, 7168, (128, 128), 18432, 129280, head_width=160,
                   parameters=585.2e6, stored=10970e6, note=LATENT),
        _published("mixtral-8x7b", "Mixtral 8x7B", 46.7, 32, 4096, (32, 8), 28672, 32000, stored=1451.3e6,
                   note=TWO_EXPERTS),
        _published("mixtral-8x22b", "Mixtral 8x22B", 141, 56, 6144, (48, 8), 32768, 32768, stored=2504e6,
                   note=TWO_EXPERTS),
        Model("zb-1.5b", "Zero Bubble 1.5B", 24, 2304, 24, 51200, 1024, 6, flash=False, tied=True, note=PAPER),
        Model("zb-6.2b", "Zero Bubble 6.2B", 32, 4096, 32, 51200, 1024, 3, flash=False, tied=True, note=PAPER),
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
    "sequence": (1, 2**24), "micro_batch": (1, 2**16),
}  # fmt: skip
COUNTS = {"parameters": (1.0, 1e13), "stored": (1.0, 1e15)}
TRUTHS = ("gated", "flash")
MAY_LACK = ("kv_heads", "ffn", "head_width", *COUNTS)  # None: derived from the other fields
SHAPE = (
    "hidden",
    "attention_heads",
    "kv_heads",
    "ffn",
    "head_width",
    "gated",
)  # fields that determine a layer's parameters
MODEL_FIELDS = (*WHOLE, *COUNTS, *TRUTHS)
assert set(MODEL_FIELDS) | {"name", "title", "tied", "note"} == {each.name for each in fields(Model)}


def model_of(name: Any, changes: Mapping[str, Any]) -> Model:
    """Return a preset with some fields changed. If the shape changes, the printed parameters are replaced by those
    of the shape.

    Raises SpecError for an unknown name and for a field out of range.
    """
    model = pick("model", name, MODELS)
    read: dict[str, Any] = {}
    for field, value in changes.items():
        if field in TRUTHS:
            read[field] = boolean(field, value)
        elif field in WHOLE:
            low, high = WHOLE[field]
            may_lack = partial(optional, integer) if field in MAY_LACK else integer
            read[field] = may_lack(field, value, low, high)
        else:
            read[field] = optional(number, field, value, *COUNTS[field])
    if any(field in read and read[field] != getattr(model, field) for field in SHAPE):
        read = {"parameters": None, "stored": None} | read  # what was published is of another shape
    made = replace(model, **read)
    _validate(made)
    return made


def _validate(model: Model) -> None:
    """Raise SpecError for fields that are legal on their own but not together."""
    heads, keys = model.attention_heads, model.kv_heads
    if keys is not None and (keys > heads or heads % keys):
        nearest = max(each for each in range(1, min(keys, heads) + 1) if heads % each == 0)
        text = message(
            "hardware.kv_heads_must_divide", "kv_heads must divide attention_heads, {heads} here", heads=heads
        )
        raise SpecError("kv_heads", keys, text, limit=heads, nearest=nearest)
    if model.stored is not None and model.parameters is not None and model.stored < model.parameters:
        text = message(
            "hardware.stored_less_than_activated", "a layer stores at least the parameters that a token passes through"
        )
        raise SpecError("stored", model.stored, text, limit=model.parameters, nearest=model.parameters)


def bounds() -> dict[str, tuple[float, float]]:
    """Return the smallest and the largest legal value of each numeric field."""
    return {**WHOLE, **COUNTS}


def pick(field: str, name: Any, shelf: Mapping[str, T]) -> T:
    """Return the preset of a name; upper and lower case are the same."""
    if isinstance(name, str):
        known = ALIASES.get(name.lower(), name.lower()) if field == "model" else name.lower()
        if known in shelf:
            return shelf[known]
    close = difflib.get_close_matches(str(name)[:40].lower(), list(shelf), 1, 0.3)
    text = message("hardware.no_such_model", "there is no model of that name; there are {names}", names=list(shelf))
    if field == "machine":
        text = message(
            "hardware.no_such_machine", "there is no machine of that name; there are {names}", names=list(shelf)
        )
    raise SpecError(field, name, text, nearest=close[0] if close else next(iter(shelf)))
