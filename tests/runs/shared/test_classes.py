"""A class over several processes and machines, with a Redis that dies and comes back."""

from __future__ import annotations

import socket
from typing import Any

import gevent
import requests

from backend.web.shared.class_channel import ClassChannel
from backend.web.shared.connection import close, connect
from tests.conftest import PATIENCE_S, Server, until
from tests.support.servers.redis_server import RedisServer
from tests.support.web_pages import Client
from tests.web.sockets.classes.together import CHOICE


class Seat:
    """A page in a class: what it was sent last, and the students as its leader sees them."""

    def __init__(self, server: Server, browser: requests.Session, code: str) -> None:
        self.code = code
        self.state: dict[str, Any] = {}
        self.scene: dict[str, Any] | None = None
        self.students: dict[int, dict[str, Any]] = {}
        self.tally: dict[str, Any] | None = None
        self.over = False
        self.io = Client(reconnection=False)
        self.io.on("class", self._take)
        self.io.on("class_room", self._take_room)
        cookies = "; ".join(f"{each.name}={each.value}" for each in browser.cookies)
        self.io.connect(server.url, headers={"Cookie": cookies}, transports=["websocket"])
        entered = self.ask("class_enter")
        self.state, self.scene = entered["state"], entered["scene"]

    def ask(self, event: str, **payload: Any) -> dict[str, Any]:
        answer: dict[str, Any] = self.io.call(event, {"code": self.code} | payload, timeout=PATIENCE_S)
        assert "error" not in answer, answer
        return answer

    def _take(self, told: dict[str, Any]) -> None:
        self.state, self.scene = told.get("state", self.state), told.get("scene", self.scene)
        self.over = self.over or told.get("over", False)

    def _take_room(self, told: dict[str, Any]) -> None:
        self.students |= {row["number"]: row for row in told["members"]}
        self.tally = told["tally"]

    def asked(self) -> int | None:
        return self.state["question"] and self.state["question"]["number"]


def join(server: Server, code: str, name: str) -> tuple[requests.Session, int]:
    browser = requests.Session()
    answer = browser.post(f"{server.url}/api/classes/{code}/members", json={"name": name}, timeout=PATIENCE_S)
    assert answer.status_code == 201, answer.text
    return browser, int(answer.json()["number"])


def test_a_process_knows_whenever_it_may_have_missed_what_others_told(redis_server: RedisServer):
    heard: list[str] = []
    channel = ClassChannel(redis_server.url, lambda code, told: heard.append(code), lambda: heard.append("lost"))
    other = ClassChannel(redis_server.url, lambda code, told: None, lambda: None)
    client = connect(redis_server.url)
    try:
        for number in (1, 2):
            channel.listen()
            until(lambda number=number: heard.count("lost") == number, sleep=gevent.sleep)
            assert other.post("BBBBBB", {})
            until(lambda number=number: heard.count("BBBBBB") == number, sleep=gevent.sleep)
            client.client_kill_filter(_type="pubsub")  # redis-py connects again without a word
    finally:
        channel.stop()
        other.stop()
    tried = client.connection_pool.make_connection()._connect()
    assert tried.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE) == 30, "who only listens must notice its end"
    tried.close()
    close(client)


def test_a_class_is_led_joined_and_answered_through_any_machine_also_after_redis_was_away(
    machines: tuple[Server, Server], redis_server: RedisServer
):
    first, second = machines
    desk = requests.Session()
    code = desk.post(f"{first.url}/api/classes", json={"title": "T"}, timeout=PATIENCE_S).json()["code"]
    leader = Seat(first, desk, code)
    near, near_number = join(first, code, "Ada")
    far, far_number = join(second, code, "Eve")
    students = [Seat(first, near, code), Seat(second, far, code)]
    until(lambda: {row["name"] for row in leader.students.values() if row["here"]} == {"Ada", "Eve"})
    leader.ask("class_scene", scene={"page": "/", "query": "?p=8", "place": ""})
    number = leader.ask("class_ask", question=CHOICE)["number"]
    until(lambda: all(each.scene and each.scene["query"] == "?p=8" and each.asked() == number for each in students))
    for each in students:
        each.ask("class_answer", question=number, round=1, answer="1")
    until(lambda: leader.tally and leader.tally["counts"] == [["1", 2]])
    until(lambda: leader.students[far_number]["items"] == {f"q{number}": "done"})

    redis_server.kill()
    leader.ask("class_close")
    number = leader.ask("class_ask", question=CHOICE | {"text": "While Redis is away"})["number"]
    leader.ask("class_scene", scene={"page": "/build", "query": "", "place": ""})
    late, _ = join(second, code, "Zoë")
    students.append(Seat(second, late, code))
    assert students[-1].asked() in (number, number - 1)
    redis_server.start()
    until(lambda: all(each.asked() == number and each.scene["page"] == "/build" for each in students))
    for each in students:
        each.ask("class_answer", question=number, round=1, answer="0")
    until(lambda: leader.tally and leader.tally["counts"] == [["0", 3]])
    removed = desk.delete(f"{first.url}/api/classes/{code}/members/{near_number}", timeout=PATIENCE_S)
    assert removed.status_code == 204
    until(lambda: students[0].over)
    assert desk.delete(f"{first.url}/api/classes/{code}", timeout=PATIENCE_S).status_code == 204
    until(lambda: leader.over and all(each.over for each in students))
    for each in (leader, *students):
        each.io.disconnect()
