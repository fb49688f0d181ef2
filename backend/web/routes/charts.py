"""The route of every chart except the frontier."""

from __future__ import annotations

from typing import Any

from flask import Blueprint, Response, request

from backend.charts.catalogue import KINDS, Kind
from backend.errors import RequestError
from backend.schedule.spec import choice
from backend.web.address.chart_query import ChartQuery, chart_query_of
from backend.web.http.background import BACKGROUND_OPS, run_in_background
from backend.web.http.cache import Encoded
from backend.web.http.responses import encode_json, refused, send
from backend.web.services import services

charts = Blueprint("charts", __name__)


@charts.get("/api/charts/<name>")
def show_chart(name: str) -> Response:
    """Return a chart: its figure, how to read it, and its numbers."""
    try:
        kind = KINDS[choice("chart", name, KINDS)]
        query = chart_query_of(request.query_string, kind)
        drawn = services().cache.get_or_make(
            ("chart", name, query), lambda: run_in_background(BACKGROUND_OPS, lambda: _drawn(kind, query))
        )
        return send(request, drawn)
    except RequestError as error:
        return refused(error)


def _drawn(kind: Kind, query: ChartQuery) -> Encoded:
    chart = kind.draw(query.plans, query.appearance, query.setting)
    shape: dict[str, Any] = {"spec": query.plans[0].spec.to_json()} | chart.as_dict()
    return encode_json(shape | {"notes": [*query.left_out, *chart.notes]})
