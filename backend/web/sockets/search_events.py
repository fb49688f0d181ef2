"""Socket events of searches: a page starts a search and receives each better order."""

from __future__ import annotations

from typing import Any

import flask
from flask_socketio import SocketIO

from backend.access.roles import Role
from backend.errors import RequestError, message
from backend.jobs.strict_json import only
from backend.schedule.families.registry import read
from backend.schedule.spec import number
from backend.web.http.access import require
from backend.web.http.clients import client_of
from backend.web.services import services
from backend.web.sockets.client_sockets import current_viewer

SECONDS = (0.05, 600.0)
DEFAULT_SECONDS = 5.0
KEYS = ("spec", "seconds")


def register(socketio: SocketIO) -> None:
    """Handle the events of searches."""
    socketio.on_event("search", search)
    socketio.on_event("search_stop", stop)


def search(*args: Any) -> dict[str, Any]:
    """Start a search, {"spec": {..}, "seconds": 5}; ``search`` messages report its progress. The acknowledgement
    has its id and its position in the queue, at once.
    """
    require(Role.RUN)
    if len(args) != 1:
        why = message("web.takes_one_object", "{event} takes one object with {keys}", event="search", keys=list(KEYS))
        raise RequestError("search", len(args), why)
    data = only(args[0], KEYS, "search")
    seconds = number("seconds", data.get("seconds", DEFAULT_SECONDS), *SECONDS)
    spec = read(data.get("spec", {}), entry=False).with_(effort=None)
    searches = services().searches
    job = searches.start(current_viewer(), spec, seconds, client_of(flask.request))
    return {"ok": True, "id": job.id, "position": searches.position(job)}


def stop(*_: Any) -> dict[str, Any]:
    """End this page's search; its last message has the best order so far."""
    return {"ok": True, "stopped": services().searches.stop(current_viewer())}
