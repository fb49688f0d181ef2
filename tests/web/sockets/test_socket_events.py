"""Socket events between real clients and a real server, with a runner that measures nothing."""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from tests.conftest import Server, until
from tests.support import PATIENCE_S
from tests.support.servers.server import GOES_ON
from tests.support.web_pages import Page, connect_raw, rows_of


@pytest.fixture
def page(server: Server) -> Iterator[Callable[..., Page]]:
    """Open pages that close with the test."""
    with ExitStack() as opened:
        yield lambda at=server, **options: opened.enter_context(Page(at, **options))


@pytest.mark.parametrize("transports", [["websocket"], ["polling"], None])
def test_a_page_sees_a_run_from_queued_to_finished(server, page, transports):
    viewer = page(transports=transports)
    run_id = server.start_run()
    assert viewer.watch(run_id)["ok"] is True
    until(lambda: viewer.over)
    assert [message["event"] for message in viewer.messages if message["event"] != "op_batch"] == [
        "queued", "warming", "running", "verified", "finished",
    ]  # fmt: skip
    run = server.run(run_id)
    assert viewer.rows() == run["ops"]
    assert viewer.messages[0]["first"] == 1
    assert viewer.messages[-1]["seq"] == run["seq"]
    assert {message["id"] for message in viewer.messages} == {run_id}


def test_a_page_that_requests_bytes_and_messages_receives_the_same_as_from_the_route(server, page):
    viewer = page(transports=["websocket"])
    run_id = server.start_run()
    assert viewer.ask("watch", {"run": run_id, "since": 0, "rows": "ops,bytes,messages"})["ok"] is True
    until(lambda: viewer.over)
    run = server.run(run_id)
    for kind, count in (("ops", 9), ("bytes", 9), ("messages", 3)):
        assert [row for message in viewer.messages for row in message.get(kind, [])] == run[kind]
        assert len(run[kind]) == count
    assert viewer.ask("watch", {"run": run_id, "rows": "bites"})["error"]["field"] == "rows"
    plain = server.get(f"/api/runs/{run_id}?rows=ops").json()
    assert plain == {key: value for key, value in run.items() if key not in ("copies", "bytes", "messages")}
    assert server.get(f"/api/runs/{run_id}?rows=all").status_code == 400


def test_pages_that_join_in_the_middle_of_a_run_miss_nothing_and_get_nothing_twice(server, page):
    run_id = server.start_run(GOES_ON)
    viewers = []
    for step in range(12):
        viewer = page(transports=["websocket"])
        if step % 2:
            viewer.watch(run_id)
            viewers.append((viewer, []))
        else:  # as a page that opens the link: the run so far, then what follows
            run = server.run(run_id)
            viewer.watch(run_id, run["seq"])
            viewers.append((viewer, run["ops"]))
            assert all(message["seq"] > run["seq"] for message in viewer.messages)
    until(lambda: all(viewer.messages for viewer, _ in viewers))
    server.cancel(run_id)
    until(lambda: all(viewer.over for viewer, _ in viewers))
    ops = server.run(run_id)["ops"]
    assert ops
    for viewer, before in viewers:
        assert before + viewer.rows() == ops


def test_all_ops_reach_the_page_while_the_run_goes_on(start, page, tmp_path: Path):
    seen = tmp_path / "seen"
    server = start("--until", str(seen))
    viewer = page(server, transports=["websocket"])
    viewer.watch(server.start_run(m=3))
    until(lambda: len(viewer.rows()) == 9)  # bench/page.py prints how soon
    seen.touch()
    until(lambda: viewer.over)
    assert viewer.messages[-1]["event"] == "finished"


def test_a_page_that_reconnects_gets_only_the_missing_entries(server, page):
    run_id = server.start_run(m=100)
    first = page(transports=["websocket"])
    first.watch(run_id)
    until(lambda: "op_batch" in [each["event"] for each in list(first.messages)])
    first.io.disconnect()
    ops = next(k for k, each in enumerate(first.messages) if each["event"] == "op_batch")
    seen = first.messages[: ops + 1]  # a slow page may have got the whole run in a few messages by now
    second = page(transports=["websocket"])
    second.watch(run_id, seen[-1]["seq"])
    until(lambda: second.over)
    assert rows_of(seen + second.messages) == server.run(run_id)["ops"]


def test_a_page_that_stops_reading_gets_everything_later_in_fewer_messages_and_delays_no_other(start, page):
    busy = start("--pause", "0.001", "--rows", "2000")
    stalled = connect_raw(busy)
    watcher = page(busy, transports=["websocket"])
    run_id = busy.start_run(m=24)  # about 3 MB of events
    stalled.send("42" + json.dumps(["watch", {"run": run_id, "since": 0}]))
    watcher.watch(run_id)
    until(lambda: watcher.over)
    assert 0 < held_for(stalled.sock) < 1_000_000
    stalled.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1_000_000)  # it reads again, and not in drops
    messages = []
    while not messages or messages[-1]["event"] != "finished":
        packet = stalled.recv()
        if packet.startswith("42"):
            messages.append(json.loads(packet[2:])[1])
    stalled.close()
    assert rows_of(messages) == watcher.rows() == busy.run(run_id)["ops"]
    assert len(messages) < messages[-1]["seq"]  # events; on a busy machine the other page's come together as well


def held_for(viewer: socket.socket) -> int:
    """Bytes in the system's buffer at the server's end of a viewer's connection."""
    ends = ["{:08X}:{:04X}".format(struct.unpack("<I", socket.inet_aton(host))[0], port)
            for host, port in (viewer.getpeername(), viewer.getsockname())]  # fmt: skip
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()]
    return next(int(row[4].partition(":")[0], 16) for row in rows if row[1:3] == ends)


def test_two_pages_watching_two_runs_each_receive_their_own(server, page):
    one, two = page(), page()
    ids = server.start_run(), server.start_run()
    for viewer, run_id in zip((one, two), ids, strict=True):
        viewer.watch(run_id)
    until(lambda: one.over and two.over)
    assert [{message["id"] for message in viewer.messages} for viewer in (one, two)] == [{ids[0]}, {ids[1]}]


def test_after_unwatch_no_message_arrives(server, page):
    viewer = page(transports=["websocket"])
    run_id = server.start_run(GOES_ON)
    viewer.watch(run_id)
    until(lambda: viewer.messages)
    assert viewer.ask("unwatch", {"run": run_id}) == {"ok": True}
    had = len(viewer.messages)
    server.cancel(run_id)
    until(lambda: server.run(run_id)["status"] == "cancelled")
    assert viewer.ask("unwatch", {"run": run_id}) == {"ok": True}  # behind whatever was still on its way
    assert len(viewer.messages) == had


def test_a_viewer_sees_its_run_cancelled_and_metrics_no_longer_count_a_closed_page(server, page):
    viewer = page()
    run_id = server.start_run(GOES_ON)
    viewer.watch(run_id)
    until(lambda: viewer.messages)
    assert "bubbleline_viewers 1.0\n" in server.get("/metrics").text
    assert server.cancel(run_id).status_code == 202
    until(lambda: viewer.over)
    assert viewer.messages[-1]["event"] == "cancelled"
    viewer.io.disconnect()
    until(lambda: "bubbleline_viewers 0.0\n" in server.get("/metrics").text)


BAD_EVENTS = [
    ("watch", (), "watch"),
    ("watch", (None,), "watch"),
    ("watch", ("abc",), "watch"),
    ("watch", ([1],), "watch"),
    ("watch", ({"run": "a"}, {"run": "b"}), "watch"),
    ("watch", ({},), "run"),
    ("watch", ({"run": 7},), "run"),
    ("watch", ({"run": ["abc"]},), "run"),
    ("watch", ({"run": "no such run"},), "id"),
    ("watch", ({"run": "x" * 10_000},), "id"),
    ("watch", ({"run": "a", "from": 0},), "from"),
    ("watch", ({"run": "a", "since": -1},), "since"),
    ("watch", ({"run": "a", "since": 1.5},), "since"),
    ("watch", ({"run": "a", "since": "1"},), "since"),
    ("watch", ({"run": "a", "since": True},), "since"),
    ("watch", ({"run": "a", "since": None},), "since"),
    ("watch", ({"run": "a", "since": 10**30},), "since"),
    ("unwatch", (), "unwatch"),
    ("unwatch", ({"run": None},), "run"),
    ("unwatch", ({"run": "a", "since": 0},), "since"),
    ("steal", ({"run": "a"},), "event"),
    ("run", ({"id": "a"},), "event"),
]


@pytest.mark.parametrize(("event", "data", "field"), BAD_EVENTS, ids=[f"{e} {str(d)[:40]}" for e, d, _ in BAD_EVENTS])
def test_a_bad_event_gets_the_common_error_shape_and_the_socket_stays_open(server, shared_page, event, data, field):
    answer = shared_page.ask(event, *data)
    assert set(answer) == {"error"}
    always = {"code", "params", "field", "value", "message"}
    assert always <= set(answer["error"]) <= always | {"limit", "nearest"}
    assert answer["error"]["field"] == field
    assert len(json.dumps(answer)) < 1000
    assert shared_page.ask("unwatch", {"run": "a"}) == {"ok": True}


@pytest.fixture(scope="module")
def shared_page(server: Server) -> Iterator[Page]:
    with Page(server, transports=["websocket"]) as made:
        yield made


def test_a_since_beyond_the_end_returns_the_end(server, page):
    viewer = page()
    run_id = server.start_run()
    viewer.watch(run_id)
    until(lambda: viewer.over)
    error = viewer.watch(run_id, 10_000)["error"]
    assert (error["field"], error["limit"]) == ("since", server.run(run_id)["seq"])


@pytest.mark.parametrize("packet", ["4", "42", "42[", '42{"a":1}', "42[]", "42[1]", "43", "49", "9", "4" * 5000, "51-"])
def test_a_malformed_packet_affects_no_other_client(server, shared_page, packet):
    raw = connect_raw(server)
    raw.send(packet)
    raw.close()
    assert shared_page.ask("unwatch", {"run": "a"}) == {"ok": True}


def test_a_frame_that_claims_a_gigabyte_closes_its_socket_before_it_is_read(server, shared_page):
    raw = connect_raw(server)
    raw.sock.sendall(bytes([0x81, 0x80 | 127]) + (10**9).to_bytes(8, "big") + bytes(4) + b"x" * 1000)
    raw.sock.settimeout(PATIENCE_S)
    with suppress(ConnectionResetError):
        while raw.sock.recv(4096):  # ends when the server has closed, else by its timeout
            pass
    assert shared_page.ask("unwatch", {"run": "a"}) == {"ok": True}


def test_many_pages_at_once_are_all_served(server):
    """Forty sockets that open together each see the whole run."""
    run_id = server.start_run(m=50)
    pages: list[Page] = []

    def one() -> None:
        viewer = Page(server, transports=["websocket"])
        pages.append(viewer)
        viewer.watch(run_id)

    threads = [threading.Thread(target=one) for _ in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    until(lambda: all(viewer.over for viewer in pages))
    assert {len(viewer.rows()) for viewer in pages} == {150}
    for viewer in pages:
        viewer.io.disconnect()
