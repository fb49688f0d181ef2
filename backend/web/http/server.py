"""The server's connections below the app: refusals of malformed requests, and limits of sockets.

Gives refusals the JSON error shape of every route.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

from geventwebsocket.handler import WebSocketHandler
from geventwebsocket.websocket import Stream

from backend.errors import RequestError, message
from backend.web.http.clients import CONNECTION
from backend.web.http.errors import encoded
from backend.web.http.socket_limits import LimitedWebSocket

# Options of every connection. Small writes go out at once: waiting for more would cost 40 ms an answer. The system
# buffers little that the other side has not asked for yet: a viewer who stops reading would otherwise hold 4 MB of its
# memory. A client that takes nothing for a minute is disconnected, even if its machine still acknowledges.
OPTIONS = {"TCP_NODELAY": 1, "TCP_NOTSENT_LOWAT": 131_072, "TCP_USER_TIMEOUT": 60_000}
REFUSALS = {
    "400": (
        "400 Bad Request",
        RequestError(
            "request", None, message("http.unreadable_request", "This is not an HTTP request that can be read.")
        ),
    ),
    "414": (
        "414 URI Too Long",
        RequestError("query", None, message("http.address_too_long", "The address is too long."), limit=8192),
    ),
}
Wrap = Callable[[Any, Any], Any]  # (WebSocket, its connection) -> what the app uses in the WebSocket's place


class Handler(WebSocketHandler):  # type: ignore[misc]  # gevent-websocket has no types
    """One connection."""

    websocket: Any  # once the connection is one
    wrap: Wrap = staticmethod(lambda websocket, _: websocket)

    def handle(self) -> None:
        """Serve the connection, with the options that this system knows."""
        for name, value in OPTIONS.items():
            if hasattr(socket, name):
                self.socket.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
        super().handle()

    def get_environ(self) -> dict[str, Any]:
        """Return the environment of a request, with the connection: a long computation looks whether it is open."""
        environ: dict[str, Any] = super().get_environ()
        environ[CONNECTION] = self.socket
        return environ

    def handle_one_request(self) -> Any:
        """Serve a request; pywsgi's own refusals, a status and bytes, get a body."""
        result = super().handle_one_request()
        if isinstance(result, tuple) and result[0] in REFUSALS:
            status, error = REFUSALS[result[0]]
            body = encoded(error)
            head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
            result = (result[0], f"{head}\r\nConnection: close\r\n\r\n".encode() + body)
        return result

    def upgrade_connection(self) -> Any:
        """Turn the connection into a WebSocket with limits of what it may send."""
        refused = super().upgrade_connection()
        if hasattr(self, "websocket"):
            self.websocket.closed = True  # or its destructor would close the connection
            self.websocket = LimitedWebSocket(self.environ, Stream(self), self)
            self.environ["wsgi.websocket"] = self.wrap(self.websocket, self.socket)
        return refused


def handler_class(wrap: Wrap) -> type[Handler]:
    """Return the class of connections whose WebSockets are wrapped."""
    return type("WrappingHandler", (Handler,), {"wrap": staticmethod(wrap)})
