"""Limits of what a client may send over one WebSocket: size, kind and pace of its messages, which must be packets.

A socket that sends faster than its rate is read more slowly, so that the network holds it back; one that goes on for
`patience_s` is closed. Everything that arrives counts, also pings and packets that mean nothing. The sockets of one
client have a rate together too, so that many of them are not many times as much.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import gevent
from wsproto.extensions import Extension
from wsproto.frame_protocol import CloseReason, FrameDecoder, FrameProtocol, Opcode, RsvBits

from backend.access.limits.rate_limit import Credit
from backend.config import Config

FRAME_BYTES = 512  # a larger frame counts as several


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


class RefusedError(Exception):
    """Why a socket is closed."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code, self.reason = code, reason


class SocketLimits(Extension):
    """The limits of one socket: an extension of the protocol, which sees the head of each frame before the rest."""

    def __init__(
        self,
        allowed: Allowance,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = gevent.sleep,
    ) -> None:
        self._sleep = sleep
        self._allowed = allowed
        self._own = Credit(allowed.rate, allowed.burst, clock)
        self.shared: Credit | None = None  # with the client's other sockets
        self._held_back = 0.0  # seconds, since the socket last was well within its pace
        self._size = 0  # bytes of the frames of the present message

    def offer(self) -> bool:
        """Return False: the client hears nothing of it."""
        return False

    def enabled(self) -> bool:
        """Return True: it takes part without having been offered."""
        return True

    def frame_inbound_header(
        self, proto: FrameDecoder | FrameProtocol, opcode: Opcode, rsv: RsvBits, payload_length: int
    ) -> RsvBits:
        """Count a frame, and wait where it came too early. Raises RefusedError where a limit is exceeded."""
        if opcode is Opcode.BINARY:
            raise RefusedError(CloseReason.UNSUPPORTED_DATA, "only text is understood here")
        if not opcode.iscontrol():  # a ping may come between the frames of a message
            self._size = payload_length + (self._size if opcode is Opcode.CONTINUATION else 0)
            if self._size > self._allowed.largest:
                raise RefusedError(CloseReason.MESSAGE_TOO_BIG, f"a message has at most {self._allowed.largest} bytes")
        self._keep_pace(1.0 + payload_length // FRAME_BYTES)
        return RsvBits(False, False, False)  # none of the reserved bits is used

    def _keep_pace(self, frames: float) -> None:
        allowed, wait = self._allowed, self._own.take(frames)
        if self._own.plenty:
            self._held_back = 0.0
        if wait and self._held_back > allowed.patience_s:
            reason = f"more than {allowed.rate:g} messages a second for {allowed.patience_s:g} s"
            raise RefusedError(CloseReason.POLICY_VIOLATION, reason)
        self._held_back += wait
        # What the client's other sockets send delays this one, but is no reason to close it.
        together = 0.0 if self.shared is None else self.shared.take(frames)
        if wait or together:
            self._sleep(max(wait, together))
