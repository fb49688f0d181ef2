"""The route of files for other programs: torch's CSV, a Chrome trace, a Result with all times."""

from __future__ import annotations

from typing import Any

from flask import Blueprint, Response, request

from backend.errors import RequestError, message
from backend.schedule.families import registry
from backend.schedule.families.registry import op_count, read
from backend.schedule.interop.export import FORMATS, file_name, render
from backend.schedule.spec import Spec, choice
from backend.web.address.query import KEYS, fields_of, nested, value_of
from backend.web.http.background import estimated_ops, run_in_background
from backend.web.http.responses import refused

exports = Blueprint("export", __name__)
LARGEST = 64_000_000  # characters of a file, which is made in memory; the command line writes larger ones


@exports.get("/api/export")
def export() -> Response:
    """Return the file of the spec in the address; ``format`` names its format. 400 names the field that is wrong."""
    try:
        data = fields_of(request.query_string, (*KEYS, "format"), _value)
        form = choice("format", data.pop("format", "json"), FORMATS)
        spec = read(nested(data))
        _check_size(spec, form)
        body = run_in_background(4 * estimated_ops(spec), lambda: render(spec, registry.order(spec), form))
    except RequestError as error:
        return refused(error)
    answer = Response(body, mimetype=FORMATS[form][1])
    answer.headers["Content-Disposition"] = f'attachment; filename="{file_name(spec, form)}"'
    return answer


def _check_size(spec: Spec, form: str) -> None:
    most = LARGEST // FORMATS[form][2]
    if op_count(spec) > most:
        nearest = max(1, spec.m * most // op_count(spec))
        why = message(
            "web.file_too_large",
            "a file of this format holds {most} ops here; the command line writes larger ones",
            most=f"{most:,}",
        )
        raise RequestError("m", spec.m, why, limit=nearest, nearest=nearest)


def _value(key: str, text: str) -> Any:
    return text if key == "format" else value_of(key, text)
