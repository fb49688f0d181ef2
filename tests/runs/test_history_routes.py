"""Stored runs: names, deletion, exported files, measured costs; and the route of devices."""

from __future__ import annotations

import json

import pytest
from flask import Flask
from flask.testing import FlaskClient

from backend.runs.run import Run
from backend.schedule.families.registry import order, read
from backend.schedule.interop.traces import chrome
from backend.schedule.interop.traces.run_trace import _links
from backend.schedule.order import wire
from backend.schedule.simulation.simulate import simulate
from backend.schedule.spec import Spec
from tests.conftest import error_of

UNIT_MS = 2.0


def spec_of(**given: object) -> Spec:
    return read({"family": "1f1b", "p": 3, "m": 5} | given)


def finished(app: Flask, spec: Spec, took: Spec | None = None, share: float = 1.0) -> Run:
    """A run of `spec` whose ops took the times in `took`, in units of 2 ms; only that share of them ended."""
    built = order(spec)
    timeline = simulate(built, (took or spec).timing, spec.v)
    rows, copies = [], []
    for rank in range(built.p):
        start, end = timeline.rank(rank)
        for k in range(int(len(start) * share)):
            begin = round(start[k] * UNIT_MS * 1e6)
            rows.append([rank, k, begin, begin, round(end[k] * UNIT_MS * 1e6), 0])
    for k, (begin, end) in enumerate(zip(timeline.copy_start, timeline.copy_end, strict=True)):
        assert built.copies is not None
        rank = int((built.copies.offsets <= k).sum()) - 1
        times = [round(time * UNIT_MS * 1e6) for time in (begin, begin, end)]
        copies.append([rank, k - int(built.copies.offsets[rank]), *times, 4096])
    sizes = [[rank, k, 8, 16, 1000 * rank + k] for rank, k, *_ in rows]
    messages = [[0, 1, *key, 2_000_000 + at, 2_500_000, 3_000_000, 8] for at, key in enumerate(_links(built))]

    run = Run("", spec.to_json(), "paced", UNIT_MS, 0.0, order=wire.to_text(built))
    run.apply({"event": "running", "mode": "paced", "device": "cpu", "unit_ms": UNIT_MS})
    run.apply({"event": "op_batch", "ops": rows, "copies": copies, "bytes": sizes, "messages": messages})
    run.apply({"event": "finished", "verified": True} if share == 1.0 else {"event": "cancelled"})
    return app.extensions["bubbleline"].runs.keep(run)


def test_a_renamed_run_keeps_its_name_after_it_left_memory(app: Flask, client: FlaskClient):
    run = finished(app, spec_of())
    answer = client.patch(f"/api/runs/{run.id}", json={"name": "  before lunch "})
    assert (answer.status_code, answer.get_json()) == (200, {"id": run.id, "name": "before lunch"})
    app.extensions["bubbleline"].runs._runs.clear()
    assert client.get(f"/api/runs/{run.id}").get_json()["name"] == "before lunch"
    assert client.get("/api/runs").get_json()["runs"][0]["name"] == "before lunch"
    client.patch(f"/api/runs/{run.id}", json={"name": ""})
    assert client.get(f"/api/runs/{run.id}").get_json()["name"] == ""


@pytest.mark.parametrize("name", ["x" * 81, "two\nlines", "\u202e", None, 3])
def test_a_name_that_cannot_be_displayed_is_refused(app: Flask, client: FlaskClient, name):
    run = finished(app, spec_of())
    answer = client.patch(f"/api/runs/{run.id}", json={"name": name})
    assert (answer.status_code, error_of(answer)["field"]) == (400, "name")
    assert client.get(f"/api/runs/{run.id}").get_json()["name"] == ""


def test_a_deleted_run_is_removed_from_memory_disk_and_list(app: Flask, client: FlaskClient):
    gone, stays = finished(app, spec_of()), finished(app, spec_of(m=6))
    assert client.delete(f"/api/runs/{gone.id}").status_code == 204
    for method in (client.get, client.delete):
        assert method(f"/api/runs/{gone.id}").status_code == 404
    assert [run["id"] for run in client.get("/api/runs").get_json()["runs"]] == [stays.id]


def test_a_run_under_way_is_neither_deleted_nor_exported_nor_calibrated(client: FlaskClient):
    run_id = client.post("/api/runs", json={}).get_json()["id"]
    answers = [client.delete(f"/api/runs/{run_id}"), client.get(f"/api/runs/{run_id}/export"),
               client.get(f"/api/runs/{run_id}/calibration")]  # fmt: skip
    for answer in answers:
        assert (answer.status_code, error_of(answer)["field"]) == (409, "id")
    assert client.get(f"/api/runs/{run_id}").get_json()["status"] == "queued"


@pytest.mark.parametrize(
    "given",
    [{}, {"family": "interleaved", "p": 2, "m": 4, "v": 2}, {"family": "gis", "m": 6, "p": 2, "offload": "full"}],
)
def test_the_exported_trace_of_a_run_is_imported_with_the_same_order_and_times(app: Flask, client: FlaskClient, given):
    spec = spec_of(**given)
    run = finished(app, spec)
    answer = client.get(f"/api/runs/{run.id}/export?format=chrome-trace")
    assert f'-run-{run.id}.trace.json"' in answer.headers["Content-Disposition"]
    found = chrome.load(json.loads(answer.data))
    assert (found.missing, found.device) == (None, "cpu")
    assert found.timeline is not None
    built = order(spec)
    assert [found.timeline.order.row(rank) for rank in range(spec.p)] == [built.row(rank) for rank in range(spec.p)]
    if spec.offload == "none":
        again = client.post("/api/runs/import", data=answer.data, content_type="application/json").get_json()
        brought = client.get(f"/api/runs/{again['id']}").get_json()
        assert (brought["mode"], brought["device"]) == ("imported", "cpu")
        for kind, cut in (("ops", slice(3, 5)), ("bytes", slice(0, 5)), ("messages", slice(0, 9))):
            assert sorted(row[cut] for row in brought[kind]) == sorted(list(row[cut]) for row in run.log.rows(kind))
        assert len(brought["messages"]) == 2 * spec.m * (spec.p * spec.v - 1)


@pytest.mark.parametrize(
    "change", [{"live": "12"}, {"live": -1}, {"live": True}, {"live": None}, {"micro": 1.5}, {"posted_us": "now"}]
)
def test_unknown_arguments_of_a_trace_are_ignored(app: Flask, client: FlaskClient, change):
    run = finished(app, spec_of())
    trace = json.loads(client.get(f"/api/runs/{run.id}/export?format=chrome-trace").data)
    for event in trace["traceEvents"]:
        if event["ph"] in "Xsf" and set(change) <= set(event["args"]):
            event["args"] |= change
        event["id"] = [event.get("name")]
    trace["traceEvents"].append({"ph": "X", "name": ["a", {}], "ts": 0, "dur": 1, "args": {}})
    answer = client.post("/api/runs/import", json=trace)
    assert answer.status_code == 201
    brought = client.get(f"/api/runs/{answer.get_json()['id']}").get_json()
    assert len(brought["ops"]) == 30
    assert [brought["bytes"], brought["messages"]].count([]) == 1 + ("live" in change)


def test_the_json_of_a_run_names_every_op_and_its_outcome(app: Flask, client: FlaskClient):
    run = finished(app, spec_of(family="gis", p=2, m=6, offload="full"))
    body = json.loads(client.get(f"/api/runs/{run.id}/export?format=json").data)
    assert (body["verified"], body["mode"], body["device"], body["id"]) == (True, "paced", "cpu", run.id)
    first = {"rank": 0, "op": "0F0", "ready": 0, "start": 0, "end": 1_000_000, "recv_wait": 0}
    assert body["ops"][0] == first | {"received": 8, "sent": 16, "live": 0}
    assert (body["copies"][0]["op"], body["copies"][0]["bytes"]) == ("0O0", 4096)
    assert [body["messages"][0][key] for key in ("what", "posted", "bytes")] == ["activation", 2_000_000, 8]


def test_a_run_that_was_cut_short_is_exported_as_json_only(app: Flask, client: FlaskClient):
    run = finished(app, spec_of(), share=0.5)
    assert len(json.loads(client.get(f"/api/runs/{run.id}/export").data)["ops"]) == 15
    for path in ("export?format=chrome-trace", "calibration"):
        answer = client.get(f"/api/runs/{run.id}/{path}")
        assert answer.status_code == 409
        assert "15 of 30 ops have ended" in error_of(answer)["message"]


def test_an_unknown_format_is_named(app: Flask, client: FlaskClient):
    run = finished(app, spec_of())
    assert error_of(client.get(f"/api/runs/{run.id}/export?format=svg"))["field"] == "format"
    assert error_of(client.get(f"/api/runs/{run.id}/export?q=1"))["field"] == "q"


def test_the_costs_of_a_run_are_those_its_ops_had_stage_by_stage(app: Flask, client: FlaskClient):
    took = spec_of(costs={"F": [1, 2, 1.5], "I": [1, 1, 1], "W": [1, 1, 1], "comm": 0.25})
    run = finished(app, spec_of(), took)
    found = client.get(f"/api/runs/{run.id}/calibration").get_json()
    assert found["spec"]["costs"]["F"] == [1, 2, 1.5]
    assert found["spec"]["costs"]["comm"] == 0.25
    assert found["spec"]["family"] == "1f1b"
    assert found["error"] == pytest.approx(0, abs=1e-4)
    assert found["predicted"]["makespan"] == pytest.approx(found["measured"]["makespan"], rel=1e-4)
    assert found["predicted"]["makespan"] == simulate(order(spec_of()), took.timing).end.max()


@pytest.mark.parametrize("more", [{}, {"sizes": [1, 2] * 4}])
def test_a_family_whose_order_depends_on_costs_keeps_the_order_of_the_run(app: Flask, client: FlaskClient, more):
    ran = spec_of(family="v-half", p=3, m=8, **more)
    run = finished(app, ran, ran.with_(costs=spec_of(costs={"F": 3, "I": 1, "W": 0.2}).costs))
    found = client.get(f"/api/runs/{run.id}/calibration").get_json()
    again = read(found["spec"])
    assert [order(again).row(rank) for rank in range(3)] == [order(ran).row(rank) for rank in range(3)]
    assert (again.family, again.sizes) == ("imported", ran.sizes)
    assert found["error"] == pytest.approx(0, abs=0.01)


def test_the_devices_route_returns_what_the_runner_reported(app: Flask, client: FlaskClient):
    assert client.get("/api/devices").get_json() == {"state": "off", "why": "", "devices": [], "choices": []}
    runner = app.extensions["bubbleline"].runs.client
    runner.devices = [{"kind": "cpu", "cores": 2}]
    runner.choices = [{"from": 1, "to": 64, "device": "cpu", "mode": "paced", "why": "because"}]
    body = client.get("/api/devices").get_json()
    assert (body["devices"], body["choices"]) == (runner.devices, runner.choices)
