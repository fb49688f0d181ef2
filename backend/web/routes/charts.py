"""The routes of the charts, and of the frontier: memory against throughput, families and searched orders."""

from __future__ import annotations

from flask import Blueprint, Response, request

from backend.address.query import efforts_of
from backend.errors import RequestError
from backend.jobs import analyses
from backend.web.http.computing import compute
from backend.web.http.responses import refused, send
from backend.web.services import services

charts = Blueprint("charts", __name__)


@charts.get("/api/charts/<name>")
def show_chart(name: str) -> Response:
    """Return a chart: its figure, how to read it, and its numbers."""
    query, found = request.query_string, services().searches.found
    try:
        drawn = services().cache.get_or_make(
            ("chart", name, query),
            lambda: compute(analyses.chart, name[:80], query, found.to_send(efforts_of(query))),
        )
        return send(request, drawn)
    except RequestError as error:
        return refused(error)


@charts.get("/api/charts/pareto")
def show_pareto() -> Response:
    """Return memory against throughput: the figure, how to read it, and its points; ``found=0`` leaves searched
    orders out. What searches have found is state of this process, so it goes along.
    """
    query, found = request.query_string, services().searches.found
    try:
        drawn = services().cache.get_or_make(
            ("pareto", query, found.count), lambda: compute(analyses.frontier, query, found.to_send())
        )
        return send(request, drawn)
    except RequestError as error:
        return refused(error)
