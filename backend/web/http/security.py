"""Checks of every request's host and origin, and the security headers of every answer.

The page loads nothing from elsewhere and has no inline script, which the headers enforce. Requests must carry one of
the server's host names, and changes must come from its own page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from flask import Flask, Response, request

from backend.errors import RequestError, message, printable
from backend.web.http.errors import ApiError, encoded

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; "
    "connect-src 'self'; worker-src 'self' blob:; frame-src 'self'; manifest-src 'self'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors "
)
FRAMED = "page.embed"  # the one page that other sites may show inside theirs
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
    """Check the origin before every route and set the headers of every answer."""
    app.before_request(_refuse_other_origins)
    app.after_request(_set_headers)


def check_hosts(inner: Wsgi, hosts: tuple[str, ...] | None) -> Wsgi:
    """Wrap the whole server, sockets too: only requests to these host names pass; None lets any pass."""

    def serve(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        host = environ.get("HTTP_HOST", "")
        if hosts is not None and host and _name(host) not in hosts:
            text = message("http.other_host", "This server does not go by that name (see BUBBLELINE_HOSTS).")
            return _refuse(start_response, "400 Bad Request", RequestError("Host", printable(host), text))
        if environ.get("PATH_INFO", "").startswith("/socket.io"):
            return _with_shaped_refusals(inner, environ, start_response)
        return inner(environ, start_response)

    return serve


def _with_shaped_refusals(inner: Wsgi, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    """Answer as Socket.IO does, with its refusals in the one shape of errors; an open socket has no answer at all."""
    started: list[tuple[str, Any]] = []
    body = inner(environ, lambda status, headers, exc_info=None: started.append((status, headers)))
    if not started:
        return body
    status, headers = started[0]
    if status.startswith("4"):
        reason = b"".join(body).decode(errors="replace").strip('"')
        text = message("http.other", "{reason}", reason=reason)
        return _refuse(start_response, status, RequestError("socket", None, text))
    start_response(status, headers)
    return body


def _refuse(start_response: Any, status: str, error: RequestError) -> Iterable[bytes]:
    body = encoded(error)
    start_response(status, [("Content-Type", "application/json"), ("Content-Length", str(len(body)))])
    return [body]


def _name(host: str) -> str:
    """Return the host without its port: [::1]:5000 -> [::1]."""
    return (host.partition("]")[0] + "]" if host.startswith("[") else host.partition(":")[0]).lower()


def _refuse_other_origins() -> None:
    """Refuse changes that a page of another site asks for."""
    origin = request.headers.get("Origin")
    if request.method in READING or origin is None:
        return
    if origin != request.host_url.rstrip("/"):
        text = message("http.other_origin", "Only this server's own page may do this.")
        raise ApiError(403, "Origin", origin, text)


def _set_headers(response: Response) -> Response:
    if request.endpoint == FRAMED:
        response.headers["Content-Security-Policy"] = POLICY + "*"
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
    response.headers.setdefault("Cache-Control", "no-store")
    return response
