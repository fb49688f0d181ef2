"""The component's script and its documentation; the sizes of what leaves for other pages."""

from __future__ import annotations

from html import unescape

from flask.testing import FlaskClient

from backend.schedule.families import registry
from backend.web.routes import standalone
from tests.conftest import error_of

LARGEST_SCRIPT = 133_000  # bytes, before compression
LARGEST_FILE = 1_000_000


def test_any_site_may_load_the_script_and_a_browser_asks_for_it_once_a_day(reader: FlaskClient):
    answer = reader.get(
        "/bubble-line.js", headers={"Origin": "https://lessons.example", "Sec-Fetch-Site": "cross-site"}
    )
    assert answer.status_code == 200
    assert answer.mimetype == "text/javascript"
    assert answer.headers["Access-Control-Allow-Origin"] == "*"
    assert answer.headers["Cross-Origin-Resource-Policy"] == "cross-origin"
    assert "max-age=86400" in answer.headers["Cache-Control"]
    again = reader.get("/bubble-line.js", headers={"If-None-Match": answer.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")
    assert again.headers["Access-Control-Allow-Origin"] == "*"


def test_other_files_stay_closed_to_other_sites(reader: FlaskClient):
    for path in ("/component", "/static/css/tokens.css", "/api/families"):
        headers = reader.get(path).headers
        assert "Access-Control-Allow-Origin" not in headers, path
        assert headers["Cross-Origin-Resource-Policy"] == "same-origin", path


def test_the_script_is_small_and_asks_for_nothing():
    script = standalone.COMPONENT.read_bytes()
    assert len(script) <= LARGEST_SCRIPT
    for word in (b"fetch(", b"XMLHttpRequest", b"eval(", b"new Function", b"innerHTML", b"import("):
        assert word not in script, word


def test_a_file_of_four_schedules_is_at_most_a_megabyte(reader: FlaskClient):
    query = "family=v-half&p=8&m=32&b.family=interleaved&b.v=4&c.family=zb-h2&d.family=dualpipev"
    answer = reader.get(f"/api/standalone?{query}")
    assert answer.status_code == 200
    assert len(answer.data) <= LARGEST_FILE


def test_the_documentation_names_every_family_that_the_script_draws(reader: FlaskClient):
    text = unescape(reader.get("/component").text)
    listed = text.partition('<code id="families">')[2].partition("</code>")[0].split(", ")
    assert listed == [name for name, family in registry.FAMILIES.items() if family.problem is None]
    assert "http://localhost/bubble-line.js" in text


def test_without_a_bundle_the_script_is_refused_with_the_way_out(client: FlaskClient, monkeypatch, tmp_path):
    monkeypatch.setattr(standalone, "COMPONENT", tmp_path / "none.js")
    missing = client.get("/bubble-line.js")
    assert missing.status_code == 503
    assert "make setup" in error_of(missing)["message"]
