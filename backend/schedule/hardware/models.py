"""Language models as the cost model needs them: the presets, and free entry of any other shape.

For the ten models of the vocabulary-parallelism table the activated parameters per layer, the hidden size and the
vocabulary are the printed ones (with ratio = hidden * vocabulary / parameters). All other values are from the
published configurations, and ``note`` states the assumptions.
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
    None is 4 * hidden; ``gated`` is a feed-forward of three matrices instead of two (SwiGLU).
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
    gated: bool = False
    parameters: float | None = None
    stored: float | None = None
    flash: bool = True
    note: str = ""

    @property
    def as_in_papers(self) -> bool:
        """Return whether a layer is the papers' own: as many key heads as heads, ffn = 4 * hidden, two matrices, 12
        h^2.
        """
        return self.parameters is None and self.ffn is None and self.kv_heads is None and not self.gated

    @property
    def names(self) -> dict[str, float]:
        """Return the names that formulas use for a model's sizes."""
        return {
            "s": self.sequence, "b": self.micro_batch, "h": self.hidden, "a": self.attention_heads,
            "V": self.vocabulary, "L": self.layers, "k": self.kv_heads or self.attention_heads,
            "d": self.ffn or 4 * self.hidden,
        }  # fmt: skip

    def as_dict(self) -> dict[str, Any]:
        """Return every field, as needed by the page's form."""
        return asdict(self)


ONE_EXPERT = message(
    "hardware.one_expert",
    "The printed parameters are about those of one expert, though two of the eight are activated.",
)
PAPER = message(
    "hardware.zero_bubble_shape",
    "Zero Bubble's shape, s = 1024. The micro-batch size and the vocabulary (GPT-2's, padded) are assumed.",
)


def _printed(
    name: str, title: str, millions: float, hidden: int, vocabulary: int, layers: int, heads: tuple[int, int],
    ffn: int, *, stored: float | None = None, sequence: int = 4096, note: Message | None = None,
) -> Model:  # fmt: skip
    """Return a model of the table; ``heads`` are (all heads, key and value heads)."""
    source = message(
        "hardware.printed",
        "Parameters, hidden size and vocabulary as printed in the vocabulary-parallelism table. Sequence {sequence} "
        "and micro-batch 1 are assumed.",
        sequence=sequence,
    )
    if note is not None:
        source = message(
            "hardware.printed_with_note",
            "Parameters, hidden size and vocabulary as printed in the vocabulary-parallelism table. Sequence "
            "{sequence} and micro-batch 1 are assumed. {note}",
            sequence=sequence,
            note=note,
        )
    return Model(
        name, title, layers, hidden, heads[0], vocabulary, sequence, kv_heads=heads[1], ffn=ffn, gated=True,
        parameters=millions * 1e6, stored=stored,
        note=source,
    )  # fmt: skip


YOUR_OWN = message("hardware.your_own", "Your own")
YOURS_TO_SET = message("hardware.yours_to_set", "Every field is yours to set.")
MODELS: dict[str, Model] = {
    model.name: model
    for model in (
        _printed("llama3-7b", "Llama3-7B", 234, 4096, 128000, 32, (32, 8), 14336, sequence=8192,
                 note=message("hardware.llama3_8b_layers", "Layers, heads and ffn are those of Llama 3 8B.")),
        _printed("llama3-70b", "Llama3-70B", 862, 8192, 128000, 80, (64, 8), 28672, sequence=8192),
        _printed("llama3-405b", "Llama3-405B", 3198, 16384, 128000, 126, (128, 8), 53248, sequence=8192),
        _printed("gemma2-9b", "Gemma2-9B", 198, 3584, 256000, 42, (16, 8), 14336,
                 note=message(
                     "hardware.wide_heads", "Its heads are 256 wide; attention is counted with the hidden size.")),
        _printed("gemma2-27b", "Gemma2-27B", 566, 4608, 256000, 46, (32, 16), 36864),
        _printed("qwen2-7b", "Qwen2-7B", 231, 3584, 152064, 28, (28, 4), 18944),
        _printed("qwen2-72b", "Qwen2-72B", 884, 8192, 152064, 80, (64, 8), 29568),
        _printed("deepseek-v3-671b", "DeepSeek-V3-671B", 607, 7168, 129280, 61, (128, 128), 18432, stored=11e9,
                 note=message(
                     "hardware.latent_attention",
                     "Stored parameters are 671e9 / 61 layers; its latent attention is counted as plain.")),
        _printed("mixtral-8x7b", "Mixtral-8x7B", 212, 4096, 32768, 32, (32, 8), 14336, stored=1451e6, note=ONE_EXPERT),
        _printed("mixtral-8x22b", "Mixtral-8x22B", 355, 6144, 32768, 56, (48, 8), 16384, stored=2504e6,
                 note=ONE_EXPERT),
        Model("zb-1.5b", "Zero Bubble 1.5B", 24, 2304, 24, 51200, 1024, 6, flash=False, note=PAPER),
        Model("zb-6.2b", "Zero Bubble 6.2B", 32, 4096, 32, 51200, 1024, 3, flash=False, note=PAPER),
        Model("custom", YOUR_OWN, 32, 4096, 32, 50304, note=YOURS_TO_SET),
    )
}  # fmt: skip

WHOLE = {  # field: the least and the greatest legal value
    "layers": (1, 4096), "hidden": (1, 2**20), "attention_heads": (1, 2**16), "kv_heads": (1, 2**16),
    "ffn": (1, 2**24), "vocabulary": (1, 2**24), "sequence": (1, 2**24), "micro_batch": (1, 2**16),
}  # fmt: skip
COUNTS = {"parameters": (1.0, 1e13), "stored": (1.0, 1e15)}
TRUTHS = ("gated", "flash")
MAY_LACK = ("kv_heads", "ffn", *COUNTS)  # None: derived from the other fields
SHAPE = ("hidden", "attention_heads", "kv_heads", "ffn", "gated")  # fields that determine a layer's parameters
MODEL_FIELDS = (*WHOLE, *COUNTS, *TRUTHS)
assert set(MODEL_FIELDS) | {"name", "title", "note"} == {each.name for each in fields(Model)}


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
        read = {"parameters": None, "stored": None} | read
    made = replace(model, **read)
    _judge(made)
    return made


def _judge(model: Model) -> None:
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
    if isinstance(name, str) and name.lower() in shelf:
        return shelf[name.lower()]
    close = difflib.get_close_matches(str(name)[:40].lower(), list(shelf), 1, 0.3)
    text = message("hardware.no_such_model", "there is no model of that name; there are {names}", names=list(shelf))
    if field == "machine":
        text = message(
            "hardware.no_such_machine", "there is no machine of that name; there are {names}", names=list(shelf)
        )
    raise SpecError(field, name, text, nearest=close[0] if close else next(iter(shelf)))
