"""Who sends a request: its identity, found once a request, and the name by which its limits count."""

from __future__ import annotations

from flask import current_app
from werkzeug.wrappers import Request

from backend.access.policy import Policy
from backend.access.roles import Identity

POLICY = "bubbleline.policy"  # the app's extension
FOUND = "bubbleline.identity"  # in the environment of a request
BEARER = "bearer"


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
        header = policy.user_header
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
