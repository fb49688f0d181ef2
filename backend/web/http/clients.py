"""Who sends a request, and whether the client is still there."""

from __future__ import annotations

import select
from collections.abc import Callable

from flask import Request

CONNECTION = "bubbleline.socket"  # in a request's environment: its connection
CLOSED = select.POLLHUP | select.POLLERR | select.POLLNVAL | getattr(select, "POLLRDHUP", 0)


def client_of(request: Request) -> str:
    """Return the client to whom a request's share counts."""
    return request.remote_addr or ""


def departure(request: Request) -> Callable[[], bool]:
    """Return a function that tells whether the client of this request has closed its connection.

    A client that has closed only its sending half counts as gone: browsers and proxies do not do that.
    """
    connection = request.environ.get(CONNECTION)
    if connection is None:  # a test's request has none
        return lambda: False

    def left() -> bool:
        handle = connection.fileno()
        if handle < 0:
            return True
        poll = select.poll()
        poll.register(handle, CLOSED)
        return bool(poll.poll(0))

    return left
