"""The server process: listens, prints its address, starts the runner, and stops everything on a signal."""

from __future__ import annotations

import errno
import logging
import signal
import sys
from typing import Any

import gevent
from flask import Flask
from gevent.event import Event
from gevent.pywsgi import WSGIServer

from backend.config import Config
from backend.web.factory import create_app
from backend.web.http.server import handler_class
from backend.web.services import NAME, Services
from backend.web.sockets.frames import FrameCache, SharedFrameSocket
from backend.web.work.computing import POOL

logger = logging.getLogger(__name__)


def serve(config: Config) -> int:
    """Serve until SIGINT or SIGTERM and return the exit code.

    Nothing here is monkey-patched: the server, the sockets and the runner's pipes are gevent's own classes, so that
    threads stay threads and the server behaves as in the tests.
    """
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    stop = Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        gevent.signal_handler(number, stop.set)
    app = create_app(config)
    frames = FrameCache()  # shared by all connections: a text for many viewers is framed once
    handler = handler_class(lambda websocket, connection: SharedFrameSocket(websocket, connection, frames))
    server = WSGIServer((config.host, config.port), app, handler_class=handler, log=None)
    try:
        server.start()
    except OSError as error:
        print(_cannot_listen(config, error), file=sys.stderr)
        return 1
    address = f"[{config.host}]" if ":" in config.host else config.host
    print(f"Bubbleline is at http://{address}:{server.server_port}  (Ctrl-C stops it)", flush=True)
    starting = gevent.spawn(_start_in_background, app)
    stop.wait()
    starting.kill()
    _stop(server, app)
    return 0


def _start_in_background(app: Flask) -> None:
    """Start the runner and the workers; the first request need not wait for them."""
    parts: Services = app.extensions[NAME]
    app.extensions[POOL].open()
    parts.runs.start()


def _stop(server: Any, app: Flask) -> None:
    server.close()
    parts: Services = app.extensions[NAME]
    parts.runs.stop()
    app.extensions[POOL].close()
    gevent.sleep(0.05)  # the last events still reach their viewers
    server.stop(timeout=0.2)


def _cannot_listen(config: Config, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        other = config.port + 1 if config.port < 65535 else 5000
        return (
            f"Port {config.port} on {config.host} is taken by another program. "
            f"Choose another: python app.py serve --port {other} (--port 0 takes any free one)."
        )
    return f"Cannot listen on {config.host}:{config.port}: {error.strerror or error}."
