"""Pages for the tests of socket events: one with the client library, one that reads only when asked to."""

from __future__ import annotations

import socket
from bisect import insort
from itertools import pairwise
from typing import Any, Self

import engineio
import socketio
import websocket

from backend.runs.run import OVER
from tests.support import PATIENCE_S
from tests.support.servers.server import Server

QUICK = {"skip_utf8_validation": True}  # by the client library: byte by byte, a second for each megabyte


class InOrder(engineio.Client):
    """The library's connection, but each message is handled before the next. The library starts a thread for each, and
    on a busy machine takes the bytes of an event for an event of their own.
    """

    def _trigger_event(self, event: str, *args: Any, **kwargs: Any) -> Any:
        return super()._trigger_event(event, *args, **kwargs | {"run_async": False})


class Client(socketio.Client):
    """The client library, with messages handled in order."""

    def _engineio_client_class(self) -> type[engineio.Client]:
        return InOrder


class Page:
    """A page that watches one run and keeps what it is sent."""

    def __init__(self, server: Server, **options: Any) -> None:
        self.messages: list[dict] = []
        self.since = 0
        self.io = Client(reconnection=False, websocket_extra_options=QUICK)
        self.io.on("run", self._take)
        self.io.connect(server.url, **options)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.io.disconnect()

    def _take(self, message: dict) -> None:
        insort(self.messages, message, key=lambda each: each["first"])

    def ask(self, event: str, *data: Any) -> dict:
        return self.io.call(event, data if len(data) != 1 else data[0], timeout=PATIENCE_S)

    def watch(self, run_id: str, since: int = 0) -> dict:
        self.since = since
        return self.ask("watch", {"run": run_id, "since": since})

    @property
    def over(self) -> bool:
        """Whether the run's end and everything before it have been handled here."""
        covered = sum(message["seq"] - message["first"] + 1 for message in list(self.messages))
        ends = [message["seq"] for message in list(self.messages) if message["event"] in OVER]
        return bool(ends) and covered >= ends[0] - self.since

    def rows(self) -> list:
        return rows_of(self.messages)


def rows_of(messages: list[dict]) -> list:
    """All ops of the messages, after a check that none is missing or doubled."""
    for before, after in pairwise(messages):
        assert after["first"] == before["seq"] + 1
    return [row for message in messages for row in message.get("ops", [])]


def connect_raw(server: Server) -> websocket.WebSocket:
    """A socket that reads only on request, with buffers as small as the system allows."""
    raw = websocket.WebSocket(sockopt=[(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)], **QUICK)
    raw.connect(server.url.replace("http", "ws") + "/socket.io/?EIO=4&transport=websocket", timeout=PATIENCE_S)
    assert raw.recv().startswith("0")
    raw.send("40")
    assert raw.recv().startswith("40")
    return raw
