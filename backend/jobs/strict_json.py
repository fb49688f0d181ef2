"""Strict reading of JSON that clients send. Worker processes use it too: it knows neither Flask nor gevent."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any, NoReturn

from backend.errors import RequestError, json_reason, message
from backend.schedule.spec import reject_unknown


def parse_object(body: bytes | bytearray) -> dict[str, Any]:
    """Read a JSON object. Raises RequestError for anything else, repeated keys and NaN included."""
    try:
        value = json.loads(body, object_pairs_hook=_unique, parse_constant=_refuse)
    except RequestError:
        raise
    except (ValueError, RecursionError) as error:  # bad JSON, bad UTF-8, a number of thousands of digits
        text = message("http.not_json", "The body is not JSON: {reason}", reason=json_reason(error))
        raise RequestError("body", None, text) from None
    if not isinstance(value, dict):
        raise RequestError("body", value, message("http.not_an_object", "The body must be a JSON object."))
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


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    unique: dict[str, Any] = {}
    for key, value in pairs:
        if key in unique:
            raise RequestError(key[:80], value, message("http.repeated_key", "this key is more than once in the body"))
        unique[key] = value
    return unique


def _refuse(constant: str) -> NoReturn:
    text = message("http.not_a_json_number", "{constant} is not a number that JSON has", constant=constant)
    raise RequestError("body", constant, text)
