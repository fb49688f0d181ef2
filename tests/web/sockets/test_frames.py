"""WebSocket frames that are encoded once for all receivers."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from geventwebsocket.exceptions import WebSocketError
from geventwebsocket.websocket import Header

from backend.web.sockets.frames import FrameCache, SharedFrameSocket


class Connection:
    """Takes at most `most` bytes at a time."""

    def __init__(self, most: int = 10**9) -> None:
        self.most, self.taken, self.frames = most, b"", []

    def send(self, data: bytes) -> int:
        self.frames.append(data)
        self.taken += data[: self.most]
        return min(self.most, len(data))

    def sendall(self, data: memoryview) -> None:
        self.taken += data


def text_of(frame: bytes) -> str:
    """The text of one whole frame."""
    at = 0

    def read(size: int) -> bytes:
        nonlocal at
        at += size
        return frame[at - size : at]

    header = Header.decode_header(SimpleNamespace(read=read))
    assert (header.fin, header.opcode, header.flags, header.mask) == (True, 1, 0, "")
    text = read(header.length).decode()
    assert at == len(frame)
    return text


TEXTS = ["", "2", "x" * 125, "x" * 126, "x" * 65_535, "x" * 65_536, "µs " * 50_000]


@pytest.mark.parametrize("text", TEXTS, ids=[str(len(text)) for text in TEXTS])
def test_a_text_of_any_length_arrives_whole_in_pieces_too(text):
    for most in (1, 7, 10**9):
        connection = Connection(most)
        SharedFrameSocket(SimpleNamespace(closed=False), connection, FrameCache()).send(text)
        assert text_of(connection.taken) == text


def test_one_text_for_many_is_framed_once_and_another_anew():
    frames, connections = FrameCache(), [Connection() for _ in range(5)]
    lines = [SharedFrameSocket(SimpleNamespace(closed=False), connection, frames) for connection in connections]
    for text in ("a" * 1000, "b" * 1000):
        for line in lines:
            line.send(text)
        assert len({id(connection.frames[-1]) for connection in connections}) == 1
    assert [text_of(frame)[0] for frame in connections[-1].frames] == ["a", "b"]


def test_a_closed_socket_is_detected_and_binary_data_is_sent_unchanged():
    sent = []
    line = SharedFrameSocket(
        SimpleNamespace(closed=False, send=sent.append, path="/socket.io"), Connection(), FrameCache()
    )
    line.send(b"order")
    assert (sent, line.path) == ([b"order"], "/socket.io")
    with pytest.raises(WebSocketError):
        SharedFrameSocket(SimpleNamespace(closed=True), Connection(), FrameCache()).send("late")
