"""Socket events of searches: a page asks for a better order and is told of each one found."""

from __future__ import annotations

from typing import Any

import flask
from flask_socketio import SocketIO

from backend.schedule.errors import SpecError
from backend.schedule.families.registry import read
from backend.schedule.spec import number
from backend.web.http.request_json import only
from backend.web.services import services

SECONDS = (0.05, 600.0)
NATURAL_S = 5.0


def register(socketio: SocketIO) -> None:
    """Handle the events of searches."""
    socketio.on_event("search", search)
    socketio.on_event("search_stop", stop)


def search(*args: Any) -> dict[str, Any]:
    """{"spec": {..}, "seconds": 5}: search for an order of a sought family; `search` messages tell of it."""
    if len(args) != 1:
        raise SpecError("search", len(args), "search takes one object with spec, seconds")
    data = only(args[0], ("spec", "seconds"), "search")
    seconds = number("seconds", data.get("seconds", NATURAL_S), *SECONDS)
    spec = read(data.get("spec", {})).with_(effort=None)
    return {"ok": True, "id": services().searches.start(_viewer(), spec, seconds).id}


def stop(*_: Any) -> dict[str, Any]:
    """End this page's search; its last message has the best order so far."""
    return {"ok": True, "stopped": services().searches.stop(_viewer())}


def _viewer() -> str:
    return str(flask.request.sid)  # type: ignore[attr-defined]  # put there by Flask-SocketIO
