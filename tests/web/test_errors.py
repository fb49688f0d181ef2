"""Errors of the routes: a common shape, the key named, no internal details shown."""

from __future__ import annotations

import json
import time
import zlib

import pytest
from flask.testing import FlaskClient

from backend.errors import message
from backend.jobs.encoding import encode_json, encode_plain_json
from backend.web.routes import schedule as schedule_routes
from tests.conftest import error_of

BAD_QUERIES = [
    ("q=4", "q"),
    ("zoom=1,2", "zoom"),
    ("P=4", "P"),
    ("costs=1", "costs"),
    ("run=abc", "run"),
    ("p=4&p=4", "p"),
    ("F=1&F=2", "F"),
    ("p=", "p"),
    ("p", "p"),
    ("p=four", "p"),
    ("p=4.5", "p"),
    ("p=0", "p"),
    ("p=-4", "p"),
    ("p=1000000000", "p"),
    ("p=99999999999999999999999999999999999999", "p"),
    ("p=" + "9" * 5000, "p"),
    ("p=0x10", "p"),
    ("p=1_000", "p"),
    ("p=+4", "p"),
    ("p=%204", "p"),
    ("p=4%0A", "p"),
    ("p=4%00", "p"),
    ("p=%D9%A4", "p"),  # an Arabic four
    ("p=NaN", "p"),
    ("p=inf", "p"),
    ("p=1e400", "p"),
    ("p=1e9999", "p"),
    ("p=true", "p"),
    ("p=4,4", "p"),
    ("m=65537", "m"),
    ("p=1024&m=65536", "m"),
    ("v=2", "v"),
    ("group=0&family=interleaved", "group"),
    ("group=null", "group"),
    ("memory=nan", "memory"),
    ("memory=-1", "memory"),
    ("w_share=1.5", "w_share"),
    ("w_share=-0.1", "w_share"),
    ("lifo=yes", "lifo"),
    ("lifo=True", "lifo"),
    ("F=nan", "F"),
    ("F=-1", "F"),
    ("F=1e400", "F"),
    ("F=1,2", "F"),
    ("F=1,,2", "F"),
    ("F=1,2,3,x", "F"),
    ("I=,", "I"),
    ("comm=1,2", "comm"),
    ("comm=Infinity", "comm"),
    ("FB=3", "FB"),
    ("family=", "family"),
    ("family=1f1b%0A", "family"),
    ("family=../../etc/passwd", "family"),
    ("family=" + "x" * 5000, "family"),
    ("family=%FF", "query"),
    ("%FF=1", "query"),
    ("&".join(f"k{k}=1" for k in range(100)), "query"),
]


@pytest.mark.parametrize("route", ["/api/schedule", "/api/laws"])
@pytest.mark.parametrize(("query", "field"), BAD_QUERIES, ids=[query[:30] for query, _ in BAD_QUERIES])
def test_a_bad_query_is_refused_at_once_and_the_key_is_named(reader: FlaskClient, route: str, query: str, field: str):
    reader.get(f"{route}?family=gpipe")  # a process's first request imports what it needs
    begun = time.process_time()
    response = reader.get(f"{route}?{query}")
    assert time.process_time() - begun < 0.5
    assert response.status_code == 400
    assert error_of(response)["field"] == field
    assert len(response.data) < 1000


def test_a_misspelt_family_is_refused_with_the_closest_one(reader: FlaskClient):
    assert error_of(reader.get("/api/schedule?family=zbhh1"))["nearest"] == "zb-h1"


@pytest.mark.parametrize(
    ("method", "path", "status", "field"),
    [
        ("GET", "/nowhere", 404, "path"),
        ("GET", "/api", 404, "path"),
        ("GET", "/static/nothing.js", 404, "path"),
        ("GET", "/static/../app.py", 404, "path"),
        ("GET", "/static/%2e%2e/app.py", 404, "path"),
        ("POST", "/api/schedule", 405, "method"),
        ("DELETE", "/api/runs", 405, "method"),
        ("PUT", "/", 405, "method"),
        ("GET", "/api/runs/abc/cancel", 405, "method"),
    ],
)
def test_unknown_addresses_get_the_common_error_shape(reader: FlaskClient, method, path, status, field):
    response = reader.open(path, method=method)
    assert response.status_code == status
    assert error_of(response)["field"] == field
    assert ("Allow" in response.headers) == (status == 405)


def test_a_browser_gets_a_page_for_an_unknown_address_and_programs_get_json(reader: FlaskClient):
    browser = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "Accept-Language": "zh-CN"}
    page = reader.get("/nonesuch/<script>x</script>", headers=browser)
    assert (page.status_code, page.mimetype, page.headers["Vary"]) == (404, "text/html", "Accept")
    assert "<script" not in page.text
    assert "/nonesuch/&lt;script&gt;" in page.text
    assert 'href="/"' in page.text
    assert "没有这个页面" in page.text
    for path, headers in (("/nonesuch", {"Accept": "*/*"}), ("/nonesuch", {}), ("/api/nonesuch", browser)):
        assert error_of(reader.get(path, headers=headers))["code"] == "http.no_such_address"


@pytest.mark.parametrize(
    "query",
    ["", "EIO=3&transport=polling", "EIO=4&transport=carrier-pigeon", "EIO=4&transport=websocket",
     "EIO=4&transport=polling&sid=unknown", "EIO=4&transport=polling&j=x"],
)  # fmt: skip
def test_the_sockets_refusals_have_the_common_error_shape_too(reader: FlaskClient, query):
    response = reader.get("/socket.io/?" + query)
    assert response.status_code == 400
    assert error_of(response)["field"] == "socket"


@pytest.mark.parametrize(
    ("sent", "status", "field"),
    [
        (b"GET /api/schedule?p=" + b"9" * 20_000 + b" HTTP/1.1\r\n\r\n", 414, "query"),
        (b"nonsense\r\n\r\n", 400, "request"),
        (b"POST /api/runs HTTP/1.1\r\nContent-Length: many\r\n\r\n", 400, "request"),
        (b"GET / HTTP/9.9\r\n\r\n", 400, "request"),
        (b"GET /?name=\xe9 HTTP/1.1\r\nConnection: close\r\n\r\n", 400, "query"),
    ],
)
def test_a_malformed_request_still_gets_the_common_error_shape(server, sent, status, field):
    with server.connect() as raw:
        raw.sendall(sent)
        head, _, body = raw.makefile("rb").read().partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 %d " % status)
    assert json.loads(body)["error"]["field"] == field


def test_an_internal_error_shows_an_id_for_the_log_and_no_details(client, monkeypatch, caplog):
    def broken(spec):
        raise ZeroDivisionError("secret detail")

    monkeypatch.setattr(schedule_routes.registry, "order", broken)
    response = client.get("/api/schedule?p=6")
    error = error_of(response)
    assert response.status_code == 500
    assert b"secret" not in response.data
    name = error["message"].rsplit(" ", 1)[1].rstrip(".")
    assert f"error {name}" in caplog.text
    assert "secret detail" in caplog.text


def test_json_for_the_page_has_messages_with_codes_and_json_for_scripts_has_plain_text():
    value = {"why": message("http.other", "{reason}", reason="x")}
    coded, plain = (
        json.loads(zlib.decompress(each.deflated)) for each in (encode_json(value), encode_plain_json(value))
    )
    assert coded == {"why": {"code": "http.other", "params": {"reason": "x"}, "message": "x"}}
    assert plain == {"why": "x"}


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/api/schedule?", 200),
        ("/api/export?format=json&", 200),
        ("/api/charts/bubble?", 200),
        ("/?", 200),
        ("/embed?", 200),
        ("/api/standalone?", 400),
    ],
)
def test_an_order_of_entry_to_be_searched_is_found_where_an_order_is_asked_for_and_is_in_no_link(
    client: FlaskClient, path: str, status: int
) -> None:
    query = "family=1f1b&p=2&m=4&sizes=1,2,0.5,1&injection=searched"
    answer = client.get(path + query, headers={"Accept": "application/json"})
    assert answer.status_code == status
    if path == "/api/schedule?":
        assert sorted(answer.json["spec"]["injection"]) == [0, 1, 2, 3]
    if status == 400:
        assert answer.json["error"]["field"] == "injection"
