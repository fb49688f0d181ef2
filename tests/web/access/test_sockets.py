"""Sockets of a server that others can reach, as a real process: roles, number of connections, and the audit file."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gevent
import pytest
import requests
import socketio
import websocket

from backend.errors import RequestError
from backend.web.sockets import client_sockets
from backend.web.sockets.client_sockets import ClientSockets, close_silent
from tests.conftest import Server, launch, until
from tests.support import PATIENCE_S
from tests.support.web_pages import Client, Page

TOKEN, ADMIN = "token-of-the-class", "token-of-its-teacher"
BEARER = {"Authorization": f"Bearer {TOKEN}"}
SPEC = {"family": "zb-auto", "p": 2, "m": 4}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("shared")


@pytest.fixture(scope="module")
def shared(folder: Path) -> Iterator[Server]:
    """A server behind a proxy, so that tokens are needed; its clients may have two connections each."""
    settings = {"PROXIES": "1", "TOKEN": TOKEN, "ADMIN_TOKEN": ADMIN, "SOCKETS": "2"}
    with launch(folder, **{f"BUBBLELINE_{name}": value for name, value in settings.items()}) as made:
        yield made


def test_searches_need_a_token_and_watching_does_not(shared: Server):
    with Page(shared) as viewer, Page(shared, headers=BEARER) as runner:
        refused = viewer.ask("search", {"spec": SPEC, "seconds": 0.1})
        assert refused["error"]["code"] == "access.run_needs_token"
        assert runner.ask("search", {"spec": SPEC, "seconds": 0.1})["ok"] is True
        viewer.watch(shared.start_run(m=2, headers=BEARER))
        until(lambda: viewer.over)


def test_one_connection_too_many_is_refused_with_the_reason_until_another_is_closed(shared: Server):
    def connect(**headers: str) -> Client:
        client = Client(reconnection=False)
        client.on("connect_error", problems.append)
        client.connect(shared.url, headers=headers, wait_timeout=PATIENCE_S)
        return client

    problems: list[Any] = []
    seen = {"X-Forwarded-For": "203.0.113.9"}
    first, second = connect(**seen), connect(**seen)
    with pytest.raises(socketio.exceptions.ConnectionError):
        connect(**seen)
    (problem,) = problems
    assert problem["message"].startswith("2 connections of yours are open already")
    assert problem["data"]["error"]["code"] == "access.too_many_sockets"
    assert problem["data"]["error"]["params"]["seconds"] > 0
    other = connect(**{"X-Forwarded-For": "203.0.113.10"})
    first.disconnect()
    until(lambda: connected(connect, seen))
    for each in (second, other):
        each.disconnect()


def connected(connect: Any, headers: dict[str, str]) -> bool:
    try:
        connect(**headers).disconnect()
    except socketio.exceptions.ConnectionError:
        return False
    return True


def test_a_websocket_with_a_wrong_token_is_closed_with_the_reason(shared: Server):
    raw = websocket.WebSocket()
    raw.connect(
        shared.url.replace("http", "ws") + "/socket.io/?EIO=4&transport=websocket",
        header=["Authorization: Bearer guess"],
    )
    raw.settimeout(PATIENCE_S)
    opcode, data = raw.recv_data(control_frame=True)
    assert opcode == websocket.ABNF.OPCODE_CLOSE
    assert data[2:].decode().startswith("This token is not valid here")


def test_a_server_prints_the_links_for_others_and_keeps_tokens_out_of_its_logs(shared: Server, folder: Path, start):
    shared.post("/api/runs", {})
    shared.get(f"/?token={TOKEN}")
    log = folder / "audit.log"
    until(lambda: "signed in" in log.read_text())
    assert '"code": "access.run_needs_token"' in log.read_text()
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    for secret in (TOKEN, ADMIN):
        assert secret not in log.read_text() + (folder / "server.log").read_text()
    assert shared.printed() == f"To start runs: {shared.url}/?token=(that of BUBBLELINE_TOKEN)\n"
    made = start(BUBBLELINE_PROXIES="1")
    link = made.printed().removeprefix("To start runs: ").strip()
    with requests.Session() as session:
        assert session.get(link, timeout=PATIENCE_S).url == f"{made.url}/"
        assert session.post(f"{made.url}/api/runs", json={"spec": {"m": 2}}, timeout=PATIENCE_S).status_code == 202


def test_places_of_a_client_are_counted_and_given_back():
    places = ClientSockets(1)
    places.open("one", "a")
    with pytest.raises(RequestError) as refused:
        places.open("two", "a")
    assert (refused.value.kind, refused.value.retry_after) == ("share", 5)
    places.open("three", "b")
    places.close("two")
    places.close("one")
    places.open("four", "a")
    assert len(places) == 2


def test_a_connection_that_never_enters_socket_io_is_closed(monkeypatch):
    monkeypatch.setattr(client_sockets, "ENTER_S", 0.01)
    closed: list[str] = []
    handlers: dict[str, Any] = {"connect": lambda *_: None}
    eio = SimpleNamespace(handlers=handlers, disconnect=closed.append, on=handlers.__setitem__)
    manager = SimpleNamespace(sid_from_eio_sid=lambda connection, _: "entered" if connection == "page" else None)
    close_silent(SimpleNamespace(server=SimpleNamespace(eio=eio, manager=manager)))
    for connection in ("page", "silent"):
        handlers["connect"](connection, {})
    until(lambda: closed, sleep=gevent.sleep)
    assert closed == ["silent"]
