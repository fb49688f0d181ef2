"""Strict reading of JSON from clients: request bodies and payloads of socket events."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any, NoReturn

from flask import Request

from backend.errors import RequestError, message
from backend.schedule.spec import reject_unknown
from backend.web.http.errors import ApiError

JSON_TYPE = "application/json"
LONGEST_REASON = 160  # characters of a parser's own message


def read_object(request: Request) -> dict[str, Any]:
    """Read the body as a JSON object. Raises RequestError for anything else, repeated keys and NaN included."""
    # A browser asks the server first (CORS preflight) before it lets a page of another site send this type.
    if request.mimetype != JSON_TYPE:
        text = message("http.not_json_type", "The body must be JSON, sent with Content-Type: application/json.")
        raise ApiError(415, "Content-Type", request.mimetype, text)
    body = request.get_data(cache=False)
    try:
        value = json.loads(body, object_pairs_hook=_unique, parse_constant=_refuse)
    except RequestError:
        raise
    except RecursionError:
        raise _bad_body(message("http.nested_too_deeply", "The body is nested too deeply.")) from None
    except ValueError as error:  # bad JSON, bad UTF-8, a number of thousands of digits
        reason = str(error)[:LONGEST_REASON]
        raise _bad_body(message("http.not_json", "The body is not JSON: {reason}", reason=reason)) from None
    if not isinstance(value, dict):
        raise _bad_body(message("http.not_an_object", "The body must be a JSON object."), value)
    return value


def only(data: Any, known: Collection[str], where: str) -> dict[str, Any]:
    """Return ``data`` as an object. Raises RequestError for any key that is not in ``known``; ``where`` names it in
    errors.
    """
    if not isinstance(data, dict):
        text = message("http.takes_an_object", "{what} takes an object with {keys}", what=where, keys=list(known))
        raise RequestError(where, data, text)
    reject_unknown(data, list(known), where)
    return data


def _bad_body(text: str, value: Any = None) -> ApiError:
    return ApiError(400, "body", value, text)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    unique: dict[str, Any] = {}
    for key, value in pairs:
        if key in unique:
            raise RequestError(
                key[:80], value, message("http.repeated_key", "this key stands more than once in the body")
            )
        unique[key] = value
    return unique


def _refuse(constant: str) -> NoReturn:
    text = message("http.not_a_json_number", "{constant} is not a number that JSON has", constant=constant)
    raise RequestError("body", constant, text)
