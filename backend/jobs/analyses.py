"""Comparisons, balanced layers and charts. Plotly is loaded here, so only in workers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from backend.address.chart_query import chart_query_of, frontier_query_of
from backend.address.preset import setting_fields, split_preset
from backend.address.query import KEYS, fields_of, nested, value_of
from backend.charts.catalogue import KINDS
from backend.charts.pareto.pareto import figure
from backend.charts.pareto.pareto_axes import axes_of, drawable
from backend.compute.parallel_map import in_processes
from backend.compute.searched_orders import SearchedOrders
from backend.errors import RequestError
from backend.jobs.encoding import Encoded, encode_json
from backend.schedule.analysis import pareto
from backend.schedule.analysis.compare import compare
from backend.schedule.analysis.pareto import Point
from backend.schedule.families import registry
from backend.schedule.families.registry import FAMILIES
from backend.schedule.hardware.balance import BALANCE_KEYS, balance_of
from backend.schedule.hardware.cost_model import KEYS as SETTING_KEYS
from backend.schedule.hardware.preset_costs import Preset
from backend.schedule.options.family_names import canonical
from backend.schedule.order.order import Order
from backend.schedule.spec import Spec, choice

COMPARED_KEYS = ("families", *(key for key in KEYS if key != "family"))


def comparison(query: bytes) -> Encoded:
    """Return rows and notes of the families in a query, all by default, at its p, m, costs and w_share.

    Raises RequestError naming the key that is wrong.
    """
    rest, preset = split_preset(query)
    data = fields_of(rest, COMPARED_KEYS, _compared_value)
    names, with_v = tuple(data.pop("families", FAMILIES)), "v" in data
    spec = Spec.from_json(nested(data))
    return encode_json(compare(spec, names, spec.v if with_v else None, preset, in_processes))


def _compared_value(key: str, text: str) -> Any:
    return [canonical(name) for name in text.split(",")] if key == "families" else value_of(key, text)


def balance(query: bytes) -> Encoded:
    """Return the even split of layers and a better one, with the schedule's figures for each."""
    return encode_json(balance_of(setting_fields(query, (*SETTING_KEYS, *BALANCE_KEYS))).as_dict())


def chart(name: str, query: bytes, found: Sequence[Spec]) -> Encoded:
    """Return a chart: its figure, how to read it, and its numbers. Raises RequestError for an unknown name.

    ``found`` are searched specs with their rows.
    """
    kind = KINDS[choice("chart", name, KINDS)]
    asked = chart_query_of(query, kind)
    known = SearchedOrders(found).known
    plans = [replace(plan, spec=known(plan.spec)) for plan in asked.plans]
    drawn = kind.draw(plans, asked.appearance, asked.setting)
    shape: dict[str, Any] = {"spec": asked.plans[0].spec.to_json()} | drawn.as_dict()
    return encode_json(shape | {"notes": [*drawn.notes, *asked.left_out]})


def frontier(query: bytes, found: Sequence[Spec]) -> Encoded:
    """Return memory against throughput, with the best of the ``found`` orders if searched ones are asked for."""
    asked = frontier_query_of(query)
    preset, bare = asked.preset, asked.spec
    spec = bare if preset is None else preset.asked(bare)
    points = pareto.points(bare, None, preset, in_processes)
    error: dict[str, Any] | None = None
    if asked.with_searched:
        try:
            alike = tuple(each for each in found if (each.p, each.m) == (bare.p, bare.m))
            points += _frontier(pareto.setting_of(bare), alike, preset)
        except RequestError as problem:
            error = problem.as_dict()
    points = drawable(points, asked.appearance)
    drawn, notes = figure(spec, points, asked.appearance)
    rows = pareto.described(points, spec, axes_of(asked.appearance))
    shape = {
        "spec": spec.to_json(),
        "found": asked.with_searched,
        "error_found": error,
        "notes": notes,
        "points": rows,
    }
    return encode_json(shape | {"figure": drawn.to_dict()})


@lru_cache(maxsize=128)
def _frontier(setting: Spec, found: tuple[Spec, ...], preset: Preset | None) -> list[Point]:
    """Return the searched orders of a setting, for any family on the screen: the best of those that were found, else a
    construction, as a figure must not wait for a long search.
    """
    known = SearchedOrders(found)

    def best(spec: Spec) -> tuple[Spec, Order]:
        longest = known.longest(spec)
        return longest, registry.order(longest)

    return pareto.frontier(setting, None, best, preset, in_processes)
