"""WebSocket frames that are encoded once for all receivers of the same text.

gevent-websocket's socket, which `SharedFrameSocket` wraps, encodes and copies each text for each receiver: with 500
viewers of one run that was a quarter of all the server's work.
"""

from __future__ import annotations

from typing import Any

from geventwebsocket.exceptions import WebSocketError
from geventwebsocket.websocket import Header, WebSocket


class FrameCache:
    """The frame of the latest text. A text is sent to its receivers one after the other, as the same object for all, so
    that identity is enough and no text is compared."""

    def __init__(self) -> None:
        self._text: str | None = None
        self._frame = b""

    def of(self, text: str) -> bytes:
        """Return the frame of this text."""
        if text is not self._text:
            data = text.encode()
            head = Header.encode_header(True, WebSocket.OPCODE_TEXT, b"", len(data), 0)
            self._text, self._frame = text, bytes(head) + data
        return self._frame


class SharedFrameSocket:
    """A socket that sends texts by `frames`; all else is passed to the wrapped socket."""

    def __init__(self, websocket: Any, connection: Any, frames: FrameCache) -> None:
        self._websocket, self._connection, self._frames = websocket, connection, frames

    def __getattr__(self, name: str) -> Any:
        return getattr(self._websocket, name)

    def send(self, message: str | bytes) -> None:
        """Send a message; returns when the system has taken it."""
        if not isinstance(message, str):
            self._websocket.send(message)
            return
        if self._websocket.closed:
            raise WebSocketError("the socket is closed")
        frame = self._frames.of(message)
        sent = self._connection.send(frame)  # nearly always all of it, and cheaper than sendall
        if sent < len(frame):
            self._connection.sendall(memoryview(frame)[sent:])
