"""The open connections of each client: their number is limited, and one that never enters Socket.IO is closed."""

from __future__ import annotations

from collections import Counter
from typing import Any

import flask
import gevent
from flask_socketio import SocketIO

from backend.web.http.gate import too_many_sockets
from backend.web.http.websocket import WEBSOCKET

ENTER_S = 10.0  # from the opening of a connection until it must have entered


class ClientSockets:
    """Counts the connections of each client, up to `most`."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._client: dict[str, str] = {}  # of each viewer
        self._count: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._client)

    def __contains__(self, viewer: str) -> bool:
        return viewer in self._client

    def open(self, viewer: str, client: str) -> None:
        """Count a viewer's connection. Raises RequestError where its client has too many."""
        if self._count[client] >= self._most:
            raise too_many_sockets(self._count[client])
        self._client[viewer] = client
        self._count[client] += 1

    def close(self, viewer: str) -> None:
        """Forget a viewer's connection; safe to call for one that was refused."""
        client = self._client.pop(viewer, None)
        if client is not None:
            self._count[client] -= 1
            if not self._count[client]:
                del self._count[client]


def current_viewer() -> str:
    """Return the name of the connection whose event is handled."""
    return str(flask.request.sid)  # type: ignore[attr-defined]  # put there by Flask-SocketIO


def close_silent(socketio: SocketIO) -> None:
    """Close connections that have not entered Socket.IO in time, or were refused there: they would count nowhere."""
    server = socketio.server
    entered = server.eio.handlers["connect"]

    def connect(connection: str, environ: dict[str, Any]) -> Any:
        gevent.spawn_later(ENTER_S, close, connection)
        return entered(connection, environ)

    def close(connection: str) -> None:
        if server.manager.sid_from_eio_sid(connection, "/") is None:
            server.eio.disconnect(connection)

    server.eio.on("connect", connect)


def use_websockets(socketio: SocketIO) -> None:
    """Have Engine.IO talk on the WebSockets that the server opens. Its own, of simple-websocket, would read ahead of
    the limits, in a greenlet for each, and send a part of a large message. Each of its sockets gets its WebSocket as
    `line`, for messages that need not pass its queue.
    """
    engine = socketio.server.eio

    def websocket(talk: Any, _: Any) -> Any:
        def run(environ: dict[str, Any], _: Any) -> Any:
            talk.__self__.line = environ[WEBSOCKET]
            return talk(environ[WEBSOCKET])

        return run

    engine._async = {**engine._async, "websocket": websocket}
