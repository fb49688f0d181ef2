"""The routes of costs: models, machines, the costs of a model on a machine, and balanced layers."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from flask.testing import FlaskClient

from backend.errors import with_codes
from backend.schedule.families import registry
from backend.schedule.hardware.balance import balance_of
from backend.schedule.hardware.cost_model import Setting
from backend.schedule.hardware.estimate import estimate
from backend.schedule.hardware.machines import MACHINE_FIELDS
from backend.schedule.hardware.models import MODEL_FIELDS
from backend.schedule.laws.formula import evaluate, parse
from tests.support import slowness


def plain(value: Any) -> Any:
    return json.loads(json.dumps(value))


def test_the_shelf_has_every_preset_with_all_its_fields(reader: FlaskClient):
    shelf = reader.get("/api/models").get_json()
    assert [model["name"] for model in shelf["models"]][:2] == ["llama3-8b", "llama3-70b"]
    assert [machine["name"] for machine in shelf["machines"]] == ["a100", "h100", "h200", "b200", "gb200", "custom"]
    assert all(set(model) == {"name", "title", "tied", "note", *MODEL_FIELDS} for model in shelf["models"])
    assert all(set(machine) == {"name", "title", "source", *MACHINE_FIELDS} for machine in shelf["machines"])
    assert (shelf["defaults"]["efficiency"], shelf["defaults"]["machine"]) == (None, "h100")


def test_an_empty_request_uses_the_listed_defaults(reader: FlaskClient):
    shelf = reader.get("/api/models").get_json()
    given = "&".join(
        f"{key}={int(value) if isinstance(value, bool) else value}"
        for key, value in shelf["defaults"].items()
        if value is not None
    )
    assert reader.get("/api/costs").get_json() == reader.get(f"/api/costs?{given}").get_json()


@pytest.mark.parametrize(
    ("query", "data"),
    [
        ("", {}),
        ("model=zb-6.2b&machine=a100&p=8&v=2&efficiency=0.5", {"model": "zb-6.2b", "machine": "a100", "p": 8, "v": 2,
                                                              "efficiency": 0.5}),
        ("model=Gemma2-9B&heads=1&tp=8&p=4", {"model": "gemma2-9b", "heads": True, "tp": 8, "p": 4}),
        ("model=custom&hidden=1024&attention_heads=16&layers=9&p=2&flash=0&memory=1e9",
         {"model": "custom", "hidden": 1024, "attention_heads": 16, "layers": 9, "p": 2, "flash": False,
          "memory": 1e9}),
        ("p=4&layers=9,8,8,7&sequence=1024&micro_batch=4",
         {"p": 4, "layers": [9, 8, 8, 7], "sequence": 1024, "micro_batch": 4}),
    ],
)  # fmt: skip
def test_costs_equal_those_of_the_core(reader: FlaskClient, query: str, data: dict[str, Any]):
    answer = reader.get(f"/api/costs?{query}")
    assert answer.status_code == 200
    assert answer.get_json() == plain(with_codes(estimate(Setting.read(data)).as_dict()))


def test_costs_have_the_keys_that_the_page_reads(reader: FlaskClient):
    shape = reader.get("/api/costs?model=llama3-70b&heads=1&p=4").get_json()
    assert {"model", "machine", "costs", "w_share", "unit", "bytes", "arithmetic", "fits", "memory",
            "vocabulary_ratio"} <= set(shape)  # fmt: skip
    assert (shape["model"], shape["machine"], shape["unit"]) == ("llama3-70b", "h100", "ms")
    assert {"F", "I", "W", "comm", "FB"} <= set(shape["costs"])
    assert shape["costs"]["FB"] is None
    assert len(shape["costs"]["F"]) == len(shape["memory"]) == 4
    for item in shape["arithmetic"]:
        assert {"name", "formula", "numbers", "value", "unit"} <= set(item)
        assert (
            evaluate(item["tree"], shape["names"]) == item["value"] == evaluate(parse(item["formula"]), shape["names"])
        )


def test_costs_can_be_pasted_into_a_schedule(reader: FlaskClient):
    shape = reader.get("/api/costs?model=llama3-70b&heads=1&p=4&v=2").get_json()
    spec = registry.read(
        {"family": "interleaved", "p": 4, "m": 8, "v": 2, "costs": shape["costs"], "w_share": shape["w_share"]}
    )
    assert spec.to_json()["costs"] == shape["costs"]


def test_a_balance_shows_both_splits(reader: FlaskClient):
    shape = reader.get("/api/balance?model=gemma2-9b&heads=1&p=4&v=1&family=1f1b&m=16").get_json()
    assert shape == plain(
        balance_of({"model": "gemma2-9b", "heads": True, "p": 4, "family": "1f1b", "m": 16}).as_dict()
    )
    assert shape["before"]["layers"] == [10, 11, 11, 10]
    assert sum(shape["after"]["layers"]) == 42
    assert shape["after"]["makespan"] < shape["before"]["makespan"]
    assert shape["saved"] == 1 - shape["after"]["makespan"] / shape["before"]["makespan"]
    layers = ",".join(map(str, shape["after"]["layers"]))
    priced = reader.get(f"/api/costs?model=gemma2-9b&heads=1&p=4&layers={layers}").get_json()
    assert priced["costs"] == shape["after"]["costs"]


@pytest.mark.parametrize(("family", "v"), [("1f1b", 1), ("zb-h1", 1), ("interleaved", 4), ("v-zb", 2)])
def test_a_balance_on_eight_devices_takes_under_a_second_of_work(reader: FlaskClient, family: str, v: int):
    query = f"model=llama3-70b&heads=1&p=8&v={v}&family={family}&m=32"
    reader.get(f"/api/balance?{query}&efficiency=0.4")  # whatever is loaded and compiled only once
    start = time.process_time()
    assert reader.get(f"/api/balance?{query}").status_code == 200
    assert time.process_time() - start < slowness()


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("model=llama9", "model"),
        ("model=", "model"),
        ("machine=tpu", "machine"),
        ("nothing=1", "nothing"),
        ("family=1f1b", "family"),  # only of a balance
        ("name=x", "name"),
        ("title=x", "title"),
        ("p=1&p=2", "p"),
        ("p=NaN", "p"),
        ("p=1e999", "p"),
        ("p=0x10", "p"),
        ("p=", "p"),
        ("p=1.5", "p"),
        ("p=100000", "p"),
        ("efficiency=nan", "efficiency"),
        ("efficiency=-1", "efficiency"),
        ("efficiency=Infinity", "efficiency"),
        ("heads=2", "heads"),
        ("heads=yes", "heads"),
        ("layers=1,2", "layers"),
        ("layers=1,,2", "layers"),
        ("layers=32,", "layers"),
        ("layers=5000", "layers"),
        ("tp=9", "tp"),
        ("link=post", "link"),
        ("hidden=" + "9" * 41, "hidden"),
        ("kv_heads=7", "kv_heads"),
        ("%ff=1", "\ufffd"),
    ],
)
def test_a_bad_question_is_refused_with_its_field(reader: FlaskClient, query: str, field: str):
    answer = reader.get(f"/api/costs?{query}")
    assert answer.status_code == 400
    error = answer.get_json()["error"]
    assert {"field", "value", "message"} <= set(error)
    if field.isascii():
        assert error["field"] == field


@pytest.mark.parametrize(
    ("query", "field"),
    [("family=2f2b", "family"), ("family=dualpipe&p=3", "p"), ("m=0", "m"), ("v=2", "v"), ("w_share=1", "w_share"),
     ("m=1&m=1", "m"), ("group=2", "group"), ("p=64", "p")],
)  # fmt: skip
def test_a_bad_balance_is_refused_with_its_field(reader: FlaskClient, query: str, field: str):
    answer = reader.get(f"/api/balance?{query}")
    assert (answer.status_code, answer.get_json()["error"]["field"]) == (400, field)
