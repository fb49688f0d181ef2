"""Charts in addresses: up to four schedules, a model and a machine, and the appearance.

The first schedule's keys are plain, up to three more begin with ``b.``, ``c.`` and ``d.``, those of the model and the
machine with ``m.``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from backend.address.link_state import entries_of
from backend.address.preset import split_preset
from backend.address.query import KEYS, fields_of, nested, number_of, pairs, spec_of, value_of
from backend.charts.catalogue import Kind
from backend.charts.chart import ChartSeries
from backend.charts.pareto.pareto_axes import UNIT_HEIGHTS
from backend.charts.theme import Appearance
from backend.charts.theme_tokens import ALL_THEMES
from backend.errors import Message, RequestError, message
from backend.schedule.families.registry import family_of, op_count, read
from backend.schedule.hardware.cost_model import Setting
from backend.schedule.hardware.preset_costs import Preset
from backend.schedule.options.family_names import canonical
from backend.schedule.spec import LIMITS, Spec, choice, integer

OTHERS = ("b", "c", "d")
MOST_OPS = LIMITS["placed_ops"] // 8  # of all schedules together: an answer within a few seconds
HEIGHTS = ("throughput", "bubble", *UNIT_HEIGHTS)  # of the frontier
WIDTH, HEIGHT = (240, 2400), (180, 1600)  # px of a figure, from and to
APPEARANCE: dict[str, tuple[Any, Callable[[Any], Any]]] = {
    "theme": ("light", lambda value: choice("theme", value, ALL_THEMES)),
    "y": ("throughput", lambda value: choice("y", value, HEIGHTS)),
    "width": (880, lambda value: integer("width", value, *WIDTH)),
    "height": (380, lambda value: integer("height", value, *HEIGHT)),
    "only": (0, lambda value: integer("only", value, 0, 1)),
}
"""Each key of a figure's appearance: (default, check)."""


@dataclass(frozen=True)
class ChartQuery:
    """The contents of a chart: legal plans, the reasons why others are left out, a model on a machine, and the
    appearance.
    """

    plans: tuple[ChartSeries, ...]
    left_out: tuple[Message, ...]
    setting: Setting | None
    appearance: Appearance


def chart_query_of(query: bytes, kind: Kind) -> ChartQuery:
    """Read a chart's query. Raises RequestError naming the key that is wrong.

    A wrong schedule other than the first is left out, with a note: the page shows the others all the same.
    """
    rest, preset = split_preset(query)
    parts = _by_prefix(rest)
    data = fields_of(parts.pop("", b""), (*KEYS, *APPEARANCE), appearance_value)
    y = choice("y", data.pop("y", kind.heights[0]), kind.heights)
    size = {key: check(data.pop(key, default)) for key, (default, check) in APPEARANCE.items() if key != "y"}
    spec = read(nested(data))
    plans, left_out = [_series("a", spec, preset)], []
    for name, part in sorted(parts.items()):
        try:
            plans.append(_series(name, spec_of(part), preset))
        except RequestError as error:
            left_out.append(
                message("charts.left_out", "{name} is left out: {why}.", name=name.upper(), why=error.message)
            )
    whole = sum(op_count(plan.spec) for plan in plans)
    if whole > MOST_OPS:
        nearest = max(1, spec.m * MOST_OPS // whole)
        why = message(
            "charts.too_many_ops",
            "charts are drawn for up to {most} ops; here they have {ops}",
            most=f"{MOST_OPS:,}",
            ops=f"{whole:,}",
        )
        raise RequestError("m", spec.m, why, limit=nearest, nearest=nearest)
    setting = None if preset is None else preset.setting()
    return ChartQuery(tuple(plans), tuple(left_out), setting, Appearance(**size, y=y))


def _series(name: str, spec: Spec, preset: Preset | None) -> ChartSeries:
    """Return a schedule with the costs that follow from the preset, unless it has its own."""
    its = preset if spec.costs == Spec().costs else None
    return ChartSeries(name, spec if its is None else its.priced(spec), family_of(spec).title, its)


def query_of_view(query: bytes) -> bytes:
    """Return the chart's query for a view's, as the page makes it: where the other schedules of a view name only what
    differs from the first one, those of a chart name all.
    """
    entries = entries_of(query)
    family = canonical(entries.get("family", Spec().family))
    taken: dict[str, str] = {}
    for prefix in (f"{name}." for name in OTHERS):
        if not any(key.startswith(prefix) for key in entries):
            continue
        another = canonical(entries.get(prefix + "family", family)) != family
        own = ("v", "order") if another else ()  # another family has its own natural v
        taken |= {prefix + key: entries[key] for key in KEYS if key in entries and key not in own}
    return urlencode(taken | entries).encode()


@dataclass(frozen=True)
class FrontierQuery:
    """The contents of the frontier: the spec, how it looks, whether searched orders are included, and a model on a
    machine.
    """

    spec: Spec
    appearance: Appearance
    with_searched: bool
    preset: Preset | None


def frontier_query_of(query: bytes) -> FrontierQuery:
    """Read the query of the frontier. Raises RequestError naming the key that is wrong."""
    rest, preset = split_preset(query)
    data = fields_of(rest, (*KEYS, *APPEARANCE, "found"), appearance_value)
    appearance = {key: check(data.pop(key, default)) for key, (default, check) in APPEARANCE.items()}
    with_searched = bool(integer("found", data.pop("found", 1), 0, 1))
    if appearance["y"] in UNIT_HEIGHTS and preset is None:
        why = message("charts.needs_a_model", "{y} needs a model and a machine (m.model)", y=appearance["y"])
        raise RequestError("y", appearance["y"], why, nearest=HEIGHTS[0])
    return FrontierQuery(read(nested(data)), Appearance(**appearance), with_searched, preset)


def appearance_value(key: str, text: str) -> Any:
    """Read a key of a chart's query: of its appearance, else of a spec."""
    if key in ("width", "height", "only", "found"):
        return number_of(key, text)
    return text if key in APPEARANCE else value_of(key, text)


def _by_prefix(query: bytes) -> dict[str, bytes]:
    """Split a query by prefixes and remove them. Raises RequestError for an unknown prefix."""
    parts: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for key, text in pairs(query):
        prefix, dot, rest = key.partition(".")
        if dot and prefix not in OTHERS:
            why = message(
                "web.unknown_prefix",
                "unknown key; other schedules' keys begin with {prefixes} and a dot",
                prefixes=list(OTHERS),
            )
            raise RequestError(key[:80], text, why)
        parts[prefix if dot else ""].append((rest if dot else key, text))
    return {prefix: urlencode(each).encode() for prefix, each in parts.items()}
