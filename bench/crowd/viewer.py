"""A minimal viewer: one raw WebSocket with just enough of Engine.IO and Socket.IO to watch a run.

A client library decodes every message, which for 500 viewers of 10,000 ops per second is many times the server's work.
The log entries that a message covers are in its first characters, and are noted with the time of its last byte; the
rest is dropped, or kept to be decoded when the run is over.
"""

from __future__ import annotations

import json
import re
import socket
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from backend.schedule.interop.measured_rows import OpRow, named

HEAD = 200  # characters of a message that hold its numbers
NUMBERS = re.compile(rb'"first":(\d+),"seq":(\d+),"event":"(\w+)"')
OVER = (b"finished", b"failed", b"cancelled")
PATIENCE_S = 20.0


def frame(text: str) -> bytes:
    """Encode a short text as a client's frame; the mask, which clients must send, is zero."""
    data = text.encode()
    size = bytes([0x80 | len(data)]) if len(data) < 126 else bytes([0x80 | 126]) + len(data).to_bytes(2, "big")
    return b"\x81" + size + bytes(4) + data


class Viewer:
    """One watcher of one run. `arrivals` are (ns, first entry, last entry) of each message with ops, in order."""

    def __init__(self, url: str, whole: bool = False, receive_buffer: int | None = None) -> None:
        self.whole = whole  # keeps its messages
        self.began = time.monotonic_ns()
        self.joined = 0  # ns when everything was here that the log held when the server took the watch
        self.since = self.seq = 0
        self.present = -1  # the log's length at the watch, once the server has sent it
        self.arrivals: list[tuple[int, int, int]] = []
        self.messages: list[bytes] = []
        self.faults: list[str] = []
        self.over = False
        self.bytes = 0
        self._run = ""
        self._head, self._left, self._size, self._header = bytearray(), 0, 0, bytearray()
        self._rest = bytearray()  # of a message that is kept
        self.socket = self._connect(url, receive_buffer)

    def _connect(self, url: str, receive_buffer: int | None) -> socket.socket:
        at = urlsplit(url)
        connection = socket.socket()
        if receive_buffer is not None:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        connection.settimeout(PATIENCE_S)
        connection.connect((at.hostname, at.port))
        connection.sendall(
            f"GET /socket.io/?EIO=4&transport=websocket HTTP/1.1\r\nHost: {at.netloc}\r\nUpgrade: websocket\r\n"
            "Connection: Upgrade\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n"
            .encode()
        )  # fmt: skip
        answer = bytearray()
        while b"\r\n\r\n" not in answer:
            piece = connection.recv(4096)
            if not piece:
                raise ConnectionError(f"the server refused the socket: {bytes(answer[:200])!r}")
            answer += piece
        self.take(memoryview(answer[answer.index(b"\r\n\r\n") + 4 :]), connection)
        return connection

    def watch(self, run: str, since: int = 0, rows: str = "ops") -> None:
        """Request all entries after `since`, now or as soon as the server has greeted, with rows of these kinds."""
        self._run, self.since, self.seq = run, since, since
        asked = ["watch", {"run": run, "since": since, "rows": rows}]
        self.socket.sendall(frame("40") + frame("420" + json.dumps(asked)))
        self.socket.setblocking(False)

    def read(self, room: memoryview) -> bool:
        """Read the received bytes, using `room` as the buffer; False when the server has closed the connection."""
        try:
            count = self.socket.recv_into(room)
        except BlockingIOError:
            return True
        except ConnectionError:
            count = 0
        self.take(room[:count], self.socket)
        return count > 0

    def take(self, data: memoryview, line: socket.socket) -> None:
        """Process bytes from the server: frames, in pieces of any size."""
        self.bytes += len(data)
        at = 0
        while at < len(data):
            if not self._left:
                at = self._begin(data, at)
                if not self._left:
                    continue
            some = data[at : at + self._left]
            if len(self._head) < HEAD:
                self._head += some[: HEAD - len(self._head)]
            if self.whole:
                self._rest += some
            at += len(some)
            self._left -= len(some)
            if not self._left:
                self._end(line)

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
        self._left = self._size = length if length < 126 else int.from_bytes(head[2:need], "big")
        self._head, self._header = bytearray(), bytearray()
        return at

    def _end(self, line: socket.socket) -> None:
        """Process a complete frame: nearly always an op batch, else a greeting, a response or a ping."""
        now = time.monotonic_ns()
        head, rest = bytes(self._head), bytes(self._rest)
        self._rest.clear()
        if head.startswith(b'42["run"'):
            self._run_message(now, head)
            if self.whole:
                self.messages.append(rest)
        elif head == b"2":
            line.send(frame("3"))
        elif head.startswith(b"430"):
            answer: dict[str, Any] = json.loads(head[3:])[0]
            self.present = answer.get("seq", -1)
            if "error" in answer:
                self.faults.append(f"the server refused the watch: {answer}")
        self._look(now)

    def _run_message(self, now: int, head: bytes) -> None:
        found = NUMBERS.search(head)
        if found is None:
            self.faults.append(f"a message without numbers: {head[:80]!r}")
            return
        first, last = int(found[1]), int(found[2])
        if first != self.seq + 1 or last < first:
            self.faults.append(f"entries {first} to {last} came after entry {self.seq}")
        self.seq = last
        if found[3] == b"op_batch":
            self.arrivals.append((now, first, last))
        self.over = found[3] in OVER

    def _look(self, now: int) -> None:
        if not self.joined and self.present >= 0 and self.seq >= self.present:
            self.joined = now

    def begin(self) -> int:
        """The run's first moment (t0_unix_ns), from the message that contains it."""
        payloads = (json.loads(message[2:])[1] for message in self.messages)
        return next(int(message["t0_unix_ns"]) for message in payloads if "t0_unix_ns" in message)

    def rows(self) -> Iterator[OpRow]:
        """The ops of the messages that were kept."""
        for message in self.messages:
            yield from named("ops", json.loads(message[2:])[1].get("ops", []))
