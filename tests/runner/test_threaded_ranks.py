"""Ranks as threads of one process, as on a shared GPU. Here on the CPU."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest

from backend.schedule.families import registry
from tests.support.runner.client import LAST, TINY, RunnerProgram


@pytest.fixture(scope="module")
def runner() -> Iterator[RunnerProgram]:
    program = RunnerProgram("tests.support.runner.threaded_runner")
    yield program
    program.close()


@pytest.mark.parametrize("family", list(registry.FAMILIES))
def test_every_family_runs_in_one_process_with_the_gradients_of_plain_training(
    runner: RunnerProgram, family: str
) -> None:
    last = runner.run(spec={"family": family, "p": 4, "m": 8}, mode="free", model=TINY)[-1]
    assert (last["event"], last["verified"], last["device"]) == ("finished", True, "cpu")
    assert len(runner.workers()) == 1


@pytest.mark.parametrize(
    "options",
    [
        {"vocabulary": "parallel-1"},
        {"vocabulary": "parallel-2"},
        {"recompute": "full"},
        {"family": "gis", "v": 2, "offload": "full"},
    ],
    ids=str,
)
def test_options_run_in_one_process_too(runner: RunnerProgram, options: dict[str, object]) -> None:
    spec = {"family": "1f1b", "p": 2, "m": 4} | options
    last = runner.run(spec=spec, mode="paced", unit_ms=2, model=TINY, steps=2)[-1]
    assert (last["event"], last["verified"]) == ("finished", True)


def test_a_death_of_the_one_process_ends_the_run_and_the_next_one_works(runner: RunnerProgram) -> None:
    runner.start(spec={"family": "1f1b", "p": 3, "m": 200}, mode="paced", unit_ms=20, model=TINY)
    runner.until("op_batch")
    victim = runner.workers()[0]
    os.kill(victim, signal.SIGKILL)
    last = runner.until(*LAST, timeout=5)[-1]
    assert last["failure"]["message"] == f"the worker process of all ranks, {victim}, ended (SIGKILL)"
    assert runner.run(spec={"family": "1f1b", "p": 3, "m": 3}, mode="free", model=TINY)[-1]["verified"]
