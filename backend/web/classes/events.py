"""Socket events of a class: pages enter it, its leader leads, its members answer and report their work."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import flask
from flask_socketio import SocketIO

from backend.access.roles import Role
from backend.classes.classroom import SWITCHES, Classroom, Member
from backend.classes.codes import as_code
from backend.classes.questions import Question, read_answer
from backend.errors import RequestError, message
from backend.jobs.strict_json import only
from backend.tasks.grade import grade
from backend.tasks.task import task_of
from backend.web.classes.cookies import leader_key, member_secret
from backend.web.http.access import require
from backend.web.http.clients import client_of
from backend.web.http.computing import compute
from backend.web.services import services
from backend.web.sockets.client_sockets import current_viewer

GRADED_MS = 100.0
PARTS = ("leader", "member")
Answer = dict[str, Any]
Led = Callable[[Classroom, dict[str, Any]], Answer]


def register(socketio: SocketIO) -> None:
    """Register the handlers of these events."""
    socketio.on_event("class_enter", enter)
    socketio.on_event("class_leave", leave)
    socketio.on_event("class_answer", answer)
    socketio.on_event("class_work", work)
    for event, (keys, act) in LEADS.items():
        socketio.on_event(event, _led(event, keys, act))


def enter(*args: Any) -> Answer:
    """Take a page into a class that it has joined or leads: {"code": CODE, "as": "member"}; the acknowledgement has
    what it is to show now. A browser that leads a class and has joined it too is a leader unless it says otherwise.
    """
    require(Role.VIEW)
    data = _payload("class_enter", args, ("code", "as"))
    classes, part = services().classes, data.get("as", "")
    if part not in ("", *PARTS):
        raise RequestError("as", part, message("classes.part", "as is {choices}", choices=list(PARTS)))
    code = str(data.get("code"))
    key, secret = leader_key(flask.request, code), member_secret(flask.request, code)
    room = classes.of_browser(client_of(flask.request), code, key, secret)
    leads = part != "member" and classes.leads(room, key)
    member = None if leads or part == "leader" else classes.member(room, secret)
    if not leads and member is None:
        raise not_in_class()
    answers = [] if member is None else classes.answers_of(room, member)
    services().class_feed.enter(current_viewer(), room, None if member is None else member.number)
    if current_viewer() not in services().client_sockets:  # it was closed while the answers were read
        services().class_feed.drop(current_viewer())
    return {
        "ok": True,
        "leads": leads,
        "number": None if member is None else member.number,
        "name": None if member is None else member.name,
        "state": room.state(leads),
        "scene": room.scene,
        "answers": {f"{each.question}.{each.round}": each.value for each in answers},
    }


def leave(*_: Any) -> Answer:
    """Take a page out of its class."""
    services().class_feed.drop(current_viewer())
    return {"ok": True}


def answer(*args: Any) -> Answer:
    """Keep a member's answer, {"code", "question", "round", "answer"}; acknowledged once it is in the database."""
    data = _payload("class_answer", args, ("code", "question", "round", "answer"))
    room, member = _member(data)
    classes, given = services().classes, data.get("answer")
    question = classes.asked(room, data.get("question"), data.get("round"))
    if question["kind"] == "build":
        value = classes.computed(room, member.number, lambda: _built(question, given))
    else:
        value = read_answer(question, given)
    classes.answer(room, member.number, question, value)
    return {"ok": True, "answer": value}


def _built(question: Question, order: Any) -> str:
    graded = compute(grade, task_of(question["task"]), order, None, ms=GRADED_MS)
    return f"{graded.stars}@{graded.score.makespan:.6g}"


def work(*args: Any) -> Answer:
    """Take what a member's page shows and how far it is, {"code", "view", "item", "state"}."""
    data = _payload("class_work", args, ("code", "view", "item", "state"))
    services().classes.work(*_member(data), data)
    return {"ok": True}


def _scene(room: Classroom, data: dict[str, Any]) -> Answer:
    viewer = current_viewer()
    services().classes.show(room, data.get("scene"), lambda seq: services().class_feed.has_scene(viewer, seq))
    return {}


def _set(room: Classroom, data: dict[str, Any]) -> Answer:
    services().classes.change(room, data)
    return {"state": room.state(leads=True)}


def _ask(room: Classroom, data: dict[str, Any]) -> Answer:
    return {"number": services().classes.ask(room, data.get("question"))}


def _again(room: Classroom, _: dict[str, Any]) -> Answer:
    return {"round": services().classes.ask_again(room)}


def _close(room: Classroom, _: dict[str, Any]) -> Answer:
    services().classes.close(room)
    return {}


def _reveal(room: Classroom, data: dict[str, Any]) -> Answer:
    services().classes.reveal(room, data)
    return {}


def _end(room: Classroom, _: dict[str, Any]) -> Answer:
    services().classes.end_question(room)
    return {}


LEADS: dict[str, tuple[tuple[str, ...], Led]] = {
    "class_scene": (("scene",), _scene),
    "class_set": ((*SWITCHES, "pace"), _set),
    "class_ask": (("question",), _ask),
    "class_again": ((), _again),
    "class_close": ((), _close),
    "class_reveal": (("right", "source", "note"), _reveal),
    "class_end_question": ((), _end),
}
EVENTS = ("class_enter", "class_leave", "class_answer", "class_work", *LEADS)


def _led(event: str, keys: tuple[str, ...], act: Led) -> Callable[..., Answer]:
    """Return a handler of an event that only a page which leads the class may send."""

    def handle(*args: Any) -> Answer:
        data = _payload(event, args, ("code", *keys))
        room, number = _seat(data)
        if number is not None:
            raise RequestError("code", room.code, message("classes.not_leader", "Only the leader may do this."),
                               kind="denied")  # fmt: skip
        return {"ok": True} | act(room, data)

    return handle


def _member(data: dict[str, Any]) -> tuple[Classroom, Member]:
    room, number = _seat(data)
    member = None if number is None else room.members.get(number)
    if member is None:
        raise not_in_class()
    return room, member


def _seat(data: dict[str, Any]) -> tuple[Classroom, int | None]:
    """Return the class that this page has entered, and its number there."""
    seat = services().class_feed.seat_of(current_viewer())
    if seat is None or seat[0].code != as_code(data.get("code")) or seat[0].over:
        raise not_in_class()
    return seat


def not_in_class() -> RequestError:
    """Return the error of a page that is in no class, or in another."""
    text = message("classes.not_in_class", "This page is not in the class: open its address and join.")
    return RequestError("code", None, text, kind="denied")


def _payload(event: str, args: tuple[Any, ...], known: tuple[str, ...]) -> dict[str, Any]:
    if len(args) != 1:
        why = message("web.takes_one_object", "{event} takes one object with {keys}", event=event, keys=list(known))
        raise RequestError(event, len(args), why)
    return only(args[0], known, event)
