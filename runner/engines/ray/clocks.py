"""The clocks of a cluster's hosts: questions and answers over a connection of their own, and what follows from them.

A rank's process answers (`ClockServer`), the main process asks (`ClockClient`); what the arithmetic is, clock_sync.py knows. With every
question the main process says how far ahead it takes the answering host's clock to be. Does not know Ray.
"""

from __future__ import annotations

import hmac
import os
import socket
import struct
import threading
from collections import deque
from contextlib import suppress

from runner.telemetry.clock import common, now, uncertainty
from runner.telemetry.clock_sync import MAX_DRIFT, ClockMap, Exchange, Offset, offset_of

QUESTION, ANSWER = struct.Struct("<?q"), struct.Struct("<qq")
SECRET_BYTES = 16
ANSWER_S = 1.0
KEPT = 40  # offsets of a host; of these the one counts that says most about now


def same_clock() -> str:
    """What two processes share if and only if they share CLOCK_MONOTONIC: the kernel's start and the time namespace."""
    with open("/proc/sys/kernel/random/boot_id") as file:
        boot = file.read().strip()
    try:
        return f"{boot} {os.readlink('/proc/self/ns/time')}"
    except OSError:  # a kernel without time namespaces
        return boot


class ClockServer:
    """Answers what time it is here, to whoever knows the secret."""

    def __init__(self, address: str, secret: bytes) -> None:
        self.secret = secret
        self.socket = socket.create_server((address, 0))
        self.port: int = self.socket.getsockname()[1]
        threading.Thread(target=self._accept, name="echo", daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                asker, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self._answer, args=(asker,), name="echo", daemon=True).start()

    def _answer(self, asker: socket.socket) -> None:
        with asker, suppress(OSError, EOFError):
            asker.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            asker.settimeout(ANSWER_S)
            if not hmac.compare_digest(_read(asker, SECRET_BYTES), self.secret):
                return
            asker.settimeout(None)
            while True:
                question = _read(asker, QUESTION.size)
                received = now()
                known, ahead = QUESTION.unpack(question)
                if known:
                    common.ahead = ahead
                asker.sendall(ANSWER.pack(received, now()))


class ClockClient:
    """Asks one process; the connection is made at the first question."""

    def __init__(self, address: str, port: int, secret: bytes) -> None:
        self.place, self.secret = (address, port), secret
        self.socket: socket.socket | None = None

    def ask(self, times: int, ahead: int | None = None) -> list[Exchange]:
        """Make `times` exchanges. Raises OSError or EOFError without an answer in time."""
        question = QUESTION.pack(ahead is not None, ahead or 0)
        try:
            if self.socket is None:
                self.socket = socket.create_connection(self.place, ANSWER_S)
                self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self.socket.sendall(self.secret)
            found = []
            for _ in range(times):
                asked = now()
                self.socket.sendall(question)
                received, answered = ANSWER.unpack(_read(self.socket, ANSWER.size))
                found.append(Exchange(asked, received, answered, now()))
        except (OSError, EOFError):
            self.close()
            raise
        return found

    def close(self) -> None:
        """Close the connection."""
        if self.socket is not None:
            self.socket.close()
            self.socket = None


def _read(source: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        more = source.recv(size - len(data))
        if not more:
            raise EOFError
        data += more
    return data


class HostClock:
    """One host's clock beside the common one; `ours` where both are the same. Any time may be told by an offset that
    was found at another one: it is then off by as much more as clocks may drift apart meanwhile."""

    def __init__(self, ours: bool) -> None:
        self.ours = ours
        self.first: Offset | None = None
        self.recent: deque[Offset] = deque(maxlen=KEPT)
        self.worst = 0

    def add(self, exchanges: list[Exchange]) -> None:
        """What was asked just now."""
        found = offset_of(exchanges)
        self.first = self.first or found
        self.recent.append(found)

    def restart(self) -> None:
        """Forget how uncertain it was: a new job begins."""
        self.worst = 0

    def at(self, time: int) -> int:
        """How far ahead it is at a time of the common clock, about now."""
        if self.ours or not self.recent:
            return 0
        wrong, best = min(((_wrong(one, time), one) for one in tuple(self.recent)), key=lambda each: each[0])
        self.worst = max(self.worst, int(wrong) + 1)
        return round(best.offset)

    def facts(self, host: str) -> dict[str, object]:
        """For the reader: the offset now, how much it drifts, and the most that a time was off since the restart."""
        time = now()
        offset, drift = self.at(time), 0.0
        if self.first is not None and not self.ours:
            drift = float(ClockMap(self.first, self.recent[-1]).drift) * 1e6
        wrong = self.worst if not self.ours else uncertainty()
        return {"host": host, "offset_ns": offset, "drift_ppm": round(drift, 3), "uncertainty_ns": wrong}


def _wrong(offset: Offset, time: int) -> float:
    return float(offset.uncertainty + MAX_DRIFT * abs(time - offset.at))
