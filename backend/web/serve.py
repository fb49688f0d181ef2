"""The server process: listens, prints its address, starts the runner, and stops everything on a signal."""

from __future__ import annotations

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

from backend.access.addresses import Invitations, address_line, cannot_listen, open_page
from backend.access.audit import FILE, log_to
from backend.config import Config
from backend.web import logs
from backend.web.factory import create_app
from backend.web.http.clients import POLICY
from backend.web.http.computing import POOL
from backend.web.http.request_reader import ConnectionLimits
from backend.web.http.server import handler_class
from backend.web.http.socket_limits import Allowance
from backend.web.http.websocket import FrameCache
from backend.web.processes import numbered, stop_with_parent
from backend.web.services import NAME, Services

logger = logging.getLogger(__name__)
SPARE_FILES = 128  # for the runner's pipes, the database and the log
LOOK_S = 0.5  # between two looks for tokens that could not be read at the start
MANY_FILES = 1_000_000  # where the system has no limit


def serve(config: Config, listener: socket.socket | None = None, name: str = "") -> int:
    """Serve until SIGINT or SIGTERM and return the exit code: as the process `name` of several on the socket of the
    process that started this one, if there is one, and then only as long as that process lives.

    Nothing here is monkey-patched: the server, the sockets and the runner's pipes are gevent's own classes, so that
    threads stay threads and the server behaves as in the tests.
    """
    if not logs.set_up(config.log_level, config.log_format, config.log_file, config.log_file_mb):
        return 1
    gevent.get_hub().print_exception = logs.log_exception
    stop = Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        gevent.signal_handler(number, stop.set)
    audit = config.folder / FILE
    log_to(numbered(audit, name) if name else audit)
    app = create_app(config)
    parts: Services = app.extensions[NAME]
    handler = handler_class(_limits(config), parts.connections, Allowance.of(config), FrameCache())
    server = WSGIServer(
        listener or (config.host, config.port), app, handler_class=handler, log=None, error_log=logger,
        environ={"wsgi.multiprocess": listener is not None},  # then one connection at a time is taken: others are free
    )  # fmt: skip
    parts.connections.most = max(1, min(config.connections, _files_for(config.connections) - SPARE_FILES))
    try:
        server.start()
    except OSError as error:
        print(cannot_listen(config, error), file=sys.stderr)
        return 1
    if listener is None:
        print(address_line(config, server.server_port), flush=True)
        open_page(config, server.server_port)
        invitations = Invitations(config, server.server_port, app.extensions[POLICY])
        invitations.print_first()
        gevent.spawn(_print_later, invitations)
    else:
        gevent.spawn(stop_with_parent, stop)
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


def _print_later(invitations: Invitations) -> None:
    while invitations.awaited:
        gevent.sleep(LOOK_S)
        invitations.print_awaited()


def _start_in_background(app: Flask) -> None:
    """Start the runner, and a little later the workers; the first computation starts them if it comes before."""
    parts: Services = app.extensions[NAME]
    parts.runs.start()
    parts.classes.rooms.start()
    gevent.sleep(parts.config.workers_after_s)  # until then the cores are for the page that opens now, and the runner
    app.extensions[POOL].open()


def _stop(server: Any, app: Flask) -> None:
    server.close()
    parts: Services = app.extensions[NAME]
    parts.runs.stop()
    parts.classes.rooms.stop()
    app.extensions[POOL].close()
    gevent.sleep(0.05)  # the last events still reach their viewers
    server.stop(timeout=0.2)
