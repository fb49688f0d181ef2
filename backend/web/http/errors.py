"""The JSON shape of errors on every route and event, and the HTTP status of each kind of error.

``{"error": {"code", "params", "field", "value", "message", "limit"?, "nearest"?}}``. No traceback leaves the server:
an unexpected exception is logged under a random name, and the answer has that name.
"""

from __future__ import annotations

import json
import logging
import secrets
from typing import Any

from flask import Flask, Response, jsonify, make_response, render_template, request
from werkzeug.exceptions import ClientDisconnected, HTTPException, MethodNotAllowed, NotFound, RequestEntityTooLarge

from backend.errors import Kind, RequestError, message
from backend.web.http.bundle import entry

logger = logging.getLogger(__name__)
STATUS: dict[Kind, int] = {
    "bad": 400,
    "unidentified": 401,
    "denied": 403,
    "unknown": 404,
    "over": 409,
    "taken": 409,
    "share": 429,
    "server": 500,
    "full": 503,
    "disk": 503,
    "missing": 503,
}
RETRY_S = {429: 60, 503: 5}  # seconds until a client should try again, where an answer does not say it itself


class ApiError(RequestError):
    """A request refused for its body, origin or type, with an HTTP status that no kind of error has."""

    def __init__(self, status: int, field: str | None, value: Any, message: str, limit: Any = None) -> None:
        super().__init__(field, value, message, limit=limit)
        self.status = status


def status_of(error: RequestError) -> int:
    """Return the HTTP status of an error."""
    return error.status if isinstance(error, ApiError) else STATUS[error.kind]


def shape_of(error: Exception) -> tuple[int, dict[str, Any]]:
    """Return (status, JSON shape) of any exception that a route or an event can raise."""
    if isinstance(error, HTTPException):
        error = _from_http(error)
    if isinstance(error, RequestError):
        return status_of(error), error.as_dict()
    name = secrets.token_hex(4)
    logger.error("error %s", name, exc_info=error)
    text = message(
        "http.server_error",
        "Something went wrong in the server, not in your request; its log has it under {name}.",
        name=name,
    )
    return 500, RequestError(None, None, text, kind="server").as_dict()


def encoded(error: RequestError) -> bytes:
    """Encode an error's body for answers that are written below Flask."""
    return json.dumps({"error": error.as_dict()}).encode()


def register(app: Flask) -> None:
    """Answer every exception of every route of the app in the one shape, and say when to try again."""

    def answer(error: Exception) -> tuple[Response, int]:
        if isinstance(error, NotFound) and _is_for_reader():
            page = make_response(render_template("no_page.html", path=request.path[:80], style=entry("css", "main")))
            page.headers["Vary"] = "Accept"
            return page, 404
        status, shape = shape_of(error)
        response = jsonify(error=shape)
        retry_after = getattr(error, "retry_after", None)
        if retry_after is not None:
            response.headers["Retry-After"] = str(retry_after)
        if status == 401:
            response.headers["WWW-Authenticate"] = "Bearer"
        if isinstance(error, MethodNotAllowed) and error.valid_methods:
            response.headers["Allow"] = ", ".join(sorted(error.valid_methods))
        return response, status

    app.register_error_handler(Exception, answer)
    app.after_request(_say_when_to_retry)


def _is_for_reader() -> bool:
    """Return whether a browser shows the answer as a page: outside the API, and the client names HTML as a browser does
    for an address that was typed or followed.
    """
    api = request.path == "/api" or request.path.startswith("/api/")
    return not api and request.method in ("GET", "HEAD") and "text/html" in request.headers.get("Accept", "")


def _say_when_to_retry(response: Response) -> Response:
    if response.status_code in RETRY_S:
        response.headers.setdefault("Retry-After", str(RETRY_S[response.status_code]))
    return response


def _from_http(error: HTTPException) -> ApiError:
    status = error.code or 500
    if status == 404:
        text = message("http.no_such_address", "There is nothing at this address.")
        return ApiError(status, "path", request.path, text)
    if isinstance(error, MethodNotAllowed):
        allowed = sorted(set(error.valid_methods or ()) - {"HEAD", "OPTIONS"})
        text = message("http.method_not_allowed", "This address takes only {methods}.", methods=allowed)
        return ApiError(status, "method", request.method, text)
    if isinstance(error, RequestEntityTooLarge):
        limit = request.max_content_length
        text = message("http.body_too_large", "The body is over the limit of {limit} bytes.", limit=limit)
        return ApiError(status, "body", request.content_length, text, limit)
    if isinstance(error, ClientDisconnected):  # or its body came too slowly, see request_reader.py, or in bad chunks
        text = message("http.body_incomplete", "The body did not arrive as a whole.")
        return ApiError(408 if isinstance(error.__context__, TimeoutError) else 400, "body", None, text)
    return ApiError(status, "request", None, message("http.other", "{reason}", reason=error.description or error.name))
