"""Pages of a class as simulated clients: open a class and join it over HTTP, then enter it over a socket."""

from __future__ import annotations

import http.client
import json
import re
import time
from array import array
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from backend.cli.crowd.line import PATIENCE_S, Line

SCENE = re.compile(rb'"scene":\{"seq":(\d+),"page":"([^"\\]*)","query":"([^"\\]*)","place":"([^"\\]*)"\}')
SENT = re.compile(r"[?&]sent=(\d+)")  # when the leader has sent a scene, by time.monotonic_ns, where its query says it
AT_ONCE = 8  # requests to join
JOIN_PATIENCE_S = 60.0


class RefusedError(Exception):
    """What the server answers a request with that it refuses."""


@dataclass(frozen=True)
class Opened:
    """A class: the addresses of its pages, and the cookie of its leader."""

    url: str  # of the server
    code: str
    join: str
    lead: str  # the private link
    cookie: str


def request(
    url: str, method: str, path: str, body: dict[str, Any] | None = None, cookie: str = ""
) -> tuple[bytes, str]:
    """Send a request; return the body of the answer and the cookie that it sets. Raises RefusedError, OSError."""
    line = http.client.HTTPConnection(urlsplit(url).netloc, timeout=PATIENCE_S)
    try:
        return _request(line, method, path, body, cookie)
    finally:
        line.close()


def open_class(url: str, title: str) -> Opened:
    """Open a class."""
    answer, cookie = request(url, "POST", "/api/classes", {"title": title})
    made = json.loads(answer)
    return Opened(url, made["code"], url + made["url"], url + made["lead"], cookie)


def join_class(opened: Opened, names: Sequence[str]) -> list[str]:
    """Join students of these names; return their cookies."""

    def join(some: Sequence[str]) -> list[str]:
        line = http.client.HTTPConnection(urlsplit(opened.url).netloc, timeout=JOIN_PATIENCE_S)
        try:
            path = f"/api/classes/{opened.code}/members"
            return [_request(line, "POST", path, {"name": name})[1] for name in some]
        finally:
            line.close()

    share = -(-len(names) // AT_ONCE) or 1
    with ThreadPoolExecutor(AT_ONCE) as pool:
        shares = pool.map(join, [names[k : k + share] for k in range(0, len(names), share)])
        return [cookie for some in shares for cookie in some]


class Page(Line):
    """A page in a class. `arrivals` has two numbers for each scene that it was sent: when it came, and when it was
    sent by the leader where the query says it, else taken by the server, both by time.monotonic_ns.
    """

    def __init__(self, opened: Opened, cookie: str, part: str = "member", **options: int) -> None:
        self.code, self.part = opened.code, part
        self.inside = False
        self.entered = 0  # how often it was let in
        self.over = False
        self.seq = 0
        self.scene = ("", "")  # page and query
        self.state: dict[str, Any] = {}
        self.room: dict[str, Any] = {}  # the last message to leaders
        self.arrivals = array("q")
        self._wall = time.time_ns() - time.monotonic_ns()
        super().__init__(opened.url, cookie, **options)

    def enter(self) -> None:
        """Ask to be let in."""
        self.emit("class_enter", {"code": self.code, "as": self.part}, self._entered)

    def lead(self, event: str, **payload: Any) -> None:
        """Send an event of this class that is not answered unless it is refused."""
        self.emit(event, {"code": self.code} | payload, self._no_error)

    def told(self, changed: frozenset[str]) -> None:
        """Take note that `state`, `scene` or `room` have changed."""

    def seen(self) -> Iterator[tuple[int, int]]:
        """Yield when each scene came, and when it was sent."""
        return zip(self.arrivals[::2], self.arrivals[1::2], strict=True)

    def heard(self, now: int, packet: bytes) -> None:
        """Take a message of the class. One that has a scene alone, as nearly all, is not decoded."""
        found = SCENE.search(packet) if b'"state":{' not in packet else None
        if found is not None:
            self._show(now, int(found[1]), found[2].decode(), found[3].decode())
            self.told(frozenset(("scene",)))
            return
        event, data = json.loads(packet[2:])
        if event == "class_room":
            self.room = data
            self.told(frozenset(("room",)))
        elif event == "class":
            self._take_class(now, data)

    def _take_class(self, now: int, data: dict[str, Any]) -> None:
        self.over = self.over or data.get("over", False)
        if "state" in data:
            self.state = data["state"]
        if "scene" in data:
            scene = data["scene"]
            self._show(now, scene["seq"], scene["page"], scene["query"])
        self.told(frozenset(data) & {"state", "scene"})

    def _show(self, now: int, seq: int, page: str, query: str) -> None:
        if seq <= self.seq:
            self.faults.append(f"scene {seq} came after scene {self.seq}")
        self.seq, self.scene = seq, (page, query)
        stamp = SENT.search(query)
        self.arrivals.extend((now, int(stamp[1]) if stamp else seq * 1000 - self._wall))

    def _entered(self, answer: dict[str, Any]) -> None:
        if "error" in answer:
            self.faults.append(f"the server does not let a page in: {answer['error']}")
            return
        self.inside = True
        self.entered += 1
        self.state = answer["state"]
        scene = answer["scene"]
        if scene is not None:
            self.seq, self.scene = max(self.seq, scene["seq"]), (scene["page"], scene["query"])
        self.told(frozenset(("state", "scene")))

    def _no_error(self, answer: dict[str, Any]) -> None:
        if "error" in answer:
            self.faults.append(f"the server refused: {answer['error']}")


def _request(
    line: http.client.HTTPConnection, method: str, path: str, body: dict[str, Any] | None = None, cookie: str = ""
) -> tuple[bytes, str]:
    data = None if body is None else json.dumps(body).encode()
    headers = ({"Content-Type": "application/json"} if data else {}) | ({"Cookie": cookie} if cookie else {})
    line.request(method, path, data, headers)
    answer = line.getresponse()
    content = answer.read()
    if answer.status >= 400:
        raise RefusedError(f"{method} {path}: {answer.status} {content[:300].decode(errors='replace')}")
    return content, (answer.getheader("Set-Cookie") or "").partition(";")[0]
