"""A WebSocket on a connection of the server: its handshake, its messages in both directions, and its end.

Frames are parsed and made by wsproto. The socket is read by whoever waits for its next message, and not ahead, so that
a client that is read at a pace is held back by the network.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterator
from contextlib import suppress
from socket import MSG_DONTWAIT
from typing import Any

import gevent
from engineio.packet import Packet
from gevent.lock import RLock
from wsproto.connection import Connection, ConnectionType
from wsproto.events import BytesMessage, CloseConnection, Ping, TextMessage
from wsproto.frame_protocol import CloseReason
from wsproto.utilities import LocalProtocolError, generate_accept_token

from backend.access.limits.rate_limit import Credit
from backend.web.http.socket_limits import RefusedError, SocketLimits

WEBSOCKET = "wsgi.websocket"  # in the environ of a request: its open WebSocket
VERSION = "13"  # of the protocol: RFC 6455
KEY_BYTES = 16
READ_BYTES = 4096  # at most at a time


def asked_for(environ: dict[str, Any]) -> bool:
    """Return whether a request asks for a WebSocket."""
    return (
        environ["REQUEST_METHOD"] == "GET"
        and environ.get("HTTP_UPGRADE", "").lower() == "websocket"
        and "upgrade" in environ.get("HTTP_CONNECTION", "").lower()
    )


def accept(environ: dict[str, Any]) -> bytes | None:
    """Return the answer that opens a WebSocket, None where the request is not a handshake of RFC 6455."""
    key = environ.get("HTTP_SEC_WEBSOCKET_KEY", "")
    if environ.get("HTTP_SEC_WEBSOCKET_VERSION") != VERSION or environ["SERVER_PROTOCOL"] != "HTTP/1.1":
        return None
    try:
        if len(base64.b64decode(key, validate=True)) != KEY_BYTES:
            return None
    except (binascii.Error, ValueError):
        return None
    head = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: "
    return head.encode() + generate_accept_token(key.encode()) + b"\r\n\r\n"


class FrameCache:
    """The frame of the latest text, encoded once for all its receivers: with 500 viewers of one run, one frame each was
    a quarter of all the server's work. A text is sent to them one after the other, as the same object, so that identity
    is enough and no text is compared.
    """

    def __init__(self) -> None:
        self._text: str | None = None
        self._frame = b""

    def of(self, text: str) -> bytes:
        """Return the frame of this text."""
        if text is not self._text:
            self._text, self._frame = text, Connection(ConnectionType.SERVER).send(TextMessage(data=text))
        return self._frame


class WebSocket:
    """The server's side of an open WebSocket, with the methods that Engine.IO calls: wait, send and close.

    `read` returns at most so many bytes of the `connection` as soon as there are some, and none at its end.
    """

    def __init__(self, connection: Any, read: Callable[[int], bytes], limits: SocketLimits, frames: FrameCache) -> None:
        self.closed = False
        self._connection, self._read, self._limits, self._frames = connection, read, limits, frames
        self._protocol = Connection(ConnectionType.SERVER, [limits])
        self._writing = RLock()  # an answer to a ping must not come between the parts of a large frame
        self._writers = 0  # that have the lock or wait for it
        self._rest: bytes | memoryview = b""  # of the last frame that send_now has begun
        self._messages = self._receive()

    def share(self, credit: Credit) -> None:
        """Count what arrives here for the client too, whose other sockets have the same credit."""
        self._limits.shared = credit

    def wait(self) -> str | None:
        """Return the next message, None where the socket is closed. Closes it where a limit is exceeded, and for what
        is no packet of Engine.IO, whose library would read it outside of what it catches.
        """
        try:
            message = next(self._messages, None)
            if message is None or _is_packet(message):
                return message
            raise RefusedError(CloseReason.UNSUPPORTED_DATA, "only packets of Engine.IO are understood here")
        except RefusedError as error:
            self.close(error.code, error.reason)
        except OSError:
            self.closed = True
        return None

    def send(self, message: str | bytes) -> None:
        """Send a message; returns when the system has taken it. Raises OSError where the socket is closed."""
        if self.closed:
            raise ConnectionError("the socket is closed")
        self._write(self._frames.of(message) if isinstance(message, str) else self._frame(BytesMessage(data=message)))

    @property
    def busy(self) -> bool:
        """Whether the network has not taken all of the last message yet."""
        return self._writers > 0 or len(self._rest) > 0

    def send_now(self, message: str) -> bool:
        """Send a message without waiting, if nothing is before it; False where it must wait. What the network does not
        take at once of it follows as soon as it can.
        """
        if self.closed or self.busy:
            return False
        frame = self._frames.of(message)
        try:
            sent = self._connection._sock.send(frame, MSG_DONTWAIT)  # gevent's own method would wait
        except OSError:  # it must wait, or is closed, which who waits for its next message notes
            return False
        if sent < len(frame):
            self._rest = memoryview(frame)[sent:]
            gevent.spawn(self._write_rest)
        return True

    def close(self, code: int = CloseReason.NORMAL_CLOSURE, reason: str | None = None) -> None:
        """Tell the client that nothing more is sent or read, with the beginning of the reason; safe to call again."""
        if self.closed:
            return
        self.closed = True
        with suppress(OSError, LocalProtocolError):
            self._write(self._frame(CloseConnection(code, reason)))

    def _receive(self) -> Iterator[str]:
        """Yield the messages that arrive. Raises RefusedError where a limit is exceeded, and OSError."""
        parts: list[str] = []
        while not self.closed and (data := self._read(READ_BYTES)):
            self._protocol.receive_data(data)
            for event in self._protocol.events():
                if isinstance(event, Ping):
                    self._write(self._frame(event.response()))
                elif isinstance(event, CloseConnection):  # of the client, or for what is against the protocol
                    self.close(event.code, event.reason)
                elif isinstance(event, TextMessage):
                    parts.append(event.data)
                    if event.message_finished:
                        yield "".join(parts)
                        parts.clear()
        self.closed = True

    def _frame(self, event: Any) -> bytes:
        return self._protocol.send(event)

    def _write_rest(self) -> None:
        with suppress(OSError):  # of a socket that has been closed
            self._write(b"")

    def _write(self, frame: bytes) -> None:
        self._writers += 1
        try:
            with self._writing:
                if self._rest:
                    rest, self._rest = self._rest, b""
                    self._connection.sendall(rest)
                if frame:
                    sent = self._connection.send(frame)  # nearly always all of it, and cheaper than sendall
                    if sent < len(frame):
                        self._connection.sendall(memoryview(frame)[sent:])
        finally:
            self._writers -= 1


def _is_packet(message: str) -> bool:
    """Return whether this is a packet that Engine.IO can read: JSON that is nested too deeply it cannot. A text that
    begins with b is binary data in base64.
    """
    try:
        return not Packet(encoded_packet=message).binary
    except (ValueError, RecursionError):
        return False
