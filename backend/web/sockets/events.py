"""Socket events: a page watches runs, and the cluster that they run on. Answers go back in the ack, errors in the shape
that the routes have."""

from __future__ import annotations

from typing import Any

import flask
from engineio.packet import MESSAGE, Packet
from flask_socketio import SocketIO

from backend.runs.run_log import Part
from backend.schedule.errors import SpecError
from backend.web.http.errors import ApiError, shape_of
from backend.web.http.request_json import only
from backend.web.services import services
from backend.web.sockets.run_snapshot import rows_of

MOST_SEQ = 2**53


class Sockets:
    """The feed's transport: Socket.IO on gevent."""

    def __init__(self, socketio: SocketIO) -> None:
        self._socketio = socketio

    def idle(self, viewer: str) -> bool:
        """Whether nothing waits in the viewer's own queue: its writer has handed all to the network."""
        server = self._socketio.server
        socket = server.eio.sockets.get(server.manager.eio_sid_from_sid(viewer, "/"))
        return socket is not None and bool(socket.queue.qsize() == 0)

    def send(self, viewers: list[str], part: Part) -> None:
        """Queue a piece of a run's log for the viewers."""
        self.tell(viewers, "run", part.text)

    def tell(self, viewers: list[str], event: str, text: str) -> None:
        """Queue a message for the viewers: one packet for all, its JSON made once."""
        server = self._socketio.server
        packet = Packet(MESSAGE, f'2["{event}",{text}]')  # 2: an event, of the default namespace
        for viewer in viewers:
            server.eio.send_packet(server.manager.eio_sid_from_sid(viewer, "/"), packet)


def register(socketio: SocketIO) -> None:
    """Handle the events of pages."""
    socketio.on_event("watch", watch)
    socketio.on_event("unwatch", unwatch)
    socketio.on_event("watch_cluster", watch_cluster)
    socketio.on_event("unwatch_cluster", unwatch_cluster)
    socketio.on_event("disconnect", leave)
    socketio.on_event("*", refuse)
    socketio.on_error_default(lambda error: {"error": shape_of(error)[1]})


def watch(*args: Any) -> dict[str, Any]:
    """{"run": ID, "since": seq, "rows": "ops,bytes,messages"}: send everything after `since`, then what comes; of rows
    only the ops, unless it is said."""
    data = _payload("watch", args, ("run", "since", "rows"))
    since = data.get("since", 0)
    if type(since) is not int or not 0 <= since <= MOST_SEQ:
        raise SpecError("since", since, "since must be the number of an event, 0 for all", nearest=0)
    run = services().runs.get(_run_id(data))
    services().feed.watch(_viewer(), run, since, rows_of(data.get("rows", "ops")))
    return {"ok": True, "seq": run.log.seq}


def unwatch(*args: Any) -> dict[str, Any]:
    """{"run": ID}: send no more of this run."""
    data = _payload("unwatch", args, ("run",))
    services().feed.unwatch(_viewer(), _run_id(data))
    return {"ok": True}


def watch_cluster(*_: Any) -> dict[str, Any]:
    """Send how the cluster is, now and whenever that changes."""
    services().cluster.watch(_viewer())
    return {"ok": True}


def unwatch_cluster(*_: Any) -> dict[str, Any]:
    """Send no more of the cluster."""
    services().cluster.drop(_viewer())
    return {"ok": True}


def leave(*_: Any) -> None:
    """The page has gone."""
    services().feed.drop(_viewer())
    services().cluster.drop(_viewer())
    services().searches.drop(_viewer())


def refuse(event: Any, *_: Any) -> dict[str, Any]:
    """An event that nobody knows."""
    message = "There are the events watch, unwatch, watch_cluster, unwatch_cluster, search and search_stop."
    raise ApiError(400, "event", event, message)


def _payload(event: str, args: tuple[Any, ...], known: tuple[str, ...]) -> dict[str, Any]:
    if len(args) != 1:
        raise SpecError(event, len(args), f"{event} takes one object with {', '.join(known)}")
    return only(args[0], known, event)


def _run_id(data: dict[str, Any]) -> str:
    run_id = data.get("run")
    if not isinstance(run_id, str):
        raise SpecError("run", run_id, "run must be the id of a run")
    return run_id


def _viewer() -> str:
    return str(flask.request.sid)  # type: ignore[attr-defined]  # put there by Flask-SocketIO
