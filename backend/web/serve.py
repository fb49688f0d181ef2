"""The server: listens, says where, starts the runner behind it, and takes everything down again when told to stop."""

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
from backend.schedule import jit
from backend.web.factory import create_app
from backend.web.http.server import Handler
from backend.web.services import NAME, Services

logger = logging.getLogger(__name__)


def serve(config: Config) -> int:
    """Serve until SIGINT or SIGTERM; gives the exit code.

    Nothing here is monkey-patched: the server, the sockets and the runner's pipes are gevent's own classes, so that
    threads stay threads (numba compiles in one) and what works in the tests works here.
    """
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    stop = Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        gevent.signal_handler(number, stop.set)
    app = create_app(config)
    server = WSGIServer((config.host, config.port), app, handler_class=Handler, log=None)
    try:
        server.start()
    except OSError as error:
        print(_cannot_listen(config, error), file=sys.stderr)
        return 1
    address = f"[{config.host}]" if ":" in config.host else config.host
    print(f"Bubbleline is at http://{address}:{server.server_port}  (Ctrl-C stops it)", flush=True)
    behind = gevent.spawn(_start_behind, app)
    stop.wait()
    behind.kill()
    _stop(server, app)
    return 0


def _start_behind(app: Flask) -> None:
    """What need not be there for the first request."""
    parts: Services = app.extensions[NAME]
    parts.runs.start()
    gevent.get_hub().threadpool.apply(jit.compile_all)


def _stop(server: Any, app: Flask) -> None:
    server.close()
    parts: Services = app.extensions[NAME]
    parts.runs.stop()
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
