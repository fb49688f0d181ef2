"""The description of the HTTP interface: it has every route, and what it says of them is true."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from flask import Flask
from flask.testing import FlaskClient
from jsonschema_rs import Draft202012Validator, meta
from schemathesis.core.failures import FailureGroup
from schemathesis.specs.openapi.checks import response_schema_conformance, status_code_conformance

from backend.address.query import KEYS
from backend.compute.pool import Pool
from backend.config import PROJECT, Config
from backend.errors import RequestError, message
from backend.runs.run import OVER, STATUSES
from backend.schedule.hardware.balance import BALANCE_KEYS
from backend.schedule.hardware.cost_model import KEYS as SETTING_KEYS
from backend.schedule.hardware.machines import COUNTS
from backend.web.http.errors import STATUS
from backend.web.openapi.costs import SETTING
from backend.web.openapi.document import OPERATIONS, address, document, methods
from backend.web.openapi.operation import REFUSALS
from backend.web.openapi.runs import OPTIONS
from backend.web.openapi.shapes import SCHEMAS
from backend.web.openapi.specs import FIELDS, LIST
from tests.conftest import app_of, end_app, error_of
from tests.support.route_table import PAGE, with_table

STRICT = [name for name, each in OPERATIONS.items() if each.strict and each.query]
RANGE = ("schedule.out_of_range", "schedule.must_be_one_of", "schedule.must_be_whole", "runs.list_limit")
JSON = {"Accept": "application/json", "Accept-Encoding": "identity"}


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory, pool: Pool) -> Iterator[Flask]:
    """Return one app for all tests, which change nothing in it; runs that it takes wait."""
    folder = tmp_path_factory.mktemp("described")
    made = app_of(Config(port=0, database=folder / "runs.sqlite3", queue=99, queue_per_client=99), pool)
    yield made
    end_app(made)


@pytest.fixture(scope="module")
def client(app: Flask) -> FlaskClient:
    return app.test_client()


@pytest.fixture(scope="module")
def described(client: FlaskClient) -> dict[str, Any]:
    return client.get("/api/openapi.json").get_json()


def test_every_route_is_described_and_every_description_has_its_route(app: Flask, described: dict[str, Any]):
    routes = {
        (address(rule), method.lower(), rule.endpoint) for rule in app.url_map.iter_rules() for method in methods(rule)
    }
    told = {
        (path, method, operation["operationId"])
        for path, at in described["paths"].items()
        for method, operation in at.items()
    }
    assert told == routes, "describe each route in backend/web/openapi/"
    assert {endpoint for *_, endpoint in routes} == set(OPERATIONS)


def test_a_route_without_a_description_is_found():
    app = Flask("bare", static_folder=None)
    app.add_url_rule("/api/new/<int:number>", "new", lambda: "")
    assert [address(rule) for rule in app.url_map.iter_rules()] == ["/api/new/{number}"]
    assert document(app)["paths"] == {}


def test_the_description_is_openapi_and_its_schemas_are_schemas(described: dict[str, Any]):
    schemathesis.openapi.from_dict(described).validate()
    for name, schema in SCHEMAS.items():
        meta.validate({"$schema": "https://json-schema.org/draft/2020-12/schema", **schema})
        assert name in described["components"]["schemas"]


def test_every_reference_leads_somewhere(described: dict[str, Any]):
    for reference in references(described):
        kind, name = reference.removeprefix("#/components/").split("/")
        assert name in described["components"][kind], reference


def references(node: Any) -> set[str]:
    """Collect every $ref."""
    if isinstance(node, dict):
        own = {node["$ref"]} if isinstance(node.get("$ref"), str) else set()
        return own.union(*(references(each) for each in node.values()))
    return set().union(*(references(each) for each in node)) if isinstance(node, list) else set()


def test_every_operation_says_what_it_is_for(described: dict[str, Any]):
    tags = {tag["name"] for tag in described["tags"]}
    for at in described["paths"].values():
        for operation in at.values():
            assert 10 < len(operation["summary"]) < 250
            assert set(operation["tags"]) <= tags


def test_every_status_of_an_error_is_described_but_that_of_a_defect():
    assert set(STATUS.values()) - {500} <= set(REFUSALS)


def test_the_description_has_the_keys_of_the_readers():
    assert set(FIELDS) == set(KEYS)
    assert set(SETTING) == set(SETTING_KEYS)
    assert set(BALANCE_KEYS) <= set(FIELDS)
    spec = SCHEMAS["Spec"]["properties"]
    assert set(spec) - {"costs"} | set(spec["costs"]["properties"]) == set(KEYS)


@pytest.mark.parametrize("endpoint", STRICT)
def test_an_unknown_key_is_refused_where_the_description_says_so(app: Flask, client: FlaskClient, endpoint: str):
    error = error_of(client.get(f"{place(app, endpoint)}?nonsense=1"))
    assert error["field"] == "nonsense"


@pytest.mark.parametrize("endpoint", STRICT)
def test_what_the_description_excludes_is_refused(app: Flask, client: FlaskClient, endpoint: str):
    for parameter in OPERATIONS[endpoint].query:
        for value, legal in edges(parameter.schema):
            if not legal:
                error = error_of(client.get(place(app, endpoint), query_string={parameter.name: value}))
                assert error["field"] == parameter.name, (error, value)


@pytest.mark.parametrize(
    "endpoint", ["schedule.show_laws", "schedule.show_block", "costs.show_costs", "runs.list_runs"]
)
def test_what_the_description_allows_is_not_out_of_range(app: Flask, client: FlaskClient, endpoint: str):
    for parameter in OPERATIONS[endpoint].query:
        for value, legal in edges(parameter.schema):
            beside = {"per_node": COUNTS["per_node"][1]} if parameter.name == "tp" else {}  # a stage is within a node
            answer = client.get(place(app, endpoint), query_string={parameter.name: value} | beside)
            if legal and answer.status_code == 400:  # it may be illegal together with the defaults of the rest
                assert error_of(answer)["code"] not in RANGE, (parameter.name, value)


def place(app: Flask, endpoint: str) -> str:
    """Return an address of an endpoint."""
    rule = next(rule for rule in app.url_map.iter_rules() if rule.endpoint == endpoint)
    return rule.rule.replace("<run_id>", "abc").replace("<name>", "memory")


def edges(schema: Any) -> list[tuple[Any, bool]]:
    """Return (value, whether it is legal): the edges of a schema, and values just beyond."""
    schema = schema.get("anyOf", [schema])[0]
    if "enum" in schema:
        return [*((word, True) for word in schema["enum"]), ("nonsense", False)]
    if schema.get("type") == "boolean":
        return [("true", True), ("false", True), ("yes", False)]
    if "minimum" in schema:
        low, high = schema["minimum"], schema["maximum"]
        step = 1 if schema["type"] == "integer" else abs(low) / 2 or 1e-3
        return [(low, True), (high, True), (low - step, False), (high * 1.01 if high > 1e6 else high + step, False)]
    return []


def test_a_list_in_a_query_has_the_described_form(client: FlaskClient):
    for text in ("1,2,3,4", "2*1,2*0.5", "4*1e-3"):
        assert Draft202012Validator(LIST).is_valid(text)
        assert client.get("/api/schedule", query_string={"F": text}).status_code == 200
    assert not Draft202012Validator(LIST).is_valid("1,,2")


@pytest.mark.parametrize("family", ["1f1b", "pipedream", "zb-auto", "dualpipe", "interleaved"])
def test_a_result_of_each_kind_has_the_described_shape(client: FlaskClient, described: dict[str, Any], family: str):
    whole = {"$ref": "#/components/schemas/Result", "components": described["components"]}
    for path in ("/api/schedule", "/api/export"):
        Draft202012Validator(whole).validate(client.get(f"{path}?family={family}&p=4&m=8", headers=JSON).get_json())


def test_every_answer_about_a_stored_run_has_the_described_shape(client: FlaskClient, described: dict[str, Any]):
    trace = client.get("/api/export?format=chrome-trace&p=2&m=3").get_json()
    run_id = client.post("/api/runs/import", json=trace).get_json()["id"]
    answers = {
        "Run": client.get("/api/runs?limit=1").get_json()["runs"][0],
        "RunWithRows": client.get(f"/api/runs/{run_id}", headers=JSON).get_json(),
        "RunFile": client.get(f"/api/runs/{run_id}/export").get_json(),
        "ChromeTrace": client.get(f"/api/runs/{run_id}/export?format=chrome-trace").get_json(),
        "Spec": client.get(f"/api/runs/{run_id}/calibration").get_json()["spec"],
    }
    for name, answer in answers.items():
        whole = {"$ref": f"#/components/schemas/{name}", "components": described["components"]}
        Draft202012Validator(whole).validate(answer)


def test_a_body_is_read_by_the_described_fields(client: FlaskClient):
    for key, schema in OPTIONS.items():
        for value, legal in edges(schema):
            status = client.post("/api/runs", json={key: value}).status_code
            assert legal or status == 400, (key, value)


def test_a_run_that_is_over_has_a_described_status():
    assert set(STATUSES) >= OVER


def test_an_answer_that_is_not_described_is_found(app: Flask, monkeypatch: pytest.MonkeyPatch):
    """The checks of the generated requests can fail: of an undescribed status, and of another shape."""

    def lost(*_: object) -> None:
        raise RequestError("x", 1, message("http.other", "{reason}", reason="x"), kind="taken")

    operation = schemathesis.openapi.from_dict(document(app)).find_operation_by_id("history.devices")
    case = operation.Case()
    with monkeypatch.context() as patch:
        patch.setitem(app.view_functions, "history.devices", lost)
        with pytest.raises(FailureGroup, match="409"):
            case.call_and_validate(app=app, checks=[status_code_conformance])
    with monkeypatch.context() as patch:
        patch.setitem(app.view_functions, "history.devices", lambda: {"state": "ready"})
        with pytest.raises(FailureGroup, match="why"):
            case.call_and_validate(app=app, checks=[response_schema_conformance])


def test_the_description_is_small(client: FlaskClient):
    first = client.get("/api/openapi.json", headers={"Accept-Encoding": "deflate"})
    assert first.mimetype == "application/json"
    assert len(first.data) < 23_000


def test_no_path_of_this_machine_is_in_the_description(described: dict[str, Any]):
    assert str(PROJECT) not in json.dumps(described)


def test_the_table_of_routes_in_the_documentation_is_current(described: dict[str, Any]):
    page = PAGE.read_text()
    assert with_table(page, described) == page, "python -m tests.support.route_table"


def test_the_examples_in_the_documentation_are_answered(client: FlaskClient):
    examples = re.findall(r"^curl 'http://127.0.0.1:5000([^']+)'(.*)$", PAGE.read_text(), re.MULTILINE)
    assert len(examples) == 4
    for path, rest in examples:
        body = re.search(r"-d '(.+)'", rest)
        answer = client.post(path, json=json.loads(body[1])) if body else client.get(path)
        assert answer.status_code in (200, 202), path
    error = json.loads(re.search(r"```json\n(.+?)```", PAGE.read_text(), re.DOTALL)[1])
    assert client.get("/api/schedule?p=0").get_json() == error
