"""A training as its frameworks set it: the sizes of a schedule and of a model on machines, each under one name.

Writers take ``Settings`` and readers return them, so that a table of a framework's names serves both directions. The
names are those of ``Spec``, ``Setting`` and ``Model``; beside them there are ``layout`` (the layers of each stage),
``batch`` (sequences a step of all replicas) and ``gpus``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from backend.schedule.errors import Message, SpecError, message
from backend.schedule.families.registry import FAMILIES
from backend.schedule.hardware.cost_model import Setting
from backend.schedule.hardware.models import MODEL_FIELDS, MODELS, NEEDS
from backend.schedule.hardware.preset_costs import Preset
from backend.schedule.interop.megatron_layout import StageLayout
from backend.schedule.spec import LIMITS, Spec, integer

Settings = dict[str, Any]
MOST = 2**31 - 1  # of a flag's number

OF_SPEC = ("family", "p", "m", "v", "group", "recompute", "recompute_at", "spared")
PARALLEL = ("tp", "context", "expert", "data", "zero", "sequence_parallel", "fp8")
SHAPE = ("layers", "hidden", "attention_heads")  # without which no model is known
PLAIN = {"tp": 1, "context": 1, "expert": 1, "data": 1, "zero": 0, "fp8": False, "mtp": 0}


@dataclass(frozen=True)
class FoundSettings:
    """What a configuration says: fields of a spec, fields of a preset (None: it names no model), and ``notes`` on what
    it leaves open.
    """

    spec: Mapping[str, Any]
    preset: Mapping[str, Any] | None
    notes: tuple[Message, ...] = field(default=())


def settings_of(spec: Spec, preset: Preset | None) -> Settings:
    """Return the settings of a schedule; without a preset those of the pipeline alone. Raises SpecError where the model
    cannot be cut so.
    """
    found: Settings = {key: getattr(spec, key) for key in OF_SPEC}
    if spec.v > 1 and spec.group_size != spec.p:  # which Megatron-LM takes where no flag says it
        found["group"] = spec.group_size
    if preset is None:
        layers = spec.layers or ()
        return found | ({"layout": StageLayout(layers, (0,) * len(layers))} if layers else {}) | {"batch": spec.m}
    made: Setting = preset.estimate(spec).setting
    model = made.model
    further = tuple(model.mtp if stage == made.mtp_stage else 0 for stage in range(made.stages))
    return (
        found
        | {key: getattr(model, key) for key in MODEL_FIELDS}
        | {key: getattr(made, key) for key in PARALLEL}
        | {
            "tied": model.tied,
            "layout": StageLayout(made.layers, further),
            "batch": spec.m * model.micro_batch * made.data,
            "gpus": made.devices,
            "per_node": made.machine.per_node,
        }
    )


def found_settings(read: Settings) -> FoundSettings:
    """Return what settings that were read mean: m from the batch, replicas from the GPUs, and a published model where
    its shape is that one's. Raises SpecError naming what does not divide.
    """
    notes: list[Message] = []
    p, v = read.get("p", 1), read.get("v", 1)
    for key, value in (("p", p), ("v", v)):
        integer(key, value, 1, LIMITS[key])
    ranks = p * read.get("tp", 1) * read.get("context", 1)
    data = read.get("data")
    if "gpus" in read:
        data = _quotient("GPUs", read["gpus"], ranks)
    elif data is None:
        notes.append(message("configuration.one_replica", "It does not say how many GPUs there are: one replica."))
    micro = read.get("micro_batch", 1)
    m = read.get("m")
    if m is None and "batch" in read:
        m = _quotient(message("configuration.the_batch", "the global batch"), read["batch"], micro * (data or 1))
    if m is None:
        m = 4 * p
        notes.append(message("configuration.no_batch", "It has no batch: {m} micro-batches.", m=m))
    if "chunk_layers" in read and read["v"] > 1:
        notes.append(
            message("configuration.chunks_of_layers", "How many stages a device has follows from the model's layers; "
                    "taken are {v}.", v=v)
        )  # fmt: skip
    family = read.get("family") or ("interleaved" if v > 1 else "1f1b")
    spec = {"family": family, "p": p, "m": m, "v": v}
    taken = ("group", "recompute", "spared", "memory") if v > 1 else ("recompute", "spared", "memory")
    spec |= {key: read[key] for key in taken if key in read}
    if "family" not in read and v > 1 and Spec(family, p, m, v).group_size != p:
        spec.setdefault("group", p)
    if "pending" in read:
        notes.append(_of_search(read["pending"], p))
    if not all(key in read for key in SHAPE):
        if any(read.get(key, plain) != plain for key, plain in PLAIN.items()):
            notes.append(
                message("configuration.no_model", "It does not name the model's shape; choose the model on the page.")
            )
        layout = read.get("layout")
        return FoundSettings(spec | ({"layers": list(layout.counts)} if layout else {}), None, tuple(notes))
    preset = _model_fields(read) | {
        key: read[key] for key in PARALLEL if key in read and read[key] not in (PLAIN.get(key), None)
    }
    preset |= {} if data in (None, 1) else {"data": data}
    if preset.get("sequence_parallel") == (read.get("tp", 1) > 1):
        del preset["sequence_parallel"]
    layout = read.get("layout")
    if isinstance(layout, StageLayout):
        if sum(layout.layers) != read["layers"]:
            why = message(
                "configuration.other_layers", "the layout has {count} layers, the model {layers}",
                count=sum(layout.layers), layers=read["layers"],
            )  # fmt: skip
            raise SpecError("layers", None, why)
        preset["layers"] = list(layout.layers)
        if layout.mtp_stage is not None:
            preset["mtp_stage"] = layout.mtp_stage
    notes.append(message("configuration.no_machine", "It does not name the machine; choose it on the page."))
    return FoundSettings(spec, preset, tuple(notes))


def _of_search(pending: int | str, p: int) -> Message:
    """Return what the limit of pending backwards leaves open: Sea AI Lab's fork searches an order within it."""
    if isinstance(pending, str):
        return message(
            "configuration.adaptive_memory",
            "The fork sets the limit of memory by what is free on its GPUs; taken is that of 1F1B, {p}.",
            p=p,
        )
    return message(
        "configuration.searched_by_fork",
        "The fork searches an order of at most {pending} pending backwards: ZB-H1 and ZB-H2 are those for p and 2 p by "
        "hand, and ZB-auto searches one.",
        pending=pending,
    )


def whole(name: str, text: str, least: int = 1) -> int:
    """Return the whole number of a flag. Raises SpecError naming the flag."""
    try:
        value = int(text.replace("_", ""))
    except ValueError:
        why = message("configuration.not_a_number", "{name} is a whole number, not {text}", name=name, text=text[:40])
        raise SpecError(name, text[:40], why) from None
    return integer(name, value, least, MOST)


def natural_v(family: str) -> int:
    """Return how many chunks a device has in a family where nothing says it."""
    return FAMILIES[family].v[1]


def _model_fields(read: Settings) -> Settings:
    """Return the model of these fields: a published one with what differs from it, else all of your own."""
    given = {key: read[key] for key in MODEL_FIELDS if key in read}
    given = {key: value for key, value in given.items() if NEEDS.get(key) is None or NEEDS[key] in given}
    shape = _written_out(given)
    own = {key for key in shape if key not in ("sequence", "micro_batch", "mtp", "vocabulary", "dropout", "flash")}
    for model in MODELS.values():
        plain = _written_out({key: getattr(model, key) for key in MODEL_FIELDS})
        if model.name != "custom" and all(plain[key] == shape[key] for key in own):
            more = {key: given[key] for key in given if shape[key] != plain[key] and key != "vocabulary"}  # padded
            return {"model": model.name} | more
    plain = _written_out({key: getattr(MODELS["custom"], key) for key in MODEL_FIELDS})
    return {"model": "custom"} | {key: given[key] for key in given if shape[key] != plain[key]}


def _written_out(fields: Settings) -> Settings:
    """Return a model's fields with the values that follow from others where there is none."""
    ffn = fields.get("ffn") or 4 * fields["hidden"]
    usual = {"kv_heads": fields["attention_heads"], "ffn": ffn, "expert_ffn": ffn}
    return fields | {key: fields.get(key) or value for key, value in usual.items()}


def _quotient(name: str | Message, whole: int, part: int) -> int:
    quotient, over = divmod(whole, part)
    if over or quotient < 1:
        why = message(
            "configuration.not_divisible", "{name}: {whole} is no multiple of {part}", name=name, whole=whole, part=part
        )
        raise SpecError("configuration", whole, why, nearest=max(1, round(whole / part)) * part)
    return quotient
