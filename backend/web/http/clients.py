"""Who sends a request: its identity, found once a request, the name by which its limits count, and whether it left."""

from __future__ import annotations

import select
from collections.abc import Callable

from flask import current_app
from werkzeug.wrappers import Request

from backend.access.policy import Policy
from backend.access.roles import Identity

POLICY = "bubbleline.policy"  # the app's extension
FOUND = "bubbleline.identity"  # in the environment of a request
BEARER = "bearer"
CONNECTION = "bubbleline.socket"  # in a request's environment: its connection
CLOSED = select.POLLHUP | select.POLLERR | select.POLLNVAL | getattr(select, "POLLRDHUP", 0)


def client_of(request: Request) -> str:
    """Return by what a client's limits count: its user, its browser if that has shown a token, else its address."""
    return identity_of(request).client


def identity_of(request: Request, policy: Policy | None = None) -> Identity:
    """Return who sends a request; `policy` is that of the present app unless it is given."""
    found: Identity | None = request.environ.get(FOUND)
    if found is None:
        policy = policy or policy_of()
        sent = request.authorization
        token = (sent.token or "") if sent is not None and sent.type == BEARER else None
        header = policy.config.user_header
        user = request.headers.get(header, "").strip() if header else ""
        found = policy.identify(request.remote_addr or "", request.cookies.get(cookie_name(request), ""), token, user)
        request.environ[FOUND] = found
    return found


def policy_of() -> Policy:
    """Return the rules of the present app."""
    policy: Policy = current_app.extensions[POLICY]
    return policy


def cookie_name(request: Request) -> str:
    """Return the name of the cookie: with the port, because browsers share cookies between the ports of a host."""
    port = request.host.rpartition(":")[2]
    return f"bubbleline-{port}" if port.isdigit() else "bubbleline"


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
