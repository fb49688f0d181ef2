"""One JSON error shape on every route and event: {"error": {"code", "params", "field", "value", "message", ...}}.

Knows which HTTP status each kind of error has. No traceback ever leaves the server: what is unexpected goes to the
log under a short name, and the answer carries that name.
"""

from __future__ import annotations

import logging
import secrets
from typing import Any

from flask import Flask, Response, jsonify, request
from werkzeug.exceptions import HTTPException, MethodNotAllowed, RequestEntityTooLarge

from backend.errors import Kind, RequestError, message

logger = logging.getLogger(__name__)
STATUS: dict[Kind, int] = {
    "bad": 400,
    "denied": 403,
    "unknown": 404,
    "over": 409,
    "taken": 409,
    "share": 429,
    "server": 500,
    "full": 503,
    "disk": 503,
}


class ApiError(RequestError):
    """A request that is wrong for a reason of HTTP's: its body, its origin, its type. Has a status of its own."""

    def __init__(self, status: int, field: str | None, value: Any, message: str, limit: Any = None) -> None:
        super().__init__(field, value, message, limit=limit)
        self.status = status


def shape_of(error: Exception) -> tuple[int, dict[str, Any]]:
    """Status and shape of any exception that a route or an event can raise."""
    if isinstance(error, ApiError):
        return error.status, error.as_dict()
    if isinstance(error, RequestError):
        return STATUS[error.kind], error.as_dict()
    if isinstance(error, HTTPException):
        known = _from_http(error)
        return known.status, known.as_dict()
    name = secrets.token_hex(4)
    logger.error("error %s", name, exc_info=error)
    text = message(
        "http.server_error",
        "Something went wrong in the server, not in your request; its log has it under {name}.",
        name=name,
    )
    return 500, RequestError(None, None, text, kind="server").as_dict()


def _from_http(error: HTTPException) -> ApiError:
    status = error.code or 500
    if status == 404:
        return ApiError(
            status, "path", request.path, message("http.no_such_address", "There is nothing at this address.")
        )
    if isinstance(error, MethodNotAllowed):
        allowed = sorted(set(error.valid_methods or ()) - {"HEAD", "OPTIONS"})
        text = message("http.method_not_allowed", "This address takes only {methods}.", methods=allowed)
        return ApiError(status, "method", request.method, text)
    if isinstance(error, RequestEntityTooLarge):
        limit = request.max_content_length
        text = message("http.body_too_large", "The body is over the limit of {limit} bytes.", limit=limit)
        return ApiError(status, "body", request.content_length, text, limit)
    return ApiError(status, "request", None, message("http.other", "{reason}", reason=error.description or error.name))


def register(app: Flask) -> None:
    """Answer every exception of every route of the app in the one shape."""

    def answer(error: Exception) -> tuple[Response, int]:
        status, shape = shape_of(error)
        return jsonify(error=shape), status

    app.register_error_handler(Exception, answer)
