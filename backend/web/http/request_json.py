"""Strict reading of what people send as JSON: bodies of requests and payloads of socket events."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any, NoReturn

from flask import Request

from backend.schedule.errors import SpecError
from backend.schedule.spec import reject_unknown
from backend.web.http.errors import ApiError


def read_object(request: Request) -> dict[str, Any]:
    """The body as a JSON object; ApiError for anything else, doubled keys and NaN included."""
    # Asking for this type makes a browser ask us before it lets a page of another site send the request.
    if request.mimetype != "application/json":
        message = "The body must be JSON, sent with Content-Type: application/json."
        raise ApiError(415, "Content-Type", request.mimetype, message)
    body = request.get_data(cache=False)
    try:
        value = json.loads(body, object_pairs_hook=_unique, parse_constant=_refuse)
    except SpecError:
        raise
    except RecursionError:
        raise ApiError(400, "body", None, "The body is nested too deeply.") from None
    except ValueError as error:  # bad JSON, bad UTF-8, a number of thousands of digits
        raise ApiError(400, "body", None, f"The body is not JSON: {error}"[:200]) from None
    if not isinstance(value, dict):
        raise ApiError(400, "body", value, "The body must be a JSON object.")
    return value


def only(data: Any, known: Collection[str], where: str) -> dict[str, Any]:
    """`data` as an object that has no other keys."""
    if not isinstance(data, dict):
        raise SpecError(where, data, f"{where} takes an object with {', '.join(known)}")
    reject_unknown(data, list(known), where)
    return data


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise SpecError(key[:80], value, "this key stands more than once in the body")
        found[key] = value
    return found


def _refuse(constant: str) -> NoReturn:
    raise SpecError("body", constant, f"{constant} is not a number that JSON has")
