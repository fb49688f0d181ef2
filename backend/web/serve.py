"""The server process: listens, prints its address, starts the runner, and stops everything on a signal."""

from __future__ import annotations

import errno
import logging
import signal
import socket
import sys
from typing import Any

import gevent
from flask import Flask
from gevent.event import Event
from gevent.pywsgi import WSGIServer

from backend.access.audit import FILE, log_to
from backend.access.policy import Policy
from backend.access.roles import Role
from backend.config import Config, variable
from backend.schedule import jit
from backend.web.factory import create_app
from backend.web.http.clients import POLICY
from backend.web.http.server import handler_class
from backend.web.http.socket_limits import Allowance
from backend.web.services import NAME, Services
from backend.web.sockets.frames import FrameCache, SharedFrameSocket

logger = logging.getLogger(__name__)


def serve(config: Config) -> int:
    """Serve until SIGINT or SIGTERM and return the exit code.

    Nothing here is monkey-patched: the server, the sockets and the runner's pipes are gevent's own classes, so that
    threads stay threads (numba compiles in one) and the server behaves as in the tests.
    """
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    stop = Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        gevent.signal_handler(number, stop.set)
    log_to(config.database.with_name(FILE))
    app = create_app(config)
    frames = FrameCache()  # shared by all connections: a text for many viewers is framed once
    handler = handler_class(
        lambda websocket, connection: SharedFrameSocket(websocket, connection, frames), Allowance.of(config)
    )
    server = WSGIServer((config.host, config.port), app, handler_class=handler, log=None)
    try:
        server.start()
    except OSError as error:
        print(_cannot_listen(config, error), file=sys.stderr)
        return 1
    address = f"[{config.host}]" if ":" in config.host else config.host
    print(f"Bubbleline is at http://{address}:{server.server_port}  (Ctrl-C stops it)", flush=True)
    for line in _invitations(config, app, server.server_port):
        print(line, flush=True)
    starting = gevent.spawn(_start_in_background, app)
    stop.wait()
    starting.kill()
    _stop(server, app)
    return 0


def _start_in_background(app: Flask) -> None:
    """Start the runner and compile; the first request need not wait for them."""
    parts: Services = app.extensions[NAME]
    parts.runs.start()
    gevent.get_hub().threadpool.apply(jit.compile_all)


def _stop(server: Any, app: Flask) -> None:
    server.close()
    parts: Services = app.extensions[NAME]
    parts.runs.stop()
    gevent.sleep(0.05)  # the last events still reach their viewers
    server.stop(timeout=0.2)


def _invitations(config: Config, app: Flask, port: int) -> list[str]:
    """Return the lines with the links that give a role; none on a local server, where everybody has all."""
    if config.local:
        return []
    policy: Policy = app.extensions[POLICY]
    root = f"https://{config.hosts[0]}" if config.proxies and config.hosts else f"http://{_reachable(config)}:{port}"
    lines = []
    for role, token, setting, text in (
        (Role.RUN, policy.keys.token, "token", "To start runs"),
        (Role.ADMIN, policy.keys.admin_token, "admin_token", "To administrate"),
    ):
        known = role not in policy.keys.made  # the operator has it, and it need not be on the screen
        lines.append(f"{text}: {root}/?token={f'(that of {variable(setting)})' if known else token}")
    return lines


def _reachable(config: Config) -> str:
    """Return the host of a link for others: where the server listens everywhere, this machine's name."""
    if config.host in ("", "0.0.0.0", "::"):
        return config.hosts[0] if config.hosts else socket.gethostname()
    return f"[{config.host}]" if ":" in config.host else config.host


def _cannot_listen(config: Config, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        other = config.port + 1 if config.port < 65535 else 5000
        return (
            f"Port {config.port} on {config.host} is taken by another program. "
            f"Choose another: python app.py serve --port {other} (--port 0 takes any free one)."
        )
    return f"Cannot listen on {config.host}:{config.port}: {error.strerror or error}."
