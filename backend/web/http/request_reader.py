"""What a connection may send before and with a request: how fast, how many headers, and with which framing.

A client that sends a byte now and then would hold its connection forever; one that frames its body in two ways could
hide a request in it from a proxy in front of the server.
"""

from __future__ import annotations

import io
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from email.message import Message
from typing import Any, Literal

MOST_HEADER_BYTES = 65_536  # of the request line and all headers together; http.client has a limit of 100 headers
SLOWEST = 1024.0  # bytes a second of a body, after the first seconds
DIGITS = re.compile(r"[0-9]{1,15}")
Phase = Literal["idle", "header", "body", "socket"]
Failure = Literal["", "slow", "large"]


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """The limits of one connection: seconds for each phase of a request, bytes of a body."""

    header_s: float = 20.0
    body_s: float = 20.0
    idle_s: float = 75.0
    body_bytes: int = 64_000_000


class FramingError(ValueError):
    """Headers from which the length of a request cannot be known for certain."""


class RequestReader(io.RawIOBase):
    """The bytes of one connection. Reads raise TimeoutError where they come too slowly for the request's phase, and
    ValueError where the headers or the body are too long; `failure` then says which.
    """

    def __init__(self, connection: Any, limits: ConnectionLimits, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._connection, self._clock, self._largest = connection, clock, limits.body_bytes
        self._seconds = {"idle": limits.idle_s, "header": limits.header_s, "body": limits.body_s}
        self.phase: Phase = "header"
        self.failure: Failure = ""
        self._began, self.bytes = clock(), 0  # of this phase

    def enter(self, phase: Phase) -> None:
        """Begin a phase: idle until a request begins, header, body, or an open socket, which may wait as it likes."""
        self.phase = phase
        self._began, self.bytes = self._clock(), 0

    def readable(self) -> bool:
        """Return True."""
        return True

    def fileno(self) -> int:
        """Return the connection's file descriptor."""
        return int(self._connection.fileno())

    def readinto(self, buffer: Any) -> int:
        """Wait for bytes and read them. Raises TimeoutError and ValueError, see above."""
        if self.phase == "socket":
            return int(self._connection.recv_into(buffer))
        if self.failure:
            raise TimeoutError(self.failure)
        self._connection.settimeout(max(0.001, self._left()))
        try:
            count = int(self._connection.recv_into(buffer))
        except TimeoutError:
            self.failure = "slow"
            raise
        finally:
            self._connection.settimeout(None)
        self._count(count)
        return count

    def _left(self) -> float:
        """Return the seconds that are left for the next bytes."""
        earned = self.bytes / SLOWEST if self.phase == "body" else 0.0
        return self._began + self._seconds[self.phase] + earned - self._clock()

    def _count(self, count: int) -> None:
        if self.phase == "idle":
            self.enter("header")
        self.bytes += count
        if self.bytes > (MOST_HEADER_BYTES if self.phase == "header" else self._largest):
            self.failure = "large"
            raise ValueError("the headers or the body are too long")


def check_framing(headers: Message, version: str) -> None:
    """Check that a request has one length, or chunks, or no body. Raises FramingError.

    Two servers that read the same request differently would take part of its body for another request (RFC 9112,
    sections 6.3 and 11.2).
    """
    if version == "HTTP/0.9":
        raise FramingError("a request has a version")
    encodings, lengths = headers.get_all("transfer-encoding", []), headers.get_all("content-length", [])
    if encodings and (len(encodings) > 1 or encodings[0].strip().lower() != "chunked"):
        raise FramingError("the only Transfer-Encoding is chunked")
    if encodings and (lengths or version != "HTTP/1.1"):
        raise FramingError("chunked needs HTTP/1.1, and has no Content-Length")
    if len(lengths) > 1 or (lengths and not DIGITS.fullmatch(lengths[0].strip())):
        raise FramingError("Content-Length is one whole number")
    upgrade = "upgrade" in headers.get("connection", "").lower() or "upgrade" in headers
    if upgrade and (encodings or (lengths and int(lengths[0]))):
        raise FramingError("a request to open a socket has no body")
    if len(headers.get_all("host", [])) > 1:
        raise FramingError("there is one Host")
    if headers.defects or headers.get_payload():
        raise FramingError("a header is a name, a colon and a value")
    for value in headers.values():
        if any(ord(each) < 32 and each != "\t" for each in str(value)):
            raise FramingError("the value of a header is one line without control characters")
