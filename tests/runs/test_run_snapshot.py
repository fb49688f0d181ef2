"""Long runs as pages open them, while they go on."""

from __future__ import annotations

import json
import zlib

import gevent
import pytest

from backend.runs.run import Run
from backend.schedule.errors import SpecError
from backend.schedule.spec import Spec
from backend.web.http.cache import Encoded
from backend.web.sockets import run_snapshot as opened_module
from backend.web.sockets.run_snapshot import ROUND, Opened, rows_of

LONG = 600


@pytest.fixture(autouse=True)
def shorter(monkeypatch) -> None:
    monkeypatch.setattr(opened_module, "LONG", LONG)


def a_run(ops: int = 0, batch: int = 100) -> Run:
    run = Run("r", Spec().to_json(), "auto", None, 0.0)
    run.apply({"event": "running", "mode": "paced", "device": "cpu"})
    for at in range(0, ops, batch):
        grow(run, min(batch, ops - at))
    return run


def grow(run: Run, ops: int = 2) -> None:
    at = run.log.ops
    run.apply({"event": "op_batch", "ops": [[0, at + k, 1, 2, 3, 0] for k in range(ops)]})


def read(answer: Encoded) -> dict:
    return json.loads(zlib.decompress(answer.deflated))


def follow(run: Run, first: dict) -> list:
    """The ops of a page that opened the run and goes on watching from there."""
    rest = [json.loads(part.text) for part in run.log.parts(first["seq"], 10**9)]
    return first["ops"] + [row for message in rest for row in message.get("ops", [])]


@pytest.fixture
def encodings(monkeypatch) -> list[int]:
    """Lengths of what was encoded."""
    made: list[int] = []
    encode = opened_module.encode_text

    def counted(text: str, level: int) -> Encoded:
        made.append(len(text))
        return encode(text, level)

    monkeypatch.setattr(opened_module, "encode_text", counted)
    return made


def test_a_short_run_is_answered_as_it_stands():
    run = a_run(7, batch=2)
    first = read(Opened().answer(run))
    assert (first["seq"], first["op_count"], first["ops"]) == (run.log.seq, 7, run.log.rows())
    assert first == run.as_dict()


def test_a_run_is_answered_with_the_rows_that_are_asked_for():
    run, opened = a_run(7), Opened()
    run.apply({"event": "op_batch", "ops": [], "bytes": [[0, 0, 1, 2, 3]]})
    plain, details = read(opened.answer(run, rows_of("ops"))), read(opened.answer(run, rows_of("messages,bytes")))
    assert (len(plain["ops"]), plain["seq"], "bytes" in plain) == (7, run.log.seq, False)
    assert (details["bytes"], details["messages"], "ops" in details) == ([[0, 0, 1, 2, 3]], [], False)
    assert read(opened.answer(run)) == run.as_dict()
    assert read(opened.answer(run, rows_of("none"))) == run.summary()


@pytest.mark.parametrize("rows", ["", "op", "ops,", "ops, bytes", None, 3, ["ops"]])
def test_rows_that_there_are_not_are_refused(rows):
    with pytest.raises(SpecError) as refused:
        rows_of(rows)
    assert (refused.value.field, refused.value.nearest) == ("rows", "ops")


def test_all_who_open_a_long_run_under_way_share_one_encoding_and_miss_nothing(encodings):
    run, opened = a_run(LONG, batch=5), Opened()
    pages = []
    for _ in range(ROUND // 2):
        pages.append(gevent.spawn(opened.answer, run))
        gevent.sleep(0)
        grow(run)
    answers = [read(page.get(timeout=10)) for page in pages]
    assert len(encodings) <= 2  # two, where a round number of entries was passed meanwhile
    for first in answers:
        assert first["seq"] % ROUND == 0
        assert first["op_count"] == len(first["ops"]) > LONG // 2
        assert follow(run, first) == run.log.rows()


def test_pages_that_open_it_much_later_get_the_later_run(encodings):
    run, opened = a_run(LONG, batch=5), Opened()
    before = read(opened.answer(run))
    for _ in range(ROUND):
        grow(run)
    after = read(opened.answer(run))
    assert (after["seq"], len(encodings)) == (before["seq"] + ROUND, 2)
    assert follow(run, after) == run.log.rows()


def test_a_long_run_that_is_over_is_answered_to_its_end_and_anew_when_it_is_told_differently(encodings):
    run, opened = a_run(LONG), Opened()
    run.apply({"event": "finished", "verified": True})
    for _ in range(3):
        first = read(opened.answer(run))
        assert (first["status"], first["seq"], len(first["ops"])) == ("finished", run.log.seq, LONG)
    assert len(encodings) == 1
    run.facts["loss"] = 0.5
    assert read(opened.answer(run))["loss"] == 0.5


def test_where_encoding_fails_the_next_page_has_its_turn(monkeypatch):
    run, opened = a_run(LONG), Opened()

    def fail(text: str, level: int) -> Encoded:
        raise MemoryError

    with monkeypatch.context() as patched:
        patched.setattr(opened_module, "encode_text", fail)
        with pytest.raises(MemoryError):
            opened.answer(run)
    with gevent.Timeout(10):
        assert read(opened.answer(run))["seq"] >= 0
