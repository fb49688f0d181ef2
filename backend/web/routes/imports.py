"""Routes that take files: an order in torch's CSV or a framework's flags give a spec, a trace gives a run that was
executed elsewhere.
"""

from __future__ import annotations

from flask import Blueprint, Response, jsonify, request

from backend.access.limits.rate_limit import HourlyRate
from backend.errors import RequestError, message, with_codes
from backend.jobs import imports as answers
from backend.web.http import access
from backend.web.http.clients import client_of
from backend.web.http.computing import compute_body
from backend.web.http.errors import ApiError
from backend.web.http.request_body import JSON_TYPE, large_body, need_json
from backend.web.services import services

imports = Blueprint("imports", __name__)
INFLATED = 8  # an unpacked file may be this many times as large as the limit of packed ones
ORDER_MB, BODY_MB = 192, 256  # of memory to read an order, and a trace, besides the body itself


@imports.post("/api/orders")
def import_order() -> Response:
    """Return the spec of the order in {"csv": text, "placement"?: "looped" or "v"}. Stores nothing."""
    need_json(request)
    with large_body(request, services().config.import_mb * 2**20, services().bodies) as body:
        spec, query, dialect, notes = compute_body(answers.order_of, body=body, memory_mb=ORDER_MB)
    return jsonify(spec=spec, query=query, dialect=dialect, notes=with_codes(notes))


@imports.post("/api/configurations")
def import_configuration() -> Response:
    """Return the view of a training in {"text": a framework's flags, overrides or arguments}. Stores nothing."""
    need_json(request)
    with large_body(request, services().config.import_mb * 2**20, services().bodies) as body:
        spec, query, notes = compute_body(answers.configuration_of, body=body, memory_mb=ORDER_MB)
    return jsonify(spec=spec, query=query, notes=with_codes(notes))


@imports.post("/api/runs/import")
def import_run() -> tuple[Response, int]:
    """Store a Chrome trace, or {"traces": [one per rank]}, as a run that is over, with the order in it."""
    if request.mimetype != JSON_TYPE:
        why = message(
            "runs.import_is_json",
            "The body must be JSON, sent with Content-Type: application/json; it may be gzipped.",
        )
        raise ApiError(415, "Content-Type", request.mimetype, why)
    client, most = client_of(request), services().config.import_mb * 2**20
    owner = access.identity().owner
    with large_body(request, most, services().bodies) as body:
        _take_share(services().imports, client)
        made, notes, query = compute_body(answers.run_of_trace, most * INFLATED, owner, body=body, memory_mb=BODY_MB)
    run = services().runs.keep(made)
    access.record("import", run.id, family=run.spec.get("family"))
    url = f"/?{query}&run={run.id}"
    return jsonify(id=run.id, status=run.status, url=url, spec=run.spec, notes=with_codes(notes)), 201


@imports.post("/api/diagnose")
def diagnose_files() -> Response:
    """Say why the measured step in {"files": [{"name", "text"}]} takes as long as it does. Stores nothing."""
    need_json(request)
    most = services().config.import_mb * 2**20
    with large_body(request, most, services().bodies) as body:
        _take_share(services().imports, client_of(request))
        found = compute_body(answers.diagnosis_of, most * INFLATED, body=body, memory_mb=BODY_MB)
    return jsonify(with_codes(found))


def _take_share(rate: HourlyRate, client: str) -> None:
    minutes = rate.take(client)
    if minutes is not None:
        why = message(
            "runs.imports_share", "The limit is {most} imported runs per hour; try again later", most=rate.most
        )
        raise RequestError("imports", rate.most, why, limit=rate.most, kind="share", retry_after=60 * minutes)
