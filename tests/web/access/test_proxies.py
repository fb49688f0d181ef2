"""Behind proxies: the address, scheme and host that visitors see; without them, headers that anybody can forge."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from backend.access.addresses import Invitations, reachable_base
from backend.access.limits.rate_limit import Credit
from backend.config import Config
from backend.web.http import gate
from tests.conftest import MakeApp, error_of

POLLING = "/socket.io/?EIO=4&transport=polling"
SEEN = {"X-Forwarded-For": "203.0.113.5", "X-Forwarded-Proto": "https", "X-Forwarded-Host": "bubbles.example"}
OURS = {"Origin": "https://bubbles.example"}
LINK = {"query": "?p=2"}


@pytest.fixture
def behind(make_app: MakeApp) -> FlaskClient:
    """A client of a server behind one proxy, which sees to TLS."""
    return make_app(proxies=1).test_client()


def test_behind_a_tls_proxy_the_page_may_change_things_and_others_may_not(behind: FlaskClient):
    assert behind.post("/api/links", json=LINK, headers=SEEN | OURS).status_code == 201
    for origin in ("http://bubbles.example", "https://evil.example", "https://bubbles.example:444"):
        refused = behind.post("/api/links", json=LINK, headers=SEEN | {"Origin": origin})
        assert (refused.status_code, error_of(refused)["field"]) == (403, "Origin")
    assert behind.get(POLLING, headers=SEEN | OURS).status_code == 200
    assert behind.get(POLLING, headers=SEEN | {"Origin": "https://evil.example"}).status_code == 400


def test_over_https_browsers_are_told_to_stay_there_and_cookies_are_secure(behind: FlaskClient):
    page = behind.get("/", headers=SEEN)
    assert page.headers["Strict-Transport-Security"] == "max-age=31536000"
    assert "Secure" in page.headers["Set-Cookie"]
    plain = behind.get("/")
    assert "Strict-Transport-Security" not in plain.headers


def test_without_proxies_forwarded_headers_mean_nothing(make_app: MakeApp):
    app = make_app(links_per_hour=1)
    client = app.test_client()
    forged = SEEN | {"Forwarded": "for=1.2.3.4;host=bubbles.example;proto=https"}
    assert client.post("/api/links", json=LINK, headers=forged | OURS).status_code == 403
    assert client.get(POLLING, headers=forged | OURS).status_code == 400, "Engine.IO would believe these headers"
    assert "Strict-Transport-Security" not in client.get("/", headers=forged).headers
    answers = [
        client.post("/api/links", json={"query": f"?p={k}"}, headers={"X-Forwarded-For": f"10.0.0.{k}"}).status_code
        for k in (2, 3)
    ]
    assert answers == [201, 429]


def test_behind_proxies_only_what_they_added_counts(make_app: MakeApp):
    app = make_app(proxies=1, links_per_hour=1)
    client = app.test_client()
    sent = [
        client.post("/api/links", json={"query": f"?p={k}"}, headers={"X-Forwarded-For": f"10.0.0.{k}, {seen}"})
        for k, seen in ((2, "203.0.113.5"), (3, "203.0.113.5"), (4, "203.0.113.6"))
    ]
    assert [answer.status_code for answer in sent] == [201, 429, 201]


def test_a_user_named_by_the_proxy_may_run_and_one_named_by_anybody_else_may_not(make_app: MakeApp):
    named = {"X-Forwarded-User": "ann"}
    app = make_app(proxies=1, user_header="X-Forwarded-User", admins=("root",))
    client = app.test_client()
    run_id = client.post("/api/runs", json={}, headers=named).get_json()["id"]
    other = {"X-Forwarded-User": "bob"}
    assert client.post(f"/api/runs/{run_id}/cancel", headers=other).status_code == 403
    assert client.get("/metrics", headers=other).status_code == 403
    assert client.get("/metrics", headers={"X-Forwarded-User": "root"}).status_code == 200
    assert client.post(f"/api/runs/{run_id}/cancel", headers=named).status_code == 202
    assert client.post("/api/runs", json={}).status_code == 401
    unnamed = make_app(proxies=1).test_client()
    assert unnamed.post("/api/runs", json={}, headers=named).status_code == 401


@pytest.mark.parametrize(
    ("host", "served"),
    [
        ("192.0.2.7:5000", True),
        ("[2001:db8::1]:5000", True),
        ("localhost:5000", True),
        (f"{socket.gethostname()}:5000", True),
        ("evil.example", False),
        ("192.0.2.7.evil.example", False),
        ("192.0.2.7@evil.example", False),
        ("[::1].evil.example", False),
    ],
)
@pytest.mark.parametrize("path", ["/healthz", POLLING])
def test_on_a_network_a_name_that_another_site_could_own_is_refused(
    make_app: MakeApp, host: str, served: bool, path: str
):
    answer = make_app(host="0.0.0.0").test_client().get(path, headers={"Host": host})
    assert answer.status_code == (200 if served else 400)
    if not served:
        assert error_of(answer)["code"] == "http.other_host"
        assert "BUBBLELINE_HOSTS" in error_of(answer)["message"]


def test_another_name_is_served_to_those_who_show_a_token_and_where_it_is_set(make_app: MakeApp):
    lab = {"Host": "lab.example:5000"}
    app = make_app(host="0.0.0.0")
    token = app.extensions["bubbleline.policy"].keys.token
    client = app.test_client()
    assert client.get("/", headers=lab).status_code == 400
    assert client.get("/?token=guess", headers=lab).status_code == 400
    assert client.get("/api/families", headers=lab | {"Authorization": f"Bearer {token}"}).status_code == 200
    assert client.get(f"/?token={token}", headers=lab).status_code == 302
    assert client.get("/", headers=lab).status_code == 200, "with its cookie, which no other site's page has"
    assert app.test_client().get("/", headers=lab).status_code == 400
    named = make_app(host="0.0.0.0", hosts=("lab.example",)).test_client()
    assert named.get("/", headers=lab).status_code == 200
    assert named.get("/", headers={"Host": "192.0.2.7"}).status_code == 400


class OpenSocket:
    """A WebSocket that remembers how it was closed."""

    closed: tuple[int, str] | None = None

    def close(self, code: int, reason: str) -> None:
        self.closed = (code, reason)

    def share(self, credit: Credit) -> None:
        self.credit = credit


def test_a_refused_websocket_is_closed_with_the_reason_and_too_many_are_refused(make_app: MakeApp):
    app = make_app(sockets=1)
    policy, pace = app.extensions["bubbleline.policy"], app.extensions["bubbleline.pace"]
    refused: list[OpenSocket] = []
    depth = 0

    def open_another(environ: dict, start_response: object) -> list[bytes]:
        """Stay open, as a WebSocket does, while its client opens one more."""
        nonlocal depth
        depth += 1
        return list(enter())

    one = gate.Gate(open_another, app.extensions["bubbleline"].config, policy, pace)

    def enter(host: str = "localhost") -> list[bytes]:
        refused.append(OpenSocket())
        with app.test_request_context("/socket.io/?EIO=4&transport=websocket", headers={"Host": host}) as context:
            environ = context.request.environ | {"wsgi.websocket": refused[-1]}
        return list(one(environ, lambda *_: None))

    enter()
    assert depth == 1 + gate.SPARE
    assert refused[-1].closed is not None
    assert refused[-1].closed[0] == 1008
    assert refused[-1].closed[1].startswith(f"{depth} connections of yours are open already")
    assert not one._open
    enter("evil.example")
    assert refused[-1].closed == (1008, "This server does not go by that name (see BUBBLELINE_HOSTS).")


def test_the_address_that_students_type_is_one_that_their_machines_can_reach(tmp_path: Path):
    def base(url: str, **settings: Any) -> str:
        return reachable_base(url, Config(database=tmp_path / "a.sqlite3", **settings))

    assert base("http://127.0.0.1:5000/") == "http://127.0.0.1:5000/", "it listens for nobody else"
    assert base("https://bubbles.example/", host="0.0.0.0") == "https://bubbles.example/"
    assert base("http://10.0.0.7:5000/", host="0.0.0.0") == "http://10.0.0.7:5000/"
    assert base("http://localhost:5000/", host="0.0.0.0", hosts=("lab.example",)) == "http://lab.example:5000/"
    assert base("http://localhost:5000/", host="::", hosts=("[2001:db8::1]",)) == "http://[2001:db8::1]:5000/"
    own = base("http://[::1]:5000/", host="::")
    assert own.endswith(":5000/")
    assert "::1" not in own


def test_the_links_that_are_printed_have_a_name_that_the_server_goes_by(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    def root(host: str, *hosts: str, proxies: int = 0) -> str:
        config = Config(host=host, hosts=hosts, proxies=proxies, database=tmp_path / "a.sqlite3")
        Invitations(config, 5000).print_first()
        return capsys.readouterr().out.partition("/?token=")[0].removeprefix("To start runs: ")

    assert root("10.0.0.7") == root("10.0.0.7", "lab.example", "10.0.0.7") == "http://10.0.0.7:5000"
    assert root("10.0.0.7", "lab.example") == root("0.0.0.0", "lab.example") == "http://lab.example:5000"
    assert root("2001:db8::1", "[2001:db8::1]") == "http://[2001:db8::1]:5000"
    assert root("127.0.0.1", "127.0.0.1", "lab.example", proxies=1) == "https://lab.example"
