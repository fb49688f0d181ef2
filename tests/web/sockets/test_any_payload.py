"""Socket events with any JSON as their payload: each is acknowledged, with an answer or with a shaped error."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from flask import Flask
from flask_socketio import SocketIO, SocketIOTestClient
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backend.compute.live_searches.search_job import SearchJob
from backend.compute.pool import Pool
from backend.config import Config
from backend.schedule.spec import Spec
from tests.conftest import FAKE_RUNNER, app_of, end_app

EVENTS = ("watch", "unwatch", "watch_cluster", "unwatch_cluster", "search", "search_stop", "message")
RESERVED = ("connect", "disconnect")  # names of Socket.IO, which its own clients do not send
KEYS = ("run", "since", "rows", "spec", "seconds", "family", "p", "m", "v", "memory", "costs", "effort", "F")
VALUES = st.sampled_from(["zb-auto", "v-auto", "1f1b", "ops,bytes", "", "a", 0, 1, 4, 2.5, -1, 10**30])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text() | VALUES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=5), inner),
    max_leaves=8,
)
SPECS = st.fixed_dictionaries({"family": st.just("zb-auto")}, optional=dict.fromkeys(KEYS[6:], JSON))
PAYLOADS = JSON | st.dictionaries(st.sampled_from(KEYS[:5]), JSON | SPECS, max_size=3)
ALWAYS = {"code", "params", "field", "value", "message"}


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory, pool: Pool) -> Iterator[Flask]:
    folder = tmp_path_factory.mktemp("any")
    made = app_of(Config(port=0, database=folder / "runs.sqlite3", runner=FAKE_RUNNER), pool)
    yield made
    end_app(made)


@pytest.fixture
def page(app: Flask, monkeypatch: pytest.MonkeyPatch) -> Iterator[SocketIOTestClient]:
    """A page whose searches end at once."""
    monkeypatch.setattr(SearchJob, "run", lambda job: setattr(job, "state", replace(job.state, status="stopped")))
    socketio: SocketIO = app.extensions["socketio"]
    client = socketio.test_client(app)
    yield client
    client.disconnect()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from(EVENTS) | st.text(max_size=12).filter(lambda name: name not in RESERVED),
    st.lists(PAYLOADS, max_size=2),
)
def test_any_event_with_any_payload_is_acknowledged(
    page: SocketIOTestClient, caplog: pytest.LogCaptureFixture, event: str, payloads: list[Any]
) -> None:
    caplog.clear()
    with caplog.at_level(logging.WARNING):
        answer = page.emit(event, *payloads, callback=True)
    assert set(answer) == {"error"} or answer["ok"] is True
    if "error" in answer:
        assert ALWAYS <= set(answer["error"]) <= ALWAYS | {"limit", "nearest"}
        assert answer["error"]["code"] != "http.server_error"
    assert page.is_connected()
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []


@pytest.mark.parametrize("event", RESERVED)
def test_an_event_with_a_reserved_name_harms_nobody(
    page: SocketIOTestClient, caplog: pytest.LogCaptureFixture, event: str
) -> None:
    page.emit(event, {"a": 1}, callback=True)
    assert page.emit("unwatch", {"run": "a"}, callback=True) == {"ok": True}
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []


def test_a_search_from_the_same_page_still_begins(page: SocketIOTestClient) -> None:
    spec = Spec(family="zb-auto", p=2, m=4, memory=2.0).to_json()
    assert page.emit("search", {"spec": spec, "seconds": 0.1}, callback=True)["ok"] is True
