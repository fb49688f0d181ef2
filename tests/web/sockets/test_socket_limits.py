"""What one socket may send: its messages' size, kind and pace. A client that exceeds them disturbs no other."""

from __future__ import annotations

import struct
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest
import websocket
from wsproto.frame_protocol import FrameProtocol, Opcode, RsvBits

from backend.access.limits.rate_limit import Credit
from backend.config import Config
from backend.web.http.socket_limits import Allowance, RefusedError, SocketLimits
from tests.conftest import Server
from tests.support import PATIENCE_S, slowness
from tests.support.web_pages import connect_raw

ALLOWED = Allowance.of(Config())
LARGEST, RATE, BURST = ALLOWED.largest, ALLOWED.rate, ALLOWED.burst
SERVER, PLAIN = FrameProtocol(client=False, extensions=[]), RsvBits(False, False, False)
LEGAL = '42["unwatch",{"run":"nobody"}]'


class Client:
    """A client of a socket, in a time that only sleeping advances."""

    def __init__(self) -> None:
        self.now = 0.0
        self.limits = SocketLimits(ALLOWED, clock=lambda: self.now, sleep=self.sleep)

    def send(self, size: int = 1, times: int = 1, opcode: Opcode = Opcode.TEXT) -> None:
        for _ in range(times):
            self.limits.frame_inbound_header(SERVER, opcode, PLAIN, size)

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@contextmanager
def refused(code: int, reason: str) -> Iterator[None]:
    with pytest.raises(RefusedError) as raised:
        yield
    assert (raised.value.code, raised.value.reason) == (code, reason)


def test_a_burst_is_read_at_once_and_more_at_the_pace():
    client = Client()
    client.send(times=int(BURST))
    assert client.now == 0.0
    client.send(times=100)
    assert client.now == pytest.approx(100 / RATE)


def test_a_socket_that_keeps_sending_is_closed_with_the_reason():
    client = Client()
    with refused(1008, "more than 50 messages a second for 10 s"):
        client.send(times=10_000)
    assert ALLOWED.patience_s <= client.now < ALLOWED.patience_s + 1


def test_a_socket_that_calms_down_is_forgiven():
    client = Client()
    for _ in range(20):
        client.send(times=int(BURST + RATE))
        client.now += BURST / RATE


def test_many_sockets_of_one_client_are_read_at_a_pace_of_their_own_and_none_is_closed_for_the_others():
    clock = [0.0]
    together = Credit(100.0, 100.0, clock=lambda: clock[0])
    clients = [Client() for _ in range(20)]
    for client in clients:
        client.limits.shared = together
    for round_ in range(20):  # 20 sockets, 40 messages a second each: 800 a second
        clock[0] = round_ / 40
        for client in clients:
            client.now = clock[0]
            client.send()
    assert max(client.now for client in clients) - clock[0] == pytest.approx((400 - 100 - 47.5) / 100, rel=0.01)


def test_large_messages_and_pings_count_too():
    client = Client()
    client.send(10_240, times=20)
    assert client.now == pytest.approx((20 * 21 - BURST) / RATE)
    client.send(125, times=int(RATE), opcode=Opcode.PING)
    assert client.now == pytest.approx((20 * 21 - BURST) / RATE + 1)


def test_a_message_in_many_frames_is_bounded_as_a_whole():
    client = Client()
    client.send(LARGEST // 2)
    client.send(LARGEST // 2)
    client.send(LARGEST // 2, opcode=Opcode.CONTINUATION)
    with refused(1009, "a message has at most 16384 bytes"):
        client.send(1, opcode=Opcode.CONTINUATION)


def test_a_ping_between_the_frames_of_a_message_does_not_hide_its_size():
    client = Client()
    for opcode in (Opcode.TEXT, Opcode.CONTINUATION):
        client.send(LARGEST // 2, opcode=opcode)
        client.send(0, opcode=Opcode.PING)
    with refused(1009, "a message has at most 16384 bytes"):
        client.send(1, opcode=Opcode.CONTINUATION)


def test_a_binary_message_is_refused():
    with refused(1003, "only text is understood here"):
        Client().send(opcode=Opcode.BINARY)


def closing_of(raw: websocket.WebSocket) -> tuple[int, str]:
    """The code and the reason with which the server closes a socket."""
    raw.settimeout(PATIENCE_S)
    while True:
        opcode, data = raw.recv_data(control_frame=True)
        if opcode == websocket.ABNF.OPCODE_CLOSE:
            return struct.unpack("!H", data[:2])[0], data[2:].decode()


def test_the_server_closes_a_socket_that_sends_binary_or_endless_messages_with_the_reason(server: Server):
    binary, endless = connect_raw(server), connect_raw(server)
    binary.send_binary(bytes(10))
    assert closing_of(binary) == (1003, "only text is understood here")
    for number in range(5):
        endless.send_frame(websocket.ABNF(0, 0, 0, 0, 0 if number else 1, 1, b"x" * 4096))
    assert closing_of(endless) == (1009, "a message has at most 16384 bytes")


def test_a_socket_that_floods_the_server_with_legal_events_delays_nobody(server: Server):
    flood, stop = connect_raw(server), threading.Event()
    flood.settimeout(1)

    def send() -> None:
        with suppress(OSError, websocket.WebSocketException):
            while not stop.is_set():
                flood.send(LEGAL)

    thread = threading.Thread(target=send)
    thread.start()
    try:
        time.sleep(0.5)
        worst, slow = 0.0, slowness()
        for _ in range(20):
            begun = time.monotonic()
            assert server.get("/healthz").status_code == 200
            worst = max(worst, time.monotonic() - begun)
        slow = max(slow, slowness())
    finally:
        stop.set()
        flood.shutdown()
        thread.join()
    assert worst < 2 * slow, "a flood must not stop the server; bench/hostile.py measures how little is left"
