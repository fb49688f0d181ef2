"""The routes of files for other programs, torch's CSV, a Chrome trace, a Result, and of frameworks' configurations."""

from __future__ import annotations

from flask import Blueprint, Response, jsonify, request

from backend.address.query import efforts_of
from backend.errors import with_codes
from backend.jobs import files
from backend.web.http.computing import compute
from backend.web.http.responses import lenient
from backend.web.services import services

exports = Blueprint("export", __name__)


@exports.get("/api/export")
@lenient
def export() -> Response:
    """Return the file of the spec in the address; ``format`` names its format. 400 names the field that is wrong."""
    query = request.query_string
    file = compute(files.exported, query, services().searches.found.to_send(efforts_of(query)))
    answer = Response(file.body, mimetype=file.mimetype)
    answer.headers["Content-Disposition"] = f'attachment; filename="{file.name}"'
    return answer


@exports.get("/api/configurations")
@lenient
def show_configurations() -> Response:
    """Return what makes each training framework train so, or why it does not; 400 names the field that is wrong."""
    return jsonify(configurations=with_codes(compute(files.configurations, request.query_string)))
