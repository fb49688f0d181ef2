"""The server's connections below the app: their number, refusals of malformed requests, limits of sockets, and the log.

Gives refusals the JSON error shape of every route.
"""

from __future__ import annotations

import io
import logging
import socket
import time
from contextlib import suppress
from http.client import HTTPException
from typing import Any

import gevent
from gevent.pywsgi import WSGIHandler

from backend.errors import RequestError, message
from backend.web.http.clients import CONNECTION
from backend.web.http.errors import encoded
from backend.web.http.request_reader import ConnectionLimits, RequestReader, check_framing
from backend.web.http.socket_limits import Allowance, SocketLimits
from backend.web.http.websocket import VERSION, WEBSOCKET, FrameCache, WebSocket, accept, asked_for

logger = logging.getLogger(__name__)
requests = logging.getLogger("bubbleline.requests")
# Options of every connection. Small writes go out at once: waiting for more would cost 40 ms an answer. The system
# buffers little that the other side has not asked for yet: a viewer who stops reading would otherwise hold 4 MB of its
# memory. A client that takes nothing for a minute is disconnected, even if its machine still acknowledges.
OPTIONS = {"TCP_NODELAY": 1, "TCP_NOTSENT_LOWAT": 131_072, "TCP_USER_TIMEOUT": 60_000}
LINGER_S, LINGER_BYTES = 1.0, 2_000_000  # for a client to stop sending after a refusal
ROUTE = "bubbleline.route"  # in a request's environ: the rule of the route that answered it
REFUSALS = {
    "400": (
        "400 Bad Request",
        RequestError(
            "request", None, message("http.unreadable_request", "This is not an HTTP request that can be read.")
        ),
    ),
    "408": (
        "408 Request Timeout",
        RequestError("request", None, message("http.slow_request", "The request did not arrive in time.")),
    ),
    "414": (
        "414 URI Too Long",
        RequestError("query", None, message("http.address_too_long", "The address is too long."), limit=8192),
    ),
    "426": (
        "426 Upgrade Required",
        RequestError("request", None, message("http.no_handshake", "This is not the handshake of a WebSocket.")),
    ),
    "431": (
        "431 Request Header Fields Too Large",
        RequestError("headers", None, message("http.headers_too_long", "There are too many headers.")),
    ),
    "503": (
        "503 Service Unavailable",
        RequestError(
            "connections", None,
            message("http.connections_full", "The server has as many connections as it can hold; try again soon."),
        ),
    ),
}  # fmt: skip
EXTRA_HEADERS = {"426": f"\r\nSec-WebSocket-Version: {VERSION}", "503": "\r\nRetry-After: 1"}


class Connections:
    """The open connections of a server; a new one ends the one that has been idle for longest where all are taken."""

    def __init__(self, most: int) -> None:
        self.most, self.refused = most, 0
        self._open: set[Handler] = set()
        self._idle: dict[Handler, None] = {}  # those that wait for a request, in the order in which they began to

    def __len__(self) -> int:
        return len(self._open)

    def admit(self, handler: Handler) -> bool:
        """Add a connection; return False where there is no place for it."""
        if len(self._open) >= self.most:
            oldest = next(iter(self._idle), None)
            if oldest is None:
                self.refused += 1
                return False
            self.leave(oldest)
            oldest.end()
        self._open.add(handler)
        return True

    def leave(self, handler: Handler) -> None:
        """Remove a connection that has ended."""
        self._open.discard(handler)
        self._idle.pop(handler, None)

    def wait(self, handler: Handler) -> None:
        """Note that a connection waits for its next request."""
        self._idle[handler] = None

    def work(self, handler: Handler) -> None:
        """Note that a connection has a request."""
        self._idle.pop(handler, None)


class Handler(WSGIHandler):  # type: ignore[misc]  # gevent has no types here
    """One connection."""

    status: bytes | str | None
    environ: dict[str, Any]  # of the present request, once its headers have been read
    allowed: Allowance
    frames: FrameCache
    limits = ConnectionLimits()
    connections = Connections(1000)

    def __init__(self, connection: Any, address: Any, server: Any) -> None:
        self.reader = RequestReader(connection, self.limits)
        super().__init__(connection, address, server, io.BufferedReader(self.reader))
        self.environ = {}
        self._requests = 0

    def handle(self) -> None:
        """Serve the connection, with the options that this system knows."""
        for name, value in OPTIONS.items():
            if hasattr(socket, name):
                self.socket.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
        if not self.connections.admit(self):
            self._refuse("503", 0.2)
            self.socket.close()
            return
        try:
            super().handle()
        finally:
            self.connections.leave(self)

    def end(self) -> None:
        """End a connection that waits for a request."""
        self.socket.shutdown(socket.SHUT_RDWR)

    def get_environ(self) -> dict[str, Any]:
        """Return the environment of a request, with the connection: a long computation looks whether it is open."""
        environ: dict[str, Any] = super().get_environ()
        environ[CONNECTION] = self.socket
        return environ

    def handle_one_request(self) -> Any:
        """Serve a request; pywsgi's own refusals, a status and bytes, get a body."""
        if self._requests:
            self.reader.enter("idle")
            self.connections.wait(self)
        self._requests += 1
        self.environ = {}
        self.status = self.command = self.path = None
        result = super().handle_one_request()
        if self.reader.failure and self.reader.phase == "header" and self.reader.bytes:
            result = ("408" if self.reader.failure == "slow" else "431", b"")
        if isinstance(result, tuple) and result[0] in REFUSALS:
            self._refuse(result[0])
            return None
        return result

    def read_requestline(self) -> str:
        """Read the first line of a request; empty at the end of the connection."""
        try:
            line: str = super().read_requestline()
        finally:
            self.connections.work(self)
        return line

    def read_request(self, raw_requestline: str) -> bool:
        """Read the headers. Raises ValueError for those of no legal request."""
        read = bool(super().read_request(raw_requestline))
        self.reader.enter("body")
        return read

    def MessageClass(self, *args: Any) -> Any:  # noqa: N802  # pywsgi calls it so
        """Parse the headers, which pywsgi then changes."""
        headers = super().MessageClass(*args)
        check_framing(headers, self.request_version)
        return headers

    def handle_one_response(self) -> None:
        """Have the app answer. Close a connection whose request could not be read to its end: the rest might be taken
        for another request.
        """
        super().handle_one_response()
        if self.reader.failure or self.wsgi_input._chunked_input_error:
            self.close_connection = True
            self._linger()

    def _refuse(self, status: str, seconds: float = LINGER_S) -> None:
        """Send pywsgi's refusal of a request as an error, and log it."""
        self.status = status
        with suppress(OSError):
            self.socket.settimeout(seconds)
            self.socket.sendall(_refusal(status))
        self._linger(seconds)
        self.log_request()

    def _linger(self, seconds: float = LINGER_S) -> None:
        """Read what the client still sends: closing before would have the system discard the answer on its way."""
        with suppress(OSError), gevent.Timeout(seconds, False):
            self.socket.settimeout(None)
            self.socket.shutdown(socket.SHUT_WR)
            for _ in range(LINGER_BYTES // 16_384):
                if not self.socket.recv(16_384):
                    break

    def _handle_client_error(self, ex: Exception) -> tuple[str, bytes]:
        """Refuse a malformed request; pywsgi would print a traceback of what it does not expect."""
        why = str(ex).partition("?")[0]  # without the query of its address, which may have a token
        logger.warning("a request of %s cannot be read: %s", self._client(), why)
        return "431" if isinstance(ex, HTTPException) else "400", b""

    def log_request(self) -> None:
        """Log an answered request; an open socket is one, when it closes."""
        if not requests.isEnabledFor(logging.INFO):
            return
        status = self.status.decode("latin-1") if isinstance(self.status, bytes) else self.status or "000"
        fields = {
            "method": (self.command or "-")[:20],
            "route": (self.environ.get(ROUTE) or (self.path or "-").partition("?")[0])[:200],
            "status": status.split()[0],
            "ms": round((time.time() - self.time_start) * 1000, 1),
            "client": self._client(),
        }
        requests.info("%(method)s %(route)s %(status)s %(ms)s ms %(client)s", fields, extra=fields)

    def _client(self) -> str:
        """Return the address of the client: behind a trusted proxy, the one that the proxy states."""
        stated = self.environ.get("REMOTE_ADDR")
        return str(stated or (self.client_address[0] if isinstance(self.client_address, tuple) else "-"))

    def run_application(self) -> None:
        """Have the app answer a request, or talk on the WebSocket that the request opens."""
        if not asked_for(self.environ):
            super().run_application()
            return
        self.close_connection = True
        opening = accept(self.environ)
        if opening is None:
            self.status = REFUSALS["426"][0]
            self.socket.sendall(_refusal("426"))
            return
        self.status = "101 Switching Protocols"
        self.socket.sendall(opening)
        self.reader.enter("socket")
        websocket = WebSocket(self.socket, self.rfile.read1, SocketLimits(self.allowed), self.frames)
        self.environ[WEBSOCKET] = websocket
        try:
            self.application(self.environ, lambda status, headers, exc_info=None: None)
        finally:
            websocket.close()


def handler_class(
    limits: ConnectionLimits, connections: Connections, allowed: Allowance, frames: FrameCache
) -> type[Handler]:
    """Return the class of connections with these limits, whose WebSockets may send what is allowed."""
    own = {"limits": limits, "connections": connections, "allowed": allowed, "frames": frames}
    return type("LimitedHandler", (Handler,), own)


def _refusal(status: str) -> bytes:
    """Return the whole answer to a request that never reaches the app."""
    line, error = REFUSALS[status]
    body = encoded(error)
    head = f"HTTP/1.1 {line}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
    return f"{head}{EXTRA_HEADERS.get(status, '')}\r\nConnection: close\r\n\r\n".encode() + body
