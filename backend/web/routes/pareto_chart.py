"""The route of the frontier: memory against throughput, families and searched orders."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from flask import Blueprint, Response, request
from gevent.lock import BoundedSemaphore

from backend.charts.theme import Appearance
from backend.errors import RequestError
from backend.schedule.analysis import pareto
from backend.schedule.analysis.pareto import Point
from backend.schedule.families import registry, searched
from backend.schedule.families.registry import op_count
from backend.schedule.order.order import Order
from backend.schedule.spec import Spec
from backend.web.address.chart_query import frontier_query_of
from backend.web.http.background import BACKGROUND_OPS, run_in_background
from backend.web.http.cache import Encoded
from backend.web.http.responses import encode_json, refused, send
from backend.web.services import services

frontier = Blueprint("frontier", __name__)
# One search at a time: a slider asks for many, and other requests need the threads too.
TURN = BoundedSemaphore(1)


@frontier.get("/api/charts/pareto")
def show_pareto() -> Response:
    """Return memory against throughput: the figure, how to read it, and its points; ``found=0`` leaves searched
    orders out.
    """
    try:
        spec, appearance, with_searched = frontier_query_of(request.query_string)
    except RequestError as error:
        return refused(error)
    cache = services().cache
    finds = searched.finds() if with_searched else None
    key = ("pareto", spec, appearance, with_searched, finds)

    def make() -> Encoded:
        return _pareto(spec, appearance, with_searched)

    if not with_searched:
        return send(request, cache.get_or_make(key, lambda: run_in_background(8 * op_count(spec), make)))
    return send(request, cache.get_or_make(key, lambda: _in_turn(key, make)))


def _in_turn(key: Any, make: Callable[[], Encoded]) -> Encoded:
    """Search for one request at a time; a request that waited for the same answer takes it from the cache."""
    with TURN:
        return services().cache.get(key) or run_in_background(BACKGROUND_OPS, make)


def _pareto(spec: Spec, appearance: Appearance, with_searched: bool) -> Encoded:
    from backend.charts.pareto import figure  # plotly takes half a second to import

    points = pareto.points(spec)
    error: dict[str, Any] | None = None
    if with_searched:
        try:
            points += _frontier(pareto.setting_of(spec), searched.finds())
        except RequestError as problem:
            error = problem.as_dict()
    drawn, readings = figure(spec, points, appearance)
    rows = pareto.described(points, spec)
    shape = {"spec": spec.to_json(), "found": with_searched, "error_found": error, "reads": readings, "points": rows}
    return encode_json(shape | {"figure": drawn.to_dict()})


@lru_cache(maxsize=128)
def _frontier(setting: Spec, finds: int) -> list[Point]:
    """Return the searched orders of a setting, for any family on the screen; ``finds`` counts what searches found."""
    return pareto.frontier(setting, None, _best_known)


def _best_known(spec: Spec) -> tuple[Spec, Order]:
    """Return the best order of recent searches, else a construction: a figure must not wait for a long search."""
    best = searched.known(spec)
    return best, registry.order(best)
