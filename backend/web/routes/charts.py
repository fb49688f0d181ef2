"""The route of every chart but the frontier: which chart, of which schedules, model and machine, and how it looks.

Knows how the question stands in the address: the first schedule's keys plain, those of up to three more behind ``b.``,
``c.`` and ``d.``, a model and machine behind ``m.``. What is drawn is backend/charts'.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from flask import Blueprint, Response, request

from backend.charts.appearance import Look
from backend.charts.catalogue import KINDS, Kind
from backend.charts.chart import Plan
from backend.schedule.errors import SpecError
from backend.schedule.families.registry import family_of, op_count, read
from backend.schedule.hardware.cost_model import KEYS as SETTING_KEYS
from backend.schedule.hardware.cost_model import Setting
from backend.schedule.spec import LIMITS, choice
from backend.web.address.query import KEYS, fields_of, nested, pairs, spec_of
from backend.web.http.cache import Encoded
from backend.web.http.responses import AWAY_FROM, apart, encode_json, send
from backend.web.routes import costs
from backend.web.routes.pareto_chart import LOOKS, look_value
from backend.web.routes.schedule import refused
from backend.web.services import services

figures = Blueprint("figures", __name__)
OTHERS = ("b", "c", "d")
MOST_OPS = LIMITS["ops"] // 8  # of all schedules together: an answer within a few seconds


@figures.get("/api/charts/<name>")
def show_figure(name: str) -> Response:
    """A chart: its figure, how to read it, and its numbers."""
    try:
        kind = KINDS[choice("chart", name, KINDS)]
        asked = asked_of(request.query_string, kind)
        key = ("chart", name, asked)
        return send(request, services().cache.kept(key, lambda: apart(AWAY_FROM, lambda: _drawn(kind, asked))))
    except SpecError as error:
        return refused(error)


@dataclass(frozen=True)
class Asked:
    """What a figure is of: legal plans, ``left_out`` why others are not drawn, a model on a machine, and the looks."""

    plans: tuple[Plan, ...]
    left_out: tuple[str, ...]
    setting: Setting | None
    look: Look


def asked_of(query: bytes, kind: Kind) -> Asked:
    """The question in an address; SpecError names the key that is wrong. Another schedule that is wrong is left out,
    for the page shows the others all the same."""
    parts = _by_prefix(query)
    data = fields_of(parts.pop("", b""), (*KEYS, *LOOKS), look_value)
    y = choice("y", data.pop("y", kind.heights[0]), kind.heights)
    look = {key: judge(data.pop(key, default)) for key, (default, judge) in LOOKS.items() if key != "y"}
    spec = read(nested(data))
    setting = setting_of(parts.pop("m", b""))
    plans, left_out = [Plan("a", spec, family_of(spec).title)], []
    for name, part in sorted(parts.items()):
        try:
            other = spec_of(part)
            plans.append(Plan(name, other, family_of(other).title))
        except SpecError as error:
            left_out.append(f"{name.upper()} is left out: {error.message}.")
    whole = sum(op_count(plan.spec) for plan in plans)
    if whole > MOST_OPS:
        nearest = max(1, spec.m * MOST_OPS // whole)
        message = f"charts are drawn for up to {MOST_OPS:,} ops; here they have {whole:,}"
        raise SpecError("m", spec.m, message, limit=nearest, nearest=nearest)
    return Asked(tuple(plans), tuple(left_out), setting, Look(**look, y=y))


def setting_of(query: bytes) -> Setting | None:
    """The model and the machine, None where none is named. How it is cut into stages plays no part in any chart."""
    if not query:
        return None
    data = costs.asked_of(query, SETTING_KEYS)
    if isinstance(data.get("layers"), list):
        data["layers"] = sum(data["layers"])
    return Setting.read(data | {"p": 1, "v": 1})


def _by_prefix(query: bytes) -> dict[str, bytes]:
    """The address as one for each prefix, without it; SpecError for a prefix that none has."""
    found: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for key, text in pairs(query):
        prefix, dot, rest = key.partition(".")
        if dot and prefix not in (*OTHERS, "m"):
            raise SpecError(
                key[:80], text, f"unknown key; other schedules' keys begin with {', '.join(OTHERS)} and a dot"
            )
        found[prefix if dot else ""].append((rest if dot else key, text))
    return {prefix: urlencode(each).encode() for prefix, each in found.items()}


def _drawn(kind: Kind, asked: Asked) -> Encoded:
    chart = kind.draw(asked.plans, asked.look, asked.setting)
    shape: dict[str, Any] = {"spec": asked.plans[0].spec.to_json()} | chart.as_dict()
    return encode_json(shape | {"notes": [*asked.left_out, *chart.notes]})
