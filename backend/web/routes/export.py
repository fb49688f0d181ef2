"""The route of files for other programs: torch's CSV, a Chrome trace, a Result with all times."""

from __future__ import annotations

from typing import Any

from flask import Blueprint, Response, request

from backend.schedule.errors import SpecError
from backend.schedule.families import registry
from backend.schedule.families.registry import op_count, read
from backend.schedule.interop.export import FORMATS, file_name, render
from backend.schedule.spec import Spec, choice
from backend.web.address.query import KEYS, fields_of, nested, value_of
from backend.web.http.responses import apart
from backend.web.routes.schedule import refused, work_of

exports = Blueprint("export", __name__)
LARGEST = 64_000_000  # characters of a file, which is made in memory; the command line writes larger ones


@exports.get("/api/export")
def export() -> Response:
    """The file of the spec in the address; ``format`` says which. 400 names the field where it cannot be written."""
    try:
        data = fields_of(request.query_string, (*KEYS, "format"), _value)
        form = choice("format", data.pop("format", "json"), FORMATS)
        spec = read(nested(data))
        _judge_size(spec, form)
        body = apart(4 * work_of(spec), lambda: render(spec, registry.order(spec), form))
    except SpecError as error:
        return refused(error)
    answer = Response(body, mimetype=FORMATS[form][1])
    answer.headers["Content-Disposition"] = f'attachment; filename="{file_name(spec, form)}"'
    return answer


def _judge_size(spec: Spec, form: str) -> None:
    most = LARGEST // FORMATS[form][2]
    if op_count(spec) > most:
        nearest = max(1, spec.m * most // op_count(spec))
        message = f"a file of this format holds {most:,} ops here; the command line writes larger ones"
        raise SpecError("m", spec.m, message, limit=nearest, nearest=nearest)


def _value(key: str, text: str) -> Any:
    return text if key == "format" else value_of(key, text)
