"""Messages between the server and its worker processes: a pickled value, and bytes beside it that are not copied.

Both ends are programs of one release on one machine, and neither passes on what a client has pickled.
"""

from __future__ import annotations

import pickle
import struct
from collections.abc import Callable
from typing import Any, Protocol

HEAD = struct.Struct("!QQ")  # bytes of the value, bytes beside it
PIECE = 2**20  # bytes that are sent at once


class Socket(Protocol):
    """What is used of a socket, the system's or gevent's."""

    def sendall(self, data: Any, /) -> Any:
        """Send all of the data."""

    def recv_into(self, buffer: Any, /) -> int:
        """Receive into the buffer, return the number of bytes."""


def pack(value: Any) -> bytes:
    """Encode a value. Two equal requests have the same bytes, unless their parts are shared differently."""
    return pickle.dumps(value, pickle.HIGHEST_PROTOCOL)


def send(
    sock: Socket, packed: bytes, beside: bytes | bytearray = b"", pause: Callable[[], object] = lambda: None
) -> None:
    """Send a packed value and bytes beside it, with pauses in between. Raises OSError if the other side is gone."""
    sock.sendall(HEAD.pack(len(packed), len(beside)) + packed)
    rest = memoryview(beside)
    for at in range(0, len(rest), PIECE):
        sock.sendall(rest[at : at + PIECE])
        pause()


def receive(sock: Socket) -> tuple[Any, bytearray]:
    """Receive a value and the bytes beside it. Raises EOFError or OSError if the other side is gone."""
    packed, beside = HEAD.unpack(_exactly(sock, HEAD.size))
    return pickle.loads(_exactly(sock, packed)), _exactly(sock, beside)


def _exactly(sock: Socket, size: int) -> bytearray:
    buffer = bytearray(size)
    rest = memoryview(buffer)
    while rest:
        count = sock.recv_into(rest)
        if not count:
            raise EOFError
        rest = rest[count:]
    return buffer
