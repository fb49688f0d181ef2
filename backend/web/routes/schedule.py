"""Routes about schedules: the families, the order of a spec, its laws, its bound, its building block."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flask import Blueprint, Response, request

from backend.address.query import is_packed, spec_of
from backend.jobs import schedules as answers
from backend.jobs.encoding import BINARY, JSON, Encoded, encode_json
from backend.jobs.order_time import IMPORTED_MS, WORKER_MS, bound_ms, order_ms, result_ms
from backend.schedule.families import registry
from backend.schedule.order import wire
from backend.schedule.result import law_values
from backend.schedule.spec import LIMITS, Spec
from backend.web.http.cache import Cache
from backend.web.http.computing import compute
from backend.web.http.responses import lenient
from backend.web.services import send_cached, services

schedules = Blueprint("schedule", __name__, url_prefix="/api")


@schedules.get("/families")
def list_families() -> Response:
    """Return every family with its laws as data, the limits and the default spec."""
    return send_cached("families", lambda: encode_json(_families()))


@schedules.get("/schedule")
@lenient
def show_schedule() -> Response:
    """Return the order of a spec in its compact form, or its Result if JSON is requested."""
    as_json = request.accept_mimetypes.best_match([BINARY, JSON], default=BINARY) == JSON
    query = request.query_string
    if is_packed(query):
        make = answers.result_of_query if as_json else answers.order_of_query
        return send_cached((as_json, query), lambda: compute(make, query, ms=IMPORTED_MS))
    spec = spec_of(query)
    known = services().searches.found.known(spec)
    build, ms = (answers.result_of, result_ms) if as_json else (answers.order_of, order_ms)
    return send_cached((as_json, spec), lambda: compute(build, known, ms=ms(spec)))


def keep_orders(cache: Cache) -> Callable[[Spec, bytes], None]:
    """Return a function that stores a searched order, (spec, encoded order), where ``/api/schedule`` looks for it."""
    return lambda spec, body: cache.put((False, spec), Encoded.of(wire.compress(body), BINARY))


@schedules.get("/laws")
def show_laws() -> Response:
    """Return the laws of a spec with its numbers substituted, and whether they are exact there."""
    query = request.query_string
    if is_packed(query):
        return send_cached(("laws", query), lambda: compute(answers.laws_of_query, query, ms=IMPORTED_MS))
    spec = spec_of(query)
    return send_cached(("laws", spec), lambda: encode_json({"laws": law_values(spec)}))


@schedules.get("/bound")
@lenient
def show_bound() -> Response:
    """Return the lower bound of a searched family's spec, and its argument."""
    return _show("bound", answers.bound_of_query, lambda query: bound_ms(spec_of(query)))


@schedules.get("/block")
@lenient
def show_block() -> Response:
    """Return the building block of a family on p devices and its arithmetic. Raises RequestError, with the reason,
    for a family without one.
    """
    return _show("block", answers.block_of_query, lambda query: WORKER_MS)


def _show(name: str, work: Callable[[bytes], Encoded], expected: Callable[[bytes], float]) -> Response:
    query = request.query_string
    ms = IMPORTED_MS if is_packed(query) else expected(query)
    return send_cached((name, query), lambda: compute(work, query, ms=ms))


def _families() -> dict[str, Any]:
    return {"families": registry.describe(), "limits": LIMITS, "defaults": Spec().to_json()}
