"""Paced runs on a machine that is late: ops keep their length and start late, and the run says that it was too busy."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from runner.job.busy_machine import note, too_busy
from runner.job.plan import plan
from runner.program.instructions import Transfer
from runner.telemetry import clock
from runner.telemetry.op_board import Board, Ledger
from runner.telemetry.rows import OP
from runner.worker import executor
from runner.worker.executor import Pace, RankExecutor
from tests.support.runner.client import TINY, Event, RunnerProgram, planned_run

UNIT_NS = 1_000_000
LATE_NS = 3_000_000


class Stage:
    """A stage whose ops take no time."""

    def forward(self, micro: int, x: Tensor | None) -> Tensor:
        return torch.zeros(1)

    def input_gradient(self, micro: int, gradient: Tensor | None) -> Tensor | None:
        return torch.zeros(1)

    def weight_gradient(self, micro: int) -> None:
        pass


class Wires:
    """Passes messages, with the time from which they count, between ranks that are threads."""

    def __init__(self) -> None:
        self.sent: dict[int, tuple[Tensor, int, int]] = {}
        self.changed = threading.Condition()

    def send(self, transfer: Transfer, tensor: Tensor, due: int) -> None:
        with self.changed:
            self.sent[transfer.tag] = (tensor, due, clock.now())
            self.changed.notify_all()

    def receive(self, transfer: Transfer) -> tuple[Tensor, int, int]:
        with self.changed:
            assert self.changed.wait_for(lambda: transfer.tag in self.sent, 10)
            return self.sent.pop(transfer.tag)

    def start_receiving(self) -> None:
        pass

    def flush(self) -> None:
        pass


def late_sleeper(rank_late: str, wakes: Sequence[int]) -> Any:
    """A sleep that ends late on one thread, at the wake-ups of these numbers."""
    count = iter(range(10**6))

    def sleep_until(deadline: int) -> None:
        clock.sleep_until(deadline)
        if threading.current_thread().name == rank_late and next(count) in wakes:
            time.sleep(LATE_NS / 1e9)

    return sleep_until


@pytest.fixture
def rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Board, Any]:
    """Two ranks of 1F1B, m = 4, of which rank 0 wakes late three times; the board with their rows, and the plan."""
    monkeypatch.setattr(executor, "sleep_until", late_sleeper("0", (3, 4, 7)))
    planned = plan(planned_run(spec={"p": 2, "m": 4}, mode="paced", unit_ms=UNIT_NS / 1e6))
    programs = planned.program.ranks
    board = Board(f"{tmp_path}/board", [len(program.steps) for program in programs], messages=[8, 8])
    wires, zero = Wires(), clock.now() + 20_000_000
    threads = []
    for rank, program in enumerate(programs):
        ledger = Ledger(f"{tmp_path}/board", rank, 2, board.first_rows(rank))
        one = RankExecutor(program, [Stage()], wires, ledger, Pace(UNIT_NS))
        threads.append(threading.Thread(target=one.run, args=(zero,), name=str(rank)))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return board, planned


def test_an_op_that_wakes_late_keeps_its_length_and_starts_late(rows: tuple[Board, Any]) -> None:
    board, planned = rows
    length = board.times[:, OP.end] - board.times[:, OP.start]
    nominal = ((planned.timeline.end - planned.timeline.start) * UNIT_NS).astype(np.int64)
    assert (length >= nominal).all()
    late = board.times[:, OP.start] - board.times[:, OP.ready]
    assert (late >= 0).all()
    first = int(board.offsets[1])
    assert (late[:first] >= LATE_NS).sum() >= 3
    ready, end = board.times[1:first, OP.ready], board.times[: first - 1, OP.end]
    assert (ready >= end).all(), "an op is ready when its rank is free"


def test_a_late_start_pushes_back_everything_that_depends_on_it(rows: tuple[Board, Any]) -> None:
    board, planned = rows
    makespan = int(board.times[:, OP.end].max())
    assert makespan >= planned.timeline.end.max() * UNIT_NS + LATE_NS, "late wake-ups add up along the longest path"


@pytest.mark.parametrize(
    ("late", "busy", "code", "ranks"),
    [
        ([9_000_000, 1_000_000, 8_000_000], [100_000_000] * 3, "runner.too_busy", [0, 2]),
        ([1_000_000] * 3, [100_000_000, 130_000_000, 100_000_000], "runner.unit_too_short", [1]),
    ],
    ids=["late starts", "work too long"],
)
def test_a_run_far_over_its_plan_names_the_ranks_the_cause_and_the_way_out(
    late: list[int], busy: list[int], code: str, ranks: list[int]
) -> None:
    found = too_busy(0.041, {"late_start": late}, busy, [100.0] * 3, 1e6)
    assert found is not None
    assert found == {"over": 0.041, "ranks": ranks, "late_start": sum(late), "overrun": sum(busy) - 300_000_000}
    sentence = note(found)
    assert sentence.code == code
    for text in ("4.1 %", "rank " + ", ".join(map(str, ranks)), "fewer ranks", "larger unit", "quieter machine"):
        assert text in sentence


def test_neighbouring_ranks_are_named_as_a_range() -> None:
    found = {"over": 0.1, "ranks": [0, 1, 2, 3, 5, 7, 8], "late_start": 2, "overrun": 1}
    assert note(found).params["ranks"] == "0-3, 5, 7, 8"


def test_a_run_close_to_its_plan_is_not_called_too_busy() -> None:
    assert too_busy(0.03, {"late_start": [10**9]}, [1], [1.0], 1.0) is None


def test_a_run_whose_unit_is_too_short_for_its_work_says_so(runner: RunnerProgram) -> None:
    events: list[Event] = runner.run(spec={"p": 2, "m": 4}, mode="paced", unit_ms=0.01, model=TINY)
    last = events[-1]
    assert last["verified"]
    assert last["over_plan"] == last["too_busy"]["over"] > 0.03
    assert last["too_busy"]["overrun"] > 0
    codes = [sentence["code"] for sentence in last["notes"]]
    assert codes in (["runner.unit_too_short"], ["runner.too_busy"])  # whichever was more


def test_a_free_run_has_no_plan_to_be_over(runner: RunnerProgram) -> None:
    last = runner.run(spec={"p": 2, "m": 2}, mode="free", model=TINY)[-1]
    assert not {"over_plan", "too_busy"} & set(last)
