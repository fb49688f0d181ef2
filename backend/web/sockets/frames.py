"""Sends the same text to many sockets at the price of one: its WebSocket frame is made once.

Knows frames and nothing of what is in them. Stands where gevent-websocket's socket would, which encodes and copies
every text for every receiver: for 500 viewers of one run that was a quarter of all the server's work.
"""

from __future__ import annotations

from typing import Any

from geventwebsocket.exceptions import WebSocketError
from geventwebsocket.websocket import Header, WebSocket


class Frames:
    """The frame of the text that was asked for last. Those who are sent one text are sent it one after the other, and
    it is the same object for all, so that no text is compared."""

    def __init__(self) -> None:
        self._text: str | None = None
        self._frame = b""

    def of(self, text: str) -> bytes:
        """The frame that carries this text."""
        if text is not self._text:
            data = text.encode()
            head = Header.encode_header(True, WebSocket.OPCODE_TEXT, b"", len(data), 0)
            self._text, self._frame = text, bytes(head) + data
        return self._frame


class Line:
    """One socket, which sends texts through `frames`; everything else is the socket's own."""

    def __init__(self, websocket: Any, connection: Any, frames: Frames) -> None:
        self._websocket, self._connection, self._frames = websocket, connection, frames

    def __getattr__(self, name: str) -> Any:
        return getattr(self._websocket, name)

    def send(self, message: str | bytes) -> None:
        """Send a message, waiting until the system has taken it."""
        if not isinstance(message, str):
            self._websocket.send(message)
            return
        if self._websocket.closed:
            raise WebSocketError("the socket is closed")
        frame = self._frames.of(message)
        sent = self._connection.send(frame)  # nearly always all of it, and cheaper than sendall
        if sent < len(frame):
            self._connection.sendall(memoryview(frame)[sent:])
