"""Lists in an address: a value for each stage, with equal neighbours counted as k*x, as links of the page have them."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from flask.testing import FlaskClient
from hypothesis import given
from hypothesis import strategies as st

from backend.address.query import MOST_ENTRIES, query_of, spec_of
from backend.errors import RequestError
from backend.schedule.families.registry import read
from backend.schedule.simulation.costs import Costs
from backend.schedule.spec import Spec

FEW = st.sampled_from([1.0, 2.0, 0.25, 18.5226, 1e-7, 123456.0])


@given(st.lists(FEW, min_size=4, max_size=4), st.lists(FEW, min_size=4, max_size=4))
def test_a_list_is_read_back_from_its_link_exactly(forward: list[float], weight: list[float]):
    spec = read({"costs": {"F": forward, "W": weight}})
    assert spec_of(query_of(spec).encode()) == spec


@pytest.mark.parametrize(
    ("entries", "text"),
    [
        ([18.5] * 7 + [22.1], "7*18.5,22.1"),
        ([1.0, 1.0, 1.0, 2.0], "3*1,2"),
        ([1.0, 1.0, 2.0, 2.0], "1,1,2,2"),  # no shorter in runs
        ([0.25] * 8, "8*0.25"),
    ],
)
def test_equal_neighbours_are_counted_where_that_is_shorter(entries: list[float], text: str):
    spec = read({"p": len(entries), "costs": {"F": entries}})
    assert f"F={text}" in query_of(spec)
    assert tuple(entries) == spec_of(f"p={len(entries)}&F={text}".encode()).costs.F


def test_a_list_of_one_stage_does_not_become_a_plain_number():
    spec = Spec(p=1, costs=Costs(F=(2.5,)))
    assert query_of(spec) == "p=1&F=1*2.5"
    assert spec_of(b"p=1&F=1*2.5") == spec


@pytest.mark.parametrize(
    "text",
    ["*2", "2*", "0*1,1", "-1*2", "1.5*2", "2*3*4", "x*1", "3*x,1", "1,,2", f"{MOST_ENTRIES}*1,1", "9" * 30 + "*1"],
)
def test_an_unreadable_list_is_refused_with_its_key(text: str):
    with pytest.raises(RequestError) as caught:
        spec_of(f"F={text}".encode())
    assert caught.value.field == "F"


def test_layers_with_repetitions_are_read_too(reader: FlaskClient):
    short = reader.get("/api/costs?model=llama3-70b&heads=1&p=8&layers=7,6*11,7")
    full = reader.get("/api/costs?model=llama3-70b&heads=1&p=8&layers=7,11,11,11,11,11,11,7")
    assert short.status_code == 200
    assert short.get_json() == full.get_json()


def test_the_list_of_models_has_the_bounds_of_each_field_and_costs_enforce_them(reader: FlaskClient):
    shelf = reader.get("/api/models").get_json()
    assert {"hidden", "capacity", "flops", "per_node", "efficiency"} <= set(shelf["bounds"])
    for field, (low, high) in shelf["bounds"].items():
        for beyond, bound in ((high * 2, high), (low / 2 if low >= 2 else low - 1, low)):
            error = reader.get(f"/api/costs?{field}={quote(str(beyond))}").get_json()["error"]
            assert (error["field"], error["nearest"]) == (field, bound)


def test_none_derives_a_field_of_a_model_from_the_others(reader: FlaskClient):
    model = reader.get("/api/costs?model=llama3-70b&ffn=none&kv_heads=none").get_json()["setting"]["model"]
    assert (model["ffn"], model["kv_heads"]) == (None, None)
    assert reader.get("/api/costs?model=llama3-70b&hidden=none").get_json()["error"]["field"] == "hidden"
