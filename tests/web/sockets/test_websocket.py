"""The server's side of a WebSocket: handshakes, texts that are encoded once for all receivers, pings and ends."""

from __future__ import annotations

import gevent.socket
import pytest
from wsproto.connection import Connection, ConnectionType
from wsproto.events import BytesMessage, CloseConnection, Ping, Pong, TextMessage

from backend.config import Config
from backend.web.http.socket_limits import Allowance, SocketLimits
from backend.web.http.websocket import FrameCache, WebSocket, accept, asked_for
from tests.support import PATIENCE_S

ASKING = {
    "REQUEST_METHOD": "GET", "SERVER_PROTOCOL": "HTTP/1.1", "HTTP_UPGRADE": "WebSocket",
    "HTTP_CONNECTION": "keep-alive, Upgrade", "HTTP_SEC_WEBSOCKET_VERSION": "13",
    "HTTP_SEC_WEBSOCKET_KEY": "dGhlIHNhbXBsZSBub25jZQ==",
}  # fmt: skip


class Wire:
    """Takes at most `most` bytes at a time, and has what a client sends at hand."""

    def __init__(self, most: int = 10**9, arriving: bytes = b"", frames: FrameCache | None = None) -> None:
        self.most, self.taken, self.frames, self._arriving = most, b"", [], arriving
        self.socket = WebSocket(self, self.read, SocketLimits(Allowance.of(Config())), frames or FrameCache())

    def read(self, size: int) -> bytes:
        data, self._arriving = self._arriving[: min(size, self.most)], self._arriving[min(size, self.most) :]
        return data

    def send(self, data: bytes) -> int:
        self.frames.append(data)
        self.taken += data[: self.most]
        return min(self.most, len(data))

    def sendall(self, data: memoryview) -> None:
        self.taken += data


def received(data: bytes) -> list[object]:
    """What a client reads."""
    client = Connection(ConnectionType.CLIENT)
    client.receive_data(data)
    return list(client.events())


def sent(*events: TextMessage | Ping | CloseConnection) -> bytes:
    """The frames of a client."""
    client = Connection(ConnectionType.CLIENT)
    return b"".join(client.send(event) for event in events)


TEXTS = ["", "2", "x" * 125, "x" * 126, "x" * 65_535, "x" * 65_536, "µs " * 50_000]


@pytest.mark.parametrize("text", TEXTS, ids=[str(len(text)) for text in TEXTS])
def test_a_text_of_any_length_arrives_whole_in_pieces_too(text):
    for most in (1, 7, 10**9):
        wire = Wire(most)
        wire.socket.send(text)
        assert received(wire.taken) == [TextMessage(data=text)]


def test_one_text_for_many_is_framed_once_and_another_anew():
    frames = FrameCache()
    wires = [Wire(frames=frames) for _ in range(5)]
    for text in ("a" * 1000, "b" * 1000):
        for wire in wires:
            wire.socket.send(text)
        assert len({id(wire.frames[-1]) for wire in wires}) == 1
    assert [event.data[0] for event in received(wires[-1].taken)] == ["a", "b"]


def test_binary_data_is_sent_unchanged_and_nothing_after_the_end():
    wire = Wire()
    wire.socket.send(b"order")
    wire.socket.close(1008, "enough " * 50)
    assert received(wire.taken)[0] == BytesMessage(data=b"order")
    assert received(wire.taken)[1] == CloseConnection(1008, ("enough " * 50)[:123])
    wire.socket.close()
    assert len(wire.frames) == 2
    with pytest.raises(OSError, match="closed"):
        wire.socket.send("late")


@pytest.mark.parametrize("most", [1, 3, 4096])
def test_messages_in_several_frames_arrive_whole_however_the_bytes_come_and_pings_are_answered(most):
    halves = TextMessage(data="4µ", message_finished=False), Ping(b"there?"), TextMessage(data="s")
    wire = Wire(most, sent(TextMessage(data="2"), *halves, CloseConnection(1000, "bye")))
    assert [wire.socket.wait() for _ in range(4)] == ["2", "4µs", None, None]
    assert received(wire.taken) == [Pong(b"there?"), CloseConnection(1000, "bye")]
    assert wire.socket.closed


@pytest.mark.parametrize(
    ("arriving", "code"),
    [
        (b"\x81\x01x", 1002),  # without a mask
        (b"\xc1\x81\0\0\0\0x", 1002),  # compressed, which nobody offered
        (b"\x80\x81\0\0\0\0x", 1002),  # goes on with no message
        (b"\x89\xfe\x01\x00\0\0\0\0", 1002),  # a ping of 256 bytes
        (b"\x81\x82\0\0\0\0\xc3\x28", 1007),  # no UTF-8
    ],
)
def test_what_is_against_the_protocol_closes_the_socket(arriving, code):
    wire = Wire(arriving=arriving + sent(TextMessage(data="2")))
    assert wire.socket.wait() is None
    assert [event.code for event in received(wire.taken)] == [code]


def test_the_end_of_the_connection_is_the_end_of_the_socket():
    wire = Wire(arriving=sent(TextMessage(data="2"))[:-1])
    assert wire.socket.wait() is None
    assert (wire.socket.closed, wire.taken) == (True, b"")


def test_handshakes_are_those_of_the_standard():
    assert asked_for(ASKING)
    assert b"Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n" in accept(ASKING)  # RFC 6455, section 1.3
    for other in ({"REQUEST_METHOD": "POST"}, {"HTTP_UPGRADE": "h2c"}, {"HTTP_CONNECTION": "close"}):
        assert not asked_for({**ASKING, **other})
    for wrong in (
        {"SERVER_PROTOCOL": "HTTP/1.0"}, {"HTTP_SEC_WEBSOCKET_VERSION": "8"}, {"HTTP_SEC_WEBSOCKET_KEY": ""},
        {"HTTP_SEC_WEBSOCKET_KEY": "c2hvcnQ="}, {"HTTP_SEC_WEBSOCKET_KEY": "µ" * 24},
    ):  # fmt: skip
        assert accept({**ASKING, **wrong}) is None


def test_what_is_sent_at_once_keeps_its_place_where_the_network_takes_a_part_of_it():
    ours, theirs = gevent.socket.socketpair()
    texts = ["a" * 5_000_000, "b" * 2_000_000, "c"]
    socket = WebSocket(ours, lambda size: b"", SocketLimits(Allowance.of(Config())), FrameCache())
    assert not socket.busy
    assert socket.send_now(texts[0])
    assert socket.busy
    assert not socket.send_now(texts[1])
    waiting = gevent.spawn(socket.send, texts[1])
    gevent.sleep(0)
    assert not socket.send_now(texts[2])
    client, found = Connection(ConnectionType.CLIENT), [""]
    while len(found) < 3:
        client.receive_data(theirs.recv(1 << 20))
        for event in client.events():
            found[-1] += event.data
            found += [""] if event.message_finished else []
    waiting.get(timeout=PATIENCE_S)
    assert found == [*texts[:2], ""]
    assert socket.send_now(texts[2])
    assert not socket.busy
    client.receive_data(theirs.recv(1 << 20))
    assert [event.data for event in client.events()] == ["c"]
    socket.close()
    assert not socket.send_now(texts[2])
    ours.close()
    theirs.close()


def test_what_cannot_be_sent_at_once_is_left_to_who_can_wait():
    ours, theirs = gevent.socket.socketpair()
    socket = WebSocket(ours, lambda size: b"", SocketLimits(Allowance.of(Config())), FrameCache())
    theirs.close()
    assert not socket.send_now("x")
    ours.close()
