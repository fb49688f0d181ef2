"""Requests and socket messages of every kind, most of them wrong: an attack of bench/hostile.py.

The requests go to every route that the server describes, with values that fit it, nearly fit it, or are noise; the
messages are Socket.IO packets, legal, cut and garbled. Always the same ones.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from http.client import HTTPConnection, HTTPException
from typing import Any
from urllib.parse import quote, urlsplit

import websocket

from tests.support.web_pages import connect_raw

VALUES = (
    "1f1b",
    "zb-h1",
    "v-auto",
    "",
    "0",
    "-1",
    "4",
    "1e309",
    "NaN",
    "🦜",
    "9" * 400,
    "../../etc/passwd",
    "null",
    "[]",
)
KEYS = ("family", "p", "m", "v", "F", "B", "W", "comm", "memory", "order", "limit", "before", "format", "rows", "lang")
BODIES: tuple[Any, ...] = (
    {}, [], None, 0, "text", {"spec": {}}, {"spec": {"family": "gpipe", "p": 2, "m": 2}, "mode": "?"}, {"spec": []},
    {"spec": {"p": 10**30}}, {"query": "?m=5"}, {"query": 5}, {"name": "x" * 300}, {"traces": [[]]},
    {"orders": ["0F0"]},
)  # fmt: skip
PACKETS = (
    '42["watch",{"run":"nobody","since":0}]', '42["watch"]', '42["unwatch",{"run":1}]',
    '42["search",{"spec":{"p":-1}}]',
    '42["nothing",{}]', "42[", "4", "", "49", "3", "2", '451-["x",{"_placeholder":true,"num":0}]', "42" + "[" * 500,
    '421["watch_cluster"]', "🦜" * 40, '42{"a":1}',
)  # fmt: skip


def odd_requests(url: str, requests: int, messages: int) -> str:
    """Send this many of both and return how many got each status."""
    chance = random.Random(1)
    address = urlsplit(url)
    client = HTTPConnection(str(address.hostname), address.port, timeout=120)
    statuses: Counter[str] = Counter()
    routes = _routes(client)
    for _ in range(requests):
        method, path, body = _request(chance, routes)
        try:
            client.request(method, path, body, {"Content-Type": "application/json"} if body is not None else {})
            answer = client.getresponse()
            answer.read()
            excused = answer.status == 503 and answer.headers["Retry-After"]
            statuses["503 with Retry-After" if excused else f"{answer.status // 100}xx"] += 1
        except (HTTPException, OSError):
            statuses["closed"] += 1
            client.close()
    return f"{dict(sorted(statuses.items()))}; {_messages(url, chance, messages)}"


def _routes(client: HTTPConnection) -> list[tuple[str, str]]:
    client.request("GET", "/api/openapi.json")
    paths = json.loads(client.getresponse().read())["paths"]
    return [(method.upper(), path) for path, methods in sorted(paths.items()) for method in sorted(methods)]


def _request(chance: random.Random, routes: list[tuple[str, str]]) -> tuple[str, str, str | None]:
    method, path = chance.choice(routes)
    if chance.random() < 0.1:
        method = chance.choice(("GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "BREW"))
    while "{" in path:
        head, _, tail = path.partition("{")
        path = head + quote(chance.choice(VALUES[:12]) or "-", safe="") + tail.partition("}")[2]
    pairs = [f"{chance.choice(KEYS)}={quote(chance.choice(VALUES))}" for _ in range(chance.randrange(4))]
    body = None
    if method in ("POST", "PUT", "PATCH"):
        body = json.dumps(chance.choice(BODIES))
        if chance.random() < 0.2:
            body = body[: chance.randrange(len(body) + 1)]
    return method, path + ("?" + "&".join(pairs) if pairs else ""), body


class _At:
    """A server's address, as tests have it."""

    def __init__(self, url: str) -> None:
        self.url = url


def _messages(url: str, chance: random.Random, messages: int) -> str:
    sent, sockets = 0, 0
    while sent < messages:
        raw = connect_raw(_At(url))  # type: ignore[arg-type]
        sockets += 1
        try:
            for _ in range(chance.randrange(1, 60)):
                raw.send(chance.choice(PACKETS))
                sent += 1
        except (OSError, websocket.WebSocketException):
            continue  # the server has closed it
        finally:
            raw.close()
    return f"{sent} messages on {sockets} sockets"
