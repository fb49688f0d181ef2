"""The comparison and training plans over HTTP: the rows of the core, one cached response per request, strict about
arguments.
"""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest
from flask.testing import FlaskClient

from backend.errors import with_codes
from backend.jobs.encoding import Encoded, encode_json
from backend.schedule.analysis import plans
from backend.schedule.analysis.compare import compare
from backend.schedule.analysis.layouts import Layout
from backend.schedule.families.registry import FAMILIES
from backend.schedule.hardware.preset_costs import Preset
from backend.schedule.simulation.costs import Costs
from backend.schedule.spec import Spec
from backend.web.routes import compare as routes
from tests.conftest import error_of


def test_the_rows_are_the_cores(reader: FlaskClient) -> None:
    body = reader.get("/api/compare?families=zb-h1,interleaved&p=8&m=32&v=4&comm=0.5&w_share=0.5").get_json()
    spec = Spec(p=8, m=32, v=4, w_share=0.5, costs=Costs(comm=0.5))
    assert body == json.loads(json.dumps(with_codes(compare(spec, ["zb-h1", "interleaved"], 4))))


def test_without_names_all_families_are_returned_each_with_its_own_v(reader: FlaskClient) -> None:
    rows = reader.get("/api/compare?p=4&m=8").get_json()["rows"]
    assert [(row["family"], row["spec"]["v"]) for row in rows] == [(f.name, f.v[1]) for f in FAMILIES.values()]


def test_a_list_of_any_familys_stages_is_accepted(reader: FlaskClient) -> None:
    rows = reader.get("/api/compare?families=1f1b,interleaved&p=2&m=4&F=1,2,3,4").get_json()["rows"]
    assert [row["spec"]["costs"]["F"] for row in rows] == [[3, 7], [1, 2, 3, 4]]


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("families=1f1b,nope", "family"),
        ("families=", "family"),
        ("families=1f1b,1f1b", "families"),
        ("families=1f1b&families=gpipe", "families"),
        ("family=1f1b", "family"),
        ("p=0", "p"),
        ("p=4&p=5", "p"),
        ("m=1e3x", "m"),
        ("v=65", "v"),
        ("F=1,2,3&p=2", "F"),
        ("comm=-1", "comm"),
        ("colour=red", "colour"),
        ("p=1024&m=1365", "m"),
    ],
)
def test_a_wrong_question_is_refused_by_its_field(reader: FlaskClient, query: str, field: str) -> None:
    response = reader.get(f"/api/compare?{query}")
    assert response.status_code == 400
    assert error_of(response)["field"] == field


SMALL = "p=2&m=3&gb=16&m.model=cm-9.6b&m.machine=a100&m.tp=8"


def test_training_plans_are_those_of_the_command_best_first(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plans, "time", SimpleNamespace(monotonic=lambda: 0.0))  # there is time for all, however slow
    monkeypatch.setattr(routes, "compute", lambda work, query: work(query))
    body = client.get(f"/api/plans?{SMALL}").get_json()
    preset = Preset.of({"model": "cm-9.6b", "machine": "a100", "tp": 8})
    layout = Layout(2, 3, preset)
    found = plans.plans(plans.Asked((layout,), 16e9))
    tried = len(list(plans.specs(layout, 16e9)))
    assert (body["limit"], body["tried"], body["left_out"], body["would_fit"]) == (16e9, tried, 0, [])
    assert all(each["preset"] == dict(preset.fields) for each in body["plans"])

    def described(chosen: list[plans.TrainingSetup]) -> list[dict[str, object]]:
        return json.loads(json.dumps([{"spec": each.spec.to_json(), "units": each.units.as_dict()} for each in chosen]))

    def told(flag: str) -> list[dict[str, object]]:
        return [{key: each[key] for key in ("spec", "units")} for each in body["plans"] if each[flag]]

    assert told("best") == described(plans.best_of_each(found))
    by_memory = sorted(told("frontier"), key=lambda each: each["units"]["memory"]["most"])
    assert by_memory == described(plans.frontier(found))
    assert all(each["best"] or each["frontier"] for each in body["plans"])
    assert body["plans"][0]["units"]["memory"]["fits"]


def test_an_answer_is_kept_only_if_there_was_time_for_all_plans(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[bytes] = []

    def compute(work: object, query: bytes) -> tuple[Encoded, bool]:
        asked.append(query)
        return encode_json({"turn": len(asked)}), len(asked) > 1

    monkeypatch.setattr(routes, "compute", compute)
    turns = [client.get(f"/api/plans?{SMALL}").get_json()["turn"] for _ in range(3)]
    assert turns == [1, 2, 2]


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("p=2&m=3", "model"),
        (f"{SMALL}&v=2", "v"),
        (SMALL.replace("p=2", "p=0"), "p"),
        (SMALL.replace("m=3", "m=x"), "m"),
        (SMALL.replace("gb=16", "gb=0"), "gb"),
        (SMALL.replace("gb=16", "gb=1e9"), "gb"),
        (f"{SMALL}&seconds=21", "seconds"),
        (f"{SMALL}&seconds=1&seconds=2", "seconds"),
        (SMALL.replace("cm-9.6b", "nobody"), "model"),
        (SMALL.replace("m.tp=8", "m.tp=0"), "tp"),
        (SMALL.replace("m.tp=8", "m.tp=3"), "tp"),
        (f"{SMALL}&framework=nothing", "framework"),
        (f"{SMALL}&families=1f1b,pipedream", "families"),
        (f"{SMALL}&offload=2", "offload"),
        (f"{SMALL}&batch=8", "gpus"),
        (f"{SMALL}&gpus=8&batch=8", "m"),
        (SMALL.replace("p=2", "p=512"), "p"),
    ],
)
def test_a_wrong_question_about_plans_is_refused_by_its_field(reader: FlaskClient, query: str, field: str) -> None:
    response = reader.get(f"/api/plans?{query}")
    assert response.status_code == 400
    assert error_of(response)["field"] == field
    assert reader.get(f"/api/plans?{query}", headers={"Prefer": "handling=lenient"}).status_code == 200
