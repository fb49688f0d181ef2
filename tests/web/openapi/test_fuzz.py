"""Requests that schemathesis makes from the server's own description, legal ones and wrong ones, to every route.

`FUZZ=10000 pytest tests/web/openapi/test_fuzz.py` makes about that many, and other ones each time.
"""

from __future__ import annotations

import gzip
import json
import logging
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NoReturn

import pytest
import schemathesis
from flask import Flask
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import Case, GenerationMode
from schemathesis.core.transport import Response
from schemathesis.schemas import BaseSchema
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from werkzeug.test import TestResponse

from backend.compute.pool import Pool
from backend.config import Config
from backend.web.openapi.document import OPERATIONS, document, methods
from tests.conftest import app_of, end_app, error_of
from tests.support.server_answers import ORDERS

pytestmark = pytest.mark.timeout(600)  # for the long profile
REQUESTS = int(os.environ.get("FUZZ", "0"))
LEGAL, WRONG = GenerationMode.POSITIVE, GenerationMode.NEGATIVE
DELETING = "history.delete_run"  # comes last: the others want a run
CASES = [
    *((endpoint, LEGAL) for endpoint in OPERATIONS if endpoint != DELETING),
    *((endpoint, WRONG) for endpoint, each in OPERATIONS.items() if each.query or each.body is not None),
    (DELETING, LEGAL),
]
EXAMPLES = -(-REQUESTS // len(CASES)) or 2
SMALL = {"p": 8, "m": 12, "v": 3, "effort": 16, "width": 400, "height": 300, "seconds": 1}
"""Greatest values of what decides how long an answer takes."""
CHECKS = [
    status_code_conformance, content_type_conformance, response_headers_conformance, response_schema_conformance,
]  # fmt: skip
ODD = ["unknown", "\0", "\u00e9\u2028", "a b%", "x" * 300]  # names of nothing
GZIP = gzip.compress(b'{"traceEvents": []}')
PLAIN = {"Accept-Encoding": "identity"}  # the transport in this process inflates nothing
FORMS = (PLAIN | {"Accept": "application/json"}, PLAIN)


def few(usual: int, long: int) -> settings:
    """Return settings of Hypothesis: `usual` examples, the same each time, or `long` other ones where FUZZ is set."""
    return settings(
        max_examples=long if REQUESTS else usual, derandomize=not REQUESTS, database=None, deadline=None,
        phases=[Phase.generate], suppress_health_check=list(HealthCheck),
    )  # fmt: skip


@dataclass(frozen=True)
class Subject:
    """An app and schemathesis' view of its description."""

    app: Flask
    schema: BaseSchema
    statuses: Counter[int] = field(default_factory=Counter)


@pytest.fixture(scope="module")
def subject(tmp_path_factory: pytest.TempPathFactory, pool: Pool) -> Iterator[Subject]:
    """Return one app for all requests, which does not execute the runs that it takes. Its limits of clients are low
    enough to be exceeded."""
    path = tmp_path_factory.mktemp("fuzz") / "runs.sqlite3"
    share = 12 + REQUESTS // 200
    config = Config(port=0, database=path, queue_per_client=12, imports_per_hour=share, links_per_hour=share)
    app = app_of(config, pool)
    made = Subject(app, schemathesis.openapi.from_dict(small(document(app), known(app))))
    yield made
    if REQUESTS:
        print(f"\n{made.statuses.total()} requests, by status: {dict(made.statuses)}")
    end_app(app)


@pytest.mark.parametrize(("endpoint", "mode"), CASES, ids=[f"{mode.name.lower()}-{name}" for name, mode in CASES])
def test_every_answer_is_one_that_is_described_and_nothing_is_logged(
    subject: Subject, caplog: pytest.LogCaptureFixture, endpoint: str, mode: GenerationMode
):
    operation = subject.schema.find_operation_by_id(endpoint)
    sent = []

    @few(EXAMPLES, EXAMPLES)
    @given(case=operation.as_strategy(generation_mode=mode))
    def ask(case: Case) -> None:
        response = case.call(app=subject.app, headers=FORMS[len(sent) % 2])
        sent.append(response.status_code)
        subject.statuses[response.status_code] += 1
        check(case, response)

    with caplog.at_level(logging.WARNING):
        ask()
    assert sent
    assert not caplog.records, caplog.text


# What separates the parts of a query and of a packed link, beside arbitrary characters.
QUERIES = st.text(
    st.sampled_from("pmvFIW=&*.,-+%0123456789eE;?/#z\x00\n\u00e9\u2028") | st.characters(codec="utf-8"), max_size=60
)
BODIES = st.binary(max_size=80) | st.sampled_from(
    [
        b"", b"null", b"[]", b"{", b'{"spec": NaN}', b'{"spec": {}, "spec": {}}', b'{"name": "\\ud800"}', b"[" * 3000,
        b"9" * 5000, b"\xff\xfe{\x00}\x00", b'{"csv": "\\u0000"}', b'{"query": "?\\r"}', b"\x1f\x8b", GZIP, GZIP[:20],
        b'{"traceEvents": [[]]}', b'{"traces": [null]}', b'{"spec": {"p": 1e999}}', b'{"seed": 1e400}',
    ]
)  # fmt: skip
TYPES = ("application/json", "text/plain", "application/json; charset=utf-16", "", "multipart/form-data")
TAKING = [endpoint for endpoint, each in OPERATIONS.items() if each.body is not None]
READING = [endpoint for endpoint, each in OPERATIONS.items() if each.query]


@few(30, REQUESTS // 10)
@given(endpoint=st.sampled_from(READING), query=QUERIES, packed=st.booleans())
def test_any_characters_as_a_query_get_a_described_answer(
    subject: Subject, caplog: pytest.LogCaptureFixture, endpoint: str, query: str, packed: bool
):
    path, method = place(subject.app, endpoint)
    raw = "z=." + query if packed else query
    check_raw(subject, endpoint, subject.app.test_client().open(path, method=method, query_string=raw, headers=PLAIN))
    assert not caplog.records, caplog.text


@few(30, REQUESTS // 10)
@given(endpoint=st.sampled_from(TAKING), body=BODIES, kind=st.sampled_from(TYPES))
def test_any_bytes_as_a_body_get_a_described_answer(
    subject: Subject, caplog: pytest.LogCaptureFixture, endpoint: str, body: bytes, kind: str
):
    path, method = place(subject.app, endpoint)
    client = subject.app.test_client()
    check_raw(subject, endpoint, client.open(path, method=method, data=body, content_type=kind, headers=PLAIN))
    assert not caplog.records, caplog.text


def test_the_requests_got_more_than_refusals(subject: Subject):
    """Comes last: where the tests above ran, requests were met too, and in the long profile in every way."""
    if subject.statuses.total() < 2 * len(CASES):
        pytest.skip("only some of the requests were made")
    wanted = {200, 201, 202, 204, 302, 400, 404, 409, 415, 429} if REQUESTS else {200, 400, 404}
    assert wanted <= set(subject.statuses)


def place(app: Flask, endpoint: str) -> tuple[str, str]:
    """Return an address of an endpoint, and its method."""
    rule = next(rule for rule in app.url_map.iter_rules() if rule.endpoint == endpoint)
    return rule.rule.replace("<run_id>", "unknown").replace("<name>", "memory"), methods(rule)[0]


def check_raw(subject: Subject, endpoint: str, response: TestResponse) -> None:
    """Check an answer to a request that schemathesis did not make."""
    subject.statuses[response.status_code] += 1
    described = OPERATIONS[endpoint].as_dict(endpoint, subject.app.view_functions[endpoint])["responses"]
    assert str(response.status_code) in described, response.text[:300]
    assert b"Traceback" not in response.data
    if response.status_code >= 400:
        error_of(response)


def check(case: Case, response: Response) -> None:
    """Check one answer."""
    case.validate_response(response, checks=CHECKS)
    kind = response.headers.get("content-type", [""])[0]
    if kind == "application/json" and response.content:
        json.loads(response.content, parse_constant=refuse_constant)
    assert b"Traceback" not in response.content


def refuse_constant(constant: str) -> NoReturn:
    raise AssertionError(f"{constant} is not JSON")


def known(app: Flask) -> dict[str, list[Any]]:
    """Store a run and a link, and return what names them, by the parameter or field that takes it."""
    client = app.test_client()
    trace = client.get("/api/export?format=chrome-trace&p=2&m=3").get_json()
    ended = client.post("/api/runs/import", json=trace).get_json()["id"]
    waiting = client.post("/api/runs", json={"spec": {"p": 2, "m": 2}}).get_json()["id"]
    packed = client.post("/api/orders", json={"csv": "0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1"}).get_json()["spec"]["order"]
    link = client.post("/api/links", json={"query": "?family=zb-h1&p=3"}).get_json()["code"]
    return {
        "run_id": [ended, waiting, *ODD], "before": [ended, *ODD], "code": [link, link.upper(), *ODD],
        "filename": ["css/main.css", "js/main.js", "../app.py", "js", *ODD], "order": [packed, packed[:-2]],
        "csv": [each for each in ORDERS if each], "query": ["?family=zb-h1&p=3", "p=4&m=8", "?x", *ODD],
        "traceEvents": [trace["traceEvents"], trace["traceEvents"][:-2], [], [{}], [{"ph": "X", "name": "0F0"}]],
        "z": [".xx", "AAAA", *ODD],
    }  # fmt: skip


def small(described: dict[str, Any], values: dict[str, list[Any]]) -> dict[str, Any]:
    """Return the description with smaller sizes of what is sent, and with the values that name something."""
    changed = json.loads(json.dumps(described))
    schemas = changed["components"]["schemas"]
    sent = [schemas["GivenSpec"], schemas["GivenTrace"], schemas["View"]]  # answers have the sizes that they have
    for at in changed["paths"].values():
        for operation in at.values():
            sent += [operation.get("parameters"), operation.get("requestBody")]
    for part in sent:
        _shrink(part, values)
    return changed


def _shrink(node: Any, values: dict[str, list[Any]]) -> None:
    if isinstance(node, list):
        for each in node:
            _shrink(each, values)
    if not isinstance(node, dict):
        return
    if node.get("in") in ("query", "path"):
        node["schema"] = _smaller(node["name"], node["schema"], values)
    for kind in ("properties", "patternProperties"):
        for key, each in node.get(kind, {}).items():
            node[kind][key] = _smaller(key.rstrip("$").rpartition(".")[2], each, values)
    for each in node.values():
        _shrink(each, values)


def _smaller(name: str, schema: dict[str, Any], values: dict[str, list[Any]]) -> dict[str, Any]:
    if name in SMALL and "maximum" in schema:
        return {key: each for key, each in schema.items() if key != "default"} | {"maximum": SMALL[name]}
    if name in values:
        return {"enum": values[name]}  # not beside `schema`, which would absorb the values that it allows
    return schema
