"""Servers whose answers and messages come late, which shows what a test or a page does before it has heard of them."""

from __future__ import annotations

from typing import Any

import gevent

from backend.web.http.server import Handler
from backend.web.http.websocket import WebSocket


def be_late(seconds: float) -> None:
    """Have this process begin each answer and each message of a WebSocket that many seconds later."""
    answer, send = Handler.run_application, WebSocket.send

    def answer_late(self: Handler) -> Any:
        gevent.sleep(seconds)
        return answer(self)

    def send_late(self: WebSocket, message: str | bytes) -> None:
        gevent.sleep(seconds)
        send(self, message)

    Handler.run_application = answer_late
    WebSocket.send = send_late  # type: ignore[method-assign]
    WebSocket.send_now = lambda self, message: False  # type: ignore[method-assign]  # it must wait, for send
