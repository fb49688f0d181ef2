"""The costs that a page's link leaves to a model and a machine (its keys m.*), as the page derives them.

Knows the link's words for a setting's fields; what a model costs is the schedule core's. Same as the page's
derive.js: six digits of each cost, and a link's own costs stand.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from backend.schedule.hardware.cost_model import Setting
from backend.schedule.hardware.estimate import estimate
from backend.schedule.simulation.costs import Cost, Costs
from backend.schedule.spec import Spec
from backend.web.routes.costs import setting_value

PREFIX = "m."
NAMES = {
    "attn": "attention_heads", "kv": "kv_heads", "vocab": "vocabulary", "active": "parameters", "hbm": "hbm_bandwidth",
    "intra": "intra_bandwidth", "inter": "inter_bandwidth", "host": "host_bandwidth", "intra_s": "intra_latency",
    "inter_s": "inter_latency", "node": "per_node",
}  # fmt: skip
"""A link's short word for a field, where it is not the field's own name."""


def priced(plans: list[Spec], given: Mapping[str, str]) -> list[Spec]:
    """The plans with the costs that their model brings; SpecError if the model or the machine is none."""
    asked = {key.removeprefix(PREFIX): text for key, text in given.items() if key.startswith(PREFIX)}
    off = asked.pop("off", "0") == "1"  # some costs were then changed by hand: those are in the link
    if "model" not in asked:
        return plans
    setting = {name: setting_value(name, text) for key, text in asked.items() for name in [NAMES.get(key, key)]}
    return [_with(spec, *_found(spec, setting), off) for spec in plans]


def _with(spec: Spec, costs: Costs, w_share: float, off: bool) -> Spec:
    plain = Spec()
    if off:
        kept = {each.name: getattr(spec.costs, each.name) for each in fields(Costs)}
        changed = {name: value for name, value in kept.items() if value != getattr(plain.costs, name)}
        share = spec.w_share if spec.w_share != plain.w_share else w_share
        return replace(spec, costs=replace(costs, **changed), w_share=share)
    return spec if spec.costs != plain.costs else replace(spec, costs=costs, w_share=w_share)


def _found(spec: Spec, setting: Mapping[str, Any]) -> tuple[Costs, float]:
    """The costs of a spec's devices and its w_share."""
    asked = dict(setting) | {"p": spec.p, "v": spec.v}
    shares = asked.get("layers")
    if isinstance(shares, list) and (
        len(shares) != spec.p * spec.v or spec.layers or spec.vocabulary == "redistribute"
    ):
        asked["layers"] = sum(shares)  # layers that were moved belong to one number of stages
    if spec.vocabulary != "plain":
        asked["heads"] = False  # an output layer that is spread, or for which layers move, is not the last stage's
    answer = estimate(Setting.read(asked)).as_dict()
    shards = answer["options"]["shards"].get(spec.vocabulary, {})
    return Costs(
        F=_tidy(answer["costs"]["F"]),
        I=_tidy(answer["costs"]["I"]),
        W=_tidy(answer["costs"]["W"]),
        comm=_digits(answer["costs"]["comm"], 6),
        S=_digits(shards["S"], 6) if shards else None,
        T=_digits(shards["T"], 6) if shards else None,
        O=None if spec.offload == "none" else _digits(answer["options"]["O"], 6),
    ), _digits(answer["w_share"], 4)


def _tidy(cost: float | list[float]) -> Cost:
    return tuple(_digits(each, 6) for each in cost) if isinstance(cost, list) else _digits(cost, 6)


def _digits(x: float, digits: int) -> float:
    return float(f"{x:.{digits}g}")
