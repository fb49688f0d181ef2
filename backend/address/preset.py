"""A model on a machine in addresses: the keys of /api/costs, and a view's ``m.`` keys with the costs they imply.

The costs of a view are derived as the page's link_preset.ts does: six digits of each, and a link's own costs win.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any
from urllib.parse import urlencode

from backend.address.query import fields_of, list_of, number_of, one_or_zero, pair_of, pairs, repeated
from backend.errors import RequestError
from backend.schedule.hardware.models import MAY_LACK as MODEL_MAY_LACK
from backend.schedule.hardware.models import TRUTHS as MODEL_TRUTHS
from backend.schedule.hardware.preset_costs import Preset
from backend.schedule.interop.megatron_layout import is_layout, read_layout, with_layout
from backend.schedule.simulation.costs import Costs
from backend.schedule.spec import Spec

PREFIX = "m."
NAMES = {
    "attn": "attention_heads", "kv": "kv_heads", "width": "head_width", "vocab": "vocabulary",
    "top": "experts_per_token", "shared": "shared_experts", "expert": "expert_ffn", "dense": "dense_layers",
    "q_rank": "query_rank", "rope": "rope_width", "value": "value_width", "norms": "post_norms", "qk": "qk_norms",
    "hbm": "hbm_bandwidth", "intra": "intra_bandwidth", "inter": "inter_bandwidth", "host": "host_bandwidth",
    "intra_s": "intra_latency", "inter_s": "inter_latency", "node": "per_node",
    "cp": "context", "ep": "expert", "sp": "sequence_parallel", "weights": "weight_bytes",
    "gradients": "gradient_bytes", "optimizer": "optimizer_bytes",
}  # fmt: skip
"""Short keys of a link by the fields they stand for; all other fields have their own name."""
WORDS = ("model", "machine", "link", "placement", "family")
YES_NO = ("heads", "sequence_parallel", "fp8", *MODEL_TRUTHS)
MAY_LACK = (*MODEL_MAY_LACK, "efficiency", "nics", "sequence_parallel")
NONE = "none"  # the text of a field without a value, where the preset has one


def setting_fields(query: bytes, known: tuple[str, ...]) -> dict[str, Any]:
    """Read a setting's fields from a query string. Raises RequestError naming the key that is wrong."""
    return with_layout(fields_of(query, known, setting_value))


def setting_value(key: str, text: str) -> Any:
    """Read a setting's field from its text. Raises RequestError if it cannot be read."""
    if key in WORDS:
        return text
    if key in YES_NO:
        return one_or_zero(key, text)
    if key == "layers" and is_layout(text):
        return read_layout(text)
    if key in ("layers", "frozen", "in_flight"):
        return list_of(key, text, number_of)
    if key in MAY_LACK and text == NONE:
        return None
    return number_of(key, text)


def with_preset_costs(plans: list[Spec], entries: Mapping[str, str]) -> list[Spec]:
    """Return a view's specs with the costs of its model and machine; RequestError if one of them does not exist."""
    texts = {key.removeprefix(PREFIX): text for key, text in entries.items() if key.startswith(PREFIX)}
    off = texts.pop("off", "0") == "1"  # some costs were changed by hand: those are in the link
    if "model" not in texts:
        return plans
    preset = preset_of(texts)
    return [_with_costs(spec, preset, off) for spec in plans]


def preset_of(texts: Mapping[str, str]) -> Preset:
    """Read a model and a machine from their keys, those of a link or of /api/costs. Raises RequestError."""
    fields = {name: setting_value(name, text) for key, text in texts.items() for name in [NAMES.get(key, key)]}
    return Preset.of(with_layout(fields))


def link_parts(preset: Preset) -> list[str]:
    """Return a model and a machine as parts of a link's query, which ``preset_of`` reads."""
    short = {name: key for key, name in NAMES.items()}
    values = {name: int(value) if isinstance(value, bool) else value for name, value in preset.fields}
    return [
        pair_of(
            PREFIX + short.get(name, name),
            NONE if value is None else list(value) if isinstance(value, tuple) else value,
        )
        for name, value in values.items()
    ]


def split_preset(query: bytes) -> tuple[bytes, Preset | None]:
    """Return a query without its ``m.`` keys, and their model and machine, None without one. Raises RequestError."""
    every = pairs(query)
    texts: dict[str, str] = {}
    for key, text in every:
        name = key.removeprefix(PREFIX)
        if key.startswith(PREFIX):
            if name in texts:
                raise RequestError(key, text, repeated(key))
            texts[name] = text
    if not texts:
        return query, None
    preset = preset_of(texts)
    preset.setting()  # wrong fields are refused even where no schedule is priced
    return urlencode([(key, text) for key, text in every if not key.startswith(PREFIX)]).encode(), preset


def _with_costs(spec: Spec, preset: Preset, off: bool) -> Spec:
    plain, (costs, w_share) = Spec(), preset.costs(spec)
    if off:
        given = {each.name: getattr(spec.costs, each.name) for each in fields(Costs)}
        changed = {name: value for name, value in given.items() if value != getattr(plain.costs, name)}
        share = spec.w_share if spec.w_share != plain.w_share else w_share
        return preset.applied(spec, replace(costs, **changed), share)
    return spec if spec.costs != plain.costs else preset.applied(spec, costs, w_share)
