"""Routes about schedules: the families, the order of a spec, its laws, its bound, its building block."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flask import Blueprint, Response, request

from backend.errors import RequestError, message
from backend.schedule.analysis.steady_state import steady_state
from backend.schedule.families import registry
from backend.schedule.families.searched import bound_of
from backend.schedule.order import wire
from backend.schedule.result import law_values, result
from backend.schedule.spec import LIMITS, Spec
from backend.web.address.query import fields_of, spec_of, value_of
from backend.web.http.background import estimated_ops, run_in_background
from backend.web.http.cache import Cache, Encoded
from backend.web.http.responses import BINARY, JSON, encode_json, encode_plain_json, refused, send
from backend.web.services import services

schedules = Blueprint("schedule", __name__, url_prefix="/api")
BLOCK_KEYS = ("family", "p")


@schedules.get("/families")
def list_families() -> Response:
    """Return every family with its laws as data, the limits and the default spec."""
    return send(request, services().cache.get_or_make("families", lambda: encode_json(_families())))


@schedules.get("/schedule")
def show_schedule() -> Response:
    """Return the order of a spec in its compact form, or its Result if JSON is requested."""
    try:
        spec = spec_of(request.query_string)
    except RequestError as error:
        return refused(error)
    as_json = request.accept_mimetypes.best_match([BINARY, JSON], default=BINARY) == JSON
    make = _result if as_json else _wire
    answer = services().cache.get_or_make(
        (as_json, spec), lambda: run_in_background(estimated_ops(spec), lambda: make(spec))
    )
    return send(request, answer)


def keep_orders(cache: Cache) -> Callable[[Spec, bytes], None]:
    """Return a function that stores a searched order, (spec, encoded order), where ``/api/schedule`` looks for it."""
    return lambda spec, body: cache.put((False, spec), Encoded.of(wire.compress(body), BINARY))


@schedules.get("/laws")
def show_laws() -> Response:
    """Return the laws of a spec with its numbers substituted, and whether they are exact there."""
    spec = spec_of(request.query_string)
    answer = services().cache.get_or_make(("laws", spec), lambda: encode_json({"laws": law_values(spec)}))
    return send(request, answer)


@schedules.get("/bound")
def show_bound() -> Response:
    """Return the lower bound of a searched family's spec, and its argument."""
    try:
        spec = spec_of(request.query_string)
        family = registry.family_of(spec)
        problem = family.problem
        if problem is None:
            why = message(
                "web.no_bound", "{family} has one order; a bound is for zb-auto and v-auto", family=family.title
            )
            raise RequestError("family", spec.family, why)
        plain = spec.with_(effort=None, seed=Spec.seed)
        answer = services().cache.get_or_make(("bound", plain), lambda: encode_json(bound_of(problem(plain))))
        return send(request, answer)
    except RequestError as error:
        return refused(error)


@schedules.get("/block")
def show_block() -> Response:
    """Return the building block of a family on p devices and its arithmetic. Raises RequestError, with the reason,
    for a family without one.
    """
    try:
        spec = Spec.from_json(fields_of(request.query_string, BLOCK_KEYS, value_of))
        answer = services().cache.get_or_make(("block", spec.family, spec.p), lambda: encode_json(steady_state(spec)))
        return send(request, answer)
    except RequestError as error:
        return refused(error)


def _wire(spec: Spec) -> Encoded:
    return Encoded.of(wire.compress(wire.encode(registry.order(spec), spec.to_json())), BINARY)


def _result(spec: Spec) -> Encoded:
    return encode_plain_json(result(spec))


def _families() -> dict[str, Any]:
    return {"families": registry.describe(), "limits": LIMITS, "defaults": Spec().to_json()}
