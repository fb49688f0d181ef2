"""Charts over HTTP: other schedules, models and machines in the address, and refusals."""

from __future__ import annotations

import json

import pytest
from flask.testing import FlaskClient

from backend.charts.catalogue import KINDS
from backend.charts.chart import ChartSeries
from backend.charts.theme import Appearance
from backend.errors import with_codes
from backend.schedule.spec import Spec
from tests.conftest import error_of


@pytest.mark.parametrize("name", KINDS)
def test_a_chart_response_has_the_figure_the_sentences_and_the_numbers(reader: FlaskClient, name: str) -> None:
    body = reader.get(f"/api/charts/{name}?family=zb-h1&p=4&m=8&theme=dark&width=600&height=300").get_json()
    asked = ChartSeries("a", Spec("zb-h1", 4, 8), "ZB-H1")
    expected = KINDS[name].draw([asked], Appearance("dark", 600, 300, KINDS[name].heights[0]), None).as_dict()
    assert body == json.loads(json.dumps(with_codes({"spec": Spec("zb-h1", 4, 8).to_json()} | expected)))


def test_other_schedules_are_drawn_too_and_an_illegal_one_is_left_out_with_the_reason(reader: FlaskClient) -> None:
    query = "p=4&m=8&b.family=zb-h1&b.p=4&b.m=8&c.family=dualpipe&c.p=4&c.m=7"
    body = reader.get(f"/api/charts/split?{query}").get_json()
    assert {row["cells"][0]["message"] for row in body["rows"]} == {"A 1F1B", "B ZB-H1"}
    assert [note for note in body["notes"] if note["message"].startswith("C is left out: DualPipe needs")]


def test_a_model_and_a_machine_are_given_with_the_prefix_m(reader: FlaskClient) -> None:
    body = reader.get("/api/charts/messages?p=4&m=8&m.model=zb-1.5b&m.layers=8,16").get_json()
    assert any("Zero Bubble 1.5B" in each["message"] for each in body["notes"])
    rates = reader.get("/api/charts/offload?y=machine&m.model=llama3-70b&m.machine=b200").get_json()["notes"]
    assert any("B200" in each["message"] for each in rates)


@pytest.mark.parametrize(
    ("url", "field"),
    [
        ("nothing", "chart"),
        ("bubble?y=sideways", "y"),
        ("bubble?family=dualpipe&p=4&m=7", "m"),
        ("split?p=4&x.p=4", "x.p"),
        ("split?p=4&p=5", "p"),
        ("split?p=1024&m=512", "m"),
        ("messages?m.model=nobody", "model"),
        ("messages?m.model=zb-1.5b&m.off=1", "off"),
        ("offload?m.flops=-1&m.model=custom", "flops"),
        ("memory?width=2", "width"),
        ("split?found=1", "found"),
        ("pareto?p=0", "p"),
        ("pareto?theme=red", "theme"),
        ("pareto?width=1", "width"),
        ("pareto?height=99999", "height"),
        ("pareto?y=x", "y"),
        ("pareto?found=2", "found"),
        ("pareto?q=1", "q"),
    ],
)
def test_a_wrong_question_is_refused_by_its_field(reader: FlaskClient, url: str, field: str) -> None:
    response = reader.get(f"/api/charts/{url}")
    assert response.status_code == 400
    assert error_of(response)["field"] == field
    lenient = reader.get(f"/api/charts/{url}", headers={"Prefer": "handling=lenient"})
    assert (lenient.status_code, error_of(lenient)["field"]) == (200, field)
