"""The routes of runs: accepted requests, refusals and their error shape."""

from __future__ import annotations

import json
import time

import pytest
from flask import Flask
from flask.testing import FlaskClient

from backend.runs import options
from backend.runs.run import Run
from backend.schedule.families import registry
from backend.schedule.order import wire
from backend.schedule.spec import Spec
from runner import protocol
from tests.conftest import error_of


def post(client: FlaskClient, body: object = None, **options):
    return client.post("/api/runs", json={} if body is None else body, **options)


def test_an_accepted_run_has_an_id_a_queue_position_and_its_page(client: FlaskClient):
    response = post(client, {"spec": {"family": "zb-h1", "p": 2, "m": 2}, "mode": "paced", "unit_ms": 2})
    body = response.get_json()
    assert response.status_code == 202
    assert body["url"] == f"/?family=zb-h1&p=2&m=2&run={body['id']}"
    assert (body["status"], body["position"]) == ("queued", 1)


def test_a_run_of_the_default_spec_has_the_shortest_page(client: FlaskClient):
    body = post(client).get_json()
    assert body["url"] == f"/?run={body['id']}"


def test_a_run_is_stored_with_its_chosen_options_and_the_list_has_them(client: FlaskClient):
    chosen = {"mode": "paced", "unit_ms": 2.5, "dtype": "bfloat16", "device": "cpu", "steps": 3, "seed": 7}
    run_id = post(client, {"spec": {"p": 2}} | chosen).get_json()["id"]
    assert client.get(f"/api/runs/{run_id}").get_json()["asked"] == chosen
    plain = post(client, {"spec": {"p": 2}}).get_json()["id"]
    listed = {run["id"]: run["asked"] for run in client.get("/api/runs").get_json()["runs"]}
    assert listed == {
        run_id: chosen,
        plain: {"mode": "auto", "unit_ms": None, "dtype": "float32", "device": "auto", "steps": 1, "seed": 0},
    }


def test_a_bad_choice_is_refused_with_the_nearest_legal_one(client: FlaskClient):
    for body, nearest in (({"steps": 1000}, 100), ({"seed": 2**40}, 2**31 - 1), ({"dtype": "half"}, "float32")):
        error = error_of(post(client, body))
        assert (error["value"], error["nearest"]) == (next(iter(body.values())), nearest)


@pytest.mark.parametrize("schedule", [{"family": "1f1b", "forward_only": True}, {"family": "pipedream"}], ids=str)
def test_several_steps_of_a_schedule_that_has_one_are_refused_before_the_run_is_queued(
    client: FlaskClient, schedule: dict[str, object]
):
    asked = {"spec": schedule | {"p": 3}, "unit_ms": 2.5}
    refused = post(client, asked | {"steps": 2})
    assert refused.status_code == 400
    error = refused.get_json()["error"]
    assert (error["field"], error["nearest"]) == ("steps", 1)
    assert post(client, asked).status_code == 202


def test_gpus_are_refused_at_once_where_the_runner_has_reported_none(app: Flask, client: FlaskClient):
    runs = app.extensions["bubbleline"].runs
    assert post(client, {"device": "cuda"}).status_code == 202, "the runner has not reported its devices yet"
    runs.client.devices = [{"kind": "cpu", "cores": 2}]
    error = error_of(post(client, {"device": "cuda"}))
    assert (error["field"], error["nearest"]) == ("device", "cpu")
    assert post(client, {"device": "cpu"}).status_code == 202
    runs.client.devices.append({"kind": "cuda", "index": 0})
    assert post(client, {"spec": {"p": 4}, "device": "cuda"}).status_code == 202, "ranks can share one"


def test_a_run_is_refused_at_once_where_what_it_takes_is_not_installed(app: Flask, client: FlaskClient):
    app.extensions["bubbleline"].runs.client.state = "missing"
    app.extensions["bubbleline"].runs.client.why = "torch is not installed"
    answer = client.post("/api/runs", json={})
    assert (answer.status_code, answer.get_json()["error"]["message"]) == (503, "torch is not installed")
    assert client.get("/api/devices").get_json()["state"] == "missing"
    assert client.get("/api/runs").get_json()["runs"] == []


def test_the_limits_here_are_those_of_the_runner():
    assert (options.CHOICES["dtype"], options.CHOICES["device"]) == (protocol.DTYPES, protocol.KINDS)
    assert (options.MOST_STEPS, options.MOST_SEED) == (protocol.MAX_STEPS, protocol.MAX_SEED)
    assert protocol.MIN_UNIT_MS <= options.UNIT_MS[0] < options.UNIT_MS[1] <= protocol.MAX_UNIT_MS


def test_a_run_can_be_opened_as_soon_as_it_is_accepted(client: FlaskClient):
    run_id = post(client, {"spec": {"p": 3}, "unit_ms": 2.5}).get_json()["id"]
    run = client.get(f"/api/runs/{run_id}").get_json()
    assert run["spec"] == Spec(p=3).to_json()
    assert {key: run[key] for key in ("status", "position", "mode", "device", "unit_ms", "ops", "verified")} == {
        "status": "queued", "position": 1, "mode": None, "device": None, "unit_ms": 2.5, "ops": [], "verified": None,
    }  # fmt: skip
    assert run["seq"] == 1
    assert abs(run["created"] - time.time()) < 5


BAD_BODIES = [
    (b"", "body", 400),
    (b"{", "body", 400),
    (b"[]", "body", 400),
    (b"null", "body", 400),
    (b'"text"', "body", 400),
    (b"\xff\xfe", "body", 400),
    (b'{"unit_ms": NaN}', "body", 400),
    (b'{"unit_ms": -Infinity}', "body", 400),
    (b'{"unit_ms": ' + b"9" * 5000 + b"}", "body", 400),
    (b"[" * 100_000, "body", 400),
    (b'{"mode": "auto", "mode": "free"}', "mode", 400),
    (b'{"spec": {"p": 2, "p": 3}}', "p", 400),
    (b'{"speck": {}}', "speck", 400),
    (b'{"spec": []}', "spec", 400),
    (b'{"spec": null}', "spec", 400),
    (b'{"spec": {"q": 1}}', "q", 400),
    (b'{"spec": {"p": "4"}}', "p", 400),
    (b'{"spec": {"p": true}}', "p", 400),
    (b'{"spec": {"p": 1e400}}', "p", 400),
    (b'{"spec": {"p": 1000000000}}', "p", 400),
    (b'{"spec": {"family": ["1f1b"]}}', "family", 400),
    (b'{"spec": {"costs": {"F": [1, "x", 1, 1]}}}', "F", 400),
    (b'{"spec": {"costs": 3}}', "costs", 400),
    (b'{"mode": "fast"}', "mode", 400),
    (b'{"mode": ["auto"]}', "mode", 400),
    (b'{"mode": null}', "mode", 400),
    (b'{"unit_ms": "2"}', "unit_ms", 400),
    (b'{"unit_ms": 0}', "unit_ms", 400),
    (b'{"unit_ms": 1e400}', "unit_ms", 400),
    (b'{"mode": "free", "unit_ms": 2}', "unit_ms", 400),
    (b'{"dtype": "float16"}', "dtype", 400),
    (b'{"dtype": null}', "dtype", 400),
    (b'{"device": "tpu"}', "device", 400),
    (b'{"steps": 0}', "steps", 400),
    (b'{"steps": 1.5}', "steps", 400),
    (b'{"steps": true}', "steps", 400),
    (b'{"seed": -1}', "seed", 400),
    (b'{"seed": "7"}', "seed", 400),
    (b'{"spec": {}}' + b" " * 300_000, "body", 413),
]


@pytest.mark.parametrize(("body", "field", "status"), BAD_BODIES, ids=[repr(body[:40]) for body, _, _ in BAD_BODIES])
def test_a_bad_body_is_refused_at_once_and_the_key_is_named(reader: FlaskClient, body, field, status):
    begun = time.process_time()
    response = reader.post("/api/runs", data=body, content_type="application/json")
    assert time.process_time() - begun < 0.5
    assert response.status_code == status
    assert error_of(response)["field"] == field
    assert reader.get("/api/runs").get_json()["runs"] == []


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", None])
def test_a_body_that_any_site_could_send_without_preflight_is_refused(reader: FlaskClient, kind):
    response = reader.post("/api/runs", data=b"{}", content_type=kind)
    assert response.status_code == 415
    assert error_of(response)["field"] == "Content-Type"


@pytest.mark.parametrize("path", ["", "/cancel"])
@pytest.mark.parametrize("run_id", ["abc", "%00", "x" * 3000, "'--", "..%2f.."])
def test_an_unknown_run_is_404_whatever_its_id_looks_like(reader: FlaskClient, run_id, path):
    response = reader.open(f"/api/runs/{run_id}{path}", method="POST" if path else "GET")
    assert response.status_code == 404
    error_of(response)


def test_a_cancelled_run_cannot_be_cancelled_again(client: FlaskClient):
    run_id = post(client).get_json()["id"]
    assert client.post(f"/api/runs/{run_id}/cancel").get_json() == {"id": run_id, "status": "cancelled"}
    response = client.post(f"/api/runs/{run_id}/cancel")
    assert response.status_code == 409
    assert error_of(response)["field"] == "id"


def test_a_full_queue_is_503_and_a_used_up_share_429(app: Flask, client: FlaskClient):
    queue = app.extensions["bubbleline"].runs.queue
    for _ in range(queue.per_client):
        assert post(client).status_code == 202
    mine = post(client)
    assert (mine.status_code, error_of(mine)["limit"]) == (429, queue.per_client)
    assert 1 <= int(mine.headers["Retry-After"]) <= 600
    for k in range(queue.limit - queue.per_client):
        other = {"REMOTE_ADDR": f"10.0.0.{k}"}
        assert post(client, environ_overrides=other).status_code == 202
    full = post(client, environ_overrides={"REMOTE_ADDR": "10.1.0.0"})
    assert (full.status_code, error_of(full)["limit"]) == (503, queue.limit)
    assert 1 <= int(full.headers["Retry-After"]) <= 600


def test_four_addresses_that_post_without_end_leave_a_newcomer_its_place_and_its_turn(app: Flask, client: FlaskClient):
    accepted = []
    for k in range(100):
        answer = post(client, environ_overrides={"REMOTE_ADDR": f"10.0.0.{k % 4}"})
        accepted += [answer.get_json()["id"]] if answer.status_code == 202 else []
        assert answer.status_code in (202, 429)
    newcomer = post(client, environ_overrides={"REMOTE_ADDR": "10.1.0.0"})
    assert newcomer.status_code == 202
    assert newcomer.get_json()["position"] == 5  # after the first run of each of the others
    assert len(accepted) < app.extensions["bubbleline"].config.queue


@pytest.mark.parametrize(
    ("body", "field", "nearest"),
    [
        ({"spec": {"p": 1, "m": 10}, "unit_ms": 10_000, "steps": 100}, "unit_ms", 600.0),
        ({"spec": {"p": 2, "m": 6000}, "mode": "free", "steps": 100}, "steps", 15),
        ({"spec": {"p": 4, "m": 50_000}, "mode": "free", "device": "cpu"}, "m", 45_000),
        ({"spec": {"family": "interleaved", "p": 7, "v": 2, "m": 21_000}, "mode": "free"}, "m", 12_852),
    ],
    ids=["unit", "steps", "micro-batches", "micro-batches in rounds"],
)
def test_a_run_that_would_take_too_long_is_refused_with_the_nearest_that_does_not(
    client: FlaskClient, body: dict, field: str, nearest: float
):
    answer = post(client, body)
    error = error_of(answer)
    assert (answer.status_code, error["field"], error["nearest"], error["limit"]) == (400, field, nearest, 1800)
    assert error["code"] == "runs.too_long"
    body = body | ({"spec": body["spec"] | {"m": nearest}} if field == "m" else {field: nearest})
    assert post(client, body).status_code == 202


def test_the_length_of_a_paced_run_is_that_of_its_plan(client: FlaskClient):
    answer = post(client, {"spec": {"p": 1, "m": 10}, "mode": "paced", "unit_ms": 100, "steps": 4}).get_json()
    assert answer["estimate_s"] == pytest.approx(10 * 3 * 0.1 * 4)
    assert client.get(f"/api/runs/{answer['id']}").get_json()["estimate_s"] == answer["estimate_s"]


def test_the_length_of_a_paced_run_whose_unit_the_runner_chooses_is_at_most_a_minute(client: FlaskClient):
    short = post(client, {"spec": {"p": 1, "m": 10}, "mode": "paced"}).get_json()
    long = post(client, {"spec": {"p": 4, "m": 1000}, "mode": "paced", "steps": 50}).get_json()
    assert short["estimate_s"] == pytest.approx(30 * 0.15)  # units of 150 ms
    assert 30 <= long["estimate_s"] <= 60


def test_the_length_of_a_free_run_is_learnt_from_those_before(app: Flask, client: FlaskClient):
    def ask() -> float:
        return post(client, {"spec": {"p": 2, "m": 100}, "mode": "free", "steps": 2}).get_json()["estimate_s"]

    ended = Run("a", {}, "free", None, 0.0, options={"dtype": "float32", "steps": 2})
    ended.apply({"event": "running", "mode": "free", "device": "cpu"})
    ended.apply({"event": "op_batch", "ops": [[0, k, 0, 0, 1, 0] for k in range(400)]})
    first = ask()
    times = app.extensions["bubbleline"].runs.times
    times.learn(ended, 9999)  # not finished
    assert ask() == first
    ended.apply({"event": "finished", "mode": "free", "device": "cpu"})
    times.learn(ended, 2.4)
    assert ask() == pytest.approx(2.4)
    times.learn(ended, 4.8)
    assert 2.4 < ask() < 3.6


def test_the_list_pages_from_the_newest(client: FlaskClient):
    ids = [post(client).get_json()["id"] for _ in range(5)]
    first = client.get("/api/runs?limit=3").get_json()
    second = client.get(f"/api/runs?limit=3&before={first['next']}").get_json()
    assert [run["id"] for run in first["runs"] + second["runs"]] == ids[::-1]
    assert second["next"] is None
    assert "ops" not in first["runs"][0]


@pytest.mark.parametrize(
    ("query", "status", "field"),
    [
        ("limit=0", 400, "limit"),
        ("limit=101", 400, "limit"),
        ("limit=1e1", 400, "limit"),
        ("limit=" + "9" * 5000, 400, "limit"),
        ("limit=%C2%B2", 400, "limit"),  # a superscript two, which Python calls a digit
        ("limit=2&limit=2", 400, "limit"),
        ("page=2", 400, "page"),
        ("before=nothing", 404, "id"),
    ],
)
def test_a_bad_page_of_the_list_is_refused(reader: FlaskClient, query, status, field):
    response = reader.get(f"/api/runs?{query}")
    assert (response.status_code, error_of(response)["field"]) == (status, field)


def test_every_listed_run_is_strict_json(client: FlaskClient):
    post(client, {"spec": {"costs": {"F": [1, 2, 3, 4]}}})
    listed = json.loads(client.get("/api/runs").data, parse_constant=pytest.fail)
    assert listed["runs"][0]["spec"]["costs"]["F"] == [1, 2, 3, 4]


@pytest.mark.parametrize(
    "spec",
    [
        {"family": "zb-h1", "p": 2, "m": 3},
        {"family": "gis", "p": 2, "m": 6, "offload": "full"},
        {"family": "zb-auto", "p": 2, "m": 4, "effort": 20, "seed": 3},
        {"family": "dualpipe", "p": 4, "m": 8},
    ],
)
def test_the_order_of_a_run_has_the_bytes_of_the_schedule_route(client: FlaskClient, spec):
    run_id = post(client, {"spec": spec}).get_json()["id"]
    response = client.get(f"/api/runs/{run_id}/order")
    asked = client.get("/api/schedule", query_string=spec)
    assert (response.status_code, response.mimetype) == (200, asked.mimetype)
    assert response.data == asked.data


def test_the_order_of_a_run_that_was_stored_without_one_is_that_of_its_spec(app: Flask, client: FlaskClient):
    run_id = post(client, {"spec": {"p": 3}}).get_json()["id"]
    app.extensions["bubbleline"].runs.get(run_id).order = ""
    assert client.get(f"/api/runs/{run_id}/order").data == client.get("/api/schedule?p=3").data


def test_the_runner_is_sent_the_order_that_the_run_is_stored_with(app: Flask, client: FlaskClient):
    run_id = post(client, {"spec": {"family": "zb-auto", "p": 2, "m": 4, "effort": 20}}).get_json()["id"]
    manager = app.extensions["bubbleline"].runs
    sent = []
    manager.client.send = lambda command: sent.append(command) or True
    run = manager.get(run_id)
    manager._send(run)
    assert sent[0]["order"] == run.order == wire.to_text(registry.order(registry.read(run.spec)))
    assert sent[0].keys().isdisjoint({"csv", "placement", "p"})


def test_the_order_of_an_unknown_run_is_404(reader: FlaskClient):
    assert error_of(reader.get("/api/runs/none/order"))["field"] == "id"
