"""What the server says and refuses below the app: requests that never become one, sockets that send too much.

Gives these the JSON error shape of every route. Knows gevent's handler and nothing of the routes.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from typing import Any

from geventwebsocket.exceptions import WebSocketError
from geventwebsocket.handler import WebSocketHandler

from backend.runs.errors import failure
from backend.web.sockets.frames import FrameCache, SharedFrameSocket

LARGEST_EVENT = 16_384  # bytes of one message from a page; a watch has under a hundred
# What the system does for every connection. Small writes go out at once: waiting for more would cost 40 ms an answer.
# Of what the other side has not asked for yet little is taken: a viewer who stops reading would otherwise hold 4 MB of
# the system's memory. And one who takes nothing for a minute has gone, though its machine may still answer for it.
OPTIONS = {"TCP_NODELAY": 1, "TCP_NOTSENT_LOWAT": 131_072, "TCP_USER_TIMEOUT": 60_000}
REFUSALS = {
    "400": ("400 Bad Request", failure("request", None, "This is not an HTTP request that can be read.")),
    "414": ("414 URI Too Long", failure("query", None, "The address is too long.", limit=8192)),
}
FRAMES = FrameCache()  # of all connections: what many are sent is one text


class Handler(WebSocketHandler):  # type: ignore[misc]  # gevent-websocket has no types
    """One connection."""

    def handle(self) -> None:
        """Serve the connection, with the options that this system knows."""
        for name, value in OPTIONS.items():
            if hasattr(socket, name):
                self.socket.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
        super().handle()

    def handle_one_request(self) -> Any:
        """Serve a request; pywsgi's own refusals, a status and bytes, get a body."""
        result = super().handle_one_request()
        if isinstance(result, tuple) and result[0] in REFUSALS:
            status, shape = REFUSALS[result[0]]
            body = json.dumps({"error": shape})
            head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
            result = (result[0], f"{head}\r\nConnection: close\r\n\r\n{body}".encode())
        return result

    def upgrade_connection(self) -> Any:
        """Turn the connection into a socket whose frames are bounded before they are read."""
        refused = super().upgrade_connection()
        if hasattr(self, "websocket"):
            self.websocket.raw_read = _bounded(self.websocket.raw_read)
            self.environ["wsgi.websocket"] = SharedFrameSocket(self.websocket, self.socket, FRAMES)
        return refused


def _bounded(read: Callable[[int], bytes]) -> Callable[[int], bytes]:
    def read_some(size: int) -> bytes:
        if size > LARGEST_EVENT:
            raise WebSocketError("frame too large")  # and the socket is closed
        return read(size)

    return read_some
