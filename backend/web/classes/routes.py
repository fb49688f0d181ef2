"""Routes of classes: their pages, opening and joining one, the QR code, the answers as a file, and deleting."""

from __future__ import annotations

import csv
import io
import re
from datetime import UTC, datetime
from typing import Any

import segno
from flask import Blueprint, Response, jsonify, make_response, redirect, render_template, request

from backend import __version__
from backend.access.addresses import reachable_base
from backend.classes.classroom import Classroom
from backend.classes.codes import code_of
from backend.classes.store import StoredAnswer
from backend.errors import RequestError, message
from backend.jobs.strict_json import only
from backend.lessons.lesson import LANGUAGES
from backend.web.classes.cookies import give_key, give_secret, leader_key, member_secret, take_key, take_secret
from backend.web.classes.events import not_in_class
from backend.web.http import access
from backend.web.http.bundle import entry, preloads
from backend.web.http.clients import client_of
from backend.web.http.request_body import read_object
from backend.web.services import services

classes = Blueprint("classes", __name__)
A_CLASS, A_MEMBER = message("classes.a_class", "a class"), message("classes.a_member", "a student")
FORMULA = re.compile(r"[=+\-@\t\r\n＝＋－＠]")  # with which what spreadsheets compute begins
NUMBER = re.compile(r"-?[0-9.]+(?:e[+-]?[0-9]+)?", re.ASCII)
COLUMNS = ("question", "round", "kind", "text", "student", "name", "answer", "right", "time")


@classes.get("/class")
def show_classes() -> Response:
    """Return the page to open a class, or to type the code of one."""
    return _page("home", None)


@classes.get("/class/<code>")
def show_class(code: str) -> Response:
    """Return the page to join a class."""
    try:
        room = _room(code)
    except RequestError as error:
        if error.kind not in ("unknown", "bad"):
            raise
        return _page("home", None, missing=code[:40], status=404)
    return _page("join", room, joined=services().classes.member(room, member_secret(request, room.code)) is not None)


@classes.get("/class/<code>/lead")
def show_lead(code: str) -> Response:
    """Return the leader's page; a link with the key gives the browser its cookie."""
    asked = request.args.get("key")
    try:
        room = _room(code)
        if asked is not None and services().classes.leads(room, asked):
            answer = make_response(redirect(f"/class/{room.code}/lead", 302))
            give_key(answer, request, room, asked)
            return answer
        _leads(room)
    except RequestError as error:
        if error.kind not in ("unknown", "bad", "denied"):
            raise
        return _page("home", None, missing=code[:40], denied=error.kind == "denied", status=404)
    return _page("lead", room, key=leader_key(request, room.code))


@classes.post("/api/classes")
def open_class() -> tuple[Response, int]:
    """Open a class, {"title", "hours"}; the browser that opens it leads it."""
    body = only(read_object(request), ("title", "hours"), A_CLASS)
    room, key = services().classes.open(client_of(request), body.get("title", ""), body.get("hours", 24))
    lead = f"/class/{room.code}/lead?key={key}"
    answer = jsonify(code=room.code, url=f"/class/{room.code}", lead=lead, expires=room.expires)
    give_key(answer, request, room, key)
    access.record("open class", room.code)
    return answer, 201


@classes.get("/api/classes/<code>")
def describe_class(code: str) -> Response:
    """Return what somebody with its code may know of a class."""
    room, own = _room(code), services().classes
    joined = own.member(room, member_secret(request, room.code)) is not None
    leads = own.leads(room, leader_key(request, room.code))
    return jsonify(title=room.settings["title"], locked=room.settings["locked"], joined=joined, leads=leads)


@classes.post("/api/classes/<code>/members")
def join_class(code: str) -> tuple[Response, int]:
    """Join a class, {"name"}; a browser that has joined it already changes its name."""
    body, own = only(read_object(request), ("name",), A_MEMBER), services().classes
    room = _room(code)
    member = own.member(room, member_secret(request, room.code))
    if member is not None:
        own.rename(room, member, body.get("name"))
        return jsonify(number=member.number), 200
    member, secret = own.join(room, body.get("name"))
    answer = jsonify(number=member.number)
    give_secret(answer, request, room, secret)
    return answer, 201


@classes.delete("/api/classes/<code>/members/me")
def leave_class(code: str) -> Response:
    """Leave a class: the name and the answers of this browser are deleted."""
    room, own = _room(code), services().classes
    member = own.member(room, member_secret(request, room.code))
    if member is None:
        raise not_in_class()
    own.remove(room, member.number)
    answer = make_response("", 204)
    take_secret(answer, request, room.code)
    return answer


@classes.delete("/api/classes/<code>/members/<int:number>")
def remove_member(code: str, number: int) -> tuple[str, int]:
    """Remove a member with its name and answers."""
    room = _leads(_room(code))
    services().classes.remove(room, number)
    return "", 204


@classes.get("/api/classes/<code>/answers.csv")
def export_answers(code: str) -> Response:
    """Return every answer of every round, one a line; names only where members have given one."""
    room = _leads(_room(code))
    questions, answers = services().classes.export(room)
    out = io.StringIO()
    lines = csv.writer(out)
    lines.writerow(COLUMNS)
    lines.writerows(_line(room, questions.get(each.question, {}), each) for each in answers)
    headers = {
        "Content-Type": "text/csv; charset=utf-8",
        "Content-Disposition": f'attachment; filename="class-{room.code}.csv"',
        "Cache-Control": "no-store",
    }
    return make_response("\ufeff" + out.getvalue(), 200, headers)  # by the mark spreadsheets know that it is UTF-8


@classes.get("/api/classes/<code>/qr.svg")
def show_qr(code: str) -> Response:
    """Return the address at which students join as a QR code."""
    address = f"{reachable_base(request.host_url, services().config)}class/{code_of(code)}"
    picture = io.BytesIO()  # with the name space that an image needs, other than a part of a page
    segno.make(address, error="m").save(picture, kind="svg", scale=8, border=2, omitsize=True, title=address)
    return make_response(picture.getvalue(), 200, {"Content-Type": "image/svg+xml", "Cache-Control": "no-store"})


@classes.delete("/api/classes/<code>")
def delete_class(code: str) -> Response:
    """Delete a class with all names, answers and views."""
    room = _leads(_room(code))
    services().classes.delete(room)
    access.record("delete class", room.code)
    answer = make_response("", 204)
    take_key(answer, request, room.code)
    take_secret(answer, request, room.code)
    return answer


def _room(code: str) -> Classroom:
    key, secret = leader_key(request, code), member_secret(request, code)
    return services().classes.of_browser(client_of(request), code, key, secret)


def _leads(room: Classroom) -> Classroom:
    if not services().classes.leads(room, leader_key(request, room.code)):
        text = message("classes.needs_key", "Only the leader may do this: open the private link of the class.")
        raise RequestError("key", None, text, kind="denied")
    return room


def _line(room: Classroom, question: dict[str, Any], answer: StoredAnswer) -> list[Any]:
    member = room.members.get(answer.member)
    name = member.name if member is not None else None
    verdict = "" if answer.verdict is None else "yes" if answer.verdict else "no"
    at = datetime.fromtimestamp(answer.created, UTC).isoformat(timespec="seconds")
    texts = (question.get("kind", ""), question.get("text") or question.get("task", ""))
    cells = [answer.question, answer.round, *texts, answer.member, name or "", answer.value, verdict, at]
    return [_cell(cell) for cell in cells]


def _cell(cell: Any) -> Any:
    """Return a cell that a spreadsheet takes for a text, or for a number."""
    is_formula = isinstance(cell, str) and FORMULA.match(cell) and not NUMBER.fullmatch(cell)
    return f"'{cell}" if is_formula else cell


def _page(part: str, room: Classroom | None, status: int = 200, **more: Any) -> Response:
    given = request.args.get("lang", "")
    language = given if given in LANGUAGES else request.accept_languages.best_match(LANGUAGES, LANGUAGES[0])
    base = reachable_base(request.host_url, services().config)
    text = render_template(
        "class.html", part=part, room=room, base=base, language=language, zh=language == "zh", version=__version__,
        script=entry("js", "class"), chunks=preloads("class"), style=entry("css", "class"), **more,
    )  # fmt: skip
    return make_response(text, status, {"Cache-Control": "no-store", "Vary": "Accept-Language, Cookie"})
