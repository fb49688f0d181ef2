"""The check of every request's origin, and the security headers of every answer.

The page loads nothing from elsewhere and has no inline script, which the headers enforce. Changes must come from the
server's own page.
"""

from __future__ import annotations

from flask import Flask, Response, request

from backend.errors import message
from backend.web.http.errors import ApiError

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; "
    "connect-src 'self'; worker-src 'self' blob:; frame-src 'self'; manifest-src 'self'; base-uri 'none'; "
    "form-action 'self'"
)
FRAMED = "page.embed"  # the one page that others may show inside theirs, a deck on a disk too, which * excludes
HEADERS = {
    "Content-Security-Policy": f"{POLICY}; frame-ancestors 'self'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
READING = ("GET", "HEAD", "OPTIONS")
HSTS = "max-age=31536000"  # a year, in which browsers ask for this host by https only


def register(app: Flask) -> None:
    """Check the origin before every route and set the headers of every answer."""
    app.before_request(_refuse_other_origins)
    app.after_request(_set_headers)


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
        response.headers["Content-Security-Policy"] = POLICY
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
    if request.is_secure:
        response.headers.setdefault("Strict-Transport-Security", HSTS)
    response.headers.setdefault("Cache-Control", "no-store")
    return response
