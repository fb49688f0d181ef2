"""The comparison over HTTP: the rows of the core, one cached response per request, strict about arguments."""

from __future__ import annotations

import json

import pytest
from flask.testing import FlaskClient

from backend.errors import with_codes
from backend.schedule.analysis.compare import compare
from backend.schedule.families.registry import FAMILIES
from backend.schedule.simulation.costs import Costs
from backend.schedule.spec import Spec
from tests.conftest import error_of


def test_the_rows_are_the_cores(client: FlaskClient) -> None:
    body = client.get("/api/compare?families=zb-h1,interleaved&p=8&m=32&v=4&comm=0.5&w_share=0.5").get_json()
    spec = Spec(p=8, m=32, v=4, w_share=0.5, costs=Costs(comm=0.5))
    assert body == json.loads(json.dumps(with_codes(compare(spec, ["zb-h1", "interleaved"], 4))))


def test_without_names_all_families_are_returned_each_with_its_own_v(client: FlaskClient) -> None:
    rows = client.get("/api/compare?p=4&m=8").get_json()["rows"]
    assert [(row["family"], row["spec"]["v"]) for row in rows] == [(f.name, f.v[1]) for f in FAMILIES.values()]


def test_a_list_of_any_familys_stages_is_accepted(client: FlaskClient) -> None:
    rows = client.get("/api/compare?families=1f1b,interleaved&p=2&m=4&F=1,2,3,4").get_json()["rows"]
    assert [row["spec"]["costs"]["F"] for row in rows] == [[3, 7], [1, 2, 3, 4]]


def test_a_client_with_the_current_response_gets_304(client: FlaskClient) -> None:
    first = client.get("/api/compare?p=4")
    again = client.get("/api/compare?p=4", headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")


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
def test_a_wrong_question_is_refused_by_its_field(client: FlaskClient, query: str, field: str) -> None:
    response = client.get(f"/api/compare?{query}")
    assert response.status_code == 400
    assert error_of(response)["field"] == field


def test_only_get_is_accepted(client: FlaskClient) -> None:
    assert client.post("/api/compare").status_code == 405
