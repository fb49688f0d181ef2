"""Strict reading of JSON in request bodies."""

from __future__ import annotations

from typing import Any

from flask import Request

from backend.errors import message
from backend.jobs.strict_json import parse_object
from backend.web.http.errors import ApiError

JSON_TYPE = "application/json"


def read_object(request: Request) -> dict[str, Any]:
    """Read the body as a JSON object. Raises RequestError for anything else, repeated keys and NaN included."""
    need_json(request)
    return parse_object(request.get_data(cache=False))


def need_json(request: Request) -> None:
    """Raise ApiError (415) for a body of another type.

    A browser asks the server first (CORS preflight) before it lets a page of another site send this one.
    """
    if request.mimetype != JSON_TYPE:
        text = message("http.not_json_type", "The body must be JSON, sent with Content-Type: application/json.")
        raise ApiError(415, "Content-Type", request.mimetype, text)
