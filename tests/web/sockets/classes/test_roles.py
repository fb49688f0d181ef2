"""Who may do what in a class over HTTP and sockets: its leader, its members, and everybody else."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import dataclass, field
from typing import Any

import gevent
import pytest
from flask import Flask
from flask.testing import FlaskClient
from flask_socketio import SocketIOTestClient

from backend.config import Config
from backend.schedule.order.order_codec import pack
from backend.tasks.task import tasks
from backend.web.classes import events
from backend.web.classes.events import LEADS
from tests.conftest import MakeApp, error_of
from tests.web.sockets.classes.together import CHOICE

TASK = "finish-1f1b"


class Sent:
    """A transport that keeps what each page is sent."""

    def __init__(self) -> None:
        self.texts: dict[str, list[str]] = {}

    def idle(self, viewer: str) -> bool:
        return True

    def emit(self, viewers: list[str], event: str, text: str) -> None:
        for viewer in viewers:
            self.texts.setdefault(viewer, []).append(f"{event} {text}")


@dataclass
class Browser:
    """A browser with its cookies, and the socket of its page."""

    app: Flask
    http: FlaskClient = field(init=False)
    page: SocketIOTestClient | None = None
    told: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.http = self.app.test_client()

    def ask(self, event: str, **payload: Any) -> dict[str, Any]:
        """Send an event, from a page that is opened with the browser's cookies of the first time."""
        if self.page is None:
            self.page = self.app.extensions["socketio"].test_client(self.app, flask_test_client=self.http)
        answer: dict[str, Any] = self.page.emit(event, payload, callback=True)
        self.told.append(answer)
        return answer

    def refused(self, event: str, **payload: Any) -> str:
        answer = self.ask(event, **payload)
        assert set(answer) == {"error"}, answer
        return str(answer["error"]["code"])


@dataclass
class Class:
    """A class with its leader, two members, one of whom has a name, and a stranger. All three pages have entered."""

    app: Flask
    code: str
    key: str
    leader: Browser
    ada: Browser
    other: Browser
    stranger: Browser
    sent: Sent

    def pump(self) -> None:
        """Send the pages what they have not seen."""
        feed = self.app.extensions["bubbleline"].class_feed
        for audience in feed._audiences.values():
            feed.notify(audience.room.code)
        while feed.pump(9e9) is not None:
            pass

    def sent_to(self, browser: Browser) -> str:
        """All that a browser's page was sent, acknowledgements too."""
        return json.dumps(browser.told) + "\n".join(
            text for viewer, texts in self.sent.texts.items() for text in texts if viewer == sid_of(self.app, browser)
        )


def sid_of(app: Flask, browser: Browser) -> str:
    assert browser.page is not None
    manager = app.extensions["socketio"].server.manager
    return str(manager.sid_from_eio_sid(browser.page.eio_sid, "/"))


def a_class(app: Flask) -> Class:
    """Open a class and have its browsers enter."""
    parts = app.extensions["bubbleline"]
    parts.classes.rooms._loops = [gevent.spawn(lambda: None)]  # the tests call what is done now and then
    sent = parts.class_feed._transport = Sent()
    parts.class_feed._loop = "the tests pump by hand"
    leader, ada, other, stranger = (Browser(app) for _ in range(4))
    made = leader.http.post("/api/classes", json={"title": "Pipelines", "hours": 2}).get_json()
    key = made["lead"].partition("key=")[2]
    for browser, name in ((ada, "Ada"), (other, None)):
        assert browser.http.post(f"/api/classes/{made['code']}/members", json={"name": name}).status_code == 201
    for browser in (leader, ada, other):
        assert browser.ask("class_enter", code=made["code"])["ok"] is True
    return Class(app, made["code"], key, leader, ada, other, stranger, sent)


@pytest.fixture
def taught(app: Flask) -> Class:
    return a_class(app)


LEADING: dict[str, dict[str, Any]] = {
    "class_scene": {"scene": {"page": "/", "query": "?p=4", "place": ""}},
    "class_set": {"follow": True, "paused": False, "locked": False, "pace": [1, 2]},
    "class_ask": {"question": CHOICE},
    "class_again": {},
    "class_close": {},
    "class_reveal": {"right": "1", "source": "simulation", "note": "So."},
    "class_end_question": {},
}


def test_only_the_leaders_page_may_send_what_leads(taught: Class):
    assert LEADING.keys() == LEADS.keys()
    assert taught.stranger.refused("class_enter", code=taught.code) == "classes.not_in_class"
    assert taught.ada.refused("class_enter", code=taught.code, **{"as": "leader"}) == "classes.not_in_class"
    for event, payload in LEADING.items():
        assert taught.stranger.refused(event, code=taught.code, **payload) == "classes.not_in_class"
        assert taught.ada.refused(event, code=taught.code, **payload) == "classes.not_leader"
        assert taught.leader.ask(event, code=taught.code, **payload)["ok"] is True, event
        assert "unknown_key" in taught.leader.refused(event, code=taught.code, more=1, **payload)
        assert taught.leader.refused(event, code="BBBBBB", **payload) == "classes.not_in_class"
    for event in ("class_answer", "class_work"):
        assert taught.leader.refused(event, code=taught.code) == "classes.not_in_class", "it is no student"
    refused = taught.stranger.ask("class_join", code=taught.code)["error"]
    assert {"class_enter", "class_answer", *LEADS} <= set(refused["params"]["events"])


def test_no_message_to_a_student_has_anothers_name_answer_or_what_is_right_or_the_key(taught: Class):
    secret = CHOICE | {"text": "Which?", "right": "1"}
    taught.leader.ask("class_ask", code=taught.code, question=secret)
    room = taught.app.extensions["bubbleline"].classes.find(taught.code)
    room.settings["question"]["right"] = "what is right"
    assert taught.other.ask("class_answer", code=taught.code, question=1, round=1, answer=0) == {
        "ok": True, "answer": "0"
    }  # fmt: skip
    room.members[2].view = {"page": "/", "query": "?what=another-does"}
    room.touch(room.members[2])
    taught.app.extensions["bubbleline"].classes.rooms._catch_up()
    taught.pump()
    again = Browser(taught.app)
    again.http = taught.ada.http
    assert again.ask("class_enter", code=taught.code)["answers"] == {}
    mine = taught.sent_to(taught.ada) + taught.sent_to(again)
    mine += "".join(
        taught.ada.http.get(f"/api/classes/{taught.code}{path}").get_data(as_text=True)
        for path in ("", "/answers.csv", "/qr.svg")
    )
    leaders = taught.sent_to(taught.leader)
    for secret_text in ("another-does", "what is right", '"counts":[["0",1]]', '"Ada"'):
        assert secret_text in leaders, secret_text
    for secret_text in ("another-does", "what is right", "counts", "class_room", taught.key, room.key, "member_secret"):
        assert secret_text not in mine, secret_text
    assert not re.search(r"[0-9a-f]{64}", mine), "no digest either"
    assert '"Ada"' not in taught.sent_to(taught.other)
    assert taught.key not in taught.sent_to(taught.leader)


def test_routes_of_a_leader_take_its_key_alone(taught: Class):
    at = f"/api/classes/{taught.code}"
    for browser in (taught.ada, taught.stranger):
        browser.http.set_cookie(f"bubbleline-lead-{taught.code}", "wrong")
        for method, path in (("GET", "/answers.csv"), ("DELETE", "/members/2"), ("DELETE", "")):
            refused = browser.http.open(at + path, method=method)
            assert (refused.status_code, error_of(refused)["code"]) == (403, "classes.needs_key")
    assert error_of(taught.stranger.http.delete(f"{at}/members/me"))["code"] == "classes.not_in_class"
    assert taught.ada.http.get(at).get_json() == {
        "title": "Pipelines", "locked": False, "joined": True, "leads": False
    }  # fmt: skip
    assert taught.stranger.http.get(at).get_json()["joined"] is False
    moved = taught.stranger.http.get(f"/class/{taught.code.lower()}/lead?key={taught.key}")
    assert (moved.status_code, moved.headers["Location"]) == (302, f"/class/{taught.code}/lead")
    (cookie,) = [each for each in moved.headers.getlist("Set-Cookie") if "-lead-" in each]
    assert {"HttpOnly", "SameSite=Lax"} <= set(cookie.split("; "))
    assert taught.stranger.http.get(at).get_json()["leads"] is True
    assert taught.leader.http.delete(f"{at}/members/2").status_code == 204
    assert taught.other.refused("class_work", code=taught.code) == "classes.not_in_class"
    other_site = taught.leader.http.delete(at, headers={"Origin": "https://evil.example"})
    assert other_site.status_code == 403
    gone = taught.leader.http.delete(at)
    assert gone.status_code == 204
    assert len([each for each in gone.headers.getlist("Set-Cookie") if "Max-Age=0" in each]) == 2
    assert error_of(taught.leader.http.get(at))["code"] == "classes.unknown"
    taught.pump()
    assert '"over":true' in taught.sent_to(taught.ada)


def test_a_browser_joins_once_changes_its_name_and_leaves_with_all_it_has_given(taught: Class):
    at = f"/api/classes/{taught.code}/members"
    typed = f"/api/classes/{taught.code[:3].lower()}-{taught.code[3:]}/members"
    renamed = taught.ada.http.post(typed, json={"name": "Zoë"})
    assert (renamed.status_code, renamed.get_json()) == (200, {"number": 1})
    for name in ("<b>x</b>", "x" * 25, "a\u202eb", 7):
        refused = taught.stranger.http.post(at, json={"name": name})
        assert (refused.status_code, error_of(refused)["field"]) == (400, "name")
    assert error_of(taught.stranger.http.post(at, json={"role": "leader"}))["field"] == "role"
    assert taught.leader.http.post(at, json={}).get_json() == {"number": 3}, "who leads may look as a student does"
    taught.leader.ask("class_ask", code=taught.code, question=CHOICE)
    taught.ada.ask("class_answer", code=taught.code, question=1, round=1, answer="1")
    for browser in (taught.ada, taught.leader):
        assert browser.http.delete(f"{at}/me").status_code == 204
    assert taught.leader.http.get(f"/api/classes/{taught.code}").get_json()["leads"] is True
    assert taught.leader.http.get(f"/api/classes/{taught.code}/answers.csv").get_data(as_text=True).count("\n") == 1
    elsewhere = taught.other.http.post("/api/classes", json={}).get_json()["code"]
    secret = taught.other.http.get_cookie(f"bubbleline-class-{taught.code}").value
    taught.stranger.http.set_cookie(f"bubbleline-class-{elsewhere}", secret)
    assert taught.stranger.http.get(f"/api/classes/{elsewhere}").get_json()["joined"] is False
    assert taught.stranger.refused("class_enter", code=elsewhere) == "classes.not_in_class"
    assert taught.leader.ask("class_set", code=taught.code, locked=True)["state"]["locked"] is True
    locked = taught.stranger.http.post(at, json={"name": "Eve"})
    assert (locked.status_code, error_of(locked)["code"]) == (403, "classes.locked")


def test_answers_count_once_and_not_after_the_question_is_closed(taught: Class, monkeypatch: pytest.MonkeyPatch):
    answer = {"code": taught.code, "question": 1, "round": 1}
    assert taught.ada.refused("class_answer", **answer, answer="1") == "classes.too_late"
    taught.leader.ask("class_ask", code=taught.code, question=CHOICE)
    for value in ("0", "1", "1"):
        assert taught.ada.ask("class_answer", **answer, answer=value)["ok"] is True
    assert taught.ada.refused("class_answer", **answer, answer="7") == "classes.answer_is_option"
    again = Browser(taught.app)
    again.http = taught.ada.http
    entered = again.ask("class_enter", code=taught.code)
    assert (entered["number"], entered["name"], entered["answers"]) == (1, "Ada", {"1.1": "1"})
    assert again.ask("class_answer", **answer, answer="1")["ok"] is True
    assert taught.leader.ask("class_reveal", code=taught.code)["ok"] is True
    assert taught.ada.refused("class_answer", **answer, answer="1") == "classes.too_late"
    taught.pump()
    assert '"tally":[["1",1]],"answered":1' in taught.sent_to(taught.other)
    assert taught.leader.ask("class_again", code=taught.code) == {"ok": True, "round": 2}
    assert taught.ada.refused("class_answer", **answer, answer="1") == "classes.too_late"

    monkeypatch.setattr(events, "compute", lambda work, *given, ms: work(*given))
    build = {"kind": "build", "task": TASK}
    assert taught.leader.ask("class_ask", code=taught.code, question=build)["number"] == 2
    start = pack(tasks()[TASK].position.order())
    built = {"code": taught.code, "question": 2, "round": 1}
    assert set(taught.ada.ask("class_answer", **built, answer=start)) == {"error"}, "it is not complete"
    monkeypatch.setattr(events, "_built", lambda question, order: f"2@{order}")
    assert taught.ada.ask("class_answer", **built, answer="18") == {"ok": True, "answer": "2@18"}
    assert taught.ada.refused("class_answer", **(built | {"question": 3}), answer="18") == "classes.too_late"


def test_no_cell_of_the_exported_answers_is_a_formula(taught: Class):
    taught.ada.http.post(f"/api/classes/{taught.code}/members", json={"name": "=1+1"})
    for text, value in (("+cmd|' /C calc'!A0", "-3.5"), ('@SUM(A1), "x"', "2")):
        taught.leader.ask(
            "class_ask", code=taught.code, question={"kind": "predict", "text": text, "right": "2", "unit": "="}
        )
        number = taught.leader.told[-1]["number"]
        taught.ada.ask("class_answer", code=taught.code, question=number, round=1, answer=value)
    sent = taught.leader.http.get(f"/api/classes/{taught.code}/answers.csv")
    assert sent.headers["Content-Disposition"] == f'attachment; filename="class-{taught.code}.csv"'
    head, *rows = csv.reader(io.StringIO(sent.get_data(as_text=True).removeprefix("\ufeff")))
    assert head == ["question", "round", "kind", "text", "student", "name", "answer", "right", "time"]
    assert [row[:8] for row in rows] == [
        ["1", "1", "predict", "'+cmd|' /C calc'!A0", "1", "'=1+1", "-3.5", "no"],
        ["2", "1", "predict", "'@SUM(A1), \"x\"", "1", "'=1+1", "2", "yes"],
    ]  # fmt: skip


@pytest.mark.parametrize(
    "payload", [(), (None,), ([],), ({}, {}), ({"code": 7},), ({"code": ["x"]},), ({"code": "x" * 9000},),
                ({"code": "BBBBBB", "as": "admin"},), ({"code": "BBBBBB", "key": "x"},)],
)  # fmt: skip
def test_any_payload_is_acknowledged_with_an_error(taught: Class, payload: tuple[Any, ...]):
    for event in ("class_enter", "class_answer", "class_work", *LEADS):
        answer = taught.leader.page.emit(event, *payload, callback=True)
        assert set(answer) == {"error"}, event
        assert answer["error"]["code"] != "http.server_error", event
        assert len(json.dumps(answer)) < 1500
    assert taught.leader.page.emit("class_leave", *payload, callback=True) == {"ok": True}
    assert taught.leader.refused("class_close", code=taught.code) == "classes.not_in_class"


def test_limits_of_a_server_are_told_with_the_status_of_their_kind(make_app: MakeApp, config: Config):
    app = make_app(classes=1, class_members=2, class_lookups_per_hour=6)
    taught = a_class(app)
    full = taught.stranger.http.post("/api/classes", json={})
    assert (full.status_code, error_of(full)["limit"]) == (503, 1)
    full = taught.stranger.http.post(f"/api/classes/{taught.code}/members", json={})
    assert (full.status_code, error_of(full)["code"]) == (503, "classes.full_class")
    taught.stranger.http.set_cookie("bubbleline-class-BBBBBB", "made up")
    tried = [taught.stranger.http.get("/api/classes/BBBBBB").status_code for _ in range(4)]
    assert tried == [404, 404, 404, 429], "two members and one who came too late have been counted"
    assert int(taught.stranger.http.get(f"/api/classes/{taught.code}").headers["Retry-After"]) > 0
    assert taught.stranger.refused("class_enter", code=taught.code) == "classes.too_often"
    assert taught.ada.http.get(f"/api/classes/{taught.code}").status_code == 200
    largest = {"scene": {"page": "/", "query": "?" + "a" * 7999}}
    assert taught.leader.ask("class_scene", code=taught.code, **largest) == {"ok": True}
    assert len(json.dumps(["class_scene", {"code": taught.code} | largest])) < config.socket_kb * 1024


def test_who_may_only_view_joins_and_answers_and_opens_no_class(make_app: MakeApp):
    app = make_app(proxies=1, token="token-of-the-class", admin_token="token-of-its-teacher")
    viewer = app.test_client()
    refused = viewer.post("/api/classes", json={})
    assert refused.status_code in (401, 403)
    opened = app.test_client().post("/api/classes", json={}, headers={"Authorization": "Bearer token-of-the-class"})
    code = opened.get_json()["code"]
    assert viewer.post(f"/api/classes/{code}/members", json={}).status_code == 201
    assert viewer.delete(f"/api/classes/{code}").status_code == 403
    assert viewer.delete(f"/api/classes/{code}/members/me").status_code == 204


def test_a_page_that_closes_while_it_enters_is_not_kept(taught: Class, monkeypatch: pytest.MonkeyPatch):
    parts = taught.app.extensions["bubbleline"]
    before = parts.class_feed.viewers()
    page = Browser(taught.app)
    page.http = taught.ada.http
    plain = parts.classes.answers_of

    def close_meanwhile(*args: Any) -> Any:
        parts.client_sockets.close(sid_of(taught.app, page))
        return plain(*args)

    page.ask("class_leave")
    monkeypatch.setattr(parts.classes, "answers_of", close_meanwhile)
    page.ask("class_enter", code=taught.code)
    assert parts.class_feed.viewers() == before
    taught.ada.page.disconnect()
    assert parts.class_feed.viewers() == before - 1
