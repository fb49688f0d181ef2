"""Malformed commands and illegal runs: each gets one error of the common shape and disturbs nothing."""

from __future__ import annotations

import json
import os
from typing import Any, NoReturn

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.errors import RequestError, message
from backend.schedule.families import registry
from backend.schedule.interop import torch_csv
from backend.schedule.order import wire
from runner import protocol
from runner.job.plan import plan
from runner.service import Service
from tests.support.runner.client import TINY, RunnerProgram, planned_run

BAD_LINES = [
    (b"nonsense", "line"),
    (b"[]", "line"),
    (b"5", "line"),
    (b"\xff\xfe{}", "line"),
    (b'{"cmd": "run", "id": "a", "spec": {}, "order": "x", "unit_ms": NaN}', "line"),
    (b'{"cmd": "run", "id": "a", "spec": {}, "order": "x", "unit_ms": Infinity}', "line"),
    (b'{"cmd": "run", "id": "a", "spec": {}, "order": "x", "seed": ' + b"9" * 5000 + b"}", "line"),
    (b"[" * 100_000, "line"),
    (b"{}", "cmd"),
    (b'{"cmd": "dance"}', "cmd"),
    (b'{"cmd": ["run"]}', "cmd"),
    (b'{"cmd": "devices", "id": "a"}', "id"),
    (b'{"cmd": "run", "spec": {}}', "id"),
    (b'{"cmd": "run", "id": 5, "spec": {}}', "id"),
    (b'{"cmd": "run", "id": "", "spec": {}}', "id"),
    (b'{"cmd": "cancel"}', "id"),
    (b'{"cmd": "run", "id": "a"}', "spec"),
    (b'{"cmd": "run", "id": "a", "spec": []}', "spec"),
    (b'{"cmd": "run", "id": "a", "spec": {}, "order": "x", "speed": 1}', "speed"),
    (b'{"cmd": "run", "id": "a", "spec": {}, "order": "x", "mode": "fast"}', "mode"),
    (b'{"cmd": "run", "id": "a", "spec": {}, "order": "x", "mode": 1}', "mode"),
    (b'{"cmd": "run", "id": "a", "spec": {}, "order": "x", "unit_ms": -1}', "unit_ms"),
    (b'{"cmd": "run", "id": "a", "spec": {}, "order": "x", "unit_ms": 0}', "unit_ms"),
    (b'{"cmd": "run", "id": "a", "spec": {}, "order": "x", "unit_ms": 1e999}', "unit_ms"),
    (b'{"cmd": "run", "id": "a", "spec": {}, "order": "x", "unit_ms": "20"}', "unit_ms"),
    (b'{"cmd": "run", "id": "a", "spec": {}, "order": "x", "unit_ms": true}', "unit_ms"),
    (b'{"cmd": "run", "id": "a", "spec": {}, "order": "x", "seed": 1e30}', "seed"),
    (b'{"cmd": "run", "id": "a", "spec": {}, "order": "x", "seed": -1}', "seed"),
    (b'{"cmd": "run", "id": "a", "spec": {}, "order": "x", "steps": 0}', "steps"),
    (b'{"cmd": "run", "id": "a", "spec": {}, "order": "x", "steps": 1.5}', "steps"),
    (b'{"cmd": "run", "id": "a", "spec": {}, "order": "x", "model": 7}', "model"),
    (b'{"cmd": "run", "id": "a", "spec": {}, "order": "x", "p": 4}', "p"),
    (b'{"cmd": "run", "id": "a", "spec": {}}', "order"),
    (b'{"cmd": "run", "id": "a", "spec": {}, "order": 4}', "order"),
    (b'{"cmd": "run", "id": "a", "spec": {}, "order": "x", "csv": "0F0"}', "csv"),
]

KEYS = (*protocol.RUN_KEYS, "family", "p", "m")
TWO_RANKS = wire.to_text(torch_csv.load("0F0,0B0\n1F0,1B0"))
DEADLOCK = wire.to_text(torch_csv.load("0F0,0B0,0F1,0B1\n1F1,1B1,1F0,1B0"))

BAD_RUNS: list[tuple[dict[str, Any], str]] = [
    ({"spec": {"p": 65, "m": 2}}, "p"),
    ({"spec": {"p": -4}}, "p"),
    ({"spec": {"p": 4, "m": 60_000}, "unit_ms": 0.01, "mode": "paced"}, "m"),
    ({"spec": {"family": "zzz"}}, "family"),
    ({"spec": {"pp": 4}}, "pp"),
    ({"spec": {"costs": {"F": -1}}}, "F"),
    ({"spec": {"p": 4, "m": 100}, "mode": "paced", "unit_ms": 50_000}, "unit_ms"),
    ({"spec": {"p": 4, "m": 100}, "mode": "paced", "unit_ms": 200, "steps": 100}, "unit_ms"),
    ({"spec": {"family": "pipedream"}, "steps": 2}, "steps"),
    ({"spec": {"p": 8, "vocabulary": "parallel-2"}, "model": {"vocabulary": 7}}, "model.vocabulary"),
    ({"spec": {"p": 2}, "mode": "free", "unit_ms": 5}, "unit_ms"),
    ({"spec": {"costs": {"F": 0, "I": 0, "W": 0}}, "mode": "paced"}, "costs"),
    ({"spec": {"costs": {"F": 0, "I": 0, "W": 0, "comm": 1}}, "mode": "paced"}, "costs"),
    ({"spec": {}, "model": {"width": 3}}, "width"),
    ({"spec": {}, "model": {"hidden": 0}}, "model.hidden"),
    ({"spec": {}, "model": {"hidden": 33, "heads": 2}}, "model.hidden"),
    ({"spec": {}, "model": {"hidden": 4096, "sequence": 4096, "batch": 64}}, "model"),
    ({"order": TWO_RANKS, "spec": {"p": 3}}, "p"),
    ({"order": TWO_RANKS, "spec": {"m": 2}}, "m"),
    ({"order": TWO_RANKS, "spec": {"v": 2}}, "v"),
    ({"order": TWO_RANKS, "spec": {"costs": {"F": [1, 2, 3]}}}, "F"),
    ({"order": TWO_RANKS, "spec": {"offload": "full", "costs": {"O": 0.1}}}, "offload"),
    ({"order": "0F0,0B0", "spec": {}}, "order"),
    ({"order": DEADLOCK, "spec": {}}, "order"),
]


def order_for(spec: dict[str, Any]) -> str:
    """The order of a spec; of the default one where this is illegal."""
    try:
        return wire.to_text(registry.order(registry.read(spec)))
    except RequestError:
        return wire.to_text(registry.order(registry.read({})))


@pytest.mark.parametrize(
    ("text", "field"), BAD_LINES, ids=[text[-40:].decode("ascii", "replace") for text, _ in BAD_LINES]
)
def test_a_bad_line_is_refused_by_field(text: bytes, field: str) -> None:
    with pytest.raises(protocol.LineError) as caught:
        protocol.parse(text)
    assert caught.value.field == field
    json.dumps(caught.value.as_dict(), allow_nan=False)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=5), inner),
    max_leaves=6,
)
COMMANDS = st.fixed_dictionaries(
    {"cmd": st.sampled_from(["run", "cancel", "devices", "shutdown"]) | JSON},
    optional=dict.fromkeys(protocol.RUN_KEYS[1:], JSON) | {"spec": st.just({}), "order": st.text(max_size=8)},
)
LINES = st.binary(max_size=60) | (COMMANDS | JSON).map(lambda data: json.dumps(data).encode())


@given(LINES)
def test_any_line_is_a_command_or_refused(text: bytes) -> None:
    found: protocol.Command | protocol.LineError
    try:
        found = protocol.parse(text)
    except protocol.LineError as error:
        found = error
    if isinstance(found, protocol.LineError):
        json.dumps(found.as_dict(), allow_nan=False)
        assert found.id is None or (found.id.isprintable() and 0 < len(found.id) <= 100)
    else:
        assert isinstance(found, protocol.Command)


class NoEngine:
    """An engine that has no resources for any run."""

    def describe(self) -> dict[str, Any]:
        return {"devices": []}

    def machine(self, run: protocol.Run) -> NoReturn:
        raise RequestError("id", run.id, message("runner.no_gpu", "there is no GPU to run on"))


@given(st.lists(LINES.filter(lambda text: b"shutdown" not in text), max_size=12), st.integers(1, 400))
def test_a_service_answers_every_line_of_any_stream_and_then_works_as_before(lines: list[bytes], piece: int) -> None:
    stream = b"".join(line.replace(b"\n", b" ") + b"\n" for line in lines) + b'{"cmd": "devices"}\n'
    (source, give), (take, sink) = os.pipe(), os.pipe()
    try:
        service = Service(source, sink, NoEngine())
        for at in range(0, len(stream), piece):
            os.write(give, stream[at : at + piece])
            service.read()
        events = [json.loads(line) for line in os.read(take, 2**20).splitlines()]
    finally:
        for handle in (source, give, take, sink):
            os.close(handle)
    assert len(events) == 1 + sum(bool(line.replace(b"\n", b" ").strip()) for line in lines)
    assert {event["event"] for event in events} <= {"error", "devices"}
    assert events[-1] == {"event": "devices", "devices": []}
    assert not service.stopping
    assert service.job is None


@pytest.mark.parametrize(("fields", "field"), BAD_RUNS, ids=[json.dumps(fields)[:60] for fields, _ in BAD_RUNS])
def test_an_illegal_run_is_refused_with_its_field_and_the_nearest_legal_value(
    fields: dict[str, Any], field: str
) -> None:
    command = protocol.parse(
        json.dumps({"cmd": "run", "id": "a", "order": order_for(fields["spec"]), **fields}).encode()
    )
    assert isinstance(command, protocol.Run)
    with pytest.raises(RequestError) as caught:
        plan(command)
    assert caught.value.field == field
    json.dumps(caught.value.as_dict(), allow_nan=False)


def test_the_nearest_legal_unit_is_legal() -> None:
    fields = {"spec": {"p": 4, "m": 100}, "mode": "paced"}
    with pytest.raises(RequestError) as caught:
        plan(planned_run(**fields, unit_ms=50_000))
    assert plan(planned_run(**fields, unit_ms=caught.value.nearest)).unit_ms == caught.value.nearest


def test_bad_lines_get_one_error_each_and_the_run_under_way_goes_on(runner: RunnerProgram) -> None:
    run = runner.start(spec={"p": 2, "m": 8}, mode="paced", unit_ms=10, model=TINY)
    runner.until("running")
    for text, _ in BAD_LINES:
        runner.write(text)
    runner.write(b"")
    events = runner.until("finished")
    errors = [event for event in events if event["event"] == "error"]
    assert [error["error"]["field"] for error in errors] == [field for _, field in BAD_LINES]
    assert all({"code", "params", "field", "value", "message"} <= set(error["error"]) for error in errors)
    assert {error.get("id") for error in errors} == {None, "a"}
    assert events[-1]["id"] == run
    assert events[-1]["verified"]


def test_a_line_in_pieces_is_one_line_and_a_line_without_end_is_dropped(runner: RunnerProgram) -> None:
    assert runner.process.stdin is not None
    runner.process.stdin.write(b'{"cmd": "dev')
    runner.process.stdin.write(b'ices"}\n')
    assert runner.event()["devices"][0]["kind"] == "cpu"
    runner.process.stdin.write(b"x" * (protocol.MAX_LINE + 70_000))
    assert runner.event()["error"]["field"] == "line"
    runner.process.stdin.write(b'x\n{"cmd": "devices"}\n')
    assert runner.event()["event"] == "devices"


def test_a_refused_run_leaves_the_runner_free_for_the_next(runner: RunnerProgram) -> None:
    refusal = runner.run(spec={"p": 65, "m": 2})[-1]
    assert refusal["event"] == "error"
    assert refusal["error"]["nearest"] == 64
    assert runner.run(spec={"p": 2, "m": 2}, mode="free", model=TINY)[-1]["event"] == "finished"
