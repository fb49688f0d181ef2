"""Socket events of pages that watch runs and the cluster. Answers, and errors in the shape of the routes, are in the
acknowledgement."""

from __future__ import annotations

from typing import Any

import flask
from engineio.packet import MESSAGE, Packet
from flask_socketio import ConnectionRefusedError as SocketRefusedError
from flask_socketio import SocketIO

from backend.errors import RequestError, message
from backend.jobs.strict_json import only
from backend.runs.run_log import Part
from backend.schedule.interop.measured_rows import TIMES
from backend.web.classes import events as class_events
from backend.web.http.clients import client_of
from backend.web.http.errors import ApiError, shape_of
from backend.web.services import services
from backend.web.sockets.client_sockets import current_viewer
from backend.web.sockets.run_snapshot import rows_of

MOST_SEQ = 2**53


class Sockets:
    """The feed's transport: Socket.IO on gevent."""

    def __init__(self, socketio: SocketIO) -> None:
        self._socketio = socketio

    def idle(self, viewer: str) -> bool:
        """Return whether the network has taken all messages to the viewer."""
        socket = self._socket(viewer)
        return socket is not None and socket.queue.qsize() == 0 and not _is_busy(socket)

    def send(self, viewers: list[str], part: Part) -> None:
        """Queue a piece of a run's log for the viewers."""
        self.emit(viewers, "run", part.text)

    def emit(self, viewers: list[str], event: str, text: str) -> None:
        """Send a message to the viewers: one packet for all, from JSON that was encoded once. Where nothing waits
        before it, the network takes it at once: through the queue of each socket and the greenlet that empties it, a
        message costs the server several times as much.
        """
        packet = Packet(MESSAGE, f'2["{event}",{text}]')  # 2: an event, of the default namespace
        encoded = packet.encode()
        for viewer in viewers:
            socket = self._socket(viewer)
            if socket is None or socket.closed:
                continue
            line = getattr(socket, "line", None)
            if line is None or socket.queue.qsize() or not line.send_now(encoded):
                socket.send(packet)

    def _socket(self, viewer: str) -> Any:
        """Return the Engine.IO socket of a viewer, None where it has gone."""
        server = self._socketio.server
        return server.eio.sockets.get(server.manager.eio_sid_from_sid(viewer, "/"))


def _is_busy(socket: Any) -> bool:
    line = getattr(socket, "line", None)  # none in tests without a network
    return line is not None and bool(line.busy)


def register(socketio: SocketIO) -> None:
    """Register the handlers of these events."""
    socketio.on_event("connect", enter)
    socketio.on_event("watch", watch)
    socketio.on_event("unwatch", unwatch)
    socketio.on_event("watch_cluster", watch_cluster)
    socketio.on_event("unwatch_cluster", unwatch_cluster)
    socketio.on_event("disconnect", leave)
    socketio.on_event("*", refuse)
    socketio.on_error_default(lambda error: {"error": shape_of(error)[1]})


def enter(*_: Any) -> None:
    """Count a connection of a client; the client learns why one is refused."""
    try:
        services().client_sockets.open(current_viewer(), client_of(flask.request))
    except RequestError as error:
        raise SocketRefusedError(str(error.message), {"error": shape_of(error)[1]}) from None


def watch(*args: Any) -> dict[str, Any]:
    """Send the entries after `since` and every further one: {"run": ID, "since": seq, "rows":
    "ops,copies,bytes,messages"}; without `rows`, ops and copies.
    """
    data = _payload("watch", args, ("run", "since", "rows"))
    since = data.get("since", 0)
    if type(since) is not int or not 0 <= since <= MOST_SEQ:
        why = message("runs.since", "since must be the number of an event, 0 for all")
        raise RequestError("since", since, why, nearest=0)
    run = services().runs.get(_run_id(data), since)
    services().feed.watch(current_viewer(), run, since, rows_of(data.get("rows", ",".join(TIMES))))
    return {"ok": True, "seq": run.log.seq}


def unwatch(*args: Any) -> dict[str, Any]:
    """Stop sending the run {"run": ID}."""
    data = _payload("unwatch", args, ("run",))
    services().feed.unwatch(current_viewer(), _run_id(data))
    return {"ok": True}


def watch_cluster(*_: Any) -> dict[str, Any]:
    """Send the state of the cluster now and after every change."""
    services().cluster.watch(current_viewer())
    return {"ok": True}


def unwatch_cluster(*_: Any) -> dict[str, Any]:
    """Stop sending the cluster."""
    services().cluster.drop(current_viewer())
    return {"ok": True}


def leave(*_: Any) -> None:
    """Remove a page that has disconnected."""
    services().client_sockets.close(current_viewer())
    services().feed.drop(current_viewer())
    services().cluster.drop(current_viewer())
    services().searches.drop(current_viewer())
    services().class_feed.drop(current_viewer())


def refuse(event: Any, *_: Any) -> dict[str, Any]:
    """Refuse an unknown event."""
    why = message(
        "runs.socket_events",
        "There are the events {events}.",
        events=["watch", "unwatch", "watch_cluster", "unwatch_cluster", "search", "search_stop", *class_events.EVENTS],
    )
    raise ApiError(400, "event", event, why)


def _payload(event: str, args: tuple[Any, ...], known: tuple[str, ...]) -> dict[str, Any]:
    if len(args) != 1:
        why = message("runs.one_object", "{event} takes one object with {keys}", event=event, keys=list(known))
        raise RequestError(event, len(args), why)
    return only(args[0], known, event)


def _run_id(data: dict[str, Any]) -> str:
    run_id = data.get("run")
    if not isinstance(run_id, str):
        raise RequestError("run", run_id, message("runs.run_id", "run must be the id of a run"))
    return run_id
