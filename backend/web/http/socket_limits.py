"""Limits of what a client may send over one WebSocket: size, kind and pace of its messages.

A socket that sends faster than PACE is read more slowly, so that the network holds it back; one that goes on for
PATIENCE_S is closed. Everything that arrives counts, also pings and packets that mean nothing.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import gevent
from geventwebsocket.exceptions import WebSocketError
from geventwebsocket.websocket import WebSocket

LARGEST_EVENT = 16_384  # bytes of one message from a page, in all its frames; a watch has under a hundred
PACE, BURST = 50.0, 200.0  # frames a second for long, and at once
FRAME_BYTES = 512  # a larger frame counts as several
PATIENCE_S = 10.0  # for which a socket is held back before it is closed
UNSUPPORTED, POLICY, TOO_LARGE = 1003, 1008, 1009  # RFC 6455, section 7.4.1


class SocketLimits:
    """The limits of one socket, which `read` reads a frame from and `close` closes with a code and a reason."""

    def __init__(
        self,
        read: Callable[[], tuple[Any, bytes]],
        close: Callable[[int, str], None],
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = gevent.sleep,
    ) -> None:
        self._read, self._shut = read, close
        self._clock, self._sleep = clock, sleep
        self._credit, self._at = BURST, clock()  # frames that may come at once, and when that was counted
        self._held_back = 0.0  # seconds, since the socket last was well within its pace
        self._size = 0  # bytes of the frames of an unfinished message

    def read_frame(self) -> tuple[Any, bytes]:
        """Read a frame. Closes the socket and raises WebSocketError where a limit is exceeded."""
        header, payload = self._read()
        if header.opcode == WebSocket.OPCODE_BINARY:
            self._close(UNSUPPORTED, "only text is understood here")
        if header.opcode in (WebSocket.OPCODE_TEXT, WebSocket.OPCODE_CONTINUATION):  # a ping may come between them
            self._size += len(payload)
            if self._size > LARGEST_EVENT:
                self._close(TOO_LARGE, f"a message has at most {LARGEST_EVENT} bytes")
            if header.fin:
                self._size = 0
        self._keep_pace(1.0 + len(payload) // FRAME_BYTES)
        return header, payload

    def read_payload(self, read: Callable[[int], bytes]) -> Callable[[int], bytes]:
        """Return `read`, the socket's reader of bytes, for payloads within the limit only."""

        def read_some(size: int) -> bytes:
            if size > LARGEST_EVENT:
                self._close(TOO_LARGE, f"a message has at most {LARGEST_EVENT} bytes")
            return read(size)

        return read_some

    def _keep_pace(self, frames: float) -> None:
        now = self._clock()
        self._credit = min(BURST, self._credit + (now - self._at) * PACE) - frames
        self._at = now
        if self._credit >= BURST / 2:
            self._held_back = 0.0
        if self._credit >= 0.0:
            return
        if self._held_back > PATIENCE_S:
            self._close(POLICY, f"more than {PACE:g} messages a second for {PATIENCE_S:g} s")
        wait = -self._credit / PACE
        self._held_back += wait
        self._sleep(wait)

    def _close(self, code: int, reason: str) -> None:
        self._shut(code, reason)
        raise WebSocketError(reason)


class LimitedWebSocket(WebSocket):  # type: ignore[misc]  # gevent-websocket has no types
    """A socket that keeps its client within the limits."""

    raw_read: Callable[[int], bytes]

    def __init__(self, environ: dict[str, Any], stream: Any, handler: Any) -> None:
        super().__init__(environ, stream, handler)
        self._limits = SocketLimits(super().read_frame, self.refuse)
        self.raw_read = self._limits.read_payload(self.raw_read)

    def read_frame(self) -> tuple[Any, bytes]:
        """Read a frame. Closes the socket and raises WebSocketError where a limit is exceeded."""
        return self._limits.read_frame()

    def refuse(self, code: int, reason: str) -> None:
        """Close the socket with a code and a reason, which `close` of gevent-websocket does not send together."""
        with suppress(WebSocketError):
            self.send_frame(struct.pack("!H", code) + reason.encode(), self.OPCODE_CLOSE)
        self.close()
