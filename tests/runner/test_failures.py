"""Failures during a run, none of which affects the next one."""

from __future__ import annotations

import os
import signal

import pytest

from tests.support import PATIENCE_S, until, within
from tests.support.processes import alive, gone
from tests.support.runner.client import LAST, TINY, RunnerProgram

# Long enough to be interrupted, never waited for.
LONG = {"spec": {"family": "1f1b", "p": 3, "m": 200}, "mode": "paced", "unit_ms": 20, "model": TINY}
SHORT = {"spec": {"family": "1f1b", "p": 3, "m": 3}, "mode": "paced", "unit_ms": 1, "model": TINY}


def start_long(runner: RunnerProgram) -> str:
    run = runner.start(**LONG)
    runner.until("op_batch")
    return run


def assert_the_next_run_works(runner: RunnerProgram) -> None:
    last = runner.run(**SHORT)[-1]
    assert last["event"] == "finished", last
    assert last["verified"]


def test_a_killed_worker_ends_the_run_within_five_seconds_and_the_next_one_works(runner: RunnerProgram) -> None:
    run = start_long(runner)
    victim = runner.workers()[1]
    with within(5):
        os.kill(victim, signal.SIGKILL)
        last = runner.until(*LAST)[-1]
    assert (last["event"], last["id"], last["failure"]["kind"]) == ("failed", run, "process_ended")
    failure = last["failure"]
    assert f"rank {failure['rank']}'s worker process {victim} ended (SIGKILL) in op" in failure["message"]
    assert failure["message"].endswith(f" in op {failure['op']}")
    assert_the_next_run_works(runner)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_a_worker_that_is_lost_among_collectives_ends_the_run(runner: RunnerProgram, number: signal.Signals) -> None:
    long = LONG | {"spec": {"family": "1f1b", "p": 3, "m": 200, "vocabulary": "parallel-1"}}
    runner.start(**long)
    runner.until("op_batch")
    victim = runner.workers()[1]
    os.kill(victim, number)
    last = runner.until(*LAST)[-1]
    assert last["event"] == "failed"
    assert str(victim) in last["failure"]["message"]
    assert_the_next_run_works(runner)


def test_a_stopped_worker_is_named_by_the_watchdog_with_its_op_and_who_waits_for_what(runner: RunnerProgram) -> None:
    start_long(runner)
    victim = runner.workers()[1]
    os.kill(victim, signal.SIGSTOP)
    last = runner.until(*LAST)[-1]
    failure = last["failure"]
    message = failure["message"]
    assert (last["event"], failure["kind"]) == ("failed", "stalled")
    assert "no op has finished for" in message
    assert f"(its process, {victim}, is stopped)" in message
    assert f"rank {failure['rank']} " in message
    assert failure["op"] in message
    assert "waits in op" in message
    assert "of micro-batch" in message
    assert gone([victim])
    assert_the_next_run_works(runner)


def test_a_cancelled_run_ends_within_a_second_and_the_next_one_works(runner: RunnerProgram) -> None:
    run = start_long(runner)
    with within(1):
        runner.send(cmd="cancel", id=run)
        assert runner.until(*LAST)[-1] == {"event": "cancelled", "id": run}
    assert_the_next_run_works(runner)


def test_a_run_can_be_cancelled_as_soon_as_it_is_sent(runner: RunnerProgram) -> None:
    for _ in range(3):
        run = runner.start(**LONG)
        runner.send(cmd="cancel", id=run)
        assert runner.until(*LAST)[-1] == {"event": "cancelled", "id": run}
    assert_the_next_run_works(runner)


def test_a_run_can_be_cancelled_while_it_is_verified(runner: RunnerProgram) -> None:
    big = {"hidden": 256, "heads": 4, "sequence": 128, "batch": 8}
    run = runner.start(spec={"family": "1f1b", "p": 2, "m": 2}, mode="paced", unit_ms=0.01, model=big)
    seen = 0
    while seen < 8:
        event = runner.event()
        seen += len(event.get("ops", ())) if event["event"] == "op_batch" else 0
    runner.send(cmd="cancel", id=run)
    last = runner.until(*LAST)[-1]
    assert last == {"event": "cancelled", "id": run} or last["event"] == "finished"
    assert_the_next_run_works(runner)


def test_a_second_run_is_refused_while_one_is_under_way(runner: RunnerProgram) -> None:
    first = start_long(runner)
    second = runner.start(**SHORT)
    refusal = runner.until("error")[-1]
    assert refusal["id"] == second
    assert "busy" in refusal["error"]["message"]
    runner.send(cmd="cancel", id=first)
    runner.until("cancelled")


def test_a_cancel_of_a_run_that_is_not_under_way_gets_a_response(runner: RunnerProgram) -> None:
    runner.send(cmd="cancel", id="never")
    answer = runner.event()
    assert (answer["event"], answer["id"], answer["error"]["field"]) == ("error", "never", "id")


def test_a_worker_that_dies_between_runs_is_replaced(runner: RunnerProgram) -> None:
    assert_the_next_run_works(runner)
    victim = runner.workers()[0]
    os.kill(victim, signal.SIGKILL)
    assert gone([victim])
    assert_the_next_run_works(runner)


def running(pids: list[int]) -> list[int]:
    """Return those that have not ended: a runner ends the workers that a run has no ranks for."""
    return [pid for pid in pids if alive(pid)]


@pytest.mark.parametrize("how", ["end of input", "shutdown", "SIGTERM", "SIGKILL"])
def test_no_process_outlives_the_runner(how: str) -> None:
    program = RunnerProgram("runner" if how == "SIGKILL" else "tests.support.runner.idle_runner")
    program.start(**LONG)
    if how == "SIGKILL":  # where each worker has to end by itself; else the runner ends them
        program.until("op_batch")
    until(lambda: len(running(program.workers())) > 2)
    family = running(program.descendants())
    assert len(family) >= 4
    os.kill(running(program.workers())[0], signal.SIGSTOP)  # a stopped process cannot notice anything by itself
    assert program.process.stdin is not None
    if how == "end of input":
        program.process.stdin.close()
    elif how == "shutdown":
        program.send(cmd="shutdown")
    else:
        program.process.send_signal(signal.Signals[how])
    code = program.process.wait(PATIENCE_S)
    assert gone(family)
    assert code == (-signal.SIGKILL if how == "SIGKILL" else 0)
    program.close()
