"""The routes of the charts, and of the frontier: memory against throughput, families and searched orders."""

from __future__ import annotations

from flask import Blueprint, Response, request

from backend.address.query import efforts_of
from backend.jobs import analyses
from backend.web.http.computing import compute
from backend.web.http.responses import lenient
from backend.web.services import send_cached, services

charts = Blueprint("charts", __name__)


@charts.get("/api/charts/<name>")
@lenient
def show_chart(name: str) -> Response:
    """Return a chart: its figure, how to read it, and its numbers."""
    query, found = request.query_string, services().searches.found
    return send_cached(
        ("chart", name, query), lambda: compute(analyses.chart, name[:80], query, found.to_send(efforts_of(query)))
    )


@charts.get("/api/charts/pareto")
@lenient
def show_pareto() -> Response:
    """Return memory against throughput: the figure, how to read it, and its points; ``found=0`` leaves searched
    orders out. What searches have found is state of this process, so it goes along.
    """
    query, found = request.query_string, services().searches.found
    return send_cached(("pareto", query, found.count), lambda: compute(analyses.frontier, query, found.to_send()))
