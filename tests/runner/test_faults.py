"""Failures inside a worker: the run ends with the place of the fault, and the next one works. Real processes."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.runner import faults
from tests.support.runner.client import LAST, TINY, RunnerProgram

RUN = {"mode": "paced", "unit_ms": 4, "model": TINY}
LONG = {"family": "1f1b", "p": 3, "m": 24}


def failed(runner: RunnerProgram, seed: int, **options: str) -> dict[str, Any]:
    """The failure of a run with a fault, after which the next run works."""
    last = runner.run(spec=LONG | options, seed=seed, **RUN)[-1]
    assert last["event"] == "failed", last
    after = runner.run(spec={"family": "1f1b", "p": 3, "m": 3}, **RUN)[-1]
    assert (after["event"], after["verified"]) == ("finished", True)
    return last["failure"]


@pytest.mark.parametrize(
    ("seed", "op"), [(faults.KILL_FORWARD, "1F5"), (faults.KILL_BACKWARD, "1B5")], ids=["forward", "backward"]
)
def test_a_worker_killed_in_an_op_is_named_with_the_op(altered_runner: RunnerProgram, seed: int, op: str) -> None:
    failure = failed(altered_runner, seed)
    assert (failure["kind"], failure["rank"]) == ("process_ended", 1)
    assert f"ended (SIGKILL) in op {op}" in failure["message"]


def test_a_worker_killed_in_a_collective_is_named(altered_runner: RunnerProgram) -> None:
    failure = failed(altered_runner, faults.KILL_COLLECTIVE, vocabulary="parallel-1")
    assert (failure["kind"], failure["rank"]) == ("process_ended", 1)
    assert "ended (SIGKILL) in op 1" in failure["message"]


def test_a_worker_that_stops_in_an_op_is_named_with_the_op_and_who_waits(altered_runner: RunnerProgram) -> None:
    failure = failed(altered_runner, faults.STOP)
    assert (failure["kind"], failure["rank"], failure["op"]) == ("stalled", 1, "1F5")
    assert "is stopped" in failure["message"]
    assert "waits in op" in failure["message"]


def test_a_message_that_never_arrives_is_named_with_its_kind_and_its_ends(altered_runner: RunnerProgram) -> None:
    failure = failed(altered_runner, faults.DROP)
    assert failure["kind"] == "stalled"
    assert "of micro-batch" in failure["message"]
    assert "(rank 1 to" in failure["message"]
    assert "which was sent" in failure["message"]


@pytest.mark.parametrize("seed", [faults.MEMORY, faults.REFUSED], ids=["a limit of the process", "an error in an op"])
def test_running_out_of_memory_is_reported_with_rank_and_op(altered_runner: RunnerProgram, seed: int) -> None:
    failure = failed(altered_runner, seed)
    assert (failure["kind"], failure["rank"]) == ("out_of_memory", 1)
    assert failure["message"].startswith("rank 1 failed in op 1F5: out of memory: ")
    assert (failure["code"], failure["params"]["rank"]) == ("runner.rank_failed", 1)


def test_a_loss_that_is_not_a_number_ends_a_run_as_not_verified_and_is_named(altered_runner: RunnerProgram) -> None:
    last = altered_runner.run(spec={"family": "1f1b", "p": 3, "m": 7}, seed=faults.NAN, steps=2, **RUN)[-1]
    assert (last["event"], last["verified"], last["loss"], last["max_grad_error"]) == ("finished", False, None, None)
    assert last["losses"][0] is None
    about_time = ("runner.too_busy", "runner.unit_too_short")  # which a busy machine adds
    assert [note["message"] for note in last["notes"] if note["code"] not in about_time] == [
        "Not verified: the loss of micro-batch 5 in step 1/2 is nan."
    ]


@pytest.mark.parametrize("stage", ["warming", "running", "op_batch"])
def test_a_run_can_be_cancelled_at_every_stage(altered_runner: RunnerProgram, stage: str) -> None:
    run = altered_runner.start(spec={"family": "1f1b", "p": 3, "m": 200}, mode="paced", unit_ms=20, model=TINY)
    altered_runner.until(stage)
    altered_runner.send(cmd="cancel", id=run)
    assert altered_runner.until(*LAST)[-1] == {"event": "cancelled", "id": run}
    assert altered_runner.run(spec={"family": "1f1b", "p": 3, "m": 3}, **RUN)[-1]["event"] == "finished"
