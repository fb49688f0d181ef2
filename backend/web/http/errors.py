"""One JSON error shape on every route and event: {"error": {"field", "value", "message", "limit"?, "nearest"?}}.

Knows which HTTP status each kind of error has. No traceback ever leaves the server: what is unexpected goes to the
log under a short name, and the answer carries that name.
"""

from __future__ import annotations

import logging
import secrets
from typing import Any

from flask import Flask, Response, jsonify, request
from werkzeug.exceptions import HTTPException, MethodNotAllowed, RequestEntityTooLarge

from backend.runs.errors import RunError, failure
from backend.schedule.errors import OrderError, SpecError, printable

logger = logging.getLogger(__name__)
STATUS = {"full": 503, "share": 429, "unknown": 404, "over": 409, "bad": 400}


class ApiError(Exception):
    """A request that is wrong for a reason of HTTP's: its body, its origin, its type."""

    def __init__(self, status: int, field: str | None, value: Any, message: str, limit: Any = None) -> None:
        super().__init__(message)
        self.status = status
        self.shape = failure(field, printable(value), message, limit)


def shape_of(error: Exception) -> tuple[int, dict[str, Any]]:
    """Status and shape of any exception that a route or an event can raise."""
    if isinstance(error, ApiError):
        return error.status, error.shape
    if isinstance(error, SpecError | OrderError):
        return 400, error.as_dict()
    if isinstance(error, RunError):
        return STATUS[error.kind], error.as_dict() | {"value": printable(error.value)}
    if isinstance(error, HTTPException):
        return _http_shape(error)
    name = secrets.token_hex(4)
    logger.error("error %s", name, exc_info=error)
    message = f"Something went wrong in the server, not in your request; its log has it under {name}."
    return 500, failure(None, None, message)


def _http_shape(error: HTTPException) -> tuple[int, dict[str, Any]]:
    code = error.code or 500
    if code == 404:
        return code, failure("path", printable(request.path), "There is nothing at this address.")
    if isinstance(error, MethodNotAllowed):
        allowed = sorted(set(error.valid_methods or ()) - {"HEAD", "OPTIONS"})
        return code, failure("method", request.method, f"This address takes {' or '.join(allowed)}.")
    if isinstance(error, RequestEntityTooLarge):
        limit = request.max_content_length
        return code, failure("body", request.content_length, f"The body is over the limit of {limit} bytes.", limit)
    return code, failure("request", None, error.description or error.name)


def register(app: Flask) -> None:
    """Answer every exception of every route of the app in the one shape."""

    def answer(error: Exception) -> tuple[Response, int]:
        status, shape = shape_of(error)
        return jsonify(error=shape), status

    app.register_error_handler(Exception, answer)
