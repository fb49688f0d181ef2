"""Limits of what a client may send over one WebSocket: size, kind and pace of its messages, which must be packets.

A socket that sends faster than its rate is read more slowly, so that the network holds it back; one that goes on for
`patience_s` is closed. Everything that arrives counts, also pings and packets that mean nothing. The sockets of one
client have a rate together too, so that many of them are not many times as much.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import gevent
from engineio.packet import Packet
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


class Credit:
    """A token bucket: `burst` frames at once, and `rate` more each second."""

    def __init__(self, rate: float, burst: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.rate, self.burst = rate, burst
        self._clock = clock
        self._left, self._at = burst, clock()

    def take(self, frames: float) -> float:
        """Count frames and return the seconds by which they came too early."""
        now = self._clock()
        self._left = min(self.burst, self._left + (now - self._at) * self.rate) - frames
        self._at = now
        return max(0.0, -self._left / self.rate)

    @property
    def plenty(self) -> bool:
        """Return whether half of the burst is left."""
        return self._left >= self.burst / 2


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
        self._sleep = sleep
        self._allowed = allowed
        self._own = Credit(allowed.rate, allowed.burst, clock)
        self.shared: Credit | None = None  # with the client's other sockets
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
        allowed, wait = self._allowed, self._own.take(frames)
        if self._own.plenty:
            self._held_back = 0.0
        if wait and self._held_back > allowed.patience_s:
            self._close(POLICY, f"more than {allowed.rate:g} messages a second for {allowed.patience_s:g} s")
        self._held_back += wait
        together = (
            0.0 if self.shared is None else self.shared.take(frames)
        )  # others' doing: no reason to close this one
        if wait or together:
            self._sleep(max(wait, together))

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

    def share(self, credit: Credit) -> None:
        """Count what arrives here against the credit that all sockets of the client share."""
        self._limits.shared = credit

    def read_frame(self) -> tuple[Any, bytes]:
        """Read a frame. Closes the socket and raises WebSocketError where a limit is exceeded."""
        return self._limits.read_frame()

    def receive(self) -> Any:
        """Return the next message, None where the socket is closed. Close it if the message is no packet of Engine.IO:
        its library would raise where it catches nothing, and leave the socket open and unread.
        """
        message = super().receive()
        if message is None or _is_packet(message):
            return message
        self.refuse(UNSUPPORTED, "only packets of Engine.IO are understood here")
        return None

    def refuse(self, code: int, reason: str) -> None:
        """Close the socket with a code and a reason, which `close` of gevent-websocket does not send together."""
        with suppress(WebSocketError):
            self.send_frame(struct.pack("!H", code) + reason.encode(), self.OPCODE_CLOSE)
        self.close()


def _is_packet(message: str | bytes) -> bool:
    """Return whether this is a packet that Engine.IO can read: JSON that is nested too deeply it cannot. A text that
    begins with b is binary data in base64.
    """
    try:
        return not Packet(encoded_packet=message).binary
    except (ValueError, RecursionError):
        return False
