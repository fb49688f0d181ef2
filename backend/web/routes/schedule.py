"""Routes about schedules: the families, the order of a spec, its laws, its bound, its building block."""

from __future__ import annotations

from collections.abc import Callable

from flask import Blueprint, Response, request

from backend.address.query import is_packed, spec_of
from backend.jobs import schedules as answers
from backend.jobs.encoding import BINARY, JSON, Encoded, encode_json
from backend.jobs.order_time import IMPORTED_MS, WORKER_MS, bound_ms, order_ms, result_ms
from backend.schedule.families import registry
from backend.schedule.order import wire
from backend.schedule.spec import LIMITS, Spec
from backend.web.http.cache import Cache
from backend.web.http.computing import compute
from backend.web.http.responses import lenient
from backend.web.services import send_cached, services

schedules = Blueprint("schedule", __name__, url_prefix="/api")


@schedules.get("/families")
def list_families() -> Response:
    """Return every family with its laws as data, the limits and the default spec."""
    limits_and_defaults = {"limits": LIMITS, "defaults": Spec().to_json()}
    return send_cached("families", lambda: encode_json({"families": registry.describe()} | limits_and_defaults))


@schedules.get("/schedule")
@lenient
def show_schedule() -> Response:
    """Return the order of a spec in its compact form, or its Result if JSON is requested."""
    as_json = request.accept_mimetypes.best_match([BINARY, JSON], default=BINARY) == JSON
    query = request.query_string
    build, ms = (answers.result_of, result_ms) if as_json else (answers.order_of, order_ms)
    if is_packed(query):
        return send_cached((as_json, query), lambda: compute(answers.of_query, build, query, ms=IMPORTED_MS))
    spec = spec_of(query)
    known = services().searches.found.known(spec)
    return send_cached((as_json, spec), lambda: compute(build, known, ms=ms(spec)))


def keep_orders(cache: Cache) -> Callable[[Spec, bytes], None]:
    """Return a function that stores a searched order, (spec, encoded order), where ``/api/schedule`` looks for it."""
    return lambda spec, body: cache.put((False, spec), Encoded.of(wire.compress(body), BINARY))


@schedules.get("/laws")
def show_laws() -> Response:
    """Return the laws of a spec with its numbers substituted, and whether they are exact there."""
    query = request.query_string
    if is_packed(query):
        return send_cached(("laws", query), lambda: compute(answers.of_query, answers.laws_of, query, ms=IMPORTED_MS))
    spec = spec_of(query)
    return send_cached(("laws", spec), lambda: answers.laws_of(spec))


@schedules.get("/bound")
@lenient
def show_bound() -> Response:
    """Return the lower bound of a searched family's spec, and its argument."""
    query = request.query_string
    ms = IMPORTED_MS if is_packed(query) else bound_ms(spec_of(query))
    return send_cached(("bound", query), lambda: compute(answers.of_query, answers.bound_of_spec, query, ms=ms))


@schedules.get("/block")
@lenient
def show_block() -> Response:
    """Return the building block of a family on p devices and its arithmetic. Raises RequestError, with the reason,
    for a family without one.
    """
    query = request.query_string
    ms = IMPORTED_MS if is_packed(query) else WORKER_MS
    return send_cached(("block", query), lambda: compute(answers.block_of_query, query, ms=ms))
