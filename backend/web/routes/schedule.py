"""Routes about schedules: the families, the order of a spec, its laws, its block. Knows how answers are kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flask import Blueprint, Response, jsonify, request

from backend.schedule.analysis.steady_state import steady_state
from backend.schedule.errors import SpecError
from backend.schedule.families import registry
from backend.schedule.families.searched import bound_of
from backend.schedule.order import wire
from backend.schedule.result import law_values, result
from backend.schedule.spec import LIMITS, Spec
from backend.web.address.query import fields_of, spec_of, value_of
from backend.web.http.cache import Cache, Encoded
from backend.web.http.responses import JSON, apart, encode_json, send
from backend.web.services import services

schedules = Blueprint("schedule", __name__, url_prefix="/api")
BINARY = "application/vnd.bubbleline.schedule"
LENIENT = "handling=lenient"
BLOCK_KEYS = ("family", "p")


@schedules.get("/families")
def list_families() -> Response:
    """Every family with its laws as data, the limits and the default spec."""
    return send(request, services().cache.kept("families", lambda: encode_json(_families())))


@schedules.get("/schedule")
def show_schedule() -> Response:
    """The order of a spec in its compact form, or its Result where JSON is asked for."""
    try:
        spec = spec_of(request.query_string)
    except SpecError as error:
        return refused(error)
    as_json = request.accept_mimetypes.best_match([BINARY, JSON], default=BINARY) == JSON
    make = _result if as_json else _wire
    return send(request, services().cache.kept((as_json, spec), lambda: apart(work_of(spec), lambda: make(spec))))


def keep_orders(cache: Cache) -> Callable[[Spec, bytes], None]:
    """Puts orders that were found where the next who asks for them by their spec finds them."""
    return lambda spec, body: cache.put((False, spec), Encoded.of(wire.compress(body), BINARY))


def refused(error: SpecError) -> Response:
    """An illegal spec: 400, or, to a client that prefers lenient handling (RFC 7240), 200 with the same body.

    The page does: it asks for what a slider may reach next, legal or not, and a browser logs every 400 as a failure.
    """
    if LENIENT not in request.headers.get("Prefer", ""):
        raise error
    response = jsonify(error=error.as_dict())
    response.headers["Preference-Applied"] = LENIENT
    response.headers["Vary"] = "Prefer"
    return response


@schedules.get("/laws")
def show_laws() -> Response:
    """What the closed forms say of a spec, and whether they are exact there."""
    spec = spec_of(request.query_string)
    return send(request, services().cache.kept(("laws", spec), lambda: encode_json({"laws": law_values(spec)})))


@schedules.get("/bound")
def show_bound() -> Response:
    """What no order of a sought family's spec is below, and why."""
    try:
        spec = spec_of(request.query_string)
        family = registry.family_of(spec)
        if family.problem is None:
            raise SpecError("family", spec.family, f"{family.title} has one order; a bound is for zb-auto and v-auto")
        plain, problem = spec.with_(effort=None, seed=Spec.seed), family.problem
        return send(request, services().cache.kept(("bound", plain), lambda: encode_json(bound_of(problem(plain)))))
    except SpecError as error:
        return refused(error)


@schedules.get("/block")
def show_block() -> Response:
    """The building block of a family on p devices and its arithmetic; refused, with the reason, where it has none."""
    try:
        spec = Spec.from_json(fields_of(request.query_string, BLOCK_KEYS, value_of))
        return send(
            request, services().cache.kept(("block", spec.family, spec.p), lambda: encode_json(steady_state(spec)))
        )
    except SpecError as error:
        return refused(error)


def _wire(spec: Spec) -> Encoded:
    return Encoded.of(wire.compress(wire.encode(registry.order(spec), spec.to_json())), BINARY)


def _result(spec: Spec) -> Encoded:
    return encode_json(result(spec))


def _families() -> dict[str, Any]:
    return {"families": registry.describe(), "limits": LIMITS, "defaults": Spec().to_json()}


def work_of(spec: Spec) -> int:
    """Ops of a spec; one that is made for its costs takes as long as a hundred times as many, a sought one as long as
    all orders that are timed for it."""
    tries = spec.effort or (100 if registry.family_of(spec).shaped_by_costs else 1)
    return tries * 3 * spec.p * spec.m * spec.v
