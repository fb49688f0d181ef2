"""The server process: listens, prints its address, starts the runner, and stops everything on a signal."""

from __future__ import annotations

import errno
import logging
import resource
import signal
import socket
import sys
import time
from typing import Any

import gevent
from flask import Flask
from gevent.event import Event
from gevent.pywsgi import WSGIServer

from backend.access.audit import FILE, log_to
from backend.access.policy import Policy
from backend.access.roles import Role
from backend.config import Config, variable
from backend.web import logs
from backend.web.factory import create_app
from backend.web.http.clients import POLICY
from backend.web.http.request_reader import ConnectionLimits
from backend.web.http.server import handler_class
from backend.web.http.socket_limits import Allowance
from backend.web.services import NAME, Services
from backend.web.sockets.frames import FrameCache, SharedFrameSocket
from backend.web.work.computing import POOL

logger = logging.getLogger(__name__)
WORKERS_AFTER_S = 2.0  # until then the cores are for the page that opens now, and for the runner
SPARE_FILES = 128  # for the runner's pipes, the database and the log
MANY_FILES = 1_000_000  # where the system has no limit


def serve(config: Config) -> int:
    """Serve until SIGINT or SIGTERM and return the exit code.

    Nothing here is monkey-patched: the server, the sockets and the runner's pipes are gevent's own classes, so that
    threads stay threads and the server behaves as in the tests.
    """
    try:
        logs.set_up(config.log_level, config.log_format, config.log_file, config.log_file_mb)
    except OSError as error:
        print(f"The log cannot be written to {config.log_file}: {error.strerror}.", file=sys.stderr)
        return 1
    gevent.get_hub().print_exception = logs.log_exception
    stop = Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        gevent.signal_handler(number, stop.set)
    log_to(config.folder / FILE)
    app = create_app(config)
    frames = FrameCache()  # shared by all connections: a text for many viewers is framed once
    parts: Services = app.extensions[NAME]
    handler = handler_class(
        lambda websocket, connection: SharedFrameSocket(websocket, connection, frames),
        _limits(config), parts.connections, Allowance.of(config),
    )  # fmt: skip
    server = WSGIServer((config.host, config.port), app, handler_class=handler, log=None, error_log=logger)
    parts.connections.most = max(1, min(config.connections, _files_for(config.connections) - SPARE_FILES))
    try:
        server.start()
    except OSError as error:
        print(_cannot_listen(config, error), file=sys.stderr)
        return 1
    address = f"[{config.host}]" if ":" in config.host else config.host
    print(f"Bubbleline is at http://{address}:{server.server_port}  (Ctrl-C stops it)", flush=True)
    for line in _invitations(config, app, server.server_port):
        print(line, flush=True)
    parts.metrics.watch_loop(time.monotonic)
    starting = gevent.spawn(_start_in_background, app)
    stop.wait()
    stop.clear()
    starting.kill()
    logger.warning("the server is stopping")
    draining, again = gevent.spawn(parts.runs.drain, config.stop_s), gevent.spawn(stop.wait)
    gevent.wait([draining, again], count=1)  # a second signal does not wait for the present run
    gevent.killall([draining, again])
    _stop(server, app)
    return 0


def _limits(config: Config) -> ConnectionLimits:
    largest = max(config.body_kb * 1024, config.import_mb * 2**20) + 2**20  # what is refused is still read to its end
    return ConnectionLimits(config.header_s, config.body_s, config.idle_s, largest)


def _files_for(connections: int) -> int:
    """Raise this process' limit of open files as far as the connections need it, and return the limit."""
    limit, most = (MANY_FILES if each < 0 else each for each in resource.getrlimit(resource.RLIMIT_NOFILE))
    wanted = min(most, connections + SPARE_FILES)
    if wanted > limit:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    return max(limit, wanted)


def _start_in_background(app: Flask) -> None:
    """Start the runner, and a little later the workers; the first computation starts them if it comes before."""
    parts: Services = app.extensions[NAME]
    parts.runs.start()
    gevent.sleep(WORKERS_AFTER_S)
    app.extensions[POOL].open()


def _stop(server: Any, app: Flask) -> None:
    server.close()
    parts: Services = app.extensions[NAME]
    parts.runs.stop()
    app.extensions[POOL].close()
    gevent.sleep(0.05)  # the last events still reach their viewers
    server.stop(timeout=0.2)


def _invitations(config: Config, app: Flask, port: int) -> list[str]:
    """Return the lines with the links that give a role; none on a local server, where everybody has all."""
    if config.local:
        return []
    policy: Policy = app.extensions[POLICY]
    root = f"https://{config.hosts[0]}" if config.proxies and config.hosts else f"http://{_reachable(config)}:{port}"
    if not policy.lasting:
        return ["The tokens are in the database, which cannot be used at present: start again to see the links."]
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
