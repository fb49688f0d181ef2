"""Limits of what a client may send over one WebSocket: size, kind and pace of its messages.

A socket that sends faster than its rate is read more slowly, so that the network holds it back; one that goes on for
`patience_s` is closed. Everything that arrives counts, also pings and packets that mean nothing.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import gevent
from geventwebsocket.exceptions import WebSocketError
from geventwebsocket.websocket import WebSocket

from backend.config import Config

FRAME_BYTES = 512  # a larger frame counts as several
UNSUPPORTED, POLICY, TOO_LARGE = 1003, 1008, 1009  # RFC 6455, section 7.4.1


@dataclass(frozen=True)
class Allowance:
    """What one socket may send."""

    rate: float  # frames a second for long
    burst: float  # frames at once
    patience_s: float  # for which a socket is held back before it is closed
    largest: int  # bytes of one message, in all its frames; a watch has under a hundred

    @classmethod
    def of(cls, config: Config) -> Allowance:
        """Return what the settings allow."""
        return cls(config.socket_rate, config.socket_burst, config.socket_patience_s, config.socket_kb * 1024)


class SocketLimits:
    """The limits of one socket, which `read` reads a frame from and `close` closes with a code and a reason."""

    def __init__(
        self,
        read: Callable[[], tuple[Any, bytes]],
        close: Callable[[int, str], None],
        allowed: Allowance,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = gevent.sleep,
    ) -> None:
        self._read, self._shut = read, close
        self._clock, self._sleep = clock, sleep
        self._allowed = allowed
        self._credit, self._at = allowed.burst, clock()  # frames that may come at once, and when that was counted
        self._held_back = 0.0  # seconds, since the socket last was well within its pace
        self._size = 0  # bytes of the frames of an unfinished message

    def read_frame(self) -> tuple[Any, bytes]:
        """Read a frame. Closes the socket and raises WebSocketError where a limit is exceeded."""
        header, payload = self._read()
        if header.opcode == WebSocket.OPCODE_BINARY:
            self._close(UNSUPPORTED, "only text is understood here")
        if header.opcode in (WebSocket.OPCODE_TEXT, WebSocket.OPCODE_CONTINUATION):  # a ping may come between them
            self._size += len(payload)
            if self._size > self._allowed.largest:
                self._close(TOO_LARGE, f"a message has at most {self._allowed.largest} bytes")
            if header.fin:
                self._size = 0
        self._keep_pace(1.0 + len(payload) // FRAME_BYTES)
        return header, payload

    def read_payload(self, read: Callable[[int], bytes]) -> Callable[[int], bytes]:
        """Return `read`, the socket's reader of bytes, for payloads within the limit only."""

        def read_some(size: int) -> bytes:
            if size > self._allowed.largest:
                self._close(TOO_LARGE, f"a message has at most {self._allowed.largest} bytes")
            return read(size)

        return read_some

    def _keep_pace(self, frames: float) -> None:
        now, allowed = self._clock(), self._allowed
        self._credit = min(allowed.burst, self._credit + (now - self._at) * allowed.rate) - frames
        self._at = now
        if self._credit >= allowed.burst / 2:
            self._held_back = 0.0
        if self._credit >= 0.0:
            return
        if self._held_back > allowed.patience_s:
            self._close(POLICY, f"more than {allowed.rate:g} messages a second for {allowed.patience_s:g} s")
        wait = -self._credit / allowed.rate
        self._held_back += wait
        self._sleep(wait)

    def _close(self, code: int, reason: str) -> None:
        self._shut(code, reason)
        raise WebSocketError(reason)


class LimitedWebSocket(WebSocket):  # type: ignore[misc]  # gevent-websocket has no types
    """A socket that keeps its client within the limits."""

    raw_read: Callable[[int], bytes]

    def __init__(self, environ: dict[str, Any], stream: Any, handler: Any, allowed: Allowance) -> None:
        super().__init__(environ, stream, handler)
        self._limits = SocketLimits(super().read_frame, self.refuse, allowed)
        self.raw_read = self._limits.read_payload(self.raw_read)

    def read_frame(self) -> tuple[Any, bytes]:
        """Read a frame. Closes the socket and raises WebSocketError where a limit is exceeded."""
        return self._limits.read_frame()

    def refuse(self, code: int, reason: str) -> None:
        """Close the socket with a code and a reason, which `close` of gevent-websocket does not send together."""
        with suppress(WebSocketError):
            self.send_frame(struct.pack("!H", code) + reason.encode(), self.OPCODE_CLOSE)
        self.close()
