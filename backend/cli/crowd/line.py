"""Raw Socket.IO clients: WebSockets with just enough of Engine.IO 4 and Socket.IO 5 to enter, send events and hear
others, and one loop for hundreds of them.

A client library decodes every message, which for hundreds of clients in one process is many times the server's work.
"""

from __future__ import annotations

import heapq
import json
import re
import selectors
import socket
import sys
import time
from collections.abc import Callable
from itertools import count
from typing import Any
from urllib.parse import urlsplit

PATIENCE_S = 20.0
ROOM = 1 << 18
TICK_S = 0.05
ANSWER = re.compile(rb"43(\d+)(\[.*)", re.DOTALL)
Answered = Callable[[Any], None]


def frame(text: str) -> bytes:
    """Encode a short text as a client's frame; the mask, which clients must send, is zero."""
    data = text.encode()
    size = bytes([0x80 | len(data)]) if len(data) < 126 else bytes([0x80 | 126]) + len(data).to_bytes(2, "big")
    return b"\x81" + size + bytes(4) + data


class Line:
    """One connection. Of each message the first `keep` bytes are kept for `heard`. `receive_buffer` and `segment`, the
    largest TCP segment, make both systems' buffers as small as on a real network: those of the loopback take megabytes.
    """

    def __init__(
        self,
        url: str,
        cookie: str = "",
        keep: int = sys.maxsize,
        receive_buffer: int | None = None,
        segment: int | None = None,
    ) -> None:
        self.keep = keep
        self.bytes = 0
        self.faults: list[str] = []
        self.url, self._cookie = url, cookie
        self._buffers = (receive_buffer, segment)
        self._kept, self._left, self._header = bytearray(), 0, bytearray()
        self._answers: dict[int, Answered] = {}
        self._sent = count()
        self.socket = self._connect()

    def open_again(self) -> None:
        """Connect anew, after the connection has ended; answers that were awaited do not come any more."""
        self.socket.close()
        self._left, self._header = 0, bytearray()
        self._kept.clear()
        self._answers.clear()
        self.socket = self._connect()

    def emit(self, event: str, payload: dict[str, Any], answered: Answered | None = None) -> None:
        """Send an event; `answered` is called with what the server acknowledges it with."""
        number = ""
        if answered is not None:
            key = next(self._sent)
            self._answers[key], number = answered, str(key)
        self._write(frame(f"42{number}" + json.dumps([event, payload])))

    def heard(self, now: int, packet: bytes) -> None:
        """Take a message of the server, at `now` by time.monotonic_ns."""

    def read(self, room: memoryview) -> bool:
        """Read the received bytes, using `room` as the buffer; False when the server has closed the connection."""
        try:
            size = self.socket.recv_into(room)
        except BlockingIOError:
            return True
        except ConnectionError:
            size = 0
        self._take(room[:size])
        return size > 0

    def _connect(self) -> socket.socket:
        at = urlsplit(self.url)
        connection = socket.socket()
        receive_buffer, segment = self._buffers
        if receive_buffer is not None:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        if segment is not None:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, segment)
        connection.settimeout(PATIENCE_S)
        connection.connect((at.hostname, at.port))
        cookie = f"Cookie: {self._cookie}\r\n" if self._cookie else ""
        connection.sendall(
            f"GET /socket.io/?EIO=4&transport=websocket HTTP/1.1\r\nHost: {at.netloc}\r\nUpgrade: websocket\r\n{cookie}"
            "Connection: Upgrade\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n"
            .encode()
        )  # fmt: skip
        answer = bytearray()
        while b"\r\n\r\n" not in answer:
            piece = connection.recv(4096)
            if not piece:
                raise ConnectionError(f"the server refused the socket: {bytes(answer[:200])!r}")
            answer += piece
        if not answer.startswith(b"HTTP/1.1 101"):
            raise ConnectionError(f"the server refused the socket: {bytes(answer[:200])!r}")
        connection.sendall(frame("40"))
        connection.setblocking(False)
        self.socket = connection
        self._take(memoryview(answer[answer.index(b"\r\n\r\n") + 4 :]))
        return connection

    def _take(self, data: memoryview) -> None:
        """Process bytes from the server: frames, in pieces of any size."""
        self.bytes += len(data)
        at = 0
        while at < len(data):
            if not self._left:
                at = self._begin(data, at)
                if not self._left:
                    continue
            some = data[at : at + self._left]
            if len(self._kept) < self.keep:
                self._kept += some[: self.keep - len(self._kept)]
            at += len(some)
            self._left -= len(some)
            if not self._left:
                self._end()

    def _begin(self, data: memoryview, at: int) -> int:
        """Read a frame's header, which may arrive in two pieces; returns the offset of its payload."""
        head = self._header
        while True:
            length = head[1] & 127 if len(head) > 1 else 0
            need = 2 + {126: 2, 127: 8}.get(length, 0) if len(head) > 1 else 2
            if len(head) >= need:
                break
            if at == len(data):
                return at
            head.append(data[at])
            at += 1
        self._left = length if length < 126 else int.from_bytes(head[2:need], "big")
        self._kept, self._header = bytearray(), bytearray()
        return at

    def _end(self) -> None:
        """Process a complete frame: nearly always an event, else an answer, a greeting or a ping."""
        now = time.monotonic_ns()
        packet = bytes(self._kept)
        if packet.startswith(b"42"):
            self.heard(now, packet)
        elif packet == b"2":
            self._write(frame("3"))
        elif packet.startswith(b"44"):
            self.faults.append(f"the server refused the socket: {packet[2:200].decode(errors='replace')}")
        elif found := ANSWER.match(packet):
            answered = self._answers.pop(int(found[1]), None)
            if answered is not None:
                answered(json.loads(found[2])[0])

    def _write(self, data: bytes) -> None:
        try:
            sent = self.socket.send(data)
        except BlockingIOError:
            sent = 0
        if sent < len(data):
            self.socket.settimeout(PATIENCE_S)
            self.socket.sendall(memoryview(data)[sent:])
            self.socket.setblocking(False)


class Crowd:
    """Many connections and what is to be done at a time, all in one loop. `hung_up` counts the connections that the
    server has closed; `closed` is called for each.
    """

    def __init__(self, closed: Callable[[Line], None] = lambda line: None) -> None:
        self.hung_up = 0
        self._closed = closed
        self._selector = selectors.DefaultSelector()
        self._room = memoryview(bytearray(ROOM))
        self._due: list[tuple[float, int, Callable[[], None]]] = []
        self._tasks = count()

    def add(self, line: Line) -> None:
        """Read a connection from now on."""
        self._selector.register(line.socket, selectors.EVENT_READ, line)

    def leave(self, line: Line) -> None:
        """Cut a connection, as a network does."""
        self._selector.unregister(line.socket)
        line.socket.close()

    def later(self, seconds: float, task: Callable[[], None]) -> None:
        """Do something in this loop after a time."""
        heapq.heappush(self._due, (time.monotonic() + seconds, next(self._tasks), task))

    def read(self, seconds: float, until: Callable[[], bool] = lambda: False) -> bool:
        """Read for a number of seconds, or until a condition holds; returns whether it did."""
        end = time.monotonic() + seconds
        while (now := time.monotonic()) < end:
            while self._due and self._due[0][0] <= now:
                heapq.heappop(self._due)[2]()
            wait = min(TICK_S, end - now, *([self._due[0][0] - now] if self._due else []))
            for key, _ in self._selector.select(max(0.0, wait)):
                line: Line = key.data
                try:
                    alive = line.read(self._room)
                except OSError:  # while an answer was written
                    alive = False
                if not alive:
                    self.leave(line)
                    self.hung_up += 1
                    self._closed(line)
            if until():
                return True
        return until()
