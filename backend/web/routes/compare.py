"""The routes of comparisons: families side by side at one setting, and the fastest plans of a training run."""

from __future__ import annotations

from flask import Blueprint, Response, request

from backend.jobs import analyses
from backend.jobs.training_plans import training_plans
from backend.web.http.computing import compute
from backend.web.http.responses import lenient, send
from backend.web.services import send_cached, services

comparisons = Blueprint("compare", __name__, url_prefix="/api")


@comparisons.get("/compare")
def show_comparison() -> Response:
    """Return rows and notes of the families named (all by default), at p, m, costs and w_share; v for those with a
    choice.
    """
    query = request.query_string
    return send_cached(("compare", query), lambda: compute(analyses.comparison, query))


@comparisons.get("/plans")
@lenient
def show_plans() -> Response:
    """Return the fastest steps of a model on a machine within a device's memory: schedule, chunks, memory limit,
    recomputation and offload in one search.
    """
    query, cache = request.query_string, services().cache
    answer = cache.get(("plans", query))
    if answer is None:
        answer, complete = compute(training_plans, query)
        if complete:  # of an answer that had too little time, the next request may have more
            cache.put(("plans", query), answer)
    return send(request, answer)
