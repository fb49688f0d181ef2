"""What operators read: metrics in Prometheus' format, whether the server is alive, and whether its parts can work."""

from __future__ import annotations

import sqlite3

import gevent
from flask import Flask
from flask.testing import FlaskClient
from jsonschema_rs import Draft202012Validator
from prometheus_client.parser import text_string_to_metric_families

from backend.web.metrics import EVERY_S, Metrics
from backend.web.openapi.pages import READY
from tests.conftest import MakeApp, until


def figures(client: FlaskClient) -> dict[tuple, float]:
    """Every sample by its name and labels, read by Prometheus' own parser."""
    text = client.get("/metrics").get_data(as_text=True)
    families = text_string_to_metric_families(text)
    return {(each.name, *sorted(each.labels.items())): each.value for family in families for each in family.samples}


def test_latency_is_counted_by_route_and_status_and_not_by_address(client: FlaskClient):
    for number in range(5):
        client.get(f"/api/runs/unknown{number}")
        client.get(f"/nowhere{number}")
    found = figures(client)
    run = (("route", "/api/runs/<run_id>"), ("status", "404"))
    names = [key for key in found if key[0] == "bubbleline_request_seconds_count"]
    assert found["bubbleline_request_seconds_count", *run] == 5
    assert found["bubbleline_request_seconds_bucket", ("le", "+Inf"), *run] == 5
    assert 0 < found["bubbleline_request_seconds_sum", *run] < 5
    assert len(names) == 2, "addresses that clients make up are no labels"


def test_every_part_has_its_figures(client: FlaskClient):
    found = figures(client)
    for name in (
        "queue_length", "searches", "searches_waiting", "sockets", "viewers", "connections", "runner_starts_total",
        "connections_refused_total", "runner_ready", "store_unreadable_runs", "store_error", "runs_expired_total",
        "cache_bytes", "stopping", "classes", "class_viewers",
    ):  # fmt: skip
        assert found[f"bubbleline_{name}",] == 0, name
    assert found["bubbleline_runs", ("status", "finished")] == 0
    assert 10e6 < found["bubbleline_memory_bytes",] < 10e9
    assert found["bubbleline_open_files",] > 3


def test_apps_of_one_process_have_figures_of_their_own(app: Flask, client: FlaskClient, make_app: MakeApp):
    other = make_app()
    client.get("/nowhere")
    at = ("bubbleline_requests_total", ("route", "none"), ("status", "404"))
    assert figures(client)[at] == 1
    assert at not in figures(other.test_client())


def test_a_loop_that_is_held_up_shows_in_the_lag():
    times = iter([0.0, EVERY_S, 1.0, 1.0 + EVERY_S + 0.7, *[9.0] * 10])
    metrics = Metrics()
    metrics.watch_loop(lambda: next(times))

    def lags() -> dict[tuple[str, str | None], float]:
        return {(each.name, each.labels.get("le")): each.value for each in next(iter(metrics.lag.collect())).samples}

    until(lambda: lags()["bubbleline_loop_lag_seconds_count", None] == 2, sleep=gevent.sleep)
    metrics._watch.kill()
    samples = lags()
    assert samples["bubbleline_loop_lag_seconds_count", None] == 2
    assert samples["bubbleline_loop_lag_seconds_bucket", "0.5"] == 1
    assert samples["bubbleline_loop_lag_seconds_bucket", "1.0"] == 2


def test_readiness_names_each_part_and_only_those_that_fail(client: FlaskClient, app: Flask, config):
    ready = client.get("/readyz")
    assert ready.status_code == 200
    body = ready.get_json()
    assert body.pop("ready") is True
    assert body == {part: {"ok": True, "why": None} for part in ("server", "store", "links", "runner")}
    with sqlite3.connect(config.database) as holder:
        holder.execute("BEGIN EXCLUSIVE")
        locked = client.get("/readyz")
        holder.rollback()
    holder.close()
    assert locked.status_code == 503
    assert "locked" in locked.get_json()["store"]["why"]
    assert "locked" in locked.get_json()["links"]["why"]
    app.extensions["bubbleline"].runs.client.state = "down"
    app.extensions["bubbleline"].runs.client.why = "The runner does not start."
    assert client.get("/readyz").get_json()["runner"] == {"ok": False, "why": "The runner does not start."}
    assert client.get("/healthz").status_code == 200, "alive all the same"
    app.extensions["bubbleline"].runs.client.state = "missing"
    assert client.get("/readyz").get_json()["ready"], "a server without torch does all else"
    app.extensions["bubbleline"].runs.shared_error = "Redis cannot be used."  # as where there is one
    without_redis = client.get("/readyz").get_json()
    assert without_redis["redis"] == {"ok": False, "why": "Redis cannot be used."}
    Draft202012Validator(READY).validate(without_redis)


def test_no_answer_to_everybody_names_a_path_of_the_server(app: Flask, client: FlaskClient, config):
    config.database.parent.mkdir(exist_ok=True)
    config.database.mkdir()  # where the file should be
    ready = client.get("/readyz")
    assert ready.status_code == 503
    for text in (ready.text, client.get("/healthz").text, client.get("/metrics").text):
        assert str(config.database.parent) not in text
