"""The route of files for other programs: torch's CSV, a Chrome trace, a Result with all times."""

from __future__ import annotations

from typing import Any

from flask import Blueprint, Response, request

from backend.schedule import families
from backend.schedule.errors import SpecError
from backend.schedule.families import read
from backend.schedule.fit import ops
from backend.schedule.interop.export import FORMATS, file_name, render
from backend.schedule.spec import choice
from backend.web.answer import apart
from backend.web.query import KEYS, fields_of, nested, value_of
from backend.web.schedule import refused

exports = Blueprint("export", __name__)


@exports.get("/api/export")
def export() -> Response:
    """The file of the spec in the address; ``format`` says which. 400 names the field where it cannot be written."""
    try:
        data = fields_of(request.query_string, (*KEYS, "format"), _value)
        form = choice("format", data.pop("format", "json"), FORMATS)
        spec = read(nested(data))
        body = apart(ops(spec) * 4, lambda: render(spec, families.order(spec), form))
    except SpecError as error:
        return refused(error)
    answer = Response(body, mimetype=FORMATS[form][1])
    answer.headers["Content-Disposition"] = f'attachment; filename="{file_name(spec, form)}"'
    return answer


def _value(key: str, text: str) -> Any:
    return text if key == "format" else value_of(key, text)
