"""The routes: answers, encodings, caching, headers, links."""

from __future__ import annotations

import json
import re
import struct
import zlib
from typing import Any

import pytest
from flask.testing import FlaskClient

from backend.address.query import KEYS, query_of, spec_of
from backend.config import PROJECT
from backend.jobs.encoding import Encoded
from backend.schedule.families.registry import FAMILIES, order, read
from backend.schedule.order import wire
from backend.schedule.result import result
from backend.schedule.spec import Spec
from backend.web.http import bundle
from backend.web.http.cache import Cache
from backend.web.routes import schedule as schedule_routes
from tests.conftest import error_of

DEFLATE = {"Accept-Encoding": "deflate"}


def test_the_page_is_served(reader: FlaskClient):
    response = reader.get("/?family=zb-h1&zoom=1,2&theme=dark")
    assert response.status_code == 200
    assert response.mimetype == "text/html"


@pytest.mark.parametrize(
    ("path", "part", "title"),
    [
        ("/", None, "Explore · Bubbleline"),
        ("/?family=1f1b", "explore", "Explore · Bubbleline"),
        ("/learn", "learn", "Learn · Bubbleline"),
        ("/learn/gpipe", "learn", "GPipe and its bubble · Bubbleline"),
        ("/build", "build", "Build a schedule · Bubbleline"),
        ("/teach", "teach", "Teach · Bubbleline"),
        ("/component", None, "&lt;bubble-line&gt; · Bubbleline"),
        ("/nowhere", None, "No such page · Bubbleline"),
    ],
)
def test_every_page_has_the_products_name_its_own_and_links_to_all_parts(
    reader: FlaskClient, path: str, part: str | None, title: str
):
    page = reader.get(path, headers={"Accept": "text/html"}).text
    site = page[page.index('<div class="site">') :].partition("</nav>")[0]
    assert "Bubbleline</a>" in site
    names = ["Explore", "Learn", "Build", "Teach"]
    assert re.findall(r'<a [^>]*href="[^"]*"[^>]*>(\w+)</a>', site) == names
    now = re.findall(r'aria-current="(?:page|true)">(\w+)<', site)
    assert [each.lower() for each in now] == ([part] if part else [])
    assert f"<title>{title}</title>" in page


@pytest.mark.parametrize(
    ("settings", "place"),
    [
        ({}, "here"),
        ({"host": "0.0.0.0", "hosts": ("gpu01.lab",)}, "gpu01.lab"),
        ({"host": "::"}, "[::1]"),
        ({"engine": "ray", "ray_address": "10.0.0.1:6379"}, "cluster 10.0.0.1:6379"),
        ({"engine": "ray"}, "cluster"),
    ],
)
def test_the_page_and_the_workbench_say_where_runs_are_executed(make_app, settings: dict[str, Any], place: str):
    client = make_app(**settings).test_client()
    host = {"Host": "gpu01.lab:5000" if "hosts" in settings else place} if "host" in settings else {}
    for path in ("/?family=1f1b", "/build"):
        assert f'data-runs-on="{place}"' in client.get(path, headers=host).text


def test_an_address_without_a_view_has_the_first_screen_in_the_readers_language_and_no_other_has(reader: FlaskClient):
    page = reader.get("/?utm_source=letter&theme=dark").text
    assert "Your 4 GPUs idle 27 % of the step." in page
    assert "The grey costs $65 a day here, and $8,378 a day on 512 such GPUs." in page
    assert boxes(page, "pic-f pic-c0") == boxes(page, "pic-b pic-c0") == [32], "the picture needs no script"
    assert 'href="/build?task=finish-1f1b"' in page
    assert "你的 4 块 GPU 每步有 27 % 的时间在空等。" in reader.get("/", headers={"Accept-Language": "zh-CN"}).text
    for query in ("family=gpipe", "b.family=1f1b", "m.model=gpt3", "tab=plan", "z=abc", "run=1"):
        assert "story" not in reader.get(f"/?{query}").text, query


def test_a_links_first_picture_is_in_the_page_where_its_schedules_are_constructed_at_once(reader: FlaskClient):
    page = reader.get("/?family=1f1b&m=6&b.family=interleaved&lang=zh").text
    assert re.findall(r'<p class="lane-head"><strong>([^<]+)', page) == ["A · 1F1B", "B · Interleaved 1F1B"]
    assert boxes(page, "pic-f pic-c0") == [24, 24]
    assert boxes(page, "pic-f pic-c1") == [24], "only the second one has two chunks"
    ends = [int(end) for end in re.findall(r'pic-idle" d="M0 0h(\d+)v', page)]
    assert [int(width) for width in re.findall(r'"pic-lane" viewBox="0 0 (\d+)', page)] == [ends[0]] * 2
    assert ends[0] > ends[1], "on one axis of time"
    for query in ("family=zb-auto", "family=v-half", "m=4000", "p=x", "family=1f1b&t1=9", "z=abc", "run=1"):
        assert "first-picture" not in reader.get(f"/?{query}").text, query


def boxes(page: str, kind: str) -> list[int]:
    """How many boxes of a kind each lane of the first picture has, where it has any."""
    return [path.count("z") for path in re.findall(rf'<path class="{kind}" d="([^"]+)"', page)]


def test_the_links_to_the_parts_keep_the_language_of_a_lesson(reader: FlaskClient):
    site = reader.get("/learn?lang=zh").text.partition("</nav>")[0]
    assert 'href="/build?lang=zh">搭建</a>' in site
    assert 'href="/?family=gpipe&amp;b.family=1f1b&amp;lang=zh">探索</a>' in site


def test_the_families_route_has_laws_limits_and_defaults(reader: FlaskClient):
    body = reader.get("/api/families").get_json()
    assert [family["name"] for family in body["families"]] == list(FAMILIES)
    assert body["defaults"] == Spec().to_json()
    assert {"p", "m", "v", "ops"} <= set(body["limits"])


def header_of(body: bytes) -> dict[str, Any]:
    """The header of an order in the wire format."""
    (size,) = struct.unpack_from("<I", body)
    header: dict[str, Any] = json.loads(body[4 : 4 + size])
    return header


@pytest.mark.parametrize("name", FAMILIES)
def test_the_order_of_every_family_is_sent_in_the_compact_form(reader: FlaskClient, name: str):
    response = reader.get(f"/api/schedule?family={name}&p=4&m=8", headers=DEFLATE)
    assert response.mimetype == "application/vnd.bubbleline.schedule"
    assert response.headers["Content-Encoding"] == "deflate"
    spec = read({"family": name, "p": 4, "m": 8})
    body = zlib.decompress(response.data)
    assert body == wire.encode(order(spec), spec.to_json())
    (size,) = struct.unpack_from("<I", body)
    assert json.loads(body[4 : 4 + size])["spec"] == spec.to_json()


def test_a_client_without_deflate_gets_the_same_bytes_plain(reader: FlaskClient):
    plain = reader.get("/api/schedule?p=3", headers={"Accept-Encoding": "identity"})
    packed = reader.get("/api/schedule?p=3", headers=DEFLATE)
    assert "Content-Encoding" not in plain.headers
    assert plain.data == zlib.decompress(packed.data)
    assert plain.headers["ETag"] != packed.headers["ETag"]


@pytest.mark.parametrize(
    ("accept", "as_json"),
    [
        ("application/json", True),
        ("application/json;q=0.9,application/vnd.bubbleline.schedule;q=0.1", True),
        ("*/*", False),
        ("text/html,application/xhtml+xml,*/*;q=0.8", False),
        ("application/vnd.bubbleline.schedule", False),
        ("image/png", False),
    ],
)
def test_json_is_sent_only_on_request(reader: FlaskClient, accept: str, as_json: bool):
    response = reader.get("/api/schedule?p=2&m=3", headers={"Accept": accept})
    assert (response.mimetype == "application/json") == as_json
    if as_json:
        assert response.get_json() == json.loads(json.dumps(result(read({"p": 2, "m": 3}))))


def test_the_laws_of_a_spec_have_their_values(reader: FlaskClient):
    laws = reader.get("/api/laws?p=5&m=9").get_json()["laws"]
    assert laws
    assert all({"quantity", "window", "text", "numbers", "value", "exact", "why"} <= set(law) for law in laws)


@pytest.mark.parametrize("encoding", ["identity", "deflate"])
@pytest.mark.parametrize(
    "path",
    [
        "/api/schedule?p=4",
        "/api/compare?p=4",
        "/api/models",
        "/api/costs",
        "/api/balance",
        "/api/openapi.json",
        "/preview.png?p=4",
    ],
)
def test_what_is_only_read_is_not_sent_again_to_whom_has_it(reader: FlaskClient, path: str, encoding: str):
    accept = {"Accept-Encoding": encoding}
    first = reader.get(path, headers=accept)
    again = reader.get(path, headers=accept | {"If-None-Match": first.headers["ETag"]})
    assert (first.status_code, again.status_code, again.data) == (200, 304, b"")
    assert reader.get(path, headers=accept | {"If-None-Match": '"another"'}).data == first.data
    assert reader.post(path).status_code == 405


def test_two_addresses_of_one_spec_share_one_response(client: FlaskClient, monkeypatch):
    built = []
    monkeypatch.setattr(schedule_routes.registry, "order", lambda spec: built.append(spec) or order(spec))
    one = client.get("/api/schedule?m=8&p=4&family=1f1b").data
    assert client.get("/api/schedule?comm=0.0&w_share=1").data == one
    assert len(built) == 1


def test_every_response_has_the_headers_that_keep_other_sites_out(reader: FlaskClient):
    for path in ("/", "/api/families", "/nowhere", "/healthz"):
        headers = reader.get(path).headers
        policy = headers["Content-Security-Policy"]
        assert "script-src 'self';" in policy
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(
    ("host", "served"),
    [
        ("127.0.0.1:5000", True),
        ("localhost", True),
        ("[::1]:5000", True),
        ("LOCALHOST:80", True),
        ("evil.example", False),
        ("127.0.0.1.evil.example:5000", False),
        ("localhost@evil.example", False),
    ],
)
@pytest.mark.parametrize("path", ["/healthz", "/socket.io/?EIO=4&transport=polling"])
def test_a_host_name_that_is_not_ours_is_not_served(reader: FlaskClient, host, served, path):
    response = reader.get(path, headers={"Host": host})
    if served:
        assert response.status_code == 200
    else:
        assert response.status_code == 400
        assert error_of(response)["field"] == "Host"


def test_a_page_of_another_origin_may_not_open_a_socket(reader: FlaskClient):
    path = "/socket.io/?EIO=4&transport=polling"
    assert reader.get(path, headers={"Origin": "http://evil.example"}).status_code == 400
    assert reader.get(path, headers={"Origin": "http://localhost"}).status_code == 200


def test_a_file_whose_address_names_its_content_is_kept_for_good(reader: FlaskClient):
    script = re.search(r'<script type="module" src="([^"]+)\?v=([0-9a-f]{12})"', reader.get("/").text)
    assert script
    address, digest = script.groups()
    for kept in (f"{address}?v={digest}", *re.findall(r'modulepreload" href="([^"]+)"', reader.get("/").text)):
        assert reader.get(kept).headers["Cache-Control"] == "public, max-age=31536000, immutable"
    for asked in (address, f"{address}?v=", f"{address}?v={'0' * 12}", "/static/img/icon.svg?v=1"):
        assert "no-cache" in reader.get(asked).headers["Cache-Control"], "another release may be at this address"


def test_health_reports_every_part(client: FlaskClient):
    body = client.get("/healthz").get_json()
    assert body["ok"] is True
    assert body["runner"]["state"] == "off"
    assert body["store"] == {"ok": True, "why": None, "unreadable": 0}


@pytest.mark.parametrize(
    "path", ["/api/schedule?family=dualpipe&p=3", "/api/costs?p=0", "/api/balance?family=dualpipe&p=3"]
)
def test_an_illegal_spec_gets_status_200_where_the_client_prefers_lenient_handling(reader: FlaskClient, path: str):
    strict, lenient = reader.get(path), reader.get(path, headers={"Prefer": "handling=lenient"})
    assert (strict.status_code, lenient.status_code) == (400, 200)
    assert lenient.get_json() == strict.get_json()
    assert error_of(lenient)["field"] == "p"
    assert lenient.headers["Preference-Applied"] == "handling=lenient"
    fine = reader.get("/api/schedule?family=dualpipe&p=4", headers={"Prefer": "handling=lenient"})
    assert fine.mimetype == "application/vnd.bubbleline.schedule"


def test_the_address_accepts_exactly_the_keys_of_a_spec():
    spec = Spec().to_json()
    assert set(KEYS) == (set(spec) - {"costs"}) | set(spec["costs"])


@pytest.mark.parametrize(
    ("spec", "query"),
    [
        ({}, ""),
        ({"family": "zb-h1", "p": 8, "m": 32}, "family=zb-h1&p=8&m=32"),
        ({"costs": {"F": [1, 2.5, 1, 1], "comm": 0.1}}, "F=1,2.5,1,1&comm=0.1"),
        ({"family": "gpipe", "lifo": True}, "family=gpipe&lifo=true"),
        ({"family": "interleaved", "v": 2}, "family=interleaved"),
        ({"family": "interleaved", "v": 3}, "family=interleaved&v=3"),
        ({"memory": 2.0, "w_share": 1e-7}, "memory=2&w_share=1e-7"),
    ],
)
def test_a_link_has_the_differences_from_the_defaults_and_is_read_back_as_the_spec(spec, query):
    assert query_of(read(spec)) == query
    assert spec_of(query.encode()) == read(spec)


def test_the_cache_keeps_within_its_bytes_and_evicts_the_least_recently_used():
    cache = Cache(10_000)
    for key in range(6):
        cache.put(key, Encoded.of(bytes(1000), "x"))
        cache.get(0)
    assert cache.bytes <= 10_000
    assert [key for key in range(6) if cache.get(key)] == [0, 3, 4, 5]
    cache.put(9, Encoded.of(bytes(20_000), "x"))
    assert cache.bytes == 0


def test_scripts_are_sent_compressed_once_and_not_again_while_they_are_unchanged(reader: FlaskClient) -> None:
    path, accept = "/static/vendor/app/js/main.js", {"Accept-Encoding": "gzip, deflate"}
    answer = reader.get(path, headers=accept)
    source = (PROJECT / path[1:]).read_bytes()
    assert (answer.mimetype, answer.headers["Content-Encoding"]) == ("text/javascript", "deflate")
    assert "no-cache" in answer.headers["Cache-Control"], "they are revalidated each time"
    assert zlib.decompress(answer.data) == source
    assert len(answer.data) < len(source) / 2
    again = reader.get(path, headers=accept | {"If-None-Match": answer.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")
    assert reader.get(path).data == source, "for whoever takes no compression a file goes as it is"
    short = "/static/img/icon.svg"
    assert reader.get(short, headers=accept).data == (PROJECT / short[1:]).read_bytes(), "and a short one always"
    assert reader.get("/static/js/../../app.py", headers=accept).status_code == 404
    assert reader.get("/static/js/none.js", headers=accept).status_code == 404


def test_the_page_asks_for_all_parts_of_its_script_at_once(reader: FlaskClient) -> None:
    text = reader.get("/").text
    chunks = re.findall(r'<link rel="modulepreload" href="([^"]+)"', text)
    assert '<link rel="preload" href="/api/families" as="fetch"' in text
    assert chunks
    assert all(reader.get(chunk).status_code == 200 for chunk in chunks)


def test_without_a_bundle_the_page_is_refused_with_the_way_out(client: FlaskClient, monkeypatch) -> None:
    monkeypatch.setattr(bundle, "BUILT", PROJECT / "none")
    missing = client.get("/")
    assert missing.status_code == 503
    assert "make setup" in error_of(missing)["message"]
