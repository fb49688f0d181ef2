"""What every request passes below Flask, sockets too: proxies, the host's name, and the pace and role of sockets."""

from __future__ import annotations

import ipaddress
import re
import socket
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

from werkzeug.middleware.proxy_fix import ProxyFix
from werkzeug.wrappers import Request
from wsproto.frame_protocol import CloseReason

from backend.access.limits.rate_limit import Credit, Pace, keep_pace
from backend.access.policy import Policy
from backend.access.roles import Role
from backend.address.query import not_utf8
from backend.config import LOOPBACK, Config
from backend.errors import RequestError, message, printable
from backend.web.http.clients import identity_of
from backend.web.http.errors import encoded, status_of
from backend.web.http.websocket import WEBSOCKET

Wsgi = Callable[[dict[str, Any], Any], Iterable[bytes]]
FORWARDED = (
    "HTTP_FORWARDED", "HTTP_X_FORWARDED_FOR", "HTTP_X_FORWARDED_HOST", "HTTP_X_FORWARDED_PORT",
    "HTTP_X_FORWARDED_PREFIX", "HTTP_X_FORWARDED_PROTO",
)  # fmt: skip
REASONS = {400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 429: "Too Many Requests"}
HOST = re.compile(r"(\[[^\]]*\]|[^:\[\]]*)(?::\d*)?")
SOCKET_WAIT_S = 5  # until a client with too many sockets may try again
BURST_S = 1.0  # of the messages that the sockets of a client may send together, what they may send at once
SPARE = 64  # WebSockets of a client beyond its limit, so that Socket.IO can give the reason of a refusal


def trust_proxies(inner: Wsgi, count: int) -> Wsgi:
    """Take address, scheme and host from the headers of `count` proxies, and hide these headers from what is inside.

    Engine.IO, for one, would believe any X-Forwarded-Host.
    """

    def serve(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        for name in FORWARDED:
            environ.pop(name, None)
        if environ.get("wsgi.url_scheme") not in ("http", "https"):
            environ["wsgi.url_scheme"] = "http"
        return inner(environ, start_response)

    return ProxyFix(serve, x_for=count, x_proto=count, x_host=count) if count else serve


class Gate:
    """Refuses requests for other hosts, and sockets of clients that may not view or open too many."""

    def __init__(self, inner: Wsgi, config: Config, policy: Policy, pace: Pace) -> None:
        self._inner, self._policy, self._pace = inner, policy, pace
        self._hosts = config.trusted_hosts()
        self._most = config.sockets + SPARE
        self._open: Counter[str] = Counter()  # client -> its WebSockets
        self._credits: dict[str, Credit] = {}  # of the clients that have WebSockets
        self._rate = float(config.client_rate)
        self._machine = {*LOOPBACK, socket.gethostname().lower()}
        with suppress(OSError):
            self._machine.add(socket.getfqdn().lower())

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        query = environ.get("QUERY_STRING", "").encode("latin-1")  # its bytes
        if not _is_utf8(query):
            return _refuse(environ, start_response, not_utf8(query))
        host = environ.get("HTTP_HOST", "")
        if host and not self._serves(host_name(host), environ):
            text = message("http.other_host", "This server does not go by that name (see BUBBLELINE_HOSTS).")
            return _refuse(environ, start_response, RequestError("Host", printable(host), text))
        if environ.get("PATH_INFO", "").startswith("/socket.io"):
            return self._serve_socket(environ, start_response)
        return self._inner(environ, start_response)

    def _serves(self, name: str, environ: dict[str, Any]) -> bool:
        """Return whether the server goes by this name.

        A page of another site can make its own name mean this server (DNS rebinding), but neither has it a certificate
        for that name here, nor does the browser send it the cookie of this server.
        """
        if self._hosts is not None:
            return name in self._hosts
        if environ.get("wsgi.url_scheme") == "https" or name in self._machine or _is_address(name):
            return True
        request = Request(environ)
        return identity_of(request, self._policy).shown or self._policy.is_token(request.args.get("token", ""))

    def _serve_socket(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        identity = identity_of(Request(environ), self._policy)
        client = identity.client
        try:
            keep_pace(self._pace, client)
            self._policy.require(identity, Role.VIEW)
            if WEBSOCKET in environ and self._open[client] >= self._most:
                raise too_many_sockets(self._open[client])
        except RequestError as error:
            return _refuse(environ, start_response, error)
        if WEBSOCKET not in environ:
            return _with_shaped_refusals(self._inner, environ, start_response)
        self._open[client] += 1
        websocket = environ[WEBSOCKET]
        websocket.share(self._credits.setdefault(client, Credit(self._rate, self._rate * BURST_S)))
        try:
            return _with_shaped_refusals(self._inner, environ, start_response)  # returns when the socket is closed
        finally:
            self._open[client] -= 1
            if not self._open[client]:
                del self._open[client], self._credits[client]


def too_many_sockets(count: int) -> RequestError:
    """Return the refusal of one more connection."""
    text = message(
        "access.too_many_sockets",
        "{count} connections of yours are open already; close some pages and try again in {seconds} s.",
        count=count,
        seconds=SOCKET_WAIT_S,
    )
    return RequestError("sockets", count, text, limit=count, kind="share", retry_after=SOCKET_WAIT_S)


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
        return _send(start_response, status, RequestError("socket", None, text))
    start_response(status, headers)
    return body


def _refuse(environ: dict[str, Any], start_response: Any, error: RequestError) -> Iterable[bytes]:
    """Answer with an error; a WebSocket, which is open already, is closed with its sentence."""
    websocket = environ.get(WEBSOCKET)
    if websocket is not None:
        websocket.close(CloseReason.POLICY_VIOLATION, str(error.message))
        return []
    status = status_of(error)
    return _send(start_response, f"{status} {REASONS[status]}", error)


def _send(start_response: Any, status: str, error: RequestError) -> Iterable[bytes]:
    body = encoded(error)
    headers = [("Content-Type", "application/json"), ("Content-Length", str(len(body)))]
    if error.retry_after is not None:
        headers.append(("Retry-After", str(error.retry_after)))
    start_response(status, headers)
    return [body]


def _is_utf8(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


def host_name(host: str) -> str:
    """Return the host without its port: [::1]:5000 -> [::1]; what is no host is returned as it is and so not found."""
    found = HOST.fullmatch(host)
    return (found[1] if found else host).lower()
