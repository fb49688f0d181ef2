"""Short links: codes, names, limits, and redirects."""

from __future__ import annotations

import os
import re
import sqlite3
from pathlib import Path

import pytest
from flask.testing import FlaskClient
from hypothesis import given
from hypothesis import strategies as st

from backend.access.limits.rate_limit import HourlyRate
from backend.address.short_links.codes import LENGTH, LETTERS, LONGEST_QUERY, name_of, new_code, query_of
from backend.address.short_links.store import LinkStore
from backend.config import Config
from backend.errors import RequestError
from tests.conftest import MakeApp, end_app, error_of

VIEW = "?family=zb-h1&p=8&m=32"


def make(client: FlaskClient, query: object = VIEW, **more: object):
    return client.post("/api/links", json={"query": query} | more)


def test_a_short_link_redirects_to_the_long_address(client: FlaskClient):
    made = make(client)
    assert made.status_code == 201
    body = made.get_json()
    assert body == {"code": body["code"], "url": f"/s/{body['code']}", "query": VIEW, "name": None}
    assert re.fullmatch(f"[{LETTERS}]{{{LENGTH}}}", body["code"])
    followed = client.get(body["url"])
    assert (followed.status_code, followed.headers["Location"]) == (302, f"/{VIEW}")
    assert 'content="ZB-H1, p 8, m 32 · bubble 6.8 %"' in client.get(body["url"], follow_redirects=True).text  # unfurls
    assert client.get(body["url"].upper().replace("/S/", "/s/")).status_code == 302  # read out and typed in capitals


def test_the_same_view_has_the_same_link_and_a_name_one_of_its_own(client: FlaskClient):
    first, again, named = make(client), make(client), make(client, name="GPipe-Lesson")
    assert again.get_json() == first.get_json()
    assert named.get_json()["url"] == "/s/gpipe-lesson"
    assert make(client, name="gpipe-lesson").get_json() == named.get_json()
    assert make(client, "?p=9").get_json()["code"] != first.get_json()["code"]
    assert client.get("/s/gpipe-lesson").headers["Location"] == f"/{VIEW}"


def test_a_name_that_is_taken_is_refused_with_the_nearest_that_is_free(client: FlaskClient):
    make(client, "?p=2", name="lesson")
    refused = make(client, "?p=3", name="lesson")
    assert refused.status_code == 409
    assert error_of(refused)["nearest"] == "lesson-2"
    make(client, "?p=3", name="lesson-2")
    assert error_of(make(client, "?p=4", name="lesson"))["nearest"] == "lesson-3"
    longest = "a" * 40
    make(client, "?p=2", name=longest)
    nearest = error_of(make(client, "?p=3", name=longest))["nearest"]
    assert make(client, "?p=3", name=nearest).status_code == 201


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("a b", "a-b"),
        ("x", None),
        ("-ab-", "ab"),
        ("über lesson", "ber-lesson"),
        ("../etc", "etc"),
        ("a" * 41, "a" * 40),
    ],
)
def test_a_name_is_letters_digits_and_hyphens(client: FlaskClient, name: str, nearest: str | None):
    refused = make(client, name=name)
    assert refused.status_code == 400
    error = error_of(refused)
    assert (error["field"], error.get("nearest")) == ("name", nearest if nearest and len(nearest) > 2 else None)


@pytest.mark.parametrize(
    "query",
    ["https://elsewhere.example/", "//elsewhere.example", "?a=1\r\nSet-Cookie: x=1", "?p=4#x", "?p=<script>", "?p",
     "/s/abc", "?=4", "?p=%zz", "? p=4", 7, None, ["?p=4"], "?p=" + "1" * LONGEST_QUERY,
     "?" + "&".join(f"k{n}=1" for n in range(300))],
)  # fmt: skip
def test_text_that_is_not_the_query_of_a_view_gets_no_link(client: FlaskClient, query: object):
    refused = make(client, query)
    assert refused.status_code == 400
    assert error_of(refused)["field"] == "query"


@given(st.text(max_size=60))
def test_a_link_leads_nowhere_but_to_this_page(text: str):
    try:
        query = query_of(text)
    except RequestError:
        return
    assert query == "" or re.fullmatch(r"\?[!-~]+", query)  # behind "/", with nothing that ends an address or a header


@given(st.text(max_size=60))
def test_a_refused_name_is_answered_with_a_legal_one(text: str):
    try:
        name = name_of(text)
    except RequestError as error:
        name = error.nearest
    assert name is None or (name_of(name) == name and re.fullmatch(r"[a-z0-9-]{3,40}", name))


def test_codes_have_no_letters_that_look_alike_and_spell_nothing():
    assert not set("01oil" + "aeiouy") & set(LETTERS)
    assert len({new_code() for _ in range(1000)}) == 1000


def test_a_code_that_is_in_use_is_not_given_again(tmp_path: Path):
    codes = iter(["bbb", "bbb", "ccc"])
    store = LinkStore(tmp_path / "links.sqlite3", 10, lambda: next(codes))
    assert [store.make(query, None).code for query in ("?p=1", "?p=2")] == ["bbb", "ccc"]
    store.close()


def test_an_unknown_link_gets_a_page_with_a_link_home_and_a_script_the_error(client: FlaskClient):
    lost = client.get("/s/<script>x", headers={"Accept": "text/html"})
    assert (lost.status_code, lost.mimetype) == (404, "text/html")
    assert "&lt;script&gt;x" in lost.text
    assert "<script>x" not in lost.text
    assert 'href="/"' in lost.text
    answer = client.get("/s/nobody", headers={"Accept": "application/json"})
    assert answer.status_code == 404
    assert error_of(answer)["field"] == "code"


@pytest.mark.parametrize(
    ("prefers", "lang", "way"),
    [
        ("zh-CN,zh;q=0.9,en;q=0.5", "zh-Hans", "打开 Bubbleline"),
        ("de,en;q=0.5", "en", "Open Bubbleline"),
        ("", "en", "Open"),
    ],
)
def test_the_page_of_an_unknown_link_is_in_the_browsers_language(
    client: FlaskClient, prefers: str, lang: str, way: str
):
    lost = client.get("/s/nobody", headers={"Accept": "text/html", "Accept-Language": prefers})
    assert f'<html lang="{lang}"' in lost.text
    assert way in lost.text


def test_one_address_creates_a_limited_number_of_links_per_hour_and_existing_ones_are_returned(make_app: MakeApp):
    app = make_app(links_per_hour=2)
    client = app.test_client()
    first = make(client, "?p=1").get_json()
    assert make(client, "?p=2").status_code == 201
    refused = make(client, "?p=3")
    assert refused.status_code == 429
    assert error_of(refused)["limit"] == 2
    assert make(client, "?p=1").get_json() == first
    elsewhere = {"REMOTE_ADDR": "10.0.0.9"}
    assert client.post("/api/links", json={"query": "?p=3"}, environ_base=elsewhere).status_code == 201


def test_the_limit_is_reset_after_an_hour():
    now = [0.0]
    rate = HourlyRate(2, lambda: now[0])
    rate.take("a")
    now[0] = 1800.0
    rate.take("a")
    assert rate.take("a") == 30  # minutes
    assert rate.take("b") is None
    now[0] = 3600.0
    assert rate.take("a") is None
    assert HourlyRate(0).take("a") == 60, "none is allowed"


def test_the_store_is_bounded(make_app: MakeApp):
    client = make_app(links=1).test_client()
    make(client, "?p=1")
    refused = make(client, "?p=2")
    assert refused.status_code == 503
    assert error_of(refused)["limit"] == 1


def test_links_outlive_the_server_and_share_the_file_with_the_runs(make_app: MakeApp, config: Config):
    app = make_app()
    app.extensions["bubbleline"].runs.open()
    url = make(app.test_client()).get_json()["url"]
    end_app(app)
    assert make_app().test_client().get(url).headers["Location"] == f"/{VIEW}"
    with sqlite3.connect(config.database) as connection:
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    assert {"runs", "links"} <= tables


def test_a_failing_disk_is_reported_and_known_links_still_redirect(make_app: MakeApp):
    app = make_app()
    client = app.test_client()
    url = make(client).get_json()["url"]
    app.extensions["bubbleline"].links.store.database.connection().execute("PRAGMA query_only = ON")
    refused = make(client, "?p=5")
    assert refused.status_code == 503
    assert "The long link works as ever." in error_of(refused)["message"]
    assert client.get(url).status_code == 302


def test_a_store_that_cannot_be_opened_is_reported_on_a_page(make_app: MakeApp, tmp_path: Path):
    folder = tmp_path / "file"
    folder.write_text("no folder")
    client = make_app(database=folder / "x.sqlite3").test_client()
    assert error_of(make(client))["field"] == "store"
    shown = client.get("/s/bcdfghj", headers={"Accept": "text/html"})
    assert shown.status_code == 503
    assert "not available at present" in shown.text
    assert os.fspath(tmp_path) not in shown.text


def test_other_methods_and_other_bodies_create_no_link(client: FlaskClient):
    assert client.get("/api/links").status_code == 405
    assert client.post("/api/links", data="query=x").status_code == 415
    assert error_of(client.post("/api/links", json={"query": VIEW, "url": "x"}))["field"] == "url"
