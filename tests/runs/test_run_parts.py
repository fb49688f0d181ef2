"""The parts of runs that need no process: the log, the state of a run."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.errors import RequestError, message
from backend.runs.options import refuse_ranks
from backend.runs.run import Run
from backend.runs.run_log import MOST_ROWS, RunLog
from backend.schedule.interop.measured_rows import FIELDS, KINDS
from tests.runs.stored import DETAILS, a_finished_run, a_run


def log_of(*batches: int) -> RunLog:
    log = RunLog("r")
    log.append("queued", position=1)
    log.append("running")
    for number, size in enumerate(batches):
        log.append("op_batch", ops=[[number, k, 0, 0, 0, 0] for k in range(size)])
    log.append("finished")
    return log


@given(st.lists(st.integers(0, 9), max_size=20), st.integers(0, 25), st.integers(1, 30))
def test_from_any_entry_the_messages_to_a_viewer_omit_nothing_and_repeat_nothing(sizes, since, most):
    log = log_of(*sizes)
    cursor = since = min(since, log.seq)
    events, rows = [], []
    while cursor < log.seq:
        for part in log.parts(cursor, most):
            message = json.loads(part.text)
            assert (message["id"], message["first"], message["seq"]) == ("r", part.first, part.seq)
            assert part.first == cursor + 1
            cursor = part.seq
            events.append(message["event"])
            rows += message.get("ops", [])
    assert cursor == log.seq
    assert rows == [list(row) for row in log_of(*sizes).rows()][sum(sizes[: max(0, since - 2)]) :]
    others = [(1, "queued"), (2, "running"), (log.seq, "finished")]
    assert [event for event in events if event != "op_batch"] == [event for seq, event in others if seq > since]


def test_a_viewer_far_behind_gets_one_large_message_instead_of_many():
    messages = [json.loads(part.text) for part in log_of(*[2] * 50).parts(2, most=1000)]
    assert [(message["event"], message["first"], message["seq"]) for message in messages] == [
        ("op_batch", 3, 52),
        ("finished", 53, 53),
    ]


def test_a_message_is_at_most_its_limit_but_never_empty():
    parts = log_of(100, 100).parts(2, most=10)
    assert [(part.seq, len(json.loads(part.text)["ops"])) for part in parts] == [(3, 100)]


def test_bytes_and_messages_are_sent_on_request_under_the_same_entry_numbers():
    log = RunLog("r")
    log.extend({"ops": [[0, 0, 1, 2, 3, 0]], **DETAILS})
    log.extend({"ops": [[1, 0, 1, 2, 3, 0]]})
    log.extend({"ops": [], **DETAILS})
    plain, whole, rest = (
        [json.loads(part.text) for part in log.parts(0, 100, kinds)]
        for kinds in (("ops",), KINDS, ("bytes", "messages"))
    )
    assert [(part["first"], part["seq"]) for part in plain + whole + rest] == [(1, 3)] * 3
    assert {key for key in plain[0] if key in KINDS} == {"ops"}
    assert {kind: len(whole[0][kind]) for kind in KINDS if kind in whole[0]} == {"ops": 2, "bytes": 4, "messages": 2}
    assert whole[0]["messages"] == DETAILS["messages"] * 2
    assert "ops" not in rest[0]
    assert [[part.seq for part in log.parts(1, 1, kinds)] for kinds in (("ops",), KINDS)] == [[3], [2]]


def test_many_rows_at_the_end_of_a_long_run_become_entries_of_bounded_length():
    log = RunLog("r")
    count = 2 * MOST_ROWS + 5
    log.extend({"ops": [], "bytes": [[0, k, 1, 2, 3] for k in range(count)], "messages": DETAILS["messages"]})
    assert log.seq == 3
    parts = [json.loads(part.text) for part in log.parts(0, 10, KINDS)]
    assert max(len(part["bytes"]) for part in parts) <= MOST_ROWS
    assert [row[1] for row in log.rows("bytes")] == list(range(count))
    assert [list(row) for row in log.rows("messages")] == DETAILS["messages"]


def test_a_run_contains_what_the_runner_reported():
    state = a_finished_run().as_dict()
    assert (state["status"], state["mode"], state["device"], state["unit_ms"]) == ("finished", "paced", "cpu", 2.0)
    assert (state["verified"], state["loss"], state["measured"]) == (True, 1.5, {"makespan": 3.5})
    assert state["seq"] == 9
    assert len(state["ops"]) == state["op_count"] == 3
    assert {kind: state[kind] for kind in KINDS[1:]} == DETAILS | {"copies": []}


def test_nothing_changes_a_run_that_is_over():
    run = a_finished_run()
    run.apply({"event": "failed", "failure": {}})
    assert (run.status, run.log.seq) == ("finished", 9)


@pytest.mark.parametrize(
    "event",
    [
        {"event": "op_batch", "ops": [[0, 1, 2]]},
        {"event": "op_batch", "ops": [[0, 1, 2, 3, 4, 5.5]]},
        {"event": "op_batch", "ops": [[0, 1, 2, 3, 4, True]]},
        {"event": "op_batch", "ops": [7]},
        {"event": "op_batch", "ops": [[0, 1, 2, 3, 4, 5]], "bytes": [[0, 1, 2, 3]]},
        {"event": "op_batch", "ops": [[0, 1, 2, 3, 4, 5]], "bytes": [[0, 1, 2, 3, None]]},
        {"event": "op_batch", "ops": [[0, 1, 2, 3, 4, 5]], "messages": [[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]]},
        {"event": "op_batch", "ops": [[0, 1, 2, 3, 4, 5]], "messages": [[0, 1, 2, 3, 4, 5, 6, 7, "8"]]},
        {"event": "op_batch"},
        {"event": "progress"},
        {"event": "progress", "phase": "asleep", "step": 1, "steps": 2, "done": 3},
        {"event": "progress", "phase": "running", "step": 1, "steps": 2, "done": -1},
        {"event": "progress", "phase": "running", "step": True, "steps": 2, "done": 3},
        {"event": "boom"},
        {"event": None},
    ],
)
def test_a_malformed_event_is_refused_before_anything_is_stored(event):
    run = a_run()
    with pytest.raises((ValueError, TypeError, KeyError)):
        run.apply(event)
    assert run.log.seq == 0


def test_copies_have_rows_of_their_own() -> None:
    run = Run("a", {}, "auto", None, 0.0)
    run.apply(
        {"event": "op_batch", "ops": [[0, 3, 1, 2, 9, 0]], "copies": [[0, 0, 9, 10, 14, 4096], [1, 5, 7, 8, 9, 64]]}
    )
    assert (run.log.rows(), run.log.ops) == ([(0, 3, 1, 2, 9, 0)], 1)
    assert [(row.index, row.bytes) for row in run.log.rows("copies")] == [(0, 4096), (5, 64)]


def test_a_copy_of_another_width_is_refused() -> None:
    run = Run("a", {}, "auto", None, 0.0)
    with pytest.raises(ValueError, match="6 whole numbers"):
        run.apply({"event": "op_batch", "ops": [], "copies": [[0, 0, 1]]})


def test_rows_are_read_by_the_fields_that_the_runner_states() -> None:
    run = a_run()
    fields = ["end", "start", "rank", "index", "ready", "recv_wait", "more"]
    run.apply({"event": "running", "fields": {"ops": fields}})
    run.apply({"event": "op_batch", "ops": [[9, 5, 1, 2, 4, 3, 7]], "copies": [[0, 0, 9, 10, 14, 4096]]})
    assert run.log.rows()[0]._asdict() == {"rank": 1, "index": 2, "ready": 4, "start": 5, "end": 9, "recv_wait": 3}
    assert run.log.rows("copies")[0].bytes == 4096


def test_a_runner_whose_rows_lack_a_field_is_refused() -> None:
    with pytest.raises(ValueError, match="rows of ops lack recv_wait"):
        a_run().apply({"event": "running", "fields": {"ops": ["rank", "index", "ready", "start", "end"]}})


def test_viewers_receive_the_field_names_with_the_event_running() -> None:
    run = a_run()
    run.apply({"event": "running"})
    assert json.loads(run.log.parts(0, 10)[0].text)["fields"] == FIELDS


def test_a_failure_keeps_kind_rank_op_and_message() -> None:
    run = a_run()
    message = {"code": "runner.out_of_memory", "params": {"rank": 1}, "message": "rank 1 ran out of memory"}
    failure = {"kind": "out_of_memory", "rank": 1, "op": "1F0"} | message
    run.apply({"event": "failed", "failure": failure})
    assert (run.summary()["failure"], json.loads(run.log.parts(0, 1)[0].text)["failure"]) == (failure, failure)


@pytest.mark.parametrize("failure", [None, "rank 1", {}, {"kind": "x", "message": 3}])
def test_a_malformed_failure_is_refused(failure) -> None:
    with pytest.raises(ValueError, match="without a message"):
        a_run().apply({"event": "failed", "failure": failure})


def test_the_number_of_an_entry_and_its_message_codes_reach_viewers() -> None:
    run = a_run()
    run.apply({"event": "waiting", "message": message("runs.unknown", "There is no run with this id.")})
    sent = json.loads(run.log.parts(0, 1)[0].text)
    assert (sent["seq"], sent["waiting"]["code"]) == (1, "runs.unknown")


def test_more_ranks_than_a_run_can_have_are_refused_with_the_most_and_unknown_ones_are_not():
    choices = [{"from": 1, "to": 2}, {"from": 3, "to": 64}]
    refuse_ranks(64, choices)
    refuse_ranks(80, [])
    with pytest.raises(RequestError) as caught:
        refuse_ranks(80, choices)
    error = caught.value
    assert (error.field, error.value, error.limit, error.nearest) == ("p", 80, 64, 64)
    assert error.message == "a run has at most 64 ranks here, and this schedule has 80 devices"
