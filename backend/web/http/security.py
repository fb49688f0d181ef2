"""Who may ask, and what a browser may do with the answer.

The page loads nothing from elsewhere and no script stands inside it, which the headers below enforce. Requests must
carry a host name of ours, and changes must come from our own page.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

from flask import Flask, Response, request

from backend.runs.errors import failure
from backend.schedule.errors import printable
from backend.web.http.errors import ApiError
from backend.web.services import services

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; "
    "connect-src 'self'; worker-src 'self' blob:; frame-src 'self'; manifest-src 'self'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors "
)
FRAMED = "page.embed"  # the one page that others may show inside theirs
HEADERS = {
    "Content-Security-Policy": POLICY + "'self'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
READING = ("GET", "HEAD", "OPTIONS")
Wsgi = Callable[[dict[str, Any], Any], Iterable[bytes]]


def register(app: Flask) -> None:
    """Put the checks before every route and the headers on every answer."""
    app.before_request(_refuse_other_origins)
    app.after_request(_dress)


def gate(inner: Wsgi, hosts: tuple[str, ...] | None) -> Wsgi:
    """The whole server, sockets too, for requests to these host names only."""

    def serve(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        given = environ.get("HTTP_HOST", "")
        if hosts is not None and given and _name(given) not in hosts:
            message = "This server does not go by that name (see BUBBLELINE_HOSTS)."
            return _refuse(start_response, "400 Bad Request", failure("Host", printable(given), message))
        if environ.get("PATH_INFO", "").startswith("/socket.io"):
            return _shaped(inner, environ, start_response)
        return inner(environ, start_response)

    return serve


def _shaped(inner: Wsgi, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    """Socket.IO's answers, its refusals in our one shape; once a socket is open there is no answer at all."""
    said: list[tuple[str, Any]] = []
    body = inner(environ, lambda status, headers, exc_info=None: said.append((status, headers)))
    if not said:
        return body
    status, headers = said[0]
    if status.startswith("4"):
        why = b"".join(body).decode(errors="replace").strip('"')
        return _refuse(start_response, status, failure("socket", None, why))
    start_response(status, headers)
    return body


def _refuse(start_response: Any, status: str, shape: dict[str, Any]) -> Iterable[bytes]:
    body = json.dumps({"error": shape}).encode()
    start_response(status, [("Content-Type", "application/json"), ("Content-Length", str(len(body)))])
    return [body]


def _name(host: str) -> str:
    """The host without its port: [::1]:5000 -> [::1]."""
    return (host.partition("]")[0] + "]" if host.startswith("[") else host.partition(":")[0]).lower()


def _refuse_other_origins() -> None:
    """A page of another site must not start, change or delete anything here."""
    origin = request.headers.get("Origin")
    if request.method in READING or origin is None:
        return
    if origin != request.host_url.rstrip("/"):
        raise ApiError(403, "Origin", origin, "Only this server's own page may do this.")


def _dress(response: Response) -> Response:
    if request.endpoint == FRAMED:
        response.headers["Content-Security-Policy"] = POLICY + "*"
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
    response.headers.setdefault("Cache-Control", "no-store")
    route = request.url_rule.rule if request.url_rule is not None else "none"
    services().requests[route, response.status_code] += 1
    return response
