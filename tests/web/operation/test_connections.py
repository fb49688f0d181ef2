"""Connections that attack: too slow, too many, or with requests whose length can be read in two ways."""

from __future__ import annotations

import json
import socket
import time

import pytest
import requests

from backend.web.http.request_reader import ConnectionLimits, RequestReader
from tests.conftest import Server, launch, until
from tests.support import PATIENCE_S
from tests.support.web_pages import connect_raw

GET = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
POST = b"POST /api/runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
SECONDS = 0.6


@pytest.fixture(scope="module")
def impatient(tmp_path_factory):
    """A server whose connections have little time, and of which there are at most 8."""
    settings = {"HEADER_S": SECONDS, "BODY_S": SECONDS, "IDLE_S": SECONDS, "CONNECTIONS": 8}
    with launch(
        tmp_path_factory.mktemp("server"), **{f"BUBBLELINE_{name}": str(value) for name, value in settings.items()}
    ) as made:
        yield made


def answer(raw: socket.socket) -> tuple[int, dict]:
    """Read the answer to its end, which must be the connection's: its status and error."""
    head, _, body = raw.makefile("rb").read().partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body)["error"]


def drip(raw: socket.socket, data: bytes, every: float = 0.05) -> bool:
    """Send a byte now and then; returns whether the server closed the connection before the end."""
    raw.settimeout(every)
    for at in range(len(data)):
        try:
            raw.sendall(data[at : at + 1])
            raw.recv(1, socket.MSG_PEEK)  # an answer, or the end of the connection
        except TimeoutError:
            continue
        except OSError:
            pass
        return True
    return False


ODD = {
    "two lengths": b"Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
    "two different lengths": b"Content-Length: 2\r\nContent-Length: 40\r\n\r\n{}",
    "a list of lengths": b"Content-Length: 2, 2\r\n\r\n{}",
    "a sign": b"Content-Length: +2\r\n\r\n{}",
    "an underscore": b"Content-Length: 0_2\r\n\r\n{}",
    "length and chunks": b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    "chunks and length": b"Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    "gzip": b"Transfer-Encoding: gzip\r\n\r\n",
    "identity": b"Transfer-Encoding: identity\r\n\r\n",
    "gzip, chunked": b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "chunked twice": b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "xchunked": b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    "vertical tab": b"Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n",
    "space before the colon": b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
    "a header on two lines": b"Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n",
    "no colon": b"Content-Length 2\r\n\r\n{}",
    "two hosts": b"Host: elsewhere\r\n\r\n",
    "a control character": b"X-A: \x01\r\n\r\n",
    "a body with an upgrade": b"Connection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 2\r\n\r\n{}",
}


@pytest.mark.parametrize("sent", ODD.values(), ids=ODD)
def test_a_request_whose_length_can_be_read_in_two_ways_is_refused_and_the_connection_closed(server: Server, sent):
    smuggled = b"GET /api/families HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with server.connect() as raw:
        raw.sendall(POST + sent + smuggled)
        status, error = answer(raw)  # to the end: nothing follows, so the smuggled request was not answered
    assert (status, error["field"]) == (400, "request")


def test_chunked_in_http_1_0_and_a_request_without_a_version_are_refused(server: Server):
    for sent in (POST.replace(b"1.1", b"1.0") + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", b"GET /\r\n\r\n"):
        with server.connect() as raw:
            raw.sendall(sent)
            assert answer(raw)[0] == 400


def test_a_broken_chunk_ends_the_connection(server: Server):
    with server.connect() as raw:
        raw.sendall(POST + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n" + GET + b"\r\n")
        data = raw.makefile("rb").read()
    assert data.startswith(b"HTTP/1.1 400")
    assert data.count(b"HTTP/1.1") == 1


def test_proper_chunks_and_lengths_are_read_as_before(server: Server):
    body = b'{"spec": {"p": 0}}'
    for sent in (
        b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n" % (len(body), body),
        b"Transfer-Encoding: CHUNKED\r\n\r\n%x\r\n%s\r\n0\r\n\r\n" % (len(body), body),
        b"Content-Length: %d\r\n\r\n%s" % (len(body), body),
    ):
        with server.connect() as raw:
            raw.sendall(POST + b"Connection: close\r\n" + sent)
            status, error = answer(raw)
        assert (status, error["field"]) == (400, "p"), "the spec was read"


@pytest.mark.parametrize("sent", [b"X-%d: 1\r\n" * 200, b"X-%d: " + b"a" * 60_000 + b"\r\n"])
def test_too_many_or_too_large_headers_are_refused(server: Server, sent):
    headers = b"".join(sent.replace(b"%d", b"%d" % number) for number in range(1 if sent.count(b"\r") > 1 else 3))
    with server.connect() as raw:
        raw.sendall(GET + headers + b"\r\n")
        status, error = answer(raw)
    assert (status, error["field"]) == (431, "headers")


@pytest.mark.parametrize("sent", [GET + b"X-Slow: " + b"a" * 200, b"GET /" + b"a" * 200], ids=["headers", "address"])
def test_a_request_that_arrives_a_byte_at_a_time_ends_with_408(impatient: Server, sent: bytes):
    with impatient.connect() as raw:
        assert drip(raw, sent)
        raw.settimeout(PATIENCE_S)
        status, error = answer(raw)
    assert (status, error["code"]) == (408, "http.slow_request")


@pytest.mark.parametrize("sent", [b"", GET + b"\r\n"], ids=["new", "after a request"])
def test_a_connection_that_asks_nothing_is_closed(impatient: Server, sent):
    with impatient.connect() as raw:
        raw.sendall(sent)
        data = raw.makefile("rb").read()
    assert data.startswith(b"HTTP/1.1 200" if sent else b"")
    assert data.count(b"HTTP/1.1") == (1 if sent else 0)


@pytest.mark.parametrize("body", [b"Content-Length: 1000\r\n\r\n{", b"Transfer-Encoding: chunked\r\n\r\n3e8\r\n{"])
def test_a_body_that_stalls_is_answered_with_408_and_the_connection_closed(impatient: Server, body):
    with impatient.connect() as raw:
        raw.sendall(POST + body)
        status, error = answer(raw)
    assert (status, error["code"]) == (408, "http.body_incomplete")


def test_a_body_that_a_route_does_not_read_cannot_hold_the_connection_either(impatient: Server):
    with impatient.connect() as raw:
        raw.sendall(GET + b"Content-Length: 100000000000\r\n\r\n")
        data = raw.makefile("rb").read()
    assert data.startswith(b"HTTP/1.1 200")


def test_a_slow_body_that_goes_on_has_a_second_more_for_each_kilobyte():
    now, waits = 0.0, []

    class Slow:
        """A connection on which 512 bytes arrive each second."""

        def settimeout(self, seconds: float | None) -> None:
            waits.append(seconds)

        def recv_into(self, buffer) -> int:
            nonlocal now
            now += 1.0
            if waits[-1] < 1.0:
                raise TimeoutError
            return 512

    reader = RequestReader(Slow(), ConnectionLimits(body_s=10.0), lambda: now)
    reader.enter("body")
    with pytest.raises(TimeoutError):
        list(iter(lambda: reader.readinto(bytearray(512)), 0))
    assert now == pytest.approx(20.0, abs=2.0), "10 s, and half a second for each second's bytes"
    with pytest.raises(TimeoutError):
        reader.readinto(bytearray(512))
    assert reader.failure == "slow"


def test_an_open_socket_may_be_silent_for_longer_than_a_request(impatient: Server):
    raw = connect_raw(impatient)
    time.sleep(2 * SECONDS)  # longer than every limit of requests
    raw.send('420["unwatch",{"run":"nobody"}]')
    raw.settimeout(PATIENCE_S)
    assert "430" in raw.recv()
    raw.close()


def test_when_all_connections_are_taken_an_idle_one_makes_room_and_else_the_answer_is_503(impatient: Server):
    idle = impatient.connect()
    idle.sendall(GET + b"\r\n")
    assert idle.recv(100).startswith(b"HTTP/1.1 200")
    sockets = [connect_raw(impatient) for _ in range(7)]
    with requests.Session() as session:  # the eighth place is that of the idle connection
        assert session.get(impatient.url + "/healthz", timeout=PATIENCE_S).status_code == 200
    idle.settimeout(PATIENCE_S)
    while idle.recv(10_000):
        pass
    sockets.append(connect_raw(impatient))
    with impatient.connect() as refused:
        refused.sendall(GET + b"\r\n")
        status, error = answer(refused)
    assert (status, error["code"]) == (503, "http.connections_full")
    for raw in sockets:
        raw.close()
    until(lambda: impatient.get("/healthz").status_code == 200)
    figures = impatient.get("/metrics").text
    assert "bubbleline_connections_refused_total 1.0\n" in figures
