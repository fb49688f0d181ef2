"""Compare the clocks of a cluster's hosts over separate connections.

A rank's process answers (`ClockServer`), the main process asks (`ClockClient`); telemetry/clock_sync.py has the
arithmetic. With every request the main process sends the host the offset of its clock. Does not import Ray.
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
KEPT = 40  # offsets of a host, of which the least uncertain one counts


def same_clock() -> str:
    """Return an id that two processes share if and only if they share CLOCK_MONOTONIC: the kernel's start and the
    time namespace.
    """
    with open("/proc/sys/kernel/random/boot_id") as file:
        boot = file.read().strip()
    try:
        return f"{boot} {os.readlink('/proc/self/ns/time')}"
    except OSError:  # a kernel without time namespaces
        return boot


class ClockServer:
    """Answers with the time of this host, to clients with the secret."""

    def __init__(self, address: str, secret: bytes) -> None:
        self.secret = secret
        self.socket = socket.create_server((address, 0))
        self.port: int = self.socket.getsockname()[1]
        threading.Thread(target=self._accept, name="clock", daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                asker, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self._answer, args=(asker,), name="clock", daemon=True).start()

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
    """Reads the clock of one process; connects at the first reading."""

    def __init__(self, address: str, port: int, secret: bytes) -> None:
        self.place, self.secret = (address, port), secret
        self.socket: socket.socket | None = None

    def read(self, times: int, ahead: int | None = None) -> list[Exchange]:
        """Read the clock `times` times, and send by how many ns it is `ahead`, if known.

        Raises OSError or EOFError if there is no answer in time.
        """
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
    """One host's clock relative to the common one; `ours` if both are the same.

    An offset measured at one time may be used at another: its uncertainty then grows by the drift between clocks.
    """

    def __init__(self, ours: bool) -> None:
        self.ours = ours
        self.first: Offset | None = None
        self.recent: deque[Offset] = deque(maxlen=KEPT)
        self.worst = 0

    def add(self, exchanges: list[Exchange]) -> None:
        """Add readings made just now."""
        found = offset_of(exchanges)
        self.first = self.first or found
        self.recent.append(found)

    def restart(self) -> None:
        """Reset the largest uncertainty: a new job begins."""
        self.worst = 0

    def at(self, time: int) -> int:
        """Return by how many ns the clock is ahead at a time of the common clock close to now."""
        if self.ours or not self.recent:
            return 0
        uncertain, best = min(((_uncertainty(one, time), one) for one in tuple(self.recent)), key=lambda each: each[0])
        self.worst = max(self.worst, int(uncertain) + 1)
        return round(best.offset)

    def facts(self, host: str) -> dict[str, object]:
        """Return the fields of `clocks`: the offset now, its drift, and the largest uncertainty since the restart."""
        time = now()
        offset, drift = self.at(time), 0.0
        if self.first is not None and not self.ours:
            drift = float(ClockMap(self.first, self.recent[-1]).drift) * 1e6
        worst = self.worst if not self.ours else uncertainty()
        return {"host": host, "offset_ns": offset, "drift_ppm": round(drift, 3), "uncertainty_ns": worst}


def _uncertainty(offset: Offset, time: int) -> float:
    return float(offset.uncertainty + MAX_DRIFT * abs(time - offset.at))
