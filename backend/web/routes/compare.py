"""The route of the comparison: families side by side at one setting."""

from __future__ import annotations

from flask import Blueprint, Response, request

from backend.web.answers import analyses
from backend.web.http.responses import send
from backend.web.services import services
from backend.web.work.computing import compute

comparisons = Blueprint("compare", __name__, url_prefix="/api")


@comparisons.get("/compare")
def show_comparison() -> Response:
    """Return rows and notes of the families named (all by default), at p, m, costs and w_share; v for those with a
    choice.
    """
    query = request.query_string
    answer = services().cache.get_or_make(("compare", query), lambda: compute(analyses.comparison, query))
    return send(request, answer)
