"""The routes of the charts, and of the frontier: memory against throughput, families and searched orders."""

from __future__ import annotations

from flask import Blueprint, Response, request

from backend.errors import RequestError
from backend.jobs import analyses
from backend.schedule.families import searched
from backend.web.http.computing import compute
from backend.web.http.responses import refused, send
from backend.web.services import services

charts = Blueprint("charts", __name__)


@charts.get("/api/charts/<name>")
def show_chart(name: str) -> Response:
    """Return a chart: its figure, how to read it, and its numbers."""
    query, cache = request.query_string, services().cache
    try:
        drawn = cache.get_or_make(
            ("chart", name, query), lambda: compute(analyses.chart, name[:80], query, searched.recall(query))
        )
        return send(request, drawn)
    except RequestError as error:
        return refused(error)


@charts.get("/api/charts/pareto")
def show_pareto() -> Response:
    """Return memory against throughput: the figure, how to read it, and its points; ``found=0`` leaves searched
    orders out. What searches have found is state of this process, so it goes along.
    """
    query, finds = request.query_string, searched.finds()
    try:
        drawn = services().cache.get_or_make(
            ("pareto", query, finds), lambda: compute(analyses.frontier, query, finds, searched.recall())
        )
        return send(request, drawn)
    except RequestError as error:
        return refused(error)
