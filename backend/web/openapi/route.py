"""The route of the description of all routes. It is not among the others because it reads their tables."""

from __future__ import annotations

from flask import Blueprint, Response, current_app, request

from backend.jobs.encoding import encode_json
from backend.web.http.responses import send
from backend.web.openapi.document import document
from backend.web.services import services

openapi = Blueprint("openapi", __name__)


@openapi.get("/api/openapi.json")
def describe() -> Response:
    """Return this description of the HTTP interface, in OpenAPI 3.1."""
    app = current_app._get_current_object()  # type: ignore[attr-defined]  # the app itself: a proxy has no type
    return send(request, services().cache.get_or_make("openapi", lambda: encode_json(document(app))))
