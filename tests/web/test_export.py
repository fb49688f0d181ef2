"""The route of exported files: each format under its name, refusals with sentences, and a size limit."""

from __future__ import annotations

import pytest
from flask.testing import FlaskClient

from backend.errors import RequestError
from backend.jobs import files
from backend.jobs.order_time import order_ms
from backend.schedule.families import registry
from backend.schedule.families.registry import read
from backend.schedule.interop.export import FORMATS, render
from backend.web.http.computing import INLINE_MS, QUICK_MS
from tests.conftest import error_of


@pytest.mark.parametrize("form", FORMATS)
def test_a_file_equals_that_of_the_command_line_and_is_named_by_family_and_sizes(reader: FlaskClient, form: str):
    answer = reader.get(f"/api/export?family=interleaved&p=2&m=4&v=2&format={form}")
    spec = read({"family": "interleaved", "p": 2, "m": 4, "v": 2})
    ending, mimetype, _ = FORMATS[form]
    assert answer.text == render(spec, registry.order(spec), form)
    assert answer.mimetype == mimetype
    assert answer.headers["Content-Disposition"] == f'attachment; filename="interleaved-p2-m4-v2.{ending}"'


def test_a_format_that_cannot_represent_an_order_is_refused_with_the_reason(reader: FlaskClient):
    refused = reader.get("/api/export?family=dualpipe&p=4&m=8&format=torch-csv")
    assert refused.status_code == 400
    assert "hold every stage on two" in error_of(refused)["message"]
    assert error_of(reader.get("/api/export?format=x"))["field"] == "format"


@pytest.mark.parametrize("form", FORMATS)
def test_a_file_that_would_be_too_large_is_refused_before_it_is_built(form: str):
    largest = 64 * FORMATS[form][2]
    assert files.exported(f"family=1f1b&p=4&m=8&format={form}".encode(), (), largest).body  # 2 p m = 64 ops
    with pytest.raises(RequestError) as refused:
        files.exported(f"family=1f1b&p=4&m=9&format={form}".encode(), (), largest)
    assert (refused.value.field, refused.value.nearest) == ("m", 8)


def test_the_limit_of_a_file_holds_in_the_route(reader: FlaskClient):
    error = error_of(reader.get("/api/export?family=1f1b&p=64&m=32768&format=json"))
    assert error["code"] == "web.file_too_large"


def test_the_estimated_characters_per_op_match_those_of_a_file():
    spec = read({"family": "zb-h1", "p": 8, "m": 200})
    order = registry.order(spec)
    for form, (_, _, characters) in FORMATS.items():
        assert characters / 2 < len(render(spec, order, form)) / len(order) < characters * 1.2, form


def test_a_searched_order_is_never_built_on_the_event_loop():
    """Its ops are few, and the evaluations of its effort are many."""
    spec = read({"family": "zb-auto", "p": 2, "m": 4, "effort": 5000})
    assert order_ms(spec.with_(effort=None)) > INLINE_MS
    assert order_ms(spec.with_(effort=10**6)) > QUICK_MS


def test_a_refusal_in_a_worker_gets_a_response_and_no_traceback_in_the_log(
    reader: FlaskClient, capfd: pytest.CaptureFixture[str]
):
    refused = reader.get("/api/export?family=dualpipe&p=8&m=4000&format=torch-csv")  # the order is built first
    assert refused.status_code == 400
    assert "Traceback" not in capfd.readouterr().err
