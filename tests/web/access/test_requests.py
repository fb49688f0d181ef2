"""Requests of clients with and without a token: what is refused, what is allowed, and whose runs are whose."""

from __future__ import annotations

import logging
import re
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from backend.access.keys import Keys
from backend.access.roles import Role
from backend.schedule.families.registry import order, read
from backend.schedule.interop.traces import chrome_export
from backend.schedule.simulation.simulate import simulate
from backend.web.http.access import role_needed
from tests.conftest import MakeApp, error_of


@pytest.fixture
def make(make_app: MakeApp) -> MakeApp:
    """Make apps that others can reach, so that tokens are needed."""
    return lambda **settings: make_app(**{"host": "0.0.0.0"} | settings)


def keys_of(app: Flask) -> Keys:
    keys: Keys = app.extensions["bubbleline.policy"].keys
    return keys


def holder(app: Flask, admin: bool = False) -> FlaskClient:
    """A browser that has followed the link with a token."""
    client = app.test_client()
    token = keys_of(app).admin_token if admin else keys_of(app).token
    assert client.get(f"/?token={token}").status_code == 302
    return client


def a_trace() -> dict[str, Any]:
    spec = read({"family": "1f1b", "p": 2, "m": 2})
    return chrome_export.trace(simulate(order(spec), spec.timing, spec.v), "x")


def test_the_role_that_each_route_needs_is_known(make: MakeApp):
    needed = {
        (rule.endpoint, method): role_needed(rule.endpoint, method)
        for rule in make().url_map.iter_rules()
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
    }
    assert {name for name, role in needed.items() if role == Role.RUN} == {
        ("runs.start_run", "POST"), ("runs.cancel_run", "POST"), ("history.rename_run", "PATCH"),
        ("history.delete_run", "DELETE"), ("imports.import_run", "POST"), ("classes.open_class", "POST"),
    }  # fmt: skip
    assert {name for name, role in needed.items() if role == Role.ADMIN} == {
        *(("health.metrics", "GET"), ("tasks.delete_entry", "DELETE"), ("tasks.delete_name", "DELETE")),
    }
    assert {name for name, role in needed.items() if role == Role.NOBODY} == {
        ("static", "GET"), ("health.healthz", "GET"), ("health.readyz", "GET"),
        ("component.show_component", "GET"), ("component.component_script", "GET"),  # code for other sites, no data
    }  # fmt: skip


def test_pages_of_other_sites_can_change_nothing(app: Flask, client: FlaskClient):
    changing = [
        (re.sub("<[^>]*>", "a", rule.rule), method)
        for rule in app.url_map.iter_rules()
        for method in (rule.methods or set()) & {"POST", "PATCH", "PUT", "DELETE"}
    ]
    assert {("/api/runs", "POST"), ("/api/runs/a", "DELETE"), ("/api/links", "POST")} <= set(changing)
    for path, method in changing:
        refused = client.open(path, method=method, json={}, headers={"Origin": "https://elsewhere.example"})
        assert (refused.status_code, error_of(refused)["field"]) == (403, "Origin"), (method, path)
        ours = client.open(path, method=method, json={}, headers={"Origin": "http://localhost"})
        assert ours.status_code != 403, (method, path)


def test_without_a_token_one_may_look_but_not_run(make: MakeApp):
    client = make().test_client()
    assert 'data-role="view"' in client.get("/").text
    for path in ("/api/schedule", "/api/runs", "/api/devices"):
        assert client.get(path).status_code == 200
    assert client.post("/api/links", json={"query": "?p=2"}).status_code == 201
    assert client.post("/api/orders", json={"csv": "0F0,0B0"}).status_code == 200
    for path in ("/api/runs", "/api/runs/import", "/api/runs/x/cancel"):
        answer = client.post(path, json={})
        assert (answer.status_code, error_of(answer)["code"]) == (401, "access.run_needs_token")
        assert answer.headers["WWW-Authenticate"] == "Bearer"
        assert "the link that the server printed" in error_of(answer)["message"]
    assert client.delete("/api/runs/x").status_code == 401
    assert client.get("/metrics").status_code == 401


def test_the_link_with_a_token_sets_a_cookie_and_leads_to_the_same_view_without_it(make: MakeApp):
    app = make()
    client = app.test_client()
    answer = client.get(f"/?family=zb-h1&token={keys_of(app).token}&p=%34&marks=1,2")
    assert (answer.status_code, answer.headers["Location"]) == (302, "/?family=zb-h1&p=%34&marks=1,2")
    cookie = answer.headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    assert "Secure" not in cookie
    assert keys_of(app).token not in cookie
    assert 'data-role="run"' in client.get("/").text
    assert client.post("/api/runs", json={}).status_code == 202
    refused = client.get("/metrics")
    assert (refused.status_code, error_of(refused)["code"]) == (403, "access.needs_admin")
    short = client.post("/api/links", json={"query": "?p=2"}).get_json()["url"]
    assert app.test_client().get(f"{short}?token={keys_of(app).token}").headers["Location"] == short


def test_scripts_send_the_token_as_a_bearer(make: MakeApp):
    app = make()
    client = app.test_client()
    sent = {"Authorization": f"Bearer {keys_of(app).token}"}
    answer = client.post("/api/runs", json={}, headers=sent)
    assert answer.status_code == 202
    assert "Set-Cookie" not in answer.headers
    assert client.post(f"/api/runs/{answer.get_json()['id']}/cancel", headers=sent).status_code == 202
    assert client.get("/metrics", headers={"Authorization": f"Bearer {keys_of(app).admin_token}"}).status_code == 200
    refused = client.get("/api/runs", headers={"Authorization": "Bearer guess"})
    assert (refused.status_code, error_of(refused)["code"]) == (401, "access.bad_token")
    assert client.post("/api/runs", json={}, headers={"Authorization": "Basic eDp5"}).status_code == 401


def test_a_wrong_token_in_a_link_gets_a_page_that_says_so(make: MakeApp):
    client = make().test_client()
    refused = client.get("/?token=guess", headers={"Accept": "text/html"})
    assert refused.status_code == 401
    assert "no longer valid" in refused.text
    assert "Set-Cookie" not in refused.headers
    as_json = client.get("/?token=guess", headers={"Accept": "application/json"})
    assert error_of(as_json)["code"] == "access.bad_token"


def test_where_viewing_is_closed_only_the_token_opens_anything(make: MakeApp):
    app = make(view_open=False)
    client = app.test_client()
    token = keys_of(app).token
    for page in ("/", "/build", "/embed", "/learn", "/learn/pipelines", "/teach", "/teach/presenter", "/class"):
        closed = client.get(page, headers={"Accept": "text/html"})
        assert closed.status_code == 401
        assert "not open to everybody" in closed.text
        assert app.test_client().get(f"{page}?token={token}&p=2").headers["Location"] == f"{page}?p=2"
    assert "不对所有人开放" in client.get("/", headers={"Accept-Language": "zh"}).text
    paths = ("/api/schedule", "/api/families", "/api/runs", "/preview.png", "/socket.io/?EIO=4&transport=polling")
    for path in paths:
        assert error_of(client.get(path))["code"] == "access.view_needs_token", path
    assert client.get("/healthz").status_code == 200
    assert client.get("/static/css/app/notice.css").status_code == 200
    inside = holder(app)
    for path in ("/", *paths):
        assert inside.get(path).status_code == 200, path


def test_only_the_browser_that_made_a_run_and_administrators_change_it(make: MakeApp):
    app = make()
    owner, other, admin = holder(app), holder(app), holder(app, admin=True)
    ids = [owner.post("/api/runs/import", json=a_trace()).get_json()["id"] for _ in range(2)]
    app.extensions["bubbleline"].runs._runs.clear()  # who owns a run is stored with it
    for client, mine in ((owner, True), (other, False), (admin, True), (app.test_client(), False)):
        assert client.get(f"/api/runs/{ids[0]}").get_json()["mine"] is mine
        listed = client.get("/api/runs").get_json()["runs"]
        assert [run["mine"] for run in listed] == [mine, mine]
        assert "owner" not in client.get("/api/runs").text + client.get(f"/api/runs/{ids[0]}").text
    attempts = (other.delete(f"/api/runs/{ids[0]}"), other.patch(f"/api/runs/{ids[0]}", json={"name": "x"}))
    for refused in attempts:
        assert (refused.status_code, error_of(refused)["code"]) == (403, "access.not_yours")
    assert owner.patch(f"/api/runs/{ids[0]}", json={"name": "mine"}).status_code == 200
    assert owner.delete(f"/api/runs/{ids[0]}").status_code == 204
    assert admin.delete(f"/api/runs/{ids[1]}").status_code == 204
    assert owner.delete(f"/api/runs/{ids[1]}").status_code == 404


def test_another_browser_cannot_cancel_my_run(make: MakeApp):
    app = make()
    owner, other = holder(app), holder(app)
    run_id = owner.post("/api/runs", json={}).get_json()["id"]
    refused = other.post(f"/api/runs/{run_id}/cancel")
    assert (refused.status_code, error_of(refused)["code"]) == (403, "access.not_yours")
    assert owner.get(f"/api/runs/{run_id}").get_json()["status"] == "queued"
    assert owner.post(f"/api/runs/{run_id}/cancel").status_code == 202


def test_on_a_local_server_everybody_may_do_everything_and_a_browser_still_owns_its_runs(app: Flask):
    first, second = app.test_client(), app.test_client()
    assert first.get("/?token=whatever&p=2").headers["Location"] == "/?p=2"
    assert 'data-role="admin"' in first.get("/").text
    run_id = first.post("/api/runs", json={}).get_json()["id"]
    owner = app.extensions["bubbleline"].runs.get(run_id).owner
    assert owner.startswith("browser:")
    assert app.extensions["bubbleline"].runs.get(first.post("/api/runs", json={}).get_json()["id"]).owner == owner
    assert second.get(f"/api/runs/{run_id}").get_json()["mine"] is True
    assert second.post(f"/api/runs/{run_id}/cancel").status_code == 202
    assert second.get("/metrics").status_code == 200


def test_browsers_get_their_cookie_when_they_open_the_page_and_with_a_change_only(app: Flask):
    assert "Set-Cookie" not in app.test_client().get("/api/families").headers
    assert "Set-Cookie" not in app.test_client().post("/api/runs", json={"speck": 1}).headers
    client = app.test_client()
    assert "Set-Cookie" in client.get("/").headers
    assert "Set-Cookie" not in client.get("/").headers
    assert "bubbleline-5000=" in app.test_client().get("/", headers={"Host": "localhost:5000"}).headers["Set-Cookie"]


def test_a_class_with_a_token_behind_one_address_has_a_share_for_each_browser(make: MakeApp):
    app = make(queue_per_client=1, links_per_hour=1, imports_per_hour=1)
    for client in (holder(app), holder(app)):
        assert client.post("/api/runs", json={}).status_code == 202
        assert client.post("/api/runs", json={}).status_code == 429
        assert client.post("/api/runs/import", json=a_trace()).status_code == 201
        over = client.post("/api/runs/import", json=a_trace())
        assert over.status_code == 429
        assert 0 < int(over.headers["Retry-After"]) <= 3600
    for number in range(2):  # new visitors without a token, as one that throws its cookie away
        answer = app.test_client().post("/api/links", json={"query": f"?p={number + 2}"})
        assert answer.status_code == (429 if number else 201)
    assert answer.headers["Retry-After"] == "3600"


def test_a_client_over_its_pace_is_refused_for_a_time_and_no_other_is(make: MakeApp):
    app = make(requests_per_minute=60)
    client = app.test_client()
    statuses = [client.get("/static/css/app/notice.css").status_code for _ in range(70)]
    assert statuses[:60] == [200] * 60
    assert 429 in statuses[60:]
    over = client.get("/socket.io/?EIO=4&transport=polling")
    assert (over.status_code, error_of(over)["code"]) == (429, "access.too_many_requests")
    assert over.headers["Retry-After"] == "1"
    fresh = app.test_client().get("/", headers={"X-Forwarded-For": "10.9.9.9"})
    assert fresh.status_code == 429, "a new cookie or a forged header is no new client"
    assert app.test_client().get("/", environ_base={"REMOTE_ADDR": "10.0.0.9"}).status_code == 200


def test_what_clients_do_is_in_the_audit_log_and_no_token_is(make: MakeApp, caplog: pytest.LogCaptureFixture):
    app = make()
    with caplog.at_level(logging.DEBUG):
        owner, other = holder(app), holder(app)
        run_id = owner.post("/api/runs", json={}).get_json()["id"]
        owner.patch(f"/api/runs/{run_id}", json={"name": "before lunch"})
        other.post(f"/api/runs/{run_id}/cancel")
        owner.post(f"/api/runs/{run_id}/cancel")
        owner.delete(f"/api/runs/{run_id}")
        owner.post("/api/runs/import", json=a_trace())
        app.test_client().post("/api/runs", json={})
        app.test_client().get("/?token=guessed-token-guessed")
    lines = [record.getMessage() for record in caplog.records if record.name == "bubbleline.audit"]
    done = [line.partition('"what": "')[2].partition('"')[0] for line in lines]
    assert done == [
        "signed in", "signed in", "run", "rename", "refused", "cancel", "delete", "import", "refused", "refused",
    ]  # fmt: skip
    assert f'"run": "{run_id}"' in lines[2]
    assert f"POST /api/runs/{run_id}/cancel" in lines[4]
    keys = keys_of(app)
    for secret in (keys.token, keys.admin_token, keys.secret, "guessed-token-guessed"):
        assert secret not in caplog.text
