"""The attacks of bench/hostile.py, each in a process of its own: what hostile clients send until they are stopped.

An attack receives the server's address and an event that ends it, and returns what became of the attacker.
"""

from __future__ import annotations

import socket
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, repeat
from typing import Protocol
from urllib.parse import urlsplit

import requests
import websocket

from bench.attacks.odd_requests import odd_requests
from tests.support.hostile_bodies import ATTACKS as BODIES
from tests.support.hostile_bodies import COSTLY
from tests.support.web_pages import connect_raw

CLIENTS = 10
ODD, WARM_UP = "10,000 odd requests", "1,000 odd ones before"  # end by themselves


class Stop(Protocol):
    """An event of threads or of processes."""

    def is_set(self) -> bool: ...

    def wait(self, timeout: float | None = None) -> bool: ...


@dataclass(frozen=True)
class Target:
    """A server by its address."""

    url: str


Attack = Callable[[Target, Stop], str]


def send_until(stop: Stop, raw: websocket.WebSocket, send: Callable[[], object]) -> str:
    """Send without a pause; return what became of the socket."""
    raw.settimeout(0.5)
    sent = 0
    while not stop.is_set():
        try:
            send()
            sent += 1
        except (websocket.WebSocketTimeoutException, TimeoutError):
            continue  # held back by the network
        except (OSError, websocket.WebSocketException) as error:
            return f"closed after {sent} messages ({type(error).__name__})"
    return f"{sent} messages sent, most of them still on their way"


def nothing(server: Target, stop: Stop) -> str:
    stop.wait()
    return ""


def one_socket(send: Callable[[websocket.WebSocket], object]) -> Attack:
    """Return the attack of one socket that sends the same again and again."""

    def attack(server: Target, stop: Stop) -> str:
        raw = connect_raw(server)  # type: ignore[arg-type]
        return send_until(stop, raw, lambda: send(raw))

    return attack


small_events = one_socket(lambda raw: raw.send('42["unwatch",{"run":"nobody"}]'))
pings = one_socket(lambda raw: raw.ping("x" * 100))
malformed = one_socket(lambda raw: raw.send("42["))
large_messages = one_socket(lambda raw: raw.send("4" * 16_000))


def fragments(server: Target, stop: Stop) -> str:
    raw = connect_raw(server)  # type: ignore[arg-type]
    opcodes = chain([websocket.ABNF.OPCODE_TEXT], repeat(websocket.ABNF.OPCODE_CONT))

    def part() -> None:
        raw.send_frame(websocket.ABNF(fin=0, opcode=next(opcodes), mask_value=1, data=b"x" * 4096))

    return send_until(stop, raw, part)


def many_sockets(server: Target, stop: Stop) -> str:
    """Twenty sockets with small events."""
    results: list[str] = []
    threads = [threading.Thread(target=lambda: results.append(small_events(server, stop))) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return f"20 sockets, first: {results[0]}"


def body(name: str) -> Attack:
    """Return the attack of a client that sends a body again and again."""

    def attack(server: Target, stop: Stop) -> str:
        path, make = BODIES[name]
        data, statuses, longest = make(), Counter[int](), 0.0
        while not stop.is_set():
            begun = time.monotonic()
            answer = requests.post(
                server.url + path, data=data, headers={"Content-Type": "application/json"}, timeout=60
            )
            longest = max(longest, time.monotonic() - begun)
            statuses[answer.status_code] += 1
        return f"answers {dict(statuses)}, the slowest after {longest:.1f} s"

    return attack


def costly_requests(server: Target, stop: Stop) -> str:
    """Ten clients that ask for hours of work each, and leave at the end."""
    with suppress(OSError):
        open_sockets = [_asked(server, number) for number in range(CLIENTS)]
        stop.wait()
        for each in open_sockets:
            each.close()
    return f"{CLIENTS} clients asked, then left"


def costly_requests_left(server: Target, stop: Stop) -> str:
    """Clients that ask for hours of work and leave after half a second, ten at a time."""
    count = 0
    while not stop.is_set():
        open_sockets = [_asked(server, count + number) for number in range(CLIENTS)]
        stop.wait(0.5)
        for each in open_sockets:
            each.close()
        count += CLIENTS
    return f"{count} clients asked and left"


def _asked(server: Target, number: int) -> socket.socket:
    address = urlsplit(server.url)
    assert address.hostname is not None
    client = socket.socket()
    client.bind((f"127.0.0.{2 + number % CLIENTS}", 0))  # every client has an address of its own
    client.connect((address.hostname, address.port))
    client.sendall(f"GET {COSTLY}&comm=0.{number + 1} HTTP/1.1\r\nHost: {address.hostname}\r\n\r\n".encode())
    return client


ATTACKS: dict[str, Attack] = {
    "idle": nothing,
    "small legal events": small_events,
    "pings": pings,
    "malformed packets": malformed,
    "messages of 16 kB": large_messages,
    "a message without end": fragments,
    "small events on 20 sockets": many_sockets,
    **{name: body(name) for name in BODIES},
    "ten costly clients": costly_requests,
    "costly clients that leave": costly_requests_left,
    WARM_UP: lambda server, stop: odd_requests(server.url, 1_000, 300),
    ODD: lambda server, stop: odd_requests(server.url, 10_000, 3_000),
    "idle again": nothing,
}
