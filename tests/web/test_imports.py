"""Files from elsewhere over HTTP: an order becomes a spec, a trace a run; bad ones are refused with line and cell."""

from __future__ import annotations

import base64
import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flask import Flask
from flask.testing import FlaskClient

from backend.compute import errors
from backend.compute.pool import Pool
from backend.schedule.errors import OrderError
from backend.schedule.families import registry
from backend.schedule.families.registry import order, read
from backend.schedule.interop import torch_csv
from backend.schedule.interop.traces import chrome_export
from backend.schedule.order.order_codec import MOST_OPS
from backend.schedule.simulation.simulate import simulate
from backend.schedule.spec import Spec
from tests.conftest import MakeApp, error_of
from tests.schedule.diagnosis.files import WRITERS
from tests.schedule.diagnosis.planted import UNEVEN, recording

CSV = "0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n"


def csv_of(**spec: Any) -> str:
    return torch_csv.dump(order(read(spec)))


def trace_of(unit_us: float = 1000.0, **spec: Any) -> dict[str, Any]:
    built = read(spec)
    return chrome_export.trace(simulate(order(built), built.timing, built.v), "x", unit_us)


def take(client: FlaskClient, csv: str, **more: Any) -> dict[str, Any]:
    answer = client.post("/api/orders", json={"csv": csv} | more)
    assert answer.status_code == 200, answer.get_json()
    return dict(answer.get_json())


@pytest.mark.parametrize(("family", "v"), [("1f1b", 1), ("interleaved-zb", 2), ("v-half", 2), ("dualpipev", 2)])
def test_a_csv_becomes_a_spec_whose_order_is_that_of_the_file(client: FlaskClient, family: str, v: int) -> None:
    built = order(read({"family": family, "p": 4, "m": 8, "v": v}))
    answer = take(client, torch_csv.dump(built))
    spec = read(answer["spec"])
    assert (spec.family, spec.p, spec.m, spec.v) == ("imported", 4, 8, v)
    assert order(spec).text() == built.text()
    shown = client.get(f"/api/schedule?{answer['query']}", headers={"Accept": "application/json"}).get_json()
    assert shown["order"] == built.text()
    assert shown["law"] is None


def test_the_placement_is_found_or_may_be_named(client: FlaskClient) -> None:
    csv = csv_of(family="v-half", p=4, m=8)
    assert registry.family_of(read(take(client, csv)["spec"])).placement == "v"
    assert take(client, csv, placement="v") == take(client, csv)
    refused = error_of(client.post("/api/orders", json={"csv": csv, "placement": "looped"}))
    assert "looped placement" in refused["message"]
    assert error_of(client.post("/api/orders", json={"csv": csv, "placement": "w"}))["nearest"] == "looped"


def test_the_answer_names_the_dialect_of_the_file_and_notes_on_its_messages(client: FlaskClient) -> None:
    assert take(client, CSV)["dialect"] == {"format": "compute_only", "letters": "current"}
    assert take(client, CSV)["notes"] == []
    rows = "0F0;0SEND_F0;0F1;0SEND_F1;0RECV_B0;0B0;0W0;0RECV_B1;0B1;0W1\n" + (
        "1RECV_F0;1F0;1B0;1SEND_B0;1W0;1RECV_F1;1F1;1B1;1SEND_B1;1W1\n"
    )
    answer = take(client, f"\ufeff{rows}")
    assert answer["dialect"] == {"format": "compute_comms", "letters": "2024"}
    assert [note["code"] for note in answer["notes"]] == ["schedule.csv_deadlock_on_one_stream"]


@pytest.mark.parametrize(
    ("csv", "says"),
    [
        (CSV.replace("1F1", "1X1"), "line 2, cell 3: '1X1' is not an op"),
        (CSV.replace("1F1", "1F0"), "line 2, cell 3: rank 1 does 1F0 twice"),
        (CSV.replace("1B0,1F1", "1F1"), "line 2: rank 1 never does 1B0"),
        (CSV.replace("0F0,0F1,0B0", "0F0,0B1,0F1,0B0"), "line 1, cell 2: rank 0 does 0B1 before 0F1"),
        ("0F0,0B0\n\n1F0,4B0\n", "no rank has stage 2, and there is a stage 4"),
        ("0F0,1B0\n\n1F0,0B0\n", "line 3, cell 1: rank 1 does 1F0, but stage 1 is on rank 0"),
        (
            "0F0,0SEND_F0,0RECV_B0,0B0\n1F0,1B0,1SEND_B0\n",
            "line 1, cell 2: rank 0 does 0SEND_F0, and rank 1 never does 1RECV_F0",
        ),
        ("0F0,0B0,0F1,0B1\n1F1,1B1,1F0,1B0\n", "line 1, cell 2: deadlock"),
        ("hello", "line 1, cell 1"),
        ("\n\n", "csv is the text"),
        ('"0F0', "line 1"),
    ],
)
def test_a_bad_file_is_refused_with_the_position_and_the_reason(client: FlaskClient, csv: str, says: str) -> None:
    answer = client.post("/api/orders", json={"csv": csv})
    assert answer.status_code == 400
    error = error_of(answer)
    assert error["field"] == "csv"
    assert says in error["message"]


@pytest.mark.parametrize(
    "body", [{}, {"csv": 3}, {"csv": CSV, "placement": 1}, {"csv": CSV, "x": 1}, {"csv": "\0" * 9}, []]
)
def test_a_request_that_is_not_an_import_is_refused(client: FlaskClient, body: Any) -> None:
    answer = client.post("/api/orders", json=body)
    assert answer.status_code == 400
    error_of(answer)


def test_an_order_too_long_for_a_link_is_explained_with_how_to_run_it(client: FlaskClient) -> None:
    rng = np.random.default_rng(5)
    rows = [[f"{rank}{kind}{k}" for kind in "FB" for k in rng.permutation(3000)] for rank in range(2)]
    error = error_of(client.post("/api/orders", json={"csv": "\n".join(",".join(row) for row in rows)}))
    assert "run --csv" in error["message"]
    assert error["limit"] == 6000


@pytest.mark.parametrize("csv", ["0F0," * (MOST_OPS + 1), "0F0," * 5 * MOST_OPS, "," * 17 * MOST_OPS])
def test_a_file_of_more_ops_than_a_link_holds_is_refused_while_it_is_read(csv: str) -> None:
    with pytest.raises(OrderError) as refused:
        torch_csv.load(csv, None, MOST_OPS)
    assert refused.value.code == "schedule.csv_too_many_ops"


def test_a_file_larger_than_other_bodies_may_be_is_read(client: FlaskClient, app: Flask) -> None:
    csv = csv_of(family="1f1b", p=16, m=2048)
    assert len(csv) > app.config["MAX_CONTENT_LENGTH"]
    assert take(client, csv)["spec"]["m"] == 2048


def test_an_imported_order_is_run_and_the_link_to_the_run_holds_it(client: FlaskClient) -> None:
    answer = take(client, CSV)
    started = client.post("/api/runs", json={"spec": answer["spec"]})
    assert started.status_code == 202
    assert started.get_json()["url"] == f"/?{answer['query']}&run={started.get_json()['id']}"


def test_a_trace_becomes_a_run_that_is_over_with_its_own_order_and_times(client: FlaskClient) -> None:
    trace = trace_of(family="zb-h1", p=4, m=8, costs={"F": 2.0, "I": 3.0, "W": 1.0, "comm": 0.5})
    answer = client.post("/api/runs/import", json=trace)
    assert answer.status_code == 201
    given = answer.get_json()
    run = client.get(f"/api/runs/{given['id']}").get_json()
    assert (run["status"], run["mode"], run["device"], run["verified"], run["unit_ms"]) == (
        *("finished", "imported", "simulated", None, 1.0),
    )
    spec = read(run["spec"])
    built = order(read({"family": "zb-h1", "p": 4, "m": 8}))
    assert order(spec).text() == built.text()
    assert [spec.costs.F, spec.costs.I, spec.costs.W] == [2.0, 3.0, 1.0]
    timed = simulate(
        built, read({"family": "zb-h1", "p": 4, "m": 8, "costs": {"F": 2.0, "I": 3.0, "W": 1.0, "comm": 0.5}}).timing
    )
    flat = [int(built.offsets[rank]) + index for rank, index, *_ in run["ops"]]
    assert flat == list(range(len(built)))
    assert [row[3] for row in run["ops"]] == [round(float(start) * 1e6) for start in timed.start]
    assert [row[4] for row in run["ops"]] == [round(float(end) * 1e6) for end in timed.end]
    assert run["measured"]["makespan"] == pytest.approx(float(timed.end.max()))
    assert any(each["id"] == run["id"] for each in client.get("/api/runs").get_json()["runs"])
    assert given["url"].endswith(f"&run={run['id']}")


def test_a_trace_of_two_directions_becomes_a_run_too(client: FlaskClient) -> None:
    answer = client.post("/api/runs/import", json=trace_of(family="dualpipe", p=4, m=8))
    assert answer.status_code == 201
    spec = read(answer.get_json()["spec"])
    assert order(spec).text() == order(read({"family": "dualpipe", "p": 4, "m": 8})).text()


def test_waits_inside_the_ops_of_a_trace_are_idle_time(client: FlaskClient) -> None:
    events = [
        {"ph": "X", "pid": 0, "tid": rank, "name": name, "ts": start, "dur": end - start}
        for rank, name, start, end in [
            (0, "PP:0F0", 0, 1000),
            (1, "PP:1F0", 0, 2000),
            (1, "PP:1B0", 2000, 4000),
            (0, "PP:0B0", 1000, 6000),
        ]
    ]
    device = [{"id": 0, "name": "NVIDIA H100"}]
    given = client.post("/api/runs/import", json={"traceEvents": events, "deviceProperties": device}).get_json()
    run = client.get(f"/api/runs/{given['id']}").get_json()
    assert run["device"] == "NVIDIA H100"
    assert run["ops"][2] == [1, 0, 0, 1_000_000, 2_000_000, 1_000_000]
    assert run["ops"][1] == [0, 1, 1_000_000, 4_000_000, 6_000_000, 3_000_000]
    assert any("waiting for messages" in note["message"] for note in run["notes"])


def test_a_trace_can_be_gzipped_or_one_file_per_rank(client: FlaskClient) -> None:
    trace = trace_of(family="1f1b", p=2, m=4)
    packed = gzip.compress(json.dumps(trace).encode())
    assert client.post("/api/runs/import", data=packed, content_type="application/json").status_code == 201
    halves = [
        {"traceEvents": [event for event in trace["traceEvents"] if event["ph"] == "X" and event["tid"] == rank]}
        for rank in (0, 1)
    ]
    answer = client.post("/api/runs/import", json={"traces": halves})
    assert answer.status_code == 201
    alone = error_of(client.post("/api/runs/import", json={"traces": halves[1:]}))
    assert "not a whole step" in alone["message"]


def test_the_names_of_ops_and_the_unit_of_times_can_be_given(client: FlaskClient) -> None:
    trace = trace_of(unit_us=1.0, family="1f1b", p=2, m=4)
    for event in trace["traceEvents"]:
        event["name"] = event["name"].replace("F", " fwd ").replace("B", " bwd ")
    asked = {"traces": [trace], "names": r"^(?P<stage>\d+) (?P<kind>\w+) (?P<micro>\d+)$", "unit": "ms"}
    answer = client.post("/api/runs/import", json=asked)
    assert answer.status_code == 201, answer.get_json()
    assert read(answer.get_json()["spec"]).costs.F == 1.0
    for field, wrong in (("names", "("), ("names", 3), ("unit", "min"), ("unit", 3)):
        assert error_of(client.post("/api/runs/import", json=asked | {field: wrong}))["field"] == field
    assert "expected" not in error_of(client.post("/api/runs/import", json=asked | {"csv": ""}))["message"]


def test_a_trace_of_a_known_order_is_that_family_with_the_costs_of_each_stage(client: FlaskClient) -> None:
    slow = [3.0 if stage == 5 else 1.0 for stage in range(8)]
    costs = {"F": slow, "I": slow, "W": slow}
    given = client.post("/api/runs/import", json=trace_of(family="interleaved", p=4, m=8, v=2, costs=costs)).get_json()
    spec = read(given["spec"])
    assert (spec.family, spec.costs.F, spec.costs.comm) == ("interleaved", tuple(slow), 0.0)
    assert any("stage 5, on rank 1, is the slowest" in note["message"] for note in given["notes"])
    run = client.get(f"/api/runs/{given['id']}").get_json()
    assert run["predicted"]["bubble"] == run["measured"]["bubble"]
    assert run["idle"]["message"] == [0, 0, 0, 0], "a hop takes no time: all waits are for ops on other ranks"
    assert sum(run["idle"]["input"]) > 0
    shuffled = trace_of(family="gpipe", p=2, m=4)
    for event in shuffled["traceEvents"]:
        event["name"] = {"0F2": "0F3", "0F3": "0F2", "1F2": "1F3", "1F3": "1F2"}.get(event["name"], event["name"])
    other = client.post("/api/runs/import", json=shuffled).get_json()
    assert other["spec"]["family"] == "imported"


def test_missing_ops_of_a_trace_are_named(client: FlaskClient) -> None:
    trace = trace_of(family="1f1b", p=2, m=4)
    trace["traceEvents"] = [event for event in trace["traceEvents"] if event["name"] != "1B2"]
    answer = client.post("/api/runs/import", json=trace)
    assert answer.status_code == 400
    message = error_of(answer)["message"]
    assert "never does 1B2" in message
    assert "(ops found: 15, ranks: 2)" in message
    assert client.get("/api/runs").get_json()["runs"] == []


def test_s_and_t_of_a_trace_are_left_out_with_a_note(client: FlaskClient) -> None:
    answer = client.post("/api/runs/import", json=trace_of(family="1f1b", p=2, m=4, vocabulary="parallel-1")).get_json()
    assert any("left out" in note["message"] for note in answer["notes"])
    assert not any(
        "left out" in note["message"]
        for note in client.post("/api/runs/import", json=trace_of(p=2, m=4)).get_json()["notes"]
    )


ENDLESS = b'[{"ph":"X","name":"0F0","ts":0,"dur":1},{"ph":"X","name":"0B0","ts":1,"dur":1e18}]'
HOSTILE = [
    *(b"", b"{", b"[]", b"null", b"3", b'"x"', b'{"traces": []}', b'{"traces": [3]}', b'{"traceEvents": 3}', b"[[["),
    *(
        b"\x1f\x8bgarbage",
        gzip.compress(b"[]", mtime=0)[:-9],
        gzip.compress(b"no json", mtime=0),
        b"[" * 100_000,
        ENDLESS,
    ),
    b'[{"ph": "X", "name": "0F0", "ts": 1e400, "dur": 1}]',
]


@pytest.mark.parametrize("body", HOSTILE)
def test_hostile_bodies_are_refused_in_the_common_error_shape(client: FlaskClient, body: bytes) -> None:
    answer = client.post("/api/runs/import", data=body, content_type="application/json")
    assert answer.status_code == 400
    error_of(answer)
    assert client.get("/api/runs").get_json()["runs"] == []


def test_a_body_that_is_or_unpacks_to_more_than_is_read_is_refused(make_app: MakeApp) -> None:
    small = make_app(import_mb=1).test_client()
    for body, says in ((gzip.compress(bytes(9 * 2**20)), "over 8 MB"), (bytes(2**20 + 1), "over the limit")):
        answer = small.post("/api/runs/import", data=body, content_type="application/json")
        assert says in error_of(answer)["message"]


def test_a_pattern_that_is_searched_for_too_long_is_refused_with_what_to_change(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def too_long(*_: Any, **__: Any) -> None:
        raise errors.too_long(30)

    monkeypatch.setattr(Pool, "run", too_long)
    answer = client.post("/api/runs/import", json={"traces": [[]], "names": "(?P<kind>(F+)+)$"})
    assert answer.status_code == 413
    assert error_of(answer)["field"] == "body"
    assert "a simpler pattern of names" in error_of(answer)["message"]


def test_only_json_is_accepted_and_only_a_number_of_imports_per_hour(client: FlaskClient, app: Flask) -> None:
    assert client.post("/api/runs/import", data=b"[]", content_type="text/plain").status_code == 415
    app.extensions["bubbleline"].imports.most = 2
    trace = trace_of(p=2, m=2)
    statuses = [client.post("/api/runs/import", json=trace).status_code for _ in range(3)]
    assert statuses == [201, 201, 429]


def test_the_order_of_an_imported_run_is_requested_by_its_id(client: FlaskClient) -> None:
    run_id = client.post("/api/runs/import", json=trace_of(family="zb-h1", p=4, m=8)).get_json()["id"]
    run = client.get(f"/api/runs/{run_id}").get_json()
    spec = {key: value for key, value in run["spec"].items() if key in ("family", "p", "m", "v", "order")}
    costs = {key: value for key, value in run["spec"]["costs"].items() if value is not None}
    answer = client.get(f"/api/runs/{run_id}/order")
    assert answer.status_code == 200
    assert answer.data == client.get("/api/schedule", query_string=spec | costs).data


def test_a_diagnosis_of_files_says_why_and_gives_the_page_its_schedule(client: FlaskClient, tmp_path: Path) -> None:
    recorded = recording(Spec("1f1b", 3, 6), [UNEVEN])
    files = [{"name": path.name, "text": path.read_text()} for path in WRITERS["profiles"](recorded, tmp_path)]
    answer = client.post("/api/diagnose", json={"files": files})
    assert answer.status_code == 200
    found = answer.get_json()
    assert found["findings"][0]["cause"] == "imbalance"
    assert found["verdict"][0]["message"].startswith("Stage 1 takes 1.5 times the others")
    assert found["spec"]["family"] == "1f1b"
    assert found["query"].startswith("p=3&m=6")
    dump = [{"name": path.name, "text": path.read_text()} for path in WRITERS["table"](recorded, tmp_path)]
    assert client.post("/api/diagnose", json={"files": dump, "step": 1}).get_json()["measured"]["steps"] == 1
    packed = [{"name": each["name"], "base64": base64.b64encode(each["text"].encode()).decode()} for each in dump]
    moved = client.post("/api/diagnose", json={"files": packed, "layers": "8"}).get_json()["layers"]
    assert moved["before"] == [8, 8, 8]
    assert moved["after"][1] < 8
    for wrong, field in (
        ({"files": []}, "files"),
        ({"files": [{"name": "x"}]}, "files"),
        ({"files": [{"name": "../../etc/passwd", "text": "rank,kind,start\n"}]}, "files"),
        ({"files": dump, "step": 99}, "step"),
        ({"files": dump, "unit": "hours"}, "unit"),
        ({"files": dump, "names": "("}, "names"),
        ({"files": dump, "more": 1}, "more"),
        ({"files": dump, "layers": "8,8"}, "layers"),
        ({"files": [{"name": "x", "base64": "%"}]}, "files"),
    ):
        assert error_of(client.post("/api/diagnose", json=wrong))["field"] == field, wrong
