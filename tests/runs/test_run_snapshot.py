"""Snapshots of long runs that pages open while the run is under way."""

from __future__ import annotations

import json
import zlib

import gevent
import pytest

from backend.errors import RequestError
from backend.jobs.encoding import Encoded
from backend.runs.run import Run
from backend.schedule.interop.measured_rows import FIELDS
from backend.web.sockets import run_snapshot as snapshot_module
from backend.web.sockets.run_snapshot import ROUND, RunSnapshots, rows_of
from tests.runs.stored import a_run, grow, ops_of
from tests.support import PATIENCE_S

LONG = 600


@pytest.fixture(autouse=True)
def shorter(monkeypatch) -> None:
    monkeypatch.setattr(snapshot_module, "LONG", LONG)


def a_run_of(ops: int, batch: int = 100) -> Run:
    run = a_run()
    run.apply({"event": "running", "mode": "paced", "device": "cpu"})
    for at in range(0, ops, batch):
        grow(run, min(batch, ops - at))
    return run


def read(answer: Encoded) -> dict:
    return json.loads(zlib.decompress(answer.deflated))


def follow(run: Run, first: dict) -> list:
    """The ops of a page that opened the run and continues to watch from there."""
    rest = [json.loads(part.text) for part in run.log.parts(first["seq"], 10**9)]
    return first["ops"] + [row for message in rest for row in message.get("ops", [])]


@pytest.fixture
def encodings(monkeypatch) -> list[int]:
    """Lengths of the encoded bodies."""
    made: list[int] = []
    encode = snapshot_module.encode_text

    def counted(text: str, level: int) -> Encoded:
        made.append(len(text))
        return encode(text, level)

    monkeypatch.setattr(snapshot_module, "encode_text", counted)
    return made


def test_a_short_run_is_returned_in_its_current_state():
    run = a_run_of(7, batch=2)
    first = read(RunSnapshots().encoded(run))
    assert (first["seq"], first["op_count"], first["ops"]) == (run.log.seq, 7, ops_of(run))
    assert first == run.as_dict() | {"mine": True}


def test_a_run_is_returned_with_the_requested_rows():
    run, snapshots = a_run_of(7), RunSnapshots()
    run.apply({"event": "op_batch", "ops": [], "bytes": [[0, 0, 1, 2, 3]]})
    plain, details = (
        read(snapshots.encoded(run, rows_of("ops"))),
        read(snapshots.encoded(run, rows_of("messages,bytes"))),
    )
    assert (len(plain["ops"]), plain["seq"], "bytes" in plain) == (7, run.log.seq, False)
    assert (details["bytes"], details["messages"], "ops" in details) == ([[0, 0, 1, 2, 3]], [], False)
    assert read(snapshots.encoded(run)) == run.as_dict() | {"mine": True}
    assert read(snapshots.encoded(run, rows_of("none"))) == run.summary() | {"fields": FIELDS, "mine": True}


@pytest.mark.parametrize("rows", ["", "op", "ops,", "ops, bytes", None, 3, ["ops"]])
def test_unknown_kinds_of_rows_are_refused(rows):
    with pytest.raises(RequestError) as refused:
        rows_of(rows)
    assert (refused.value.field, refused.value.nearest) == ("rows", "ops")


def test_all_pages_that_open_a_long_run_under_way_share_one_encoding_and_miss_nothing(encodings):
    run, snapshots = a_run_of(LONG, batch=5), RunSnapshots()
    pages = []
    for _ in range(ROUND // 2):
        pages.append(gevent.spawn(snapshots.encoded, run))
        gevent.sleep(0)
        grow(run)
    answers = [read(page.get(timeout=PATIENCE_S)) for page in pages]
    assert len(encodings) <= 2  # two, where a round number of entries was passed meanwhile
    for first in answers:
        assert first["seq"] % ROUND == 0
        assert first["op_count"] == len(first["ops"]) > LONG // 2
        assert follow(run, first) == ops_of(run)


def test_pages_that_open_it_much_later_get_the_later_run(encodings):
    run, snapshots = a_run_of(LONG, batch=5), RunSnapshots()
    before = read(snapshots.encoded(run))
    for _ in range(ROUND):
        grow(run)
    after = read(snapshots.encoded(run))
    assert (after["seq"], len(encodings)) == (before["seq"] + ROUND, 2)
    assert follow(run, after) == ops_of(run)


def test_a_long_run_that_is_over_is_returned_to_its_end_and_encoded_again_when_it_changes(encodings):
    run, snapshots = a_run_of(LONG), RunSnapshots()
    run.apply({"event": "finished", "verified": True})
    for _ in range(3):
        first = read(snapshots.encoded(run))
        assert (first["status"], first["seq"], len(first["ops"])) == ("finished", run.log.seq, LONG)
    assert len(encodings) == 1
    run.facts["loss"] = 0.5
    assert read(snapshots.encoded(run))["loss"] == 0.5


def test_when_encoding_fails_the_next_page_tries_again(monkeypatch):
    run, snapshots = a_run_of(LONG), RunSnapshots()

    def fail(text: str, level: int) -> Encoded:
        raise MemoryError

    with monkeypatch.context() as patched:
        patched.setattr(snapshot_module, "encode_text", fail)
        with pytest.raises(MemoryError):
            snapshots.encoded(run)
    with gevent.Timeout(10):
        assert read(snapshots.encoded(run))["seq"] >= 0
