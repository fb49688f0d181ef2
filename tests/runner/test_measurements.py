"""Measurements beyond the times of ops: messages, bytes, and the cause of all idle time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from runner.job.busy_machine import lack_of_cores
from runner.job.idle_time import idle
from runner.job.plan import plan
from runner.program.traffic import HEADER_BYTES, Traffic
from runner.telemetry.op_board import Board, Ledger
from runner.telemetry.stream import Stream
from tests.support.runner.client import TINY, Event, RunnerProgram, planned_run


def joined(events: list[Event], key: str) -> list[list[int]]:
    return [row for event in events if event["event"] == "op_batch" for row in event.get(key, ())]


@pytest.mark.parametrize("family", ["zb-h1", "dualpipe"])
def test_every_message_is_reported_once_with_its_ends_its_times_and_its_bytes(
    runner: RunnerProgram, family: str
) -> None:
    spec = {"family": family, "p": 2, "m": 4}
    events = runner.run(spec=spec, mode="free", model=TINY)
    assert events[-1]["verified"]
    planned = plan(planned_run(spec=spec, mode="free", model=TINY))
    traffic = Traffic(planned.program, planned.training.message_bytes)
    expected = [row for rows in traffic.rows for row in rows.tolist()]
    rows = joined(events, "messages")
    assert sorted(row[:5] for row in rows) == sorted(expected)
    ops = {tuple(row[:2]): row[2:] for row in joined(events, "ops")}
    links = {tuple(row[:5]): row[5:] for row in rows}
    for rank in range(2):
        for k, (index, _) in enumerate(traffic.messages[rank]):
            posted, asked, taken, size = links[tuple(traffic.rows[rank][k].tolist())]
            assert max(posted, asked) <= taken <= ops[rank, index][1]
            assert size == HEADER_BYTES + 4 * TINY["batch"] * TINY["sequence"] * TINY["hidden"]


def test_every_op_reports_bytes_in_and_out_and_live_bytes_at_its_end(runner: RunnerProgram) -> None:
    events = runner.run(spec={"family": "gpipe", "p": 2, "m": 3}, mode="free", model=TINY)
    ops, sizes = joined(events, "ops"), joined(events, "bytes")
    assert len(ops) == len(sizes) == 12
    one = HEADER_BYTES + 4 * TINY["batch"] * TINY["sequence"] * TINY["hidden"]
    by_op = {(rank, index): size for rank, index, *size in sizes}
    assert set(by_op) == {(row[0], row[1]) for row in ops}
    assert [by_op[0, k][:2] for k in range(6)] == [[0, one]] * 3 + [[one, 0]] * 3
    assert [by_op[1, k][:2] for k in range(6)] == [[one, 0]] * 3 + [[0, one]] * 3
    live = [by_op[0, k][2] for k in range(6)]
    assert 0 < live[0] < live[1] < live[2]
    assert live[2] > live[3] > live[4] > live[5] == 0
    assert max(size[4] for size in sizes) <= max(events[-1]["activations"]["peak_bytes"])


@pytest.mark.parametrize("spec", [{"family": "1f1b"}, {"family": "gis", "v": 2, "offload": "full"}], ids=str)
def test_idle_time_by_cause_adds_up_to_all_idle_time(runner: RunnerProgram, spec: dict[str, object]) -> None:
    events = runner.run(spec=spec | {"p": 2, "m": 4}, mode="paced", unit_ms=4, model=TINY)
    last, rows = events[-1], joined(events, "ops")
    until = max(row[4] for row in rows)
    for rank in range(2):
        busy = sum(row[4] - row[3] for row in rows if row[0] == rank)
        assert last["busy"][rank] == busy
        assert sum(kind[rank] for kind in last["idle"].values()) == until - busy
    assert last["slowest"]["busy"] == last["busy"][last["slowest"]["rank"]]
    assert 0 < last["instrumentation"]["share"] < 1


TIMES = np.array(
    [  # ready start  end  recv_wait
        [0, 5, 100, 0],  # could have started at 0
        [150, 160, 200, 58],  # its message counted from 150 on
        [220, 260, 300, 60],  # its message counted from 220 on, and came later
        [300, 301, 310, 0],  # nothing awaited: 1 late, less than noting costs
    ]
)  # fmt: skip


MADE = np.array([0, 130, 200, 0])  # when the op that each needs had ended


def test_in_a_paced_run_all_time_from_ready_to_start_is_a_late_start() -> None:
    found = idle(np.array([0, 4]), TIMES, MADE, np.zeros(4, np.bool_), True, 2.0)
    assert {kind: amount for kind, (amount,) in found.items()} == {
        "input": 30, "message": 20 + 20, "copy": 0,
        "late_start": 3 + 8 + 38, "instrumentation": 2 + 2 + 2 + 1, "own": 0, "over": 0,
    }  # fmt: skip


def test_in_a_free_run_it_is_the_rank_s_own() -> None:
    found = idle(np.array([0, 4]), TIMES, MADE, np.zeros(4, np.bool_), False, 2.0)
    assert (found["late_start"], found["own"]) == ([0], [3 + 8 + 38])
    assert (found["input"], found["message"]) == ([30], [20 + 20])


def test_a_wait_for_a_reload_is_attributed_to_the_copy_and_a_free_run_never_oversleeps() -> None:
    times = np.array([[40, 50, 90, 0], [120, 130, 140, 25]])
    found = idle(np.array([0, 1, 2]), times, np.zeros(2, np.int64), np.array([True, False]), False, 0.0)
    assert found["copy"] == [40, 0]
    assert found["message"] == [0, 25]
    assert found["late_start"] == [0, 0]
    assert found["own"] == [10, 105]
    assert found["over"] == [50, 0]


def test_with_very_many_ops_details_are_sent_later_and_none_is_lost(tmp_path: Path) -> None:
    planned = plan(planned_run(spec={"family": "gpipe", "p": 2, "m": 200}, mode="free"))
    traffic = Traffic(planned.program, planned.training.message_bytes)
    counts = [len(rank.steps) for rank in planned.program.ranks]
    board = Board(f"{tmp_path}/board", counts, messages=traffic.received)
    ledgers = [Ledger(f"{tmp_path}/board", rank, 2, board.first_rows(rank)) for rank in range(2)]
    stream = Stream(board, traffic)

    def work(ops: int) -> None:
        for ledger in ledgers:
            for number in range(ops):
                ledger.record(number, number, number + 7, 0, 99)
                ledger.record_message(number, number, number)

    work(10)
    few = stream.batch()
    assert [len(few[key]) for key in ("ops", "bytes", "messages")] == [20, 20, 20]
    work(190)
    many = stream.batch()
    assert (len(many["ops"]), set(many)) == (380, {"ops"})
    left = stream.batch()
    assert [len(left[key]) for key in ("ops", "bytes", "messages")] == [0, 380, 380]
    assert [row[:2] for row in few["bytes"] + left["bytes"] if row[0] == 1] == [[1, index] for index in range(200)]
    assert stream.batch(last=True) == {}
    assert stream.longest == 7


def test_many_rows_at_once_are_reported_in_lines_of_bounded_length(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runner.telemetry.stream.MOST", 500)
    planned = plan(planned_run(spec={"family": "gpipe", "p": 2, "m": 200}, mode="free"))
    traffic = Traffic(planned.program, planned.training.message_bytes)
    counts = [len(rank.steps) for rank in planned.program.ranks]
    board = Board(f"{tmp_path}/board", counts, messages=traffic.received)
    for rank in range(2):
        ledger = Ledger(f"{tmp_path}/board", rank, 2, board.first_rows(rank))
        for number in range(400):
            ledger.record(number, number, number + 7, 0, 99)
        for number in range(200):
            ledger.record_message(number, number, number)
    lines = list(Stream(board, traffic).batches(last=True))
    assert [{key: len(rows) for key, rows in line.items()} for line in lines] == [
        {"ops": 500, "bytes": 500, "messages": 400},
        {"ops": 300, "bytes": 300},
    ]
    for key in ("ops", "bytes"):
        assert [row[:2] for line in lines for row in line[key]] == [[rank, at] for rank in (0, 1) for at in range(400)]


def test_a_free_step_is_rehearsed_and_leaves_no_trace_but_a_warm_machine(runner: RunnerProgram) -> None:
    for options in ({"family": "pipedream"}, {"family": "1f1b", "vocabulary": "parallel-2"}, {"family": "dualpipe"}):
        spec = options | {"p": 2, "m": 4}
        assert plan(planned_run(spec=spec, mode="free")).rehearsed
        events = runner.run(spec=spec, mode="free", model=TINY)
        last, ops = events[-1], joined(events, "ops")
        assert last["verified"]
        assert len({tuple(row[:2]) for row in ops}) == len(ops) == events[1]["ops"]
        assert [event["event"] for event in events].count("running") == 1
        assert min(row[3] for row in ops) >= 0


def test_paced_steps_long_ones_and_several_are_not_rehearsed() -> None:
    spec = {"family": "1f1b", "p": 2, "m": 4}
    assert not plan(planned_run(spec=spec, mode="paced")).rehearsed
    assert not plan(planned_run(spec=spec, mode="free", steps=2)).rehearsed
    assert not plan(planned_run(spec=spec | {"m": 600}, mode="free")).rehearsed


def test_a_run_reports_for_how_long_each_rank_had_no_core(runner: RunnerProgram) -> None:
    last = runner.run(spec={"family": "1f1b", "p": 2, "m": 4}, mode="free", model=TINY)[-1]
    assert len(last["starved"]) == 2
    assert all(isinstance(ns, int) and ns >= 0 for ns in last["starved"])


def test_an_unpaced_run_that_shared_its_cores_has_a_note() -> None:
    def notes(*shares: float, mode: str = "free") -> list[str]:
        return list(lack_of_cores(mode, 2e8, [round(share * 2e8) for share in shares]))

    assert notes(0.1, 0.25) == ["Rank 1 was ready for 50.0 ms without a core to run on, 25% of the run."]
    assert notes(0.001, 0.019) == notes(0.5, 0.5, mode="paced") == []
